"""Draw what an audit does to the interval of a hallucination rate, from the simulation: `make docs` draws it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mirage.stats.intervals import wilson
from mirage.stats.label_errors import LabelError, ObservedShare, correct_shares

FILE = Path(__file__).resolve().parents[1] / "audit.svg"
SEED = 20261126
SIMULATIONS = 400
QUERIES = 100
"""Queries of each label."""
TRUTH = (0.15, 0.90)
"""Shares of answers on queries that truly are unanswerable, and answerable."""
WRONG = 0.1
"""Share of wrong labels, the same of both."""
AUDITS = (10, 20, 40, 60, 100)
"""Audited queries of each label."""
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 680, 300, 190, 20, 16, 44
LARGEST = 0.45
"""Largest share on the axis."""


def simulate(audited: int) -> tuple[float, float, float, float, float, float]:
    """Return the mean printed rate with both ends, and the mean corrected rate with both ends."""
    rng = np.random.default_rng([SEED, audited])
    rows = []
    for _ in range(SIMULATIONS):
        found = rng.binomial(audited, WRONG, 2)
        wrong = found + rng.binomial(QUERIES - audited, WRONG, 2)
        answers = rng.binomial(wrong, TRUTH[::-1]) + rng.binomial(QUERIES - wrong, TRUTH)
        shares = [ObservedShare(k / QUERIES, *wilson(k, QUERIES), QUERIES) for k in map(int, answers)]
        errors = [LabelError(k / audited, *wilson(k, audited), audited, k, audited) for k in map(int, found)]
        corrected, _other = correct_shares(shares[0], shares[1], (errors[0], errors[1]))
        rows.append((shares[0].value, shares[0].low, shares[0].high, corrected.value, corrected.low, corrected.high))
    means = np.mean(rows, axis=0)
    return tuple(float(mean) for mean in means)  # type: ignore[return-value]  # six of them


def page() -> str:
    """Return the figure as SVG."""
    rows = [("labels not audited", *simulate(AUDITS[-1])[:3])]
    rows += [(f"{2 * audited} audited", *simulate(audited)[3:]) for audited in AUDITS]
    step = (HEIGHT - TOP - BOTTOM) / len(rows)

    def across(share: float) -> float:
        return round(LEFT + share / LARGEST * (WIDTH - LEFT - RIGHT), 1)

    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            'font-family="system-ui, sans-serif" font-size="13" fill="#57606a">'
        ),
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for tick in (0.0, 0.1, 0.2, 0.3, 0.4):
        parts.append(f'<path d="M{across(tick)} {TOP}V{HEIGHT - BOTTOM}" stroke="#d8dee4"/>')
        parts.append(f'<text x="{across(tick)}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick:.0%}</text>')
    truth = across(TRUTH[0])
    parts.append(f'<path d="M{truth} {TOP}V{HEIGHT - BOTTOM}" stroke="#1f2328" stroke-dasharray="4 3"/>')
    for number, (name, value, low, high) in enumerate(rows):
        y = round(TOP + step * (number + 0.5), 1)
        color = "#bc4c00" if number == 0 else "#0969da"
        parts.append(f'<text x="{LEFT - 14}" y="{y + 4}" text-anchor="end" fill="#1f2328">{name}</text>')
        parts.append(f'<path d="M{across(low)} {y}H{across(high)}" stroke="{color}" stroke-width="3"/>')
        parts.append(f'<circle cx="{across(value)}" cy="{y}" r="5" fill="{color}"/>')
    label = f"Hallucination rate, mean of {SIMULATIONS} simulations; dashed: the truth, {TRUTH[0]:.0%}"
    parts.append(f'<text x="{across(LARGEST / 2)}" y="{HEIGHT - 6}" text-anchor="middle">{label}</text>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
