"""Page Compare: is A better than B?"""

from dataclasses import replace
from functools import partial
from html import escape

import pyarrow as pa
import streamlit as st

from mirage.battles.judge import judges as judges_of_arena
from mirage.errors import MirageError
from mirage.explorer.kit import judge as who
from mirage.explorer.kit.frame import Page, link_row, other_arenas, show, show_page_link
from mirage.explorer.kit.labels import labels_of, mark_labels
from mirage.explorer.kit.pick import pick, pickers_popover
from mirage.explorer.kit.states import refuse
from mirage.explorer.kit.table import SLIDE, Col, column, drop_constant, plain_table, table, table_svg
from mirage.explorer.kit.text import heading, note
from mirage.ranking.compare.measures import NUGGETS, RATE, RATING
from mirage.ranking.compare.records import LOGITS, Comparison, MovedQuery
from mirage.ranking.judges import Judge
from mirage.ranking.records import JOINT
from mirage.store.arena import Arena
from mirage.text.languages import in_language, scope_name
from mirage.text.segmentation import count_text
from mirage.views.comparison import (
    ComparisonView,
    PairChoice,
    compared_measures,
    compared_systems,
    comparison_view,
    has_measure,
    systems_in_rank_order,
)
from mirage.views.query_keys import key_text
from mirage.views.query_search import items

WIN_RATES = {"win_rate": "difference", "win_low": "low", "win_high": "high"}
"""The first system's win rate against the second and its interval, by the difference."""
NAMES = {
    RATING: "share of the points of the two systems' battles with each other",
    RATE: "correct decisions (to answer or abstain), both subsets weighted equally",
    NUGGETS: "share of vital nuggets stated in full",
}


OPTIONS = ("compare_against", "margin")
"""Keys of the pickers that most readers leave at their defaults."""
HERE = "this arena"
"""Option of the arena picker for two systems of the same arena."""


def main(page: Page) -> None:
    """Show the pickers, the verdict with its evidence, the languages, and the queries with the largest changes."""
    measures = compared_measures(page.arena)
    if not measures:
        page.need("outcomes")
    choice = pick_choice(page, measures)
    if choice is None:
        page.summary("A comparison needs two systems; fewer have a value here.")
        return
    by_labels = choice.measure == RATE or (choice.judge is not None and choice.judge.rests_on_labels)
    labels = labels_of(page) if by_labels else None
    if labels is not None:
        mark_labels(page, labels)
    try:
        view = comparison_view(
            page.arena,
            choice.first,
            choice.second,
            choice.settings(page.arena, page.picked),
            choice.against,
            labels.labels if labels is not None and choice.measure == RATE else None,
        )
    except MirageError as error:
        refuse(error)
        return
    shared = "each" if view.unit == LOGITS else "shared by both systems"
    measured = f", by {view.judge_name}." if view.judge else f". Measure: {view.title}."
    over = f"{count_text(view.overall.n_queries, 'query')} {shared}, {count_text(len(view.languages), 'language')}"
    page.summary(
        over + measured,
        conclusion=view.conclusion,
    )
    evidence(view)
    rows = rows_shown(view)
    languages(rows, view)
    queries(page, view, choice)
    page.download(
        "comparison",
        lambda: rows,
        about={
            "first": view.first,
            "second": view.second,
            "measure": view.measure,
            "judge": view.judge,
            "margin": view.margin,
            "against": view.against,
            "moved": moved_shown(view, page.arena).to_pylist(),
        },
        picture=partial(table_svg, rows, columns_of(view), aspect=SLIDE),
    )


