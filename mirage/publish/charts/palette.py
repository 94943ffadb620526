"""The look of every number and mark, said once: families and their colours and shapes, inks, sizes, number formats.

The family colours were searched for: under normal vision, protanopia, deuteranopia and tritanopia every pair stays
apart, and each keeps a contrast of 3 to 1 to its background (the tests measure both). A family has a shape as well, so
that nothing hangs on colour alone: in legends of families; a system has its maker's colour and a shape by its own name.
Systems that no known maker stands behind, baselines among them, have a colour and a shape each, by their names.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from html import escape, unescape
from typing import Literal

from mirage.text.makers import maker

Mode = Literal["light", "dark"]


SHAPES = {
    "circle": "<circle cx='8' cy='8' r='5'/>",
    "square": "<rect x='3.5' y='3.5' width='9' height='9'/>",
    "diamond": "<path d='M8 2l6 6-6 6-6-6z'/>",
    "triangle-up": "<path d='M8 2.5l6 10.5H2z'/>",
    "triangle-down": "<path d='M8 13.5L2 3h12z'/>",
    "pentagon": "<path d='M8 2l6 4.5-2.3 7H4.300l-2.300-7z'/>",
    "hexagon": "<path d='M8 1.800l5.400 3.100v6.200L8 14.200l-5.400-3.100V4.900z'/>",
    "x": "<path d='M4.500 2.500L8 6l3.500-3.500 2 2L10 8l3.500 3.500-2 2L8 10l-3.500 3.500-2-2L6 8 2.500 4.500z'/>",
    "cross": "<path d='M6.300 2.500h3.400v3.800h3.800v3.400H9.700v3.800H6.300V9.700H2.500V6.300h3.800z'/>",
    "star": "<path d='M8 1.500l1.800 4.400 4.700.3-3.600 3 1.200 4.600L8 11.300l-4.100 2.500 1.200-4.600"
    "-3.600-3 4.700-.3z'/>",
    "triangle-left": "<path d='M2.500 8L13 2v12z'/>",
    "triangle-right": "<path d='M13.500 8L3 2v12z'/>",
    "hourglass": "<path d='M3 2.500h10L3 13.500h10z'/>",
    "bowtie": "<path d='M2.500 3v10l11-10v10z'/>",
    "star-diamond": "<path d='M8 1.500l1.800 4.700L14.500 8l-4.700 1.800L8 14.500 6.200 9.800 1.500 8l4.700-1.800z'/>",
}
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
        """The family's colour in a mode."""
        return self.dark if mode == "dark" else self.light


OPENAI = MakerStyle("OpenAI", "#25a868", "#0dd08d", "circle")
MISTRAL = MakerStyle("Mistral", "#bd691a", "#b87225", "square")
META = MakerStyle("Meta", "#1c358c", "#6879c6", "diamond")
MICROSOFT = MakerStyle("Microsoft", "#297298", "#569dbf", "triangle-up")
GOOGLE = MakerStyle("Google", "#74451f", "#c9c54e", "triangle-down")
COHERE = MakerStyle("Cohere", "#730e53", "#f5bcdb", "pentagon")
ALIBABA = MakerStyle("Alibaba", "#ad6fe8", "#9560f0", "hexagon")
BASELINE = MakerStyle("baseline", "#737373", "#9e9e9e", "x")
OTHER = MakerStyle("other", "#737373", "#9e9e9e", "cross")

FAMILIES = (OPENAI, MISTRAL, META, MICROSOFT, GOOGLE, COHERE, ALIBABA, BASELINE, OTHER)
"""Every family, in the order of legends."""

_LOOKS = {look.name: look for look in FAMILIES}


_OWN_SYMBOLS = ("x", "cross", "star", "triangle-left", "triangle-right", "hourglass", "bowtie", "star-diamond")
"""Shapes of systems without a known maker; no maker has them."""
_OWN_COLORS = tuple((look.light, look.dark) for look in FAMILIES if look not in (BASELINE, OTHER))
_SALT = "1"
"""Chosen so that all systems of the sample arena have marks of their own."""
_MAKER_SYMBOLS = tuple(look.symbol for look in FAMILIES if look not in (BASELINE, OTHER))
_MAKER_SALT = "89"
"""Chosen so that all systems of the NoMIRACL and MIRAGE-Bench papers have marks of their own."""


