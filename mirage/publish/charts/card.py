"""A card to share: what came out, on how much it rests and where it stands, as one picture."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any
from unicodedata import east_asian_width

from mirage.publish.charts.palette import Mode, ink, label_text, layout

WIDTH, HEIGHT = 1_000, 525
"""Pixels; the shape in which networks and chats show the picture of a link."""
_EDGE = 48
_TITLE, _LEAST, _LETTERS = 44, 16, 1_500
"""Size of a title in pixels, and its least; the size times the letters of a line is at most so much."""
_WIDE = 1.7
"""Letters that a character of Chinese, Japanese or Korean takes."""
_LONGEST = 160
"""Maximum characters of a line; longer text is cut, with an ellipsis."""


@dataclass(frozen=True, slots=True)
class CardText:
    """Texts of a card, plain text."""

    above: str
    """Source: the arena and its kind of numbers."""
    title: str
    """A system, or the result of a comparison."""
    value: str
    """The number with its interval."""
    lines: tuple[str, ...]
    """What it rests on: n, referee, method."""
    link: str
    """Address of the page."""


def share_card(card: CardText, *, color: str, mode: Mode) -> dict[str, Any]:
    """Draw the card as a figure.

    Args:
        card: its words.
        color: of the bar at its side.
        mode: light or dark.
    """
    colors = ink(mode)
    title = textwrap.shorten(card.title, _LONGEST, placeholder="…") or card.title[:_LONGEST]
    per_line = max(24, min(40, len(title)))
    wrapped = textwrap.wrap(title, per_line)[:4] or [""]
    size = max(_LEAST, min(_TITLE, int(_LETTERS / max(map(_letters, wrapped))), 150 // len(wrapped)))
    rows: list[tuple[str, float, str]] = [(label_text(_cut(card.above)), 20, colors.muted)]
    rows += [(f"<b>{label_text(line)}</b>", size, colors.text) for line in wrapped]
    rows.append((label_text(_cut(card.value)), 30, colors.text))
    rows += [(label_text(_cut(line)), 20, colors.text) for line in card.lines]
    top, annotations = float(_EDGE), []
    for text, pixels, ink_of_line in rows:
        annotations.append(_line(text, top, pixels, ink_of_line))
        top += pixels * 1.55
    annotations.append(_line(label_text(_cut(card.link)), HEIGHT - _EDGE, 15, colors.muted))
    bar = {"type": "rect", "xref": "paper", "yref": "paper", "x0": 0, "x1": 12 / WIDTH, "y0": 0, "y1": 1}
    return {
        "data": [],
        "layout": layout(
            mode,
            width=WIDTH,
            height=HEIGHT,
            margin={"l": 0, "r": 0, "t": 0, "b": 0},
            xaxis={"visible": False, "fixedrange": True},
            yaxis={"visible": False, "fixedrange": True},
            shapes=[bar | {"fillcolor": color, "line": {"width": 0}}],
            annotations=annotations,
        ),
    }


def _letters(line: str) -> float:
    """Return the width of a line in letters of Latin script; at least 1."""
    return max(1.0, sum(_WIDE if east_asian_width(character) in "WF" else 1.0 for character in line))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _line(text: str, top: float, pixels: float, color: str) -> dict[str, Any]:
    """A line of text by the distance of its upper edge from that of the card."""
    return {
        "text": text,
        "x": _EDGE / WIDTH,
        "y": 1 - top / HEIGHT,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "top",
        "align": "left",
        "showarrow": False,
        "font": {"size": pixels, "color": color},
    }
