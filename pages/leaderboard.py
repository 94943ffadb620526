"""Page Leaderboard: ratings with intervals, and ranks by language."""

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import Any, get_args

import streamlit as st

from mirage.battles.judge import judges as judges_of_arena
from mirage.errors import MirageError
from mirage.explorer.kit import judge as who
from mirage.explorer.kit.chart import chart, clicked_mark, page_systems
from mirage.explorer.kit.frame import Page, link_row, show, show_page_link
from mirage.explorer.kit.heat_tables import board_ranks, rank_table, win_table
from mirage.explorer.kit.labels import mark_labels
from mirage.explorer.kit.pick import hold, link_state, pick, pick_many, pick_segments, pickers_popover, sections
from mirage.explorer.kit.table import SLIDE, drop_constant, filter_rows, mode, table, table_svg
from mirage.explorer.kit.text import note, plain
from mirage.explorer.leaderboard import opening
from mirage.explorer.leaderboard import ratings as columns
from mirage.explorer.leaderboard import sections as parts
from mirage.publish.charts import leaderboard as charts
from mirage.publish.charts.palette import label_text
from mirage.ranking.judges import Judge
from mirage.ranking.settings import RankSettings
from mirage.schema import Ties
from mirage.text.segmentation import as_sentence
from mirage.views.board import (
    BoardChoice,
    BoardView,
    Shown,
    VoteRow,
    board_view,
    controls,
    describe_data,
    describe_selection,
    families,
    vote_rows,
)
from mirage.views.printed import published_ranks
from mirage.views.rates import RateChoice, rates_view
from mirage.views.system_cards import card_of, with_cards, with_facts
from mirage.views.win_matrix import matrix

OPTIONS = (
    *("ties", "battles", "own", "without", "control", "leaderboard_against", "scale", "columns"),
    *parts.PICKERS,
)
"""Keys of the pickers that most readers leave at their defaults."""
PICKERS = {"Ranks": ("drawn_ranks",), "Wins": ("drawn_wins",), "Chart": ("drawn_ratings",)}
"""Keys of the pickers of every section."""
TIES = {"half": "count half", "davidson": "model", "drop": "leave out"}
"""Treatments of ties, with their labels."""


def main(page: Page) -> None:
    """Show the ratings by the arena's battles, or the published ranks."""
    judges = judges_of_arena(page.arena, panel=True)
    if "published" in page.arena.tables and not judges:
        show_published(page)
    elif judges:
        ratings(page, judges)
    else:
        _describe_answers(page)


