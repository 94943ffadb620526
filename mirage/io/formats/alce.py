"""Outputs of ALCE: answers with citations of numbered documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import answer_text, need, system_of, text
from mirage.io.formats.logs import entries, members
from mirage.io.formats.open import LOG
from mirage.io.formats.rag import shown_passages
from mirage.io.formats.spec import GivenAnswer, Item, Record, Sample, ShownPassage

_FIELDS = ("question", "docs", "output")
_MORE = ("qa_pairs", "sample_id", "annotations", "claims", "answers", "prompt")


def recognise(sample: Sample) -> str | None:
    """Detect a document with settings and data, or its items."""
    for record in sample.records:
        data = entries(record.get("data"))
        row = members(data[0]) if data else record
        if row.keys() >= set(_FIELDS) and (row.keys() & set(_MORE) or members(record.get("args"))):
            return f"has {', '.join(_FIELDS)}, as ALCE"
    return None


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read an answer; `[1]` cites its first document, and the system is the model of the run."""
    settings = members(members(record.value.get(LOG)).get("args"))
    system = system_of(record, builder, settings.get("model"))
    found, _ = shown_passages(entries(record.value.get("docs")), (), record.where, "docs")
    yield Item(
        need(record, "question"),
        query_id=text(record, "sample_id", "id"),
        reference=_reference(record.value),
        # Without ids and scores: an id is that of a whole document in some of the data sets.
        passages=[ShownPassage(passage.text, title=passage.title, url=passage.url) for passage in found],
        answers=[GivenAnswer(system, answer_text(record, "output"), numbered=True)],
    )


def _reference(value: Any) -> str | None:
    """Return the long answer of ASQA, the answer of ELI5, or those of QAMPARI in a list."""
    annotations = entries(value.get("annotations"))
    for answer in (members(annotations[0]).get("long_answer") if annotations else None, value.get("answer")):
        if isinstance(answer, str):
            return answer
    names = [entry[0] if isinstance(entry, list) and entry else entry for entry in entries(value.get("answers"))]
    return ", ".join(map(str, names)) or None


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
    items=_items,
    further="texts",
    lists=(("data",),),
)
