"""Figures that several pages draw: maps of cells, marks with whiskers in rows, and stacked shares."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.palette import (
    MARK_SIZE,
    ROW,
    SPACE,
    axis,
    columns_width,
    family,
    ink,
    ink_on,
    label_text,
    layout,
    ramp_color,
    rows_axis,
    text_width,
)

HEAD = ROW + 2
"""Height of a table's header in pixels, so that the rows of a chart align with those of a table beside it."""
FOOT = 52
"""Height of the axis below a plot, in pixels."""
LEGEND = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False}
"""A legend above the plot; not clickable, since a hidden mark would be a number missing without a word."""
SIDE = 2 * ROW
"""Pixels of a row and of a column of a map of large cells."""
_SLANT = math.radians(40)
"""Angle of the names above columns."""
_LEAST = 12
"""Columns to leave room for, so that a few keep to the left rather than spread over the whole width."""


@dataclass(frozen=True, slots=True)
class MapCell:
    """One cell of a map."""

    column: str
    row: str
    text: str
    """Text in the cell."""
    hover: str
    """Hover text, HTML."""
    click: Sequence[str]
    """Value of a click."""
    shade: float | None
    """Place on the ramp, from 0, the best, to 1, the worst; None for a hollow cell."""


@dataclass(frozen=True, slots=True)
class WhiskerMark:
    """One mark with its interval."""

    row: float
    """Place from the top; between two whole numbers for several marks in a row."""
    system: str
    """System or judge whose colour and symbol it has."""
    value: float
    low: float | None
    high: float | None
    hover: str
    """Hover text, HTML."""
    click: Sequence[str]
    """Value of a click."""
    filled: bool = True


@dataclass(frozen=True, slots=True)
class BarPart:
    """One part of every stacked bar."""

    title: str
    fill: str
    """Colour."""
    shares: Sequence[float]
    """Its share in each bar, in [0, 1]."""
    hovers: Sequence[str]
    """Hover texts, HTML."""
    clicks: Sequence[Sequence[str]]
    """Values of clicks."""
    pattern: str
    """Plotly pattern over the colour; empty for none."""
    texts: Sequence[str]
    """Texts inside the bars."""
    ink: str
    """Colour of the texts."""


def _squares(
    cells: Sequence[MapCell], columns: Sequence[str], rows: Sequence[str], size: float, text_size: float
) -> list[primitives.Trace]:
    """Return the traces of a map, its shaded cells, then the hollow ones: square marks with a text in each, which,
    unlike an image, can be clicked.
    """
    colors, traces = ink(), []
    ramp = {"cmin": 0, "cmax": 1, "colorscale": colors.ramp, "line": {"width": 0}}
    hollow = {"color": colors.ground, "line": {"width": 1, "color": colors.line}}
    for own in ([c for c in cells if c.shade is not None], [c for c in cells if c.shade is None]):
        if own:
            shades = [cell.shade for cell in own if cell.shade is not None]
            fill = {"color": shades, **ramp} if shades else hollow
            trace = primitives.dots(
                [columns.index(cell.column) for cell in own],
                [rows.index(cell.row) for cell in own],
                [cell.hover for cell in own],
                {"symbol": "square", "size": size, **fill},
                clicks=[cell.click for cell in own],
                field="hovertext",
                mode="markers+text",
                text=[cell.text for cell in own],
                textfont={"color": [ink_on(ramp_color(share)) for share in shades] or colors.muted, "size": text_size},
                selected={"marker": {"color": colors.chosen}, "textfont": {"color": "#ffffff"}},
            )
            traces.append(trace)
    return traces


def cell_map(
    cells: Sequence[MapCell],
    *,
    columns: Mapping[str, str],
    rows: Mapping[str, str],
    side: int = ROW,
) -> dict[str, Any]:
    """Draw a map of cells, with slanted names above the columns.

    Args:
        cells: the cells.
        columns: plain label of each column; that of `all` is bold.
        rows: plain label of each row, top to bottom.
        side: pixels of a row, and of a column of a map of large cells.
    """
    large, names = side > ROW, [label_text(label) for label in columns.values()]
    widths = [text_width(name) for name in names]
    beyond = max(width - side * (len(names) - 1 - k) for k, width in enumerate(widths)) * math.cos(_SLANT)
    top = math.ceil(max(widths) * math.sin(_SLANT)) + 2 * SPACE
    right = math.ceil(max(beyond, SPACE))
    across = axis(
        side="top",
        tickvals=list(range(len(names))),
        ticktext=[f"<b>{name}</b>" if key == "all" else name for key, name in zip(columns, names, strict=True)],
        tickangle=-math.degrees(_SLANT),
        range=[-0.6, (len(names) if large else max(len(names), _LEAST)) - 0.4],
        showgrid=False,
        zeroline=False,
        automargin=False,
    )
    left = max(text_width(label_text(label)) for label in rows.values()) + 2 * SPACE
    width = {"width": math.ceil(left) + side * len(names) + right} if large else columns_width(len(names))
    return {
        "data": _squares(cells, list(columns), list(rows), side - 3, 13 if large else 9.5),
        "layout": layout(
            height=top + side * len(rows) + SPACE,
            **width,
            margin={"l": SPACE, "r": right, "t": top, "b": SPACE},
            xaxis=across,
            yaxis=rows_axis(list(rows.values()), showgrid=False),
        ),
    }


