"""Is A better than B?"""

from __future__ import annotations

import streamlit as st

from mirage.battles.referee import referees as referees_of
from mirage.errors import MirageError
from mirage.explorer import kit as ui
from mirage.explorer.compare import data as views
from mirage.explorer.compare.chart import differences
from mirage.explorer.kit import referee as who
from mirage.explorer.kit.query_keys import key_text
from mirage.ranking.compare import ComparisonReport
from mirage.ranking.compare.measures import NUGGETS, RATE, RATING
from mirage.ranking.records import JOINT
from mirage.stats.units import name_unit
from mirage.text.segmentation import counted

NAMES = {
    RATING: "the difference of Bradley-Terry ratings by a referee",
    RATE: "right decisions on answerable and unanswerable queries, each half of it",
    NUGGETS: "the share of the vital nuggets that are stated in full",
}


OPTIONS = ("compare_against", "margin")
"""Keys of the pickers that most readers leave as they are."""
HERE = "this arena"
"""The option of the picker of arenas for two systems of one arena."""


def main(page: ui.Page) -> None:
    """The pickers, the verdict with its evidence, the languages, the queries that moved."""
    measures = views.measures(page.arena)
    if not measures:
        page.need("outcomes")
    choice = pick(page, measures)
    if choice is None:
        page.summary("A comparison takes two systems; here fewer have a value.")
        return
    try:
        report = views.report(
            page.arena,
            choice.first,
            choice.second,
            choice.measure,
            choice.referee,
            page.picked,
            choice.margin,
            choice.against,
        )
    except MirageError as error:
        ui.refuse(error)
        return
    page.summary(
        f"{counted(report.overall.n_queries, 'query')} on which both have a value, "
        f"{counted(len([row for row in report.rows if row.language != JOINT]), 'language')}. Measure: {report.title}."
    )
    verdict(report, choice)
    value, lines = views.card_of(report)
    sentence = f"{report.first} {views.verdict_words(report)} {_second(choice)}"
    page.card(sentence, value, *lines, alt="the comparison to share")
    languages(page, report)
    queries(page, report, choice)
    page.download(
        "comparison",
        views.rows(report),
        about={
            "first": report.first,
            "second": report.second,
            "measure": report.measure,
            "referee": choice.referee or None,
            "margin": report.margin,
            "against": None if choice.against is None else choice.against.name,
            "moved": views.moved(report).to_pylist(),
        },
    )


