"""Adaptive judging beside random pairs and Swiss pairing at the same cost, against the full tournament.

Boards are drawn here and not by `benchmarks.simulated`: P(i beats j) = 1 / (1 + exp(theta_j + u_j - theta_i - u_i)),
with theta drawn for every language around a system's quality, u drawn anew on every query, and some battles tied. The
truth is what infinitely many queries come to, by quadrature. On the battles of Chatbot Arena, queries are resampled and
the truth is the estimate from all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row
from mirage import store
from mirage.battles.verdict_rows import verdicts
from mirage.ranking.adaptive import (
    AdaptiveSettings,
    Population,
    WeightedRatings,
    arrange,
    begin,
    estimate,
)
from mirage.ranking.fit import PairCounts, fit
from mirage.ranking.tiers import tier_runs
from mirage.stats.holm import holm

Array = NDArray[np.float64]
Places = NDArray[np.intp]

BOARDS = range(60)
ROUNDS, SHARE = 8, 0.2
"""Planned rounds, and the share of the battles of a full tournament that they judge."""
BY_QUERY, TIE = 0.6, 0.1
"""Spread of a system's deviation on a query in logits, and share of ties."""
SPREAD = tuple(np.round(1.2 * np.array([-1.94, -1.41, -1.12, -0.90, -0.71, -0.55, -0.41, -0.27, -0.13, 0.0]), 2))
"""Half of 19 qualities spaced as the quantiles of a normal distribution, in logits."""


@dataclass(frozen=True)
class Kind:
    """Boards of one kind."""

    what: str
    quality: tuple[float, ...]
    """Quality of each system over all languages, in logits."""
    by_language: float
    """Spread of a system's deviation in a language."""
    by_pair: float = 0.0
    """Spread of a pair's deviation from Bradley-Terry."""
    shared: bool = False
    """Whether the queries are translations of each other, with the same deviations in every language."""


KINDS = (
    Kind("qualities spread evenly", (*SPREAD, *(-q for q in SPREAD[-2::-1])), 0.35),
    Kind(
        "six groups of equal systems",
        (1.6,) * 3 + (0.95,) * 3 + (0.3,) * 3 + (-0.3,) * 3 + (-0.95,) * 3 + (-1.6,) * 4,
        0.0,
    ),
    Kind(
        "the same, translated queries",
        (1.6,) * 3 + (0.95,) * 3 + (0.3,) * 3 + (-0.3,) * 3 + (-0.95,) * 3 + (-1.6,) * 4,
        0.0,
        shared=True,
    ),
    Kind(
        "spread evenly, pairs off Bradley-Terry by 0.15", (*SPREAD, *(-q for q in SPREAD[-2::-1])), 0.35, by_pair=0.15
    ),
)


@dataclass(frozen=True, eq=False)
class Board:
    """All battles of a board with their results."""

    population: Population
    points: Array
    truth: Array | None
    """Ratings over all languages that infinitely many queries come to."""


def draw_board(kind: Kind, seed: int, *, languages: int = 18, queries: int = 100, other: bool = False) -> Board:
    """Draw a board of some kind; `other` draws other queries for the same systems."""
    rng = np.random.default_rng([20261126, seed])
    s = len(kind.quality)
    i, j = np.triu_indices(s, 1)
    codes = tuple(f"l{k:02}" for k in range(languages))
    ids = {code: tuple(f"{'' if kind.shared else code}q{k:04}" for k in range(queries)) for code in codes}
    theta = rng.permutation(kind.quality) + rng.normal(0, kind.by_language, (languages, s))
    if kind.shared:
        u = np.tile(rng.normal(0, BY_QUERY, (queries, s)), (languages, 1))
    else:
        u = rng.normal(0, BY_QUERY, (languages * queries, s))
    off = rng.normal(0, kind.by_pair, len(i))
    if other:
        rng = np.random.default_rng([20261126, seed, 1])
        u = rng.normal(0, BY_QUERY, u.shape)
    strength = np.repeat(theta, queries, axis=0) + u
    p = 1 / (1 + np.exp(strength[:, j] - strength[:, i] - off))
    points = np.where(rng.random(p.shape) < TIE, 0.5, rng.random(p.shape) < p)
    row, pair = np.indices(p.shape).reshape(2, -1)
    population = arrange(codes, tuple(f"s{k:02}" for k in range(s)), ids, row, pair, seed=seed)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    d = (theta[:, i] - theta[:, j] + off)[:, :, None] + BY_QUERY * np.sqrt(2) * nodes
    expected = TIE / 2 + (1 - TIE) * (weights / (1 + np.exp(-d))).sum(axis=2) / weights.sum()
    truth = fit(PairCounts(expected * 1e6, (1 - expected) * 1e6, None, s)).theta.mean(axis=0)
    return Board(population, points.ravel(), truth)