def shades(values: Sequence[float]) -> list[float]:
    """Return the shade of each value, from 0 for the largest to 1 for the smallest; the middle if all are equal."""
    most, least = max(values), min(values)
    return [(most - value) / (most - least) if most > least else 0.5 for value in values]


def rows_figure(
    data: Sequence[primitives.Trace],
    rows: Sequence[str],
    xaxis: Mapping[str, object],
    *,
    row: int = ROW,
    foot: int = FOOT,
    **more: object,
) -> dict[str, Any]:
    """Return a figure with its traces in rows, as high as the rows of a table beside it.

    Args:
        data: the traces; row k is at y = k.
        rows: plain labels of the rows, top to bottom.
        xaxis: the axis of the values.
        row: pixels of a row.
        foot: pixels below the last row.
        more: other entries of the layout.
    """
    entries = {"xaxis": xaxis, "yaxis": rows_axis(rows), **more}
    margin = {"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": foot}
    return {"data": list(data), "layout": layout(height=HEAD + row * len(rows) + foot, margin=margin, **entries)}


def whisker_rows(
    series: Mapping[str, Sequence[WhiskerMark]],
    rows: Sequence[str],
    xaxis: Mapping[str, object],
    **more: Any,
) -> dict[str, Any]:
    """Draw values with 95% intervals in rows.

    Args:
        series: marks by the name that a legend gives them; whiskers have the colour of their marks if it is one.
        rows: plain labels of the rows, top to bottom.
        xaxis: the axis of the values.
        more: as for `rows_figure`.
    """
    data = []
    for name, marks in series.items():
        looks = [family(mark.system) for mark in marks]
        colors = [look.color for look in looks]
        marker = {
            "color": [color if mark.filled else ink().ground for mark, color in zip(marks, colors, strict=True)],
            "symbol": [look.symbol for look in looks],
            "size": MARK_SIZE,
            "line": {"color": colors, "width": 1.5},
        }
        reach = primitives.whisker_lengths(map(asdict, marks), "value", "low", "high")
        data.append(
            primitives.dots(
                [mark.value for mark in marks],
                [mark.row for mark in marks],
                [mark.hover for mark in marks],
                marker,
                clicks=[mark.click for mark in marks],
                name=label_text(name),
                error_x=primitives.whiskers(reach, colors[0] if len({*colors}) == 1 else ink().muted),
            )
        )
    return rows_figure(data, rows, xaxis, **more)


def vline(x: float) -> dict[str, Any]:
    """Return the line that values are measured from, as a shape of a layout."""
    line = {"color": ink().muted, "width": 1, "dash": "dot"}
    return {"type": "line", "layer": "below", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": line}


def stacked_shares(parts: Sequence[BarPart], *, rows: Sequence[str], title: str) -> dict[str, Any]:
    """Draw one bar a row, with the parts from left to right; parts that never occur are left out.

    Args:
        parts: the parts.
        rows: plain labels of the bars, top to bottom.
        title: title of the axis.
    """
    colors = ink()
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "x": list(part.shares),
            "y": list(range(len(rows))),
            "hovertext": list(part.hovers),
            "hovertemplate": "%{hovertext}<extra></extra>",
            **primitives.click_fields(part.clicks),
            "marker": {
                "color": part.fill,
                "pattern": {
                    "shape": part.pattern,
                    "fgcolor": colors.text,
                    "size": 6,
                    "solidity": 0.2,
                    "fillmode": "overlay",
                },
                "line": {"color": colors.ground, "width": 1},
            },
            "name": part.title,
            "constraintext": "none",
            "text": list(part.texts),
            "textposition": "inside",
            "insidetextanchor": "middle",
            "textangle": 0,
            "textfont": {"size": 11, "color": part.ink, "shadow": ", ".join([f"0 0 3px {part.fill}"] * 4)},
        }
        for part in parts
        if any(part.shares)
    ]
    # On a phone the legend has a line of 20 pixels for each part, more than the height of a few rows.
    legend = 20 * max(len(data) - 1, 0)
    return rows_figure(
        data,
        rows,
        axis(title=title, tickformat=".0%", zeroline=False, range=[0, 1.001]),
        row=24 + legend // max(len(rows), 1),
        yaxis=rows_axis(rows, showgrid=False),
        barmode="stack",
        bargap=0.2,
        showlegend=True,
        legend=LEGEND | {"traceorder": "normal"},
    )
