"""Ratings by the values of a tag: each is the ranking of its queries."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
import small_arena
from commands import mirage

from mirage import schema, store
from mirage.battles.judge import Judge
from mirage.errors import NotEnoughData, UnknownName
from mirage.ranking.board import rank_arena
from mirage.ranking.settings import RankSettings
from mirage.ranking.tags import rank_by_tag

QUICK = RankSettings(draws=200, seed=1)


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    return small_arena.tagged(tmp_path_factory.mktemp("tags") / "tagged")


def test_each_value_is_ranked_as_if_there_were_no_other_queries(arena: store.Arena) -> None:
    split = rank_by_tag(arena.read("outcomes"), arena.read("tags"), "domain", Judge.relevance(), QUICK)
    assert list(split.rankings) == ["finance", "law"]
    for value, ranking in split.rankings.items():
        part = store.select_tagged(arena, [("domain", value)])
        assert ranking.table() == rank_arena(part, Judge.relevance(), QUICK).ranking.table()


def test_what_cannot_be_ranked_says_why(arena: store.Arena) -> None:
    outcomes, tags = arena.read("outcomes"), arena.read("tags")
    strays = schema.from_rows("tags", [schema.Tag("en", "elsewhere", "domain", "a")])
    with pytest.raises(NotEnoughData):
        rank_by_tag(outcomes, strays, "domain", Judge.relevance(), QUICK)
    with pytest.raises(UnknownName):
        rank_by_tag(outcomes, tags, "domains", Judge.relevance(), QUICK)


def test_the_command_ranks_on_a_tag_and_by_its_values(arena: store.Arena, tmp_path: Path) -> None:
    part = store.select_tagged(arena, [("domain", "law")])
    alone = store.write(tmp_path / "alone", {name: part.read(name) for name in part.tables}, made_by="test")
    options = ("--judge", "judge-x", "--draws", "50", "--format", "csv")
    narrowed = mirage("rank", arena.path, *options, "--tag", "domain=law")
    assert narrowed.stdout == mirage("rank", alone.path, *options).stdout
    assert f"{store.count_queries(part)} of {store.count_queries(arena)} queries" in narrowed.stderr
    split = list(csv.DictReader(io.StringIO(mirage("rank", arena.path, *options, "--by", "domain").stdout)))
    assert {"queries", "language", "system", "rating"} <= set(split[0])
    assert {row["value"] for row in split} == {"finance", "law"}


@pytest.mark.parametrize(
    "wrong",
    [
        ("--tag", "domain"),
        ("--tag", "domain=tax"),
        ("--tag", "domain=law", "--store"),
        ("--by", "topic"),
        ("--by", "domain", "--consistent"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(arena: store.Arena, wrong: tuple[str, ...]) -> None:
    done = mirage("rank", arena.path, "--judge", "judge-x", *wrong, code=2)
    assert "to do:" in done.stderr
