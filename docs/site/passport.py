"""Compute the passport of the heuristic judge on the bundled sample for docs/passport.md: its table and figures."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from mirage import store
from mirage.people.exam.passport import Passport, passport
from mirage.publish.passport import to_markdown, to_png
from mirage.ranking.reliability import JudgeAwareRanking, rank_by_reliability
from mirage.stages.features.measuring import measure
from mirage.stages.judge.faults import FAMILIES, draw_items, item_pairs
from mirage.stages.judge.stage import BattleSample, judge_arena_by_features

DOCS = Path(__file__).resolve().parents[1]
CELL, LEFT, TOP = 42, 210, 40


def heuristic_passport(into: Path) -> Passport:
    """Give the heuristic judge its passport on a copy of the sample."""
    store.copy(store.open_arena(store.bundled_arenas()["sample"]), into)
    items = draw_items(into, made_by="docs")
    items = measure(items.path, made_by="docs")
    items = judge_arena_by_features(items.path, sample=BattleSample(battles=item_pairs(items)), made_by="docs")
    return passport(items, "heuristic")


def by_language(result: Passport) -> Image.Image:
    """Draw the rates by fault and language, with n below each."""
    codes = result.languages
    image = Image.new("RGB", (LEFT + CELL * len(codes) + 20, TOP + CELL * len(FAMILIES) + 20), "white")
    draw, font, small = ImageDraw.Draw(image), ImageFont.load_default(15), ImageFont.load_default(11)
    for k, code in enumerate(codes):
        draw.text((LEFT + CELL * (k + 0.5), TOP - 8), code, "#1f2328", font, anchor="mb")
    for j, (name, family) in enumerate(FAMILIES.items()):
        y = TOP + CELL * j
        draw.text((10, y + CELL / 2), family.title, "#1f2328", font, anchor="lm")
        for k, code in enumerate(codes):
            row, x = result.row(name, code), LEFT + CELL * k
            draw.rectangle((x, y, x + CELL - 2, y + CELL - 2), shade(row.detected))
            if row.detected is not None:
                draw.text((x + CELL / 2, y + 15), f"{100 * row.detected:.0f}", "#1f2328", font, anchor="mm")
            draw.text((x + CELL / 2, y + 31), f"n {row.n}", "#57606a", small, anchor="mm")
    return image


def by_weight(result: JudgeAwareRanking) -> Image.Image:
    """Draw the weights of judges with their intervals and position biases."""
    rows = sorted(result.judges, key=lambda judge: -(judge.weight or 0))
    most = max(judge.high or 1 for judge in rows) * 1.1
    image = Image.new("RGB", (900, TOP + CELL * len(rows) + 40), "white")
    draw, font, small = ImageDraw.Draw(image), ImageFont.load_default(15), ImageFont.load_default(12)
    left, width, below = 240, 360, TOP + CELL * len(rows)
    for share in (0.0, 0.5, 1.0, 1.5):
        if share <= most:
            x = left + share / most * width
            draw.line((x, TOP - 6, x, below), "#d0d7de", 1)
            draw.text((x, TOP - 8), f"{share:g}", "#57606a", small, anchor="mb")
    for k, judge in enumerate(rows):
        y = TOP + CELL * (k + 0.5)
        draw.text((10, y), judge.judge, "#1f2328", font, anchor="lm")
        if judge.weight is None or judge.low is None or judge.high is None:
            continue
        draw.line((left + judge.low / most * width, y, left + judge.high / most * width, y), "#0969da", 3)
        x = left + judge.weight / most * width
        draw.ellipse((x - 5, y - 5, x + 5, y + 5), "#0969da")
        text = f"{judge.weight:.2f} ({judge.low:.2f} to {judge.high:.2f}), first {judge.position:+.1f}"
        draw.text((left + width + 16, y), text, "#1f2328", small, anchor="lm")
    draw.text(
        (left, below + 10), f"weight; n = {result.n:,} verdicts on {result.n_queries:,} queries", "#57606a", small
    )
    return image


def shade(value: float | None) -> tuple[int, int, int]:
    """Return a colour: white at one half, green above, red below; grey without a value."""
    if value is None:
        return 235, 235, 235
    share = abs(value - 0.5) * 2
    full = (116, 196, 118) if value >= 0.5 else (239, 101, 72)
    red, green, blue = (round(255 + share * (end - 255)) for end in full)
    return red, green, blue


def main() -> None:
    """Write the table into docs/passport.md, and the figures beside it."""
    with tempfile.TemporaryDirectory() as folder:
        result = heuristic_passport(Path(folder) / "arena")
    page = DOCS / "passport.md"
    table = to_markdown(result).split("\n", 2)[2].strip()
    text = re.sub(
        r"(<!-- passport -->\n).*?(<!-- /passport -->)",
        lambda match: f"{match[1]}{table}\n{match[2]}",
        page.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    page.write_text(text, encoding="utf-8")
    people = rank_by_reliability(store.open_arena(store.bundled_arenas()["people"]).read("judgments"))
    by_weight(people).save(DOCS / "passport-weights.png", optimize=True)
    (DOCS / "passport-card.png").write_bytes(to_png(result))
    by_language(result).save(DOCS / "passport-languages.png", optimize=True)


if __name__ == "__main__":
    sys.exit(main())
