"""Figures that several pages draw: maps of cells, marks with whiskers in rows, and stacked shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.palette import (
    MARK_SIZE,
    ROW,
    SPACE,
    Mode,
    axis,
    columns_axis,
    columns_width,
    family,
    ink,
    label_text,
    language_axis,
    language_room,
    layout,
    on_ramp,
    rows_axis,
)

HEAD = ROW + 2
"""Height of a table's header in pixels, so that the rows of a chart align with those of a table beside it."""
FOOT = 52
"""Height of the axis below a plot, in pixels."""
LEGEND = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False}
"""A legend above the plot; not clickable, since a hidden mark would be a number missing without a word."""
SIDE = 2 * ROW
"""Pixels of a row and of a column of a square map."""


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

    row: int
    value: float
    low: float | None
    high: float | None
    hover: str
    """Hover text, HTML."""
    click: Sequence[str]
    """Value of a click."""
    filled: bool


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
    cells: Sequence[MapCell], columns: Sequence[str], rows: Sequence[str], mode: Mode, size: float, text_size: float
) -> list[primitives.Trace]:
    """Return the traces of a map, its shaded cells, then the hollow ones: square marks with a text in each, which,
    unlike an image, can be clicked.
    """
    colors, traces = ink(mode), []
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
                textfont={"color": [on_ramp(mode, share) for share in shades] or colors.muted, "size": text_size},
                selected={"marker": {"color": colors.chosen}, "textfont": {"color": "#ffffff"}},
            )
            traces.append(trace)
    return traces


def language_map(
    cells: Sequence[MapCell],
    *,
    languages: Sequence[str],
    rows: Mapping[str, str],
    mode: Mode,
    size: int = ROW - 3,
) -> dict[str, Any]:
    """Draw a map with a column for each language.

    Args:
        cells: the cells; their columns are codes.
        languages: codes, left to right.
        rows: plain label of each row, top to bottom.
        mode: light or dark.
        size: side of a cell in pixels.
    """
    top, right = language_room(languages)
    return {
        "data": _squares(cells, languages, list(rows), mode, size, 9.5),
        "layout": layout(
            mode,
            height=top + ROW * len(rows) + SPACE,
            **columns_width(len(languages)),
            margin={"l": SPACE, "r": right, "t": top, "b": SPACE},
            xaxis=language_axis(mode, languages),
            yaxis=rows_axis(list(rows.values()), mode, showgrid=False),
        ),
    }


def square_map(
    cells: Sequence[MapCell],
    *,
    columns: Mapping[str, str],
    rows: Mapping[str, str],
    left: int,
    right: int,
    head: int,
    mode: Mode,
) -> dict[str, Any]:
    """Draw a map of large cells, with slanted names above the columns.

    Args:
        cells: the cells.
        columns: plain label of each column.
        rows: plain label of each row, top to bottom.
        left: pixels for the labels of the rows.
        right: pixels for the end of the last column's label.
        head: pixels for the labels of the columns.
        mode: light or dark.
    """
    return {
        "data": _squares(cells, list(columns), list(rows), mode, SIDE - 3, 13),
        "layout": layout(
            mode,
            height=head + SIDE * len(rows) + SPACE,
            width=left + SIDE * len(columns) + right,
            margin={"l": SPACE, "r": right, "t": head, "b": SPACE},
            xaxis=columns_axis(list(map(label_text, columns.values())), mode, 35, len(columns)),
            yaxis=rows_axis(list(rows.values()), mode, showgrid=False),
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
    mode: Mode,
    row: int = ROW,
    foot: int = FOOT,
    **more: object,
) -> dict[str, Any]:
    """Return a figure with its traces in rows, as high as the rows of a table beside it.

    Args:
        data: the traces; row k is at y = k.
        rows: plain labels of the rows, top to bottom.
        xaxis: the axis of the values.
        mode: light or dark.
        row: pixels of a row.
        foot: pixels below the last row.
        more: other entries of the layout.
    """
    entries = {"xaxis": xaxis, "yaxis": rows_axis(rows, mode), **more}
    margin = {"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": foot}
    return {"data": list(data), "layout": layout(mode, height=HEAD + row * len(rows) + foot, margin=margin, **entries)}


def whisker_rows(
    series: Mapping[str, Sequence[WhiskerMark]],
    *,
    rows: Sequence[str],
    xaxis: Mapping[str, object],
    mode: Mode,
    line: float | None = None,
) -> dict[str, Any]:
    """Draw values with 95% intervals in rows, with the series side by side in each row.

    Args:
        series: marks by the system or judge they are about, whose colour and symbol they have.
        rows: plain labels of the rows, top to bottom.
        xaxis: the axis of the values.
        mode: light or dark.
        line: where a dotted line stands; None for no line.
    """
    colors, step = ink(mode), 0.7 / max(len(series), 1)
    data = []
    for k, (name, marks) in enumerate(series.items()):
        own = family(name).color(mode)
        marker = {
            "color": [own if mark.filled else colors.ground for mark in marks],
            "symbol": family(name).symbol,
            "size": MARK_SIZE,
            "line": {"color": [own if mark.filled else colors.muted for mark in marks], "width": 1.5},
        }
        data.append(
            primitives.dots(
                [mark.value for mark in marks],
                [mark.row + (k - (len(series) - 1) / 2) * step for mark in marks],
                [mark.hover for mark in marks],
                marker,
                clicks=[mark.click for mark in marks],
                name=label_text(name),
                error_x=primitives.whiskers(primitives.reaches(map(asdict, marks), "value", "low", "high"), own),
            )
        )
    fair = {"type": "line", "xref": "x", "yref": "paper", "x0": line, "x1": line, "y0": 0, "y1": 1}
    return rows_figure(
        data,
        rows,
        xaxis,
        mode=mode,
        row=max(ROW - 6, 12 * len(series) + 6),
        showlegend=len(series) > 1,
        legend=LEGEND,
        shapes=[] if line is None else [fair | {"line": {"color": colors.muted, "width": 1, "dash": "dot"}}],
    )


def stacked_shares(parts: Sequence[BarPart], *, rows: Sequence[str], title: str, mode: Mode) -> dict[str, Any]:
    """Draw one bar a row, with the parts from left to right; parts that never occur are left out.

    Args:
        parts: the parts.
        rows: plain labels of the bars, top to bottom.
        title: title of the axis.
        mode: light or dark.
    """
    colors = ink(mode)
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
    return rows_figure(
        data,
        rows,
        axis(mode, title=title, tickformat=".0%", zeroline=False, range=[0, 1.001]),
        mode=mode,
        row=24,
        yaxis=rows_axis(rows, mode, showgrid=False),
        barmode="stack",
        bargap=0.2,
        showlegend=True,
        legend=LEGEND | {"traceorder": "normal"},
    )
