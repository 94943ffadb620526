"""Accuracy of the rules for free answers on labelled answers, compared with two simple baselines.

`make outcomes` measures and writes `outcome_accuracy.json` beside this module, shown in the guide.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from mirage.schema import CodeOrAll, Count, Outcome, Share
from mirage.stages.outcomes.fold import fold
from mirage.stages.outcomes.free import ENGLISH, TRIM, parse_free
from mirage.stages.outcomes.sentences import clean
from mirage.stages.outcomes.vocabulary import reader
from mirage.text.languages import in_order

FILE = Path(__file__).with_suffix(".json")
"""File of the figures."""
Labelled = Mapping[str, Sequence[tuple[str, str, Outcome]]]
"""By language, a query, its answer and the correct outcome."""


@dataclass(frozen=True, slots=True)
class OutcomeAccuracy:
    """Counts of the rules for free answers in one language of a source, or over all its answers."""

    source: str
    """`written` for this project, with the part or domain, or public files with the part: `mtrag`, `nomiracl`,
    `passages`; `field`, with the domain, for answers of public files that no rule was written on, measured elsewhere.
    """
    language: CodeOrAll
    """Language of the answers."""
    n: Count
    """Labelled answers."""
    abstained: Count
    """Answers labelled abstained."""
    read: Count
    """Answers that the rules read as abstained."""
    right: Count
    """Answers that are both."""
    wrong: Count
    """Answers with an outcome that differs from the label, excluding unparsed answers."""
    unparsed: Count
    """Answers without an outcome."""
    phrase_wrong: Share
    """Wrong share of the first baseline: any phrase of refusal anywhere abstains, any other answer answers."""
    length_wrong: Share
    """Wrong share of the second: answers below a length abstain; the length is optimal for these answers."""


def accuracy(source: str, labelled: Labelled) -> list[OutcomeAccuracy]:
    """Measure the rules on labelled answers: a row per language, and `all`, all answers together."""
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
    return [_row(source, code, rows) for code, rows in results.items()]


@cache
def measured_accuracy() -> tuple[OutcomeAccuracy, ...]:
    """Return the rows of the file."""
    return tuple(OutcomeAccuracy(**row) for row in json.loads(FILE.read_text(encoding="utf-8")))


def write_accuracy(rows: Sequence[OutcomeAccuracy]) -> None:
    """Write the file; rows of sources whose texts are not here (`field`, with the domain) stay as they are."""
    kept = [row for row in measured_accuracy() if row.source.startswith("field")]
    FILE.write_text(json.dumps([asdict(row) for row in (*rows, *kept)], indent=1) + "\n", encoding="utf-8")


def _row(source: str, code: str, rows: Sequence[tuple[Outcome, Outcome, Outcome, Outcome]]) -> OutcomeAccuracy:
    n = len(rows)
    return OutcomeAccuracy(
        source,
        code,
        n,
        abstained=sum(right == "abstained" for *_, right in rows),
        read=sum(ours == "abstained" for ours, *_ in rows),
        right=sum(ours == right == "abstained" for ours, *_, right in rows),
        wrong=sum(ours not in (right, "unparsed") for ours, _, _, right in rows),
        unparsed=sum(ours == "unparsed" for ours, *_ in rows),
        phrase_wrong=sum(phrase != right for _, phrase, _, right in rows) / n,
        length_wrong=sum(length != right for _, _, length, right in rows) / n,
    )


def _by_phrase(answer: str, code: str) -> Outcome:
    text = clean(fold(answer, code)).text
    words = reader(code, english=bool(ENGLISH.search(text)))
    found = words["gap"].search(text) or words["short"].fullmatch(text.strip(TRIM)) or words["declines"].search(text)
    return "abstained" if found else "answered"


def _by_length(answer: str, limit: int) -> Outcome:
    return "abstained" if len(answer) < limit else "answered"
