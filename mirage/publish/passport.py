"""A judge's passport as a one-page card: Markdown, JSON or PNG."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput
from mirage.people.exam.passport import CHANCE, Passport, family_rows
from mirage.text.segmentation import count_text

SUFFIXES = (".md", ".json", ".png")
_WIDTH, _ROW, _EDGE = 1_000, 40, 36
_LABEL, _SCALE = 270, 370
"""Width in pixels of the names, and of the scale from 0 to 1."""
_INK, _MUTED, _LINE, _MARK, _PEOPLE = "#1f2328", "#57606a", "#d0d7de", "#0969da", "#bc4c00"
_SIZES = {"title": 28, "text": 17, "note": 14}


def write_card(passport: Passport, out: Path) -> None:
    """Write the card of a passport in the format of the suffix.

    Raises:
        BadInput: if the suffix is not .md, .json or .png, the file cannot be written, or Pillow is not installed for a
        PNG.
    """
    kinds = {".md": lambda: to_markdown(passport).encode(), ".json": lambda: to_json(passport).encode(),
             ".png": lambda: to_png(passport)}  # fmt: skip
    if out.suffix not in kinds:
        raise BadInput(f"a card cannot be written as {out.name}", do=f"use one of the suffixes {', '.join(SUFFIXES)}")
    store.write_whole(out, kinds[out.suffix]())


def to_json(passport: Passport) -> str:
    """Return every row of a passport as a JSON document."""
    rows = [asdict(row) for row in passport.rows]
    return json.dumps({"judge": passport.judge, "rows": rows}, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def to_markdown(passport: Passport) -> str:
    """Return the card of a passport in Markdown."""
    lines = [
        f"# Passport of {_cell(passport.judge)}",
        "",
        _summary(passport),
        "",
        "| fault | detected | 95% interval | n | orders disagree | people |",
        "|---|---:|---|---:|---:|---|",
    ]
    lines += [
        f"| {_cell(row['title'])} | {_percent(row['detected'])} | {_ends(row)} | {row['n']:,} | "
        f"{_percent(row['split'])} | {_people(row)} |"
        for row in family_rows(passport)
    ]
    return "\n".join([*lines, "", _meaning(), ""])


def to_png(passport: Passport) -> bytes:
    """Return the card of a passport as a picture.

    Raises:
        BadInput: if Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise BadInput("a PNG needs Pillow", do="pip install 'mirage-rag[explorer]', or write .md or .json") from None
    rows = family_rows(passport)
    top = _EDGE + 110
    image = Image.new("RGB", (_WIDTH, top + _ROW * len(rows) + 90), "white")
    draw = ImageDraw.Draw(image)
    fonts = {name: ImageFont.load_default(size) for name, size in _SIZES.items()}
    draw.text((_EDGE, _EDGE - 6), f"Passport of {passport.judge}", _INK, fonts["title"])
    draw.text((_EDGE, _EDGE + 38), _summary(passport), _MUTED, fonts["note"])
    left = _EDGE + _LABEL
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + share * _SCALE
        draw.line((x, top - 8, x, top + _ROW * len(rows)), _MUTED if share == CHANCE else _LINE, 1)
        draw.text((x, top - 12), f"{share:.0%}", _MUTED, fonts["note"], anchor="mb")
    for k, row in enumerate(rows):
        y = top + _ROW * k + _ROW / 2
        draw.text((_EDGE, y), row["title"], _INK, fonts["text"], anchor="lm")
        if row["people"] is not None:
            _interval(draw, left, y + 8, row, "people", _PEOPLE)
        if row["detected"] is not None:
            _interval(draw, left, y if row["people"] is None else y - 4, row, "", _MARK)
        text = f"{_percent(row['detected'])}  ({_ends(row)})  n = {row['n']:,}"
        draw.text((left + _SCALE + 24, y), text, _INK, fonts["note"], anchor="lm")
    below = top + _ROW * len(rows) + 22
    for k, line in enumerate(_meaning().split(". ")):
        draw.text((_EDGE, below + 20 * k), line.rstrip(".") + ".", _MUTED, fonts["note"])
    stream = io.BytesIO()
    image.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def _interval(draw: Any, left: float, y: float, row: Mapping[str, Any], of: str, color: str) -> None:
    """Draw a value with its interval."""
    value, low, high = (row[name] for name in ((of, f"{of}_low", f"{of}_high") if of else ("detected", "low", "high")))
    if low is not None and high is not None:
        draw.line((left + low * _SCALE, y, left + high * _SCALE, y), color, 3)
    x = left + value * _SCALE
    draw.ellipse((x - 5, y - 5, x + 5, y + 5), color)


def _summary(passport: Passport) -> str:
    """Return the data behind the passport, in words."""
    n = sum(row["n"] for row in family_rows(passport))
    return f"{count_text(n, 'item')} in {count_text(len(passport.languages), 'language')}, each judged in both orders"


def _meaning() -> str:
    """Return the explanation of the card."""
    return (
        "Detected: share of items in which the original beats its faulty copy; a split or a tie counts half. Chance "
        "level: 50%. 95% intervals, clustered by query."
    )


def _people(row: Mapping[str, Any]) -> str:
    """Return people's rate with its n."""
    return "" if row["people"] is None else f"{_percent(row['people'])} (n = {row['people_n']:,})"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _ends(row: Mapping[str, Any]) -> str:
    return "–" if row["low"] is None else f"{row['low']:.0%} to {row['high']:.0%}"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
