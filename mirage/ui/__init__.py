"""What pages are made of, and the only part of the package that imports streamlit.

`frame.py` is the frame (router, shared pickers, title), `entries.py` lists the pages, `states.py` has badges and the
missing state, `pick.py` a picker whose choice is in the address, `table.py` the one way to show a table,
`plain_table.py` one to read, `chart.py` a chart, `limits.py` how much of one is drawn, `drawing.py` one of many marks,
`legend.py` what marks stand for, `side_by_side.py` columns, `sections.py` the sections of a page, `text.py` an answer
or a passage, `actions.py` link, download and citation, `listing.py` a list of texts to choose from, `steps.py` the way
from one query to the next, `answer_card.py` an answer with what is known of it, `texts.py` what brings texts that are
not bundled, `searching.py` the offer to index them, `parts.py` and `take_out.py` the charts and tables of a page for
elsewhere, `memory.py` what is kept out of the garbage collector's way, `kept.py` what was made before, `together.py`
what sends a page in few pieces.
A page reads:

    def main(page: ui.Page) -> None:
        page.need("outcomes")
        skill = ui.pick("Skill", ["both", "abstain", "answer"], key="skill", segments=True)
        board = views.board(page.arena, "relevance", skill, page.languages("outcomes"))
        page.summary("88,469 real answers of 11 systems in 18 languages.")
        ui.table(board.rows, [ui.Col("system", "System", "system"), ...], key="board")
        ui.chart(figure, key="whiskers", alt="Ratings with 95% intervals")   # figure: a dict from mirage.charts
        page.download("leaderboard", board.rows, about={"skill": skill})


    ui.show("leaderboard", main)
"""

from mirage.ui.chart import chart, clicked
from mirage.ui.entries import PAGES
from mirage.ui.frame import Page, onward, other_arenas, run, show, switch
from mirage.ui.kept import kept, rows, where
from mirage.ui.legend import LegendEntry, legend
from mirage.ui.limits import page_systems
from mirage.ui.pick import check_link, folded, pick, pick_language
from mirage.ui.plain_table import plain_table
from mirage.ui.sections import sections
from mirage.ui.side_by_side import side_by_side
from mirage.ui.states import badge, conclusion, first_time, missing, refuse, working
from mirage.ui.table import Col, column_help, mode, table
from mirage.ui.text import (
    PassageView,
    TextSpan,
    answer,
    formula_html,
    heading,
    heading_html,
    note,
    passage_html,
    passages,
    plain,
    prose,
    text_html,
)
from mirage.ui.together import stop
from mirage.ui.uploads import offer_upload, withdraw_upload

__all__ = [
    "PAGES",
    "Col",
    "LegendEntry",
    "Page",
    "PassageView",
    "TextSpan",
    "answer",
    "badge",
    "chart",
    "check_link",
    "clicked",
    "column_help",
    "conclusion",
    "first_time",
    "folded",
    "formula_html",
    "heading",
    "heading_html",
    "kept",
    "legend",
    "missing",
    "mode",
    "note",
    "offer_upload",
    "onward",
    "other_arenas",
    "page_systems",
    "passage_html",
    "passages",
    "pick",
    "pick_language",
    "plain",
    "plain_table",
    "prose",
    "refuse",
    "rows",
    "run",
    "sections",
    "show",
    "side_by_side",
    "stop",
    "switch",
    "table",
    "text_html",
    "where",
    "withdraw_upload",
    "working",
]
