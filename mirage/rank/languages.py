"""How a ranking changes from language to language, and where a system is unusually strong or weak.

    steady = stability(ranking)          # ranks by language for a bump chart, spread, agreement between languages
    tests = unusual(ranking, by="family")    # a test for each system and language family

Both read the draws of a finished ranking and fit nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput, NotEnoughData
from mirage.languages import Language, language
from mirage.rank.bootstrap import JOINT, LEVEL, LanguageRanking, Ranking
from mirage.rank.holm import holm

Array = NDArray[np.float64]
By = Literal["family", "script", "direction", "spaces"]
"""How languages are grouped: by family (or branch of Indo-European), script, writing direction, or whether there are
spaces between words."""

_SAME = 1e-9
"""Ratings closer than this are equal, as for ranks."""


@dataclass(frozen=True, slots=True)
class LanguageRank:
    """Where a system stands in one language."""

    system: str
    """The system."""
    language: str
    """Code of the language."""
    rank: int
    """1 is best, among the systems that battle in this language; equal ratings share the best rank."""
    low: int
    """Best end of the 95% interval of the rank."""
    high: int
    """Worst end."""
    of: int
    """Systems ranked in this language."""
    rating: float
    """Bradley-Terry strength there, in logits."""
    n_queries: int
    """Queries behind it."""


@dataclass(frozen=True, slots=True)
class Steadiness:
    """How far a system's rank depends on the language."""

    system: str
    """The system."""
    mean: float
    """Mean of its ranks over languages."""
    low: float
    """Lower end of the 95% interval of the mean, percentiles over joint draws of queries in every language."""
    high: float
    """Upper end."""
    best: int
    """Best rank in any language."""
    worst: int
    """Worst rank in any language."""
    spread: float | None
    """Standard deviation of its ranks over languages; null where it is ranked in one language only. Chance in the
    choice of queries is part of it."""
    n_languages: int
    """Languages it is ranked in."""


@dataclass(frozen=True, slots=True)
class LanguageAgreement:
    """How alike two languages rank the systems that both have."""

    first: str
    """Code of one language."""
    second: str
    """Code of the other."""
    tau: float | None
    """Kendall's tau-b of the two rankings, in [-1, 1]; null where it has no value."""
    low: float | None
    """Lower end of its 95% interval: percentiles over draws of the queries of both."""
    high: float | None
    """Upper end."""
    n: int
    """Systems ranked in both."""
    reason: str | None
    """Why `tau` is null; null where it is not."""


@dataclass(frozen=True)
class Stability:
    """Rank stability across languages, with what it was computed from."""

    ranks: tuple[LanguageRank, ...]
    """One row a system and language, systems by their mean rank, languages by code."""
    systems: tuple[Steadiness, ...]
    """One row a system, by mean rank, then name."""
    agreement: tuple[LanguageAgreement, ...]
    """One row a pair of languages, by code."""
    referee: str
    """What decided the battles."""
    n_draws: int
    """Draws behind the intervals."""
    seed: int
    """Their seed."""

    @property
    def method(self) -> str:
        """How the numbers came about, in a line."""
        return (
            f"ranks of Bradley-Terry ratings by {self.referee}, Kendall's tau-b between languages; {LEVEL:.0%} "
            f"percentile intervals over {self.n_draws} joint draws of queries, seed {self.seed}"
        )


@dataclass(frozen=True, slots=True)
class LanguageEffect:
    """By how much a system is rated higher or lower in a group of languages than in the others, with a test."""

    system: str
    """The system."""
    group: str
    """The group of languages."""
    estimate: float
    """Mean rating within the group less the mean rating elsewhere, in logits; above 0 is stronger within."""
    error: float | None
    """Standard error of the estimate: choice of queries and of languages together; null where it cannot be told."""
    low: float | None
    """Lower end of the 95% interval of the estimate, not adjusted for the number of tests."""
    high: float | None
    """Upper end."""
    between: float | None
    """Estimated standard deviation of the system's true strength between languages of one group, in logits."""
    p: float | None
    """Two-sided p-value of no difference."""
    p_holm: float | None
    """The same after Holm's correction over all tested cells."""
    languages: tuple[str, ...]
    """Codes of the group's languages."""
    n_languages: int
    """How many these are."""
    n_elsewhere: int
    """Languages outside the group."""
    n_queries: int
    """Queries in the group's languages."""
    reason: str | None
    """Why there is no test; null where there is one."""


@dataclass(frozen=True)
class LanguageEffects:
    """The tests of every system in every group of languages."""

    by: By
    """How languages are grouped."""
    effects: tuple[LanguageEffect, ...]
    """One row a system and group, by group, then system."""
    tested: int
    """Cells with a test, over which Holm's correction goes."""
    referee: str
    """What decided the battles."""
    n_draws: int
    """Draws behind the sampling errors."""
    seed: int
    """Their seed."""

    @property
    def method(self) -> str:
        """How the numbers came about, in a line."""
        return (
            f"difference of mean ratings by {self.referee} within and outside a group of languages, grouped by "
            f"{self.by}; t-test with languages as a random effect, sampling errors from {self.n_draws} draws of "
            f"queries, seed {self.seed}; Holm's correction over {self.tested} tests"
        )

    def significant(self, level: float = 1 - LEVEL) -> tuple[LanguageEffect, ...]:
        """The effects that stand after the correction, at most `level` of false alarms in all, the surest first."""
        sure = [e for e in self.effects if e.p_holm is not None and e.p_holm <= level]
        return tuple(sorted(sure, key=lambda e: (e.p, e.group, e.system)))


