"""Which system is best in my languages, and how sure is that?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pyarrow as pa
import streamlit as st

from mirage.battles.referee import POOLED, Referee, judges
from mirage.battles.referee import referees as referees_of
from mirage.errors import MirageError
from mirage.explorer import kit as ui
from mirage.explorer.kit import referee as who
from mirage.explorer.leaderboard import cards, systems
from mirage.explorer.leaderboard import comparison as compared
from mirage.explorer.leaderboard import data as views
from mirage.explorer.leaderboard import ratings as columns
from mirage.explorer.leaderboard import text as conclusions
from mirage.explorer.leaderboard.published import published_ranks
from mirage.publish.charts import leaderboard as charts
from mirage.publish.charts.published import dumbbells
from mirage.publish.charts.report import report_page
from mirage.publish.leaderboard import to_latex, to_markdown
from mirage.ranking.languages import LanguageEffects
from mirage.ranking.scale import Scale
from mirage.ranking.settings import RankSettings
from mirage.text.languages import name_of
from mirage.text.segmentation import MANY, counted

PICKERS = {"Ranks": ("ranks", "drawn_ranks", "drawn_ratings")}
"""Keys of the pickers of every section."""
OPTIONS = ("ties", "battles", "own", "without", "control", "leaderboard_against", "scale")
"""Keys of the pickers that most readers leave as they are."""


def main(page: ui.Page) -> None:
    """Show what the arena has: ratings of its battles, or the published ranks."""
    if "published" in page.arena.tables and not {"outcomes", "judgments"} & set(page.arena.tables):
        published(page)
    else:
        if "judgments" not in page.arena.tables:
            if "outcomes" not in page.arena.tables:
                from mirage.explorer.leaderboard import retrieval_section as retrieval

                retrieval.show_retrieval(page)
            page.need("outcomes")
        ratings(page)


def ratings(page: ui.Page) -> None:
    """Ratings computed from the arena's battles."""
    referees = referees_of(page.arena, panel=True)
    filters = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with filters:
        referee = who.referee(referees, "Who decides a battle.")
        by_labels = Referee.from_name(referee).by_labels
        skill = who.skill(referee)
        options = ui.folded("Options", OPTIONS, "What counts as a battle and as a tie, and how ratings are shown.")
        with options:
            choice = _choice(page, referee)
        voted = None
        if not by_labels:
            # With all that people's votes need, this is a third of what the first page has to import.
            from mirage.explorer.kit import agreement

            voted = agreement.overriding(page)
    size = views.size(page.arena, referee)
    chosen = tuple(code for code in size.languages if not page.picked or code in page.picked)
    try:
        board = views.board(page.arena, referee, skill, chosen, choice, voted)
    except MirageError as error:
        if choice == RankSettings() and voted is None:
            raise
        st.warning(ui.plain(f"{error.what}; {error.do}"))
        choice, voted = RankSettings(), None
        board = views.board(page.arena, referee, skill, chosen)
    judged = referee in judges(page.arena)
    if choice != RankSettings() or voted or board.counted:
        against = (f"Against the plain ranking: {'; '.join(board.moved)}",) if board.moved else ()
        st.caption(ui.plain(_sentences((*against, *board.counted))))
    with options:
        reference, scale = _compared(board), _scale()
    with filters:
        chosen_systems, words = systems.pick_systems(page.arena, board.rows["system"].to_pylist())
        if judged:
            agreement.of_judge(page, referee, board.languages)
    _filtered(len(chosen_systems), board.rows.num_rows, words)
    shown = ui.filter_rows(compared.board_rows(board, reference, scale), "system", chosen_systems)
    page.summary(
        f"{_behind(page, size, referee)} Shown: {_shown(page, board, size)}.",
        conclusion=conclusions.conclusion(board, referee, skill),
    )
    rows = cards.with_lines(shown, page.arena)
    picked = ui.table(
        shown,
        columns.columns(by_labels=by_labels, ties=choice.ties, scale=scale, reference=reference),
        key="board",
        select=True,
    )
    clicked = ui.clicked("whiskers")
    system = rows[picked]["system"] if picked is not None else clicked[0] if clicked else None
    weak = compared.design_lines(board)
    met = f" Who met whom: {'; '.join(weak)}." if weak else ""
    if system is None:
        ui.note(f"Select a row or a mark to go on to what a system said. {board.method}.{met}")
    else:
        _onward(system, rival=next((row["system"] for row in rows if row["system"] != system), None))
        systems.card_line(cards.cards_of(page.arena).get(system))
        ui.note(_sentences(views.needed(board, system)) + met)
    if rows:
        subject = system if system is not None else rows[0]["system"]
        value, lines = conclusions.card_of(board, referee, subject)
        page.card(subject, value, *lines, system=subject, alt=f"{subject} to share")
    draw: dict[str, Callable[[], None]] = {"Ranks": lambda: _below(board, rows, _whiskers(choice, scale, reference))}
    pickers = PICKERS
    if "retrieved" in page.arena.tables:
        from mirage.explorer.leaderboard import retrieval_section as retrieval

        draw["Retrievers"] = lambda: retrieval.show_retrieval(page)
        pickers = PICKERS | {"Retrievers": retrieval.PICKERS}
    draw[ui.sections(pickers) if len(draw) > 1 else "Ranks"]()
    if judged:
        agreement.show_corrected(page, referee, board.languages)
    # The method of a ranking that counts otherwise says more than that of its fit.
    notes = (*([board.method] if board.method != board.ranking.method else []), *board.counted)
    page.download(
        "leaderboard",
        cards.with_cards(
            ui.filter_rows(compared.everything(board, reference), "system", chosen_systems),
            page.arena,
        ),
        about={
            "referee": referee,
            "skill": skill,
            "languages": board.languages,
            "method": board.method,
            "counted": list(board.counted),
        }
        | ({"reference": reference} if reference is not None else {}),
        report=lambda facts: report_page(
            page.arena.title,
            f"{_behind(page, size, referee)} Shown: {_shown(page, board, size)}.",
            cards.with_lines(ui.filter_rows(board.rows, "system", chosen_systems), page.arena),
            ui.filter_rows(board.ranks, "system", chosen_systems).to_pylist(),
            about=facts,
        ),
        printed={
            "LaTeX": lambda: to_latex(board.ranking, title=page.arena.title, notes=notes),
            "Markdown": lambda: to_markdown(board.ranking, title=page.arena.title, notes=notes),
        },
    )