def people_board(judge: str, seed: int | None) -> Board:
    """Return the battles of Chatbot Arena by one judge, the queries resampled unless the seed is None."""
    (rows,) = verdicts(store.open_arena(store.bundled_arenas()["people"]).read("judgments"), judge=judge).values()
    s, n = len(rows.systems), len(rows.queries)
    low, high = np.minimum(rows.first, rows.second), np.maximum(rows.first, rows.second)
    pair = low * (2 * s - low - 1) // 2 + high - low - 1
    won = np.where(rows.verdict == 2, 0.5, (rows.verdict == 0).astype(float))
    points = np.where(rows.first < rows.second, won, 1 - won)
    systems, truth = rows.systems, None
    ids = tuple(f"{k:06}" for k in range(n))
    row, pairs, values = rows.query, pair, points
    whole = arrange(("en",), systems, {"en": ids}, row, pairs, seed=0)
    if seed is None:
        return Board(whole, values, None)
    truth = estimate(whole, values).theta
    drawn = np.random.default_rng([20261127, seed]).integers(0, len(row), len(row))
    return Board(arrange(("en",), systems, {"en": ids}, np.arange(n), pairs[drawn], seed=seed), values[drawn], truth)


@dataclass(frozen=True)
class Outcome:
    """What a design found on a board."""

    share: float
    """Share of the battles judged."""
    separated: NDArray[np.bool_]
    """P: separated pairs."""
    rated: WeightedRatings

    @property
    def tiers(self) -> tuple[int | None, ...]:
        """Tier of each system."""
        s = len(self.rated.systems)
        apart = np.zeros((s, s), dtype=bool)
        apart[np.triu_indices(s, 1)] = self.separated
        order = np.argsort(-self.rated.theta, kind="stable")
        found = tier_runs((apart | apart.T)[np.ix_(order, order)], np.ones(s, dtype=bool))
        return tuple(tier for _, tier in sorted(zip(order.tolist(), found, strict=True)))


def full_tournament(board: Board) -> Outcome:
    """Judge every battle."""
    rated = estimate(board.population, board.points)
    return Outcome(1.0, np.array(holm(rated.tests.p)) <= 0.05, rated)


def adaptively(board: Board, share: float = SHARE, times: list[float] | None = None) -> Outcome:
    """Judge adaptively until the systems are separated, or the share of battles is judged."""
    settings = AdaptiveSettings("separated", rounds=ROUNDS)
    state = begin(board.population, settings)
    n = round(share * board.population.n / ROUNDS)
    while not state.done:
        start = time.process_time()
        judged = board.population.judged(state.choose(n))
        state = state.after(np.where(judged, board.points, np.nan))
        state.open.any()
        if times is not None:
            times.append(time.process_time() - start)
    assert state.rated is not None
    return Outcome(state.counts.sum() / board.population.n, state.separated, state.rated)


def _plain(board: Board, judged: NDArray[np.bool_]) -> Outcome:
    """Rate by the judged battles with equal weights, and test once."""
    whole = board.population
    part = arrange(whole.languages, whole.systems, whole.queries, whole.row[judged], whole.pair[judged])
    rated = estimate(part, board.points[judged])
    return Outcome(judged.mean(), np.array(holm(rated.tests.p)) <= 0.05, rated)


def random_pairs(board: Board, share: float) -> Outcome:
    """Judge the same share of every pair's battles, in one go."""
    sizes = board.population.sizes * share
    counts = np.diff(np.floor(np.cumsum(sizes) + 0.5), prepend=0).astype(np.intp)
    return _plain(board, board.population.judged(counts))


def swiss(board: Board, share: float) -> Outcome:
    """Judge, in every round, systems with the nearest in the order so far that they have battles left with."""
    whole = board.population
    s, sizes = len(whole.systems), whole.sizes.reshape(len(whole.languages), -1)
    i, j = np.triu_indices(s, 1)
    counts = np.zeros_like(sizes, dtype=float)
    theta = np.random.default_rng(0).normal(size=s)
    for _ in range(ROUNDS):
        budget = share * whole.n / ROUNDS
        place = np.argsort(np.argsort(-theta))
        for distance in range(1, s):
            near = np.abs(place[i] - place[j]) == distance
            room = (sizes - counts)[:, near]
            part = min(1.0, budget / max(room.sum(), 1e-9))
            counts[:, near] += room * part
            budget -= room.sum() * part
            if budget < 1:
                break
        whole_counts = np.clip(np.diff(np.floor(np.cumsum(counts) + 0.5), prepend=0), 0, whole.sizes).astype(np.intp)
        outcome = _plain(board, whole.judged(whole_counts))
        theta = outcome.rated.theta
    return outcome


