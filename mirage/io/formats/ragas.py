"""Datasets of ragas: `user_input`, `retrieved_contexts`, `response`, `reference`, and its metrics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mirage.io import values
from mirage.io.formats import rag, shapes
from mirage.io.formats.answerability import ANSWERABLE, UNANSWERABLE
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import SYSTEM, answer_text, first, is_measure, list_field, system_of, text
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, Record, Sample, ShownPassage
from mirage.io.values import unpack
from mirage.text.data import load_words

_QUERY = ("user_input", "question")
_ANSWER = ("response", "answer")
_CONTEXTS = ("retrieved_contexts", "contexts")
_REFERENCE = ("reference", "ground_truth", "ground_truths")
_ID = ("query_id", "question_id", "id")
_NO_PLACE = {
    "rubrics": "an arena has no table of rubrics",
    "rubric": "an arena has no table of rubrics",
    "multi_responses": "an answer is one text of one system",
    "reference_tool_calls": "an arena has no table of calls of tools",
    "reference_topics": "an arena has no table of topics",
}
_METRICS = frozenset(load_words("ragas", "mirage.io.formats")["metrics"])
"""Names of ragas' metrics, without what it writes in brackets, and ours for any other: `--map NAME=score`."""
_ERRORS = "noise_sensitivity"
"""Beginning of the metrics that are better lower."""
_KNOWN = {*_QUERY, *_ANSWER, *_CONTEXTS, *_REFERENCE, *_ID, *_NO_PLACE, *SYSTEM}
_KNOWN |= {*ANSWERABLE, *UNANSWERABLE, "reference_contexts", "language", "turns", "index", "Unnamed: 0", ""}


def recognise(sample: Sample) -> str | None:
    """Detect ragas' field names, current or before 0.2."""
    if "user_input" in sample.fields and sample.fields & {*_ANSWER, *_CONTEXTS, "reference"}:
        return "has user_input with response, retrieved_contexts or reference"
    if {"question", "answer", "contexts"} <= sample.fields:
        if any(map(_is_metric, sample.fields - {"score"})):
            return "has question, answer, contexts and a metric of ragas"
        if sample.fields & {"ground_truth", "ground_truths"} and sample.fields.isdisjoint(SYSTEM):
            return "has question, answer, contexts and ground_truth, and names no system"
    return None


def _is_metric(name: str) -> bool:
    return name.partition("(")[0] in _METRICS


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    values.refuse_misspelt(record.value, record.where, _QUERY, _ANSWER, _CONTEXTS, ("language",))
    name, value = values.first(record.value, *_QUERY)
    asked = shapes.conversation(value, name, record.where)
    references = unpack(first(record.value, *_REFERENCE))
    reference = references[0] if isinstance(references, list) and references else references
    given = answer_text(record, *_ANSWER)
    answer = asked.answer if given is None else given
    others = record.value.keys() - _KNOWN
    measured = [name for name in others if _is_metric(name)]
    for name in others.difference(measured):
        if record.value[name] not in (None, ""):
            score = f"; if it is a score: --map {name}=score" if is_measure(record.value[name]) else ""
            builder.left_out(name, f"no field or metric of ragas{score}")
    named = first(record.value, *SYSTEM) is not None
    system = system_of(record, builder) if answer is not None or measured or named else ""
    for name, why in _NO_PLACE.items():
        if record.value.get(name) not in (None, "", [], {}):
            builder.left_out(name, why)
    yield Item(
        asked.question,
        query_id=text(record, *_ID),
        reference=shapes.text(reference, "reference", record.where),
        turns=asked.turns or shapes.turns(list_field(record, "turns"), "turns", record.where),
        passages=_passages(record, builder, answered=answer is not None),
        answers=[GivenAnswer(system, answer)] if system else [],
        scores=[
            GivenScore(
                *(system, name, "ragas", values.number(record.value[name], name, record.where)),
                low=1.0 if name.startswith(_ERRORS) else None,
                high=0.0 if name.startswith(_ERRORS) else None,
                reason="ragas gave no value",
            )
            for name in sorted(measured)
        ],
    )


def _passages(record: Record, builder: Builder, *, answered: bool) -> list[ShownPassage]:
    """Return the passages of a record; in a test set, also those it refers to."""
    name, value = values.first(record.value, *_CONTEXTS)
    retrieved = rag.shown_passages(value, (), record.where, name)
    wanted = rag.shown_passages(record.value.get("reference_contexts"), (), record.where, "reference_contexts")
    texts = {passage.text for passage in wanted}
    retrieved = [replace(passage, relevant=True) if passage.text in texts else passage for passage in retrieved]
    texts = {passage.text for passage in retrieved}
    others = [replace(passage, relevant=True, pooled=True) for passage in wanted if passage.text not in texts]
    if answered and others:
        builder.left_out("reference_contexts", "this system was not shown them", len(others))
    return retrieved if answered else [*retrieved, *others]


FORMAT = Format(
    name="ragas",
    title="ragas: an evaluation dataset, or the results of its metrics",
    source="explodinggradients/ragas, src/ragas/dataset_schema.py and messages.py at 01b7cac: the names of "
    "SingleTurnSample and MultiTurnSample, and results as EvaluationResult.to_pandas joins them; question, contexts, "
    "answer and ground_truth are the names before 0.2. ragas names neither systems nor queries: system, query_id and "
    "language are fields of ours.",
    gives=("queries", "turns", "references", "passages", "answers", "scores"),
    recognise=recognise,
    items=_items,
)
