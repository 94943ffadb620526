"""Small arenas for tests of views and pages: made up, seeded, with every quirk a page must cope with."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa

from mirage import schema, store

SYSTEMS = {"gpt-4": 0.9, "Mistral-7B": 0.7, "aya-101": 0.5, "llama-2-7b": 0.3}
"""System and its chance of being right."""


def outcomes(*, languages: tuple[str, ...] = ("en", "fi", "sw"), n: int = 12, seed: int = 0) -> list[schema.OutcomeRow]:
    """Outcomes of four systems; `sw` has no relevant queries, one answer is missing, one an API error."""
    rng = np.random.default_rng(seed)
    rows = []
    for code in languages:
        for subset in ("relevant", "non_relevant"):
            if code == "sw" and subset == "relevant":
                continue
            for i in range(n):
                for system, skill in SYSTEMS.items():
                    right = bool(rng.random() < skill)
                    outcome = "answered" if right == (subset == "relevant") else "abstained"
                    if i == 0 and system == "aya-101":
                        outcome = "missing" if code == "en" else "api_error"
                    decided = outcome in ("answered", "abstained")
                    key = (code, f"{subset[0]}{i}", system)
                    correct = right if decided else None
                    rows += [
                        schema.OutcomeRow(*key, parser, subset, outcome, "made up", None, None, correct)
                        for parser in ("strict", "published")
                    ]
    return rows


def judgments(*, languages: tuple[str, ...] = ("en", "fi"), n: int = 8, seed: int = 1) -> pa.Table:
    """Verdicts of one judge on every pair, one of them unparsed a language."""
    rng = np.random.default_rng(seed)
    names = list(SYSTEMS)
    columns: dict[str, list[str]] = {
        k: [] for k in ("language", "query_id", "judge", "system_a", "system_b", "verdict")
    }
    for code in languages:
        for i in range(n):
            for a, b in itertools.combinations(range(len(names)), 2):
                verdict = str(rng.choice(["A", "B", "tie"], p=[0.6, 0.3, 0.1]))
                verdict = "unparsed" if (i, a, b) == (0, 0, 1) else verdict
                row = (code, f"q{i}", "judge-x", names[a], names[b], verdict)
                for column, value in zip(columns.values(), row, strict=True):
                    column.append(value)
    return schema.from_columns("judgments", columns)


def published() -> list[schema.Published]:
    """Printed ranks of two systems in two languages by both referees, and a figure that is no rank."""
    ranks = {("en", "GPT-4o"): (1, 2), ("en", "Aya-23"): (2, 1), ("fi", "GPT-4o"): (1, 1), ("fi", "Aya-23"): (2, 2)}
    rows = [
        schema.Published("MIRAGE-Bench", "Figure 4", "rank", setting, system, code, float(rank), None, "rank", "a page")
        for (code, system), pair in ranks.items()
        for setting, rank in zip(("judge", "surrogate"), pair, strict=True)
    ]
    tau = schema.Published("MIRAGE-Bench", "Table 2", "Kendall tau", "", "", "en", 0.835, None, "tau", "a page")
    return [*rows, tau]


def write(folder: Path, name: str = "small", *, tables: tuple[str, ...] = ("outcomes",), seed: int = 0) -> store.Arena:
    """Write an arena with some of the tables and return it."""
    builders = {
        "outcomes": lambda: schema.from_rows("outcomes", outcomes(seed=seed)),
        "judgments": lambda: judgments(),
        "published": lambda: schema.from_rows("published", published()),
        "features": lambda: schema.from_rows("features", [schema.Feature("en", "q0", "GPT-4o", "length", 3.0, None)]),
        "queries": lambda: schema.from_rows("queries", [schema.Query("en", "q0", None, "Why?", None)]),
    }
    return store.write(
        folder / name,
        {table: builders[table]() for table in tables},
        title=f"The {name} arena",
        label="published figures" if tables == ("published",) else "simulated",
        made_by="a test",
    )


def tagged(folder: Path) -> store.Arena:
    """Write an arena of outcomes and judgments whose queries have a domain each, and every third a type."""
    rows = outcomes()
    verdicts = judgments()
    keys = sorted({(row.language, row.query_id) for row in rows})
    keys += sorted({(row["language"], row["query_id"]) for row in verdicts.to_pylist()})
    tags = [schema.Tag(*key, "domain", ("finance", "law")[k % 2]) for k, key in enumerate(keys)]
    tags += [schema.Tag(*key, "type", "comparative") for key in keys[::3]]
    tables = {
        "queries": schema.from_rows("queries", [schema.Query(*key, None, f"What of {key[1]}?", None) for key in keys]),
        "tags": schema.from_rows("tags", tags),
        "outcomes": schema.from_rows("outcomes", rows),
        "judgments": verdicts,
    }
    return store.write(folder, tables, title="Tagged", label="simulated", made_by="a test")
