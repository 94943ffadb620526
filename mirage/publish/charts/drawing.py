"""A figure as SVG, without Plotly, which takes 40 milliseconds for a chart and a fifth of one for each mark.

What is drawn is the same figure that Plotly draws where a chart leaves the page: scatter traces with lines, marks,
whiskers and texts, on axes whose ranges and ticks are set. Positions along x are shares of the field's width, so that a
drawing fits whatever holds it, as Plotly's does; everything else is in pixels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from itertools import pairwise
from math import hypot
from types import MappingProxyType
from typing import Any

from mirage.publish.charts.palette import CLEAR, FONT, SHAPES, SPACE, TEXT_SIZE

_DASHES = {"solid": "none", "dot": "2,2", "dash": "6,3", "longdash": "10,3", "dashdot": "6,3,2,3"}
"""Plotly's names of lines."""
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}
"""Plotly's names of the side of a text that is at its place."""
_STYLES = {"b": {"font-weight": "600"}, "i": {"font-style": "italic"}}
_MARKUP = re.compile(r"<(/?)(b|i|span|br)(?: style=\"color:(#[0-9a-f]{3,6})\")?>")
"""What the texts of figures have of markup; all else in them is text."""
_GAP = 3
"""Pixels between a mark and the text beside it."""
_RADIUS = 5.0
"""Of a shape of 16 x 16."""
_Look = tuple[str, str, float, float]
"""Fill, stroke, width of the stroke, opacity."""
_Columns = dict[str, dict[_Look, list[str]]]
"""The marks by their place along x and how they are painted, as data of paths.

An element for each mark would be most of what a browser does for the whole page.
"""


class _Svg(str):
    """Markup that `_element` has written; any other text is escaped where it becomes a child."""

    __slots__ = ()


def _element(tag: str, attributes: Mapping[str, object] = MappingProxyType({}), *children: str) -> _Svg:
    """Serialize an element: the one place where text becomes markup.

    Args:
        tag: its name.
        attributes: by name; their values are escaped.
        children: elements, and texts, which are escaped.
    """
    written = "".join(f' {name}="{escape(str(value))}"' for name, value in attributes.items())
    return _Svg(f"<{tag}{written}>{_joined(children)}</{tag}>" if children else f"<{tag}{written}/>")


def _joined(children: Iterable[str]) -> _Svg:
    """Concatenate elements and escaped texts."""
    return _Svg("".join(child if isinstance(child, _Svg) else escape(child) for child in children))


def _rich(text: str) -> _Svg:
    """Turn the text of a figure, which is text with a little HTML (`_MARKUP`), into spans of SVG."""
    levels: list[tuple[str, dict[str, str], list[str]]] = [("", {}, [])]

    def close() -> None:
        _, look, children = levels.pop()
        levels[-1][2].append(_element("tspan", look, *children))

    end = 0
    for tag in _MARKUP.finditer(text):
        levels[-1][2].append(unescape(text[end : tag.start()]))
        end = tag.end()
        closes, name, color = tag.groups()
        if name == "br":
            levels[-1][2].append(" ")
        elif not closes:
            levels.append((name, _STYLES.get(name, {"fill": color or "currentColor"}), []))
        elif levels[-1][0] == name:
            close()
    levels[-1][2].append(unescape(text[end:]))
    while len(levels) > 1:
        close()
    return _joined(levels[0][2])


def _plain(text: str) -> str:
    """Return the text of a figure without its markup."""
    return unescape(_MARKUP.sub(lambda tag: " " if tag[2] == "br" else "", text))


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
    above: list[_Svg] = []
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
    look = {"font-family": FONT, "font-size": TEXT_SIZE, "fill": layout["font"]["color"]}
    svg = _element("svg", {"width": width, "height": height, **look}, *parts)
    return Drawing(svg, tuple(marks), margin["l"], margin["r"], height, size, legend)


