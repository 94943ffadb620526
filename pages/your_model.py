"""Page Your system: the queries out, the answers of the reader's own system in."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from shlex import quote

import streamlit as st

from mirage.battles.judge import verdict_judges as judges_of
from mirage.errors import ArenaError, MirageError
from mirage.explorer.kit import judge as who
from mirage.explorer.kit.frame import Page, onward, show, switch
from mirage.explorer.kit.identity import may, reader
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.states import working
from mirage.explorer.kit.table import Col
from mirage.explorer.kit.table import table as show_table
from mirage.explorer.kit.text import plain
from mirage.explorer.kit.uploads import admit
from mirage.ranking.judges import LabelJudge
from mirage.store import export as exporting
from mirage.store import home, owned
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.files import write_bytes
from mirage.text.languages import name_of
from mirage.text.segmentation import count_text, join_or_count
from mirage.views import features as views

FEATURES = (
    Col("title", "Feature", "text", help="Feature of an answer; the Features page shows all systems.", width=190),
    Col("mean", "Yours", "probability", help="Mean over your answers, languages weighted equally."),
    Col("mean", "95% interval", "interval", low="low", high="high", help="95% interval of the mean.", width=150),
    Col("others", "Median of others", "probability", help="Median of the other systems in the same languages."),
    Col("place", "Rank", "rank", help="Rank among all systems; – where neither direction is better."),
    Col("direction", "Better", "text", help="Which direction is better.", width=120),
    Col("n", "n", "count", help="Answers with a value."),
)


def main(page: Page) -> None:
    """Take answers in, then show where their system stands."""
    page.need("queries")
    own_systems = owned.added_systems(page.arena)
    if own_systems:
        with st.container(horizontal=True, gap="medium"):
            system = pick(
                "Your system",
                own_systems[::-1],
                key="your_system",
                width=280,
                help="Systems you added to this arena.",
            )
            judges = judges_of(page.arena)
            judge = who.judge(judges, "Judge that ranks your system.", listed=True) if judges else ""
        page.summary(
            f"{page.arena.rows('queries'):,} queries in "
            f"{count_text(len(page.arena.languages('queries')), 'language')}; "
            f"your {'system' if len(own_systems) == 1 else 'systems'}: {join_or_count(own_systems, 'system')}."
        )
        standing(page, system, judge)
        if may("curator"):
            with st.expander("Add or replace a system"):
                take(page)
        if _is_own(page):
            _delete(page)
        return
    page.summary(
        f"{page.arena.rows('queries'):,} queries in {count_text(len(page.arena.languages('queries')), 'language')}. "
        "Upload your system's answers; they are measured locally."
    )
    if may("curator"):
        take(page)
    else:
        st.info("Uploading answers requires the curator role. Ask your administrator.")


def take(page: Page) -> None:
    """Show the download of the queries and the upload of the answers."""
    admit()
    left, right = st.columns(2, gap="large")
    with left:
        st.header("1. Generate answers", anchor=False)
        if {"queries", "passages"} <= set(page.arena.tables):
            st.caption("Each line has a language, a query_id and the full prompt with its passages.")
            st.download_button(
                "Download queries",
                partial(_prompts, page.arena),
                f"{page.arena.name}-queries.jsonl",
                "application/jsonl",
                on_click="ignore",
            )
            st.caption("Or query a served model, then reopen the arena:")
            st.code(
                f"mirage arena copy {page.arena.argument} my-arena\n"
                "mirage generate my-arena --system my-model --model MODEL --base-url URL\n"
                "mirage evaluate my-arena\nmirage app my-arena",
                language=None,
                wrap_lines=True,
            )
        else:
            st.caption("This arena has the ids of its queries, not their texts.")
            page.offer_arena("queries", "passages", "answers")
        st.caption("Or evaluate a file of answers, of any format, on its own:")
        st.code("mirage evaluate answers.jsonl --open", language=None, wrap_lines=True)
    with right:
        st.header("2. Upload answers", anchor=False)
        st.caption(
            "JSON Lines or CSV with language, query_id and text. One invalid line rejects the file; the error names "
            "the line."
        )
        st.caption(_retention_words())
        with st.form("take", border=False):
            name = st.text_input("System name", max_chars=80, placeholder="my-model")
            upload = st.file_uploader("Answers", type=["jsonl", "csv", "parquet", "gz"])
            pressed = st.form_submit_button("Validate and add", type="primary")
        if pressed:
            if upload is None or not name.strip():
                st.warning("Choose a file and enter a system name.")
            else:
                _add(page, name.strip(), upload.name, upload.getvalue())


def _prompts(arena: Arena) -> str:
    """Return the prompts to answer as JSON Lines."""
    from mirage.pipeline import adding

    return exporting.to_jsonl(adding.queries(arena))


def standing(page: Page, system: str, judge: str) -> None:
    """Show how a system gets its rank, and its features."""
    if "features" not in page.arena.tables or not views.languages_with_features(page.arena, system):
        st.info("No features could be measured for this system.")
        return
    answered = views.languages_with_features(page.arena, system)
    codes = tuple(code for code in answered if not page.picked or code in page.picked)
    if not codes:
        st.info(
            f"{plain(system)} only has answers in {join_or_count([name_of(code) for code in answered], 'language')}."
        )
        return
    if judge:
        st.markdown("A judge ranks it: 100 battles drawn at random, in both orders, then the Leaderboard.")
        st.code(
            page.arena.fill(
                f"mirage judge DIR --judge {quote(judge)} --pairs 100 && mirage rank DIR --judge {quote(judge)}"
            ),
            language=None,
            wrap_lines=True,
        )
    elif "outcomes" in page.arena.tables:
        st.info(f"No judge needed: {LabelJudge().phrase(page.arena)} rank your system with the others.")
        with st.container(horizontal=True, gap="medium"):
            onward("leaderboard", "Leaderboard with your system", languages=codes)
            onward("hallucination", "Hallucination and error rates", languages=codes, systems=system)
    st.header("Features", anchor=False)
    table = views.compare_features(page.arena, system, codes)
    show_table(table, FEATURES, key="your_features")
    with st.container(horizontal=True, gap="medium"):
        onward("features", "All systems by language", systems=system)
        onward("answers", "Read its answers", systems=system)
    page.download("your-model", lambda: table, about={"system": system, "languages": codes})


def _add(page: Page, system: str, file: str, data: bytes) -> None:
    """Check a file, and put its answers into the reader's own copy of the arena; the page then shows that copy."""
    owner = reader().owner
    from mirage.pipeline import adding  # it brings the whole pipeline, which takes longer than a page

    folder = page.arena.path if _is_own(page) else owned.owner_folder(owner) / f"{page.arena.name}-own"
    upload = owned.owner_folder(owner) / f"answers{''.join(Path(file).suffixes[-2:])}"
    completed = False
    with working("Checking the answers ...") as move:
        owned.need_room(owner, len(data) + (0 if is_arena(folder) else page.arena.size))
        with home.alone(owned.owner_folder(owner)):
            try:
                write_bytes(upload, data)
                base = open_arena(folder) if is_arena(folder) else page.arena
                answers = adding.read_system(base, upload, system=system)
                adding.add_system(
                    base,
                    answers,
                    folder,
                    progress=lambda k, of: move(k / max(of, 1), f"Measuring {k:,} of {of:,} answers ..."),
                )
                completed = True
            except MirageError as error:
                # Show the file's own name, not the server's folders.
                raise error.rename_path(str(upload), Path(file).name) from None
            except OSError as error:
                message = f"the file cannot be saved: {error.strerror or error}"
                raise ArenaError(message, do="free space, then try again") from None
            finally:
                upload.unlink(missing_ok=True)
    if completed:
        switch(folder)


def _is_own(page: Page) -> bool:
    """Return whether the arena is the reader's own copy."""
    return page.arena.path in owned.owned_arenas(reader().owner).values()


def _retention_words() -> str:
    """Describe how long uploads are kept, for whom, and the storage limit."""
    current_reader = reader()
    until = (
        f"under your login, {plain(current_reader.name)}"
        if current_reader.name
        else f"until you reload the page, for {owned.KEPT_HOURS} hours at most"
    )
    return (
        f"Your answers are stored in a private copy of the arena, {until}. Storage limit: {owned.quota() / 1e6:,.0f} "
        "MB."
    )


def _delete(page: Page) -> None:
    """Offer to remove the reader's copy."""
    with st.popover("Delete my copy", help="Deletes this copy and every system you added."):
        st.caption("Your uploads are deleted permanently; the original arena stays.")
        if st.button("Delete", type="primary", key="delete_own"):
            completed = False
            with working("Deleting the copy ..."):
                owned.delete(reader().owner, page.arena.path)
                completed = True
            if completed:
                switch(None)


show("your_model", main)
