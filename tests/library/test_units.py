"""Queries that several languages share are one unit wherever something is drawn, split or tested (pitfall 123)."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from arena_writer import write_arena

from mirage import schema
from mirage.ranking.board import leaderboard, rank_arena
from mirage.ranking.compare.paired import LanguageDifferences, estimate_difference
from mirage.ranking.judges import Judge
from mirage.ranking.settings import RankSettings
from mirage.stages.features.means import means, over_languages
from mirage.stages.outcomes import rates
from mirage.stats import intervals
from mirage.stats.units import Units, joint_spread, shared_ids, sharing_factor, spread
from mirage.store import arena as arenas
from mirage.store.arena import open_arena
from mirage.text.languages import LANGUAGES as ALL_LANGUAGES

LANGUAGES = ("ar", "en", "sw")


def of_languages(values: Any, *, shared: bool) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """The same values in each language, and ids that are the same too, or not."""
    ids = {code: tuple(f"{'' if shared else code}{k}" for k in range(len(values))) for code in LANGUAGES}
    return dict.fromkeys(LANGUAGES, values), ids


def test_units_are_numbered_once_for_all_languages() -> None:
    units = Units({"ar": ("a", "b"), "en": ("b", "c"), "sw": ("d",)})
    assert units.shared == {"b"} == shared_ids(units.queries)
    assert units.n == 4
    assert units.numbers["ar"][1] == units.numbers["en"][0]
    assert sorted({*units.numbers["ar"], *units.numbers["en"], *units.numbers["sw"]}) == [0, 1, 2, 3]
    assert (units.unit, Units({"ar": ("a",), "en": ("b",)}).unit) == ("query shared by languages", "query")


def test_the_spread_of_sums_of_shared_queries_is_that_of_their_sums() -> None:
    rng = np.random.default_rng(1)
    moves = {code: rng.normal(size=(20, 3)) for code in LANGUAGES}
    strata = [np.arange(8), np.arange(8, 20)]
    _, ids = of_languages(range(20), shared=True)
    variance, below = joint_spread(moves, dict.fromkeys(LANGUAGES, strata), Units(ids))
    expected = spread(np.sum([*moves.values()], axis=0), strata)
    np.testing.assert_allclose(variance, expected[0])
    np.testing.assert_allclose(below, expected[1])
    _, own = of_languages(range(20), shared=False)
    apart = joint_spread(moves, dict.fromkeys(LANGUAGES, strata), Units(own))
    np.testing.assert_allclose(apart[0], np.sum([spread(m, strata)[0] for m in moves.values()], axis=0))


def test_a_mean_of_shares_of_translations_is_known_as_well_as_one_of_them() -> None:
    wrong = np.r_[np.ones(6), np.zeros(14)]
    values, ids = of_languages(wrong, shared=True)
    assert sharing_factor(values, ids) == pytest.approx(3)
    assert sharing_factor(*of_languages(wrong, shared=False)) == 1
    # Where nothing varies, what is shared counts once.
    assert sharing_factor(*of_languages(np.zeros(20), shared=True)) == pytest.approx(3)
    cells = [(6, 20)] * 3
    low, high = intervals.mean_interval(cells, factor=3.0)[1:]
    assert (low, high) == pytest.approx(intervals.wilson(6, 20), abs=0.01)


def answers(*, shared: bool) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for code in LANGUAGES:
        for k in range(30):
            outcome = "answered" if k % 3 else "abstained"
            rows.append(
                {
                    "language": code,
                    "query_id": f"q{k}" if shared else f"{code}-{k}",
                    "subset": "non_relevant",
                    "system": "s",
                    "outcome": outcome,
                    "rule": "rule",
                    "span": None,
                    "parser": "strict",
                    "correct": outcome == "abstained",
                }
            )
    names = {column.name for column in schema.columns("outcomes")}
    data = {name: [row.get(name) for row in rows] for name in names}
    return schema.from_columns("outcomes", data)


def test_the_joint_rate_of_translations_is_as_wide_as_one_language() -> None:
    together, apart = (
        {row["language"]: row for row in rates.rates(answers(shared=shared)).to_pylist()} for shared in (True, False)
    )
    width = {code: row["rate_high"] - row["rate_low"] for code, row in together.items()}
    assert width["all"] == pytest.approx(width["ar"], rel=0.02)
    assert apart["all"]["rate_high"] - apart["all"]["rate_low"] < 0.65 * width["ar"]
    assert together["all"]["rate"] == apart["all"]["rate"]


@pytest.mark.parametrize("partly", [False, True])
def test_a_comparison_by_values_of_translations_is_that_of_one_language(partly: bool) -> None:
    rng = np.random.default_rng(3)
    values = rng.choice([-1.0, 0.0, 1.0], 60, p=[0.1, 0.5, 0.4])
    languages = {}
    for code in LANGUAGES:
        ids = tuple(f"{k}" for k in range(59)) + ((f"{code}-59",) if partly else ("59",))
        languages[code] = LanguageDifferences(ids, values, np.zeros(60, dtype=np.intp))
    estimate = estimate_difference({"ar": languages["ar"]}, reach=1.0)
    joint = estimate_difference(languages, reach=1.0)
    assert joint.value == pytest.approx(estimate.value)
    assert joint.low == pytest.approx(estimate.low, abs=0.01)
    assert joint.high == pytest.approx(estimate.high, abs=0.01)
    assert joint.n_queries == (62 if partly else 60)
    assert joint.differing <= estimate.differing + 2 * partly


def test_a_language_without_a_spread_is_left_out_of_a_comparison_by_name() -> None:
    rng = np.random.default_rng(3)
    languages = {}
    for code, n in (("ar", 20), ("en", 20), ("te", 1)):
        values, strata = rng.normal(size=n), np.zeros(n, dtype=np.intp)
        languages[code] = LanguageDifferences(tuple(f"{code}{k}" for k in range(n)), values, strata)
    joint = estimate_difference(languages, reach=None)
    assert joint.value == pytest.approx((languages["ar"].values.mean() + languages["en"].values.mean()) / 2)
    assert "te" in joint.reason
    assert "ar" not in joint.reason


@pytest.mark.parametrize("feature", ["length", "citation_Recall@10"])
@pytest.mark.parametrize("shared", [1.0, 0.5])
def test_a_mean_of_a_feature_over_translations_is_held_by_its_interval(feature: str, shared: float) -> None:
    """18 languages of 30 queries, whose values go together; half or all of the ids stand in every language."""
    rng, languages, n, runs = np.random.default_rng(5), 18, 30, 200
    own = int(n * (1 - shared))
    ids = [[f"{code}/{k}" if k < own else str(k) for k in range(n)] for code in range(languages)]
    columns = {
        "language": np.repeat([*ALL_LANGUAGES][:languages], n).tolist(),
        "query_id": [query for of_language in ids for query in of_language],
    }
    held = 0
    for _ in range(runs):
        common = np.tile(rng.normal(size=n), (languages, 1))
        common[:, :own] = rng.normal(size=(languages, own))
        value = 50 + 3 * common + rng.normal(size=(languages, n))
        truth = 50.0
        if feature != "length":
            value, truth = (value > 50).astype(float), 0.5
        table = schema.from_columns(
            "features",
            columns
            | {"system": ["s"] * value.size, "feature": [feature] * value.size, "value": value.ravel().tolist()}
            | {"reason": [None] * value.size},
        )
        (joint,) = over_languages(means(table), table)
        assert joint.unit == "query shared by languages"
        held += joint.low <= truth <= joint.high
    assert held / runs > 0.95 - 3 * (0.95 * 0.05 / runs) ** 0.5


def test_a_mean_over_the_same_values_in_every_language_is_that_of_one_language() -> None:
    rng = np.random.default_rng(7)
    value = (50 + rng.normal(size=12)).tolist()
    rows = [schema.Feature(code, f"{k}", "s", "length", x, None) for code in LANGUAGES for k, x in enumerate(value)]
    table = schema.from_rows("features", rows)
    alone, joint = means(table)[0], over_languages(means(table), table)[0]
    assert (joint.mean, joint.low, joint.high) == pytest.approx((alone.mean, alone.low, alone.high))


@pytest.mark.parametrize(
    ("judge", "settings"),
    [
        ("relevance", RankSettings()),
        ("m", RankSettings()),
        ("m", RankSettings(consistent=True)),
        ("nuggets", RankSettings(control=("length",))),
    ],
)
def test_a_language_is_ranked_alike_whatever_else_is_chosen_definition_26(
    judge: str, settings: RankSettings, tmp_path: Path
) -> None:
    """The arena's languages share their query ids; a model `m` decides where the heuristic could not."""
    path = shutil.copytree(arenas.bundled_arenas()["sample-across"], tmp_path / "arena")
    rows = open_arena(path).read("judgments")
    drawn = np.random.default_rng(0).choice(["A", "B", "tie"], len(rows))
    columns = rows.to_pydict() | {"judge": ["m"] * len(rows), "verdict": drawn.tolist(), "reason": [None] * len(rows)}
    arena = write_arena(path, {"judgments": schema.from_columns("judgments", columns)})
    settings = replace(settings, draws=100)
    whole = rank_arena(arena, Judge.from_name(judge), settings).ranking
    assert whole.unit == "query shared by languages"
    codes = [code for code in whole.languages if code != "all"]
    for chosen in (tuple(codes[:1]), tuple(codes[1:3])):
        part = rank_arena(arena, Judge.from_name(judge), replace(settings, languages=chosen)).ranking
        assert [code for code in part.languages if code != "all"] == [*chosen]
        for code in chosen:
            assert leaderboard(part, code).equals(leaderboard(whole, code))
            np.testing.assert_array_equal(part.tests[code].adjusted, whole.tests[code].adjusted)
    joint = part.languages["all"]
    np.testing.assert_allclose(
        joint.theta, np.mean([whole.languages[code].theta for code in chosen], axis=0), atol=1e-9
    )
