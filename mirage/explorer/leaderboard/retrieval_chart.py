"""Recall curves: how much of what is relevant each retriever brings among its first passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.palette import FAMILIES, FORMATS, MARK_SIZE, SPACE, Mode, axis, ink, label_text, layout, span

_HEIGHT = 320
_DASHES = ("solid", "dash", "dot", "dashdot")
_write = FORMATS["rate"].write


def recall_curves(
    rows: Sequence[Mapping[str, Any]], *, retrievers: Sequence[str], cutoffs: Sequence[int], mode: Mode
) -> dict[str, Any]:
    """Draw one line per retriever, with the 95% interval at each cutoff.

    Args:
        rows: rows of `RetrievalMean` of the measures R@k, of one language or over all.
        retrievers: their order.
        cutoffs: the k, rising.
        mode: light or dark.
    """
    colors = ink(mode)
    by_key = {(row["retriever"], row["measure"]): row for row in rows if row["mean"] is not None}
    data = []
    for number, retriever in enumerate(retrievers):
        points = [(k, by_key[retriever, f"R@{k}"]) for k in cutoffs if (retriever, f"R@{k}") in by_key]
        if not points:
            continue
        look = FAMILIES[number % (len(FAMILIES) - 2)]
        color, own = look.color(mode), [row for _, row in points]
        x = [str(k) for k, _ in points]
        hover = [
            f"<b>{label_text(retriever)}</b><br>R@{k}: {_write(row['mean'])}, 95% "
            f"{span(row['low'], row['high'], 'rate')}<br>n = {row['n']:,} of {row['total']:,} queries"
            for k, row in points
        ]
        data.append(
            primitives.dots(
                x,
                [row["mean"] for row in own],
                hover,
                {"color": color, "symbol": look.symbol, "size": MARK_SIZE},
                field="hovertext",
                mode="lines+markers",
                name=label_text(retriever),
                line={"color": color, "width": 2, "dash": _DASHES[number % len(_DASHES)]},
                error_y=primitives.whiskers(primitives.reaches(own, "mean", "low", "high"), color, thickness=1),
            )
        )
    return {
        "data": data,
        "layout": layout(
            mode,
            height=_HEIGHT,
            margin={"l": 7 * SPACE, "r": SPACE, "t": 4 * SPACE, "b": 6 * SPACE},
            hovermode="closest",
            legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "itemclick": False},
            xaxis=axis(mode, title="passages that are looked at (k)", type="category"),
            yaxis=axis(mode, title="R@k", tickformat=".0%", range=[0, 1.03]),
            showlegend=True,
            font={"color": colors.text},
        ),
    }
