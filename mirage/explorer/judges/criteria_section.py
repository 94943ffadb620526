"""Section of the Judges page: how far the criteria of a judge agree."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from mirage.explorer.judges.criteria import criteria_rows
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.table import table
from mirage.explorer.kit.text import note
from mirage.text.languages import name_of
from mirage.text.segmentation import count_text


def criteria_section(page: Page, codes: Sequence[str], scope: str) -> None:
    """Show the agreement of every two criteria of each judge; nothing if no judge has two.

    Args:
        page: the page.
        codes: languages in scope.
        scope: `all`, the only language, or empty for several without a common mean.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = criteria_rows(page.arena)
    if not len(rows):
        return
    present = set(rows["language"].to_pylist())
    wanted = [scope] if scope in present else [code for code in codes if code in present]
    rows = rows.filter(pc.is_in(rows["language"], pa.array(wanted, pa.string())))
    if not len(rows):
        return
    st.header("Criteria", anchor=False)
    where = (
        f"mean over {count_text(len(present - {'all'}), 'language')}"
        if scope == "all"
        else ", ".join(map(name_of, wanted[:3]))
    )
    note(f"One judge by two criteria on the same battles ({where}). Low agreement: they measure different things.")
    table(
        rows,
        [
            Col("judge", "Judge", "system"),
            Col("one", "Criterion", "text"),
            Col("other", "Compared with", "text"),
            *([] if len(wanted) == 1 else [Col("language", "Language", "text")]),
            Col(
                "equal",
                "Same decision",
                "interval",
                help="Share of battles with the same winner, or both ties. Band: 95% interval over queries.",
                low="equal_low",
                high="equal_high",
                ends=(0.0, 1.0),
                width=128,
                written="rate",
            ),
            Col(
                "tau",
                "Kendall's tau",
                "interval",
                help="Rank correlation of the systems' ratings by both criteria; 1 is the same order.",
                low="tau_low",
                high="tau_high",
                ends=(-1.0, 1.0),
                width=128,
                written="rating",
            ),
            Col("battles", "n", "count", help="Battles decided by both criteria."),
            Col("queries", "Queries", "count", help="Their queries, the units of the intervals."),
        ],
        key="criteria",
    )
    reasons = sorted({reason for reason in rows["reason"].to_pylist() if reason})
    if reasons:
        note(" ".join(f"{reason[0].upper()}{reason[1:]}." for reason in reasons))