def _grid(field: _Field, left: float) -> Iterator[_Svg]:
    """Lines and names of a field's axes; `left` is the room beside it."""
    x_axis, y_axis = field.x_axis, field.y_axis
    above = x_axis.get("side") == "top"
    edge = field.top if above else field.bottom
    muted, line = x_axis["tickfont"]["color"], x_axis["linecolor"]
    if y_axis.get("showgrid", True):
        yield from (_across(field.y(value), y_axis["gridcolor"]) for value in y_axis["tickvals"] if field.holds(value))
    if y_axis.get("zeroline") and field.holds(0):
        yield _across(field.y(0), y_axis["zerolinecolor"])
    yield _across(edge, line)
    yield _element("path", {"d": f"M0 {field.top:.1f}V{field.bottom:.1f}", "stroke": line})
    size = x_axis["tickfont"].get("size", TEXT_SIZE)
    y = edge - SPACE if above else edge + SPACE + size / 2
    names = list(_names(x_axis))
    if x_axis.get("showgrid", True):
        yield from (_upright(field, value, x_axis["gridcolor"]) for value, _ in names)
    if x_axis.get("zeroline"):
        yield _upright(field, 0, x_axis["zerolinecolor"])
    texts = [
        _element("text", {"x": f"{100 * field.x(value):.2f}%", "y": f"{y:.1f}"}, _rich(name)) for value, name in names
    ]
    if "title" in x_axis:
        place = {"x": "50%", "y": f"{y + 2 * SPACE + size / 2:.1f}"}
        texts.append(_element("text", place, _rich(x_axis["title"]["text"])))
    yield _element("g", {"class": "x", "fill": muted, "font-size": size, "text-anchor": "middle"}, *texts)
    texts = [
        _element("text", {"x": -SPACE, "y": f"{field.y(value):.1f}", "dy": ".35em"}, _rich(name))
        for value, name in _names(y_axis)
    ]
    yield _element("g", {"class": "y", "fill": muted, "text-anchor": "end"}, *texts)
    if "title" in y_axis:
        x, y = TEXT_SIZE - left, (field.top + field.bottom) / 2
        turned = f"translate({x} {y:.1f}) rotate(-90)"
        look = {"class": "y", "fill": muted, "text-anchor": "middle", "transform": turned}
        yield _element("text", look, _rich(y_axis["title"]["text"]))


