"""Files of release 0.1.0 still work: an arena and votes as it wrote them, and the figures that it printed for them."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest
from commands import CliRunner
from conftest import ROOT

from mirage import store
from mirage.cli import app
from mirage.people.votes import Vote, Votes, votes_on

RELEASE = ROOT / "tests" / "golden" / "release-0.1.0"
"""Two languages of the sample, 24 votes on them, and `rank` and `rates` as printed by that release."""


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    return shutil.copytree(RELEASE / "arena", tmp_path / "arena")


def invoke(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result.stdout


def rows(text: str) -> dict[tuple[str, ...], dict[str, str]]:
    """Return the rows of a CSV by language, subset and system."""
    keys = ("language", "subset", "system")
    return {tuple(row.get(key, "") for key in keys): row for row in csv.DictReader(io.StringIO(text))}


def test_its_arena_opens_and_is_sound(arena: Path) -> None:
    opened = store.open_arena(arena)
    assert {name: opened.rows(name) for name in ("answers", "judgments", "ratings")} == {
        "answers": 320,
        "judgments": 4_800,
        "ratings": 128,
    }
    invoke("check", arena)


@pytest.mark.parametrize(
    ("name", "command"),
    [("rank", ("--judge", "heuristic")), ("rank", ("--referee", "heuristic")), ("rates", ())],
    ids=" ".join,
)
def test_its_figures_are_printed_again(arena: Path, name: str, command: tuple[str, ...]) -> None:
    """Counts and rates of each language stay. Interval methods changed since: docs/what-changed.md."""
    before = rows((RELEASE / f"{name}.csv").read_text(encoding="utf-8"))
    after = rows(invoke(name, arena, *command, "--format", "csv"))
    exact = {"rank": ("wins", "ties", "losses", "battles"), "rates": ("n", "answered", "abstained", "rate")}[name]
    keys = [key for key in before if key[0] in ("de", "sw")]
    assert keys
    for key in keys:
        assert [after[key][column] for column in exact] == [before[key][column] for column in exact], key


def test_its_votes_are_read_and_count(arena: Path, tmp_path: Path) -> None:
    old = Votes(f"sqlite:///{shutil.copy(RELEASE / 'votes.sqlite', tmp_path)}")
    try:
        log = old.rows(Vote)
    finally:
        old.close()
    assert len(log) == 24
    assert len(votes_on(store.open_arena(arena), log).counting) == 24


def test_its_exported_votes_are_imported(arena: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_VOTES_URL", f"sqlite:///{tmp_path / 'new.sqlite'}")
    invoke("votes", "import", RELEASE / "votes.csv")
    table = rows(invoke("votes", "agreement", arena, "--format", "csv"))
    assert table, "people are compared with the judges"
