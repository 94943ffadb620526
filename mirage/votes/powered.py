"""Prediction-powered inference for Bradley-Terry, on arrays.

The judge decides many battles and may be wrong in a way of its own; people vote on a random part of them. The estimate
takes the judge's many verdicts and adds the difference that people make where both spoke:

    g(theta) = mean over votes of psi(human) + lambda (mean over all of psi(judge) - mean over votes of psi(judge)) = 0
    psi(y)   = d (y - sigma(d . theta)),    d = +1 at the first system, -1 at the second, y = points of the first

It is right whatever the judge does; lambda only decides how narrow it is: 0 is votes alone, 1 trusts the judge as far
as the votes bear it out. It is tuned to the least variance (PPI++), so that the interval is not wider than that of the
votes alone but for chance. Errors are sandwiches over questions: battles on one question are not independent.

Sources: Angelopoulos et al., Science 382 (2023), 669-674; for Bradley-Terry: Boyeau et al., arXiv 2403.07008; lambda:
Angelopoulos, Duchi and Zrnic, arXiv 2311.01453. Unlike the papers: errors are clustered by question, and the battles
voted on are among the judge's, which the errors know. In simulations with a judge that is wrong about two systems
(`benchmarks/correction.py`: 6 to 19 systems, 60 to 400 votes) these intervals covered 94.7 to 96.5% and were 0.5 to 0.7
times as wide as those of the votes alone; the judge's own covered the two systems in 0 to 1.5% of the runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage.errors import NotEnoughData
from mirage.votes.verdicts import Battle

Array = NDArray[np.float64]
Index = NDArray[np.intp]

_FAR = 15.0
"""Logits beyond which a rating has no bound."""


@dataclass(frozen=True, eq=False)
class Data:
    """The battles of one language as arrays: N that the judge decided, of which people voted on some."""

    first: Index
    """N: the first system."""
    second: Index
    """N: the second."""
    query: Index
    """N: the question, from 0."""
    judge: Array
    """N: the judge's points of the first system."""
    human: Array
    """N: people's; 0 where nobody voted."""
    voted: NDArray[np.bool_]
    """N: whether somebody voted."""
    systems: int
    """S."""
    queries: int
    """Q."""

    @classmethod
    def of(
        cls, said: Mapping[Battle, float], opinions: Mapping[Battle, Sequence[float]], systems: Sequence[str]
    ) -> Data:
        """The arrays of battles.

        Args:
            said: the judge's points of the first system, by battle.
            opinions: points by the people who voted on it, by battle.
            systems: the systems, in the order of their numbers.
        """
        place = {name: k for k, name in enumerate(systems)}
        queries = {name: k for k, name in enumerate(sorted({one[1] for one in said}))}
        means = [float(np.mean(opinions[one])) if one in opinions else 0.0 for one in said]
        return cls(
            np.array([place[one[2]] for one in said], dtype=np.intp),
            np.array([place[one[3]] for one in said], dtype=np.intp),
            np.array([queries[one[1]] for one in said], dtype=np.intp),
            np.array(list(said.values())),
            np.array(means),
            np.array([one in opinions for one in said], dtype=bool),
            len(systems),
            len(queries),
        )

    @property
    def questions_voted(self) -> int:
        """Questions on which somebody voted."""
        return len(np.unique(self.query[self.voted]))

    def means(self, values: Array, among: NDArray[np.bool_]) -> Array:
        """S x S: sums by first and second system, over the number of battles among which."""
        made = np.zeros((self.systems, self.systems))
        np.add.at(made, (self.first[among], self.second[among]), values[among] / among.sum())
        return made

    def scores(self, residual: Array, among: NDArray[np.bool_]) -> Array:
        """Q x S: what each question adds to the mean of d * residual, less what its battles would add on average."""
        n = among.sum()
        made = np.zeros((self.queries, self.systems))
        np.add.at(made, (self.query[among], self.first[among]), residual[among] / n)
        np.add.at(made, (self.query[among], self.second[among]), -residual[among] / n)
        share = np.bincount(self.query[among], minlength=self.queries) / n
        return np.asarray(made - share[:, None] * made.sum(axis=0))


def estimate(data: Data, lam: float | None) -> tuple[Array, float, Array]:
    """Ratings, the weight of the judge, and the covariance of the ratings.

    Args:
        data: the battles.
        lam: the weight; None for the one with the least variance.

    Returns:
        S, centred on 0; from 0 to 1; S x S.

    Raises:
        NotEnoughData: if a rating has no bound.
    """
    everything = np.ones_like(data.voted)
    weights = [data.means(np.ones_like(data.judge), among) for among in (data.voted, everything)]
    human = data.means(data.human, data.voted)
    judge = [data.means(data.judge, among) for among in (data.voted, everything)]
    weight = 0.5 if lam is None else lam
    theta = np.zeros(data.systems)
    for _ in range(1 if lam is not None else 4):
        w = (1 - weight) * weights[0] + weight * weights[1]
        theta = solve(w, human + weight * (judge[1] - judge[0]), theta)
        expected = _sigma(theta[data.first] - theta[data.second])
        inverse = np.linalg.pinv(_curvature(w, theta), hermitian=True)
        votes = data.scores(data.human - expected, data.voted) @ inverse
        rest = (
            data.scores(data.judge - expected, everything) - data.scores(data.judge - expected, data.voted)
        ) @ inverse
        if lam is None:
            spread = float((rest**2).sum())
            best = -float((votes * rest).sum()) / spread if spread > 0 else 0.0
            if abs(best - weight) < 1e-6:
                break
            weight = min(max(best, 0.0), 1.0)
    g = data.questions_voted
    influence = votes + weight * rest
    return theta, weight, influence.T @ influence * (g / (g - 1))


def solve(w: Array, a: Array, theta: Array) -> Array:
    """The theta at which the expected points are those that were won: Newton on a convex function, with halving.

    Args:
        w: S x S: weight of the battles of each pair, the first system in the row.
        a: S x S: points of the first system; may lie outside of 0 to `w`.
        theta: where to begin.

    Raises:
        NotEnoughData: if the ratings have no bound.
    """

    def value(x: Array) -> float:
        d = x[:, None] - x[None, :]
        return float((w * np.logaddexp(0, d) - a * d).sum())

    for _ in range(100):
        gap = a - w * _sigma(theta[:, None] - theta[None, :])
        gradient = gap.sum(axis=1) - gap.sum(axis=0)
        step = np.linalg.pinv(_curvature(w, theta), hermitian=True) @ gradient
        scale, here = 1.0, value(theta)
        while value(theta + scale * step) > here + 1e-12 and scale > 1e-6:
            scale /= 2
        theta = theta + scale * step
        theta -= theta.mean()
        if np.abs(theta).max() > _FAR:
            break
        if np.abs(step).max() < 1e-9:
            return theta
    raise NotEnoughData(
        "a system never lost, or never won, in the votes: its corrected rating has no bound",
        do="vote on more battles of the queue, random ones among them",
    )


def _curvature(w: Array, theta: Array) -> Array:
    """S x S: minus the derivative of the expected points."""
    p = _sigma(theta[:, None] - theta[None, :])
    c = w * p * (1 - p)
    c = c + c.T
    return np.asarray(np.diag(c.sum(axis=1)) - c)


def _sigma(x: Array) -> Array:
    return np.asarray(0.5 + np.tanh(x / 2) / 2)
