"""The Surrogate page's charts: judged beside predicted ratings, and what a prediction rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import rows_figure
from mirage.publish.charts.palette import (
    FORMATS,
    MARK_SIZE,
    Mode,
    axis,
    family,
    ink,
    label_text,
    span,
)

if TYPE_CHECKING:
    from mirage.schema import Prediction

Ends = tuple[float | None, float | None]

_APART = 0.16
"""Rows by which the judged and the predicted mark of a system stand above and below its row."""
_rating = FORMATS["rating"].write


def ratings(points: Sequence[Prediction], ends: Mapping[str, Ends], *, judge: str, mode: Mode) -> dict[str, Any]:
    """Draw each system's rating by the judge above its prediction, both with 95% intervals.

    Args:
        points: rows top to bottom, of one language and regressor; one without a judged rating has its prediction alone.
        ends: by system, the interval of its rating by the judge; an end is None where the data puts no bound.
        judge: who rated.
        mode: light or dark.
    """
    data = []
    for predicted in (False, True):
        rows = [(i, point) for i, point in enumerate(points) if predicted or point.judged is not None]
        colors = [family(point.system).color(mode) for _, point in rows]
        marker = {
            "color": ink(mode).ground if predicted else colors,
            "symbol": [family(point.system).symbol for _, point in rows],
            "size": MARK_SIZE,
            "line": {"color": colors, "width": 1.5},
        }
        reach = [interval_reach(point, ends.get(point.system), predicted) for _, point in rows]
        data.append(
            primitives.dots(
                [point.rating if predicted else point.judged for _, point in rows],
                [i + (_APART if predicted else -_APART) for i, _ in rows],
                [hover_text(point, ends.get(point.system), predicted, judge) for _, point in rows],
                marker,
                clicks=[[point.system] for _, point in rows],
                name="predicted, without its battles" if predicted else f"rated by {label_text(judge)}",
                error_x=primitives.whiskers(reach, ink(mode).muted, width=3),
            )
        )
    known = (value for point in points for value in (point.judged, point.rating, point.low, point.high))
    judged = (end for point in points for end in ends.get(point.system, ()))
    low, high = primitives.widen([0.0, *known, *judged], 0.04)
    xaxis = axis(
        mode,
        title="Rating in logits (higher is better)",
        tickformat=".1f",
        tickvals=primitives.ticks(low, high, 6),
        range=[low, high],
        zeroline=True,
    )
    legend = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"}
    return rows_figure(data, [point.system for point in points], xaxis, mode=mode, showlegend=True, legend=legend)


def interval_reach(point: Prediction, ends: Ends | None, predicted: bool) -> tuple[float, float]:
    """Return the lengths of a mark's interval below and above it; 0 where it is unbounded."""
    value = point.rating if predicted else point.judged
    low, high = (point.low, point.high) if predicted else ends or (None, None)
    if value is None:
        return 0.0, 0.0
    return 0.0 if low is None else max(value - low, 0.0), 0.0 if high is None else max(high - value, 0.0)


def hover_text(point: Prediction, ends: Ends | None, predicted: bool, judge: str) -> str:
    """Return the text shown over a mark."""
    low, high = (point.low, point.high) if predicted else ends or (None, None)
    interval = "" if low is None and high is None else f" ({span(low, high)})"
    if not predicted:
        return f"<b>{label_text(point.system)}</b><br>rated {_rating(point.judged)}{interval} by {label_text(judge)}"
    warning = f"<br>outside the range seen in {label_text(point.outside)}" if point.outside else ""
    return (
        f"<b>{label_text(point.system)}</b><br>predicted {_rating(point.rating)}{interval}, rank {point.rank}{warning}"
    )
