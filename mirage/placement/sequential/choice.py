"""Which battles a new system fights next, drawn at random, and how many it takes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput
from mirage.placement.sequential.state import LEAST, LEVEL, State, TierList, _shares, boundaries
from mirage.rank.fit import Array

_Place = tuple[int, int, int]
"""Numbers of a language, a query and an opponent."""


@dataclass(frozen=True, eq=False)
class CandidatePool:
    """The battles of the new system in one language that can be judged next, and those that were judged."""

    queries: tuple[str, ...]
    """The Q queries that the new system answered, sorted by id."""
    open: NDArray[np.bool_]
    """Q x S: whether the battle with each system of the field can be asked for and has not been."""
    tried: NDArray[np.bool_]
    """Q x S: whether it has been asked for, whether or not a verdict could be read."""


@dataclass(frozen=True, slots=True)
class ChosenBattle:
    """A battle to be fought."""

    language: int
    """Number of the language."""
    query: int
    """Number of the query."""
    opponent: int
    """Number of the opponent in the field."""
    wins: float
    """Probability that the new system wins it, ties aside."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """How many more battles until the tier is settled, drawn at random."""

    median: int | None
    """As likely more as fewer; None where all that can be fought would not do."""
    low: int | None
    """The 5% quantile."""
    high: int | None
    """The 95% quantile."""
    most: int
    """How many can be fought."""


def choose_battles(state: State, rooms: Sequence[CandidatePool], *, n: int, seed: int = 0) -> list[ChosenBattle]:
    """Choose the next battles: the first open ones in an order of all battles that the seed fixes.

    Args:
        state: what is known.
        rooms: what can be fought in each language.
        n: how many; fewer if there are not so many.
        seed: of the order.

    Raises:
        BadInput: if the number is below 0.
    """
    if n < 0:
        raise BadInput(f"cannot choose {n} battles", do="give a number from 0")
    wins = _wins(state)
    return [ChosenBattle(k, q, j, float(wins[k, j])) for k, q, j in _open_battles(state, rooms, seed)[:n]]


def horizon(state: State, tiers: TierList, rooms: Sequence[CandidatePool], *, seed: int = 0) -> Horizon:
    """Reckon how many more battles it takes, for true ratings as the state deems them likely.

    The battles are those of `choose_battles`, a tenth more at a time, up to all there are; verdicts are taken to be
    what is expected of each true rating.
    """
    from scipy.special import ndtr, ndtri

    order = _open_battles(state, rooms, seed)
    contrasts = boundaries(state, tiers)
    if not len(contrasts):
        short = max(LEAST - state.n, 0)
        enough = short if short <= len(order) else None
        return Horizon(enough, enough, enough, len(order))
    truths = ndtri((np.arange(99) + 0.5) / 99)
    mean, course = contrasts @ state.mean.ravel(), _Course(state, rooms)
    before = course.variance(contrasts)
    first = np.full(len(truths), np.inf)
    fought = 0
    while True:
        now = course.variance(contrasts)
        explained = 1 - now / before
        expected = mean + explained * np.sqrt(before) * truths[:, None]
        probable = _shares(ndtr(expected / np.sqrt(now))).max(axis=1)
        if state.n + fought >= LEAST:
            first[(probable >= LEVEL) & np.isinf(first)] = fought
        if np.isfinite(first).all() or fought >= len(order):
            break
        batch = order[fought : fought + max(1, (state.n + fought) // 10)]
        course.fight(batch)
        fought += len(batch)
    low, median, high = (
        int(x) if np.isfinite(x) else None for x in np.quantile(first, [0.05, 0.5, 0.95], method="inverted_cdf")
    )
    return Horizon(median, low, high, len(order))


class _Course:
    """The covariance as battles are added, whatever their verdicts: in Laplace's approximation it does not depend on
    these, as long as the ratings stay about where they are.
    """

    def __init__(self, state: State, rooms: Sequence[CandidatePool]) -> None:
        self._state = state
        self._covariance = state.covariance
        wins = _wins(state)
        self._toss = wins * (1 - wins)
        self._fought = [room.tried.sum(axis=1) for room in rooms]
        self._tosses = [room.tried @ toss for room, toss in zip(rooms, self._toss, strict=True)]

    def variance(self, contrasts: Array) -> Array:
        """The variance of each contrast."""
        return np.asarray(np.einsum("ki,ij,kj->k", contrasts, self._covariance, contrasts))

    def fight(self, battles: Sequence[_Place]) -> None:
        """Count battles as fought."""
        precision = np.linalg.inv(self._covariance)
        size = self._state.mean.shape[1]
        for k, q, j in battles:
            n, tosses, toss = self._fought[k][q], self._tosses[k][q], self._toss[k, j]
            information = self._state.fields[k].noise.information
            # A battle whose winner is as good as known counts as one of the query's, and would seem to tell less than
            # none.
            told = max(float(information(n + 1, tosses + toss) - information(n, tosses)), 1e-9)
            new, old = k * size + size - 1, k * size + j
            precision[[new, old], [new, old]] += told
            precision[[new, old], [old, new]] -= told
            self._fought[k][q] += 1
            self._tosses[k][q] += toss
        self._covariance = np.linalg.inv(precision)


def _wins(state: State) -> Array:
    """L x S: the probability that the new system wins against each opponent, ties aside."""
    return np.asarray(1 / (1 + np.exp(state.mean[:, :-1] - state.mean[:, -1:])))


def _open_battles(state: State, rooms: Sequence[CandidatePool], seed: int) -> list[_Place]:
    """All battles that can be asked for, in the order that the seed fixes: by the hash of their names."""
    places = [
        (_digest(seed, field.language, room.queries[q], field.systems[j]), (k, int(q), int(j)))
        for k, (field, room) in enumerate(zip(state.fields, rooms, strict=True))
        for q, j in np.argwhere(room.open)
    ]
    return [place for _, place in sorted(places)]


def _digest(seed: int, *about: str) -> bytes:
    return hashlib.sha256("\0".join([str(seed), *about]).encode()).digest()
