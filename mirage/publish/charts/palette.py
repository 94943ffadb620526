"""One definition of colours, shapes and formats: families and their colours and shapes, inks, sizes, numbers.

The family colours were searched for: under normal vision, protanopia, deuteranopia and tritanopia every pair stays
apart, and each keeps a contrast of 3 to 1 to its background (the tests measure both). A family has a shape as well, so
that a mark is told without its colour: in legends of families; a system has its maker's colour and a shape by its name.
Systems that no known maker stands behind, baselines among them, have a colour and a shape each, by their names.
"""

from __future__ import annotations

import colorsys
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from hashlib import sha256
from html import escape, unescape
from itertools import pairwise
from typing import Literal

from mirage.text.data import load_words
from mirage.text.languages import scope_name
from mirage.text.makers import maker
from mirage.text.numbers import FORMATS as FORMATS
from mirage.text.numbers import Format
from mirage.text.numbers import NumberFormat as NumberFormat
from mirage.text.numbers import span as span

Mode = Literal["light", "dark"]
Kind = Format


_DATA = load_words("looks", "mirage.publish.charts")
SHAPES: Mapping[str, str] = _DATA["shapes"]
"""Plotly marker symbols and the same as SVG, 16 x 16: a maker's mark in charts and in tables."""


@dataclass(frozen=True, slots=True)
class MakerStyle:
    """The maker of a system, with the mark it has in every table and chart."""

    name: str
    """Name for people."""
    light: str
    """Colour on a light ground."""
    dark: str
    """Colour on a dark ground."""
    symbol: str
    """Plotly marker symbol, one of `SHAPES`."""

    @property
    def shape(self) -> str:
        """The symbol as SVG."""
        return SHAPES[self.symbol]

    @property
    def outline(self) -> str:
        """The symbol as CSS cuts it out of 16 x 16 pixels (`clip-path`)."""
        if self.symbol == "circle":
            return "circle(5px at 8px 8px)"
        if self.symbol == "square":
            return "inset(3.5px)"
        path = self.shape.split("'")[1]
        return f'path("{path}")'

    def color(self, mode: Mode) -> str:
        """Return the family's colour in a mode."""
        return self.dark if mode == "dark" else self.light


_LOOKS = {name: MakerStyle(name, **look) for name, look in _DATA["makers"].items()}
FAMILIES = tuple(_LOOKS.values())
"""Every family, in the order of legends."""
*_KNOWN, _BASELINE, OTHER = FAMILIES
_MAKER_SYMBOLS = tuple(look.symbol for look in _KNOWN)
_OWN_SYMBOLS = tuple(symbol for symbol in SHAPES if symbol not in _MAKER_SYMBOLS)
"""Shapes of systems without a known maker; no maker has them."""
_SALT = "1"
"""Chosen so that all systems of the sample arena have marks of their own."""
_SHADES = (0.0, 0.3, 0.55)
"""How much darker, or on a dark ground lighter, the systems of one colour are, in turn."""
_MAKER_SALT = "89"
"""Chosen so that all systems of the NoMIRACL and MIRAGE-Bench papers have marks of their own."""


_assigned: ContextVar[Mapping[str, MakerStyle] | None] = ContextVar("looks", default=None)
"""Looks of the systems of the arena that is drawn."""


def family(system: str) -> MakerStyle:
    """Return the style of a system: its maker's colour and its own shape, or its own colour and shape for an unknown
    maker.

    Inside `arena_looks` no two systems have the same. Elsewhere a look depends on the name alone, and two systems may
    have the same, of 7 looks of a maker and of 56 others.
    """
    return (_assigned.get() or {}).get(system) or _look_by_name(system)


@contextmanager
def arena_looks(systems: tuple[str, ...]) -> Iterator[None]:
    """Give each system of an arena a look of its own while its charts and tables are drawn."""
    token = _assigned.set(distinct_looks(systems))
    try:
        yield
    finally:
        _assigned.reset(token)


@lru_cache(maxsize=64)
def distinct_looks(systems: tuple[str, ...]) -> Mapping[str, MakerStyle]:
    """Return a look for each system; no two are alike while looks last, at least up to 24 systems. Those of one
    colour have different shades of it, so that their lines and bars differ too.

    A system keeps the look that its name gives it unless one before it, by name, has it: then it takes the next free
    shape of its maker's colour, and with all shapes taken another colour.
    """
    given: dict[str, MakerStyle] = {}
    taken: set[tuple[int, str]] = set()
    for first in (True, False):
        for system in sorted(set(systems) - given.keys()):
            look = next(
                (other for other in _candidates(system, first) if (_hue(other.light), other.symbol) not in taken),
                None if first else _look_by_name(system),
            )
            if look is not None:
                given[system] = look
                taken.add((_hue(look.light), look.symbol))
    number: Counter[str] = Counter()
    for system in sorted(given):
        look = given[system]
        share = _SHADES[number[look.light] % len(_SHADES)]
        number[look.light] += 1
        given[system] = replace(look, light=_mix(look.light, "#000000", share), dark=_mix(look.dark, "#ffffff", share))
    return given


