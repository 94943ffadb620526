"""Passports of judges with known blind spots: how often each 95% interval holds the rate that is true.

A judge sees a share of the items of a fault, is taken in by another share, and on the rest names a position or says
tie, by language and fault; the truth is its rate over all items that could be drawn. Verdicts go through the table of
judgments and the decision of battles, like any others.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness import Row
from mirage import schema, store
from mirage.people.exam.passport import passport
from mirage.stages.judge.faults import ORIGINAL

JUDGES, LANGUAGES = 200, ("en", "sw", "te")
SIZES = (10, 20, 60)
"""Queries per language."""
FAULTS = {
    "dropped-fact": (0.95, 0.0),
    "changed-number": (0.6, 0.1),
    "negation": (0.0, 0.0),
    "instruction": (0.1, 0.6),
    "padding": (0.5, 0.3),
}
"""Shares of items that a judge sees, and that take it in. In the last language it sees half as many."""
POSITION = 0.6
"""Share of the remaining items on which it names the answer shown first; on the others it says tie."""


def draw(rng: np.random.Generator, judge: str, n: int) -> list[schema.Judgment]:
    """Return the verdicts of one judge on n items of each fault and language."""
    rows = []
    for code in LANGUAGES:
        for fault in FAULTS:
            seen, misled = shares(fault, code)
            for k in range(n):
                kind, blind = rng.random(), rng.random() < POSITION
                for a, b in ((ORIGINAL, fault), (fault, ORIGINAL)):
                    right = "A" if a == ORIGINAL else "B"
                    wrong = "B" if a == ORIGINAL else "A"
                    other = "A" if blind else "tie"
                    verdict = right if kind < seen else wrong if kind < seen + misled else other
                    rows.append(schema.Judgment(code, f"{code}-{k}", judge, a, b, verdict, "", None, call=None))  # type: ignore[arg-type]
    return rows


def shares(fault: str, code: str) -> tuple[float, float]:
    """Return the shares of items that a judge sees, and that take it in."""
    seen, misled = FAULTS[fault]
    return (seen / 2 if code == LANGUAGES[-1] else seen), misled


def truth(fault: str, code: str) -> float:
    """Return the true rate."""
    seen, misled = shares(fault, code)
    return (1 + seen - misled) / 2


def coverage(n: int, seed: int) -> dict[str, tuple[int, int]]:
    """Return by language, `all` last, how many intervals hold the truth, and how many there are."""
    rng = np.random.default_rng(seed)
    names = [f"judge {k:03}" for k in range(JUDGES)]
    answers = [
        schema.Answer(code, f"{code}-{k}", system, "x", "ok", None, None, None)
        for code in LANGUAGES
        for k in range(n)
        for system in (ORIGINAL, *FAULTS)
    ]
    held = dict.fromkeys((*LANGUAGES, "all"), (0, 0))
    for start in range(0, JUDGES, 20):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "items"
            rows = [row for name in names[start : start + 20] for row in draw(rng, name, n)]
            tables = {"answers": schema.from_rows("answers", answers), "judgments": schema.from_rows("judgments", rows)}
            store.write(path, tables, made_by="a benchmark")
            items = store.open_arena(path)
            for name in names[start : start + 20]:
                result = passport(items, name)
                for code in held:
                    for fault in FAULTS:
                        row = result.row(fault, code)
                        if row.low is None or row.high is None:
                            continue
                        each = LANGUAGES if code == "all" else (code,)
                        rate = float(np.mean([truth(fault, language) for language in each]))
                        hit, count = held[code]
                        held[code] = hit + (row.low <= rate <= row.high), count + 1
    return held


def run() -> list[Row]:
    """Measure the coverage."""
    rows = []
    for n in SIZES:
        held = coverage(n, 2026 + n)
        for code, (hit, count) in held.items():
            what = "all languages" if code == "all" else f"language {code}"
            rows.append(
                Row(
                    f"95% intervals of a fault's rate cover, {n} queries per language, {what}",
                    f"{hit / count:.1%}",
                    f"{count:,} intervals of {JUDGES} judges with 5 faults",
                    "",
                    "93 to 97%",
                )
            )
    return rows
