"""Matrix of query languages by passage languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.palette import FORMATS, ROW, SPACE, Mode, axis, label_text, layout, rows_axis, span
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
    size = 2 * ROW
    write = FORMATS["rate"].write
    values = [row["value"] for row in rows]
    least, most = (-max(map(abs, values)), max(map(abs, values))) if signed else (min(values), max(values))
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
                shade=[(most - value) / (most - least) if most > least else 0.5 for value in values],
                mode=mode,
                size=size - 3,
                text_size=13,
            )
        ],
        "layout": layout(
            mode,
            height=size * len(asked) + 110,
            width=130 + size * len(spoken) + 70,
            margin={"l": SPACE, "r": 70, "t": 98, "b": SPACE},
            xaxis=axis(
                mode,
                side="top",
                tickvals=list(range(len(spoken))),
                ticktext=[label_text(passage_name(code)) for code in spoken],
                tickangle=-35,
                range=[-0.6, len(spoken) - 0.4],
                showgrid=False,
                zeroline=False,
            ),
            yaxis=rows_axis(labels, mode, showgrid=False),
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
