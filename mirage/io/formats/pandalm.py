"""Pairs of responses of PandaLM, with the votes of annotators and the results of judges."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.fields import need, number, wrong
from mirage.io.formats.logs import Answers
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenVerdict, Record, Sample

_FIELDS = ("instruction", "response1", "response2")
_VERDICTS = {0.0: "tie", 1.0: "A", 2.0: "B"}
_PEOPLE = re.compile(r"annotator\s*_?\d+$", re.I)
_RESULT = "_result"


def recognise(sample: Sample) -> str | None:
    """Detect an instruction with two responses."""
    return f"has {', '.join(_FIELDS)}, as PandaLM" if sample.fields >= set(_FIELDS) else None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each row as a query, two answers, and a verdict of each annotator and judge."""
    answers = Answers(builder, "none")
    builder.note_guess("order", "PandaLM does not record the order shown: response1 is assumed to be first")
    for record in records:
        value = record.value
        question, further = need(record, "instruction"), _text(value.get("input"))
        query = builder.query(f"{question}\n\n{further}" if further else question, where=record.where)
        systems = _systems(record, builder)
        shown = [
            answers.add(query, GivenAnswer(system, _text(value.get(name))), where=record.where)
            for system, name in zip(systems, ("response1", "response2"), strict=True)
        ]
        if not all(shown):
            builder.left_out("verdicts on further answers", "they are on another answer than the one that is taken")
            continue
        for name, given in value.items():
            person = bool(_PEOPLE.match(name))
            if person or name.endswith(_RESULT):
                judge = name if person else name.removesuffix(_RESULT)
                verdict = _verdict(record, name, given)
                reason = "the judge named no result" if verdict == "unparsed" else None
                builder.judgment(
                    query,
                    GivenVerdict(judge, *systems, verdict=verdict, reason=reason, person=person),
                    where=record.where,
                )


def _text(value: Any) -> str | None:
    """Return a text; None for a missing one, which is NaN in PandaLM's files."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def _verdict(record: Record, name: str, given: Any) -> str:
    result = number(given)
    if result is None:
        return "unparsed"
    if result not in _VERDICTS:
        raise wrong(record, name, "0 for a tie, 1 or 2 for the better response", given)
    return _VERDICTS[result]


def _systems(record: Record, builder: Builder) -> tuple[str, str]:
    """Return the two models, from `model1` and `model2` or the key of the comparison, `bloom-7b_llama-7b`."""
    value = record.value
    if value.get("model1") and value.get("model2"):
        return need(record, "model1"), need(record, "model2")
    first, sign, second = str(value.get("cmp_key") or "").partition("_")
    if not (first and sign and second):
        raise BadInput(
            "no field names the two models",
            where=record.where,
            do="give the file with cmp_key, or name them: --set model1=NAME --set model2=NAME",
        )
    if "_" in second:
        raise BadInput(
            f"cmp_key is {value['cmp_key']!r}, with more than one underscore",
            where=record.where,
            do="name the models: --map THEIRS=model1 --map THEIRS=model2",
        )
    builder.note_guess("systems", "the models are the two parts of cmp_key")
    return first, second


FORMAT = Format(
    name="pandalm",
    title="PandaLM: pairs of responses with votes of annotators and results of judges",
    source="WeOpenML/PandaLM, data/testset-v1.json at 65d7cff (cmp_key, instruction, input, response1, response2, "
    "annotator1 to annotator3; 0 is a tie)",
    gives=("queries", "answers", "judgments"),
    recognise=recognise,
    read=read,
)