def ratings(page: Page, judges: tuple[str, ...]) -> None:
    """Show the ratings computed from the arena's battles."""
    opened = opening.is_open(page)
    if opened:
        shown = rates_view(page.arena, RateChoice(page.languages("outcomes") if page.picked else ()))
        page.summary("", conclusion=shown.opening)
        opening.show()
    filters = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with filters:
        judge = who.judge_with_skill(judges, "Decides each battle.")
        name = judge.name
        options = pickers_popover("Options", OPTIONS, "Which battles count, the scale, the columns, the systems.")
        with options:
            choice = _choice(page, judge)
        voted: tuple[VoteRow, ...] = ()
        # People's votes check models, not people.
        by_models = "votes" in judge.options and judge.maker(page.arena) != "people"
        by_model = by_models and judge.members(page.arena) == (name,)
        if by_models:
            # With all that people's votes need, this is a third of what the first page has to import.
            from mirage.explorer.kit import agreement
            from mirage.people.votes.stage import people_verdicts

            with options:
                votes = agreement.offer_override(page)
            if votes is not None:
                voted = vote_rows(people_verdicts(page.arena, votes.votes))
    if judge.rests_on_labels:
        mark_labels(page)
    default = RankSettings(skill=judge.skill)
    try:
        board = board_view(page.arena, BoardChoice((name,), page.picked, choice), voted)
    except MirageError as error:
        if choice == default and not voted:
            _describe_answers(page)
            raise
        st.warning(plain(f"{error.what}; {error.do}"))
        choice, voted = default, ()
        board = board_view(page.arena, BoardChoice((name,), page.picked, choice))
    if counted := (*board.notes, *board.counted):
        against = [f"Compared with the default ranking: {'; '.join(lines)}" for lines in board.moved.values()][-1:]
        st.caption(plain(_sentences((*against, *counted))))
    with options:
        reference, scale, every = _view(board)
        note(f"{board.method}.")
        chosen_systems, words = parts.pick_systems(page.arena, board.rows["system"].to_pylist())
    with filters:
        if by_model:
            agreement.of_judge(page, name, board.languages)
    _filter_note(len(chosen_systems), board.rows.num_rows, words)
    shown = filter_rows(board.shown_rows(reference, scale), "system", chosen_systems)
    shown, facts = with_facts(shown, page.arena)
    known, same = drop_constant(shown, [columns.FACTS[fact] for fact in facts])
    wanted = columns.columns(
        board.rows,
        counted=judge.counted,
        ties=choice.ties,
        scale=scale,
        reference=reference,
        facts=known,
        every=every,
    )
    heads, constant = drop_constant(shown, wanted)
    about = describe_data(page.arena, judge) + describe_selection(page.arena, judge, board)
    about += f" Each system: {', '.join(filter(None, (constant, same)))}." if constant or same else ""
    about += " All differences are significant." if len(board.rows) > 2 and columns.are_apart(board.rows) else ""
    if opened:
        note(about)
    else:
        page.summary(about, conclusion=board.conclusion)
    rows = shown.to_pylist()
    picked = table(shown, heads, key="board", select=True)
    system = None if picked is None else rows[picked]["system"]
    if system or not opened:
        _evidence(page, board, judge, rows, system, scale, reference)
    if by_model:
        agreement.show_corrected(page, name, board.languages)
    page.download(
        "leaderboard",
        lambda: with_cards(filter_rows(board.all_rows(reference), "system", chosen_systems), page.arena),
        about={
            "judge": name,
            "skill": judge.skill,
            "languages": board.languages,
            "method": board.method,
            "counted": [*board.notes, *board.counted],
        }
        | ({"reference": reference} if reference is not None else {}),
        picture=partial(table_svg, shown, heads, aspect=SLIDE),
    )


def _evidence(
    page: Page,
    board: BoardView,
    judge: Judge,
    rows: list[dict[str, Any]],
    picked: str | None,
    scale: Shown,
    reference: str | None,
) -> None:
    """Show the chosen system, then one section: ranks by language, wins, or the ratings as a chart."""
    clicked = clicked_mark("whiskers") or clicked_mark("price_scatter")
    system = _pick_system(rows, picked or (clicked[0] if clicked else None))
    apart = _sentences(board.apart)
    if system is None:
        note(" ".join(filter(None, ("Click a system for details.", board.on_failures, apart))))
    else:
        _show_links(system, next((row["system"] for row in rows if row["system"] != system), None))
        parts.card_line(card_of(page.arena, system))
        if apart:
            note(apart)
        parts.show_system(page, board, judge, system)
    if board.unranked:
        why = f"<summary>Not ranked</summary>{escape(_sentences(board.unranked))}"
        st.html(f'<details class="mg-more">{why}</details>')
    arena, in_order = st.session_state.get("arena", ""), [row["system"] for row in rows]
    draw: dict[str, Callable[[], None]] = {}
    if len(board.languages) > 1:
        whole = len(in_order) == board.rows.num_rows
        # A language may rank systems that have no rank over all languages.
        every = dict.fromkeys([*in_order, *(board.ranks["system"].to_pylist() if whole else ())])
        draw["Ranks"] = lambda: _show_html(
            "Rank by language, 1 is best. Hover for interval and n; click to read answers.",
            board_ranks(
                board, tuple(page_systems(list(every), key="drawn_ranks", marks=len(board.languages))), arena, mode()
            ),
        )
    if judge.name in judges_of_arena(page.arena):
        draw["Wins"] = lambda: _show_html(
            "Row's win rate against the column over all queries, ties excluded (%). Click to read the battles.",
            win_table(
                matrix(page.arena, judge, page.picked),
                tuple(page_systems(in_order, key="drawn_wins", marks=len(in_order))),
                mode(),
                arena=arena,
                judge=judge.name,
                languages=page.picked,
            ),
        )
    draw["Chart"] = lambda: _chart(rows, scale, reference)
    draw[sections({section: PICKERS[section] for section in draw})]()


