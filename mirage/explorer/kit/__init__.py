"""Building blocks of pages.

`frame.py` is the frame (router, shared pickers, title), `page_list.py` lists the pages, `states.py` has badges and the
missing state, `pick.py` a picker whose choice is in the address, `table.py` the one way to show a table,
`plain_table.py` one to read, `chart.py` a chart, `limits.py` how much of one is drawn, `legend.py` the legend of marks,
`side_by_side.py` columns, `square_matrix.py` the layout of matrices, `sections.py` the sections of a page, `text.py` an
answer or a passage, `actions.py` link, download and citation, `listing.py` a list of texts to choose from,
`query_navigation.py` the way from one query to the next, `answer_card.py` an answer with its facts, `missing_texts.py`
what brings texts that are not bundled, `searching.py` the offer to index them, `page_parts.py` and `export_dialog.py`
the charts and tables of a page for elsewhere.

A page reads:

    def main(page: ui.Page) -> None:
        page.need("outcomes")
        skill = ui.pick_segments("Skill", ["both", "abstain", "answer"], key="skill")
        board = views.board(page.arena, Referee.relevance(skill), page.languages("outcomes"))
        page.summary("88,469 real answers of 11 systems in 18 languages.")
        ui.table(board.rows, [ui.Col("system", "System", "system"), ...], key="board")
        ui.chart(figure, key="whiskers", alt="Ratings with 95% intervals")   # figure: a dict from mirage.publish.charts
        page.download("leaderboard", board.rows, about={"skill": skill})

ui.show("leaderboard", main)
"""

from mirage.explorer.kit.chart import chart, clicked_mark
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page, onward, other_arenas, run, show, stop, switch
from mirage.explorer.kit.labels import labels_of, mark_labels, tell_audit
from mirage.explorer.kit.legend import LegendEntry, legend
from mirage.explorer.kit.limits import page_systems
from mirage.explorer.kit.page_list import PAGES
from mirage.explorer.kit.pick import (
    check_link,
    pick,
    pick_language,
    pick_many,
    pick_segments,
    pickers_popover,
    read_former,
)
from mirage.explorer.kit.plain_table import plain_table
from mirage.explorer.kit.sections import sections
from mirage.explorer.kit.side_by_side import side_by_side
from mirage.explorer.kit.states import badge, conclusion, first_time, missing, refuse, working
from mirage.explorer.kit.table import column_help, filter_rows, mode, table
from mirage.explorer.kit.text import (
    PassageView,
    TextSpan,
    answer,
    heading,
    heading_html,
    note,
    passage_html,
    passages,
    plain,
    prose,
    text_html,
)
from mirage.explorer.serve.uploads import offer_upload, withdraw_upload

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
    "clicked_mark",
    "column_help",
    "conclusion",
    "filter_rows",
    "first_time",
    "heading",
    "heading_html",
    "labels_of",
    "legend",
    "mark_labels",
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
    "pick_many",
    "pick_segments",
    "pickers_popover",
    "plain",
    "plain_table",
    "prose",
    "read_former",
    "refuse",
    "run",
    "sections",
    "show",
    "side_by_side",
    "stop",
    "switch",
    "table",
    "tell_audit",
    "text_html",
    "withdraw_upload",
    "working",
]
