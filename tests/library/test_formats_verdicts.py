"""Formats of verdicts, of TREC and of nuggets: each value of a file of that shape lands where it should."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mirage
from mirage import schema
from mirage.io.formats import run
from mirage.io.formats.run import Summary
from mirage.io.formats.spec import Tables
from mirage.io.options import Options


def read(path: Path, name: str | None = None, **options: Any) -> tuple[Tables, Summary]:
    return run.read(path, name=name, options=Options.parse(**options))


def rows(tables: Tables, table: str, *columns: str) -> list[Any]:
    data = schema.sort(table, tables[table]).select(list(columns)).to_pylist()
    return [tuple(row.values()) if len(columns) > 1 else row[columns[0]] for row in data]


def left_out(summary: Summary) -> dict[str, int]:
    return {entry.what: entry.n for entry in summary.left_out}


@pytest.fixture
def arena(tmp_path: Path) -> Callable[..., Any]:
    """Imports a file into an arena of its own."""
    from mirage.io.imports.formats import import_file

    def imported(path: Path, **options: Any) -> Any:
        name = options.pop("name", None)
        folder = tmp_path / f"arena-{path.stem}"
        return import_file(path, folder, name=name, options=Options.parse(**options)).arena

    return imported


# LMArena


def test_lmarena_judges_side_by_side(tmp_path: Path) -> None:
    """Every column of winners is a judge; an empty cell is no verdict; a repeated battle keeps both votes."""
    path = tmp_path / "wide.csv.gz"
    text = (
        "num,question_id,model_a,model_b,Human,gpt-4\n"
        "0,q1,red,blue,model_a,model_b\n1,q1,red,blue,tie,model_b\n1,q1,red,blue,tie,model_b\n2,q2,red,blue,,tie\n"
        "3,q3,red,red,tie,tie\n"
    )
    path.write_bytes(gzip.compress(("\ufeff" + text).encode()))
    tables, summary = read(path)
    assert rows(tables, "judgments", "query_id", "judge", "voter", "verdict", "person") == [
        ("q1", "Human", "~2", "tie", True),
        ("q1", "Human", None, "A", True),
        ("q1", "gpt-4", "~2", "B", None),
        ("q1", "gpt-4", None, "B", None),
        ("q2", "gpt-4", None, "tie", None),
    ]
    assert summary.guessed["repeated battles"].startswith("2 verdicts ")
    assert "people" in summary.guessed["Human"]
    assert left_out(summary) == {"battles of a model with itself": 2}
    assert "language" in summary.guessed


def test_votes_on_one_query_keep_its_id(shared: Path, arena: Callable[..., Any]) -> None:
    """The query is the unit of the bootstrap, so votes of several people on it are told apart by the voter."""
    imported = arena(shared / "field" / "repeated-votes.jsonl")
    judgments = imported.read("judgments")
    assert (imported.rows("queries"), len(judgments), len(set(judgments["voter"].to_pylist()))) == (10, 200, 20)
    difference = mirage.rank(imported, judge="human").difference("x", "y")
    assert difference.low < 0 < difference.high


# MT-Bench


# TREC
