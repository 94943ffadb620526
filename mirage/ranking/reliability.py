"""Judge-aware Bradley-Terry: judges and voters weighted by how well they discriminate between systems.

P(i beats j | judge k, shown first) = 1 / (1 + exp(-(a_k (theta_i - theta_j) + b_k s))), where s is 1 if i was shown
first and -1 otherwise. a_k is the judge's discrimination and b_k its position bias. A judge that guesses has a_k = 0; a
judge that says the opposite has a negative a_k; always choosing the first answer is explained by b_k. The
discrimination of a judge instead of a share of random answers (Chen, Bennett, Collins-Thompson and Horvitz, "Pairwise
ranking aggregation in a crowdsourced setting", WSDM 2013) keeps the likelihood smooth through 0.

Only ratios of discriminations are identified: their root mean square is fixed at 1, and both parameters have a normal
prior, which keeps a judge with few verdicts near the others. A score test of equal discriminations, clustered by query,
shows whether weights are needed; it uses no prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED, VERDICTS
from mirage.errors import NotEnoughData, UnknownName
from mirage.schema import Count

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[np.float64]
_PRIOR = 1.0
"""Precision of the prior of a discrimination around 1."""
_PRIOR_POSITION = 1.0
"""Precision of the prior of a position bias around 0, in logits."""
_RIDGE = 1e-3
"""Precision of the prior of the ratings."""
_ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class JudgeWeight:
    """The reliability of one judge or voter."""

    key = ("judge",)

    judge: str
    """The judge, or the voter."""
    weight: float | None
    """Discrimination relative to the root mean square of all judges: 0 is guessing; a negative value is reversed."""
    low: float | None
    """Lower end of its 95% interval, clustered by query."""
    high: float | None
    """Upper end."""
    position: float | None
    """Position bias in logits: above 0 favours the answer shown first."""
    n: Count
    """Parsed verdicts."""
    reason: str | None
    """Why a value is null."""


@dataclass(frozen=True, slots=True)
class WeightedRating:
    """The rating of one system with and without weights."""

    key = ("system",)

    system: str
    """The system."""
    plain: float
    """Rating with equal weights and position biases, the mean over the languages, in logits."""
    plain_rank: int
    """Its rank."""
    weighted: float
    """Rating with judges weighted by their discrimination, on the scale of a judge of weight 1."""
    weighted_rank: int
    """Its rank."""


@dataclass(frozen=True)
class JudgeAwareRanking:
    """A ranking with judges weighted by their reliability, and with equal weights."""

    judges: tuple[JudgeWeight, ...]
    """The judges, by name."""
    systems: tuple[WeightedRating, ...]
    """The systems, best first by the weighted rating."""
    p: float | None
    """p-value of equal discriminations: clustered score test; null where it cannot be computed."""
    reason: str | None
    """Why there is no p-value."""
    n: int
    """Parsed verdicts."""
    n_queries: int
    """Queries, the clusters."""

    @property
    def moved(self) -> tuple[str, ...]:
        """Systems whose rank differs."""
        return tuple(row.system for row in self.systems if row.plain_rank != row.weighted_rank)

    @property
    def sentence(self) -> str:
        """The result in words."""
        if self.p is None:
            return f"Judges are not weighted: {self.reason}."
        differ = "differ" if self.p < _ALPHA else "do not differ significantly"
        ranks = f"{len(self.moved)} of {len(self.systems)} ranks change" if self.moved else "no rank changes"
        return f"The judges' reliabilities {differ} (p = {self.p:.2g}, {self.n_queries:,} queries); weighted, {ranks}."


@dataclass(frozen=True, eq=False)
class _Data:
    """N parsed verdicts."""

    judges: tuple[str, ...]
    systems: tuple[str, ...]
    languages: int
    clusters: int
    judge: NDArray[np.intp]
    language: NDArray[np.intp]
    cluster: NDArray[np.intp]
    first: NDArray[np.intp]
    """Index of the system shown first."""
    second: NDArray[np.intp]
    points: Array
    """Points of the system shown first."""


def rank_by_reliability(
    judgments: pa.Table, *, judges: Sequence[str] | None = None, languages: Sequence[str] | None = None
) -> JudgeAwareRanking:
    """Rank systems by the verdicts of several judges or voters, weighted by their reliability.

    Args:
        judgments: table `judgments`; a verdict with a voter counts as that voter's.
        judges: names; None for all but known-answer pairs and anchors.
        languages: codes; None for all.

    Raises:
        UnknownName: if a judge has no verdict.
        NotEnoughData: if there is no parsed verdict on two systems.
    """
    data = _read(judgments, judges, languages)
    plain = _fit(data, equal=True)
    if len(data.judges) < 2:
        return _result(data, plain, plain, None, "there is one judge only")
    p, reason = _score_test(data, plain)
    return _result(data, plain, _fit(data, equal=False), p, reason)


def _read(judgments: pa.Table, judges: Sequence[str] | None, languages: Sequence[str] | None) -> _Data:
    """Return the parsed verdicts as columns."""
    from mirage.battles.verdict_rows import without_known

    table = without_known(judgments)
    known = sorted(set(table["judge"].to_pylist()))
    for name in judges or ():
        if name not in known:
            raise UnknownName("judge", name, known)
    voters = table["voter"].to_pylist() if "voter" in table.column_names else [None] * len(table)
    points = table["points"].to_pylist() if "points" in table.column_names else [None] * len(table)
    names = ("judge", "language", "query_id", "system_a", "system_b", "verdict")
    rows = []
    columns = (table[name].to_pylist() for name in names)
    for judge, language, query, a, b, verdict, share, voter in zip(*columns, points, voters, strict=True):
        label = VERDICTS[verdict]
        if label == UNPARSED or (judges is not None and judge not in judges):
            continue
        if languages is not None and language not in languages:
            continue
        value = share if share is not None else {FIRST: 1.0, SECOND: 0.0, TIE: 0.5}[label]
        who = f"{judge}: {voter.partition('~')[0]}" if voter else judge
        rows.append((who, language, query, a, b, value))
    if not rows:
        raise NotEnoughData("no judge has a parsed verdict here", do="name other judges or languages")
    whos, codes, queries, a, b, values = zip(*rows, strict=True)
    judge_names, judge = np.unique(np.array(whos, dtype=object), return_inverse=True)
    language_names, language_of = np.unique(np.array(codes, dtype=object), return_inverse=True)
    _, cluster = np.unique(np.array(queries, dtype=object), return_inverse=True)
    systems, both = np.unique(np.array([*a, *b], dtype=object), return_inverse=True)
    return _Data(
        tuple(judge_names.tolist()),
        tuple(systems.tolist()),
        len(language_names),
        int(cluster.max()) + 1,
        judge.astype(np.intp),
        language_of.astype(np.intp),
        cluster.astype(np.intp),
        both[: len(rows)].astype(np.intp),
        both[len(rows) :].astype(np.intp),
        np.array(values, dtype=np.float64),
    )


@dataclass(frozen=True, eq=False)
class _Fitted:
    """Parameters of a fit."""

    theta: Array
    """L x S."""
    weight: Array
    """J: discriminations."""
    position: Array
    """J."""


def _unpack(data: _Data, x: Array, *, equal: bool) -> _Fitted:
    size, j = data.languages * len(data.systems), len(data.judges)
    theta = x[:size].reshape(data.languages, -1)
    weight = np.ones(j) if equal else x[size + j :]
    return _Fitted(theta, weight, x[size : size + j])


def _design(data: _Data, fitted: _Fitted) -> tuple[Array, Array]:
    """Return each verdict's difference of ratings, and its probability."""
    difference = fitted.theta[data.language, data.first] - fitted.theta[data.language, data.second]
    z = fitted.weight[data.judge] * difference + fitted.position[data.judge]
    return difference, np.asarray(1 / (1 + np.exp(-np.clip(z, -40, 40))))


