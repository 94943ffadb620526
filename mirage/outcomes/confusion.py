"""The confusion matrix of NoMIRACL (section 3): what the labels say of a question against what the reply says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.languages import LANGUAGES
from mirage.schema import CodeOrAll, Count, Share

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Confusion:
    """The confusion matrix of one system in one language (answered or abstained, relevant or not), and its two rates.

    A reply that answers is a positive, one that abstains a negative; the label of the question says which is true.
    """

    key = ("language", "system", "template")

    language: CodeOrAll
    """Language of the questions; `all`: counts are sums over languages, rates are means over them, as in `Rate`."""
    system: str
    """The system."""
    template: str | None
    """Name of the prompt template; null where replies to all prompts are counted together."""
    true_positives: Count
    """Relevant questions that the system answers."""
    false_negatives: Count
    """Relevant questions on which it abstains: errors."""
    relevant_undecided: Count
    """Replies to relevant questions that are unparsed, empty or an API error."""
    relevant_missing: Count
    """Relevant questions without a reply."""
    false_positives: Count
    """Non-relevant questions that the system answers: hallucinations."""
    true_negatives: Count
    """Non-relevant questions on which it abstains."""
    non_relevant_undecided: Count
    """Replies to non-relevant questions that are unparsed, empty or an API error."""
    non_relevant_missing: Count
    """Non-relevant questions without a reply."""
    hallucination_rate: Share | None
    """FP / (FP + TN); in the row `all` the mean over languages. Null where no reply is decided."""
    hallucination_low: Share | None
    """Lower end of its 95% interval (Wilson; `mean_interval` in the row `all`)."""
    hallucination_high: Share | None
    """Upper end."""
    error_rate: Share | None
    """FN / (FN + TP); in the row `all` the mean over languages. Null where no reply is decided."""
    error_low: Share | None
    """Lower end of its 95% interval."""
    error_high: Share | None
    """Upper end."""


_SUBSETS = {
    "relevant": ("true_positives", "false_negatives", "error"),
    "non_relevant": ("false_positives", "true_negatives", "hallucination"),
}
"""Of each subset: the names of the replies that answer, of those that abstain, and of the rate."""
_EMPTY: dict[str, Any] = dict.fromkeys(
    ("answered", "abstained", "unparsed", "empty", "api_error", "missing"), 0
) | dict.fromkeys(("rate", "rate_low", "rate_high"))


def confusion(rates: pa.Table) -> pa.Table:
    """Confusion matrices from rates: the rows of both subsets side by side.

    Args:
        rates: what `rates` or `template_rates` returns.

    Returns:
        A table with the columns of `Confusion`, languages in the order of their codes, `all` last. A subset without
        questions has counts of 0 and no rate.
    """
    cells: dict[tuple[str, str, str | None], dict[str, Mapping[str, Any]]] = {}
    for row in rates.to_pylist():
        key = row["language"], row["system"], row.get("template")
        cells.setdefault(key, {})[row["subset"]] = row
    order = {code: place for place, code in enumerate([*LANGUAGES, "all"])}
    keys = sorted(cells, key=lambda key: (order.get(key[0], len(order)), key[1], key[2] or ""))
    return schema.from_rows(Confusion, [_matrix(key, cells[key]) for key in keys])


def _matrix(key: tuple[str, str, str | None], subsets: Mapping[str, Mapping[str, Any]]) -> Confusion:
    language, system, template = key
    fields: dict[str, Any] = {}
    for subset, (answered, abstained, rate) in _SUBSETS.items():
        row = subsets.get(subset, _EMPTY)
        fields |= {
            answered: row["answered"],
            abstained: row["abstained"],
            f"{subset}_undecided": row["unparsed"] + row["empty"] + row["api_error"],
            f"{subset}_missing": row["missing"],
            f"{rate}_rate": row["rate"],
            f"{rate}_low": row["rate_low"],
            f"{rate}_high": row["rate_high"],
        }
    return Confusion(language=language, system=system, template=template, **fields)
