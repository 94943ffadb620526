"""Ratings on the queries with a tag."""

from __future__ import annotations

from pathlib import Path

import pytest
import small_arena
from commands import mirage

from mirage import store


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    return small_arena.tagged(tmp_path_factory.mktemp("tags") / "tagged")


def test_the_command_ranks_on_a_tag(arena: store.Arena, tmp_path: Path) -> None:
    part = store.select_tagged(arena, [("domain", "law")])
    alone = store.write(tmp_path / "alone", {name: part.read(name) for name in part.tables}, made_by="test")
    options = ("--judge", "judge-x", "--draws", "50", "--format", "csv")
    narrowed = mirage("rank", arena.path, *options, "--tag", "domain=law")
    assert narrowed.stdout == mirage("rank", alone.path, *options).stdout
    assert f"{store.count_queries(part)} of {store.count_queries(arena)} queries" in narrowed.stderr


@pytest.mark.parametrize("wrong", [("--tag", "domain"), ("--tag", "domain=tax"), ("--tag", "domain=law", "--store")])
def test_the_command_refuses_what_it_cannot_do(arena: store.Arena, wrong: tuple[str, ...]) -> None:
    done = mirage("rank", arena.path, "--judge", "judge-x", *wrong, code=2)
    assert "to do:" in done.stderr
