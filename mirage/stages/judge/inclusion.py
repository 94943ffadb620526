"""Inclusion probabilities of battles chosen by earlier verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

Cell = tuple[str, str, str]
"""Language code and two systems, sorted by name."""


def add_inclusion(judgments: pa.Table, possible: Mapping[Cell, int]) -> pa.Table:
    """Return verdicts with their inclusion probability: the share of the battles of their language and pair of systems
    that have a readable verdict, all of them having been equally likely to be chosen.

    Args:
        judgments: all verdicts of one judge.
        possible: number of battles that could have been judged, by language and pair of systems.
    """
    import pyarrow as pa

    columns = (judgments[name].to_pylist() for name in ("language", "query_id", "system_a", "system_b", "verdict"))
    cells, read = [], set()
    for language, query, a, b, verdict in zip(*columns, strict=True):
        cell = language, min(a, b), max(a, b)
        cells.append(cell)
        if verdict != "unparsed":
            read.add((cell, query))
    counts = Counter(cell for cell, _ in read)
    inclusion = [counts[cell] / possible[cell] if counts[cell] else None for cell in cells]
    place = judgments.column_names.index("inclusion")
    return judgments.set_column(place, judgments.schema.field(place), pa.array(inclusion, pa.float64()))
