"""The published ranks: mean rank by the judge and by the surrogate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import FOOT, HEAD
from mirage.publish.charts.palette import MARK_SIZE, ROW, SPACE, Mode, axis, family, ink, label_text, layout, rows_axis


def dumbbells(rows: Sequence[Mapping[str, Any]], *, mode: Mode) -> dict[str, Any]:
    """Mean rank by the judge (filled) and by the surrogate (open), joined, one row a system, aligned with a table.

    Args:
        rows: `system, judge, surrogate, languages`; `card`, where it is there, has lines on the system for the hover.
        mode: light or dark.
    """
    makers = [family(row["system"]) for row in rows]
    colors = [maker.color(mode) for maker in makers]
    hover = [
        f"<b>{label_text(row['system'])}</b> ({maker.name})<br>mean rank {row['judge']:.1f} by the judge, "
        f"{row['surrogate']:.1f} by the surrogate<br>n = {row['languages']} languages"
        + "".join(f"<br>{label_text(line)}" for line in row.get("card", ()))
        for row, maker in zip(rows, makers, strict=True)
    ]
    joins = [((row["judge"], i), (row["surrogate"], i)) for i, row in enumerate(rows)]
    data = [primitives.segments(joins, {"color": ink(mode).muted, "width": 1}, showlegend=False)]
    for judge in ("judge", "surrogate"):
        marker = {
            "color": colors if judge == "judge" else ink(mode).ground,
            "symbol": [maker.symbol for maker in makers],
            "size": MARK_SIZE + 1,
            "line": {"color": colors, "width": 1.5},
        }
        x, customdata = [row[judge] for row in rows], [[row["system"]] for row in rows]
        data.append(primitives.dots(x, range(len(rows)), hover, marker, customdata=customdata, showlegend=False))
        data.append(_legend(judge, filled=judge == "judge", mode=mode))
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + ROW * len(rows) + FOOT,
            margin={"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": FOOT},
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "font": {"color": ink(mode).muted}},
            xaxis=axis(mode, title="Mean rank (lower is better)", zeroline=False),
            yaxis=rows_axis([label_text(row["system"]) for row in rows], mode),
        ),
    }


def _legend(judge: str, *, filled: bool, mode: Mode) -> dict[str, Any]:
    """A legend entry in plain ink: the families' colours are not what it is about."""
    colors = ink(mode)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": judge,
        "x": [None],
        "y": [None],
        "marker": {
            "color": colors.muted if filled else colors.ground,
            "size": MARK_SIZE + 1,
            "line": {"color": colors.muted, "width": 1.5},
        },
    }