def _whiskers(choice: RankSettings, scale: Scale, reference: str | None) -> Callable[[list[dict[str, Any]]], None]:
    """What draws the ratings, or the differences to a reference, as dots with whiskers."""

    def draw(rows: list[dict[str, Any]]) -> None:
        drawn = set(ui.page_systems([row["system"] for row in rows], key="drawn_ratings"))
        if len(drawn) < len(rows):
            rows = [row for row in rows if row["system"] in drawn]
        quantity = "Rating" if reference is None else f"Difference to {reference}"
        ui.chart(
            charts.whiskers(
                rows,
                mode=ui.mode(),
                title=charts.axis_title(scale, choice.ties, reference),
                kind="rating" if scale == "logit" else "points" if reference is not None else "anchored",
                zero=columns.zero(scale, reference),
                what="rating" if reference is None else f"difference to {reference}",
            ),
            key="whiskers",
            alt=f"{quantity} of every system with its 95% interval, best first.",
            select=True,
        )

    return draw


def _below(board: views.Board, rows: list[dict[str, Any]], whiskers: Callable[[list[dict[str, Any]]], None]) -> None:
    """The ranks by language, or the ratings, as a chart; what a click on a cell leads to stands above it."""
    if len(board.languages) < 2:
        whiskers(rows)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        shape = ui.pick(
            "Rank by language",
            ("map", "lines", "ratings"),
            key="ranks",
            kind="way to show ranks",
            segments=True,
            help="map: every rank in its cell. lines: how each system moves from language to language. ratings: the "
            "ratings of the table with their intervals, larger.",
        )
        if shape != "ratings":
            if cell := ui.clicked(f"rank_{shape}"):
                _onward(cell[0], cell[1])
            else:
                ui.note("1 is best. Hover a mark for its rating, its intervals and its n; select it to go on.")
    if shape == "ratings":
        whiskers(rows)
    else:
        in_order = [row["system"] for row in rows]
        drawn = ui.page_systems(in_order, key="drawn_ranks", marks=len(board.languages))
        ranks = ui.filter_rows(board.ranks, "system", drawn) if len(drawn) < len(rows) else board.ranks
        draw = charts.rank_map if shape == "map" else charts.bumps
        ui.chart(
            draw(ranks.to_pylist(), systems=list(drawn), mode=ui.mode()),
            key=f"rank_{shape}",
            alt="Rank of every system in every language.",
            select=True,
            wide=True,
        )
    _families(views.unusual(board))