def _names(axis: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """The ticks of an axis with their names; numbers are their own, in the axis's format."""
    values = axis["tickvals"]
    written = (format(value, axis.get("tickformat", "g")).replace("-", "−") for value in values)
    return zip(values, axis.get("ticktext") or written, strict=True)


def _upright(field: _Field, value: float, color: str, **look: object) -> _Svg:
    """A line over the whole height; `look` is further attributes, with `_` for `-`."""
    x = f"{100 * field.x(value):.2f}%"
    more = {name.replace("_", "-"): part for name, part in look.items()}
    ends = {"x1": x, "x2": x, "y1": f"{field.top:.1f}", "y2": f"{field.bottom:.1f}"}
    return _element("line", {**ends, "stroke": color, **more})


def _shape(shape: Mapping[str, Any], field: _Field) -> _Svg:
    """A line from top to bottom, or a stretch of x that is shaded."""
    if shape["type"] == "line":
        line = shape["line"]
        dash = _DASHES[line.get("dash", "solid")]
        return _upright(field, shape["x0"], line["color"], stroke_width=line["width"], stroke_dasharray=dash)
    start, end = field.x(shape["x0"]), field.x(shape["x1"])
    place = {"x": f"{100 * start:.2f}%", "width": f"{100 * (end - start):.2f}%", "y": f"{field.top:.1f}"}
    height = f"{field.bottom - field.top:.1f}"
    return _element("rect", {**place, "height": height, "fill": shape["fillcolor"], "opacity": shape["opacity"]})


def _line(x1: str, y1: float, x2: str, y2: float) -> _Svg:
    """A line between two places, in pixels along y."""
    return _element("line", {"x1": x1, "x2": x2, "y1": f"{y1:.1f}", "y2": f"{y2:.1f}"})


def _whiskers(trace: Mapping[str, Any], field: _Field) -> _Svg:
    """The error bars of a trace along x; an end beyond the field has no cap."""
    error, pieces = trace["error_x"], []
    for x, y, down, up in zip(trace["x"], trace["y"], error["arrayminus"], error["array"], strict=True):
        ends = field.x(x - down), field.x(x + up)
        start, end = (100 * min(1.0, max(0.0, share)) for share in ends)
        row, cap = field.y(y), error["width"]
        pieces.append(_line(f"{start:.2f}%", row, f"{end:.2f}%", row))
        caps = [f"{100 * share:.2f}%" for share in ends if cap and 0 <= share <= 1]
        pieces += [_line(place, row - cap, place, row + cap) for place in caps]
    return _bars(error, trace, pieces)


def _upright_whiskers(trace: Mapping[str, Any], field: _Field) -> _Svg:
    """The error bars of a trace along y, without caps."""
    error, pieces = trace["error_y"], []
    for x, y, down, up in zip(trace["x"], trace["y"], error["arrayminus"], error["array"], strict=True):
        start, end = (min(field.bottom, max(field.top, field.y(end))) for end in (y - down, y + up))
        place = f"{100 * field.x(x):.2f}%"
        pieces.append(_line(place, start, place, end))
    return _bars(error, trace, pieces)


def _bars(error: Mapping[str, Any], trace: Mapping[str, Any], pieces: Sequence[_Svg]) -> _Svg:
    """The lines of error bars, in their look."""
    look = {"stroke": error["color"], "stroke-width": error["thickness"], "opacity": trace.get("opacity", 1)}
    return _element("g", look, *pieces)


def _across(y: float, color: str) -> _Svg:
    """A line over the whole width."""
    return _element("line", {"x2": "100%", "y1": f"{y:.1f}", "y2": f"{y:.1f}", "stroke": color})


def _lines(trace: Mapping[str, Any], field: _Field) -> _Svg:
    """The pieces of a trace of lines; it breaks where a value is missing."""
    line = trace["line"]
    points = list(zip(trace["x"], trace["y"], strict=True))
    pieces = [
        _line(f"{100 * field.x(x0):.2f}%", field.y(y0), f"{100 * field.x(x1):.2f}%", field.y(y1))
        for (x0, y0), (x1, y1) in pairwise(points)
        if None not in (x0, y0, x1, y1)
    ]
    dash = _DASHES.get(line.get("dash", "solid"), line.get("dash"))
    return _element("g", {"stroke": line["color"], "stroke-width": line["width"], "stroke-dasharray": dash}, *pieces)


def _marks(trace: Mapping[str, Any], field: _Field, columns: _Columns) -> None:
    """Add the marks of a trace to those of each place along x: as one path for all that look the same there."""
    marker, n = trace["marker"], len(trace["x"])
    colors, symbols = _each(_colors(marker), n), _each(marker.get("symbol", "circle"), n)
    edge = marker.get("line", {})
    edges = _each(edge.get("color", "none"), n)
    rest = (edge.get("width", 0), marker.get("opacity", trace.get("opacity", 1)))
    for x, y, color, symbol, stroke in zip(trace["x"], trace["y"], colors, symbols, edges, strict=True):
        column = columns.setdefault(f"{100 * field.x(x):.2f}%", {})
        path = marker_path(symbol, marker["size"], round(field.y(y), 1))
        column.setdefault((color, stroke, *rest), []).append(path)


def _column(x: str, looks: Mapping[_Look, Sequence[str]]) -> _Svg:
    """The marks at a place along x."""
    paths = [
        _element(
            "path",
            {"d": "".join(outlines), "fill": fill, "stroke": stroke, "stroke-width": width, "opacity": opacity},
        )
        for (fill, stroke, width, opacity), outlines in looks.items()
    ]
    return _element("svg", {"class": "marks", "x": x, "overflow": "visible"}, *paths)


def _texts(trace: Mapping[str, Any], field: _Field) -> _Svg:
    """The texts on the marks of a trace, or beside them; plain, whether their maker has escaped them or not."""
    n, font = len(trace["x"]), trace["textfont"]
    inks = _each(font["color"], n)
    beside = trace["marker"]["size"] / 2 + _GAP
    texts = []
    for x, y, text, color, place in zip(
        trace["x"], trace["y"], trace["text"], inks, _each(trace.get("textposition", ""), n), strict=True
    ):
        anchor, dx = {"middle left": ("end", -beside), "middle right": ("start", beside)}.get(place, ("middle", 0))
        spot = {"x": f"{100 * field.x(x):.2f}%", "y": f"{field.y(y):.1f}", "dx": f"{dx:g}", "dy": ".35em"}
        texts.append(_element("text", {**spot, "text-anchor": anchor, "fill": color}, unescape(text)))
    return _element("g", {"font-size": font["size"], "style": "white-space: pre"}, *texts)


def marker_path(symbol: str, size: float, y: float) -> str:
    """Return the outline of a marker around x = 0 as the data of an SVG path."""
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


def _note(note: Mapping[str, Any], field: _Field, top: float, room: float) -> _Svg:
    """An annotation at its place in the field or in the whole drawing, with the line that leads to it from there; its
    explanation on hover.
    """
    share = note["x"] if note.get("xref") == "paper" else field.x(note["x"])
    y = top + (1 - note["y"]) * room if note.get("yref") == "paper" else field.y(note["y"])
    dx, dy = note.get("ax", note.get("xshift", 0)), note.get("ay", -note.get("yshift", 0))
    font = note.get("font", {})
    look = {"fill": font["color"], "font-size": font["size"]} if font else {}
    about = [_element("title", {}, _plain(note["hovertext"]))] if "hovertext" in note else []
    middle = {"dy": ".35em"} if note["yanchor"] == "middle" else {}
    place = {"class": "note", "x": f"{dx:g}", "y": f"{dy:g}", **middle, "text-anchor": _ANCHORS[note["xanchor"]]}
    parts = [_element("text", {**place, **look, "xml:space": "preserve"}, *about, _rich(note["text"]))]
    length = hypot(dx, dy)
    if note.get("standoff", length) < length and note["arrowcolor"] != CLEAR:
        near = note["standoff"] / length
        ends = {"x1": f"{near * dx:.1f}", "y1": f"{near * dy:.1f}", "x2": f"{dx:g}", "y2": f"{dy:g}"}
        parts.append(_element("line", {**ends, "stroke": note["arrowcolor"], "stroke-width": note["arrowwidth"]}))
    return _element("svg", {"x": f"{100 * share:.2f}%", "y": f"{y:.1f}", "overflow": "visible"}, *parts)


def _legend(traces: Sequence[Mapping[str, Any]]) -> _Svg:
    """The first mark of every trace with its name, as HTML."""
    entries = []
    for trace in traces:
        if not trace.get("showlegend", "name" in trace) or not trace["x"]:
            continue
        marker = trace["marker"]
        color, edge = (_each(value, 1)[0] for value in (_colors(marker), marker.get("line", {}).get("color", "none")))
        symbol, size = _each(marker["symbol"], 1)[0], marker["size"]
        side = size + 4
        sign = _element(
            "path",
            {
                "d": marker_path(symbol, size, side / 2),
                "fill": color,
                "stroke": edge,
                "stroke-width": marker.get("line", {}).get("width", 0),
            },
        )
        box = {"width": side, "height": side, "viewBox": f"{-side / 2} 0 {side} {side}"}
        entries.append(_element("span", {}, _element("svg", box, sign), f" {_plain(trace['name'])}"))
    return _joined(entries)
