"""Figures of the Compare page: differences of two systems with intervals and equivalence margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import FOOT, HEAD
from mirage.publish.charts.palette import MARK_SIZE, ROW, SPACE, Mode, axis, ink, label_text, layout, rows_axis
from mirage.text.segmentation import signed

SYMBOLS: Final = {
    "better": "triangle-right",
    "worse": "triangle-left",
    "equivalent": "square",
    "inconclusive": "circle",
}
"""Mark of each verdict; `inconclusive` is hollow."""


def differences(rows: Sequence[Mapping[str, Any]], *, margin: float, title: str, mode: Mode) -> dict[str, Any]:
    """Draw the difference of two systems in every language, with 95% intervals.

    Args:
        rows: `where, verdict, difference, low, high, n_queries, reason`, top to bottom; a difference that is None has
            no mark, and an end that is None has a whisker to the edge.
        margin: half the width of the band around 0 in which differences count as none.
        title: what is measured, with its unit.
        mode: light or dark.
    """
    colors = ink(mode)
    points = [(k, row) for k, row in enumerate(rows) if row["difference"] is not None]
    ends = [row[name] for _, row in points for name in ("difference", "low", "high") if row[name] is not None]
    ends += [0.0, -margin, margin]
    beyond = 0.06 * (max(ends) - min(ends)) or 1.0
    edges = [min(ends) - beyond, max(ends) + beyond]
    marker = {
        "color": [colors.ground if row["verdict"] == "inconclusive" else colors.accent for _, row in points],
        "symbol": [SYMBOLS[row["verdict"]] for _, row in points],
        "size": MARK_SIZE + 2,
        "line": {"color": colors.accent, "width": 1.5},
    }
    far = 2 * (edges[1] - edges[0])
    reach = [
        tuple(far if row[end] is None else abs(row[end] - row["difference"]) for end in ("low", "high"))
        for _, row in points
    ]
    band = {"type": "rect", "xref": "x", "yref": "paper", "x0": -margin, "x1": margin, "y0": 0, "y1": 1}
    band |= {"line": {"width": 0}, "fillcolor": colors.muted, "opacity": 0.22, "layer": "below"}
    return {
        "data": [
            primitives.dots(
                [row["difference"] for _, row in points],
                [k for k, _ in points],
                [_hover(row) for _, row in points],
                marker,
                error_x=primitives.whiskers([(low, high) for low, high in reach], colors.accent, width=6),
            )
        ],
        "layout": layout(
            mode,
            height=HEAD + ROW * len(rows) + FOOT,
            margin={"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": FOOT},
            xaxis=axis(
                mode,
                title=label_text(title),
                zeroline=True,
                range=edges,
                tickvals=primitives.ticks(edges[0], edges[1], 5),
            ),
            yaxis=rows_axis([label_text(row["where"]) for row in rows], mode),
            shapes=[band] if margin else [],
        ),
    }


def _hover(row: Mapping[str, Any]) -> str:
    low, high = ("no bound" if row[end] is None else signed(row[end]) for end in ("low", "high"))
    head = f"<b>{label_text(row['where'])}</b>: {row['verdict']}<br>{signed(row['difference'])} ({low} to {high})"
    return f"{head}<br>n = {row['n_queries']:,} queries answered by both"