def _hue(color: str) -> int:
    """Return the hue of a colour, one of twelve: orange and brown are one."""
    red, green, blue = bytes.fromhex(color[1:])
    return round(12 * colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)[0]) % 12


def _mix(color: str, other: str, share: float) -> str:
    """Return a colour mixed with a share of another."""
    parts = zip(bytes.fromhex(color[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(a + (b - a) * share) for a, b in parts).hex()


def _candidates(system: str, first: bool) -> Iterator[MakerStyle]:
    """Yield the looks that a system may have, its own first, or that one alone."""
    look = _look_by_name(system)
    yield look
    if first:
        return
    symbols = _MAKER_SYMBOLS + _OWN_SYMBOLS if look.symbol in _MAKER_SYMBOLS else _OWN_SYMBOLS + _MAKER_SYMBOLS
    for colored in (look, *_KNOWN):
        for symbol in symbols:
            yield replace(colored, name=look.name, symbol=symbol)


@cache
def _look_by_name(system: str) -> MakerStyle:
    """The look that a system's name alone gives it."""
    look = _LOOKS.get(maker(system), OTHER)
    if look in _KNOWN:
        return replace(look, symbol=_MAKER_SYMBOLS[_number(_MAKER_SALT, system) % len(_MAKER_SYMBOLS)])
    number = _number(_SALT, system)
    symbol = _OWN_SYMBOLS[number % len(_OWN_SYMBOLS)]
    return replace(_KNOWN[number // len(_OWN_SYMBOLS) % len(_KNOWN)], name=look.name, symbol=symbol)


def _number(salt: str, system: str) -> int:
    """A number that depends on the name alone."""
    return int.from_bytes(sha256(f"{salt}{system}".encode("utf8", "surrogatepass")).digest()[:8])


def looks(systems: Iterable[str]) -> list[MakerStyle]:
    """Return the distinct styles of systems, in legend order."""
    order = list(_LOOKS)
    return sorted(dict.fromkeys(map(family, systems)), key=lambda look: order.index(look.name))


@dataclass(frozen=True, slots=True)
class Ink:
    """Colours of a mode that are not a family's."""

    text: str
    muted: str
    """Secondary text and axis labels."""
    line: str
    """Grid lines, rules, borders."""
    ground: str
    """Background of the page."""
    accent: str
    """Links and signs."""
    chosen: str
    """Ground of the one mark that is selected, with white on it; far from the ramp."""
    ramp: Sequence[tuple[float, str]]
    """Stops from 0, the best, to 1, the worst, one hue; readable without colour because lightness runs one way."""


LIGHT, DARK = (Ink(**_DATA["inks"][mode]) for mode in ("light", "dark"))


def ink(mode: Mode) -> Ink:
    """Return the colours of a mode."""
    return DARK if mode == "dark" else LIGHT


SPACE = 8
"""Unit of spacing in pixels."""
TEXT_SIZE = 12
"""Size of text in charts, in pixels."""
MARK_SIZE = 8
"""Size of a chart's marks, in pixels."""
_FITTING, _NAMES, _WIDEST = 32, 180, 3_200
"""Columns of a map that fit on a page; pixels of the names beside it; pixels of a map at most."""
ROW = 30
"""Height of a table's row, and of a chart's row beside it, in pixels."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', sans-serif"
"""The system's own font first, then the names that Debian's Noto packages install."""


def label_text(system: str) -> str:
    """Escape a system's name for Plotly, which parses labels as markup."""
    return escape(system, quote=False)


def ramp_color(mode: Mode, share: float) -> str:
    """Return the colour of the ramp at a place in [0, 1], between two stops in proportion, as Plotly draws it."""
    stops = ink(mode).ramp
    (low, first), (high, second) = next(pair for pair in pairwise(stops) if share <= pair[1][0])
    return _mix(first, second, (share - low) / (high - low))


def on_ramp(mode: Mode, share: float) -> str:
    """Ink that reads on the ramp at a place in [0, 1]."""
    colors = ink(mode)
    dark_end = share < 0.45 if mode == "light" else share > 0.45
    return "#ffffff" if dark_end else ("#12161c" if mode == "dark" else colors.text)


def layout(mode: Mode, **more: object) -> dict[str, object]:
    """Return the Plotly layout shared by all charts; `more` adds to or replaces its entries.

    The names of rows (`rows_axis`) get their room here: where Plotly measures it, it draws everything twice.
    """
    colors = ink(mode)
    rows = more.get("yaxis")
    if isinstance(rows, dict) and rows.get("automargin") is False and (names := rows.get("ticktext")):
        room = 2 * SPACE + max(map(text_width, names))
        more["margin"] = {**more.get("margin", {}), "l": math.ceil(room)}  # type: ignore[dict-item]  # a dict of numbers
    return {
        "font": {"family": FONT, "size": TEXT_SIZE, "color": colors.text},
        "paper_bgcolor": colors.ground,
        "plot_bgcolor": colors.ground,
        "margin": {"l": SPACE, "r": SPACE, "t": SPACE, "b": SPACE},
        "showlegend": False,
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": colors.ground,
            "bordercolor": colors.line,
            "font": {"family": FONT, "size": TEXT_SIZE, "color": colors.text},
            "align": "left",
        },
        "dragmode": False,
        **more,
    }


def text_width(markup: str) -> float:
    """Pixels that a text takes in a chart, on the wide side: by classes of characters, since nothing here knows fonts.

    Args:
        markup: a text as Plotly takes it (`label_text`).
    """
    lines = (unescape(re.sub("<[^>]*>", "", line)) for line in markup.split("<br>"))
    return TEXT_SIZE * max(sum(map(_advance, line)) for line in lines)


@lru_cache(maxsize=4_096)
def _advance(character: str) -> float:
    """Return the advance of a character in sizes of the text, in the widest of the usual sans-serif fonts."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if character in "iljI.,:;|!'()[]ft ":
        return 0.38
    if character in "mwMW@%—":
        return 0.92
    return 0.68 if character.isupper() or not character.isascii() else 0.59


def columns_width(n: int) -> dict[str, object]:
    """Return the layout width of a map with many columns; on a narrow page it scrolls.

    Up to `_FITTING` columns fill the page, and nothing is set.
    """
    return {"width": min(_NAMES + ROW * n, _WIDEST)} if n > _FITTING else {}


def axis(mode: Mode, **more: object) -> dict[str, object]:
    """Return an axis with a light grid, no box, and its title in the secondary text colour."""
    colors = ink(mode)
    title = more.pop("title", None)
    return {
        "gridcolor": colors.line,
        "zerolinecolor": colors.muted,
        "linecolor": colors.line,
        "tickfont": {"color": colors.muted},
        "automargin": True,
        "fixedrange": True,
        **(
            {"title": {"text": title, "font": {"color": colors.muted, "size": TEXT_SIZE}, "standoff": SPACE}}
            if title
            else {}
        ),
        **more,
    }


_SLANT = math.radians(40)
"""Angle of the names above columns."""
_LEAST = 12
"""Columns to leave room for, so that a few keep to the left rather than spread over the whole width."""


def language_axis(mode: Mode, codes: Sequence[str]) -> dict[str, object]:
    """An axis above a map with a column for each language, by name.

    Args:
        mode: light or dark.
        codes: the columns; `all` is all languages.
    """
    names = [f"<b>{scope_name(code)}</b>" if code == "all" else scope_name(code) for code in codes]
    return columns_axis(names, mode, math.degrees(_SLANT), max(len(codes), _LEAST), automargin=False)


def columns_axis(labels: Sequence[str], mode: Mode, slant: float, room: int, **more: object) -> dict[str, object]:
    """An axis above a map with a slanted label for each column.

    Args:
        labels: markup of the labels.
        mode: light or dark.
        slant: angle of the labels in degrees.
        room: columns to leave room for.
        more: other entries of the axis.
    """
    return axis(
        mode,
        side="top",
        tickvals=list(range(len(labels))),
        ticktext=labels,
        tickangle=-slant,
        range=[-0.6, room - 0.4],
        showgrid=False,
        zeroline=False,
        **more,
    )


def language_room(codes: Sequence[str]) -> tuple[int, int]:
    """Return the pixels that the names of `language_axis` take above the columns, and beyond the last one."""
    widths = [text_width(scope_name(code)) for code in codes]
    beyond = max(width - ROW * (len(codes) - 1 - k) for k, width in enumerate(widths)) * math.cos(_SLANT)
    return math.ceil(max(widths) * math.sin(_SLANT)) + 2 * SPACE, math.ceil(max(beyond, SPACE))


def rows_axis(labels: Sequence[str], mode: Mode, **more: object) -> dict[str, object]:
    """Return an axis with one row per plain label, the first on top."""
    return axis(
        mode,
        tickvals=list(range(len(labels))),
        ticktext=list(map(label_text, labels)),
        range=[len(labels) - 0.5, -0.5],
        automargin=False,
        zeroline=False,
        ticklabelstandoff=SPACE,
        **more,
    )