@cache
def family(system: str) -> MakerStyle:
    """The look of a system: its maker's colour with a shape of its own, or both of its own where no known maker stands
    behind it.

    A look depends on the name alone, so it is the same on every page and stays when systems are added. Two systems may
    have the same, of 7 looks of a maker and of 56 others; hover tells them apart.
    """
    look = _LOOKS.get(maker(system), OTHER)
    if look not in (BASELINE, OTHER):
        return replace(look, symbol=_MAKER_SYMBOLS[_number(_MAKER_SALT, system) % len(_MAKER_SYMBOLS)])
    number = _number(_SALT, system)
    symbol = _OWN_SYMBOLS[number % len(_OWN_SYMBOLS)]
    light, dark = _OWN_COLORS[number // len(_OWN_SYMBOLS) % len(_OWN_COLORS)]
    return replace(look, light=light, dark=dark, symbol=symbol)


def _number(salt: str, system: str) -> int:
    """A number that depends on the name alone."""
    return int.from_bytes(sha256(f"{salt}{system}".encode("utf8", "surrogatepass")).digest()[:8])


def looks(systems: Iterable[str]) -> list[MakerStyle]:
    """The looks that systems have, each once, in the order of legends."""
    order = [look.name for look in FAMILIES]
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
    ramp: tuple[tuple[float, str], ...]
    """From best to worst, one hue; readable without colour because lightness runs one way."""


LIGHT = Ink(
    text="#10161d",
    muted="#5b6673",
    line="#e3e7ec",
    ground="#ffffff",
    accent="#1f5fa8",
    chosen="#b3420e",
    ramp=((0.0, "#123f6b"), (0.5, "#6f9dc8"), (1.0, "#e6eef6")),
)
DARK = Ink(
    text="#e2e7ee",
    muted="#97a3b1",
    line="#2a323d",
    ground="#12161c",
    accent="#6aa9ea",
    chosen="#c0501a",
    ramp=((0.0, "#b9d9f7"), (0.5, "#4a7fb3"), (1.0, "#1f2c3b")),
)


def ink(mode: Mode) -> Ink:
    """The colours of a mode."""
    return DARK if mode == "dark" else LIGHT


SPACE = 8
"""Unit of spacing in pixels."""
CLEAR = "rgba(0,0,0,0)"
"""No colour at all."""
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

Kind = Literal["rating", "anchored", "rate", "points", "probability", "count", "rank", "mean", "difference", "value"]


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """The formats of one kind of number: in tables (printf style), in charts (d3) and in text (Python)."""

    table: str
    """printf style, or a preset of `st.dataframe`."""
    d3: str
    text: str
    scale: float = 1
    """What a value is multiplied by before `table` is applied."""

    @property
    def rewrites(self) -> bool:
        """Whether tables show a number other than the value: a scaled one, or 0 for what rounds to a signed 0."""
        return self.scale != 1 or self.table.startswith("%+")

    def shown(self, value: float | None) -> float | None:
        """The number that a table formats; 0 has no minus."""
        if value is None:
            return None
        return 0.0 if value < 0 and _is_zero(self.text.format(value)) else value * self.scale

    def write(self, value: float | None) -> str:
        """The number as text, 0 without a sign; a dash where there is none."""
        if value is None:
            return "–"
        text = self.text.format(value)
        return text.lstrip("+-") if _is_zero(text) else text.replace("-", "−")


def _is_zero(text: str) -> bool:
    """Return whether a number as text has no digit other than 0."""
    return not any(digit in text for digit in "123456789")


FORMATS: dict[Kind, NumberFormat] = {
    "rating": NumberFormat("%+.2f", "+.2f", "{:+.2f}"),
    "anchored": NumberFormat("%.0f", ",.0f", "{:,.0f}"),
    "rate": NumberFormat("%.1f%%", ".1%", "{:.1%}", scale=100),
    "points": NumberFormat("%+.1f", "+.1f", "{:+.1f}"),
    "probability": NumberFormat("%.2f", ".2f", "{:.2f}"),
    "count": NumberFormat("localized", ",d", "{:,.0f}"),
    "rank": NumberFormat("%d", "d", "{:.0f}"),
    "mean": NumberFormat("%.1f", ".1f", "{:.1f}"),
    "difference": NumberFormat("%+.3f", "+.3f", "{:+.3f}"),
    "value": NumberFormat("%.3f", ".3f", "{:.3f}"),
}
"""One format for each kind of number, everywhere."""


def span(low: float | None, high: float | None, kind: Kind = "rating") -> str:
    """An interval as text; an end that is None is one on which the data puts no bound."""
    write = FORMATS[kind].write
    if low is None and high is None:
        return "no bound on either side"
    if high is None:
        return f"from {write(low)}, no upper bound"
    if low is None:
        return f"up to {write(high)}, no lower bound"
    return f"{write(low)} to {write(high)}"


def label_text(system: str) -> str:
    """A system's name for a chart: Plotly takes text for markup, and a name is none."""
    return escape(system, quote=False)


def on_ramp(mode: Mode, share: float) -> str:
    """Ink that reads on the ramp at a place in [0, 1]."""
    colors = ink(mode)
    dark_end = share < 0.45 if mode == "light" else share > 0.45
    return "#ffffff" if dark_end else ("#12161c" if mode == "dark" else colors.text)


def layout(mode: Mode, **more: object) -> dict[str, object]:
    """The part of a Plotly layout that all charts share; `more` is added or replaces.

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


def text_width(markup: str, size: float = TEXT_SIZE) -> float:
    """Pixels that a text takes in a chart, on the wide side: by classes of characters, since nothing here knows fonts.

    Args:
        markup: a text as Plotly takes it (`label_text`).
        size: of its characters, in pixels.
    """
    lines = (unescape(re.sub("<[^>]*>", "", line)) for line in markup.split("<br>"))
    return size * max(sum(map(_advance, line)) for line in lines)


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
    """The width of a map of many columns, as part of a layout: where it is too wide for a narrow page, it scrolls.

    Up to `_FITTING` columns fill the page, and nothing is set.
    """
    return {"width": min(_NAMES + ROW * n, _WIDEST)} if n > _FITTING else {}


def axis(mode: Mode, **more: object) -> dict[str, object]:
    """An axis: quiet grid, no box, title in secondary ink."""
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


def rows_axis(labels: Sequence[str], mode: Mode, **more: object) -> dict[str, object]:
    """An axis with a row for each label, the first on top."""
    return axis(
        mode,
        tickvals=list(range(len(labels))),
        ticktext=list(labels),
        range=[len(labels) - 0.5, -0.5],
        automargin=False,
        zeroline=False,
        ticklabelstandoff=SPACE,
        **more,
    )
