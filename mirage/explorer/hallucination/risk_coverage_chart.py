"""Risk against coverage: the share of wrong decisions among the answers given, when the weakest are withheld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.palette import FAMILIES, FORMATS, MARK_SIZE, SPACE, Mode, axis, ink, label_text, layout, span

_HEIGHT = 340
_write = FORMATS["rate"].write


def risk_coverage(curves: Mapping[str, Sequence[Mapping[str, Any]]], *, loss: str, mode: Mode) -> dict[str, Any]:
    """Draw one line per system, with the 95% band of the first.

    Args:
        curves: by system `coverage, risk, low, high, n` of every point, coverage rising.
        loss: what counts as wrong, for the axis.
        mode: light or dark.
    """
    colors = ink(mode)
    data: list[dict[str, Any]] = []
    for number, (system, points) in enumerate(curves.items()):
        look = FAMILIES[number % (len(FAMILIES) - 2)]
        color = look.color(mode)
        x = [point["coverage"] for point in points]
        banded = [point for point in points if point["low"] is not None]
        if banded and not number:
            across = [point["coverage"] for point in banded]
            data.append(
                primitives.lines(
                    [*across, *reversed(across)],
                    [*(point["high"] for point in banded), *(point["low"] for point in reversed(banded))],
                    {"width": 0},
                    fill="toself",
                    fillcolor=color,
                    opacity=0.16,
                    showlegend=False,
                )
            )
        hover = [
            f"<b>{label_text(system)}</b><br>{_write(point['coverage'])} given: {_write(point['risk'])} wrong decisions"
            + ("" if point["low"] is None else f", 95% {span(point['low'], point['high'], 'rate')}")
            + f"<br>n = {point['n']:,} answers"
            for point in points
        ]
        data.append(
            primitives.dots(
                x,
                [point["risk"] for point in points],
                hover,
                {"color": color, "symbol": look.symbol, "size": MARK_SIZE / 2},
                field="hovertext",
                mode="lines+markers",
                name=label_text(system),
                line={"color": color, "width": 2},
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
            xaxis=axis(mode, title="coverage: share of the answers that are given", tickformat=".0%", range=[0, 1.03]),
            yaxis=axis(mode, title=loss, tickformat=".0%", rangemode="tozero"),
            showlegend=True,
            font={"color": colors.text},
        ),
    }
