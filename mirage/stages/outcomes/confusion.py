"""Confusion matrices of NoMIRACL (section 3): query labels against decisions to answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from mirage import schema
from mirage.schema import UNDECIDED, CodeOrAll, ColumnHead, Count, Share
from mirage.text.languages import place

if TYPE_CHECKING:
    import pyarrow as pa


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


_SUBSETS = {
    "relevant": ("true_positives", "false_negatives", "error"),
    "non_relevant": ("false_positives", "true_negatives", "hallucination"),
}
"""Names of the counts of answered and abstained queries, and of the rate, by subset."""
_EMPTY: dict[str, Any] = dict.fromkeys(("answered", "abstained", *UNDECIDED, "missing"), 0) | dict.fromkeys(
    ("rate", "rate_low", "rate_high")
)


def confusion(rates: pa.Table) -> pa.Table:
    """Build confusion matrices from rates, joining the rows of both subsets.

    Args:
        rates: result of `rates` or `template_rates`.

    Returns:
        A table with the columns of `Confusion`, languages in code order, `all` last. A subset without queries has
        counts of 0 and no rate.
    """
    cells: dict[tuple[str, str, str | None], dict[str, Mapping[str, Any]]] = {}
    for row in rates.to_pylist():
        key = row["language"], row["system"], row.get("template")
        cells.setdefault(key, {})[row["subset"]] = row
    keys = sorted(cells, key=lambda key: (place(key[0]), key[1], key[2] or ""))
    return schema.from_rows(Confusion, [_matrix(key, cells[key]) for key in keys])


def _matrix(key: tuple[str, str, str | None], subsets: Mapping[str, Mapping[str, Any]]) -> Confusion:
    language, system, template = key
    fields: dict[str, Any] = {}
    for subset, (answered, abstained, rate) in _SUBSETS.items():
        row = subsets.get(subset, _EMPTY)
        fields |= {
            answered: row["answered"],
            abstained: row["abstained"],
            f"{subset}_unclassified": sum(row[outcome] for outcome in UNDECIDED),
            f"{subset}_missing": row["missing"],
            f"{rate}_rate": row["rate"],
            f"{rate}_low": row["rate_low"],
            f"{rate}_high": row["rate_high"],
        }
    return Confusion(language=language, system=system, template=template, **fields)
