"""Annotations of alpaca_eval: an instruction, two outputs, and which of them an annotator prefers.

`preference` is 1 where the first output is better and 2 where the second is; between them it is graded, and 1.5, in old
files 0, is a tie. Ours are points: what the first output takes of the one point of the battle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mirage.io.formats import shapes
from mirage.io.formats.battles import by_people
from mirage.io.formats.fields import need, number, text, wrong
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenVerdict, Record, Sample
from mirage.io.formats.values import as_list

if TYPE_CHECKING:
    pass

_FIELDS = ("instruction", "output_1", "output_2", "preference")
_HARD = {0.0: "tie", 1.0: "A", 1.5: "tie", 2.0: "B"}
_UNREAD = "the annotator gave no preference"


def recognise(sample: Sample) -> str | None:
    """Detect records with an instruction, two outputs and a preference."""
    return f"has {', '.join(_FIELDS)}" if sample.fields >= set(_FIELDS) else None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each annotation as a query, two answers and a verdict."""
    builder.note_guess("order", "alpaca_eval does not record the order shown: output_1 is assumed to be first")
    for record in records:
        instruction, further = need(record, "instruction"), text(record, "input")
        query = builder.query(
            f"{instruction}\n\n{further}" if further else instruction,
            where=record.where,
            query_id=text(record, "query_id"),
            language=text(record, "language"),
            tags={"dataset": name} if (name := text(record, "dataset")) else None,
        )
        systems = need(record, "generator_1"), need(record, "generator_2")
        for side, system in enumerate(systems, start=1):
            builder.answer(query, GivenAnswer(system, text(record, f"output_{side}")), where=record.where)
        verdict, points = _verdict(record)
        judge = need(record, "annotator")
        builder.judgment(
            query,
            GivenVerdict(
                judge,
                *systems,
                verdict=verdict,
                points=points,
                rationale=_rationale(record.value.get("raw_completion")),
                reason=_UNREAD if verdict == "unparsed" else None,
                person=by_people(judge),
            ),
            where=record.where,
        )


def _verdict(record: Record) -> tuple[str | None, float | None]:
    """Return the verdict of a preference, or its points if graded.

    Raises:
        BadInput: if it is not a number from 1 to 2, or 0.
    """
    given = record.value.get("preference")
    if given is None or given == "" or str(given).strip().lower() in ("nan", "none", "null"):
        return "unparsed", None
    preference = number(given)
    if preference in _HARD:
        return _HARD[preference], None
    if preference is None or not 1 < preference < 2:
        raise wrong(record, "preference", "a number from 1 to 2, or 0 for a tie", given)
    return None, 2 - preference


def _rationale(completion: Any) -> str | None:
    """Return the annotator's text, also from a service's reply."""
    (given, *_) = as_list(completion) or [None]
    return shapes.readable_text(given) or None


FORMAT = Format(
    name="alpaca_eval",
    title="alpaca_eval annotations: preferences between two outputs, graded or not",
    source="tatsu-lab/alpaca_eval, src/alpaca_eval/metrics/winrate.py at 7d16c26 (0 and 1.5 are a draw, 1 the base "
    "wins, 2 the model) and results/NullModel/weighted_alpaca_eval_gpt4_turbo/annotations.json at 3a7b5da",
    gives=("queries", "tags", "answers", "judgments"),
    recognise=recognise,
    read=read,
)
