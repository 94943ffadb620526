"""Page Choose: the cheapest system that is not significantly worse than the best."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from mirage.battles.referee import Referee
from mirage.battles.referee import referees as referees_of
from mirage.errors import MirageError
from mirage.explorer.decide import data as views
from mirage.explorer.decide.chart import by_weight, trade_off
from mirage.explorer.kit import referee as who
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page, show
from mirage.explorer.kit.frame import onward as ui_onward
from mirage.explorer.kit.labels import mark_labels
from mirage.explorer.kit.levels_section import corrected_section
from mirage.explorer.kit.pick import pick_many, pick_segments, pickers_popover
from mirage.explorer.kit.plain_table import plain_table
from mirage.explorer.kit.side_by_side import side_by_side
from mirage.explorer.kit.states import conclusion, refuse
from mirage.explorer.kit.table import mode
from mirage.explorer.kit.table import table as show_table
from mirage.explorer.kit.text import heading, note, plain
from mirage.ranking.compare.measures import RATING
from mirage.ranking.decide import ChoiceReport, Requirements
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    import pyarrow as pa

LIMITS = ("budget", "open_weights", "within", "seconds", "context", "tokens_in", "tokens_out")
"""Keys of the pickers that most readers leave as they are."""
AGAINST = {"price": "US dollars per 1,000 answers", "seconds": "Median seconds per answer"}


UNKNOWN = {"price": "price", "seconds": "latency", "p_front": ""}
"""Columns that are shown where something is known of them, and how they are named where nothing is."""


def main(page: Page) -> None:
    """Show the requirements, the choice, the systems, the languages and the weights."""
    measures = views.measures(page.arena)
    if not measures:
        page.need("outcomes")
    needs = pick(page, measures)
    try:
        report = views.report(
            page.arena, needs.weights, needs.referee, needs.requirements, needs.margin, page.picked, needs.tokens
        )
    except MirageError as error:
        refuse(error)
        return
    if "rate" in report.weights or report.referee == "relevance":
        mark_labels(page)
    kept = [option for option in report.options if option.refused is None]
    worth = " and ".join(f"{name} ({share:.0%})" for name, share in report.weights.items())
    page.summary(
        f"{len(kept)} of {count_text(len(report.options), 'system')} meet the requirements; "
        f"{count_text(report.overall.n_queries, 'query')} in {count_text(len(report.each), 'language')}. "
        f"Worth: {worth}."
    )
    choice(report)
    systems(page, report)
    if len(report.rows) > 1:
        languages(report)
    if report.by_weight:
        weights(report)
    show_corrected(page, needs)
    page.download(
        "choice",
        views.option_rows(report),
        about={
            "weights": report.weights,
            "scales": report.scales,
            "referee": report.referee,
            "margin": report.margin,
            "draws": report.n_draws,
            "seed": report.seed,
            "languages": views.language_rows(report).to_pylist(),
            "by weight": list(views.weight_rows(report)),
        },
    )


def pick(page: Page, measures: tuple[str, ...]) -> views.Needs:
    """Pick criteria and requirements."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        picked = pick_many(
            "Criteria",
            measures,
            key="counts",
            kind="measure",
            placeholder=measures[0],
            width=330,
            help="With several criteria, each is scaled from 0 (worst system) to 1 (best).",
        )
        names = picked or [measures[0]]
        weighed = tuple((name, weight(name) if len(names) > 1 else 1.0) for name in names)
        referee = None
        if RATING in names:
            name = who.referee(referees_of(page.arena, panel=True), "Decides each battle.", listed=True)
            referee = Referee.from_name(name)
        known = views.licences(page.arena)
        licences: list[str] = []
        if known:
            licences = pick_many("Licences", known, key="licences", kind="licence", placeholder="Any", width=170)
        about = "Price, latency, context length, margin."
        with pickers_popover("Limits", LIMITS, about):
            budget = number("Budget", "budget", "Maximum US dollars per 1,000 answers.", 0.5)
            is_open = pick_segments("Weights", ("any", "open"), key="open_weights", kind="choice of weights")
            margin = number("Margin", "within", "Differences in worth up to this margin count as ties.", 0.05)
            seconds = number(
                ("Max latency (s)"), "seconds", "Maximum median seconds per answer, from logged calls.", 0.5
            )
            context = number("Min context", "context", "Minimum context length in tokens (prompt and answer).", 1000.0)
            about = "per answer. Used to price systems without logged calls, with the prices on their cards."
            tokens_in = number("Prompt tokens", "tokens_in", f"Prompt tokens {about}", 100.0)
            tokens_out = number("Answer tokens", "tokens_out", f"Tokens {about}", 100.0)
    wants = Requirements(budget, seconds, tuple(licences), is_open == "open", None if context is None else int(context))
    return views.Needs(weighed, referee, wants, margin or 0.0, (tokens_in, tokens_out))