def _filtered(n: int, total: int, words: str) -> None:
    """Say what the choice of systems leaves."""
    if n < total:
        st.caption(ui.plain(f"{n} of {total} systems are shown: {words}. Ranks stay those among all {total}."))


def _families(tests: LanguageEffects | None) -> None:
    """Where a system is stronger or weaker in a language family than elsewhere, by a test and not by eye."""
    if tests is None or not tests.tested:
        return
    findings = tests.significant()
    if findings:
        ui.heading("Unusually strong or weak")
        rows = [
            {
                "system": effect.system,
                "group": effect.group,
                "estimate": effect.estimate,
                "low": effect.low,
                "high": effect.high,
                "p": f"{effect.p_holm:.3f}",
                "n_languages": effect.n_languages,
                "n_queries": effect.n_queries,
            }
            for effect in findings
        ]
        ui.plain_table(pa.Table.from_pylist(rows), columns.FAMILIES, key="families")
    none = "" if findings else "No system is surely stronger or weaker in one family of languages than elsewhere. "
    ui.note(
        f"{none}{tests.tested:,} tests, a system and a language family each; the chance of any false finding is held "
        "at 5% (Holm). Languages are a sample: what holds for a few of a family may not hold for its others."
    )


def _compared(board: views.Board) -> str | None:
    """The system that the others are compared with; the link keeps it."""
    reference: str = ui.pick(
        "Compare with",
        ("none", *board.rows["system"].to_pylist()),
        key="leaderboard_against",
        former="against",
        kind="system",
        width=150,
        help="Shows every system's difference to this one, with its own interval: how well all others are known does "
        "not widen it.",
    )
    return None if reference == "none" else reference


def _scale() -> Scale:
    """The scale of the ratings; the link keeps it."""
    scale: Scale = ui.pick(
        "Scale",
        get_args(Scale),
        key="scale",
        kind="scale",
        segments=True,
        help="logit: the logarithm of the odds, centred on 0. arena: as public arenas print ratings, centred on 1000, "
        "400 for each tenfold of the odds.",
    )
    return scale


def _choice(page: ui.Page, referee: str) -> RankSettings:
    """What counts, picked beside the referee; the link keeps it."""
    ties = ui.pick(
        "Ties",
        ("half", "davidson", "drop"),
        key="ties",
        kind="way to count ties",
        segments=True,
        help="half: half a win for each. davidson: an outcome of its own, by Davidson's model. drop: left out.",
    )
    if Referee.from_name(referee).by_labels:
        return RankSettings(ties)
    battles = ui.pick(
        "Battles",
        ("every", "consistent"),
        key="battles",
        kind="choice of battles",
        segments=True,
        help="consistent: only battles whose two orders were judged and agree about the winner.",
    )
    own = ui.pick(
        "Own family",
        ("counts", "left-out"),
        key="own",
        kind="treatment of a judge's own family",
        segments=True,
        help="left-out: without a judge's verdicts on systems of its own maker.",
    )
    without, families = "none", views.families(page.arena)
    if referee == POOLED and families:
        without = ui.pick(
            "Without judges by",
            ("none", *families),
            key="without",
            kind="maker",
            width=150,
            help="Leaves out every judge of one maker.",
        )
    style, control = views.controls(page.arena), []
    if style and ties != "davidson":
        control = ui.pick(
            "Equal style",
            style,
            key="control",
            kind="covariate",
            many=True,
            placeholder="As it is",
            width=150,
            help="Compares the systems as if their answers were alike in these. Not with Davidson's model of ties.",
        )
    return RankSettings(
        ties,
        None if without == "none" else without,
        own=own == "counts",
        consistent=battles == "consistent",
        control=tuple(name for name in style if name in control),
    )


def _sentences(parts: tuple[str, ...]) -> str:
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in parts)