def pick_choice(page: Page, measures: tuple[str, ...]) -> PairChoice | None:
    """Show the row of filters; return None if there are not two systems."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        measure: str = pick(
            "Measure",
            measures,
            key="by",
            kind="measure",
            width=220,
            help="; ".join(f"{name}: {NAMES[name]}" for name in measures if name in NAMES)
            + "; feature:NAME: a feature, signed so that above 0 favours the first system.",
        )
        judge = None
        if measure == RATING:
            name = who.judge(judges_of_arena(page.arena, panel=True), "Decides each battle.", listed=True)
            judge = Judge.from_name(name)
        names = compared_systems(page.arena, measure, judge)
        known = {name: other for name, other in other_arenas(page.arena).items() if has_measure(other, measure)}
        if len(names) < (1 if known else 2):
            return None
        ranked = systems_in_rank_order(page.arena, judge, page.picked)
        best = next((name for name in ranked if name in names), None)
        first: str = pick("First system", names, key="a", kind="system", width=230, default=best)
        place = st.container(width="content")
        options = pickers_popover("Options", OPTIONS, "Equivalence margin, and the second system's arena.")
        with options:
            against = known.get(_arena(tuple(known))) if known else None
        others = tuple(name for name in names if name != first)
        if against is not None:
            try:
                others = compared_systems(against, measure, judge)
            except MirageError as error:
                refuse(error)
                return None
        if not others:
            return None
        with place:
            next_best = first if against is not None else next((name for name in ranked if name in others), None)
            second: str = pick("Second system", others, key="b", kind="system", width=230, default=next_best)
    with options:
        margin = st.number_input(
            "Margin",
            min_value=0.0,
            value=0.0,
            step=0.05,
            key="margin",
            bind="query-params",
            width=130,
            help="Equivalence margin, in the measure's unit. Differences within it count as none. Without a margin, "
            "systems cannot be shown equivalent.",
        )
    return PairChoice(first, second, measure, judge, float(margin or 0.0), against)


def _arena(names: tuple[str, ...]) -> str:
    """Pick the arena of the second system."""
    about = "Compare with a run stored in another arena. Queries are matched by language and id."
    name: str = pick(
        "Second system's arena",
        (HERE, *names),
        key="compare_against",
        kind="arena",
        width=170,
        help=about,
    )
    return name


def evidence(view: ComparisonView) -> None:
    """Show the numbers behind the verdict, and why rows are inconclusive."""
    reasons = [row for row in view.rows if row.reason]
    lines = "".join(f"<li>{escape(f'{scope_name(row.language)}: {row.reason}')}</li>" for row in reasons)
    head = f"Why {count_text(len(reasons), 'row')} {'is' if len(reasons) == 1 else 'are'} inconclusive"
    folded = f'<details class="mg-more"><summary>{head}</summary><ul>{lines}</ul></details>' if reasons else ""
    st.html(f"<p>{escape(view.evidence)}</p>{folded}")


def rows_shown(view: ComparisonView) -> pa.Table:
    """Return the rows, all languages first, with the language's name, p as text, and of ratings the win rate."""
    rows = sorted(view.table.to_pylist(), key=lambda row: row["language"] != JOINT)
    for row in rows:
        p = row["p"]
        row["p_text"] = None if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"
        row["where"] = scope_name(row["language"])
        if view.measure == RATING:
            row |= {name: view.rate(row[number]) for name, number in WIN_RATES.items()}
    added = dict.fromkeys(("where", "p_text"), pa.string()) | dict.fromkeys(WIN_RATES, pa.float64())
    return pa.Table.from_pylist(rows, schema=pa.schema([*view.table.schema, *added.items()]))


def moved_shown(view: ComparisonView, arena: Arena) -> pa.Table:
    """Return the queries with the largest differences, with the language's name, and the query's text or its id."""
    names = [scope_name(row.language) for row in view.moved]
    texts = [
        item.text or item.key[1] for item in items(arena, tuple((row.language, row.query_id) for row in view.moved))
    ]
    table = view.moved_table.append_column("where", pa.array(names, pa.string()))
    return table.append_column("text", pa.array(texts, pa.string()))