def weight(name: str) -> float:
    """Ask for the weight of a criterion."""
    value = st.number_input(
        f"Weight of {plain(name)}",
        min_value=0.1,
        value=1.0,
        step=0.5,
        key=f"weight_{name}",
        bind="query-params",
        width=150,
    )
    return float(value or 1.0)


def number(label: str, key: str, about: str, step: float) -> float | None:
    """Show a number field that may be left empty; its value is kept in the address."""
    value = st.number_input(
        label,
        min_value=0.0,
        value=None,
        step=step,
        key=key,
        bind="query-params",
        placeholder="any" if key != "within" else "0",
        help=about,
        width=124,
    )
    return None if value is None else float(value)


def choice(report: ChoiceReport) -> None:
    """Show the choice in one line, with its evidence."""
    refused = views.left_out(report)
    conclusion(
        views.verdict(report),
        views.evidence(report),
        more=f"{count_text(len(refused), 'system')} excluded",
        reasons=refused,
    )


def systems(page: Page, report: ChoiceReport) -> None:
    """Worth against cost, and the table of systems."""
    rows = views.option_rows(report)
    if not rows.num_rows:
        return
    without(rows, page)
    records = rows.to_pylist()
    known = [cost for cost in AGAINST if any(row[cost] is not None and row["worth"] is not None for row in records)]
    shown = [column for column in SYSTEMS if column.name not in UNKNOWN or rows[column.name].null_count < len(rows)]
    clicked = None
    if not known:  # there is room for the intervals
        shown = [replace(column, width=420) if column.kind == "interval" else column for column in shown]
    else:
        left, right = side_by_side((320, 8), (500, 13), key="decide_systems")
        with left:
            cost = known[0]
            if len(known) > 1:
                cost = pick_segments("X axis", known, key="cost", kind="cost", width="content")
            clicked = chart(
                trade_off(records, cost=cost, title=AGAINST[cost], unit=views.unit(report), mode=mode()),
                key=f"trade_off_{cost}",
                alt=f"Worth of every system with its 95% interval against {AGAINST[cost]}.",
                select=True,
                name=f"{page.arena.name}-{cost}",
            )
            note("Filled: not significantly different from the best. Dotted line: Pareto frontier.")
    with right if known else nullcontext():
        picked = show_table(rows, shown, key="decide_options", select=True)
        system = records[picked]["system"] if picked is not None else clicked[0] if clicked else None
        if system is not None:
            onward(report, system)
        else:
            note(f"Click a row{' or a mark' if known else ''} to read the system's answers.")


def without(rows: pa.Table, page: Page) -> None:
    """Name the data that no system has, what that leaves of the choice, and how to add it."""
    unknown = [words for name, words in UNKNOWN.items() if words and rows[name].null_count == len(rows)]
    if not unknown:
        return
    rest = " The choice depends on worth only." if len(unknown) == 2 else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        note(f"No {' or '.join(unknown)} is known for these systems.{rest}")
        with st.popover("How to add it"):
            st.caption(
                "Prices come from system cards; latency and tokens from logged calls. You can also set token counts "
                "under Limits. Import cards with:"
            )
            st.code(f"mirage import systems FILE --into {page.arena.path}", language=None, wrap_lines=True)


