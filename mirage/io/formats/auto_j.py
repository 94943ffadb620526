"""Pairs of responses of Auto-J, with the preference of people."""

from __future__ import annotations

from collections.abc import Iterable

from mirage.io.formats.battles import PEOPLE
from mirage.io.formats.fields import first, need, number, text, wrong
from mirage.io.formats.logs import Answers
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenVerdict, Record, Sample

_FIELDS = ("prompt", "response 1", "response 2")
_VERDICTS = {0.0: "A", 1.0: "B", 2.0: "tie"}
_NAMES = ("response 1", "response 2")


def recognise(sample: Sample) -> str | None:
    """Detect a prompt with `response 1` and `response 2`."""
    return f"has {', '.join(_FIELDS)}, as Auto-J" if sample.fields >= set(_FIELDS) else None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each pair as a query, two answers and a verdict of people: 0 is `response 1`, 1 the other, 2 a tie."""
    answers = Answers(builder, "none")
    for record in records:
        scenario = text(record, "scenario")
        query = builder.query(
            need(record, "prompt"),
            where=record.where,
            query_id=text(record, "id", "pair_id"),
            language=text(record, "language"),
            tags={"scenario": scenario} if scenario else None,
        )
        systems = text(record, "model 1", "model_1") or _NAMES[0], text(record, "model 2", "model_2") or _NAMES[1]
        if systems == _NAMES:
            builder.note_guess("systems", "the file names no models: they are called response 1 and response 2")
        shown = [
            answers.add(query, GivenAnswer(system, text(record, name)), where=record.where)
            for system, name in zip(systems, _NAMES, strict=True)
        ]
        given = first(record.value, "label")
        if given is None or not all(shown):
            builder.left_out("pairs without a verdict", "they have no label, or are on further answers")
            continue
        label = number(given)
        if label not in _VERDICTS:
            raise wrong(record, "label", "0, 1 or 2", given)
        builder.judgment(
            query, GivenVerdict(PEOPLE, *systems, verdict=_VERDICTS[label], person=True), where=record.where
        )


FORMAT = Format(
    name="auto-j",
    title="Auto-J: pairs of responses with the preference of people",
    source="GAIR-NLP/auto-j, data/test/testdata_pairwise.jsonl and its README (scenario, label, prompt, response 1, "
    "response 2; label 0 is the first response, 1 the second, 2 a tie)",
    gives=("queries", "tags", "answers", "judgments"),
    recognise=recognise,
    read=read,
)
