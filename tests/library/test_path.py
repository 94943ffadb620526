"""The path of battles to a ranking and to the Leaderboard, followed call by call: one way down."""

import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import ROOT

import mirage
from mirage.battles.counts import Battles
from mirage.battles.verdict_rows import Verdicts
from mirage.ranking.board import Board
from mirage.ranking.bootstrap import LanguageRanking, RankingReport
from mirage.ranking.by_query import ByQuery
from mirage.ranking.judges import verdicts_of
from mirage.ranking.pair_tests import BoardTests
from mirage.stages.features import table
from mirage.views.board import BoardChoice, BoardView, board_view

ROWS = (
    *(pd.DataFrame, pa.Table, Verdicts, Battles, ByQuery, LanguageRanking, RankingReport),
    *(BoardTests, Board, BoardView),
)
"""The rows, and what they become on the way. A call that is handed none of them is not on their path: errors, names,
settings, random numbers and the likelihood know no row. Nor is a call of a method of one of them: the rows stay there.
"""
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
ROOMS: list[str] = CONTRACTS[0]["layers"]
"""The rooms of the import contract, the highest first."""


class Entry(NamedTuple):
    """A call from one file into another that hands over rows."""

    caller: str
    file: str


def holds_rows(value: Any) -> bool:
    """Whether a value is rows, or a mapping or sequence of them."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return isinstance(value, ROWS) or (isinstance(value, list | tuple) and any(map(holds_rows, value)))


def file_of(frame: FrameType | None) -> str:
    """The file of the package that a frame is in, or in which the nearest frame above is; empty outside."""
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT / "mirage") and not is_method_of_rows(frame):
            return path.relative_to(ROOT / "mirage").as_posix()
        frame = frame.f_back
    return ""


def is_method_of_rows(frame: FrameType) -> bool:
    return isinstance(frame.f_locals.get("self"), ROWS)


def follow(function: Callable[[], object]) -> list[Entry]:
    """Run a function, and return the entries of files by rows, in order."""
    entries: list[Entry] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(f"{ROOT / 'mirage'}/") or is_method_of_rows(frame):
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        entry = Entry(file_of(frame.f_back), file_of(frame))
        if entry.caller != entry.file and any(holds_rows(frame.f_locals.get(name)) for name in names):
            entries.append(entry)

    sys.setprofile(watch)
    try:
        function()
    finally:
        sys.setprofile(None)
    return entries


def stays(entries: Sequence[Entry]) -> list[str]:
    """The files in which the rows stay, in order; entries that follow each other into one file are one stay."""
    files = [entry.file for entry in entries]
    return [file for before, file in zip(["", *files], files, strict=False) if file != before]


def climbs(entries: Sequence[Entry]) -> list[Entry]:
    """The calls from a room to a higher one."""
    floor = {room: height for height, room in enumerate(reversed(ROOMS))}

    def height(file: str) -> int:
        return floor[file.split("/")[0].removesuffix(".py")]

    return [entry for entry in entries if entry.caller and height(entry.caller) < height(entry.file)]


def frame_of_battles(languages: Sequence[str], *, shared: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = [
        {
            "language": language,
            "judge": "j",
            "query_id": f"q{k}" if shared else f"{language}{k}",
            "system_a": a,
            "system_b": b,
            "verdict": rng.choice(["A", "B", "tie"]),
        }
        for language in languages
        for k in range(20)
        for a, b in (("x", "y"), ("y", "z"), ("x", "z"))
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    "battles",
    [
        frame_of_battles(["en"]),
        frame_of_battles(["en", "sw"]),
        frame_of_battles(["en", "sw"], shared=True),
    ],
    ids=["one language", "two languages", "shared queries"],
)
def test_rows_go_one_way_down_to_a_ranking(battles: pd.DataFrame, tmp_path: Path) -> None:
    for source in (battles, mirage.import_file(battles, tmp_path / "arena")):
        mirage.rank(source, draws=10)  # imports come first
        verdicts_of.cache_clear()
        entries = follow(partial(mirage.rank, source, draws=11))
        passed = stays(entries)
        assert len(set(passed)) <= 9, passed
        assert climbs(entries) == []
        assert {"battles/verdict_rows.py", "ranking/bootstrap.py", "ranking/pair_tests.py"} <= set(passed)


def test_a_stored_verdict_never_climbs_on_its_way_to_the_leaderboard(tmp_path: Path) -> None:
    arena = mirage.import_file(frame_of_battles(["en"]), tmp_path / "arena")
    entries = follow(lambda: board_view(arena, BoardChoice(("j",))).shown_rows())
    passed = stays(entries)
    assert len(set(passed)) <= 10, passed
    assert climbs(entries) == []
    assert passed[:2] == ["battles/failures.py", "battles/verdict_rows.py"], "answers that failed are decided first"
    assert "ranking/board.py" in passed


def test_an_answer_passes_through_the_features_once() -> None:
    arena = mirage.open_arena("sample")
    languages = arena.languages("answers")[:1]
    queries, passages, answers = (arena.read(name, languages=languages) for name in ("queries", "passages", "answers"))
    entries = follow(partial(table.compute, queries, passages, answers.slice(0, 20)))
    within = [entry.file for entry in entries if entry.file.startswith("stages/features/")]
    entered = [file for file in stays(entries) if file.endswith(("/table.py", "/reader.py", "/measurements.py"))]
    assert entered == ["stages/features/table.py", "stages/features/reader.py"]
    assert within.count("stages/features/table.py") == 1
    assert climbs(entries) == []
