"""Rates corrected for labels with a known share of errors.

An audit of labels by people gives the share of wrong labels among the queries called unanswerable (e0) and among those
called answerable (e1). The observed shares of answers then mix the true ones:

    q0 = (1 - e0) H + e0 A        on queries called unanswerable; H: hallucination rate
    q1 = (1 - e1) A + e1 H        on queries called answerable; 1 - A: error rate

assuming that answers depend on the true state of a query, not on its label. The solution is the estimator of
Rogan and Gladen (American Journal of Epidemiology 107, 1978) for two groups. Its interval combines the effects of the
ends of the four intervals on the estimate (the method of variance estimates recovery: Zou and Donner, Statistics in
Medicine 27, 2008), less the covariance of a share and its label error, since the audited queries are among those of the
share. Student's t at the audit's degrees of freedom replaces the normal quantile. For a large audit without errors it
equals the interval of the observed share. Each language is corrected by its own audit; the row `all` is their mean.
Coverage is simulated in `benchmarks/coverage.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mirage.errors import NotEnoughData
from mirage.stats.intervals import REACH, student_reach, wilson
from mirage.stats.units import sharing_factor

LEAST_AUDITED = 10
"""Minimum number of audited queries of each label in a language for a correction there."""
NOT_AUDITED = "labels not audited"
"""Note beside a rate on automatic labels that no person checked."""
_LEAST_SEPARATION = 0.05
"""Minimum of 1 - e0 - e1, below which the labels are too close to chance."""


@dataclass(frozen=True, slots=True)
class AuditedQuery:
    """A query whose label people checked."""

    language: str
    """Language of the query."""
    query_id: str
    """The query; the same id in several languages is one unit."""
    answerable: bool
    """The label: whether the passages answer the query."""
    wrong: bool
    """Whether people say the opposite."""


@dataclass(frozen=True, slots=True)
class ObservedShare:
    """Share among the queries with one label: of answers, or of wrong labels among the audited queries."""

    value: float
    """The share, in [0, 1]."""
    low: float
    """Lower end of its 95% interval; Wilson's for wrong labels."""
    high: float
    """Upper end."""
    n: int
    """Number of queries."""

    def mirror(self) -> ObservedShare:
        """Return the share of abstentions."""
        return ObservedShare(1 - self.value, 1 - self.high, 1 - self.low, self.n)


@dataclass(frozen=True, slots=True)
class CorrectedShare:
    """Corrected share of answers among the truly unanswerable or answerable queries."""

    value: float
    """The share, clipped to [0, 1]."""
    low: float
    """Lower end of its 95% interval, which includes the uncertainty of the audit."""
    high: float
    """Upper end."""
    below: float
    """Distance of the lower end from the estimate before both are clipped."""
    above: float
    """Distance of the upper end."""
    by_audit: float
    """Share of the variance that is due to the audit, less its covariance with the observed shares."""

    def mirror(self) -> CorrectedShare:
        """Return the share of abstentions."""
        return CorrectedShare(1 - self.value, 1 - self.high, 1 - self.low, self.above, self.below, self.by_audit)


@dataclass(frozen=True)
class LabelAudit:
    """People's answers to an audit of labels."""

    queries: tuple[AuditedQuery, ...]
    """Audited queries with agreement on their labels."""
    unclear: int = 0
    """Audited queries that people call unclear or disagree on; excluded."""
    notes: tuple[str, ...] = ()
    """Sentences on votes that are left out or not fully proved."""

    def errors(self, language: str) -> tuple[ObservedShare, ObservedShare]:
        """Return the error of the label unanswerable, and of the label answerable, in a language.

        Raises:
            NotEnoughData: if a label has fewer than `LEAST_AUDITED` audited queries.
        """
        return _label_error(self._labelled_as(language, False), False), _label_error(
            self._labelled_as(language, True), True
        )

    def sharing_factor(self, languages: Sequence[str]) -> float:
        """Return the variance of the mean of the languages' errors relative to that of independent audits, the larger
        of the two labels: more than 1 if people audited one query in several languages.
        """
        import numpy as np

        factors = []
        for answerable in (False, True):
            rows = {code: self._labelled_as(code, answerable) for code in languages}
            wrong = {code: np.array([float(query.wrong) for query in of]) for code, of in rows.items()}
            factors.append(sharing_factor(wrong, {code: [query.query_id for query in of] for code, of in rows.items()}))
        return max(factors)

    def _labelled_as(self, language: str, answerable: bool) -> list[AuditedQuery]:
        return [query for query in self.queries if (query.language, query.answerable) == (language, answerable)]


