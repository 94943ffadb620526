"""A figure as SVG, without Plotly, which takes 40 milliseconds for a chart and a fifth of one for each mark.

What is drawn is the same figure that Plotly draws where a chart leaves the page: scatter traces with lines, marks,
whiskers and texts, on axes whose ranges and ticks are set. Positions along x are shares of the field's width, so that a
drawing fits whatever holds it, as Plotly's does; everything else is in pixels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from itertools import pairwise
from math import hypot
from typing import Any

from mirage.charts.palette import CLEAR, FONT, SHAPES, SPACE, TEXT_SIZE

_DASHES = {"solid": "none", "dot": "2,2", "dash": "6,3", "longdash": "10,3", "dashdot": "6,3,2,3"}
"""Plotly's names of lines."""
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}
"""Plotly's names of the side of a text that is at its place."""
_CHARACTERS = {"b": 'font-weight="600"', "i": 'font-style="italic"'}
_MARKUP = re.compile(r"<(/?)(b|i|span)(?: style=\"color:(#[0-9a-f]{3,6})\")?>")
"""What the texts of figures have of markup; all else in them is escaped."""
_GAP = 3
"""Pixels between a mark and the text beside it."""
_RADIUS = 5.0
"""Of a shape of 16 x 16."""
_Columns = dict[str, dict[str, list[str]]]
"""The marks by their place along x and how they are painted, as data of paths.

An element for each mark would be most of what a browser does for the whole page.
"""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure as SVG, and what its marks say and yield."""

    svg: str
    marks: tuple[tuple[float, float, str, Sequence[str] | None], ...]
    """Of every mark with a hover text: its place as a share of the field's width and in pixels from the top, the hover
    text as in the figure, and what a click on it yields.
    """
    left: int
    """Pixels left of the field."""
    right: int
    """Pixels right of it."""
    height: float
    """Pixels from the top to the bottom, without the legend."""
    size: float
    """Of a mark, in pixels."""
    legend: str
    """The marks of the traces with their names, as HTML; empty where the figure shows none."""


@dataclass(frozen=True, slots=True)
class _Field:
    """Where the field of two axes lies."""

    x_axis: Mapping[str, Any]
    y_axis: Mapping[str, Any]
    top: float
    bottom: float

    def x(self, value: float) -> float:
        """A place as a share of the width."""
        start, end = map(float, self.x_axis["range"])
        return (value - start) / (end - start)

    def y(self, value: float) -> float:
        """A place in pixels from the top."""
        start, end = map(float, self.y_axis["range"])
        return self.bottom - (value - start) / (end - start) * (self.bottom - self.top)

    def holds(self, value: float) -> bool:
        """Whether a value lies in the range of y."""
        start, end = map(float, self.y_axis["range"])
        return min(start, end) <= value <= max(start, end)


def draw(figure: Mapping[str, Any]) -> Drawing:
    """Draw a figure.

    Args:
        figure: `data` and `layout`; every trace is a scatter, every axis has `range` and `tickvals`, and its field has
            the whole width.
    """
    layout = figure["layout"]
    margin, height = layout["margin"], layout["height"]
    legend = _legend(figure["data"]) if layout.get("showlegend") else ""
    if legend:
        # Plotly writes the legend into the margin; here it stands above the drawing.
        height -= margin["t"] - SPACE
        margin = {**margin, "t": SPACE}
    room = height - margin["t"] - margin["b"]
    fields: dict[str, _Field] = {}
    for name in layout:
        if name.startswith("yaxis"):
            number = name.removeprefix("yaxis")
            low, high = layout[name].get("domain", (0, 1))
            top, bottom = (margin["t"] + (1 - end) * room for end in (high, low))
            fields[number] = _Field(layout[f"xaxis{number}"], layout[name], top, bottom)
    columns: _Columns = {}
    above: list[str] = []
    shapes = [(shape["type"], _shape(shape, fields[""])) for shape in layout.get("shapes", ())]
    parts = [drawn for kind, drawn in shapes if kind != "line"]
    visible = [field for field in fields.values() if field.x_axis.get("visible", True)]
    parts += [part for field in visible for part in _grid(field, margin["l"])]
    parts += [drawn for kind, drawn in shapes if kind == "line"]
    marks: list[tuple[float, float, str, Sequence[str] | None]] = []
    size = 0.0
    for trace in figure["data"]:
        field = fields[trace.get("yaxis", "y")[1:]]
        if "lines" in trace["mode"]:
            parts.append(_lines(trace, field))
        if "markers" in trace["mode"]:
            if "error_x" in trace:
                parts.append(_whiskers(trace, field))
            if "error_y" in trace:
                parts.append(_upright_whiskers(trace, field))
            _marks(trace, field, columns)
            if "text" in trace["mode"]:
                above.append(_texts(trace, field))
            marks += _hovers(trace, field)
            size = max(size, trace["marker"]["size"])
    parts += map(_column, columns, columns.values())
    parts += above
    parts += [_note(note, fields[""], margin["t"], room) for note in layout.get("annotations", ())]
    width = f"{layout['width'] - margin['l'] - margin['r']}px" if "width" in layout else "100%"
    svg = (
        f'<svg width="{width}" height="{height}" font-family="{FONT}" font-size="{TEXT_SIZE}" '
        f'fill="{layout["font"]["color"]}">{"".join(parts)}</svg>'
    )
    return Drawing(svg, tuple(marks), margin["l"], margin["r"], height, size, legend)


def _grid(field: _Field, left: float) -> Iterator[str]:
    """Lines and names of a field's axes; `left` is the room beside it."""
    x_axis, y_axis = field.x_axis, field.y_axis
    above = x_axis.get("side") == "top"
    edge = field.top if above else field.bottom
    muted, line = x_axis["tickfont"]["color"], x_axis["linecolor"]
    if y_axis.get("showgrid", True):
        ys = [field.y(value) for value in y_axis["tickvals"] if field.holds(value)]
        yield "".join(_across(y, y_axis["gridcolor"]) for y in ys)
    if y_axis.get("zeroline") and field.holds(0):
        yield _across(field.y(0), y_axis["zerolinecolor"])
    yield _across(edge, line)
    yield f'<path d="M0 {field.top:.1f}V{field.bottom:.1f}" stroke="{line}"/>'
    size = x_axis["tickfont"].get("size", TEXT_SIZE)
    y = edge - SPACE if above else edge + SPACE + size / 2
    names = list(_names(x_axis))
    if x_axis.get("showgrid", True):
        yield "".join(_upright(field, value, x_axis["gridcolor"]) for value, _ in names)
    if x_axis.get("zeroline"):
        yield _upright(field, 0, x_axis["zerolinecolor"])
    texts = "".join(f'<text x="{100 * field.x(value):.2f}%" y="{y:.1f}">{name}</text>' for value, name in names)
    if "title" in x_axis:
        texts += f'<text x="50%" y="{y + 2 * SPACE + size / 2:.1f}">{x_axis["title"]["text"]}</text>'
    yield f'<g class="x" fill="{muted}" font-size="{size}" text-anchor="middle">{texts}</g>'
    rows = _names(y_axis)
    texts = "".join(f'<text x="{-SPACE}" y="{field.y(value):.1f}" dy=".35em">{name}</text>' for value, name in rows)
    yield f'<g class="y" fill="{muted}" text-anchor="end">{texts}</g>'
    if "title" in y_axis:
        x, y = TEXT_SIZE - left, (field.top + field.bottom) / 2
        name = y_axis["title"]["text"]
        turned = f'transform="translate({x} {y:.1f}) rotate(-90)"'
        yield f'<text class="y" fill="{muted}" text-anchor="middle" {turned}>{name}</text>'


