"""Kendall's tau, and systems that are unusually strong or weak in a group of languages.

    tests = language_effects(ranking, by="family")    # a test for each system and language family

The tests use the draws of a finished ranking and fit no model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.bootstrap import JOINT, LEVEL, LanguageRanking, RankingReport
from mirage.stats.holm import holm
from mirage.text.languages import Language, language

Array = NDArray[np.float64]
By = Literal["family", "script", "direction", "spaces"]
"""Grouping of languages: by family (or branch of Indo-European), script, writing direction, or whether words are
separated by spaces.
"""

_SAME = 1e-9
"""Ratings closer than this are equal, as in ranks."""


@dataclass(frozen=True, slots=True)
class LanguageEffect:
    """The difference in a system's rating between a group of languages and the others, with a test."""

    system: str
    """The system."""
    group: str
    """The group of languages."""
    estimate: float
    """Mean rating within the group minus the mean rating elsewhere, in logits; above 0 is stronger within."""
    error: float | None
    """Standard error of the estimate, with queries and languages as sampled; null without a test."""
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
    """Number of languages in the group."""
    n_elsewhere: int
    """Number of languages outside the group."""
    n_queries: int
    """Number of queries in the group's languages."""
    reason: str | None
    """Reason why there is no test; null where there is one."""


@dataclass(frozen=True)
class LanguageEffects:
    """Tests of every system in every group of languages."""

    by: By
    """Grouping of languages."""
    effects: tuple[LanguageEffect, ...]
    """One row per system and group, by group, then system."""
    tested: int
    """Number of tests, over which Holm's correction is applied."""
    referee: str
    """Name of the referee that decided the battles."""
    n_draws: int
    """Number of draws behind the sampling errors."""
    seed: int
    """Their seed."""

    @property
    def method(self) -> str:
        """The method in one line."""
        return (
            f"difference of mean ratings by {self.referee} within and outside a group of languages, grouped by "
            f"{self.by}; t-test with languages as a random effect, sampling errors from {self.n_draws} draws of "
            f"queries, seed {self.seed}; Holm's correction over {self.tested} tests"
        )

    def significant(self, level: float = 1 - LEVEL) -> tuple[LanguageEffect, ...]:
        """Return the effects that are significant after the correction, at family-wise error `level`, the smallest
        p-value first.
        """
        sure = [e for e in self.effects if e.p_holm is not None and e.p_holm <= level]
        return tuple(sorted(sure, key=lambda e: (e.p, e.group, e.system)))


def kendall(first: Array, second: Array) -> Array:
    """Return Kendall's tau-b of ratings along the last axis; NaN where one side has all ratings equal.

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


def language_effects(ranking: RankingReport, *, by: By = "family") -> LanguageEffects:
    """Test for each system whether its strength in a group of languages differs from its strength elsewhere.

    Languages are a random effect. A system differs a little in every language; with enough queries any two languages
    differ significantly, and with errors from the queries alone every group would be a finding. The question is whether
    a group differs by more than languages usually do, so the variance of a language's rating is the sum of two parts:
    its sampling variance v, from the draws, and the variance between languages of one group, T, by the method of
    moments from the spread around the two group means, truncated at 0. The estimate is the difference of two plain
    means, its variance the sum of (T + v) / n^2 over the languages of each side, and it is compared with Student's t of
    L - 2 degrees of freedom for L languages (where all v are equal and T is above 0 this is the two-sample t-test;
    elsewhere it is wider). Holm's correction is applied over all cells. In a group of one language, group and language
    are confounded: such a cell has an estimate and no test.

    Args:
        ranking: of at least two languages.
        by: grouping of languages. Of two complementary groups only the smaller is tested. A language of unknown family
            is in no group, but part of the complement of every group.

    Raises:
        NotEnoughData: if there is only one language.
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
        # Two complementary groups give the same test with opposite signs.
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
        reason = "the group has one language, so group and language are confounded"
    elif n[1] < 2:
        reason = "there is one language outside the group, so the rest and that language are confounded"
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
    """Return the sampling variance of a rating; the variance of a bootstrap of n queries is too small by (n - 1)
    / n.
    """
    draws = row.draws[:, row.systems.index(system)]
    return float(draws.var(ddof=1)) * row.n_queries / (row.n_queries - 1)


def _single(ranking: RankingReport) -> dict[str, LanguageRanking]:
    languages = {code: row for code, row in ranking.languages.items() if code != JOINT}
    if len(languages) < 2:
        raise NotEnoughData(
            f"one language ({', '.join(languages)}) shows no differences between languages",
            do="rank at least two languages",
        )
    return languages


def _spaces(language: Language) -> str:
    return "spaces between words" if language.spaced else "no spaces between words"


_GROUPED: dict[By, Callable[[Language], str | None]] = {
    "family": lambda language: language.family,
    "script": lambda language: language.script,
    "direction": lambda language: {"rtl": "right to left", "ltr": "left to right"}[language.direction],
    "spaces": _spaces,
}