def kendall(first: Array, second: Array) -> Array:
    """Kendall's tau-b of ratings along the last axis; NaN where one side has all ratings equal.

    Args:
        first: ... x S ratings; differences under 1e-9 are ties.
        second: ratings of the same systems, of a shape that broadcasts.

    Source: Kendall, Biometrika 33 (1945).
    """
    i, j = np.triu_indices(first.shape[-1], 1)

    def order(x: Array) -> Array:
        d = x[..., i] - x[..., j]
        return np.where(np.abs(d) <= _SAME, 0.0, np.sign(d))

    a, b = order(np.asarray(first, dtype=float)), order(np.asarray(second, dtype=float))
    norm = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(axis=-1) / norm)


def stability(ranking: Ranking) -> Stability:
    """Ranks by language, how far each system's rank depends on it, and how alike the languages rank.

    The interval of tau is the percentile interval. Noise in the ratings lowers the tau of two languages, that of a draw
    more than that of the whole, so that the interval errs to the low side; its coverage of the true tau is tested by
    simulation, and it is better than that of the basic and the bias-corrected interval.

    Args:
        ranking: of at least two languages.

    Raises:
        NotEnoughData: if there is one language only.
    """
    languages = _single(ranking)
    indices = {code: {name: k for k, name in enumerate(row.systems)} for code, row in languages.items()}
    systems = sorted({name for row in languages.values() for name in row.systems})
    ranks: dict[str, list[LanguageRank]] = {name: [] for name in systems}
    drawn: dict[str, list[NDArray[np.int64]]] = {name: [] for name in systems}
    for code, row in languages.items():
        low, high = row.rank_interval()
        place = row.ranks()
        draws = 1 + (row.draws[:, None, :] > row.draws[:, :, None] + _SAME).sum(axis=2)
        for name, k in indices[code].items():
            ranks[name].append(
                LanguageRank(
                    name,
                    code,
                    int(place[k]),
                    int(low[k]),
                    int(high[k]),
                    len(row.systems),
                    float(row.theta[k]),
                    row.n_queries,
                )
            )
            drawn[name].append(draws[:, k])
    steady = []
    for name in systems:
        system_ranks = np.array([r.rank for r in ranks[name]])
        low, high = _percentiles(np.mean(drawn[name], axis=0))
        spread = float(system_ranks.std(ddof=1)) if len(system_ranks) > 1 else None
        steady.append(
            Steadiness(
                name,
                float(system_ranks.mean()),
                low,
                high,
                int(system_ranks.min()),
                int(system_ranks.max()),
                spread,
                len(system_ranks),
            )
        )
    steady.sort(key=lambda s: (s.mean, s.system))
    return Stability(
        tuple(r for s in steady for r in ranks[s.system]),
        tuple(steady),
        tuple(_agreement(languages[a], languages[b]) for a, b in combinations(languages, 2)),
        ranking.referee,
        ranking.n_draws,
        ranking.seed,
    )


def _agreement(first: LanguageRanking, second: LanguageRanking) -> LanguageAgreement:
    both = sorted(set(first.systems) & set(second.systems))
    codes = (first.language, second.language)
    if len(both) < 2:
        return LanguageAgreement(*codes, None, None, None, len(both), f"they have {len(both)} systems in common")
    a, b = ([row.systems.index(name) for name in both] for row in (first, second))
    tau = float(kendall(first.theta[a], second.theta[b]))
    if np.isnan(tau):
        return LanguageAgreement(*codes, None, None, None, len(both), "in one of them all ratings are equal")
    draws = kendall(first.draws[:, a], second.draws[:, b])
    return LanguageAgreement(*codes, tau, *_percentiles(draws[~np.isnan(draws)]), len(both), None)


