"""Ratings on the queries with a tag."""

from __future__ import annotations

from pathlib import Path

import pytest
import small_arena
from commands import mirage

from mirage.store import writing
from mirage.store.arena import Arena
from mirage.store.tags import count_queries, select_tagged


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return small_arena.tagged(tmp_path_factory.mktemp("tags") / "tagged")


def test_the_command_ranks_on_a_tag(arena: Arena, tmp_path: Path) -> None:
    part = select_tagged(arena, [("domain", "law")])
    alone = writing.write(tmp_path / "alone", {name: part.read(name) for name in part.tables}, made_by="test")
    options = ("--judge", "judge-x", "--draws", "50", "--format", "csv")
    narrowed = mirage("rank", arena.path, *options, "--tag", "domain=law")
    assert narrowed.stdout == mirage("rank", alone.path, *options).stdout
    assert f"{count_queries(part)} of {count_queries(arena)} queries" in narrowed.stderr


@pytest.mark.parametrize("wrong", [("--tag", "domain"), ("--tag", "domain=tax"), ("--tag", "domain=law", "--store")])
def test_the_command_refuses_what_it_cannot_do(arena: Arena, wrong: tuple[str, ...]) -> None:
    done = mirage("rank", arena.path, "--judge", "judge-x", *wrong, code=2)
    assert "to do:" in done.stderr
