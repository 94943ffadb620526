"""Where would mine stand?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from shlex import quote

import streamlit as st

from mirage import store
from mirage.errors import ArenaError, MirageError
from mirage.explorer import kit as ui
from mirage.explorer.leaderboard import data as leaderboard
from mirage.explorer.serve.identity import may, reader
from mirage.explorer.your_model import data as views
from mirage.ranking.place import Placement
from mirage.store import export as exporting
from mirage.store import home, owned
from mirage.text.languages import name_of
from mirage.text.segmentation import counted, listed

STANDS = (
    ui.Col("system", "System", "system", help="The judged systems, and yours."),
    ui.Col("rank", "Rank", "rank", help="Place by rating; 1 is best."),
    ui.Col("rating", "Rating", "rating", help="In logits; 0 is the mean of the judged systems."),
    ui.Col(
        "rating",
        "95% interval",
        "interval",
        low="low",
        high="high",
        help="95% credible interval of the rating; of yours, what its features and its battles leave open.",
    ),
    ui.Col(
        "tier",
        "Tier",
        "rank",
        help="Every two judged systems of different tiers are separated; of yours, the likeliest.",
    ),
    ui.Col("tier_probability", "Yours in this tier", "probability", help="Probability that yours is of this tier."),
    ui.Col("above", "Yours is better", "probability", help="Probability that yours is better than this system."),
)
FEATURES = (
    ui.Col("title", "Feature", "text", help="A cheap measure of an answer; the Features page has all systems."),
    ui.Col("mean", "Yours", "probability", help="Mean over your answers, every language counting the same."),
    ui.Col("low", "95% from", "probability", help="Lower end of the 95% interval of the mean."),
    ui.Col("high", "95% to", "probability", help="Upper end of the 95% interval of the mean."),
    ui.Col("others", "Median of others", "probability", help="Median of the other systems, in the same languages."),
    ui.Col("least", "Least", "probability", help="The lowest mean of another system."),
    ui.Col("most", "Most", "probability", help="The highest mean of another system."),
    ui.Col(
        "place", "Place", "rank", help="One more than the number of systems that are better; none where neither is."
    ),
    ui.Col("of", "Of", "count", help="Systems with the feature."),
    ui.Col("direction", "Better", "text", help="Which side is better."),
    ui.Col("n", "n", "count", help="Answers with a value."),
    ui.Col("coverage", "Coverage", "rate", help="Share of your answers with a value."),
)
BATTLES = (
    ui.Col("language", "Language", "text", help="Language of the query."),
    ui.Col("query_id", "Query", "text", help="The query's id."),
    ui.Col("system_b", "Opponent", "system", help="The system yours battles, in both orders."),
    ui.Col("wins", "Yours wins", "probability", help="Probability that yours wins it, ties aside."),
)


def main(page: ui.Page) -> None:
    """Take answers in, then show where their system stands."""
    if not may("curator"):
        ui.withdraw_upload()
    page.need("queries")
    own_systems = owned.added(page.arena)
    if own_systems:
        with st.container(horizontal=True, gap="medium"):
            system = ui.pick(
                "Your system",
                own_systems[::-1],
                key="system",
                width=280,
                help="Systems that you have added to this arena.",
            )
            judges = leaderboard.judges(page.arena)
            judge = (
                ui.pick("Judge", judges, key="judge", width=240, help="Whose ratings yours is placed among.")
                if judges
                else ""
            )
        page.summary(
            f"{page.arena.rows('queries'):,} queries in {counted(len(page.arena.languages('queries')), 'language')}; "
            f"{counted(len(own_systems), 'system')} of yours."
        )
        standing(page, system, judge)
        if may("curator"):
            with st.expander("Add or replace a system"):
                take(page)
        if _is_own(page):
            _delete(page)
        return
    page.summary(
        f"{page.arena.rows('queries'):,} queries in {counted(len(page.arena.languages('queries')), 'language')}. "
        "Add the answers of your system: what is free is measured at once, and nothing leaves this machine."
    )
    if may("curator"):
        take(page)
    else:
        st.info(
            "To bring answers needs a login with the role of a curator here. Ask whoever runs this explorer for it."
        )


def take(page: ui.Page) -> None:
    """The queries out, the answers in."""
    left, right = st.columns(2, gap="large")
    with left:
        st.header("1. Let your system answer", anchor=False)
        has_texts = {"queries", "passages"} <= set(page.arena.tables)
        if has_texts:
            st.caption("Each line has a language, a query_id and the whole prompt with its passages.")
            st.download_button(
                "Download the queries",
                partial(_prompts, page.arena),
                f"{page.arena.name}-queries.jsonl",
                "application/jsonl",
                on_click="ignore",
            )
        elif page.arena.name.startswith("nomiracl"):
            st.caption("The queries are known here by their ids; their texts come from NoMIRACL's public files.")
        else:
            st.caption("The queries are known here by their ids: a model can be asked only where their texts are.")
            st.code(page.arena.command("passages"), language=None, wrap_lines=True)
        st.caption(
            "Or point one command at a served model, and open the arena again:"
            if has_texts
            else "In an arena with the texts one command asks a served model:"
        )
        st.code(
            f"cp -r {quote(page.arena.address)} my-arena\n"
            "mirage generate my-arena --system my-model --model MODEL --base-url URL\n"
            "mirage run my-arena\nmirage app my-arena",
            language=None,
            wrap_lines=True,
        )
    with right:
        st.header("2. Bring its answers", anchor=False)
        st.caption(
            "JSON Lines or CSV with language, query_id and text. One invalid line rejects the file; the error names "
            "the line."
        )
        st.caption(_kept())
        with st.form("take", border=False):
            name = st.text_input("Name of the system", max_chars=80, placeholder="my-model")
            upload = ui.offer_upload("Answers", ("jsonl", "csv", "parquet", "gz"))
            pressed = st.form_submit_button("Check and add", type="primary")
        if pressed:
            if upload is None or not name.strip():
                st.warning("Choose a file and name the system.")
            else:
                _add(page, name.strip(), upload.name, upload.getvalue())


def _prompts(arena: store.Arena) -> bytes:
    """What a model is to be asked, as JSON Lines."""
    from mirage.pipeline import adding

    return exporting.to_jsonl(adding.queries(arena))


def standing(page: ui.Page, system: str, judge: str) -> None:
    """Where a system of the user's stands: by surrogate and battles, by features, and what to judge next."""
    if "features" not in page.arena.tables or not views.languages_with_features(page.arena, system):
        st.info("No feature of this system could be measured.")
        return
    answered = views.languages_with_features(page.arena, system)
    codes = tuple(code for code in answered if not page.picked or code in page.picked)
    if not codes:
        st.info(f"{ui.plain(system)} has answers in {listed([name_of(code) for code in answered], 'language')} only.")
        return
    if judge:
        with st.spinner("Placing your system among the judged ones ..."):
            placement = views.placement_of(page.arena, system, judge, codes)
        if isinstance(placement, MirageError):
            ui.refuse(placement)
        else:
            _place(page, placement)
    elif "outcomes" in page.arena.tables:
        st.info("No judge is needed here: human relevance labels decide, and your system is ranked with the others.")
        with st.container(horizontal=True, gap="medium"):
            ui.onward("leaderboard", "Its place on the Leaderboard", languages=codes)
            ui.onward("hallucination", "When it answers and when it abstains", languages=codes, systems=system)
    st.header("Its features beside the others", anchor=False)
    table = views.feature_means(page.arena, system, codes)
    ui.table(table, FEATURES, key="your_features")
    with st.container(horizontal=True, gap="medium"):
        ui.onward("features", "All systems by language", systems=system)
        ui.onward("answers", "What it said", systems=system)
    page.download("your-model", table, about={"system": system, "languages": codes})


