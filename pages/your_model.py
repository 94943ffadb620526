"""Page Your system: upload a file as for `mirage evaluate`, then see how its systems rank."""

from functools import partial
from shlex import quote

import streamlit as st

from mirage.battles.judge import judges as judges_of
from mirage.battles.judge import judges_alone, people_judges
from mirage.errors import NotEnoughData
from mirage.explorer.kit import judge as who
from mirage.explorer.kit.answer_card import show_answers, show_query
from mirage.explorer.kit.behaviour import show_behaviour
from mirage.explorer.kit.frame import Page, show, show_page_link, switch
from mirage.explorer.kit.identity import may, reader
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.states import refuse, show_progress
from mirage.explorer.kit.table import Col, column
from mirage.explorer.kit.table import table as show_table
from mirage.explorer.kit.text import plain
from mirage.explorer.kit.uploads import admit
from mirage.explorer.your_model.upload import COMMANDS, upload_form
from mirage.ranking.judges import Judge, size
from mirage.store import export as exporting
from mirage.store import owned
from mirage.store.arena import Arena
from mirage.text.segmentation import count_text
from mirage.views import features as views
from mirage.views.board import BoardChoice
from mirage.views.overview import contents_view, overview_view
from mirage.views.query import query_view
from mirage.views.query_keys import key_text
from mirage.views.standing import standing_view

BOARD = (
    column("ratings", "rank", width=50),
    column("ratings", "system", width=190),
    Col(
        "rank", "Rank interval", "span", "Ranks that the tests leave open.", low="rank_low", high="rank_high", width=90
    ),
    Col("rating", "Win rate", "rate", "Expected share of points against the average system."),
    Col("rating", "95%", "interval", "95% interval.", low="low", high="high", zero=0.5, width=150),
    Col("n", "Queries", "count", "Queries that the system battles on."),
)
FEATURES = (
    Col("title", "Feature", "text", "Feature of an answer; the Features page shows all systems.", width=190),
    Col("mean", "Yours", "probability", "Mean over your answers, languages weighted equally."),
    Col("mean", "95% interval", "interval", "95% interval of the mean.", low="low", high="high", width=150),
    Col("others", "Median of others", "probability", "Median of the other systems in the same languages."),
    Col("place", "Rank", "rank", "Rank among all systems; – where neither direction is better."),
    Col("direction", "Better", "text", "Which direction is better.", width=120),
    Col("n", "n", "count", "Answers with a value."),
)


def main(page: Page) -> None:
    """Show how the reader's systems rank, and accept an upload."""
    systems = own_systems(page)
    if not systems:
        page.summary("Upload answers, verdicts or scores: any file that mirage evaluate takes.")
        show_upload(page)
        return
    if names := judges_of(page.arena):
        with st.container(horizontal=True, gap="medium"):
            system = pick("Your system", systems, key="your_system", width=280, help="Systems that are yours.")
            able = [name for name in names if system in size(page.arena, Judge.from_name(name)).systems]
            judge = who.judge(able or names, "Judge that ranks your system.", listed=True)
        standing(page, system, judge)
    else:
        show_behaviour(page, overview_view(page.arena))
    if command := st.session_state.get(COMMANDS, {}).get(str(page.arena.path)):
        st.caption("The same on the command line:")
        st.code(command, language=None, wrap_lines=True)
    with st.expander("Evaluate another file"):
        show_upload(page)
    if page.arena.path in owned.owned_arenas(reader().owner).values():
        _delete(page)


def own_systems(page: Page) -> tuple[str, ...]:
    """Return the systems that the reader added, newest first; all systems of the reader's own arena, best first."""
    if added := owned.added_systems(page.arena):
        return added[::-1]
    if page.arena.bundled is not None:
        return ()
    board = overview_view(page.arena).board
    return contents_view(page.arena).systems if board is None else tuple(board.rows["system"].to_pylist())


def show_upload(page: Page) -> None:
    """Show the upload field, and the prompts to answer for a place in the open arena."""
    if not may("curator"):
        st.info("Uploading a file requires the curator role. Ask your administrator.")
        return
    admit()
    upload_form(page)
    if not {"queries", "passages"} <= set(page.arena.tables):
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.caption(f"To rank it among the systems of {plain(page.arena.name)}, answer its queries first:")
        st.download_button(
            "Download queries",
            partial(_prompts, page.arena),
            f"{page.arena.name}-queries.jsonl",
            "application/jsonl",
            on_click="ignore",
        )


def _prompts(arena: Arena) -> str:
    """Return the prompts to answer as JSON Lines."""
    from mirage.pipeline import adding

    return exporting.to_jsonl(adding.queries(arena))


def standing(page: Page, system: str, judge: str) -> None:
    """Show the system's row on the board, the systems it ties with, and its worst answers."""
    choice = BoardChoice((judge,), page.picked)
    try:
        view = standing_view(page.arena, system, choice)
    except NotEnoughData as error:
        show_behaviour(page, overview_view(page.arena))
        refuse(error)
        if Judge.from_name(judge).asked and judge not in people_judges(page.arena) | judges_alone(page.arena):
            st.caption("To let the judge decide 100 of its battles, drawn at random:")
            name = page.arena.bundled or page.arena.name
            command = f"mirage judge {quote(name)} --judge {quote(judge)} --pairs 100"
            st.code(f"{command} && mirage rank {quote(name)} --judge {quote(judge)}", language=None, wrap_lines=True)
        _features(page, system)
        return
    page.summary(
        f"{count_text(len(view.rows), 'system')} shown: the best, {system} and what it ties with.",
        conclusion=view.conclusion,
    )
    show_table(view.rows, BOARD, key="your_standing")
    page.download("your-system", lambda: view.rows, about={"system": system, "judge": judge})
    if view.lost:
        st.header("Its worst answers beside better ones", anchor=False)
    texts = "answers" in page.arena.tables
    for lost in view.lost:
        query = query_view(page.arena, (lost.language, lost.query_id))
        show_query(query)
        there = {answer.system for answer in query.answers}
        pair = [name for name in (system, lost.better) if name in there]
        show_answers(f"Won {lost.won:.0%} of {count_text(lost.battles, 'battle')}", query, pair, hits=(), texts=texts)
        show_page_link(
            "battle",
            f"Why {lost.better} beat it",
            a=system,
            b=lost.better,
            query=key_text(query.key),
        )
    show_page_link("answers", "Read all its answers", systems=system)


def _features(page: Page, system: str) -> None:
    """Show a system's features beside those of the others in the same languages."""
    if "features" not in page.arena.tables or not (codes := views.languages_with_features(page.arena, system)):
        st.info("No features could be measured for this system.")
        return
    codes = tuple(code for code in codes if not page.picked or code in page.picked)
    if not codes:
        st.info(f"{plain(system)} has no answers in the selected languages.")
        return
    st.header("Features", anchor=False)
    table = views.compare_features(page.arena, system, codes)
    show_table(table, FEATURES, key="your_features")
    page.download("your-model", lambda: table, about={"system": system, "languages": codes})


def _delete(page: Page) -> None:
    """Offer to remove the reader's copy."""
    with st.popover("Delete my copy", help="Deletes this copy and every system you added."):
        st.caption("Your uploads are deleted permanently; the original arena stays.")
        if st.button("Delete", type="primary", key="delete_own"):
            completed = False
            with show_progress("Deleting the copy ..."):
                owned.delete(reader().owner, page.arena.path)
                completed = True
            if completed:
                switch(None)


show("your_model", main)
