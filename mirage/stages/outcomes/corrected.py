"""Hallucination and error rates corrected for label errors found by an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.stages.outcomes.rates import Rate
from mirage.stats.label_errors import (
    CorrectedShare,
    LabelAudit,
    LabelError,
    ObservedShare,
    QueryLabels,
    correct_shares,
)

if TYPE_CHECKING:
    import pyarrow as pa

AUDIT_COLUMNS = ("labels", "corrected", "corrected_low", "corrected_high", "audited", "label_error", "label_reason")
"""Fields of `Rate` that an audit of labels fills."""


def correct_rates(rates: pa.Table, labels: QueryLabels) -> pa.Table:
    """Return rates with the columns on label errors filled: `labels`, `corrected` with its interval, `audited`.

    A language with enough audited queries is corrected by its own label errors; other languages and the row `all` by
    the errors of all languages of the table.

    Args:
        rates: result of `rates`.
        labels: what is known about the labels.
    """
    rows = [Rate(**row) for row in rates.to_pylist()]
    if labels.audit is None:
        state: Literal["not audited"] | None = "not audited" if labels.automatic else None
        return schema.from_rows(Rate, [replace(row, labels=state) for row in rows])
    selection = tuple(dict.fromkeys(row.language for row in rows if row.language != "all"))
    cells = {(row.language, row.system, row.subset): row for row in rows}
    corrected = {}
    for language, system in dict.fromkeys((row.language, row.system) for row in rows):
        pair = [cells.get((language, system, subset)) for subset in ("non_relevant", "relevant")]
        parts = [
            [cells[code, system, subset] for code in selection if (code, system, subset) in cells]
            for subset in ("non_relevant", "relevant")
        ]
        corrected[language, system] = _correct_pair(language, selection, pair, parts, labels.audit)
    return schema.from_rows(Rate, [replace(row, **corrected[row.language, row.system][row.subset]) for row in rows])


def _correct_pair(
    language: str,
    selection: Sequence[str],
    pair: Sequence[Rate | None],
    parts: Sequence[Sequence[Rate]],
    audit: LabelAudit,
) -> dict[str, dict[str, Any]]:
    """Return the columns of a system's two rates in a language, or in all."""
    try:
        if language == "all":
            errors, own = audit.errors(selection), True
        else:
            errors, own = audit.errors_for(language, selection)
    except NotEnoughData as error:
        return {subset: _columns(None, None, error.what) for subset in ("non_relevant", "relevant")}
    shares = [
        _observed_share(row, cells if language == "all" else [row]) for row, cells in zip(pair, parts, strict=True)
    ]
    reason, both = None, None
    if shares[0] is None or shares[1] is None:
        reason = "the correction needs decided answers to queries of both labels"
    else:
        try:
            both = correct_shares(shares[0], shares[1], errors, audited_among=own)
        except NotEnoughData as error:
            reason = error.what
    if both is None:
        return {
            subset: _columns(error, None, reason)
            for subset, error in zip(("non_relevant", "relevant"), errors, strict=True)
        }
    wrong_answers = CorrectedShare(1 - both[1].value, 1 - both[1].high, 1 - both[1].low)
    return {
        "non_relevant": _columns(errors[0], both[0], None),
        "relevant": _columns(errors[1], wrong_answers, None),
    }


def _columns(error: LabelError | None, share: CorrectedShare | None, reason: str | None) -> dict[str, Any]:
    return {
        "labels": "audited",
        "corrected": share.value if share else None,
        "corrected_low": share.low if share else None,
        "corrected_high": share.high if share else None,
        "audited": error.n if error else None,
        "label_error": error.share if error else None,
        "label_reason": reason,
    }


def _observed_share(row: Rate | None, cells: Sequence[Rate | None]) -> ObservedShare | None:
    """Return the share of answers on the queries of one label; None without decided answers."""
    if row is None or row.rate is None or row.rate_low is None or row.rate_high is None:
        return None
    decided = [cell.n for cell in cells if cell is not None and cell.rate is not None]
    n = sum(decided) ** 2 * sum(1 / k for k in decided) / len(decided) ** 2
    if row.subset == "non_relevant":
        return ObservedShare(row.rate, row.rate_low, row.rate_high, n)
    return ObservedShare(1 - row.rate, 1 - row.rate_high, 1 - row.rate_low, n)
