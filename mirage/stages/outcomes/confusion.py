"""Confusion matrices of NoMIRACL (section 3): query labels against decisions to answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args

import pyarrow as pa

from mirage import schema
from mirage.schema import UNDECIDED, CodeOrAll, ColumnHead, Count, Share, Subset
from mirage.stats.rows import group
from mirage.text.languages import place


@dataclass(frozen=True, slots=True)
class Confusion:
    """Confusion matrix of one system in one language (answered or abstained, relevant or not), with its two rates.

    Answering is positive, abstaining negative; the query's label determines which is correct.
    """

    key = ("language", "system", "template")

    language: CodeOrAll
    """Language of the queries; `all`: counts are sums over languages, rates are means over them, as in `Rate`."""
    system: str
    """The system."""
    template: str | None
    """Name of the prompt template; null for all prompts together."""
    true_positives: Annotated[Count, ColumnHead("TP")]
    """Relevant queries that the system answers."""
    false_negatives: Annotated[Count, ColumnHead("FN")]
    """Relevant queries on which it abstains: errors."""
    relevant_unclassified: Annotated[Count, ColumnHead("unclassified")]
    """Answers to relevant queries that only ask back, are unparsed, empty or an API error."""
    relevant_missing: Annotated[Count, ColumnHead("missing")]
    """Relevant queries without an answer."""
    error_rate: Share | None
    """FN / (FN + TP); in the row `all` the mean over languages. Null if under half of the answers are classified."""
    error_low: Share | None
    """Lower end of its 95% interval."""
    error_high: Share | None
    """Upper end."""
    false_positives: Annotated[Count, ColumnHead("FP")]
    """Non-relevant queries that the system answers: hallucinations."""
    true_negatives: Annotated[Count, ColumnHead("TN")]
    """Non-relevant queries on which it abstains."""
    non_relevant_unclassified: Annotated[Count, ColumnHead("unclassified")]
    """Answers to non-relevant queries that only ask back, are unparsed, empty or an API error."""
    non_relevant_missing: Annotated[Count, ColumnHead("missing")]
    """Non-relevant queries without an answer."""
    hallucination_rate: Share | None
    """FP / (FP + TN); in the row `all` the mean over languages. Null if under half of the answers are classified."""
    hallucination_low: Share | None
    """Lower end of its 95% interval (Wilson; `mean_interval` in the row `all`)."""
    hallucination_high: Share | None
    """Upper end."""


_LAST = ("missing", "rate", "rate_low", "rate_high")
_EMPTY: dict[str, Any] = dict.fromkeys(("answered", "abstained", *UNDECIDED, "missing"), 0) | dict.fromkeys(_LAST[1:])


def confusion(rates: pa.Table) -> pa.Table:
    """Build confusion matrices from rates, joining the rows of both subsets.

    Args:
        rates: result of `rates` or `template_rates`.

    Returns:
        A table with the columns of `Confusion`, languages in code order, `all` last. A subset without queries has
        counts of 0 and no rate.
    """
    cells = group(((row["language"], row["system"], row.get("template")), row) for row in rates.to_pylist())
    keys = sorted(cells, key=lambda key: (place(key[0]), key[1], key[2] or ""))
    return schema.from_rows(Confusion, [_matrix(key, {row["subset"]: row for row in cells[key]}) for key in keys])


def _matrix(key: tuple[str, str, str | None], subsets: Mapping[str, Mapping[str, Any]]) -> Confusion:
    cells: list[Any] = []
    for subset in get_args(Subset):
        row = subsets.get(subset, _EMPTY)
        undecided = sum(row[outcome] for outcome in UNDECIDED)
        cells += [row["answered"], row["abstained"], undecided, *(row[name] for name in _LAST)]
    return Confusion(*key, *cells)