def onward(report: ChoiceReport, system: str) -> None:
    """Link from a system to the evidence for its score."""
    rival = next((name for name in (report.overall.choice, report.overall.best) if name not in (None, system)), None)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.markdown(f"**{plain(system)}**", width="content")
        if rival is not None:
            ui_onward("compare", "Compare with the chosen system", by=next(iter(report.weights)), a=system, b=rival)
        ui_onward("answers", "Read its answers", systems=system)


def languages(report: ChoiceReport) -> None:
    """Show the choice of every language, and what one system for all loses there."""
    heading("One system, or one per language")
    plain_table(views.language_rows(report), LANGUAGES, key="decide_languages")
    note(
        f"Loss: how far {report.overall.choice or 'the joint choice'} is below the best system in a language. "
        "Intervals are simultaneous over all systems (95%)."
    )


def show_corrected(page: Page, needs: views.Needs) -> None:
    """Show the choice by corrected levels, and the corrected beside the measured levels."""
    names = [name for name, _ in needs.weights if name != RATING]
    if not names:
        return
    table = next(name for name in ("outcomes", "features", "answers") if name in page.arena.tables)
    corrected_section(page, names, page.languages(table))
    labelled = views.correct_by_labels(page.arena, needs, tuple(page.picked))
    if isinstance(labelled, MirageError):
        note(f"No choice by corrected levels: {labelled.what}.")
    elif labelled is not None and labelled.overall.choice is not None:
        n = len(labelled.overall.contenders)
        note(f"Choice by corrected levels: {labelled.overall.choice}, one of {count_text(n, 'candidate')}.")


def weights(report: ChoiceReport) -> None:
    """Show how the choice changes with the weights."""
    heading("Sensitivity to weights")
    chart(
        by_weight(views.weight_rows(report), mode=mode()),
        key="by_weight",
        alt="The chosen system by the weight of each criterion.",
    )
    names = list(dict.fromkeys(row.choice for row in report.by_weight if row.choice))
    note(f"Chosen at some weight: {', '.join(names)}. Hover a mark for its system.")


SYSTEMS = (
    Col("system", "System", "system", help="System name."),
    Col(
        "worth",
        "Worth",
        "value",
        help="Over all languages, in the criterion's unit; with several criteria, 0 is the worst system and 1 the "
        "best.",
    ),
    Col(
        "worth",
        "95% interval",
        "interval",
        low="low",
        high="high",
        help="Interval of the worth, clustered by query.",
        width=104,
    ),
    Col("price", "$ / 1,000", "probability", help="US dollars per 1,000 answers.", width=74),
    Col("seconds", "Latency (s)", "mean", help="Median seconds per answer.", width=66),
    Col("p_best", "P(best)", "probability", help="Probability of the highest worth.", width=56),
    Col(
        "p_front",
        "P(Pareto)",
        "probability",
        help="Probability that no equally cheap and fast system is worth more.",
        width=56,
    ),
)
LANGUAGES = (
    Col("system", "Choice", "system", help="The cheapest system not significantly different from the best."),
    Col("where", "Language", "text", help="All languages: unweighted mean over languages.", width=110),
    Col(
        "p_right",
        "P(correct)",
        "probability",
        help="Probability that no other system beats the choice by more than the margin.",
    ),
    Col("one_regret", "Loss", "value", help="How far the joint choice is below the best system here."),
    Col("one_regret", "95% interval", "interval", low="one_low", high="one_high", help="Interval of the loss."),
    Col("n_queries", "Queries", "count", help="Number of queries."),
    Col("contenders", "Candidates", "text", help="The best system is among these with 95% confidence.", width=420),
)

show("decide", main)
