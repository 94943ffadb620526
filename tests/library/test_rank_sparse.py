"""Ratings without a table of all pairs: those of the table where it fits, and what is left out where it does not."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_streamed_cases import COLUMNS, openers, verdicts
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from mirage.battles.blocks import BlockedBattles, count_blocks
from mirage.errors import BadInput, NotEnoughData
from mirage.ranking import sparse
from mirage.ranking.by_query import scores_of
from mirage.ranking.fit import RIDGE, Likelihood, PairCounts, fit, maximise
from mirage.ranking.graph import components, groups, unbounded_sides
from mirage.ranking.jeffreys import bias_reduced
from mirage.ranking.ranking import remarks
from mirage.ranking.sparse import SparseLikelihood, count_met
from mirage.ranking.streamed import rate_blocks


def test_the_scores_of_queries_with_one_battle_are_those_of_the_whole_table() -> None:
    """Their cells are picked out, which changes nothing but the last digit."""
    rng = np.random.default_rng(0)
    n, systems = 200, 12
    shape = n, systems * (systems - 1) // 2
    first, second = np.zeros(shape), np.zeros(shape)
    cell = np.arange(n), rng.integers(shape[1], size=n)
    first[cell] = rng.choice([0, 0.5, 1], n)
    second[cell] = 1 - first[cell]
    counts, point = PairCounts(first, second, None, systems), rng.normal(size=(1, systems))
    whole = Likelihood(counts, 0.0).gradient(np.repeat(point, n, axis=0))
    assert scores_of(counts, point) == pytest.approx(whole, abs=1e-12)


def few_meet(systems: int, opponents: int, battles: int, *, seed: int) -> PairCounts:
    """Points of systems that meet a few others; the pairs are named."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 1, systems)
    own = np.repeat(np.arange(systems), opponents)
    other = (own + rng.integers(1, systems, len(own))) % systems
    ring = np.arange(systems)
    i, j = np.concatenate([own, ring]), np.concatenate([other, (ring + 1) % systems])
    i, j = np.minimum(i, j), np.maximum(i, j)
    met = np.unique(i * (2 * systems - i - 1) // 2 + j - i - 1)
    counts = PairCounts(np.zeros((1, len(met))), np.zeros((1, len(met))), None, systems, met)
    a, b = counts.ends
    first = rng.binomial(battles, 1 / (1 + np.exp(strength[b] - strength[a]))).astype(float)
    return PairCounts(first[None], battles - first[None], None, systems, met)


def whole(counts: PairCounts) -> PairCounts:
    """The same with every pair."""
    assert counts.met is not None
    table = np.zeros((2, 1, counts.systems * (counts.systems - 1) // 2))
    table[0][:, counts.met], table[1][:, counts.met] = counts.first, counts.second
    return PairCounts(table[0], table[1], None, counts.systems)


def ladder(systems: int) -> PairCounts:
    """Each system meets the next alone: what conjugate gradients are slowest at."""
    place = np.arange(systems - 1)
    met = place * (2 * systems - place - 1) // 2
    taken = np.random.default_rng(0).integers(3, 8, (1, systems - 1)).astype(float)
    return PairCounts(taken, 10 - taken, None, systems, met)


@given(st.integers(3, 90), st.integers(1, 8), st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_estimates_without_the_table_of_pairs_are_those_with_it(systems: int, opponents: int, seed: int) -> None:
    counts = few_meet(systems, opponents, 6, seed=seed)
    for dispersion in (1.0, 3.0):
        expected, prior = bias_reduced(Likelihood(whole(counts), RIDGE), dispersion=dispersion)
        point, sparse_prior = bias_reduced(SparseLikelihood(counts, RIDGE), dispersion=dispersion)
        np.testing.assert_allclose(point, expected, atol=1e-9)
        np.testing.assert_allclose(sparse_prior.added, prior.added[counts.met], atol=1e-9)
    assert groups(tuple(map(str, range(systems))), counts) == groups(tuple(map(str, range(systems))), whole(counts))


@pytest.mark.parametrize("counts", [few_meet(300, 6, 40, seed=1), ladder(1_200)], ids=["few meet", "ladder"])
def test_the_maximum_of_the_likelihood_is_the_same(counts: PairCounts) -> None:
    model = SparseLikelihood(counts, RIDGE)
    point = maximise([model], np.zeros((1, model.size))).point
    np.testing.assert_allclose(point - point.mean(), fit(whole(counts)).theta, atol=1e-9)


def test_leverages_from_probes_move_a_rating_by_a_twentieth_of_its_error_at_most() -> None:
    counts = few_meet(300, 15, 10, seed=2)
    exact, _ = bias_reduced(Likelihood(whole(counts), RIDGE))
    point, prior = bias_reduced(SparseLikelihood(counts, RIDGE))
    error = np.sqrt(np.diag(np.linalg.inv(Likelihood(whole(counts), RIDGE).slopes(exact)[1][0])))
    assert (np.abs(point - exact)[0] < error / 20).all()
    assert 2 * prior.added.sum() == pytest.approx(299, rel=0.02)


@given(st.integers(2, 7), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_what_bounds_a_rating_is_who_took_points_from_whom(systems: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = tuple("abcdefg"[:systems])
    table = rng.integers(0, 2, (2, 1, systems * (systems - 1) // 2)) * rng.integers(0, 2, (2, 1, 1))
    counts = PairCounts(table[0].astype(float), table[1].astype(float), None, systems)
    reach = np.eye(systems, dtype=bool)
    for (a, b), up, down in zip(combinations(range(systems), 2), *table[:, 0], strict=True):
        reach[a, b] |= up > 0
        reach[b, a] |= down > 0
    for k in range(systems):
        reach |= reach[:, k : k + 1] & reach[k : k + 1]
    parts = groups(names, counts)
    sizes = [len(part) for part in parts]
    main = set(parts[0]) if len(parts) == 1 or (sizes[0] > 1 and sizes[0] > sizes[1]) else set()
    sides = unbounded_sides(names, parts, counts)
    assert set(sides) == set(names) - main
    for k, name in enumerate(names):
        if name in sides:
            rest = [names.index(other) for other in (main or set(names) - {name})]
            above, below = not reach[rest, k].all(), not reach[k, rest].all()
            assert sides[name] == {(True, False): "above", (False, True): "below", (True, True): "both"}[above, below]


def counted(table: pa.Table) -> AbstractContextManager[BlockedBattles]:
    return count_blocks(table.select(COLUMNS).to_batches(max_chunksize=100))


@given(st.integers(2, 12), st.floats(0.05, 0.6), st.integers(0, 10_000))
def test_systems_that_took_points_from_each_other_are_one_component_as_in_scipy(
    systems: int, share: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    n = systems * (systems - 1) // 2
    won, lost = (np.where(rng.random((1, n)) < share, 1.0, 0.0) for _ in range(2))
    pairs = PairCounts(won, lost, None, systems)
    i, j = pairs.ends
    beat = np.zeros((systems, systems))
    beat[i, j], beat[j, i] = won[0], lost[0]
    expected, label = connected_components(csr_array(beat), directed=True, connection="strong")
    n_components, labels = components(pairs, 0)
    assert n_components == expected
    assert {frozenset(np.flatnonzero(label == k)) for k in set(label)} == {
        frozenset(np.flatnonzero(labels == k)) for k in set(labels)
    }


def test_blocks_count_the_pairs_that_met() -> None:
    table = verdicts(12, 30, 2, seed=3, soft=True)
    with counted(table) as battles:
        counts = count_met(battles)
        expected = np.zeros((2, 12 * 11 // 2))
        for block in battles.blocks():
            np.add.at(expected[0], block.pair, block.first)
            np.add.at(expected[1], block.pair, block.second)
    assert counts.met is not None
    assert (np.diff(counts.met) > 0).all()
    np.testing.assert_allclose([counts.first[0], counts.second[0]], expected[:, counts.met])
    assert expected.sum() == pytest.approx(counts.first.sum() + counts.second.sum())


def test_many_systems_are_ranked_as_few_are_but_for_tiers(monkeypatch: pytest.MonkeyPatch) -> None:
    table = verdicts(40, 600, 8, seed=4, languages=("en", "sw"))
    rank = partial(rate_blocks, openers(table), referee="j")
    dense = rank(intervals="sandwich")
    monkeypatch.setattr(sparse, "DENSE", 39)
    monkeypatch.setattr("mirage.ranking.ranking.DENSE", 39)
    ranking = rank()
    assert ranking.intervals == ("sandwich",)
    for code, row in dense.languages.items():
        other = ranking.languages[code]
        spread = row.draws.std(axis=0)
        assert (np.abs(other.theta - row.theta) < 0.02 * spread).all()
        assert (np.abs(other.draws.std(axis=0) / spread - 1) < 0.15).all()
        assert other.draws.mean(axis=0) == pytest.approx(other.theta, abs=0.2 * spread.max())
        np.testing.assert_array_equal(other.record, row.record)
        assert (other.groups, other.unbounded, other.n_queries) == (row.groups, row.unbounded, row.n_queries)
    assert ranking.table()["tier"].null_count == len(ranking.table())
    assert any("no tiers" in line for line in remarks(ranking))
    assert rank().table().equals(ranking.table())
    with pytest.raises(BadInput, match="too many"):
        rank(intervals="draws")
    unpenalised = [rank(penalty="none").languages["en"].theta]
    monkeypatch.setattr(sparse, "DENSE", 40)
    unpenalised.append(rank(penalty="none", draws=2).languages["en"].theta)
    np.testing.assert_allclose(*unpenalised, atol=1e-8)


def test_a_language_of_few_systems_keeps_its_tiers_beside_one_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "DENSE", 5)
    many, few = verdicts(6, 60, 6, seed=5, languages=("en",)), verdicts(4, 60, 6, seed=6, languages=("fi",))
    rows = rate_blocks(openers(pa.concat_tables([many, few])), referee="j", draws=50).table().to_pylist()
    ranked: dict[str, set[Any]] = {}
    for row in rows:
        ranked.setdefault(row["language"], set()).add(row["tier"] is None)
    assert ranked == {"en": {True}, "fi": {False}, "all": {True}}


def test_many_systems_without_a_point_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "DENSE", 1)
    ties = pa.table({"language": ["en"], "query_id": ["q"], "system_a": ["x"], "system_b": ["y"], "verdict": ["tie"]})
    opened = {"en": lambda: count_blocks(ties.to_batches(), drop_ties=True)}
    with pytest.raises(NotEnoughData):
        rate_blocks(opened, referee="j", ties="drop")
