"""Confidence set for the best of several systems, and the regret of choosing another, from estimates and draws.

A system is excluded from the confidence set if a one-sided test shows that another is better, simultaneously over all
others: the largest of its studentised deficits against the 95% quantile of the largest over the draws. The set then
contains the truly best with probability 95% (the marginal confidence set for the first rank of Mogstad, Romano, Shaikh
and Wilhelm, 2024, Review of Economic Studies 91(1), doi:10.1093/restud/rdad006; with a single step).

Draws are too certain where two systems differ on a handful of queries, all in favour of one: they never see the other
side. If equal systems are as often ahead as behind, d such queries have a p-value of at least 2^-d (the sign test), so
fewer never exclude a system, and leave the other a chance of at least 2^-(d + 1).

Probabilities use other draws. The raw draws assume that the true values differ as much as the estimates, so the best of
nearly equal systems would seem certain. For probabilities the differences are shrunk by the extent to which systems
differ beyond their errors: a hierarchical model whose spread has a half-Cauchy prior (Gelman, Bayesian Analysis 1(3),
2006) at the scale of these errors. Of the priors tried, none was better calibrated
(`benchmarks/calibration_means.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mirage.ranking.fit import Array
from mirage.ranking.graph import Side
from mirage.ranking.records import LEVEL

_SAME = 1e-12
_SPREADS = 80
"""Number of spreads of the true values to average over."""


@dataclass(frozen=True, eq=False)
class Contest:
    """Estimated worth of S systems, with draws."""

    systems: tuple[str, ...]
    """Names of the systems."""
    worth: Array
    """S: estimates."""
    draws: Array
    """B x S: draws that vary around the estimates as the estimates do around the truth."""
    n_queries: int
    """Number of queries."""
    unbounded: Mapping[str, Side] = field(default_factory=dict)
    """By system: the side on which the data does not bound its worth."""
    differing: NDArray[np.int64] | None = None
    """S x S: number of queries on which two systems differ; None if unknown, then taken to be many."""

    def of(self, systems: tuple[str, ...]) -> Contest:
        """Restrict the contest to some of the systems, in their order here."""
        kept = [k for k, system in enumerate(self.systems) if system in systems]
        names = tuple(self.systems[k] for k in kept)
        unbounded = {name: side for name, side in self.unbounded.items() if name in names}
        differing = None if self.differing is None else self.differing[np.ix_(kept, kept)]
        return Contest(names, self.worth[kept], self.draws[:, kept], self.n_queries, unbounded, differing)

    @property
    def endless(self) -> tuple[str, ...]:
        """Systems whose worth the data does not bound above: no other is shown to be better."""
        return tuple(system for system in self.systems if self.unbounded.get(system, "below") != "below")

    @property
    def best(self) -> int:
        """Index of the system with the highest worth; the first of equals."""
        return int(np.argmax(self.worth))

    def contenders(self, margin: float = 0.0) -> NDArray[np.bool_]:
        """Return for each system whether no other is shown to be better by more than the margin (S)."""
        n = len(self.systems)
        kept = np.zeros(n, dtype=bool)
        for k, (deficits, errors, bound, _) in enumerate(self._deficits):
            short = (deficits - margin) / errors > bound
            if self.differing is not None:
                short &= (n - 1) * 0.5 ** np.delete(self.differing[k], k) <= 1 - LEVEL
            kept[k] = k == self.best or self.systems[k] in self.endless or not short.any()
        return kept

    def regrets(self) -> Array:
        """Return the best system's lead over each system, with the ends of its simultaneous 95% interval (3 x S)."""
        rows = np.zeros((3, len(self.systems)))
        for k, (deficits, errors, _, bound) in enumerate(self._deficits):
            if len(deficits):
                reach = bound * errors
                ends = (deficits.max(), (deficits - reach).max(), (deficits + reach).max())
                rows[:, k] = np.maximum(ends, 0.0)
        return rows

    def p_right(self, margin: float = 0.0) -> Array:
        """Return the probability that no other system is better by more than the margin (S)."""
        short = self._shrunk.max(axis=1, keepdims=True) - self._shrunk
        chances = (short <= margin + _SAME).mean(axis=0)
        if self.differing is not None and not margin:
            few = np.where(self.differing > 0, 0.5 ** (self.differing + 1), 0.0)
            chances = np.minimum(chances, 1 - few.max(axis=1))
        return np.asarray(chances)

    def on_front(self, costs: Array) -> tuple[NDArray[np.bool_], Array]:
        """Return for each system whether no other is worth more at no higher cost, by the estimates, and the
        probability (S each).

        Args:
            costs: S x C: costs of each system; NaN where unknown, which is not compared.
        """
        with np.errstate(invalid="ignore"):
            dearer = costs[:, None, :] > costs[None, :, :]
        at_most = np.asarray(~np.swapaxes(dearer, 0, 1).any(axis=2))
        return _pareto_front(self.worth[None], at_most)[0], _pareto_front(self._shrunk, at_most).mean(axis=0)

    @cached_property
    def _shrunk(self) -> Array:
        """B x S: draws of the systems' worth relative to their mean, shrunk by treating the systems as a sample."""
        centre = self.worth - self.worth.mean()
        moves = self.draws - self.worth
        moves = moves - moves.mean(axis=1, keepdims=True)
        variances, axes = np.linalg.eigh(moves.T @ moves / len(moves))
        errors, axes = np.maximum(variances[1:], 0.0), axes[:, 1:]
        if len(self.systems) < 2 or np.median(errors) < _SAME:
            return np.asarray(centre + moves)
        scale = math.sqrt(np.median(errors))
        spreads = scale * np.geomspace(0.01, 100, _SPREADS)
        whole = spreads[:, None] ** 2 + errors
        seen = centre @ axes
        likely = -(np.log(whole) + seen**2 / whole).sum(axis=1) / 2 + np.log(spreads / (1 + (spreads / scale) ** 2))
        chance = np.cumsum(np.exp(likely - likely.max()))
        # Draws are exchangeable, so each uses the spread of its index.
        of_draw = np.searchsorted(chance / chance[-1], (np.arange(len(moves)) + 0.5) / len(moves))
        kept = spreads[of_draw, None] ** 2 / whole[of_draw]
        return np.asarray((kept * seen + np.sqrt(kept) * (moves @ axes)) @ axes.T)

    @cached_property
    def _deficits(self) -> tuple[tuple[Array, Array, float, float], ...]:
        """Deficits of each system to the S - 1 others, their standard errors, and the bounds of the largest studentised
        deficit, one-sided and two-sided.
        """
        n = len(self.systems)
        parts: list[tuple[Array, Array]] = []
        # The largest of each draw, one-sided and two-sided.
        largest = np.zeros((2, n, len(self.draws)))
        for k in range(n):
            others = np.arange(n) != k
            deficits = (self.worth - self.worth[k])[others]
            moves = (self.draws - self.draws[:, k : k + 1])[:, others] - deficits
            errors = np.maximum(np.sqrt((moves**2).mean(axis=0)), _SAME)
            studentised = moves / errors
            if n > 1:
                largest[:, k] = studentised.max(axis=1), np.abs(studentised).max(axis=1)
            parts.append((deficits, errors))
        bounds = np.quantile(largest, LEVEL, axis=2, method="weibull").T.tolist()
        return tuple((*part, *ends) for part, ends in zip(parts, bounds, strict=True))


def _pareto_front(worth: Array, at_most: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return whether no system of at most the same cost is worth more (B x S); `at_most` is S x S, the column against
    the row.
    """
    front = np.empty(worth.shape, dtype=bool)
    for k in range(worth.shape[1]):
        front[:, k] = ~(worth[:, at_most[k]] > worth[:, k : k + 1] + _SAME).any(axis=1)
    return front
