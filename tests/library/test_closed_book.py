"""Questions that systems answer without passages."""

import json
from pathlib import Path

import pytest
from arena_writer import write_arena
from commands import mirage

from mirage import schema
from mirage.store.arena import Arena, open_arena


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    """Twelve answerable questions in two languages, with answers of a system that saw no passages."""
    keys = [("en" if k < 8 else "de", f"q{k:02d}") for k in range(12)]
    said = ["Yes, answer is present." if k % 4 == 0 else "I don't know." for k in range(12)]
    queries = [schema.Query(*key, "relevant", f"Question {key[1]}?", None) for key in keys]
    answers = [
        schema.Answer(*key, "closed", text, "ok", None, None, "vanilla") for key, text in zip(keys, said, strict=True)
    ]
    rows = {"queries": queries, "answers": answers}
    path = module_path / "closed"
    write_arena(path, rows)
    mirage("measure", "outcomes", path)
    return open_arena(path)


def test_answers_without_passages_are_counted_by_language(arena: Arena) -> None:
    printed = json.loads(mirage("check", arena.path, "--closed-book", "closed", "--format", "json").stdout)
    rows = {row["language"]: row for row in printed}
    counts = {code: (row["answered"], row["n"], row["rate"]) for code, row in rows.items()}
    assert counts == {"en": (2, 8, 0.25), "de": (1, 4, 0.25), "all": (3, 12, 0.25)}
    assert rows["all"]["rate_low"] < 0.25 < rows["all"]["rate_high"]
    assert "closed" in mirage("check", arena.path, "--closed-book", "open", code=2).stderr
