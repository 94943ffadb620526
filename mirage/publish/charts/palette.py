"""Colours, shapes and formats of all charts: families with their colours and shapes, inks, sizes, numbers.

The family colours come from a search: every pair is distinguishable under normal vision, protanopia, deuteranopia and
tritanopia, and each has a contrast of 3 to 1 to its background (the tests measure both). In legends a family also has a
shape, so that its marks can be recognised without colour. A system has its maker's colour and a shape by its name; a
system without a known maker, such as a baseline, has a colour and a shape by its name.
"""

import colorsys
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from hashlib import sha256
from html import escape, unescape
from itertools import pairwise
from typing import Literal

from mirage.text.data import load_words
from mirage.text.makers import maker
from mirage.text.numbers import FORMATS as FORMATS
from mirage.text.numbers import Format
from mirage.text.numbers import NumberFormat as NumberFormat
from mirage.text.numbers import span as span
from mirage.views.cache import memoize

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

    @property
    def color(self) -> str:
        """The colour in the mode that is drawn."""
        return self.dark if _mode.get() == "dark" else self.light


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
"""Shades of the systems of one colour, in turn: share darker, or lighter on a dark background."""
_MAKER_SALT = "89"
"""Chosen so that all systems of the NoMIRACL and MIRAGE-Bench papers have marks of their own."""


_assigned: ContextVar[Mapping[str, MakerStyle] | None] = ContextVar("looks", default=None)
"""Looks of the systems of the arena that is drawn."""
_mode: ContextVar[Mode] = ContextVar("mode", default="light")
"""The mode that is drawn."""


def family(system: str) -> MakerStyle:
    """Return the style of a system: its maker's colour and its own shape, or its own colour and shape for an unknown
    maker.

    Inside `arena_looks` no two systems have the same. Elsewhere a look depends on the name alone, and two systems may
    have the same, of 7 looks of a maker and of 56 others.
    """
    return (_assigned.get() or {}).get(system) or _look_by_name(system)


@contextmanager
def arena_looks(systems: tuple[str, ...], mode: Mode = "light") -> Iterator[None]:
    """Draw charts and tables in a mode, with a look of its own for each system of an arena."""
    tokens = _assigned.set(distinct_looks(systems)), _mode.set(mode)
    try:
        yield
    finally:
        _assigned.reset(tokens[0])
        _mode.reset(tokens[1])


@memoize
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


def ink() -> Ink:
    """Return the colours of the mode that is drawn."""
    return DARK if _mode.get() == "dark" else LIGHT


SPACE = 8
"""Unit of spacing in pixels."""
TEXT_SIZE = 12
"""Size of text in charts, in pixels."""
MARK_SIZE = 8
"""Size of a chart's marks, in pixels."""
_FITTING, _NAMES, _WIDEST = 20, 180, 3_200
"""Columns of a map that fit on a page; pixels of the names beside it; pixels of a map at most."""
ROW = 30
"""Height of a table's row, and of a chart's row beside it, in pixels."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', sans-serif"
"""The system's own font first, then the names that Debian's Noto packages install."""


def label_text(system: str) -> str:
    """Escape a system's name for Plotly, which parses labels as markup."""
    return escape(system, quote=False)


def ramp_color(share: float) -> str:
    """Return the colour of the ramp at a place in [0, 1], between two stops in proportion, as Plotly draws it."""
    stops = ink().ramp
    (low, first), (high, second) = next(pair for pair in pairwise(stops) if share <= pair[1][0])
    return _mix(first, second, (share - low) / (high - low))


@lru_cache(maxsize=4_096)
def ink_on(fill: str) -> str:
    """Return white or the dark text colour, whichever has the higher contrast on a fill (WCAG 2.2)."""
    white, here, dark = (_luminance(color) + 0.05 for color in ("#ffffff", fill, LIGHT.text))
    return "#ffffff" if white / here > here / dark else LIGHT.text


def _luminance(color: str) -> float:
    """Return the relative luminance of a colour, in [0, 1] (WCAG 2.2)."""
    parts = (part / 255 for part in bytes.fromhex(color[1:]))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def layout(**more: object) -> dict[str, object]:
    """Return the Plotly layout shared by all charts; `more` adds to or replaces its entries.

    The names of rows (`rows_axis`) get their room here: where Plotly measures it, it draws everything twice.
    """
    colors = ink()
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


def axis(**more: object) -> dict[str, object]:
    """Return an axis with a light grid, no box, and its title in the secondary text colour."""
    colors = ink()
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


def rows_axis(labels: Sequence[str], **more: object) -> dict[str, object]:
    """Return an axis with one row per plain label, the first on top."""
    return axis(
        tickvals=list(range(len(labels))),
        ticktext=list(map(label_text, labels)),
        range=[len(labels) - 0.5, -0.5],
        automargin=False,
        zeroline=False,
        ticklabelstandoff=SPACE,
        **more,
    )
