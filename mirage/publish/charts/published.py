"""The published ranks: mean rank by the judge and by the surrogate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import rows_figure
from mirage.publish.charts.palette import MARK_SIZE, Mode, axis, family, ink, label_text


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
    muted, ground = ink(mode).muted, ink(mode).ground
    for judge in ("judge", "surrogate"):
        hollow = judge == "surrogate"
        shape = {"size": MARK_SIZE + 1, "symbol": [maker.symbol for maker in makers]}
        marker = shape | {"color": ground if hollow else colors, "line": {"color": colors, "width": 1.5}}
        x, customdata = [row[judge] for row in rows], [[row["system"]] for row in rows]
        data.append(primitives.dots(x, range(len(rows)), hover, marker, customdata=customdata, showlegend=False))
        # The legend's entry in plain ink: the families' colours are not what it is about.
        plain = {"size": MARK_SIZE + 1, "color": ground if hollow else muted, "line": {"color": muted, "width": 1.5}}
        data.append({"type": "scatter", "mode": "markers", "name": judge, "x": [None], "y": [None], "marker": plain})
    return rows_figure(
        data,
        [row["system"] for row in rows],
        axis(mode, title="Mean rank (lower is better)", zeroline=False),
        mode=mode,
        showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "font": {"color": ink(mode).muted}},
    )