def language_effects(ranking: Ranking, *, by: By = "family") -> LanguageEffects:
    """Test for each system whether its strength in a group of languages differs from its strength elsewhere.

    Languages are a random effect. A system differs a little in every language; with enough queries any two languages
    are told apart, and an error from the queries alone would make a finding of every group. What is asked is whether a
    group stands out from what languages do anyhow, so the variance of a language's rating is the sum of two parts: its
    sampling variance v, from the draws, and the variance between languages of one group, T, by the method of moments
    from the spread around the two group means, not below 0. The estimate is the difference of two plain means, its
    variance the sum of (T + v) / n^2 over the languages of each side, and it is compared with Student's t of L - 2
    degrees of freedom for L languages (where all v are equal and T is above 0 this is the two-sample t-test; elsewhere
    it is wider). Holm's correction goes over all cells. A group of one language has no variation within, so that the
    group and the language cannot be told apart: such a cell has an estimate and no test.

    Args:
        ranking: of at least two languages.
        by: how languages are grouped. Of two complementary groups only the smaller is tested. A language of no known
            family is in no group, and part of what every group is compared with.

    Raises:
        NotEnoughData: if there is one language only.
        BadInput: if `by` is unknown.
    """
    if by not in _GROUPED:
        raise BadInput(f"languages cannot be grouped by {by!r}", do="use " + ", ".join(_GROUPED))
    languages = _single(ranking)
    groups: dict[str, list[str]] = {}
    for code in languages:
        if group := _GROUPED[by](language(code)):
            groups.setdefault(group, []).append(code)
    if len(groups) == 2 and sum(map(len, groups.values())) == len(languages):
        # The two are one test with two signs.
        groups = dict([min(groups.items(), key=lambda g: (len(g[1]), g[0]))])
    cells = [
        _effect(system, group, codes, languages)
        for group, codes in sorted(groups.items())
        for system in sorted({name for row in languages.values() for name in row.systems})
        if any(system in languages[code].systems for code in codes)
        and any(system in languages[code].systems for code in languages if code not in codes)
    ]
    adjusted = iter(holm([cell.p for cell in cells if cell.p is not None]))
    effects = tuple(cell if cell.p is None else replace(cell, p_holm=next(adjusted)) for cell in cells)
    tested = sum(e.p is not None for e in effects)
    return LanguageEffects(by, effects, tested, ranking.referee, ranking.n_draws, ranking.seed)


def _effect(system: str, group: str, codes: Sequence[str], languages: Mapping[str, LanguageRanking]) -> LanguageEffect:
    from scipy.special import stdtr, stdtrit

    rows = {code: row for code, row in languages.items() if system in row.systems}
    inside = tuple(code for code in rows if code in codes)
    sides = [inside, tuple(code for code in rows if code not in codes)]
    n = [len(side) for side in sides]
    theta = [np.array([rows[c].theta[rows[c].systems.index(system)] for c in side]) for side in sides]
    estimate = float(theta[0].mean() - theta[1].mean())
    queries = sum(rows[code].n_queries for code in inside)
    loose = [code for code, row in rows.items() if system not in row.bounded]
    reason = None
    if loose:
        reason = f"the data does not bound its rating in {', '.join(loose)}"
    elif n[0] < 2:
        reason = "the group has one language, so that group and language cannot be told apart"
    elif n[1] < 2:
        reason = "there is one language outside the group, so that the rest and that language cannot be told apart"
    elif min(row.n_queries for row in rows.values()) < 2 or min(len(row.draws) for row in rows.values()) < 2:
        reason = "a language has one query or one draw, hence no sampling error"
    if reason:
        nothing = (None, None, None, None, None, None)
        return LanguageEffect(system, group, estimate, *nothing, inside, n[0], n[1], queries, reason)
    v = [np.array([_sampling(rows[c], system) for c in side]) for side in sides]
    df = n[0] + n[1] - 2
    squares = sum(float(((t - t.mean()) ** 2).sum()) for t in theta)
    expected = sum(float((1 - 1 / k) * side.sum()) for k, side in zip(n, v, strict=True))
    between = max(0.0, (squares - expected) / df)
    error = float(np.sqrt(sum((between + side).sum() / k**2 for k, side in zip(n, v, strict=True))))
    p = 1.0 if error == 0 and estimate == 0 else 2 * float(stdtr(df, -abs(estimate) / error)) if error else 0.0
    margin = float(stdtrit(df, (1 + LEVEL) / 2)) * error
    ends = estimate - margin, estimate + margin
    statistics = (error, *ends, float(np.sqrt(between)), p, None)
    return LanguageEffect(system, group, estimate, *statistics, inside, n[0], n[1], queries, None)


def _sampling(row: LanguageRanking, system: str) -> float:
    """Variance of a rating over queries; a bootstrap of n queries is too small by (n - 1) / n."""
    draws = row.draws[:, row.systems.index(system)]
    return float(draws.var(ddof=1)) * row.n_queries / (row.n_queries - 1)


def _single(ranking: Ranking) -> dict[str, LanguageRanking]:
    languages = {code: row for code, row in ranking.languages.items() if code != JOINT}
    if len(languages) < 2:
        raise NotEnoughData(
            f"one language ({', '.join(languages)}) says nothing of differences between languages",
            do="rank at least two languages",
        )
    return languages


def _percentiles(draws: Array) -> tuple[float, float]:
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="weibull")
    return float(low), float(high)


def _spaces(language: Language) -> str:
    return "spaces between words" if language.spaced else "no spaces between words"


_GROUPED: dict[By, Callable[[Language], str | None]] = {
    "family": lambda language: language.family,
    "script": lambda language: language.script,
    "direction": lambda language: {"rtl": "right to left", "ltr": "left to right"}[language.direction],
    "spaces": _spaces,
}