def _fit(data: _Data, *, equal: bool) -> _Fitted:
    """Maximise the penalised likelihood, with discriminations fixed at 1 or free."""
    from scipy.optimize import minimize

    size, j, s = data.languages * len(data.systems), len(data.judges), len(data.systems)
    start = np.concatenate([np.zeros(size + j), [] if equal else np.ones(j)])
    if not equal:
        plain = _fit(data, equal=True)
        start[:size], start[size : size + j] = plain.theta.ravel(), plain.position

    def loss(x: Array) -> tuple[float, Array]:
        fitted = _unpack(data, x, equal=equal)
        difference, p = _design(data, fitted)
        value = -(
            data.points * np.log(np.maximum(p, 1e-18)) + (1 - data.points) * np.log(np.maximum(1 - p, 1e-18))
        ).sum()
        residual = p - data.points
        pull = residual * fitted.weight[data.judge]
        ahead, behind = data.language * s + data.first, data.language * s + data.second
        gradient = np.bincount(ahead, pull, size) - np.bincount(behind, pull, size)
        parts = [gradient + _RIDGE * x[:size], np.bincount(data.judge, residual, j) + _PRIOR_POSITION * fitted.position]
        value += _RIDGE / 2 * (x[:size] ** 2).sum() + _PRIOR_POSITION / 2 * (fitted.position**2).sum()
        if not equal:
            parts.append(np.bincount(data.judge, residual * difference, j) + _PRIOR * (fitted.weight - 1))
            value += _PRIOR / 2 * ((fitted.weight - 1) ** 2).sum()
        return float(value), np.concatenate(parts)

    options: dict[str, Any] = {"maxiter": 2_000, "ftol": 1e-12, "gtol": 1e-8}
    fitted = _unpack(data, minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x, equal=equal)
    theta = fitted.theta - fitted.theta.mean(axis=1, keepdims=True)
    # Ratings are those of a judge of weight 1. The mean could be 0 where judges contradict each other.
    scale = float(np.sqrt((fitted.weight**2).mean())) * (1 if fitted.weight.sum() >= 0 else -1) or 1.0
    return _Fitted(theta * scale, fitted.weight / scale, fitted.position)