def _names(axis: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """The ticks of an axis with their names; numbers are their own, in the axis's format."""
    values = axis["tickvals"]
    written = (format(value, axis.get("tickformat", "g")).replace("-", "−") for value in values)
    return zip(values, axis.get("ticktext") or written, strict=True)


def _upright(field: _Field, value: float, color: str, look: str = "") -> str:
    """A line over the whole height; `look` is further attributes."""
    x = f"{100 * field.x(value):.2f}%"
    return f'<line x1="{x}" x2="{x}" y1="{field.top:.1f}" y2="{field.bottom:.1f}" stroke="{color}"{look}/>'


def _shape(shape: Mapping[str, Any], field: _Field) -> str:
    """A line from top to bottom, or a stretch of x that is shaded."""
    if shape["type"] == "line":
        line = shape["line"]
        look = f' stroke-width="{line["width"]}" stroke-dasharray="{_DASHES[line.get("dash", "solid")]}"'
        return _upright(field, shape["x0"], line["color"], look)
    start, end = field.x(shape["x0"]), field.x(shape["x1"])
    return (
        f'<rect x="{100 * start:.2f}%" width="{100 * (end - start):.2f}%" y="{field.top:.1f}" '
        f'height="{field.bottom - field.top:.1f}" fill="{shape["fillcolor"]}" opacity="{shape["opacity"]}"/>'
    )


def _whiskers(trace: Mapping[str, Any], field: _Field) -> str:
    """The error bars of a trace along x; an end beyond the field has no cap."""
    error, pieces = trace["error_x"], []
    for x, y, down, up in zip(trace["x"], trace["y"], error["arrayminus"], error["array"], strict=True):
        ends = field.x(x - down), field.x(x + up)
        start, end = (100 * min(1.0, max(0.0, share)) for share in ends)
        row, cap = field.y(y), error["width"]
        pieces.append(f'<line x1="{start:.2f}%" x2="{end:.2f}%" y1="{row:.1f}" y2="{row:.1f}"/>')
        for share in ends if cap else ():
            if 0 <= share <= 1:
                x_end = f"{100 * share:.2f}%"
                pieces.append(f'<line x1="{x_end}" x2="{x_end}" y1="{row - cap:.1f}" y2="{row + cap:.1f}"/>')
    return _bars(error, trace, pieces)


def _upright_whiskers(trace: Mapping[str, Any], field: _Field) -> str:
    """The error bars of a trace along y, without caps."""
    error, pieces = trace["error_y"], []
    for x, y, down, up in zip(trace["x"], trace["y"], error["arrayminus"], error["array"], strict=True):
        start, end = (min(field.bottom, max(field.top, field.y(end))) for end in (y - down, y + up))
        place = f"{100 * field.x(x):.2f}%"
        pieces.append(f'<line x1="{place}" x2="{place}" y1="{start:.1f}" y2="{end:.1f}"/>')
    return _bars(error, trace, pieces)


def _bars(error: Mapping[str, Any], trace: Mapping[str, Any], pieces: Sequence[str]) -> str:
    """The lines of error bars, in their look."""
    look = f'stroke="{error["color"]}" stroke-width="{error["thickness"]}" opacity="{trace.get("opacity", 1)}"'
    return f"<g {look}>{''.join(pieces)}</g>"


def _across(y: float, color: str) -> str:
    """A line over the whole width."""
    return f'<line x2="100%" y1="{y:.1f}" y2="{y:.1f}" stroke="{color}"/>'


def _lines(trace: Mapping[str, Any], field: _Field) -> str:
    """The pieces of a trace of lines; it breaks where a value is missing."""
    line = trace["line"]
    points = list(zip(trace["x"], trace["y"], strict=True))
    pieces = "".join(
        f'<line x1="{100 * field.x(x0):.2f}%" y1="{field.y(y0):.1f}" x2="{100 * field.x(x1):.2f}%" '
        f'y2="{field.y(y1):.1f}"/>'
        for (x0, y0), (x1, y1) in pairwise(points)
        if None not in (x0, y0, x1, y1)
    )
    dash = _DASHES.get(line.get("dash", "solid"), line.get("dash"))
    return f'<g stroke="{line["color"]}" stroke-width="{line["width"]}" stroke-dasharray="{dash}">{pieces}</g>'


def _marks(trace: Mapping[str, Any], field: _Field, columns: _Columns) -> None:
    """Add the marks of a trace to those of each place along x: as one path for all that look the same there."""
    marker, n = trace["marker"], len(trace["x"])
    colors, symbols = _each(_colors(marker), n), _each(marker.get("symbol", "circle"), n)
    edge = marker.get("line", {})
    edges = _each(edge.get("color", "none"), n)
    rest = f'stroke-width="{edge.get("width", 0)}" opacity="{marker.get("opacity", trace.get("opacity", 1))}"'
    for x, y, color, symbol, stroke in zip(trace["x"], trace["y"], colors, symbols, edges, strict=True):
        column = columns.setdefault(f"{100 * field.x(x):.2f}%", {})
        path = _outline(symbol, marker["size"], round(field.y(y), 1))
        column.setdefault(f'fill="{color}" stroke="{stroke}" {rest}', []).append(path)


def _column(x: str, looks: Mapping[str, Sequence[str]]) -> str:
    """The marks at a place along x."""
    paths = "".join(f'<path d="{"".join(outlines)}" {paint}/>' for paint, outlines in looks.items())
    return f'<svg class="marks" x="{x}" overflow="visible">{paths}</svg>'


def _texts(trace: Mapping[str, Any], field: _Field) -> str:
    """The texts on the marks of a trace, or beside them; plain, whether their maker has escaped them or not."""
    n, font = len(trace["x"]), trace["textfont"]
    inks = _each(font["color"], n)
    beside = trace["marker"]["size"] / 2 + _GAP
    texts = []
    for x, y, text, color, place in zip(
        trace["x"], trace["y"], trace["text"], inks, _each(trace.get("textposition", ""), n), strict=True
    ):
        anchor, dx = {"middle left": ("end", -beside), "middle right": ("start", beside)}.get(place, ("middle", 0))
        texts.append(
            f'<text x="{100 * field.x(x):.2f}%" y="{field.y(y):.1f}" dx="{dx:g}" dy=".35em" text-anchor="{anchor}" '
            f'fill="{color}">{escape(unescape(text))}</text>'
        )
    return f'<g font-size="{font["size"]}" style="white-space: pre">{"".join(texts)}</g>'


def _outline(symbol: str, size: float, y: float) -> str:
    """A mark around x = 0 as the data of a path."""
    if symbol == "square":
        return f"M{-size / 2:g} {y - size / 2:.5g}h{size:g}v{size:g}h{-size:g}z"
    scale = size / 2 / _RADIUS
    if symbol == "circle":
        radius = _RADIUS * scale
        half = f"a{radius:g} {radius:g} 0 1 0"
        return f"M{-radius:g} {y:.5g}{half} {2 * radius:g} 0{half} {-2 * radius:g} 0z"
    (start_x, start_y), *steps = _corners(symbol)
    moves = "".join(f"l{scale * dx:.3g} {scale * dy:.3g}" for dx, dy in steps)
    return f"M{scale * (start_x - 8):.4g} {y + scale * (start_y - 8):.5g}{moves}z"


@cache
def _corners(symbol: str) -> tuple[tuple[float, float], ...]:
    """A shape of 16 x 16 by its first corner, and the steps from there to the others."""
    (data,) = re.findall(r"d='([^']*)'", SHAPES[symbol])
    corners: list[tuple[float, float]] = []
    x = y = 0.0
    for command, written in re.findall(r"([MmLlHhVv])([^A-Za-z]*)", data):
        numbers = [float(number) for number in re.findall(r"-?(?:\d*\.\d+|\d+)", written)]
        if command in "Hh":
            pairs = [(number, 0.0 if command == "h" else y) for number in numbers]
        elif command in "Vv":
            pairs = [(0.0 if command == "v" else x, number) for number in numbers]
        else:
            pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
        for across, down in pairs:
            x, y = (x + across, y + down) if command.islower() else (across, down)
            corners.append((x, y))
    return (corners[0], *((b[0] - a[0], b[1] - a[1]) for a, b in pairwise(corners)))


def _colors(marker: Mapping[str, Any]) -> str | Sequence[str]:
    """The colours of marks; those of a scale are looked up on it."""
    if "colorscale" not in marker:
        colors: str | Sequence[str] = marker["color"]
        return colors
    return [_on_scale(marker["colorscale"], share) for share in marker["color"]]


def _on_scale(scale: Sequence[tuple[float, str]], share: float) -> str:
    """The colour at a place in [0, 1] of a scale, between its stops."""
    for (start, first), (end, second) in pairwise(scale):
        if share <= end:
            part = max(0.0, (share - start) / (end - start))
            both = [[int(color[k : k + 2], 16) for k in (1, 3, 5)] for color in (first, second)]
            return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(*both, strict=True))
    return scale[-1][1]


