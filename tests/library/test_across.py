"""Cross-lingual measures: planted preferences, fair retrievers, and consistency over parallel queries."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from commands import CliRunner
from cross_lingual import FAIR, LANGUAGES, LOYAL, OPEN, write_across

import mirage
from mirage import schema, store
from mirage.cli import app
from mirage.errors import NotEnoughData
from mirage.stages.across import summary
from mirage.stages.across.agreement import Label, agreements
from mirage.stages.across.detection import detect_passage_languages
from mirage.stages.across.estimate import unit_mean
from mirage.stages.across.preference import OWN, ShareOfQuery, preferences


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    """Write twelve queries in three languages each."""
    return write_across(tmp_path_factory.mktemp("across") / "arena")


@pytest.fixture(scope="module")
def incomplete(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    """Write twelve queries of which each lacks one of three languages."""
    return write_across(tmp_path_factory.mktemp("across") / "arena", complete=False)


def draw_shares(
    rng: np.random.Generator, *, n: int, depth: int, strength: float, complete: bool
) -> Iterator[ShareOfQuery]:
    """Draw parallel queries whose languages share the relevant passages, and a retriever that takes the first passage
    of each place in the query's language with a planted probability, otherwise as the relevant ones are distributed.
    """
    for unit in range(n):
        relevant = rng.multinomial(3, rng.dirichlet(np.full(3, 2.0))) / 3
        for place, code in enumerate(LANGUAGES):
            if not complete and unit % 3 == place:
                continue
            chances = (1 - strength) * relevant
            chances[place] += strength
            shares = rng.multinomial(depth, chances) / depth
            for other, share, expected in zip(LANGUAGES, shares, relevant, strict=True):
                yield ShareOfQuery("r", code, f"q{unit}", other, float(share), float(expected))


@pytest.mark.parametrize("complete", [True, False])
def test_planted_preferences_lie_within_their_intervals(complete: bool) -> None:
    rng, strength, covered = np.random.default_rng(1), 0.3, []
    for _ in range(60):
        rows = preferences(draw_shares(rng, n=25, depth=5, strength=strength, complete=complete))
        (own,) = (row for row in rows if row.passage_language == OWN)
        # Of each language a third is relevant on average.
        covered.append(own.low is not None and own.high is not None and own.low <= strength * 2 / 3 <= own.high)
        assert own.significant
    assert 0.88 <= np.mean(covered) <= 1


@pytest.mark.parametrize("complete", [True, False])
def test_no_preference_is_claimed_for_a_fair_retriever(complete: bool) -> None:
    rng = np.random.default_rng(2)
    claims = [
        any(
            row.significant
            for row in preferences(draw_shares(rng, n=25, depth=5, strength=0, complete=complete))
            if row.passage_language == OWN
        )
        for _ in range(60)
    ]
    # 5% and three standard errors.
    assert np.mean(claims) <= 0.12


def test_parallel_queries_are_one_unit() -> None:
    values = dict(zip("abcdefgh", np.linspace(-0.5, 0.8, 8).tolist(), strict=True))
    copies = unit_mean(dict.fromkeys(LANGUAGES, values), low=-1, high=1)
    alone = unit_mean({"en": values}, low=-1, high=1)
    assert (copies.units, copies.n, alone.units) == (8, 24, 8)
    assert copies.low == pytest.approx(alone.low)
    apart = {code: {f"{code}-{name}": value for name, value in values.items()} for code in LANGUAGES}
    own_ids = unit_mean(apart, low=-1, high=1)
    assert own_ids.units == 24
    assert own_ids.high is not None
    assert alone.high is not None
    assert own_ids.high < alone.high


def test_equal_values_have_an_interval_within_the_range() -> None:
    always = unit_mean({"en": dict.fromkeys("abcdefghijkl", 2 / 3)}, low=-1, high=1)
    assert always.low is not None
    assert always.high is not None
    assert 0 < always.low < 2 / 3 < always.high < 1
    assert unit_mean({"en": {"a": 1.0}}, low=-1, high=1).low is None


def test_a_retriever_of_own_passages_is_told_from_a_fair_one(arena: store.Arena) -> None:
    rows = {(row.name, row.query_language, row.passage_language): row for row in summary.retriever_preference(arena)}
    own, fair = rows["own", "all", OWN], rows[FAIR, "all", OWN]
    assert own.significant
    assert own.preference > 0.3
    assert fair.preference == pytest.approx(0)
    assert not fair.significant
    assert rows["own", "ar", "ar"].significant, "from right to left"
    assert (own.n, own.units) == (36, 12)


def test_recall_is_measured_by_pair_of_languages(arena: store.Arena) -> None:
    rows = {
        (row["retriever"], row["query_language"], row["passage_language"]): row
        for row in mirage.retrieval_measures(arena, measures=["R@10"], by="language-pair")
    }
    assert rows[FAIR, "de", "ar"]["mean"] == 1
    assert rows["own", "ar", "ar"]["mean"] == 0.5
    assert rows["own", "en", "de"]["mean"] == 0
    assert rows["own", "all", "en"]["n"] == 36


def test_a_system_that_cites_whatever_is_relevant_has_no_preference(arena: store.Arena) -> None:
    rows = summary.system_preference(arena)
    assert not any(row.significant for row in rows if row.name.startswith(OPEN))
    assert LOYAL not in {row.name for row in rows}, "it was never shown a choice"


def test_a_system_that_cites_its_query_language_has_one(tmp_path: Path) -> None:
    arena = write_across(tmp_path / "arena")
    rows = []
    for row in arena.read("answers").to_pylist():
        own = f"r{int(row['query_id'][1:])}-{row['language']}"
        if row["system"].endswith(f"({FAIR})"):
            row["text"] = f"It is so [{own}]."
        rows.append(row)
    answers = schema.from_columns("answers", {name: [row[name] for row in rows] for name in rows[0]})
    store.upsert(arena.path, {"answers": store.by_key("answers", answers)}, made_by="a test")
    own = [row for row in summary.system_preference(store.open_arena(arena.path)) if row.passage_language == OWN]
    (row,) = (row for row in own if row.name.endswith(f"({FAIR})"))
    assert row.significant
    assert row.preference == pytest.approx(2 / 3)


def test_answers_are_counted_by_their_language(arena: store.Arena) -> None:
    rows = mirage.answer_languages(arena)
    assert {(row["query_language"], row["answer_language"]) for row in rows} == {(code, code) for code in LANGUAGES}


def test_consistency_is_beside_what_independence_would_give(arena: store.Arena) -> None:
    rows = {(row["name"], row["measure"], row["first"]): row for row in mirage.language_consistency(arena)}
    loyal = rows[LOYAL, "decision", "all"]
    assert (loyal["agreement"], loyal["independent"]) == (1, 0.5)
    assert (loyal["n"], loyal["units"]) == (36, 12)
    assert rows[LOYAL, "vital nuggets", "all"]["agreement"] == 1


def test_queries_in_two_of_three_languages_compare_one_pair(incomplete: store.Arena) -> None:
    rows = [row for row in mirage.language_consistency(incomplete) if row["name"] == LOYAL]
    (every,) = (row for row in rows if row["first"] == "all" and row["measure"] == "decision")
    assert (every["n"], every["units"]) == (12, 12)
    pairs = {(row["first"], row["second"]): row["n"] for row in rows if row["measure"] == "decision"}
    assert pairs == {("all", "all"): 12} | dict.fromkeys(itertools.combinations(LANGUAGES, 2), 4)


def test_a_judge_is_compared_on_the_same_pair_of_systems(tmp_path: Path) -> None:
    arena = write_across(tmp_path / "arena", queries=4)
    # In German it always prefers the other system.
    rows = [
        schema.Judgment(code, f"q0{number}", "j", "a", "b", "B" if code == "de" else "A", None, None, None)
        for code in LANGUAGES
        for number in range(4)
    ]
    judgments = schema.sort("judgments", schema.from_rows("judgments", rows))
    store.upsert(arena.path, {"judgments": store.by_key("judgments", judgments)}, made_by="a test")
    found = mirage.language_consistency(store.open_arena(arena.path), of="judges")
    assert {(row["first"], row["second"]): row["agreement"] for row in found} == {
        ("all", "all"): pytest.approx(1 / 3),
        ("ar", "de"): 0,
        ("ar", "en"): 1,
        ("de", "en"): 0,
    }


def test_independent_labels_agree_as_often_as_expected() -> None:
    rng = np.random.default_rng(3)
    labels = [
        Label("s", code, f"q{number}", "", "answered" if rng.random() < share else "abstained")
        for code, share in (("de", 0.8), ("en", 0.3))
        for number in range(400)
    ]
    every = agreements(labels, "decision")[0]
    assert every.independent == pytest.approx(0.8 * 0.3 + 0.2 * 0.7, abs=0.05)
    assert every.low is not None
    assert every.high is not None
    assert every.low < every.independent < every.high


def test_passages_without_a_language_are_left_out_until_detected(tmp_path: Path) -> None:
    arena = write_across(tmp_path / "arena", queries=6)
    passages = arena.read("passages")
    place = passages.column_names.index("passage_language")
    unknown = passages.set_column(place, "passage_language", [[None] * len(passages)])
    unknown = schema.from_columns("passages", {name: unknown[name] for name in unknown.column_names})
    store.upsert(arena.path, {"passages": store.by_key("passages", unknown)}, made_by="a test")
    bare = store.open_arena(arena.path)
    assert not summary.is_cross_lingual(bare)
    assert summary.retriever_preference(bare) == []
    with pytest.raises(NotEnoughData):
        summary.recall_by_pair(bare)
    assert CliRunner().invoke(app, ["report", "languages", str(arena.path)]).exit_code == 2
    result = detect_passage_languages(arena.path, made_by="a test")
    assert result.detected == len(passages)
    assert result.unknown == len(bare.read("retrieved"))
    assert result.arena.read("passages")["passage_language"].equals(passages["passage_language"])
    assert summary.is_cross_lingual(result.arena)
    assert {"outcomes", "answers", "nuggets"} <= set(result.arena.tables)


def test_an_arena_of_one_language_of_passages_is_not_cross_lingual(tmp_path: Path) -> None:
    queries = schema.from_rows("queries", [schema.Query("en", "q", None, "Why?", None)])
    row = schema.Passage("en", "q", "p", 1, None, "Because.", True, passage_language="en")
    tables = {"queries": queries, "passages": schema.from_rows("passages", [row])}
    assert not summary.is_cross_lingual(store.write(tmp_path / "arena", tables, made_by="a test"))


@pytest.mark.parametrize("of", ["retrievers", "systems", "answers", "consistency"])
def test_the_command_prints_what_the_api_returns(arena: store.Arena, of: str) -> None:
    run = CliRunner().invoke(app, ["report", "languages", str(arena.path), "--of", of, "--format", "json"])
    assert run.exit_code == 0, run.output
    assert '"units"' in run.output or of == "answers"


def test_the_command_by_language_pair_names_both_languages(arena: store.Arena) -> None:
    run = CliRunner().invoke(app, ["report", "retrieval", str(arena.path), "--by", "language-pair", "--format", "csv"])
    assert run.exit_code == 0, run.output
    assert run.stdout.splitlines()[0].startswith("query_language,passage_language,retriever")
