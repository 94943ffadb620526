"""Accuracy of the rules for free answers on labelled answers, compared with two simple baselines.

The labels are in `tests/golden/outcomes_rag`, half of them held out from the authors of the rules. `make outcomes`
measures and writes `outcome_accuracy.json` beside this module, shown in the guide.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from mirage.schema import CodeOrAll, Count, Outcome, Share
from mirage.stages.outcomes.free import names_gap, parse_free
from mirage.stats.intervals import wilson
from mirage.text.languages import in_order

FILE = Path(__file__).with_suffix(".json")
"""File of the figures."""


@dataclass(frozen=True, slots=True)
class OutcomeAccuracy:
    """Error rates of the rules for free answers in one language, or over all answers."""

    language: CodeOrAll
    """Language of the answers."""
    n: Count
    """Labelled answers."""
    wrong: Share
    """Share with an outcome that differs from the label, excluding unparsed answers."""
    wrong_low: Share
    """Lower end of its 95% interval (Wilson)."""
    wrong_high: Share
    """Upper end."""
    unparsed: Share
    """Share without an outcome."""
    unparsed_low: Share
    """Lower end of its 95% interval (Wilson)."""
    unparsed_high: Share
    """Upper end."""
    phrase_wrong: Share
    """Wrong share of the first baseline: any phrase of refusal anywhere abstains, any other answer answers."""
    length_wrong: Share
    """Wrong share of the second: answers below a length abstain; the length is optimal for these answers."""


def accuracy(labelled: Mapping[str, Sequence[tuple[str, str, Outcome]]]) -> list[OutcomeAccuracy]:
    """Measure the rules on labelled answers.

    Args:
        labelled: by language, a query, its answer and the correct outcome.

    Returns:
        A row per language, and `all`: all answers together.
    """
    everything = [(answer, right) for rows in labelled.values() for _, answer, right in rows]
    lengths = sorted({len(answer) for answer, _ in everything})
    limit = min(lengths, key=lambda length: sum(_by_length(answer, length) != right for answer, right in everything))
    results = {
        code: [
            (parse_free(answer, code, query=query).outcome, _by_phrase(answer, code), _by_length(answer, limit), right)
            for query, answer, right in labelled[code]
        ]
        for code in in_order(labelled)
    }
    results["all"] = [row for rows in results.values() for row in rows]
    return [_row(code, rows) for code, rows in results.items()]


@cache
def measured_accuracy() -> tuple[str, tuple[OutcomeAccuracy, ...]]:
    """Return which half of the labels was measured, `dev` or `held`, and its rows."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    return content["half"], tuple(OutcomeAccuracy(**row) for row in content["rows"])


def to_json(half: str, rows: Sequence[OutcomeAccuracy]) -> str:
    """Return the content of the file for these rows."""
    return json.dumps({"half": half, "rows": [asdict(row) for row in rows]}, indent=1) + "\n"


def _row(code: str, rows: Sequence[tuple[Outcome, Outcome, Outcome, Outcome]]) -> OutcomeAccuracy:
    n = len(rows)
    unparsed = sum(ours == "unparsed" for ours, *_ in rows)
    wrong = sum(ours not in (right, "unparsed") for ours, _, _, right in rows)
    return OutcomeAccuracy(
        code,
        n,
        wrong / n,
        *wilson(wrong, n),
        unparsed / n,
        *wilson(unparsed, n),
        phrase_wrong=sum(phrase != right for _, phrase, _, right in rows) / n,
        length_wrong=sum(length != right for _, _, length, right in rows) / n,
    )


def _by_phrase(answer: str, code: str) -> Outcome:
    return "abstained" if names_gap(answer, code) else "answered"


def _by_length(answer: str, limit: int) -> Outcome:
    return "abstained" if len(answer) < limit else "answered"
