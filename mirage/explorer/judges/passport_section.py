"""Section of the Judges page: planted faults that a judge detects, by language."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from mirage.explorer.judges import passport as passports
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.table import mode, table
from mirage.explorer.kit.text import note, plain
from mirage.text.languages import in_order, name_of
from mirage.text.segmentation import count_text


def passport_section(page: Page, codes: Sequence[str], scope: str) -> None:
    """Show the passport of a judge; nothing where the arena has no planted faults.

    Args:
        page: the page.
        codes: languages in scope.
        scope: `all`, the only language, or empty for several without a common mean.
    """
    import pyarrow as pa

    items = passports.items_of(page.arena)
    judges = passports.passport_judges(items) if items is not None else ()
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
    result = passports.passport_at(items, judge or judges[0])
    if result is None:
        st.caption("This judge has no verdicts on planted faults in both orders.")
        return
    known = [code for code in in_order(result.languages) if code in codes]
    language = scope if scope in known else "all"
    where = count_text(len(result.languages), "language") if language == "all" else name_of(language)
    rows = passports.passport_rows(result, language)
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
            passports.passport_map(result, known, mode=mode()),
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
