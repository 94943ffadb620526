"""A chart as a figure of a paper: the width of its columns, its sizes of text, black on white, nothing that is for a
screen alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from mirage.publish.charts.palette import DARK, FAMILIES, FONT, LIGHT, SPACE, TEXT_SIZE

Width = Literal["one column", "two columns"]
Face = Literal["sans serif", "serif"]
WIDTHS: tuple[Width, ...] = get_args(Width)
FACES: tuple[Face, ...] = get_args(Face)

INCHES: dict[Width, float] = {"one column": 3.33, "two columns": 6.9}
"""Width on paper, of a column and of both, as in the templates of ACL."""
PIXELS_AN_INCH = 96
"""Of SVG, by the definition of CSS."""
DOTS_AN_INCH = 300
"""Of a picture in pixels, for print."""
_POINTS = 8
"""Size of a figure's text on paper."""
_TEXT = _POINTS / 72 * PIXELS_AN_INCH
_SHRINK = 0.7
"""Of heights, marks and lines, which are drawn for a screen."""
_HEIGHT = 450
"""Plotly's height of a figure that names none, in pixels."""
_NAMES = 110
"""Pixels that the names beside a matrix take, about."""
_SMALLEST = 5.0
"""Pixels of the smallest text that is written into a cell."""
_FONTS: dict[Face, str] = {
    "sans serif": f"Helvetica, Arial, {FONT}",
    "serif": "'Times New Roman', 'Nimbus Roman', 'Noto Serif', 'Noto Serif CJK SC', serif",
}
_SCREEN = ("selected", "unselected", "hoverlabel", "selectedpoints")
"""Fields that tell what a pointer does."""

_IN_LIGHT = {maker.dark: maker.light for maker in FAMILIES} | {
    getattr(DARK, name): getattr(LIGHT, name) for name in ("text", "muted", "line", "ground", "accent", "chosen")
}
_RAMP = {dark[1]: light[1] for dark, light in zip(DARK.ramp, LIGHT.ramp, strict=True)}
_ON_RAMP = {"#12161c": "#ffffff", "#ffffff": LIGHT.text}
"""Ink on the ramp, whose dark end is the other end in the other mode."""


def for_paper(figure: Mapping[str, Any], *, width: Width, face: Face) -> dict[str, Any]:
    """Convert a chart for print: no title, no hover, light colours on white, 8 pt text, any legend below.

    Args:
        figure: a chart of this package, drawn for light or dark; it is not changed.
        width: how wide it stands on paper.
        face: its letters.

    Returns:
        A figure whose layout has `width` and `height` in pixels of which 96 make an inch.
    """
    light = in_light(figure)
    pixels = round(INCHES[width] * PIXELS_AN_INCH)
    screen = light["layout"]
    columns = _columns(light["data"])
    room = (pixels - _NAMES) / columns * 0.92 if columns else float("inf")
    layout = {key: value for key, value in _shrunk(screen).items() if key not in ("title", "width")}
    layout |= {
        "width": pixels,
        "height": round(float(screen.get("height") or _HEIGHT) * _SHRINK),
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "font": {"family": _FONTS[face], "size": _TEXT, "color": "#000000"},
    }
    if "ticktext" in screen.get("yaxis", {}):
        # Other letters: the room for the names of rows is measured again.
        layout["yaxis"] = layout["yaxis"] | {"automargin": True}
        layout["margin"] = layout["margin"] | {"l": SPACE}
    if screen.get("showlegend"):
        layout["legend"] = {"orientation": "h", "x": 0, "y": -0.15, "yanchor": "top", "font": {"size": _TEXT}}
    return {"data": [_fit_cells(_shrunk(trace), room) for trace in light["data"]], "layout": layout}


def in_light(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a chart to the light mode, without its pointer interactions; a light chart is unchanged."""
    ground = figure["layout"].get("paper_bgcolor")
    return {
        "data": [_recolor(trace, ground == DARK.ground) for trace in figure["data"]],
        "layout": _recolor(figure["layout"], ground == DARK.ground),
    }


def _recolor(value: Any, dark: bool, field: str = "") -> Any:
    if isinstance(value, Mapping):
        return {key: _recolor(part, dark, f"{field}.{key}") for key, part in value.items() if key not in _SCREEN}
    if isinstance(value, list | tuple):
        return [_recolor(part, dark, field) for part in value]
    if not dark or not isinstance(value, str):
        return value
    if field.endswith("textfont.color"):
        return _ON_RAMP.get(value) or _IN_LIGHT.get(value, value)
    return _RAMP.get(value, value) if field.endswith("colorscale") else _IN_LIGHT.get(value, value)


def _shrunk(value: Any, field: str = "") -> Any:
    """A part of a figure with marks, lines and texts for paper."""
    if isinstance(value, Mapping):
        return {key: _shrunk(part, f"{field}.{key}") for key, part in value.items()}
    if isinstance(value, list | tuple):
        if field.endswith((".shapes", ".annotations", ".marker.size")):
            return [_shrunk(part, field) for part in value]
        return list(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if field.endswith(("font.size", "Font.size")):
        return round(value * _TEXT / TEXT_SIZE, 2)
    if field.endswith((".marker.size", "line.width", ".thickness", "error_x.width", "error_y.width", ".standoff")):
        return round(value * _SHRINK, 2)
    return value


def _columns(traces: list[dict[str, Any]]) -> int:
    """Columns of a matrix of square cells; 0 for other charts."""
    places: set[Any] = set()
    for trace in traces:
        if _is_cells(trace):
            places |= set(trace["x"])
    return len(places)


def _is_cells(trace: Mapping[str, Any]) -> bool:
    return trace.get("mode") == "markers+text" and trace.get("marker", {}).get("symbol") == "square"


def _fit_cells(trace: dict[str, Any], room: float) -> dict[str, Any]:
    """A matrix whose cells and the texts in them fit into the width; another trace as it is."""
    size = trace.get("marker", {}).get("size")
    if not _is_cells(trace) or not isinstance(size, int | float) or size <= room:
        return trace
    share = room / size
    font = trace.get("textfont", {})
    text = max(_SMALLEST, float(font.get("size", _TEXT)) * share)
    return trace | {"marker": trace["marker"] | {"size": round(room, 2)}, "textfont": font | {"size": round(text, 2)}}
