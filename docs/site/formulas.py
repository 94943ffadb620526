"""Set the formulas of the definitions as SVG, for the page Methods: `make docs` sets them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from mirage.explorer.kit.definitions import DEFINITIONS, FORMULAS, INK

HERE = Path(__file__).resolve().parents[2] / "mirage" / "explorer" / "kit" / FORMULAS
SIZE = 17
"""Of the signs, in pixels."""


def written() -> str:
    """The file as it should be: every formula as SVG, by its LaTeX; `INK` stands where a colour goes."""
    from ziamath.zmath import Latex

    svgs = {
        entry.formula: short(Latex(entry.formula, size=SIZE, color=INK).svg()) for entry in DEFINITIONS if entry.formula
    }
    return json.dumps(svgs, ensure_ascii=False, indent=0, sort_keys=True) + "\n"


def short(svg: str) -> str:
    """The same with coordinates to a tenth of a pixel, and the lines over letters in the colour of these."""
    svg = svg.replace('"black"', f'"{INK}"')
    svg = re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), svg)
    return re.sub(r" ?([A-Z]) (?=[-\d])", r"\1", svg)


if __name__ == "__main__":
    HERE.write_text(written(), encoding="utf-8")
