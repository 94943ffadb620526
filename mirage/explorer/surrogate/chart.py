"""The Surrogate page's charts: judged beside predicted ratings, and what a prediction rests on."""

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import LEGEND, WhiskerMark, whisker_rows
from mirage.publish.charts.palette import FORMATS, axis, label_text, span
from mirage.schema import Prediction

Ends = tuple[float | None, float | None]

_APART = 0.16
"""Offset of a system's judged and predicted marks above and below its row, in rows."""
_rating = FORMATS["rating"].write


def ratings(points: Sequence[Prediction], ends: Mapping[str, Ends], *, judge: str) -> dict[str, Any]:
    """Draw each system's rating by the judge above its prediction, both with 95% intervals.

    Args:
        points: rows top to bottom, of one language and regressor; one without a judged rating has its prediction alone.
        ends: by system, the interval of its rating by the judge; an end is None where the data puts no bound.
        judge: who rated.
    """
    rated, predicted = list[WhiskerMark](), list[WhiskerMark]()
    for i, point in enumerate(points):
        name, click = f"<b>{label_text(point.system)}</b><br>", [point.system]
        if point.judged is not None:
            low, high = ends.get(point.system, (None, None))
            hover = f"{name}rated {_rating(point.judged)}{_interval(low, high)} by {label_text(judge)}"
            rated.append(WhiskerMark(i - _APART, point.system, point.judged, low, high, hover, click))
        hover = f"{name}predicted {_rating(point.rating)}{_interval(point.low, point.high)}, rank {point.rank}"
        hover += f"<br>outside the range seen in {label_text(point.outside)}" if point.outside else ""
        mark = WhiskerMark(i + _APART, point.system, point.rating, point.low, point.high, hover, click, filled=False)
        predicted.append(mark)
    known = (end for mark in (*rated, *predicted) for end in (mark.value, mark.low, mark.high))
    low, high = primitives.widen([0.0, *known], 0.04)
    title, places = "Rating in logits (higher is better)", primitives.ticks(low, high, 6)
    return whisker_rows(
        {f"rated by {judge}": rated, "predicted, without its battles": predicted},
        [point.system for point in points],
        axis(title=title, tickformat=".1f", tickvals=places, range=[low, high], zeroline=True),
        showlegend=True,
        legend=LEGEND,
    )


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None and high is None else f" ({span(low, high)})"
