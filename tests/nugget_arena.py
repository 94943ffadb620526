"""A small arena of whole systems whose answers state some nuggets, by the matcher of terms and by a model."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import whole_systems

from mirage import schema, store
from mirage.nuggets import nugget_id
from mirage.nuggets.stage import TERM_ASSIGNMENTS
from mirage.stage import run

TEXTS = {"The answer is present.": "vital", "It is so indeed.": "okay", "Nobody knows the height.": "okay"}
MODEL = "model"


def write(path: Path, *, queries: int = 12) -> store.Arena:
    """Write the arena: nuggets for each query, assigned by terms everywhere, and by a model for fewer answers."""
    arena, _ = whole_systems.write(path, queries=queries)
    bank = [
        schema.Nugget(language, f"q{k:03}", nugget_id(text), text, importance, f"d{k}#0", "m")
        for language in ("en", "sw")
        for k in range(queries)
        for text, importance in TEXTS.items()
    ]
    rows = {"nuggets": store.by_key("nuggets", schema.from_rows("nuggets", bank))}
    store.upsert(path, rows, made_by="a test")
    arena = run(TERM_ASSIGNMENTS, path, made_by="a test", part="assigner")
    by_model = arena.read("nugget_assignments", languages=["en"]).to_pylist()
    table = pa.Table.from_pylist(
        [row | {"assigner": MODEL, "assignment": "partial_support", "quote": None} for row in by_model],
        schema.arrow_schema("nugget_assignments"),
    )
    return store.upsert(path, {"nugget_assignments": store.by_key("nugget_assignments", table)}, made_by="a test").arena
