"""Matrix of query languages by passage languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.explorer.kit.square_matrix import MARK, shades, square_layout
from mirage.publish.charts import primitives
from mirage.publish.charts.palette import FORMATS, Mode, label_text, span
from mirage.text.languages import in_order, name_of, scope_name

_OWN = "own"


def pair_matrix(rows: Sequence[Mapping[str, Any]], *, signed: bool, mode: Mode) -> dict[str, Any]:
    """Draw one value per pair of languages as square marks, one row per query language.

    Args:
        rows: `query_language, passage_language, value, low, high, n` of each pair; `all` and `own` come last.
        signed: whether values are differences of shares in [-1, 1], else shares in [0, 1].
        mode: light or dark.
    """
    asked = in_order(row["query_language"] for row in rows)
    spoken = sorted({row["passage_language"] for row in rows}, key=lambda code: (code == _OWN, code))
    write = FORMATS["rate"].write
    values = [row["value"] for row in rows]
    labels = [label_text(scope_name(code)) for code in asked]
    return {
        "data": [
            primitives.cells(
                [(spoken.index(row["passage_language"]), asked.index(row["query_language"])) for row in rows],
                [f"{100 * value:+.0f}" if signed else f"{100 * value:.0f}" for value in values],
                [
                    f"<b>{label_text(scope_name(row['query_language']))}</b> queries, "
                    f"<b>{label_text(passage_name(row['passage_language']))}</b> passages<br>"
                    + (f"{100 * row['value']:+.1f} points" if signed else write(row["value"]))
                    + _interval(row, signed=signed)
                    + f"<br>n = {row['n']:,}"
                    for row in rows
                ],
                clicks=[[row["query_language"], row["passage_language"]] for row in rows],
                shade=shades(values, symmetric=signed),
                mode=mode,
                **MARK,
            )
        ],
        "layout": square_layout(
            [label_text(passage_name(code)) for code in spoken], labels, left=130, right=70, head=98, mode=mode
        ),
    }


def passage_name(code: str) -> str:
    """Return the name of a passage language; `own` is the language of each query."""
    return "The query's own" if code == _OWN else name_of(code)


def _interval(row: Mapping[str, Any], *, signed: bool) -> str:
    if row["low"] is None:
        return ""
    if signed:
        return f", 95% {100 * row['low']:+.1f} to {100 * row['high']:+.1f}"
    return f", 95% {span(row['low'], row['high'], 'rate')}"
