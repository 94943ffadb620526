"""Plotly traces as plain dicts: dots, whiskers, lines.

Where a function takes `more`, its fields are added to the trace or replace those it has.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

Trace = dict[str, Any]
"""One trace of a figure's `data`."""
Reach = tuple[float, float]
"""Lengths of a mark's whiskers: down (or left) and up (or right), in units of the axis."""
HoverField = Literal["text", "hovertext"]
"""The field of a trace that holds the hover texts; `text` is also drawn where the mode has text."""


_SIZE, _LARGER = 6, 5
"""Pixels of a mark by Plotly's default, and by which a selected mark is larger."""


def dots(
    x: Sequence[Any],
    y: Sequence[Any],
    hover: Sequence[str],
    marker: Mapping[str, Any],
    *,
    clicks: Sequence[Sequence[str]] | None = None,
    field: HoverField = "text",
    **more: object,
) -> Trace:
    """Marks with a hover text each.

    Args:
        x: horizontal positions.
        y: vertical positions.
        hover: the hover texts, HTML.
        marker: Plotly's `marker`.
        clicks: the `customdata` of each mark, which a click yields; a selected mark is larger. None: no clicks.
        field: where the hover texts stand.
        more: other fields of the trace.
    """
    clicked: Trace = {}
    if clicks is not None:
        larger = {"marker": {"size": marker.get("size", _SIZE) + _LARGER}}
        clicked = {**click_fields(clicks, marker.get("opacity", 1)), "selected": larger}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": list(x),
        "y": list(y),
        field: list(hover),
        "hovertemplate": f"%{{{field}}}<extra></extra>",
        **clicked,
        "marker": dict(marker),
        **more,
    }


def lines(x: Sequence[Any], y: Sequence[Any], line: Mapping[str, Any], **more: object) -> Trace:
    """Return a line through points, without hover.

    Args:
        x: horizontal positions.
        y: vertical positions.
        line: Plotly's `line`.
        more: other fields of the trace.
    """
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(x),
        "y": list(y),
        "line": dict(line),
        "hoverinfo": "skip",
        **more,
    }


def whiskers(reach: Iterable[Reach], color: str, *, thickness: float = 1.5, width: float = 4) -> Trace:
    """Error bars for `error_x` or `error_y`.

    Args:
        reach: how far each goes down and up.
        color: their colour.
        thickness: of the line, in pixels.
        width: half the width of the caps, in pixels.
    """
    ends = list(reach)
    return {
        "type": "data",
        "symmetric": False,
        "array": [up for _, up in ends],
        "arrayminus": [down for down, _ in ends],
        "color": color,
        "thickness": thickness,
        "width": width,
    }


def whisker_lengths(rows: Iterable[Mapping[str, Any]], value: str, low: str, high: str) -> list[Reach]:
    """Return the lengths of each row's whiskers, from its value to both ends; 0 for an end that is null.

    Args:
        rows: the marks' rows.
        value: name of the value's column.
        low: name of the lower end's column.
        high: name of the upper end's column.
    """
    return [
        (0 if row[low] is None else row[value] - row[low], 0 if row[high] is None else row[high] - row[value])
        for row in rows
    ]


def widen(values: Iterable[float | None], margin: float) -> tuple[float, float]:
    """Return the ends of an axis: the known values, and a share of their range more; one unit more if they are equal.

    Args:
        values: the values; nulls do not count.
        margin: the share.
    """
    known = [value for value in values if value is not None] or [0.0]
    low, high = min(known), max(known)
    room = margin * (high - low) or 1.0
    return low - room, high + room


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round values between two ends: multiples of 1, 2 or 5 times a power of ten.

    Args:
        low: the lower end.
        high: the upper end, above it.
        most: how many values at most.
    """
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (power, 2 * power, 5 * power, 10 * power, 20 * power):
        first, last = math.ceil(low / step), math.floor(high / step)
        if last - first < most:
            break
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]


def click_fields(clicks: Sequence[Sequence[str]], opacity: float = 1) -> Trace:
    """Return the `customdata` that clicks yield; marks that are not selected keep their opacity."""
    return {"customdata": [list(click) for click in clicks], "unselected": {"marker": {"opacity": opacity}}}
