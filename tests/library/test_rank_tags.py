"""Ratings by the values of a tag: each is the ranking of its queries, and what sets a value apart is tested."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import small_arena
from commands import mirage

from mirage import schema, store
from mirage.battles.judge import Judge
from mirage.errors import NotEnoughData, UnknownName
from mirage.ranking.board import rank_arena
from mirage.ranking.settings import RankSettings
from mirage.ranking.tags import rank_by_tag
from mirage.stats.holm import holm

JUDGE = Judge.single("j")
QUICK = RankSettings(draws=200, seed=1)


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    return small_arena.tagged(tmp_path_factory.mktemp("tags") / "tagged")


def uneven(n: int = 60) -> tuple[pa.Table, pa.Table]:
    """Verdicts on three systems in two languages; `odd` wins more often on queries of the kind `b` than of `a`."""
    rng = np.random.default_rng(3)
    rows, tags = [], []
    for code in ("en", "fi"):
        for i in range(n):
            kind = "ab"[i % 2]
            tags.append(schema.Tag(code, f"q{i}", "kind", kind))
            for first, second in (("odd", "x"), ("odd", "y"), ("x", "y")):
                chance = {"a": 0.35, "b": 0.8}[kind] if first == "odd" else 0.5
                verdict = "A" if rng.random() < chance else "B"
                rows.append(schema.Judgment(code, f"q{i}", "j", first, second, verdict, None, None, None))
    return schema.from_rows("judgments", rows), schema.from_rows("tags", tags)


def test_each_value_is_ranked_as_if_there_were_no_other_queries(arena: store.Arena) -> None:
    split = rank_by_tag(arena.read("outcomes"), arena.read("tags"), "domain", Judge.relevance(), QUICK)
    assert list(split.rankings) == ["finance", "law"]
    for value, ranking in split.rankings.items():
        part = store.select_tagged(arena, [("domain", value)])
        assert ranking.table() == rank_arena(part, Judge.relevance(), QUICK).ranking.table()


def test_a_system_that_is_better_on_some_queries_is_told_with_its_numbers() -> None:
    judgments, tags = uneven()
    split = rank_by_tag(judgments, tags, "kind", JUDGE, QUICK)
    surest = split.significant()[0]
    assert surest.system == "odd"
    assert (surest.n_queries, surest.n_elsewhere) == (60, 60)
    sign = 1 if surest.value == "b" else -1
    assert sign * surest.estimate > 0
    assert surest.low is not None
    assert surest.high is not None
    assert surest.low < surest.estimate < surest.high
    within, elsewhere = (split.rankings[value] for value in (surest.value, "ab".replace(surest.value, "")))
    theta = [
        np.mean([r.languages[c].theta[r.languages[c].systems.index("odd")] for c in ("en", "fi")])
        for r in (within, elsewhere)
    ]
    assert surest.estimate == pytest.approx(theta[0] - theta[1])


def test_holms_correction_goes_over_all_tests_and_complements_are_tested_once() -> None:
    judgments, tags = uneven()
    split = rank_by_tag(judgments, tags, "kind", JUDGE, QUICK)
    tested = [effect for effect in split.effects if effect.p is not None]
    assert len({effect.value for effect in tested}) == 1
    assert [effect.p_holm for effect in tested] == holm([effect.p for effect in tested if effect.p is not None])
    third = tags.to_pylist()[::3]
    more = pa.concat_tables([tags, schema.from_rows("tags", [schema.Tag(**row | {"value": "c"}) for row in third])])
    values = {effect.value for effect in rank_by_tag(judgments, more, "kind", JUDGE, QUICK).effects}
    assert values == {"a", "b", "c"}


def test_a_random_tag_rarely_makes_a_finding() -> None:
    """The chance of any false finding is 5% at most, up to the error of so few trials."""
    judgments, tags = uneven(30)
    rng = np.random.default_rng(0)
    false = 0
    for _ in range(40):
        values = rng.choice(["a", "b"], size=len(tags)).tolist()
        shuffled = tags.set_column(tags.column_names.index("value"), tags.schema.field("value"), pa.array(values))
        false += bool(rank_by_tag(judgments, shuffled, "kind", JUDGE, RankSettings(draws=100)).significant())
    assert false <= 6


def test_what_cannot_be_ranked_or_compared_says_why(arena: store.Arena) -> None:
    judgments, tags = uneven(20)
    everywhere = tags.set_column(3, tags.schema.field("value"), pa.array(["all"] * len(tags)))
    split = rank_by_tag(judgments, everywhere, "kind", JUDGE, QUICK)
    assert not split.effects
    assert list(split.rankings) == ["all"]
    strays = schema.from_rows("tags", [schema.Tag("en", "elsewhere", "kind", "a")])
    with pytest.raises(NotEnoughData):
        rank_by_tag(judgments, strays, "kind", JUDGE, QUICK)
    with pytest.raises(UnknownName):
        rank_by_tag(judgments, tags, "kinds", JUDGE, QUICK)


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
