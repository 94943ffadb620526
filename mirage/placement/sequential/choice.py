"""Which battles a new system fights next: those that tell most about its tier, and some at random."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput
from mirage.placement.sequential.state import LEAST, LEVEL, State, TierList, _shares, boundaries
from mirage.rank.fit import Array

_NODES = 15
"""Points of the quadrature over what a battle may say."""

TierGoal = tuple[int, int, int]
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
    control: bool
    """Whether it was drawn at random, whatever it may tell."""
    wins: float
    """Probability that the new system wins it, ties aside."""
    information: float
    """Bits that it is expected to tell about the tier, beyond those chosen before it."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """How many more battles until the tier is settled, if these are chosen by information."""

    median: int | None
    """As likely more as fewer; None where all that can be fought would not do."""
    low: int | None
    """The 5% quantile."""
    high: int | None
    """The 95% quantile."""
    most: int
    """How many can be fought."""


def choose_battles(
    state: State, tiers: TierList, rooms: Sequence[CandidatePool], *, n: int, control_share: float = 0.1, seed: int = 0
) -> list[ChosenBattle]:
    """Choose the next battles, one after the other.

    Each is the one that lowers the expected entropy of the tier most, with those chosen before it counted as fought: a
    second battle on a query tells less than the first (`Noise.information`), so the choice spreads over queries; an
    opponent of about the new system's strength, near a tier's boundary, tells most.

    A share of them is drawn at random instead: the next ones in an order of all battles that the seed fixes
    (`random_battles`). With a share of 1 all are.

    Args:
        state: what is known.
        tiers: of the arena's own systems.
        rooms: what can be fought in each language.
        n: how many; fewer if there are not so many.
        control_share: in [0, 1]; rounded up in the long run, spread evenly.
        seed: of the order.

    Raises:
        BadInput: if a number is out of range.
    """
    if n < 0 or not 0 <= control_share <= 1:
        raise BadInput(f"cannot choose {n} battles with a control share of {control_share:g}", do="give 0 to 1")
    total = sum(int(room.tried.sum()) for room in rooms)
    picker = _Picker(state, tiers, rooms, seed)
    order = _row(state, rooms, seed)
    row, drawn = iter(order), sum(1 for _ in _asked(order, rooms))
    chosen: list[ChosenBattle] = []
    while len(chosen) < n:
        is_control = drawn < control_share * (total + len(chosen) + 1) - 1e-9
        place = next((p for p in row if picker.is_open(p)), None) if is_control else None
        place = place or picker.best()
        if place is None:
            break
        chosen.append(ChosenBattle(*place, is_control, picker.wins(place), picker.take(place)))
        drawn += is_control
    return chosen


def random_battles(state: State, rooms: Sequence[CandidatePool], *, seed: int = 0) -> list[TierGoal]:
    """The battles fought so far that count as drawn at random.

    The seed fixes an order of all battles that could ever be asked for. `choose_battles` takes its random share
    from the front, so the longest front part of which all were asked for is a random sample, whatever else was chosen.
    """
    return list(_asked(_row(state, rooms, seed), rooms))


def horizon(state: State, tiers: TierList, rooms: Sequence[CandidatePool]) -> Horizon:
    """Reckon how many more battles it takes, for true ratings as the state deems them likely.

    The battles are chosen as by `choose_battles`, a tenth more at a time, up to all there are; verdicts are
    taken to be what is expected of each true rating.
    """
    from scipy.special import ndtr, ndtri

    most = sum(int(room.open.sum()) for room in rooms)
    truths = ndtri((np.arange(99) + 0.5) / 99)
    picker = _Picker(state, tiers, rooms, 0)
    if not len(picker.contrasts):
        short = max(LEAST - state.n, 0)
        enough = short if short <= most else None
        return Horizon(enough, enough, enough, most)
    before = picker.variance()
    first = np.full(len(truths), np.inf)
    fought = 0
    while True:
        now = picker.variance()
        explained = 1 - now / before
        expected = picker.mean + explained * np.sqrt(before) * truths[:, None]
        probable = _shares(ndtr(expected / np.sqrt(now))).max(axis=1)
        if state.n + fought >= LEAST:
            first[(probable >= LEVEL) & np.isinf(first)] = fought
        if np.isfinite(first).all() or fought >= most:
            break
        fought += picker.take_many(min(max(1, (state.n + fought) // 10), most - fought))
    low, median, high = (
        int(x) if np.isfinite(x) else None for x in np.quantile(first, [0.05, 0.5, 0.95], method="inverted_cdf")
    )
    return Horizon(median, low, high, most)


class _Picker:
    """The covariance as battles are added, whatever their verdicts: in Laplace's approximation it does not depend on
    these, as long as the ratings stay about where they are.
    """

    def __init__(self, state: State, tiers: TierList, rooms: Sequence[CandidatePool], seed: int) -> None:
        self.state = state
        self.count, self.size = state.mean.shape
        self.contrasts = boundaries(state, tiers)
        self.mean = self.contrasts @ state.mean.ravel()
        self.covariance = state.covariance.copy()
        self.open = [room.open.copy() for room in rooms]
        p = 1 / (1 + np.exp(state.mean[:, :-1] - state.mean[:, -1:]))
        self.p = p
        self.toss = p * (1 - p)
        self.fought = [room.tried.sum(axis=1) for room in rooms]
        self.tosses = [room.tried @ toss for room, toss in zip(rooms, self.toss, strict=True)]
        self.new = np.arange(self.count)[:, None] * self.size + self.size - 1 + np.zeros_like(p, dtype=np.intp)
        self.old = np.arange(self.count)[:, None] * self.size + np.arange(self.size - 1)
        # Without a boundary what matters is the rating itself.
        self.about = self.contrasts if len(self.contrasts) else _itself(self.count, self.size)
        self.first = [
            np.argsort(np.argsort([_digest(seed, state.fields[k].language, query, "") for query in room.queries]))
            for k, room in enumerate(rooms)
        ]

    def is_open(self, place: TierGoal) -> bool:
        return bool(self.open[place[0]][place[1], place[2]])

    def wins(self, place: TierGoal) -> float:
        return float(self.p[place[0], place[2]])

    def variance(self) -> Array:
        return np.asarray(np.einsum("ki,ij,kj->k", self.about, self.covariance, self.about))

    def _worth(self, k: int, q: NDArray[np.intp], j: NDArray[np.intp]) -> Array:
        """What one battle more tells, on queries of a language and against opponents."""
        n, tosses = self.fought[k][q], self.tosses[k][q]
        information = self.state.fields[k].noise.information
        gain = information(n + 1, tosses + self.toss[k, j]) - information(n, tosses)
        # A battle whose winner is as good as known counts as one of the query's, and would seem to tell less than none.
        return np.asarray(np.maximum(gain, 1e-9))

    def _queries(self) -> tuple[NDArray[np.intp], Array]:
        """L x S: for each opponent the open query where a battle tells most, -1 if none, and what it tells."""
        queries = np.full(self.p.shape, -1, dtype=np.intp)
        worth = np.zeros(self.p.shape)
        j = np.arange(self.size - 1)
        for k, (open_, tosses, first) in enumerate(zip(self.open, self.tosses, self.first, strict=True)):
            if not len(open_):
                continue
            order = np.lexsort((first, tosses))
            best = order[np.argmax(open_[order], axis=0)]
            some = open_.any(axis=0)
            queries[k, some] = best[some]
            worth[k] = np.where(some, self._worth(k, best, j), 0)
        return queries, worth

    def _shift(self, information: Array) -> Array:
        """L x S x K: by how much one standard deviation of a battle's outcome moves what it is about."""
        reach = self.about @ self.covariance
        d = reach[:, self.new] - reach[:, self.old]
        c = self.covariance
        spread = c[self.new, self.new] + c[self.old, self.old] - 2 * c[self.new, self.old]
        return np.asarray(np.moveaxis(d, 0, -1) * np.sqrt(information / (1 + information * spread))[..., None])

    def best(self) -> TierGoal | None:
        queries, worth = self._queries()
        if (queries < 0).all():
            return None
        shift = self._shift(worth)
        left = self._left(shift)
        k, j = np.unravel_index(int(np.argmin(np.where(queries < 0, np.inf, left))), queries.shape)
        return int(k), int(queries[k, j]), int(j)

    def take_many(self, n: int) -> int:
        """Count about n battles as fought at once, those against the better half of the opponents; returns how many."""
        queries, worth = self._queries()
        left = np.where(queries < 0, np.inf, self._left(self._shift(worth))).ravel()
        good = np.argsort(left, kind="stable")[: max(1, int((queries >= 0).sum()) // 2)][:n]
        precision = np.linalg.inv(self.covariance)
        n_fought = 0
        for number, place in enumerate(good):
            k, j = divmod(int(place), self.size - 1)
            share = n // len(good) + (number < n % len(good))
            order = np.lexsort((self.first[k], self.tosses[k]))
            q = order[self.open[k][order, j]][:share]
            a = float(self._worth(k, q, np.full(len(q), j)).sum())
            self._count(k, q, j)
            n_fought += len(q)
            new, old = self.new[k, j], self.old[k, j]
            precision[[new, old], [new, old]] += a
            precision[[new, old], [old, new]] -= a
        self.covariance = np.linalg.inv(precision)
        return n_fought

    def _left(self, shift: Array) -> Array:
        """The entropy of the tier, in bits, that is expected to be left after a battle that shifts so much; without
        a boundary the variance of the rating.
        """
        from scipy.special import ndtr, xlogy

        variance = self.variance() - shift**2
        if not len(self.contrasts):
            return np.asarray(variance[..., 0])
        z, weight = _quadrature()
        far = (self.mean + shift[..., None, :] * z[:, None]) / np.sqrt(variance)[..., None, :]
        shares = _shares(ndtr(far))
        return np.asarray(-(xlogy(shares, shares).sum(axis=-1) @ weight) / np.log(2))

    def take(self, place: TierGoal) -> float:
        """Count a battle as fought; returns how many bits it is expected to tell."""
        k, q, j = place
        a = float(self._worth(k, np.array([q]), np.array([j]))[0])
        new, old = int(self.new[k, j]), int(self.old[k, j])
        column = self.covariance[:, new] - self.covariance[:, old]
        spread = column[new] - column[old]
        shift = (self.about @ column) * np.sqrt(a / (1 + a * spread))
        bits = float(self._left(np.zeros_like(shift)) - self._left(shift))
        self.covariance -= np.outer(column, column) * (a / (1 + a * spread))
        self._count(k, np.array([q]), j)
        return max(bits, 0.0)

    def _count(self, k: int, q: NDArray[np.intp], j: int) -> None:
        self.open[k][q, j] = False
        self.fought[k][q] += 1
        self.tosses[k][q] += self.toss[k, j]


@cache
def _quadrature() -> tuple[Array, Array]:
    """Points and weights of a mean over the standard normal distribution."""
    z, weight = np.polynomial.hermite_e.hermegauss(_NODES)
    return z, weight / weight.sum()


def _itself(count: int, size: int) -> Array:
    row = np.full(size, -1 / (size - 1))
    row[-1] = 1
    return np.tile(row, count)[None] / count


def _row(state: State, rooms: Sequence[CandidatePool], seed: int) -> list[TierGoal]:
    """All battles that can be or have been asked for, in the order that the seed fixes: by the hash of their names."""
    places = [
        (_digest(seed, field.language, room.queries[q], field.systems[j]), (k, int(q), int(j)))
        for k, (field, room) in enumerate(zip(state.fields, rooms, strict=True))
        for q, j in np.argwhere(room.open | room.tried)
    ]
    return [place for _, place in sorted(places)]


def _asked(order: Sequence[TierGoal], rooms: Sequence[CandidatePool]) -> Iterator[TierGoal]:
    """The longest front part of an order of which all were asked for."""
    for k, q, j in order:
        if not rooms[k].tried[q, j]:
            return
        yield k, q, j


def _digest(seed: int, *about: str) -> bytes:
    return hashlib.sha256("\0".join([str(seed), *about]).encode()).digest()
