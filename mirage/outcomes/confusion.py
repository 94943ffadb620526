"""The confusion matrix of NoMIRACL (section 3): what the labels say of a query against what the system says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.languages import place
from mirage.schema import UNDECIDED, CodeOrAll, Count, Share

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Confusion:
    """The confusion matrix of one system in one language (answered or abstained, relevant or not), and its two rates.

    A system that answers is a positive, a system that abstains a negative; the label of the query says which is true.
    """

    key = ("language", "system", "template")

    language: CodeOrAll
    """Language of the queries; `all`: counts are sums over languages, rates are means over them, as in `Rate`."""
    system: str
    """The system."""
    template: str | None
    """Name of the prompt template; null where answers to all prompts are counted together."""
    true_positives: Count
    """Relevant queries that the system answers."""
    false_negatives: Count
    """Relevant queries on which it abstains: errors."""
    relevant_undecided: Count
    """Answers to relevant queries that ask back, are unparsed, empty or an API error."""
    relevant_missing: Count
    """Relevant queries without an answer."""
    false_positives: Count
    """Non-relevant queries that the system answers: hallucinations."""
    true_negatives: Count
    """Non-relevant queries on which it abstains."""
    non_relevant_undecided: Count
    """Answers to non-relevant queries that are unparsed, empty or an API error."""
    non_relevant_missing: Count
    """Non-relevant queries without an answer."""
    hallucination_rate: Share | None
    """FP / (FP + TN); in the row `all` the mean over languages. Null where no answer is decided."""
    hallucination_low: Share | None
    """Lower end of its 95% interval (Wilson; `mean_interval` in the row `all`)."""
    hallucination_high: Share | None
    """Upper end."""
    error_rate: Share | None
    """FN / (FN + TP); in the row `all` the mean over languages. Null where no answer is decided."""
    error_low: Share | None
    """Lower end of its 95% interval."""
    error_high: Share | None
    """Upper end."""


_SUBSETS = {
    "relevant": ("true_positives", "false_negatives", "error"),
    "non_relevant": ("false_positives", "true_negatives", "hallucination"),
}
"""Of each subset: the names of the count of queries answered, of that of queries abstained on, and of the rate."""
_EMPTY: dict[str, Any] = dict.fromkeys(("answered", "abstained", *UNDECIDED, "missing"), 0) | dict.fromkeys(
    ("rate", "rate_low", "rate_high")
)


def confusion(rates: pa.Table) -> pa.Table:
    """Confusion matrices from rates: the rows of both subsets side by side.

    Args:
        rates: what `rates` or `template_rates` returns.

    Returns:
        A table with the columns of `Confusion`, languages in the order of their codes, `all` last. A subset without
        queries has counts of 0 and no rate.
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
            f"{subset}_undecided": sum(row[outcome] for outcome in UNDECIDED),
            f"{subset}_missing": row["missing"],
            f"{rate}_rate": row["rate"],
            f"{rate}_low": row["rate_low"],
            f"{rate}_high": row["rate_high"],
        }
    return Confusion(language=language, system=system, template=template, **fields)