@dataclass(frozen=True)
class Agreement:
    """How a design compares with the full tournament on a board."""

    share: float
    found: float
    """Share of the pairs separated by the full tournament that the design separates, in the same direction."""
    further: int
    """Pairs separated by the design and not by the full tournament, or in the other direction."""
    against: int
    """Pairs separated by both in opposite directions."""
    same: bool
    """Whether the tiers are the same."""
    boundaries: float
    """Share of the full tournament's tier boundaries that the design has too."""
    covered: float
    """Share of the 95% intervals that hold the truth."""
    error: float
    """Root mean square difference of the ratings from the full tournament's."""


def agree(board: Board, full: Outcome, other: Outcome) -> Agreement:
    """Compare a design with the full tournament."""
    signs = np.sign(other.rated.tests.difference) == np.sign(full.rated.tests.difference)
    both = full.separated & other.separated
    low, high = other.rated.interval()
    covered = np.nan if board.truth is None else float(((low <= board.truth) & (board.truth <= high)).mean())
    ours, theirs = (_boundaries(outcome) for outcome in (other, full))
    return Agreement(
        other.share,
        float((both & signs).sum() / max(full.separated.sum(), 1)),
        int((other.separated & ~(full.separated & signs)).sum()),
        int((both & ~signs).sum()),
        other.tiers == full.tiers,
        len(ours & theirs) / max(len(theirs), 1),
        covered,
        float(np.sqrt(np.mean((other.rated.theta - full.rated.theta) ** 2))),
    )


def _boundaries(outcome: Outcome) -> set[frozenset[int]]:
    """Return, for every boundary between tiers, the systems above it."""
    tiers = np.array([tier or 1 for tier in outcome.tiers])
    return {frozenset(np.flatnonzero(tiers <= tier).tolist()) for tier in range(1, tiers.max())}


DESIGNS: dict[str, Callable[[Board, float], Outcome]] = {
    "adaptive": adaptively,
    "random pairs": random_pairs,
    "Swiss": swiss,
}


def compare(boards: Iterable[Board], share: float = SHARE) -> dict[str, list[Agreement]]:
    """Compare the designs on boards; the others judge the share of battles that the first one did."""
    results: dict[str, list[Agreement]] = {name: [] for name in DESIGNS}
    for board in boards:
        full, cost = full_tournament(board), share
        for name, design in DESIGNS.items():
            outcome = design(board, cost)
            cost = outcome.share if name == "adaptive" else cost
            results[name].append(agree(board, full, outcome))
    return results


def _repeated_row(kind: Kind) -> Row:
    """Compare full tournaments on other queries with each other: as good as a part of one could get."""
    found = []
    for seed in BOARDS:
        board, again = draw_board(kind, seed), draw_board(kind, seed, other=True)
        found.append(agree(board, full_tournament(board), full_tournament(again)))
    return Row(
        f"{kind.what}: two full tournaments on other queries",
        f"{np.mean([one.found for one in found]):.1%} of the pairs separated by one; "
        f"same tiers on {np.mean([one.same for one in found]):.0%} of boards",
        "",
        "",
        "",
    )


EQUAL = Kind("8 equal systems x 60 queries x 2 languages, half of the battles", (0.0,) * 8, 0.0)


def until_top(board: Board, k: int, share: float, random: float) -> tuple[bool, float]:
    """Judge until the k best are separated; return whether that came within a share of the battles, and the share."""
    state = begin(board.population, AdaptiveSettings(f"top:{k}", rounds=ROUNDS, random=random))
    n = round(share * board.population.n / ROUNDS)
    while not state.done:
        judged = board.population.judged(state.choose(n))
        state = state.after(np.where(judged, board.points, np.nan))
    apart = bool((state.relevant <= state.separated).all())
    return apart, float(state.counts.sum() / board.population.n)


