"""Runs of ranx: the rows of its data frames, and its JSON objects of scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.fields import need, text
from mirage.io.formats.logs import stem
from mirage.io.formats.spec import Builder, Format, Record, Sample, ShownPassage
from mirage.io.formats.values import number

_FIELDS = ("q_id", "doc_id", "score")
_LANGUAGE = "en"


def recognise(sample: Sample) -> str | None:
    """Detect rows with q_id, doc_id and score. Its JSON objects are those of TREC tools (`trec`)."""
    return f"has {', '.join(_FIELDS)}, as ranx" if sample.fields >= set(_FIELDS) else None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each run as a retriever, ordered by its scores; it is named after the file."""
    runs: dict[tuple[str, str, str], dict[str, float]] = {}
    places: dict[tuple[str, str, str], str] = {}
    for record in records:
        language = text(record, "language")
        if language is None:
            language = _LANGUAGE
            builder.note_guess("language", "a run has no texts: assumed English; change it with --set language=CODE")
        for query_id, document, score in _entries(record):
            key = text(record, "retriever", "run") or stem(record.where), language, query_id
            places.setdefault(key, record.where)
            runs.setdefault(key, {})[document] = score
    for key, scores in runs.items():
        retriever, language, query_id = key
        query = builder.query(None, where=places[key], query_id=query_id, language=language)
        ordered = sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
        ranked = [(ShownPassage(None, document), score) for document, score in ordered]
        builder.retrieved(query, retriever, ranked, where=places[key])


def _entries(record: Record) -> Iterable[tuple[str, str, float]]:
    """Return query, document and score of a row, or of an object of scores by query."""
    value = record.value
    if "q_id" in value:
        score = number(value.get("score"), "score", record.where)
        if score is None:
            raise BadInput("this row has no score", where=record.where, do="save the run again with ranx")
        return [(need(record, "q_id"), need(record, "doc_id"), score)]
    entries: list[tuple[str, str, float]] = []
    for query_id, scores in value.items():
        if not isinstance(scores, dict):
            raise BadInput(
                f"{query_id} has no object of scores by document",
                where=record.where,
                do="give a run that ranx saved, {QUERY: {DOCUMENT: SCORE}}",
            )
        entries += [(str(query_id), str(name), _score(given, record.where)) for name, given in scores.items()]
    return entries


def _score(given: Any, where: str) -> float:
    score = number(given, "score", where)
    if score is None:
        raise BadInput("a document has no score", where=where, do="save the run again with ranx")
    return score


FORMAT = Format(
    name="ranx",
    title="ranx: runs as tables; its JSON is read as `trec`",
    source="AmenRa/ranx, ranx/data_structures/run.py (Run.save and to_dataframe: q_id, doc_id, score; .json and .lz4 "
    "hold an object of scores by query)",
    gives=("queries", "retrieved"),
    recognise=recognise,
    read=read,
)
