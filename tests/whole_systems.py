"""A small arena of whole systems: two retrievers with three generators each, whose failures are planted and known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mirage import schema, store
from mirage.outcomes.stage import OUTCOMES
from mirage.retrieval.attribution import Cause

RETRIEVERS = {"bm25": 0.35, "dense": 0.1}
"""How often each brings nothing relevant."""
GENERATORS = {"strong": 0.05, "weak": 0.45}
"""How often each ignores what is relevant."""
Planted = dict[tuple[str, str, str], Cause]


def write(
    path: Path,
    *,
    languages: Sequence[str] = ("en", "sw"),
    queries: int = 40,
    seed: int = 0,
    retrievers: Mapping[str, float] = RETRIEVERS,
) -> tuple[store.Arena, Planted]:
    """Write the arena; of each fifth query no passage is relevant.

    Returns:
        The arena, and the planted cause of each answer by language, query id and system.
    """
    rng = np.random.default_rng(seed)
    rows: dict[str, list[object]] = {name: [] for name in ("queries", "passages", "retrieved", "answers")}
    planted: Planted = {}
    for code in languages:
        for k in range(queries):
            query, answered = f"q{k:03}", k % 5 > 0
            rows["queries"].append(
                schema.Query(code, query, "relevant" if answered else "non_relevant", f"What is {k}?", None)
            )
            ids = [f"d{k}#{j}" for j in range(6)]
            rows["passages"] += [
                schema.Passage(code, query, name, j + 1, None, f"It says fact {j}.", answered and j < 2)
                for j, name in enumerate(ids)
            ]
            for retriever, drops in retrievers.items():
                relevant = ids[:2] if rng.random() >= drops else []
                order = [*relevant, *ids[2:]]
                rng.shuffle(order)
                rows["retrieved"] += [
                    schema.Retrieved(code, query, retriever, name, rank, float(-rank), None, None)
                    for rank, name in enumerate(order, start=1)
                ]
                for generator, ignores in GENERATORS.items():
                    system = f"{generator}+{retriever}"
                    text, cause = _answer(rng, answered, relevant, ids[2:], ignores=ignores)
                    planted[code, query, system] = cause
                    rows["answers"].append(
                        schema.Answer(code, query, system, text, "ok", None, None, None, False, retriever, 6)
                    )
    tables = {name: schema.from_rows(name, entries) for name, entries in rows.items()}
    tables |= OUTCOMES.run(tables)
    return store.write(path, tables, title="Whole systems", made_by="a test"), planted


def _answer(
    rng: np.random.Generator, answered: bool, relevant: Sequence[str], others: Sequence[str], *, ignores: float
) -> tuple[str, Cause]:
    """A text, and why it is right or wrong."""
    silent, fails = "I don't know.", rng.random() < ignores
    wrong = silent if rng.random() < 0.5 else f"Yes, answer is present. It is so [{others[0]}]."
    if not answered:
        return (wrong, "right_refusal" if wrong == silent else "unsupported")
    if not relevant:
        return wrong, "not_retrieved"
    return (wrong, "ignored") if fails else (f"Yes, answer is present. It is so [{relevant[0]}].", "right")
