"""Languages of queries, passages and answers, where passages are in several languages."""

import json
from pathlib import Path

import pytest
from arena_writer import add_rows
from commands import mirage as run
from cross_lingual import FAIR, LANGUAGES, LOYAL, OPEN, write_across

from mirage import schema
from mirage.stages import across
from mirage.store.arena import Arena, open_arena
from mirage.views.causes import decisions_view

TABLES = ("passages", "retrieved")


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    """Write twelve queries in three languages each."""
    return write_across(module_path / "arena")


def test_correct_decisions_are_counted_by_pair_of_languages(arena: Arena) -> None:
    rows = {(row.system, row.query_language, row.passage_language): row for row in decisions_view(arena)}
    # The loyal system answers where its passage is in the query's language: on every second query.
    assert (rows[LOYAL, "de", "de"].k, rows[LOYAL, "de", "de"].n) == (6, 6)
    assert (rows[LOYAL, "de", "ar"].k, rows[LOYAL, "de", "ar"].n) == (0, 6)
    every = [rows[f"{OPEN} ({FAIR})", "en", code] for code in LANGUAGES]
    assert [(row.k, row.n, row.share) for row in every] == [(12, 12, 1.0)] * 3
    assert all(0.7 < row.low < row.high == 1 for row in every)
    printed = json.loads(run("report", "languages", arena.path, "--format", "json").stdout)
    assert [row["share_low"] for row in printed] == [row.low for row in decisions_view(arena)]


def test_passages_without_a_language_are_left_out_until_detected(tmp_path: Path) -> None:
    arena = write_across(tmp_path / "arena", queries=6)
    passages = arena.read("passages")
    place = passages.column_names.index("passage_language")
    unknown = passages.set_column(place, "passage_language", [[None] * len(passages)])
    unknown = schema.from_columns("passages", {name: unknown[name] for name in unknown.column_names})
    bare = add_rows(arena.path, passages=unknown)
    assert not across.is_cross_lingual(bare)
    columns = ("language", "query_id", "passage_id")
    given, shown = ({tuple(row.values()) for row in bare.read(of, columns=columns).to_pylist()} for of in TABLES)
    done = run("report", "languages", arena.path, "--detect")
    assert f"{len(given):,} passages detected; {len(shown - given):,} unknown" in done.stderr
    found = open_arena(arena.path)
    assert found.read("passages")["passage_language"].equals(passages["passage_language"])
    assert across.is_cross_lingual(found)
    assert {"outcomes", "answers"} <= set(found.tables)
