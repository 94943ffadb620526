"""Hallucination and error rates corrected for label errors found by an audit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.schema import Subset
from mirage.stages.outcomes.rates import Rate
from mirage.stats.bounded import mean_of_means
from mirage.stats.label_errors import CorrectedShare, LabelAudit, ObservedShare, QueryLabels, correct_shares

AUDIT_COLUMNS = ("labels", "corrected", "corrected_low", "corrected_high", "audited", "label_error", "label_reason")
"""Fields of `Rate` that an audit of labels fills."""


def correct_rates(rates: pa.Table, labels: QueryLabels) -> pa.Table:
    """Return rates with the columns on label errors filled: `labels`, `corrected` with its interval, `audited`.

    Each language is corrected by its own audit, or not at all; the row `all` is the mean of the corrected languages.

    Args:
        rates: result of `rates`.
        labels: what is known about the labels.
    """
    rows = [Rate(**row) for row in rates.to_pylist()]
    state: Literal["not audited"] | None = "not audited" if labels.automatic else None
    if labels.audit is None:
        return schema.from_rows(Rate, [replace(row, labels=state) for row in rows])
    cells = {(row.language, row.system, row.subset): row for row in rows}
    corrected: dict[tuple[str, str], dict[str, _Corrected]] = {}
    for language, system in dict.fromkeys((row.language, row.system) for row in rows):
        pair = [cells.get((language, system, subset)) for subset in SUBSETS]
        if language != "all":
            corrected[language, system] = _correct_pair(language, pair, labels.audit)
            continue
        codes = [code for code, name in corrected if name == system]
        for subset, row in zip(SUBSETS, pair, strict=True):
            parts = {code: corrected[code, system][subset] for code in codes if (code, system, subset) in cells}
            plain = {code: cells[code, system, subset] for code in parts}
            corrected.setdefault((language, system), {})[subset] = _mean(row, plain, parts, labels.audit)
    filled = [(row, corrected[row.language, row.system][row.subset]) for row in rows]
    return schema.from_rows(
        Rate, [replace(row, labels=state if of[1] is None else "audited", **_columns(*of)) for row, of in filled]
    )


_Corrected = tuple[CorrectedShare | None, int | None, float | None, str | None]
"""A corrected rate, its audited queries, their share of wrong labels, and why it is missing or what it leaves out."""
SUBSETS: tuple[Subset, Subset] = ("non_relevant", "relevant")


def _correct_pair(language: str, pair: Sequence[Rate | None], audit: LabelAudit) -> dict[str, _Corrected]:
    """Correct a system's two rates in a language."""
    try:
        errors = audit.errors(language)
    except NotEnoughData as error:
        return dict.fromkeys(SUBSETS, (None, None, None, f"not checked: {error.what}"))
    shares = [_observed_share(row) for row in pair]
    found: list[CorrectedShare | None] = [None, None]
    reason = None
    if shares[0] is None or shares[1] is None:
        reason = "not corrected: this takes decided answers to queries of both labels"
    else:
        try:
            answers = correct_shares(shares[0], shares[1], errors)
        except NotEnoughData as error:
            reason = f"not corrected: {error.what}"
        else:
            found = [answers[0], answers[1].mirror()]
    return {
        subset: (share, error.n, error.value, reason)
        for subset, share, error in zip(SUBSETS, found, errors, strict=True)
    }


def _mean(
    row: Rate | None, plain: Mapping[str, Rate], parts: Mapping[str, _Corrected], audit: LabelAudit
) -> _Corrected:
    """Average the corrected rates of a system over the languages that have one."""
    known = {code: share for code, (share, *_) in parts.items() if share is not None}
    if not known or row is None:
        return None, None, None, next((reason for *_, reason in parts.values()), None)
    means, below, above = (np.array([getattr(s, name) for s in known.values()]) for name in ("value", "below", "above"))
    # Translated queries vary together, and so do the errors of their labels.
    ends = [(of.rate or 0.0, of.rate_low or 0.0, of.rate_high or 0.0) for of in plain.values() if of.rate is not None]
    _, low, high = mean_of_means(*np.array(ends).T)
    shared = ((row.rate_high or 0.0) - (row.rate_low or 0.0)) / (high - low)
    by_audit = float(np.mean([share.by_audit for share in known.values()]))
    factor = max(1.0, shared**2) * (1 - by_audit) + audit.sharing_factor(list(known)) * by_audit
    value, low, high = mean_of_means(means, means - below, means + above, factor=factor)
    joint = CorrectedShare(value, max(low, 0.0), min(high, 1.0), value - low, high - value, by_audit)
    audited = sum(parts[code][1] or 0 for code in known)
    error = float(np.mean([parts[code][2] for code in known]))
    without = [code for code in parts if code not in known]
    return (
        joint,
        audited,
        error,
        f"the corrected rate leaves out {', '.join(without)}" if without else None,
    )


def _columns(
    share: CorrectedShare | None, audited: int | None, label_error: float | None, reason: str | None
) -> dict[str, Any]:
    ends = (share.value, share.low, share.high) if share else (None, None, None)
    return dict(zip(AUDIT_COLUMNS[1:], (*ends, audited, label_error, reason), strict=True))


def _observed_share(row: Rate | None) -> ObservedShare | None:
    """Return the share of answers on the queries of one label; None without decided answers."""
    if row is None or row.rate is None or row.rate_low is None or row.rate_high is None:
        return None
    share = ObservedShare(row.rate, row.rate_low, row.rate_high, row.n)
    return share if row.subset == "non_relevant" else share.mirror()
