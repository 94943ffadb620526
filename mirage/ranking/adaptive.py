"""Judging in rounds: battles in random order, tests that stay valid after every round, and the goals at which to stop.

    order = random_order(answered, seed=0)                 # all battles; a round judges the next ones
    state = AdaptiveState(AdaptiveSettings("separated"), order.systems, len(order.battles))
    while not state.done:
        state = state.after(ranking, judged)               # ranking of the first `judged` battles

The ratings, intervals and tests of a round are those of an ordinary ranking of the battles judged so far: battles are
chosen at random, whatever the verdicts before.

**The tests** stay valid although they are repeated after every round. Round k of K may spend `spent(a, k / K) -
spent(a, (k - 1) / K)` of a pair's error probability a, where `spent` is the spending function of O'Brien and Fleming's
type (Lan and DeMets, Biometrika 70(3), 1983): hardly anything in the first rounds, nearly all in the last. The
sequential p-value of a pair is the smallest a at which one of the rounds so far would have separated it. Holm's
correction of sequential p-values bounds the family-wise error whenever the rounds stop (Maurer and Bretz, Statistics in
Biopharmaceutical Research 5(4), 2013). The rounds' errors are added up (Bonferroni), not integrated over their joint
distribution; with eight rounds that raises the critical value of the last test by 3%.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.bootstrap import RankingReport
from mirage.ranking.fit import Array
from mirage.ranking.pair_tests import open_ranks
from mirage.ranking.records import LanguageRanking
from mirage.stats.holm import holm

LEVEL = 0.05
"""Probability that any two equal systems are separated, over all pairs and rounds."""
HOPELESS = 0.05
"""Probability of being separated by every battle below which a pair is no longer open."""

_FURTHEST, _STEPS = 37.0, 4000
"""Largest normal quantile of the table of levels, and its number of steps."""


# --- settings ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AdaptiveSettings:
    """Settings of judging in rounds."""

    until: str = "separated"
    """Goal at which judging stops. `separated`: every two systems are separated, or judging every battle would not
    separate them. `top:K`: so are the K best systems from all others.
    """
    rounds: int = 8
    """Number of planned rounds, each with the same share of the battles or of the budget; at the end of each the goal
    is checked.
    """
    seed: int = 0
    """Seed of the order in which battles are judged."""

    def __post_init__(self) -> None:
        if self.until != "separated" and (self.top < 1 or self.until != f"top:{self.top}"):
            raise BadInput(f"there is no goal {self.until!r}", do="give separated, or top:K (the K best systems)")
        if self.rounds < 1:
            raise BadInput(f"{self.rounds} rounds", do="give 1 or more")

    @property
    def top(self) -> int:
        """K of `top:K`; 0 for another goal."""
        number = self.until.removeprefix("top:")
        return int(number) if number.isascii() and number.isdecimal() else 0


# --- the battles ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RandomOrder:
    """All battles that could be judged, in random order."""

    systems: tuple[str, ...]
    """The systems that answer in every language, sorted by name."""
    battles: Sequence[tuple[str, str, str, str]]
    """Language, query id and two systems of each battle."""
    possible: Mapping[tuple[str, str, str], int]
    """Number of battles by language and pair of systems."""


def random_order(answered: Mapping[str, Mapping[str, Sequence[str]]], *, seed: int = 0) -> RandomOrder:
    """Return all battles of systems on the queries that both answer, among the systems that answer in every language.

    The first battles of the order are nearly the same share of every language and pair of systems; within these, every
    battle is as likely to be among them as any other. The order depends on the seed and on names, so a run that was
    interrupted chooses the same battles again.

    Args:
        answered: by language and query id, the systems with an answer.
        seed: seed of the order.

    Raises:
        NotEnoughData: if fewer than two systems answer in every language.
    """
    in_each = [{system for present in queries.values() for system in present} for queries in answered.values()]
    systems = tuple(sorted(set.intersection(*in_each))) if in_each else ()
    if len(systems) < 2:
        raise NotEnoughData(
            f"{len(systems)} systems answer in every language, and a battle needs two", do="choose other languages"
        )
    battles, places, possible = [], list[float](), {}
    for code, queries in sorted(answered.items()):
        has = {system: [query for query in sorted(queries) if system in queries[query]] for system in systems}
        for first, second in combinations(systems, 2):
            both = sorted(set(has[first]) & set(has[second]))
            if both:
                rng = np.random.default_rng([seed, zlib.crc32("\0".join((code, first, second)).encode())])
                battles += [(code, both[k], first, second) for k in rng.permutation(len(both)).tolist()]
                places += ((np.arange(len(both)) + 0.5) / len(both)).tolist()
                possible[code, first, second] = len(both)
    turn = np.random.default_rng(seed).permutation(len(battles))
    return RandomOrder(systems, [battles[k] for k in np.lexsort((turn, np.array(places))).tolist()], possible)


# --- the rounds -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AdaptiveState:
    """The state after some rounds."""

    settings: AdaptiveSettings
    """The settings."""
    systems: tuple[str, ...]
    """The S systems, sorted by name; P pairs of them, in the order of `numpy.triu_indices`."""
    possible: int
    """Number of battles that could be judged."""
    number: int = 0
    """Number of finished rounds."""
    judged: int = 0
    """Number of battles that these have chosen."""
    ranking: RankingReport | None = None
    """The ranking of the judged battles; None before the first round."""
    z: Array | None = None
    """P: normal score of the test of each pair, above 0 where the first is ahead; None before the first round."""
    p: Array | None = None
    """P: sequential p-value of each pair: the smallest over the rounds; None before the first round."""

    def __post_init__(self) -> None:
        if self.settings.top >= len(self.systems):
            raise BadInput(
                f"the {self.settings.top} best of {len(self.systems)} systems are all of them",
                do=f"give top:K with K below {len(self.systems)}",
            )

    @property
    def left(self) -> int:
        """Number of battles not judged."""
        return self.possible - self.judged

    @property
    def row(self) -> LanguageRanking | None:
        """The ratings over all languages; None before the first round."""
        return None if self.ranking is None else [*self.ranking.languages.values()][-1]

    @property
    def battles(self) -> int:
        """Number of battles with a verdict."""
        return 0 if self.row is None else int(self.row.record.sum()) // 2

    @cached_property
    def separated(self) -> NDArray[np.bool_]:
        """P: whether each pair is separated, with the family-wise level over all pairs and rounds."""
        return np.zeros_like(self.relevant) if self.p is None else np.array(holm(self.p)) <= LEVEL

    @cached_property
    def relevant(self) -> NDArray[np.bool_]:
        """P: whether the goal depends on each pair: all pairs, or pairs of a best system with another."""
        row, n = self.row, len(self.systems)
        if not self.settings.top or row is None:
            return np.ones(n * (n - 1) // 2, dtype=bool)
        best = {row.systems[k] for k in np.argsort(-row.theta, kind="stable")[: self.settings.top]}
        return np.array([(a in best) != (b in best) for a, b in combinations(self.systems, 2)])

    @cached_property
    def open(self) -> NDArray[np.bool_]:
        """P: whether each pair matters to the goal, is not separated, and may still be if every battle is judged.

        The variance of a difference is then at best its present one times the share of judged battles, so judging
        never stops too early.
        """
        from scipy.special import ndtr, ndtri

        waiting = self.relevant & ~self.separated
        if self.z is None or not self.left:
            return waiting & (self.left > 0)
        share = self.judged / self.possible
        critical = -ndtri(LEVEL / 2 / max(int((~self.separated).sum()), 1))
        chance = ndtr((np.abs(self.z) - critical * math.sqrt(share)) / math.sqrt(1 - share))
        return np.asarray(waiting & (chance >= HOPELESS))

    @property
    def rank_ranges(self) -> NDArray[np.int64]:
        """The best and the worst rank of every system that the tests leave open (2 x S)."""
        z = np.zeros(len(self.separated)) if self.z is None else self.z
        return open_ranks(self.separated, z, len(self.systems))

    @property
    def reached(self) -> bool:
        """True if the goal is reached, or cannot be reached by judging more."""
        return self.ranking is not None and not self.open.any()

    @property
    def done(self) -> bool:
        """True if the goal is reached, no round is left, or no battle is left."""
        return self.reached or self.number >= self.settings.rounds or not self.left

    def after(self, ranking: RankingReport, judged: int) -> AdaptiveState:
        """Return the state after a round.

        Args:
            ranking: the ranking of all battles judged so far.
            judged: number of battles chosen so far.
        """
        tests = [*ranking.tests.values()][-1]
        place = {system: k for k, system in enumerate(tests.systems)}
        # A system without a battle in some language so far is not in the row over all languages.
        at = [(place[a], place[b]) if {a, b} <= place.keys() else None for a, b in combinations(self.systems, 2)]
        z = np.array([0.0 if k is None else tests.z[k] for k in at])
        p = sequential_p(
            np.array([1.0 if k is None else tests.p[k] for k in at]), self.number + 1, self.settings.rounds
        )
        p = p if self.p is None else np.minimum(self.p, p)
        return replace(self, number=self.number + 1, judged=judged, ranking=ranking, z=z, p=p)


# --- p-values after every round ---------------------------------------------------------------------------------------


def spent(level: Array, share: float) -> Array:
    """Return the error probability spent at a share of the rounds, of two-sided levels in all."""
    from scipy.special import ndtr, ndtri

    if share <= 0:
        return np.zeros_like(level)
    return np.asarray(2 * ndtr(ndtri(level / 2) / np.sqrt(share)))


def sequential_p(p: Array, number: int, rounds: int) -> Array:
    """Return the total level at which a round separates pairs with these p-values.

    Args:
        p: two-sided p-values of the round.
        number: number of the round, from 1.
        rounds: number of planned rounds; further rounds spend nothing.
    """
    if number > rounds:
        return np.ones_like(p)
    log_level, log_spent = _table(number, rounds)
    return np.exp(np.interp(np.log(np.maximum(p, 1e-300)), log_spent, log_level))


@lru_cache(maxsize=256)
def _table(number: int, rounds: int) -> tuple[Array, Array]:
    """Return the logarithms of total levels, ascending, and of the share that the round may spend of each."""
    from scipy.special import ndtr

    level = 2 * ndtr(-np.linspace(_FURTHEST, 0, _STEPS))
    own = spent(level, number / rounds) - spent(level, (number - 1) / rounds)
    own = np.maximum(np.maximum.accumulate(own), 1e-320)
    return np.log(level), np.log(own)
