"""Section of the Judges page: how verdicts on the anchor set have changed since a judge's first day."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from mirage import schema
from mirage.battles.anchors import anchored_judges
from mirage.errors import NotEnoughData
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.table import table
from mirage.explorer.kit.text import note
from mirage.stages.judge.drift import JudgeDrift, judge_drift

if TYPE_CHECKING:
    from mirage.store import Arena

_ALL = "all"
_COLUMNS = (
    Col("judge", "Judge", "system"),
    Col("date", "Day", "text", help="Day of the later verdicts, in UTC."),
    Col("since", "Compared with", "text", help="The judge's first day."),
    *(
        Col(
            name,
            label,
            "interval",
            help=f"{meaning} Band: 95% interval over queries.",
            low=f"{name}_low",
            high=f"{name}_high",
            zero=1.0 if name == "equal" else 0.0,
            ends=(0.0, 1.0) if name == "equal" else (-1.0, 1.0),
            width=140,
            written="rate" if name == "equal" else "difference",
        )
        for name, label, meaning in (
            ("equal", "Same verdict", "Share of battles with the same verdict on both days."),
            ("first", "Towards first", "Mean shift of points towards the answer shown first."),
            ("longer", "Towards longer", "Mean shift of points towards the longer answer."),
        )
    ),
    Col("n", "n", "count", help="Battles decided on both days, each order counted separately."),
    Col("queries", "Queries", "count", help="Their queries, the units of the intervals."),
)


@lru_cache(maxsize=16)
def drift_rows(arena: Arena) -> tuple[JudgeDrift, ...]:
    """Return the drift of every judge with verdicts on the anchor set from two days."""
    rows: list[JudgeDrift] = []
    for judge in anchored_judges(arena):
        try:
            rows += judge_drift(arena, judge)
        except NotEnoughData:
            continue
    return tuple(rows)


def drift_section(page: Page, codes: Sequence[str], scope: str) -> None:
    """Show the drift of every judge; nothing if no judge has verdicts on the anchor set from two days.

    Args:
        page: the page.
        codes: languages in scope.
        scope: `all`, the only language, or empty for several without a common mean.
    """
    everything = drift_rows(page.arena)
    have = {row.language for row in everything}
    wanted = {scope} if scope in have else have & set(codes)
    rows: list[Any] = [row for row in everything if row.language in wanted]
    if not rows:
        return
    st.header("Drift", anchor=False)
    note("Verdicts on the same anchor pairs, later minus first day. Reveals changes of the judge's model or prompt.")
    columns = _COLUMNS if len(wanted) == 1 else (*_COLUMNS[:3], Col("language", "Language", "language"), *_COLUMNS[3:])
    table(schema.from_rows(JudgeDrift, rows), list(columns), key="drift")
    if reasons := sorted({row.reason for row in rows if row.reason}):
        note(" ".join(f"{reason[0].upper()}{reason[1:]}." for reason in reasons))
