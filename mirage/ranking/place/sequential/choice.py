"""Random choice of a new system's next battles, and the estimated number needed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput
from mirage.ranking.fit import Array
from mirage.ranking.place.sequential.state import LEAST, LEVEL, State, TierList, _shares, boundaries

_Place = tuple[int, int, int]
"""Indices of a language, a query and an opponent."""


@dataclass(frozen=True, eq=False)
class CandidatePool:
    """The battles of the new system in one language that can be judged next, and those already requested."""

    queries: tuple[str, ...]
    """The Q queries that the new system answered, sorted by id."""
    open: NDArray[np.bool_]
    """Q x S: whether the battle with each system of the field is available and not yet requested."""
    tried: NDArray[np.bool_]
    """Q x S: whether the battle was requested, parsed or not."""


@dataclass(frozen=True, slots=True)
class ChosenBattle:
    """A battle to judge."""

    language: int
    """Index of the language."""
    query: int
    """Index of the query."""
    opponent: int
    """Index of the opponent in the field."""
    wins: float
    """Probability that the new system wins, ignoring ties."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """Estimated number of further random battles until the tier is settled."""

    median: int | None
    """The median; None if all available battles would not settle it."""
    low: int | None
    """The 5% quantile."""
    high: int | None
    """The 95% quantile."""
    most: int
    """Number of available battles."""


def choose_battles(state: State, rooms: Sequence[CandidatePool], *, n: int, seed: int = 0) -> list[ChosenBattle]:
    """Choose the next battles: the first available in a seeded random order of all battles.

    Args:
        state: current posterior.
        rooms: available battles of each language.
        n: number of battles; fewer if not enough are available.
        seed: seed of the order.

    Raises:
        BadInput: if the number is negative.
    """
    if n < 0:
        raise BadInput(f"cannot choose {n} battles", do="give a number from 0")
    wins = _wins(state)
    return [ChosenBattle(k, q, j, float(wins[k, j])) for k, q, j in _open_battles(state, rooms, seed)[:n]]


def horizon(state: State, tiers: TierList, rooms: Sequence[CandidatePool], *, seed: int = 0) -> Horizon:
    """Estimate the number of battles until the tier is settled, for true ratings drawn from the posterior.

    The battles are those of `choose_battles`, in batches of a tenth, up to all available; verdicts equal their
    expectation under each true rating.
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
    n_added = 0
    while True:
        now = course.variance(contrasts)
        explained = 1 - now / before
        expected = mean + explained * np.sqrt(before) * truths[:, None]
        probable = _shares(ndtr(expected / np.sqrt(now))).max(axis=1)
        if state.n + n_added >= LEAST:
            first[(probable >= LEVEL) & np.isinf(first)] = n_added
        if np.isfinite(first).all() or n_added >= len(order):
            break
        batch = order[n_added : n_added + max(1, (state.n + n_added) // 10)]
        course.add(batch)
        n_added += len(batch)
    low, median, high = (
        int(x) if np.isfinite(x) else None for x in np.quantile(first, [0.05, 0.5, 0.95], method="inverted_cdf")
    )
    return Horizon(median, low, high, len(order))


class _Course:
    """Covariance as battles are added, whatever their verdicts: in Laplace's approximation it does not depend on them
    while the ratings hardly change.
    """

    def __init__(self, state: State, rooms: Sequence[CandidatePool]) -> None:
        self._state = state
        self._covariance = state.covariance
        wins = _wins(state)
        self._toss = wins * (1 - wins)
        self._counts = [room.tried.sum(axis=1) for room in rooms]
        self._tosses = [room.tried @ toss for room, toss in zip(rooms, self._toss, strict=True)]

    def variance(self, contrasts: Array) -> Array:
        """Return the variance of each contrast."""
        return np.asarray(np.einsum("ki,ij,kj->k", contrasts, self._covariance, contrasts))

    def add(self, battles: Sequence[_Place]) -> None:
        """Add battles."""
        precision = np.linalg.inv(self._covariance)
        size = self._state.mean.shape[1]
        for k, q, j in battles:
            n, tosses, toss = self._counts[k][q], self._tosses[k][q], self._toss[k, j]
            information = self._state.fields[k].noise.information
            # A battle with a nearly certain winner adds to the query's count and would seem to add negative
            # information.
            added = max(float(information(n + 1, tosses + toss) - information(n, tosses)), 1e-9)
            new, old = k * size + size - 1, k * size + j
            precision[[new, old], [new, old]] += added
            precision[[new, old], [old, new]] -= added
            self._counts[k][q] += 1
            self._tosses[k][q] += toss
        self._covariance = np.linalg.inv(precision)


def _wins(state: State) -> Array:
    """Return the probability that the new system wins against each opponent, ignoring ties (L x S)."""
    return np.asarray(1 / (1 + np.exp(state.mean[:, :-1] - state.mean[:, -1:])))


def _open_battles(state: State, rooms: Sequence[CandidatePool], seed: int) -> list[_Place]:
    """Return all available battles in a seeded order: by the hash of their names."""
    places = [
        (_digest(seed, field.language, room.queries[q], field.systems[j]), (k, int(q), int(j)))
        for k, (field, room) in enumerate(zip(state.fields, rooms, strict=True))
        for q, j in np.argwhere(room.open)
    ]
    return [place for _, place in sorted(places)]


def _digest(seed: int, *about: str) -> bytes:
    return hashlib.sha256("\0".join([str(seed), *about]).encode()).digest()