def _show_html(about: str, html: str) -> None:
    note(about)
    st.html(html)


def _pick_system(rows: list[dict[str, Any]], clicked: str | None) -> str | None:
    """Return the system to show: that of the row or mark clicked last, else that of the link."""
    if link_state().arrived:  # the link decides: a selection that the table lost on another page is not a click
        st.session_state["_clicked_system"] = clicked
    elif clicked != st.session_state.get("_clicked_system"):
        st.session_state["_clicked_system"], st.session_state["system"] = clicked, clicked or "none"
    system = hold(("none", *(row["system"] for row in rows)), key="system", kind="system")
    return None if system == "none" else system


def _chart(rows: list[dict[str, Any]], scale: Shown, reference: str | None) -> None:
    """Draw the ratings with their intervals, and against the price of the systems if known."""
    drawn = set(page_systems([row["system"] for row in rows], key="drawn_ratings"))
    rows = [row for row in rows if row["system"] in drawn]
    against = "the average system" if reference is None else reference
    title = charts.axis_title("logit" if scale == "win-rate" else scale, reference=reference)
    title = f"Win rate against<br>{label_text(against)}<br>(higher is better)" if scale == "win-rate" else title
    kind = columns.rating_kind(scale, reference)
    figure = charts.whiskers(rows, title=title, kind=kind, zero=columns.zero(scale, reference))
    chart(figure, key="whiskers", alt="Every system's rating with its 95% interval, best first.", select=True)
    if sum(row["price"] is not None for row in rows) > 1:
        note("Price. Filled: tied with the best.")
        figure = parts.price_scatter(rows, title=title, kind=kind)
        chart(figure, key="price_scatter", alt="Every system's rating against its price.", select=True)


def _filter_note(n: int, total: int, words: str) -> None:
    """Say how many systems the filter shows."""
    if n < total:
        st.caption(plain(f"Showing {n} of {total} systems: {words}. Ranks are among all {total}."))


def _view(board: BoardView) -> tuple[str | None, Shown, bool]:
    """Pick the baseline that the others are compared with, the scale, and whether to show all columns."""
    reference: str = pick(
        "Baseline",
        ("none", *board.rows["system"].to_pylist()),
        key="leaderboard_against",
        kind="system",
        width=150,
        help="Compare every system with this one, with its own 95% interval.",
    )
    scale: Shown = pick_segments(
        "Scale",
        get_args(Shown),
        key="scale",
        kind="scale",
        help="win-rate: against the average system. logit: log-odds, centred on 0. arena: Elo-like, centred on 1000, "
        "400 points per tenfold odds.",
    )
    every = pick_segments(
        "Columns",
        ("main", "all"),
        key="columns",
        kind="choice of columns",
        help="all: also who is tied with the best, facts, unclassified answers, wins, ties and losses.",
    )
    return None if reference == "none" else reference, scale, every == "all"


