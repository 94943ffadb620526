"""Pairs of responses of PandaLM, with the votes of annotators and the results of judges."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import has_fields, need, number, wrong
from mirage.io.formats.spec import GivenAnswer, GivenVerdict, Item, Record

_RESPONSES = ("response1", "response2")
_VERDICTS = {None: "unparsed", 0.0: "tie", 1.0: "A", 2.0: "B"}
_PEOPLE = re.compile(r"annotator\s*_?\d+$", re.I)
_RESULT = "_result"


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    builder.note_guess("order", "PandaLM does not record the order shown: response1 is assumed to be first")
    value = record.value
    question, further = need(record, "instruction"), _text(value.get("input"))
    systems = _systems(record, builder)
    verdicts = []
    for name, given in value.items():
        person = bool(_PEOPLE.match(name))
        if person or name.endswith(_RESULT):
            result = number(given)
            if result not in _VERDICTS:
                raise wrong(record, name, "0 for a tie, 1 or 2 for the better response", given)
            judge, verdict = name if person else name.removesuffix(_RESULT), _VERDICTS[result]
            why = "the judge named no result"
            verdicts.append(GivenVerdict(judge, *systems, verdict=verdict, reason=why, person=person))
    yield Item(
        f"{question}\n\n{further}" if further else question,
        answers=[GivenAnswer(system, _text(value.get(name))) for system, name in zip(systems, _RESPONSES, strict=True)],
        verdicts=verdicts,
    )


def _text(value: Any) -> str | None:
    """Return a text; None for a missing one, which is NaN in PandaLM's files."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def _systems(record: Record, builder: Builder) -> tuple[str, str]:
    """Return the two models, from `model1` and `model2` or the key of the comparison, `bloom-7b_llama-7b`."""
    if record.value.get("model1") and record.value.get("model2"):
        return need(record, "model1"), need(record, "model2")
    key = str(record.value.get("cmp_key") or "")
    first, _, second = key.partition("_")
    if not (first and second):
        do = "give the file with cmp_key, or name them: --set model1=NAME --set model2=NAME"
        raise BadInput("no field names the two models", where=record.where, do=do)
    if "_" in second:
        do = "name the models: --map THEIRS=model1 --map THEIRS=model2"
        raise BadInput(f"cmp_key is {key!r}, with more than one underscore", where=record.where, do=do)
    builder.note_guess("systems", "the models are the two parts of cmp_key")
    return first, second


FORMAT = Format(
    name="pandalm",
    title="PandaLM: pairs of responses with votes of annotators and results of judges",
    source="WeOpenML/PandaLM, data/testset-v1.json at 65d7cff (cmp_key, instruction, input, response1, response2, "
    "annotator1 to annotator3; 0 is a tie)",
    gives=("queries", "answers", "judgments"),
    recognise=has_fields("instruction", *_RESPONSES, of="PandaLM"),
    items=_items,
    further="none",
)