def _each(value: Any, n: int) -> Sequence[Any]:
    """A value for each of n marks."""
    return [value] * n if isinstance(value, str) else value


def _hovers(trace: Mapping[str, Any], field: _Field) -> Iterator[tuple[float, float, str, Sequence[str] | None]]:
    texts = trace.get("hovertext", trace["text"])
    clicks = trace.get("customdata") or [None] * len(texts)
    for x, y, text, click in zip(trace["x"], trace["y"], texts, clicks, strict=True):
        yield round(field.x(x), 4), round(field.y(y), 1), text, click


def _note(note: Mapping[str, Any], field: _Field, top: float, room: float) -> str:
    """An annotation at its place in the field or in the whole drawing, with the line that leads to it from there; its
    explanation on hover.
    """
    share = note["x"] if note.get("xref") == "paper" else field.x(note["x"])
    y = top + (1 - note["y"]) * room if note.get("yref") == "paper" else field.y(note["y"])
    dx, dy = note.get("ax", note.get("xshift", 0)), note.get("ay", -note.get("yshift", 0))
    font = note.get("font", {})
    look = f' fill="{font["color"]}" font-size="{font["size"]}"' if font else ""
    about = f"<title>{note['hovertext'].replace('<br>', ' ')}</title>" if "hovertext" in note else ""
    middle = ' dy=".35em"' if note["yanchor"] == "middle" else ""
    text = (
        f'<text class="note" x="{dx:g}" y="{dy:g}"{middle} text-anchor="{_ANCHORS[note["xanchor"]]}"{look} '
        f'xml:space="preserve">{about}{_MARKUP.sub(_tspan, note["text"])}</text>'
    )
    length = hypot(dx, dy)
    if note.get("standoff", length) < length and note["arrowcolor"] != CLEAR:
        near = note["standoff"] / length
        text += (
            f'<line x1="{near * dx:.1f}" y1="{near * dy:.1f}" x2="{dx:g}" y2="{dy:g}" stroke="{note["arrowcolor"]}" '
            f'stroke-width="{note["arrowwidth"]}"/>'
        )
    return f'<svg x="{100 * share:.2f}%" y="{y:.1f}" overflow="visible">{text}</svg>'


def _legend(traces: Sequence[Mapping[str, Any]]) -> str:
    """The first mark of every trace with its name."""
    entries = []
    for trace in traces:
        if not trace.get("showlegend", "name" in trace) or not trace["x"]:
            continue
        marker = trace["marker"]
        color, edge = (_each(value, 1)[0] for value in (_colors(marker), marker.get("line", {}).get("color", "none")))
        symbol, size = _each(marker["symbol"], 1)[0], marker["size"]
        stroke = f'stroke="{edge}" stroke-width="{marker.get("line", {}).get("width", 0)}"'
        side = size + 4
        entries.append(
            f'<span><svg width="{side}" height="{side}" viewBox="{-side / 2} 0 {side} {side}">'
            f'<path d="{_outline(symbol, size, side / 2)}" fill="{color}" {stroke}/></svg> {trace["name"]}</span>'
        )
    return "".join(entries)


def _tspan(tag: re.Match[str]) -> str:
    """A piece of markup of a figure's text as SVG's."""
    closes, name, color = tag.groups()
    if closes:
        return "</tspan>"
    return f"<tspan {_CHARACTERS[name]}>" if name in _CHARACTERS else f'<tspan fill="{color or "currentColor"}">'
