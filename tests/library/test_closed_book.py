"""Questions that systems answer without passages."""

from __future__ import annotations

import json

import pytest
from commands import mirage

from mirage import schema, store
from mirage.errors import UnknownName
from mirage.pipeline.closed_book import closed_book


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    """Twelve answerable questions in two languages, with answers of a system that saw no passages."""
    keys = [("en" if k < 8 else "de", f"q{k:02d}") for k in range(12)]
    said = ["Yes, answer is present." if k % 4 == 0 else "I don't know." for k in range(12)]
    queries = [schema.Query(*key, "relevant", f"Question {key[1]}?", None) for key in keys]
    answers = [
        schema.Answer(*key, "closed", text, "ok", None, None, "vanilla") for key, text in zip(keys, said, strict=True)
    ]
    rows = {"queries": queries, "answers": answers}
    tables = {name: schema.sort(name, schema.from_rows(name, values)) for name, values in rows.items()}
    path = tmp_path_factory.mktemp("arenas") / "closed"
    store.write(path, tables, made_by="a test")
    mirage("measure", "outcomes", path)
    return store.open_arena(path)


def test_answers_without_passages_are_counted_by_language(arena: store.Arena) -> None:
    rows = {row.language: row for row in closed_book(arena, ["closed"])}
    assert {code: (row.answered, row.n) for code, row in rows.items()} == {"en": (2, 8), "de": (1, 4), "all": (3, 12)}
    total = rows["all"]
    assert total.rate == 0.25
    assert total.rate_low is not None
    assert total.rate_high is not None
    assert total.rate_low < 0.25 < total.rate_high
    assert (total.checked, total.known_rate) == (0, None)
    with pytest.raises(UnknownName):
        closed_book(arena, ["open"])


def test_what_the_bundled_systems_know_is_told_by_vital_nuggets() -> None:
    sample = store.open_arena(store.bundled_arenas()["sample"])
    total = closed_book(sample, ["thorough"])[-1]
    assert total.language == "all"
    assert 0 < total.known <= total.checked <= total.n


def test_the_command_prints_what_the_function_counts(arena: store.Arena) -> None:
    printed = json.loads(mirage("check", arena.path, "--closed-book", "closed", "--format", "json").stdout)
    assert {row["language"]: row["answered"] for row in printed} == {"en": 2, "de": 1, "all": 3}