def published(page: ui.Page) -> None:
    """The ranks that the MIRAGE-Bench paper printed."""
    page.label("published figures")
    figures = published_ranks(page.arena, page.picked)
    page.summary(
        f"MIRAGE-Bench, Figure 4: ranks of {figures.rows.num_rows} systems in "
        f"{counted(len(figures.languages), 'language')} by the GPT-4o judge and by the surrogate judge, as printed. No "
        "interval is shown: the ratings behind these ranks could not be read from the paper."
    )
    chosen, words = systems.pick_systems(page.arena, figures.rows["system"].to_pylist())
    _filtered(len(chosen), figures.rows.num_rows, words)
    shown = ui.filter_rows(figures.rows, "system", chosen)
    rows = cards.with_lines(shown, page.arena)
    left, right = st.columns([13, 8], gap="small")
    with left:
        picked = ui.table(shown, columns.PUBLISHED, key="published", select=True)
        if picked is not None:
            systems.card_line(cards.cards_of(page.arena).get(rows[picked]["system"]))
        st.caption(ui.plain(f"Source: {figures.reference}."))
    with right:
        ui.chart(
            dumbbells(rows, mode=ui.mode()),
            key="mean_ranks",
            alt="Mean rank of every system by the judge and by the surrogate.",
        )
    st.header("Rank by language", anchor=False)
    cells, order = figures.ranks.to_pylist(), [row["system"] for row in rows]
    for place, name in zip(st.columns(2, gap="small"), ("judge", "surrogate"), strict=True):
        with place:
            st.caption(f"By the {name}. 1 is best.")
            ui.chart(
                charts.rank_map(cells, systems=order, mode=ui.mode(), value=name, dense=True),
                key=f"rank_map_{name}",
                alt=f"Rank of every system in every language by the {name}.",
                wide=True,
            )
    everything = cards.with_cards(ui.filter_rows(figures.everything, "system", chosen), page.arena)
    page.download("ranks", everything, about={"reference": figures.reference, "languages": figures.languages})


def _behind(page: ui.Page, size: views.Size, referee: str) -> str:
    """How much the whole arena holds."""
    over = f"{counted(size.queries, 'query')} in {counted(len(size.languages), 'language')}."
    if not Referee.from_name(referee).by_labels:
        decider = f"{len(judges(page.arena))} judges" if referee == POOLED else referee
        return f"{counted(size.answers, 'verdict')} of {decider} on {len(size.systems)} systems, {over}"
    noun = "real answer" if page.arena.label == "real replies" else "answer"
    return (
        "Who answers from the passages given, and abstains when none answers: "
        f"{counted(size.answers, noun)} of {counted(len(size.systems), 'system')} to {over}"
    )


def _shown(page: ui.Page, board: views.Board, size: views.Size) -> str:
    """What the filters leave, and why anything is left out."""
    names = [name_of(code) for code in board.languages]
    if len(names) == len(size.languages) and board.n_queries == size.queries and not board.left_out:
        return "all of them"
    summary = f"{board.n_queries:,} of {size.queries:,} queries in "
    summary += ", ".join(names) if len(names) <= 6 else f"{len(names)} of {len(size.languages)} languages"
    omitted = [f"{name_of(code)} ({reason})" for code, reason in board.lacking.items()]
    omitted += [f"{name_of(code)} (no battle)" for code in page.picked if code not in size.languages]
    omitted = omitted if len(omitted) <= MANY else [counted(len(omitted), "language")]
    omitted += [f"{system} (no battle in some of these languages)" for system in board.left_out]
    return summary + (f"; left out: {', '.join(omitted)}" if omitted else "")


def _onward(system: str, language: str | None = None, *, rival: str | None = None) -> None:
    """From a number to what is behind it."""
    where = f" in {name_of(language)}" if language else ""
    only = (language,) if language else ()
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.markdown(f"**{ui.plain(system)}**{where}", width="content")
        ui.onward("hallucination", "When it answers and when it abstains", languages=only, systems=system)
        ui.onward("answers", "What it said", languages=only, systems=system)
        if rival is not None:
            ui.onward("compare", "Is it better than another?", languages=only, by="rating", a=system, b=rival)


ui.show("leaderboard", main)
