"""A small arena with every table that may come with a file: turns, tags, references, documents, scores, cards."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import ROOT

from mirage import schema, store

HOSTILE = "<script>alert(1)</script> **bold** $x$ \u202e"
"""A text that is markup in more than one language."""
ADDRESS, UNSAFE = "https://example.org/a?b=1&c=2", "javascript:alert(1)"


def write(folder: Path, *, without: tuple[str, ...] = ()) -> store.Arena:
    """Write the sample arena with the optional tables, less those that are left out."""
    sample = store.open_arena(ROOT / "data" / "sample")
    tables = {name: sample.read(name) for name in sample.tables}
    passages = tables["passages"].to_pylist()
    keys = [(row["language"], row["query_id"]) for row in tables["queries"].to_pylist()]
    tags = [schema.Tag(*key, "domain", ("finance", "law", HOSTILE)[i % 3]) for i, key in enumerate(keys)]
    turns = [
        schema.Turn(*key, position, ("user", "agent")[(position + 1) % 2], f"Turn {position}: {HOSTILE}")
        for i, key in enumerate(keys)
        for position in range(1, 1 + (0, 2, 6)[i % 3])
    ]
    documents = [
        schema.Document(
            row["language"],
            row["query_id"],
            row["passage_id"],
            (ADDRESS, UNSAFE, None)[i % 3],
            json.dumps({"author": HOSTILE, "year": 2024}) if i % 2 else None,
        )
        for i, row in enumerate(passages)
    ]
    cards = [
        schema.SystemCard(system, licence, weights, size, "2024-05", None, price, 8192, ADDRESS, retriever, HOSTILE)
        for system, licence, weights, size, price, retriever in (
            ("baseline/bm25", "MIT", True, 0.1, 0.5, "bm25"),
            ("baseline/lead", HOSTILE, False, 7.0, 10.0, "dense"),
            ("reference", None, None, None, None, None),
        )
    ]
    score = schema.Score(*keys[0], "reference", "faithfulness", "ann-1", True, 4.0, 1.0, 5.0, None)
    tables |= {
        "tags": schema.from_rows("tags", tags),
        "turns": schema.from_rows("turns", turns),
        "references": schema.from_rows("references", [schema.Reference(*key, f"It is so. {HOSTILE}") for key in keys]),
        "documents": schema.from_rows("documents", documents),
        "systems": schema.from_rows("systems", cards),
        "scores": schema.from_rows("scores", [score]),
    }
    kept = {name: table for name, table in tables.items() if name not in without}
    return store.write(folder, kept, title="Rich", label="sample", made_by="a test")