def _choice(page: Page, judge: Judge) -> RankSettings:
    """Pick the battles that count, and how; the link keeps the choice."""
    ties = pick_segments(
        "Ties",
        ("half", "davidson", "drop"),
        key="ties",
        kind="way to count ties",
        named=TIES.__getitem__,
        help="count half: half a win each. model: an outcome of its own (Davidson). leave out: excluded.",
    )
    if "consistent" not in judge.options:
        return RankSettings(
            ties, skill=judge.skill, control=_style_control(page, ties) if "control" in judge.options else ()
        )
    battles = pick_segments(
        "Battles",
        ("every", "consistent"),
        key="battles",
        kind="choice of battles",
        help="consistent: only battles judged in both orders with the same winner.",
    )
    own = pick_segments(
        "Self-preference",
        ("counts", "left-out"),
        key="own",
        kind="treatment of a judge's own family",
        help="left-out: ignore a judge's verdicts on systems of its own maker.",
    )
    without, makers = "none", families(page.arena)
    if len(judge.members(page.arena)) > 1 and makers:
        without = pick(
            "Exclude judges by",
            ("none", *makers),
            key="without",
            kind="maker",
            width=150,
            help="Exclude all judges of one maker.",
        )
    return RankSettings(
        ties,
        None if without == "none" else without,
        exclude_own=own == "left-out",
        consistent=battles == "consistent",
        control=_style_control(page, ties),
    )


def _style_control(page: Page, ties: Ties) -> tuple[str, ...]:
    """Pick the style features to control for, of those measured; none with Davidson ties."""
    style = controls(page.arena)
    if not style or ties == "davidson":
        return ()
    control = pick_many(
        "Style control",
        style,
        key="control",
        kind="covariate",
        placeholder="Off",
        width=150,
        help="Adjust ratings for these style features. Not available with Davidson ties.",
    )
    return tuple(name for name in style if name in control)


def _describe_answers(page: Page) -> None:
    """Show the behaviour of the answers in an arena that ranks no system."""
    # Few arenas rank nothing, and every import costs the first page of all.
    from mirage.explorer.kit.behaviour import show_behaviour
    from mirage.views.overview import overview_view

    view = overview_view(page.arena)
    if view.behaviour is not None:
        show_behaviour(page, view)
    elif not view.judge:
        page.need("outcomes")


def _sentences(parts: Sequence[str]) -> str:
    return " ".join(map(as_sentence, parts))


def show_published(page: Page) -> None:
    """Show the ranks printed in the MIRAGE-Bench paper."""
    page.label("published figures")
    figures = published_ranks(page.arena, page.picked)
    page.summary(figures.about, conclusion=figures.conclusion)
    options = pickers_popover("Options", tuple(parts.PICKERS), "Ranks are among all systems.")
    with options:
        chosen, words = parts.pick_systems(page.arena, figures.rows["system"].to_pylist())
    _filter_note(len(chosen), figures.rows.num_rows, words)
    shown = filter_rows(figures.rows, "system", chosen)
    order = shown["system"].to_pylist()
    heads, _ = drop_constant(shown, columns.PUBLISHED)
    picked = table(shown, heads, key="published", select=True)
    if picked is not None:
        parts.card_line(card_of(page.arena, order[picked]))
    st.caption(plain(f"Source: {figures.reference}."))
    by = sections(dict.fromkeys(("Judge", "Surrogate"), ())).lower()
    cells = figures.ranks.to_pylist()
    _show_html(f"Rank by language by the {by}, 1 is best.", rank_table(cells, order, arena="", value=by))
    everything = with_cards(filter_rows(figures.everything, "system", chosen), page.arena)
    page.download(
        "ranks",
        lambda: everything,
        about={"reference": figures.reference, "languages": figures.languages},
        picture=partial(table_svg, shown, heads, aspect=SLIDE),
    )


def _show_links(system: str, rival: str | None) -> None:
    """Link from a system to the evidence for its rating."""
    with link_row(system):
        show_page_link("hallucination", "Hallucination and error rates", systems=system)
        show_page_link("answers", "Read its answers", systems=system)
        if rival is not None:
            show_page_link("compare", "Compare with another system", by="rating", a=system, b=rival)


show("leaderboard", main)
