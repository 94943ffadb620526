"""Outputs of ALCE: answers with citations of numbered documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mirage.io.formats.fields import answer_text, need, text
from mirage.io.formats.logs import Answers, entries, stem
from mirage.io.formats.open import LOG
from mirage.io.formats.rag import shown_passages
from mirage.io.formats.spec import Builder, Format, GivenAnswer, Record, Sample, ShownPassage

_FIELDS = ("question", "docs", "output")
_MORE = ("qa_pairs", "sample_id", "annotations", "claims", "answers", "prompt")
_SCORES = ("summary", "extraction", "score", "answers_found", "rec_score")


def recognise(sample: Sample) -> str | None:
    """Detect a document with settings and data, or its items."""
    for record in sample.records:
        data = record.get("data")
        row = data[0] if isinstance(data, list) and data and isinstance(data[0], Mapping) else record
        if row.keys() >= set(_FIELDS) and (row.keys() & set(_MORE) or isinstance(record.get("args"), Mapping)):
            return f"has {', '.join(_FIELDS)}, as ALCE"
    return None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each item as an answer; `[1]` cites its first document, and the system is the model of the run."""
    answers = Answers(builder)
    for record in records:
        value = record.value
        query = builder.query(
            need(record, "question"),
            where=record.where,
            query_id=text(record, "sample_id", "id"),
            language=text(record, "language"),
            reference=_reference(record),
        )
        passages, _ = shown_passages(
            [_document(entry) for entry in entries(value.get("docs"))], (), record.where, "docs"
        )
        shown = builder.passages(query, [_without_id(passage) for passage in passages], where=record.where)
        given = GivenAnswer(_system(record, builder), answer_text(record, "output"), numbered=True, shown=shown)
        answers.add(query, given, where=record.where)


def _document(entry: Any) -> Any:
    return {name: part for name, part in entry.items() if name not in _SCORES} if isinstance(entry, Mapping) else entry


def _without_id(passage: ShownPassage) -> ShownPassage:
    """Return a passage without its id, which is that of a whole document in some of the data sets."""
    return ShownPassage(passage.text, title=passage.title, url=passage.url)


def _reference(record: Record) -> str | None:
    """Return the long answer of ASQA, the answer of ELI5, or those of QAMPARI in a list."""
    value = record.value
    annotations = value.get("annotations")
    if isinstance(annotations, list) and annotations and isinstance(annotations[0], Mapping):
        long = annotations[0].get("long_answer")
        if isinstance(long, str):
            return long
    if isinstance(value.get("answer"), str):
        return str(value["answer"])
    answers = value.get("answers")
    names = [entry[0] if isinstance(entry, list) and entry else entry for entry in entries(answers)]
    return ", ".join(str(name) for name in names) or None


def _system(record: Record, builder: Builder) -> str:
    head = record.value.get(LOG)
    settings = head.get("args") if isinstance(head, Mapping) else None
    model = text(record, "system") or (settings.get("model") if isinstance(settings, Mapping) else None)
    if isinstance(model, str) and model:
        return model
    system = stem(record.where)
    builder.note_guess("system", f"no setting names a model: named {system} after the file; --set system=NAME")
    return system


FORMAT = Format(
    name="alce",
    title="ALCE: answers with citations of numbered documents",
    source="princeton-nlp/ALCE, run.py and eval.py at 5947208 (args; data with question, docs, output, qa_pairs, "
    "annotations, answers, claims)",
    gives=(
        "queries",
        "references",
        "passages",
        "documents",
        "answers",
        "samples",
    ),
    recognise=recognise,
    read=read,
    lists=(("data",),),
)