def pick(page: ui.Page, measures: tuple[str, ...]) -> views.Choice | None:
    """The row of filters; None where two systems are not there."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        measure: str = ui.pick(
            "Compared by",
            measures,
            key="by",
            kind="measure",
            width=220,
            help="; ".join(f"{name}: {NAMES[name]}" for name in measures if name in NAMES)
            + "; feature:NAME: a feature, where a difference above 0 is always in favour of the first.",
        )
        referee = ""
        if measure == RATING:
            referee = who.referee(referees_of(page.arena, panel=True), "Who decides a battle.", listed=True)
        names = views.systems(page.arena, measure, referee)
        known = {
            name: other for name, other in ui.other_arenas(page.arena).items() if views.has_measure(other, measure)
        }
        if len(names) < (1 if known else 2):
            return None
        first: str = ui.pick("First system", names, key="a", kind="system", width=230)
        place = st.container(width="content")
        options = ui.folded("Options", OPTIONS, "The margin of what counts as equal, and the second system's arena.")
        with options:
            against = known.get(_arena(tuple(known))) if known else None
        others = tuple(name for name in names if name != first)
        if against is not None:
            try:
                others = views.systems(against, measure, referee)
            except MirageError as error:
                ui.refuse(error)
                return None
        if not others:
            return None
        with place:
            second: str = ui.pick("Second system", others, key="b", kind="system", width=230, default=first)
    with options:
        margin = st.number_input(
            "Margin",
            min_value=0.0,
            value=0.0,
            step=0.05,
            key="margin",
            bind="query-params",
            width=130,
            help="Differences of at most this count as none, in the unit of the measure. With a margin two systems can "
            "be shown to be equivalent; without, only to differ.",
        )
    return views.Choice(first, second, measure, referee, float(margin or 0.0), against)


def _arena(names: tuple[str, ...]) -> str:
    """Where the second system is."""
    about = (
        "Another run of a system, of yesterday or with another setting, may be in another arena. Queries go together "
        "by language and id."
    )
    name: str = ui.pick(
        "Second is in",
        (HERE, *names),
        key="compare_against",
        former="against",
        kind="arena",
        width=170,
        help=about,
    )
    return name


def verdict(report: ComparisonReport, choice: views.Choice) -> None:
    """The answer in a sentence, and what it rests on."""
    words = views.verdict_words(report)
    margin = f" within {report.margin:g}" if report.overall.verdict == "equivalent" else ""
    reasons = [row for row in report.rows if row.reason]
    ui.conclusion(
        f"{report.first} {words} {_second(choice)}{margin}",
        views.evidence(report),
        more=f"Why {counted(len(reasons), 'row')} cannot be told",
        reasons=[f"{views.where(row.language)}: {row.reason}" for row in reasons],
    )


def _second(choice: views.Choice) -> str:
    """The second system, with its arena where that is another."""
    return choice.second if choice.against is None else f"{choice.second} ({choice.against.name})"


def languages(page: ui.Page, report: ComparisonReport) -> None:
    """Every language, drawn and printed."""
    rows = views.rows(report)
    left, right = ui.side_by_side((320, 7), (560, 14), key="compare_rows")
    unit = f", {report.unit}" if report.unit else ""
    with left:
        ui.chart(
            differences(
                rows.to_pylist(),
                margin=report.margin,
                title=f"Difference{unit} (above 0: the first is better)",
                mode=ui.mode(),
            ),
            key="differences",
            alt="Difference of the two systems in every language with its 95% interval.",
            name=f"{page.arena.name}-comparison",
        )
    with right:
        ui.plain_table(rows, COLUMNS, key="comparison")
    band = " The grey band is the margin." if report.margin else ""
    holm = " Verdicts of languages hold after Holm’s correction over them." if len(report.rows) > 1 else ""
    ui.note(
        "A triangle to the right: better; to the left: worse; a square: equivalent; a hollow circle: inconclusive. "
        f"Whiskers are 95% intervals with the {name_unit(report.query_unit)} as the unit.{band}{holm}"
    )


def queries(page: ui.Page, report: ComparisonReport, choice: views.Choice) -> None:
    """The queries that moved most, with the way to what was said on them."""
    head = "The queries that moved most"
    if not report.moved:
        ui.heading(head, "The two differ on no query that is known here.")
        return
    ui.heading(head, "Select a row to read what both said. Largest changes first; losses before gains.")
    by_rating = choice.measure == RATING
    columns = MOVED if by_rating else (MOVED[0], *VALUES, *MOVED[1:])
    picked = ui.table(views.moved(report), columns, key="moved", select=True)
    if picked is None:
        return
    query = report.moved[picked]
    key = key_text((query.language, query.query_id))
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.markdown(f"**{ui.plain(query.query_id)}** in {views.where(query.language)}", width="content")
        if choice.against is None and (referees_of(page.arena) or "answers" in page.arena.tables):
            ui.onward(
                "battle",
                "The two side by side",
                a=choice.first,
                b=choice.second,
                view="battle",
                verdict="any",
                query=key,
            )
        if {"answers", "outcomes"} & set(page.arena.tables):
            ui.onward("answers", "Every system’s answer", query=key, languages=(query.language,))


COLUMNS = (
    ui.Col("where", "Language", "text", help="All languages: their mean, each weighing the same.", width=104),
    ui.Col(
        "verdict",
        "Verdict",
        "text",
        help="better: the interval lies above 0; worse: below; equivalent: within the margin; else inconclusive.",
        width=90,
    ),
    ui.Col(
        "difference",
        "Difference",
        "difference",
        help="The first less the second; above 0 the first is better.",
        width=80,
    ),
    ui.Col("low", "Low", "difference", help="Lower end of the 95% interval; a dash: no bound.", width=62),
    ui.Col("high", "High", "difference", help="Upper end of the 95% interval; a dash: no bound.", width=62),
    ui.Col(
        "p_text",
        "p (Holm)",
        "text",
        help="Chance of such a difference if the two were equal, after Holm’s correction over the languages.",
        width=66,
        right=True,
    ),
    ui.Col("n_queries", "Queries", "count", help="Queries of both.", width=64),
    ui.Col(
        "detectable",
        "Shows from",
        "value",
        help="Smallest true difference that these queries show with a chance of 80%.",
        width=84,
    ),
    ui.Col(
        "more",
        "More",
        "count",
        help="Queries to add for a decision with a chance of 80%, if the true difference is "
        "this one; a dash: no number is known to be enough.",
        width=60,
    ),
)
MOVED = (
    ui.Col("where", "Language", "text", help="Language of the query.", width=110),
    ui.Col(
        "difference",
        "Difference",
        "difference",
        help="By how much the first is ahead on this query; of ratings, by how much the query moves the difference.",
        width=90,
    ),
    ui.Col("query_id", "Query", "text", help="Its id."),
)
VALUES = (
    ui.Col("first", "First", "value", help="Value of the first system.", width=74),
    ui.Col("second", "Second", "value", help="Value of the second system.", width=74),
)

ui.show("compare", main)
