"""Arenas with a known optimum: systems with their chance of being right, and what they cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mirage import schema, store

RIGHT = {"dear": 0.9, "cheap": 0.89, "poor": 0.4, "unpriced": 0.5}
"""System and its chance of being right: the optimum is `cheap`, as good as `dear` at a tenth of the price."""


def write(path: Path, right: dict[str, dict[str, float]], n: int = 200, *, cards: bool = True) -> store.Arena:
    """An arena of outcomes: by language and system the chance of being right, on queries of one difficulty each."""
    rng = np.random.default_rng(40)
    rows = []
    for code, systems in right.items():
        luck = rng.random(n)
        for system, chance in systems.items():
            own = 0.7 * luck + 0.3 * rng.random(n)
            for k in range(n):
                subset = "non_relevant" if k % 2 else "relevant"
                is_right = bool(own[k] < chance)
                outcome = "answered" if is_right == (subset == "relevant") else "abstained"
                rows.append(
                    schema.OutcomeRow(code, f"q{k}", system, "strict", subset, outcome, "made up", None, None, is_right)
                )
    tables = {"outcomes": schema.from_rows(schema.OutcomeRow, rows)}
    if cards:
        tables["systems"] = schema.from_rows(
            schema.SystemCard,
            [
                schema.SystemCard(name, licence, is_open, None, None, price, 2 * price, 8000, None, None, "made up")
                for name, licence, is_open, price in (
                    ("dear", "proprietary", False, 10.0),
                    ("cheap", "MIT", True, 1.0),
                    ("poor", "MIT", True, 0.1),
                )
            ],
        )
    return store.write(path, tables, made_by="a test")