def _place(page: ui.Page, placement: Placement) -> None:
    """The ranking with the system in it, how sure that is, and the next battles."""
    now = placement.now
    row = next(row for row in placement.stands if row.system == placement.system)
    probability = max(now.tier_probabilities)
    predictor = f"the surrogate {placement.regressor}" if placement.regressor else "the spread of the judged systems"
    basis = f"{counted(now.n, 'battle')} and {predictor}" if now.n else predictor
    st.markdown(
        f"By {ui.plain(basis)}, **{ui.plain(placement.system)}** is at rank {row.rank} of {len(placement.stands)}, "
        f"tier {row.tier} with probability {probability:.2f}. "
        + ("Its tier is settled." if placement.settled else f"Not settled; it is once {ui.plain(placement.rule)}.")
    )
    if placement.outside:
        st.warning(
            "It lies outside the range of the judged systems in "
            f"{ui.plain(', '.join(placement.outside))}: there the surrogate extrapolates, and is not asked."
        )
    ui.table(views.stands(placement), STANDS, key="stands")
    st.caption(ui.plain(f"{placement.method}."))
    if placement.next:
        st.header("The battles worth judging next", anchor=False)
        battles = views.suggested_battles(placement)
        horizon = placement.horizon.median
        st.caption(
            f"These {counted(len(placement.next), 'battle')}, both orders each, cost {placement.calls:,} calls of the "
            "judge. " + (f"About {counted(horizon, 'battle')} until the tier is settled." if horizon else "")
        )
        ui.table(battles, BATTLES, key="next", height=320)
        st.download_button(
            "Download the battles",
            lambda: exporting.to_csv(battles),
            "battles.csv",
            "text/csv",
            on_click="ignore",
        )
        st.code(
            f"mirage judge {quote(page.arena.address)} --judge {quote(placement.referee)} --battles battles.csv",
            language=None,
            wrap_lines=True,
        )


