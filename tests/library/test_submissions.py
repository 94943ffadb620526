"""Submissions: one system, one file, checked against the board and taken in at once or not at all."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import CliRunner

from mirage import schema, store
from mirage.cli import app
from mirage.errors import BadInput, MirageError, UnknownName
from mirage.publish.submission import Disclosure, accept_submission, read_submission, write_submission

QUERIES = [("en", "q1"), ("en", "q2"), ("fi", "q1")]
OPEN = Disclosure("temperature 0, one answer a query", runs=3, withdrawn=1)


def make_arena(path: Path, systems: tuple[str, ...], queries: list[tuple[str, str]] = QUERIES) -> store.Arena:
    """Write an arena with answers, a feature, and a judge's verdicts on each two neighbours of the systems."""
    answers = [
        schema.Answer(*key, name, f"{name} on {key[1]}", "ok", "rag", None, "call")
        for key in queries
        for name in systems
    ]
    features = [schema.Feature(*key, name, "length", 3.0, None) for key in queries for name in systems]
    pairs = list(itertools.pairwise(systems))
    judgments = [
        schema.Judgment(*key, "judge", *pair, "A", "because", None, "call") for key in queries for pair in pairs
    ]
    tables = {
        "queries": schema.from_rows("queries", [schema.Query(*key, None, "What?", None) for key in queries]),
        "answers": schema.from_rows("answers", answers),
        "features": schema.from_rows("features", features),
    }
    if judgments:
        tables["judgments"] = schema.from_rows("judgments", judgments)
    notes = [f"{name}: model m, temperature 0" for name in systems]
    return store.write(path, tables, made_by=store.Provenance("a test", notes=notes))


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """A board with two systems."""
    return make_arena(tmp_path / "board", ("old", "other")).path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The submission of a new system, with verdicts against one of the board's."""
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(write_submission(make_arena(tmp_path / "own", ("mine", "old")), "mine", OPEN, version="1"))
    return path


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    """Change the records of a submission, its hash left as it is."""
    records = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    change(records)
    path.write_bytes(gzip.compress("\n".join(json.dumps(record) for record in records).encode()))


def test_a_submission_is_taken_in_with_what_was_disclosed(board: Path, file: Path) -> None:
    done = accept_submission(board, read_submission(file))
    assert (done.system, dict(done.rows), done.unanswered) == ("mine", {"answers": 3, "features": 3, "judgments": 3}, 0)
    arena = store.open_arena(board)
    assert set(arena.read("answers")["system"].to_pylist()) == {"mine", "old", "other"}
    note = next(note for note in arena.manifest["made"]["answers"]["notes"] if note.startswith("mine: submitted"))
    assert "temperature 0" in note
    assert "3 runs made, 1 withdrawn" in note
    assert any(note == "mine: model m, temperature 0" for note in arena.manifest["made"]["answers"]["notes"])
    assert b'"call"' not in gzip.decompress(file.read_bytes()).replace(b'"call":null', b"")


def test_one_system_one_submission_unless_stated(board: Path, file: Path) -> None:
    accept_submission(board, read_submission(file))
    version = store.open_arena(board).version
    with pytest.raises(BadInput):
        accept_submission(board, read_submission(file))
    assert store.open_arena(board).version == version
    assert accept_submission(board, read_submission(file), again=True).system == "mine~2"
    assert {"mine", "mine~2"} <= set(store.open_arena(board).read("judgments")["system_a"].to_pylist())


def test_rows_of_the_board_are_not_replaced(board: Path, file: Path) -> None:
    """Features of a system whose answers the board lacks: its name is free, its rows are not."""
    rows = read_submission(file).tables["features"].slice(0, 1)
    store.upsert(board, {"features": store.by_key("features", rows)}, made_by="a test")
    version = store.open_arena(board).version
    with pytest.raises(BadInput):
        accept_submission(board, read_submission(file))
    assert store.open_arena(board).version == version


@pytest.mark.parametrize(
    "change",
    [
        lambda records: records[1]["row"].update(text="a better answer"),
        lambda records: records.pop(),
        lambda records: records.append(records[-1]),
        lambda records: records[0].update(withdrawn=0),
        lambda records: records[0].pop("sampling"),
        lambda records: records[0].update(format="another"),
        lambda records: records[1].update(table="ratings"),
        lambda records: records.clear(),
    ],
)
def test_a_changed_file_is_refused(board: Path, file: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    rewrite(file, change)
    version = store.open_arena(board).version
    with pytest.raises(BadInput):
        accept_submission(board, read_submission(file))
    assert store.open_arena(board).version == version


def test_other_queries_are_refused(board: Path, tmp_path: Path) -> None:
    other = make_arena(tmp_path / "own", ("mine", "old"), [*QUERIES, ("fi", "q9")])
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(write_submission(other, "mine", OPEN, version="1"))
    with pytest.raises(BadInput):
        accept_submission(board, read_submission(path))


def test_verdicts_on_systems_that_the_board_lacks_are_refused(board: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(write_submission(make_arena(tmp_path / "own", ("mine", "unknown")), "mine", OPEN, version="1"))
    with pytest.raises(BadInput):
        accept_submission(board, read_submission(path))


def test_what_is_not_disclosed_is_not_submitted(tmp_path: Path) -> None:
    arena = make_arena(tmp_path / "own", ("mine",))
    for disclosure in (Disclosure(" "), Disclosure("greedy", runs=1, withdrawn=2), Disclosure("greedy", runs=0)):
        with pytest.raises(BadInput):
            write_submission(arena, "mine", disclosure, version="1")
    with pytest.raises(UnknownName):
        write_submission(arena, "yours", OPEN, version="1")


def test_no_file_crashes_the_reader(tmp_path: Path) -> None:
    for content in (b"", b"{}", b"\xff\xfe", b"[1]", gzip.compress(b"{}")[:-3], b'{"format": "mirage submission 1"}'):
        for name in ("a.jsonl", "a.jsonl.gz"):
            path = tmp_path / name
            path.write_bytes(content)
            with pytest.raises(MirageError):
                read_submission(path)


def test_the_commands(board: Path, tmp_path: Path) -> None:
    own, path = make_arena(tmp_path / "own", ("mine", "old")).path, tmp_path / "mine.jsonl.gz"
    runner = CliRunner()
    done = runner.invoke(app, ["submit", str(own), "--system", "mine", "--into", str(path), "--sampling", "greedy"])
    assert done.exit_code == 0, done.output
    assert runner.invoke(app, ["accept", str(board), str(path)]).exit_code == 0
    assert runner.invoke(app, ["accept", str(board), str(path)]).exit_code == 2
    assert runner.invoke(app, ["accept", str(board), str(path), "--again"]).exit_code == 0
