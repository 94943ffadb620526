"""Generations of BERGEN: `eval_dev_out.json` of an experiment, one system per file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

from mirage.io.formats.fields import answer_text, is_measure, list_field, need, number, system_of, text
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenScore, Record, Sample, ShownPassage

RATER = "bergen"
_KNOWN = frozenset(
    {"q_id", "question", "response", "instruction", "label", "ranking_label", "system", "model", "model_name"}
    | {"language", ""}
)
_DOCUMENT = re.compile(r"^Document (\d+): ", re.MULTILINE)
_GENERATED = re.compile(r"eval_\w+_out(?:_\d+)?\.json")


def recognise(sample: Sample) -> str | None:
    """Detect records with BERGEN's field names."""
    return "has q_id, response and label" if {"q_id", "response", "label"} <= sample.fields else None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each record as one answer of the experiment's system."""
    for record in records:
        _take(record, builder)


def _take(record: Record, builder: Builder) -> None:
    labels = [str(label) for label in list_field(record, "label")]
    if labels[1:]:
        builder.left_out("label", "a query has one reference answer: the first is kept", len(labels) - 1)
    query_text = text(record, "question")
    query = builder.query(
        query_text,
        where=record.where,
        query_id=need(record, "q_id"),
        language=text(record, "language"),
        reference=next(iter(labels), None),
    )
    passages = _passages(text(record, "instruction") or "", query_text)
    if passages:
        builder.note_guess("passages", "extracted from the instruction, from `Document 1:` to the question")
    shown = builder.passages(query, passages, where=record.where)
    if any(list_field(record, "ranking_label")):
        builder.left_out("ranking_label", "it refers to documents, which the instruction does not name")
    system = system_of(record, builder, from_file=_experiment(record))
    builder.answer(
        query,
        GivenAnswer(system, answer_text(record, "response"), numbered=bool(passages) or None, shown=shown),
        where=record.where,
    )
    for name, value in record.value.items():
        if name not in _KNOWN and is_measure(value):
            score = number(value)
            reason = None if score is not None else "BERGEN gave no value"
            builder.score(
                query, GivenScore(system, name, RATER, score, person=False, reason=reason), where=record.where
            )


def _experiment(record: Record) -> str | None:
    """Return the folder of the experiment, as file names are always the same."""
    path = PurePath(record.where.rpartition(":")[0])
    return path.parent.name if _GENERATED.fullmatch(path.name) and path.parent.name else None


def _passages(instruction: str, query: str | None) -> list[ShownPassage]:
    """Split the passages of an instruction: numbered from 1, the last one ends before the question."""
    starts = [match for k, match in enumerate(_DOCUMENT.finditer(instruction), start=1) if int(match[1]) == k]
    if not starts:
        return []
    tail = instruction[starts[-1].end() :]
    ends = [tail.rfind(f"\nQuestion: {query}"), tail.rfind("\nQuestion:"), tail.rfind(query) if query else -1]
    last = next((end for end in ends if end >= 0), len(tail))
    bounds = [*(match.start() for match in starts[1:]), starts[-1].end() + last]
    return [
        ShownPassage(instruction[match.end() : bound].strip())
        for match, bound in zip(starts, bounds, strict=True)
        if instruction[match.end() : bound].strip()
    ]


FORMAT = Format(
    name="bergen",
    title="BERGEN: the generated answers of one experiment",
    source="naver/bergen, documentation of `eval_dev_out.json`, modules/rag.py at 098c931 and "
    "tests/utdata/utexp_pos/eval_dev_out.json at 1b720e9. Columns that its eval.py adds become scores. The form of the "
    "passages is that of its standard prompts; instructions written otherwise bring no passages.",
    gives=("queries", "references", "passages", "answers", "scores"),
    recognise=recognise,
    read=read,
)