def languages(rows: pa.Table, view: ComparisonView) -> None:
    """Show the difference in every language."""
    heads, constant = drop_constant(rows, columns_of(view))
    plain_table(rows, heads, key="comparison")
    jointly = f", corrected for {view.n_tests} languages" if view.n_tests > 1 else ""
    side = "is better" if view.directed else "has higher values"
    bands = f"Bands: 95% intervals over the {view.unit_name}{jointly}."
    note(f"Right of the dashed line the first {side}. {bands}{_same_everywhere(constant)}")


def _same_everywhere(constant: str) -> str:
    """Return a sentence with the values that all rows of a table share; empty if there are none."""
    return f" Each row: {constant}." if constant else ""


def columns_of(view: ComparisonView) -> tuple[Col, ...]:
    """Return the columns of a comparison; the head of p names its correction."""
    columns = RATED if view.measure == RATING else COLUMNS
    return tuple(replace(col, label=view.p_head) if col.name == "p_text" else col for col in columns)


def queries(page: Page, view: ComparisonView, choice: PairChoice) -> None:
    """Show the queries with the largest changes, with links to the answers."""
    head = "Largest differences by query"
    if not view.moved:
        heading(head, "The two systems do not differ on any query.")
        return
    values = "Points of the battles between the two. " if choice.measure == RATING else ""
    rows = moved_shown(view, page.arena)
    heads, constant = drop_constant(rows, MOVED)
    order = "Largest differences first, losses before gains."
    heading(head, f"{values}Click a row to read both answers. {order}{_same_everywhere(constant)}")
    picked = table(rows, heads, key="moved", select=True)
    if picked is None:
        return
    query = view.moved[picked]
    key = key_text((query.language, query.query_id))
    with link_row(query.query_id, f" {in_language(query.language)}"):
        if choice.against is None and (judges_of_arena(page.arena) or "answers" in page.arena.tables):
            show_page_link(
                "battle",
                "Side by side",
                a=choice.first,
                b=choice.second,
                verdict="any",
                query=key,
            )
        if {"answers", "outcomes"} & set(page.arena.tables):
            show_page_link("answers", "All answers", query=key, languages=(query.language,))


COLUMNS = (
    Col("where", "Language", "text", "All languages: unweighted mean over languages.", width=104),
    Col(
        "verdict",
        "Verdict",
        "text",
        "better or worse (higher or lower if neither is better): p is at most 5%. equivalent: the interval lies "
        "within the margin. Otherwise inconclusive.",
        width=90,
    ),
    Col(
        "difference",
        "Difference",
        "difference",
        "First minus second.",
        width=80,
    ),
    Col(
        "difference",
        "95% interval",
        "interval",
        "95% interval over queries, with one unseen query at the worst value. Dashed line: no difference. Arrow: "
        "unbounded.",
        low="low",
        high="high",
        endless=True,
        width=240,
    ),
    Col(
        "p_text",
        "p",
        "text",
        "p-value of this pair; of a language times the number of languages asked about.",
        width=66,
        right=True,
    ),
    column(Comparison, "n_queries", "Queries", width=64),
    column(Comparison, "detectable", "MDD", width=84),
)
RATED = (
    *COLUMNS[:2],
    Col(
        "win_rate",
        "Win rate",
        "rate",
        "Share of points of the first system in its battles with the second; above 50% the first is better.",
        width=80,
    ),
    replace(COLUMNS[3], name="win_rate", low="win_low", high="win_high", zero=0.5),
    *COLUMNS[4:6],
    Col(
        "queries_needed",
        "Queries needed",
        "count",
        "Queries in all for 80% power, if the difference is real. –: unknown.",
        width=104,
    ),
)
MOVED = (
    Col("where", "Language", "text", "Language of the query.", width=110),
    column(MovedQuery, "first", width=74),
    column(MovedQuery, "second", width=74),
    column(MovedQuery, "difference", kind="difference", width=90),
    Col("text", "Query", "text", "Text of the query, or its id."),
)

show("compare", main)