def _scores(data: _Data, fitted: _Fitted) -> tuple[Array, Array]:
    """Return the scores of ratings, position biases and discriminations by cluster (Q x P), and the information."""
    difference, p = _design(data, fitted)
    size, j, s = data.languages * len(data.systems), len(data.judges), len(data.systems)
    n = len(data.points)
    jacobian = np.zeros((n, size + 2 * j))
    rows, weight = np.arange(n), fitted.weight[data.judge]
    jacobian[rows, data.language * s + data.first] = weight
    jacobian[rows, data.language * s + data.second] = -weight
    jacobian[rows, size + data.judge] = 1
    jacobian[rows, size + j + data.judge] = difference
    scores = np.zeros((data.clusters, size + 2 * j))
    np.add.at(scores, data.cluster, jacobian * (data.points - p)[:, None])
    information = jacobian.T @ (jacobian * (p * (1 - p))[:, None])
    return scores, information


def _score_test(data: _Data, plain: _Fitted) -> tuple[float | None, str | None]:
    """Test equal discriminations by a score test clustered by query, calibrated as Hotelling's T squared."""
    from scipy.stats import f

    j = len(data.judges)
    scores, information = _scores(data, plain)
    # Contrasts between judges, since a common factor only scales the ratings.
    contrasts = np.linalg.svd(np.eye(j) - 1 / j)[0][:, : j - 1]
    own = scores[:, -j:] @ contrasts
    nuisance = scores[:, :-j]
    among = information[:-j, :-j] + 1e-8 * np.eye(len(information) - j)
    efficient = own - nuisance @ np.linalg.solve(among, information[:-j, -j:] @ contrasts)
    total = efficient.sum(axis=0)
    centred = efficient - efficient.mean(axis=0)
    variance = centred.T @ centred * data.clusters / max(data.clusters - 1, 1)
    values, vectors = np.linalg.eigh(variance)
    kept = values > 1e-9 * max(values.max(), 1e-12)
    k = int(kept.sum())
    if k == 0:
        return None, "the judges do not differ"
    if data.clusters <= k + 1:
        return None, f"{data.clusters} queries are too few to compare {j} judges"
    t2 = float((((vectors[:, kept].T @ total) ** 2) / values[kept]).sum())
    return float(f.sf(t2 * (data.clusters - k) / (k * (data.clusters - 1)), k, data.clusters - k)), None


def _intervals(data: _Data, fitted: _Fitted) -> Array:
    """Return the standard errors of the discriminations (J), clustered by query."""
    j, size = len(data.judges), data.languages * len(data.systems)
    scores, information = _scores(data, fitted)
    precision = np.concatenate([np.full(size, _RIDGE), np.full(j, _PRIOR_POSITION), np.full(j, _PRIOR)])
    bread = np.linalg.inv(information + np.diag(precision))
    centred = scores - scores.mean(axis=0)
    meat = centred.T @ centred * data.clusters / max(data.clusters - 1, 1)
    # Normalising by the root mean square removes the common factor of all weights.
    normal = np.eye(j) - np.outer(fitted.weight, fitted.weight) / j
    covariance = normal @ (bread @ meat @ bread)[-j:, -j:] @ normal.T
    return np.asarray(np.sqrt(np.maximum(np.diag(covariance), 0)))


def _result(data: _Data, plain: _Fitted, weighted: _Fitted, p: float | None, reason: str | None) -> JudgeAwareRanking:
    """Return the ranking with its judges."""
    from scipy.special import stdtrit

    reach = float(stdtrit(max(data.clusters - 1, 1), 1 - _ALPHA / 2))
    n = np.bincount(data.judge, minlength=len(data.judges)).tolist()
    if p is None:
        judges = tuple(
            JudgeWeight(name, None, None, None, float(plain.position[k]), n[k], reason)
            for k, name in enumerate(data.judges)
        )
        weighted = plain
    else:
        errors = _intervals(data, weighted)
        judges = tuple(
            JudgeWeight(
                name,
                float(weighted.weight[k]),
                float(weighted.weight[k] - reach * errors[k]),
                float(weighted.weight[k] + reach * errors[k]),
                float(weighted.position[k]),
                n[k],
                None,
            )
            for k, name in enumerate(data.judges)
        )
    before, after = plain.theta.mean(axis=0), weighted.theta.mean(axis=0)
    ranks = [{name: k for k, name in enumerate(_order(data.systems, theta), 1)} for theta in (before, after)]
    rows = [
        WeightedRating(name, float(before[s]), ranks[0][name], float(after[s]), ranks[1][name])
        for s, name in enumerate(data.systems)
    ]
    systems = tuple(sorted(rows, key=lambda row: row.weighted_rank))
    return JudgeAwareRanking(judges, systems, p, reason, len(data.points), data.clusters)


def _order(systems: Sequence[str], theta: Array) -> list[str]:
    return [systems[k] for k in sorted(range(len(systems)), key=lambda k: (-round(float(theta[k]), 9), systems[k]))]