def _agreement_rows(what: str, boards: Iterable[Board], share: float = SHARE) -> list[Row]:
    rows = []
    for name, found in compare(boards, share).items():
        mean = {
            field: float(np.nanmean([getattr(one, field) for one in found]))
            for field in ("share", "found", "further", "against", "same", "boundaries", "covered")
        }
        rows.append(
            Row(
                f"{what}, {mean['share']:.0%} of the battles: {name}",
                f"{mean['found']:.1%} of the pairs separated by all; same tiers on {mean['same']:.0%} of boards",
                f"{mean['boundaries']:.0%} of the tier boundaries; {mean['further']:.2f} further pairs a board, "
                f"{mean['against']:.2f} the other way round",
                f"95% intervals hold the truth in {mean['covered']:.1%}; {len(found)} boards",
                "same tiers on 95%; 93 to 97%" if name == "adaptive" else "",
            )
        )
    return rows


def _top_row(k: int, share: float) -> Row:
    boards = (draw_board(KINDS[0], 1000 + seed) for seed in BOARDS)
    both = [[until_top(board, k, share, part) for part in (0.2, 1.0)] for board in boards]
    ours, random = zip(*both, strict=True)
    (reached, cost), (reached_too, cost_too) = (np.mean(np.array(one, dtype=float), axis=0) for one in (ours, random))
    return Row(
        f"{KINDS[0].what}: top:{k} within {share:.0%} of the battles",
        f"{reached:.0%} of {len(both)} boards, {cost:.1%} of the battles on average",
        f"random pairs in the same rounds: {reached_too:.0%}, {cost_too:.1%}",
        "",
        "",
    )


def _error_row(boards: int) -> Row:
    errors = {"ours": 0, "repeated": 0, "sequence": 0}
    for seed in range(boards):
        board = draw_board(EQUAL, seed, languages=2, queries=60)
        state = begin(board.population, AdaptiveSettings("separated", rounds=ROUNDS))
        repeated, sequence = np.ones(board.population.pairs), np.ones(board.population.pairs)
        for k in range(1, ROUNDS + 1):
            judged = board.population.judged(state.choose(round(0.5 * board.population.n / ROUNDS)))
            state = state.after(np.where(judged, board.points, np.nan))
            assert state.rated is not None
            p = state.rated.tests.p
            repeated = np.minimum(repeated, p)
            sequence = np.minimum(sequence, _confidence_sequence(p, k))
        errors["ours"] += bool(state.separated.any())
        errors["repeated"] += bool((np.array(holm(repeated)) <= 0.05).any())
        errors["sequence"] += bool((np.array(holm(sequence)) <= 0.05).any())
    return Row(
        f"{EQUAL.what}: any pair separated in any round",
        f"{errors['ours'] / boards:.1%} of {boards} boards",
        f"tests repeated without spending {errors['repeated'] / boards:.1%}; confidence sequence "
        f"{errors['sequence'] / boards:.1%}",
        "",
        "at most 5%",
    )


def _confidence_sequence(p: Array, k: int) -> Array:
    """Return p-values valid at any time: Robbins' normal mixture, tightest at the last round."""
    from scipy.special import ndtri

    z, r = ndtri(np.maximum(p, 1e-300) / 2), 18 * k / ROUNDS
    return np.asarray(np.minimum(1, np.sqrt(1 + r) * np.exp(-(z**2) / 2 * r / (1 + r))))


def _time_row() -> Row:
    board, times = draw_board(KINDS[0], 0), list[float]()
    adaptively(board)
    for _ in range(3):
        adaptively(board, times=times)
    return Row(
        "a round: estimate, tests and choice, 19 systems x 1,800 queries",
        f"{np.median(times) * 1e3:.0f} ms of processor time median, {max(times) * 1e3:.0f} ms at most",
        "",
        "",
        "under 50 ms",
    )


def run() -> list[Row]:
    """Compare designs on boards of each kind and on people's battles, and time a round."""
    rows = []
    for kind in KINDS:
        rows += _agreement_rows(kind.what, (draw_board(kind, seed) for seed in BOARDS))
    rows += _agreement_rows(KINDS[1].what, (draw_board(KINDS[1], seed) for seed in BOARDS), 0.05)
    rows += [_repeated_row(KINDS[0]), _repeated_row(KINDS[1])]
    rows += [_top_row(3, 0.05), _top_row(1, 0.05)]
    for judge in ("people", "gpt-4-0125-preview"):
        boards = (people_board(judge, seed) for seed in BOARDS)
        rows += _agreement_rows(f"20 systems of Chatbot Arena by {judge}", boards)
    rows.append(_error_row(1000))
    rows.append(_time_row())
    return rows