@dataclass(frozen=True)
class QueryLabels:
    """Origin of an arena's labels, and their audit."""

    automatic: bool = False
    """Whether a program decided which queries are answerable."""
    audit: LabelAudit | None = None
    """The audit by people; None without one."""

    @property
    def unaudited(self) -> bool:
        """True if a program made the labels and no person checked them."""
        return self.automatic and self.audit is None


def _label_error(rows: Sequence[AuditedQuery], answerable: bool) -> ObservedShare:
    if len(rows) < LEAST_AUDITED:
        label = "answerable" if answerable else "unanswerable"
        raise NotEnoughData(
            f"the audit has {len(rows)} queries labelled {label}; a correction needs {LEAST_AUDITED} in the language",
            do="audit more queries: mirage votes audit DIR --out FILE",
        )
    n, wrong = len(rows), sum(query.wrong for query in rows)
    return ObservedShare(wrong / n, *wilson(wrong, n), n)


def correct_shares(
    unanswerable: ObservedShare,
    answerable: ObservedShare,
    errors: tuple[ObservedShare, ObservedShare],
) -> tuple[CorrectedShare, CorrectedShare]:
    """Correct the shares of answers on queries labelled unanswerable and answerable for the errors of the labels.

    Args:
        unanswerable: share of answers on queries labelled unanswerable.
        answerable: share of answers on queries labelled answerable.
        errors: the error of the label unanswerable, and of the label answerable, of audited queries among those of the
            shares.

    Returns:
        The share of answers on queries that are unanswerable (the hallucination rate), and on answerable ones (1 minus
        the error rate).

    Raises:
        NotEnoughData: if the labels are hardly better than chance.
    """
    first, second = (error.value for error in errors)
    if 1 - first - second < _LEAST_SEPARATION:
        raise NotEnoughData(
            f"the audit finds {first:.0%} of the labels unanswerable wrong, and {second:.0%} of the labels answerable: "
            "such labels cannot be corrected",
            do="recreate the labels, or use people's labels",
        )
    return (
        _correct_share(unanswerable, answerable, *errors),
        _correct_share(answerable, unanswerable, errors[1], errors[0]),
    )


def _correct_share(
    own: ObservedShare, other: ObservedShare, own_error: ObservedShare, other_error: ObservedShare
) -> CorrectedShare:
    """Correct one share, given that of the other label."""
    parts = [own, other, own_error, other_error]
    values = [part.value for part in parts]
    estimate = _solve(values)
    moves = []
    for k, part in enumerate(parts):
        ends = [_solve([*values[:k], end, *values[k + 1 :]]) - estimate for end in (part.low, part.high)]
        moves.append((min(*ends, 0.0), max(*ends, 0.0)))
    gap = abs(_inside(_solve([values[1], values[0], values[3], values[2]])) - _inside(estimate))
    together = _correlation(own, own_error, gap), _correlation(other, other_error, gap)
    # Student's t at the audit's degrees of freedom in place of the normal quantile.
    stretch = student_reach(max(own_error.n + other_error.n - 2, 1.0)) / REACH
    ends, by_audit = [], []
    for side in (0, 1):
        ways = [move[side] for move in moves]
        squared = math.fsum(way**2 for way in ways)
        squared -= 2 * (together[0] * abs(ways[0] * ways[2]) + together[1] * abs(ways[1] * ways[3]))
        ends.append(stretch * math.sqrt(max(squared, 0.0)))
        by_audit.append(max(1 - (ways[0] ** 2 + ways[1] ** 2) / squared, 0.0) if squared > 0 else 0.0)
    value, low, high = (_inside(number) for number in (estimate, estimate - ends[0], estimate + ends[1]))
    # An estimate beyond 0 or 1 can have its whole interval there, but an audit cannot reduce the share's uncertainty.
    if estimate > 1:
        low = min(low, _inside(1 - (own.value - own.low)))
    if estimate < 0:
        high = max(high, _inside(own.high - own.value))
    return CorrectedShare(value, low, high, ends[0], ends[1], sum(by_audit) / 2)


def _solve(values: Sequence[float]) -> float:
    own, other, own_error, other_error = values
    return ((1 - other_error) * own - own_error * other) / max(1 - own_error - other_error, _LEAST_SEPARATION)


def _correlation(observed: ObservedShare, error: ObservedShare, gap: float) -> float:
    """Return the magnitude of the correlation between a share and its label error, which share audited queries."""
    if observed.n <= 0:
        return 0.0
    share = (observed.value * observed.n + 1) / (observed.n + 2)
    wrong = (round(error.value * error.n) + 0.5) / (error.n + 1)
    slope = min(math.sqrt(wrong * (1 - wrong) / (share * (1 - share))) * gap, 1.0)
    return slope * math.sqrt(min(error.n / observed.n, 1.0))


def _inside(share: float) -> float:
    return min(max(share, 0.0), 1.0)
