"""Annotations of alpaca_eval: an instruction, two outputs, and which of them an annotator prefers.

`preference` is 1 where the first output is better and 2 where the second is; between them it is graded, and 1.5, in old
files 0, is a tie. Ours are points: what the first output takes of the one point of the battle.
"""

from __future__ import annotations

from collections.abc import Iterator

from mirage.io.formats import shapes
from mirage.io.formats.battles import by_people
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import has_fields, list_field, need, number, text, wrong
from mirage.io.formats.spec import GivenAnswer, GivenVerdict, Item, Record

_HARD = {0.0: "tie", 1.0: "A", 1.5: "tie", 2.0: "B"}


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    builder.note_guess("order", "alpaca_eval does not record the order shown: output_1 is assumed to be first")
    instruction, further = need(record, "instruction"), text(record, "input")
    systems = need(record, "generator_1"), need(record, "generator_2")
    verdict, points = _verdict(record)
    judge = need(record, "annotator")
    (completion, *_) = list_field(record, "raw_completion") or [None]
    yield Item(
        f"{instruction}\n\n{further}" if further else instruction,
        query_id=text(record, "query_id"),
        tags={"dataset": text(record, "dataset")},
        answers=[GivenAnswer(system, text(record, f"output_{side}")) for side, system in enumerate(systems, start=1)],
        verdicts=[
            GivenVerdict(
                judge,
                *systems,
                verdict=verdict,
                points=points,
                rationale=shapes.readable_text(completion) or None,
                reason="the annotator gave no preference",
                person=by_people(judge),
            )
        ],
    )


def _verdict(record: Record) -> tuple[str | None, float | None]:
    """Return the verdict of a preference, or its points if graded.

    Raises:
        BadInput: if it is not a number from 1 to 2, or 0.
    """
    given = record.value.get("preference")
    if str(given).strip().lower() in ("", "nan", "none", "null"):
        return "unparsed", None
    preference = number(given)
    if preference in _HARD:
        return _HARD[preference], None
    if preference is None or not 1 < preference < 2:
        raise wrong(record, "preference", "a number from 1 to 2, or 0 for a tie", given)
    return None, 2 - preference


FORMAT = Format(
    name="alpaca_eval",
    title="alpaca_eval annotations: preferences between two outputs, graded or not",
    source="tatsu-lab/alpaca_eval, src/alpaca_eval/metrics/winrate.py at 7d16c26 (0 and 1.5 are a draw, 1 the base "
    "wins, 2 the model) and results/NullModel/weighted_alpaca_eval_gpt4_turbo/annotations.json at 3a7b5da",
    gives=("queries", "tags", "answers", "judgments"),
    recognise=has_fields("instruction", "output_1", "output_2", "preference"),
    items=_items,
)
