"""A matrix of query and passage languages with its table; nothing if passages are in one language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.language_pairs_chart import pair_matrix, passage_name
from mirage.explorer.kit.side_by_side import LEAST, side_by_side
from mirage.explorer.kit.table import mode, table
from mirage.text.languages import in_order, scope_name


def show_pairs(rows: Sequence[Mapping[str, Any]], *, key: str, alt: str, value: str, signed: bool = False) -> None:
    """Show a value for each pair of languages: a matrix beside a table with intervals.

    Args:
        rows: `query_language, passage_language, value, low, high, n` of each pair.
        key: unique on the page.
        alt: what the matrix shows.
        value: title of the value's column.
        signed: whether values are differences of shares.
    """
    order = in_order({row["query_language"] for row in rows})
    ordered = sorted(rows, key=lambda row: (order.index(row["query_language"]), row["passage_language"]))
    shown = [
        {
            "query": scope_name(row["query_language"]),
            "passage": passage_name(row["passage_language"]),
            **{name: row[name] for name in ("value", "low", "high", "n")},
        }
        for row in ordered
    ]
    columns = [
        Col("query", "Query", "text", width=120, help="Language of the queries."),
        Col("passage", "Passages", "text", width=120, help="Language of the passages."),
        Col("value", value, "difference" if signed else "rate", width=90, help=alt),
        Col("value", "95%", "interval", low="low", high="high", width=90, help="95% interval over queries."),
        Col("n", "n", "count", width=50, help="Queries with a value."),
    ]
    figure = pair_matrix(ordered, signed=signed, mode=mode())
    fitting = [width for width in LEAST if width >= figure["layout"]["width"]]
    if not fitting:
        chart(figure, key=f"{key}_matrix", alt=alt, wide=True)
        table(pa.Table.from_pylist(shown), columns, key=f"{key}_table")
        return
    left, right = side_by_side((fitting[0], 1), (320, 99), key=key)
    with left:
        chart(figure, key=f"{key}_matrix", alt=alt, half=True)
    with right:
        table(pa.Table.from_pylist(shown), columns, key=f"{key}_table")
