"""Section of the Judges page: planted faults that a judge detects, by language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from mirage.errors import MirageError
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.table import mode, table
from mirage.explorer.kit.text import note, plain
from mirage.people.exam.passport import Passport, judges_of, passport
from mirage.people.votes import PEOPLE
from mirage.publish.charts import primitives
from mirage.publish.charts.palette import FORMATS, ROW, SPACE, Mode, axis, label_text, layout, rows_axis
from mirage.stages.judge.faults import FAMILIES, has_items, passport_path
from mirage.store import open_arena
from mirage.text.languages import in_order, name_of
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    from mirage.store import Arena


def passport_section(page: Page, codes: Sequence[str], scope: str) -> None:
    """Show the passport of a judge; nothing where the arena has no planted faults.

    Args:
        page: the page.
        codes: languages in scope.
        scope: `all`, the only language, or empty for several without a common mean.
    """
    import pyarrow as pa

    items = items_of(page.arena)
    judges = judges_of(items) if items is not None else ()
    if items is None or not judges:
        return
    st.header("Passport", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        judge = pick(
            "Judge",
            judges,
            key="passport",
            default=judges[0],
            width=280,
            help="Judges tested on answers paired with faulty copies (mirage judge DIR --passport).",
        )
    result = passport_at(items, judge or judges[0])
    if result is None:
        st.caption("This judge has no verdicts on planted faults in both orders.")
        return
    known = [code for code in in_order(result.languages) if code in codes]
    language = scope if scope in known else "all"
    where = count_text(len(result.languages), "language") if language == "all" else name_of(language)
    rows = passport_rows(result, language)
    n = sum(row["n"] for row in rows)
    note(
        f"Detected: share of items in which the original beats its faulty copy ({n:,} items, {where}). "
        "Chance level: 50%."
    )
    people = any(row["people"] is not None for row in rows)
    table(
        pa.Table.from_pylist(rows),
        [
            Col("fault", "Fault", "text"),
            _rate("detected", "Detected", "Original wins in both orders; a split or a tie counts half.", "low", "high"),
            *(
                [_rate("people", "People", "The same by people's votes.", "people_low", "people_high")]
                if people
                else []
            ),
            _rate(
                "split", "Orders disagree", "Items decided differently in the two orders.", "split_low", "split_high"
            ),
            Col("n", "n", "count", help="Items judged in both orders."),
            Col("unread", "Unread", "count", help="Items without a parsed verdict in both orders."),
            Col("unmade", "No item", "count", help="Answers in which this fault cannot be planted."),
        ],
        key="passport_table",
    )
    reasons = [f"{row['fault']}: {row['reason']}" for row in rows if row["reason"]]
    if reasons:
        with st.expander("Missing items and intervals"):
            st.markdown("\n".join(f"- {plain(reason)}." for reason in reasons))
    if len(known) > 1:
        note("Detected by language (%). No interval below 10 queries; hover for n.")
        chart(
            passport_map(result, known, mode=mode()),
            key="passport_map",
            alt=f"Share of planted faults that {judge} detects, by fault and language.",
            wide=True,
        )


def _rate(name: str, title: str, meaning: str, low: str, high: str) -> Col:
    """Return the column of a share with its interval."""
    return Col(
        name,
        title,
        "interval",
        help=f"{meaning} Band: 95% interval.",
        low=low,
        high=high,
        zero=0.5 if name != "split" else 0.0,
        ends=(0.0, 1.0),
        width=128,
        written="rate",
    )


def items_of(arena: Arena) -> Arena | None:
    """Return the arena of the planted faults; None if there is none, or only some queries are selected."""
    if arena.tags or not has_items(arena.path):
        return None
    return open_arena(passport_path(arena.path))


def passport_at(items: Arena, judge: str) -> Passport | None:
    """Return the passport of a judge with the current votes; None if it cannot be computed."""
    return _passport(items, judge, people.version())


@lru_cache(maxsize=16)
def _passport(items: Arena, judge: str, _version: tuple[str, int]) -> Passport | None:
    try:
        return passport(items, judge, votes=people.log(items))
    except MirageError:
        return None


def passport_rows(result: Passport, language: str) -> list[dict[str, Any]]:
    """Return one row per fault in a language or `all`, with the judge's and people's rates."""
    beside = {row.fault: row for row in result.rows if (row.judge, row.language) == (PEOPLE, language)}
    rows = []
    for row in result.rows:
        if (row.judge, row.language) != (result.judge, language):
            continue
        human = beside.get(row.fault)
        rows.append(
            asdict(row)
            | {
                "fault": FAMILIES[row.fault].title,
                "meaning": FAMILIES[row.fault].meaning,
                "people": human.detected if human else None,
                "people_low": human.low if human else None,
                "people_high": human.high if human else None,
                "people_n": human.n if human else 0,
            }
        )
    return rows


def passport_map(result: Passport, codes: list[str], *, mode: Mode) -> dict[str, Any]:
    """Draw the rates of a judge by fault and language, in percent.

    Args:
        result: the passport.
        codes: languages, left to right.
        mode: light or dark.
    """
    write = FORMATS["rate"].write
    faults = list(FAMILIES)
    known = [
        (codes.index(row.language), faults.index(row.fault), row, row.detected)
        for row in result.rows
        if row.judge == result.judge and row.language in codes and row.detected is not None
    ]
    titles = [label_text(FAMILIES[fault].title) for fault in faults]
    return {
        "data": [
            primitives.cells(
                [(column, line) for column, line, _, _ in known],
                [f"{100 * value:.0f}" for _, _, _, value in known],
                [
                    f"<b>{label_text(FAMILIES[row.fault].title)}</b>, {label_text(row.language)}<br>{write(value)}"
                    + ("" if row.low is None else f" ({write(row.low)} to {write(row.high)})")
                    + f"<br>n = {row.n:,}"
                    for _, _, row, value in known
                ],
                clicks=[[row.language, row.fault] for _, _, row, _ in known],
                shade=[1 - value for _, _, _, value in known],
                mode=mode,
                size=ROW + 4,
                text_size=12,
            )
        ],
        "layout": layout(
            mode,
            height=(ROW + 8) * len(faults) + 70,
            width=150 + max((ROW + 6) * len(codes), 160) + 20,
            margin={"l": SPACE, "r": SPACE, "t": 40, "b": SPACE},
            xaxis=axis(
                mode,
                side="top",
                tickvals=list(range(len(codes))),
                ticktext=[label_text(code) for code in codes],
                range=[-0.6, max(len(codes), 5) - 0.4],
                showgrid=False,
                zeroline=False,
            ),
            yaxis=rows_axis(titles, mode, showgrid=False),
        ),
    }