def _add(page: ui.Page, system: str, file: str, data: bytes) -> None:
    """Check a file, and put its answers into the reader's own copy of the arena; the page then shows that copy."""
    owner = reader().owner
    from mirage.pipeline import adding  # it brings the whole pipeline, which takes longer than a page

    folder = page.arena.path if _is_own(page) else owned.owner_folder(owner) / f"{page.arena.name}-own"
    upload = owned.owner_folder(owner) / f"answers{''.join(Path(file).suffixes[-2:])}"
    completed = False
    with ui.working("Checking the answers ...") as move:
        owned.need_room(owner, len(data) + (0 if store.is_arena(folder) else page.arena.size))
        with home.alone(owned.owner_folder(owner)):
            try:
                store.write_bytes(upload, data)
                base = store.open_arena(folder) if store.is_arena(folder) else page.arena
                answers = adding.read_system(base, upload, system=system)
                adding.add_system(
                    base,
                    answers,
                    folder,
                    progress=lambda k, of: move(k / max(of, 1), f"Measuring {k:,} of {of:,} answers ..."),
                )
                completed = True
            except MirageError as error:
                # The reader knows the file by its own name, and the server's folders are nobody's business.
                raise error.named(str(upload), Path(file).name) from None
            except OSError as error:
                message = f"the file cannot be kept: {error.strerror or error}"
                raise ArenaError(message, do="free space, then try again") from None
            finally:
                upload.unlink(missing_ok=True)
    if completed:
        ui.switch(folder)


def _is_own(page: ui.Page) -> bool:
    """Whether the arena is a copy that this reader made."""
    return page.arena.path in owned.owned_arenas(reader().owner).values()


def _kept() -> str:
    """How long what is brought is kept, for whom, and how much of it."""
    current_reader = reader()
    until = (
        f"under your login, {ui.plain(current_reader.name)}"
        if current_reader.name
        else f"until you reload the page, for {owned.KEPT_HOURS} hours at most"
    )
    return (
        f"Your answers go into a private copy of the arena, kept {until}. "
        f"Your copies may take {owned.quota() / 1e6:,.0f} MB in all."
    )


def _delete(page: ui.Page) -> None:
    """Offer to remove the reader's copy."""
    with st.popover("Delete my copy", help="Removes this copy with every system that you have added to it."):
        st.caption("What you brought to this arena goes for good; the arena that it was copied from stays.")
        if st.button("Delete it", type="primary", key="delete_own"):
            completed = False
            with ui.working("Removing the copy ..."):
                owned.delete(reader().owner, page.arena.path)
                completed = True
            if completed:
                ui.switch(None)


ui.show("your_model", main)
