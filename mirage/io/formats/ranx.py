"""Runs of ranx: the rows of its data frames, and its JSON objects of scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import has_fields, need, stem, text
from mirage.io.formats.spec import GivenRanking, Item, Record, ShownPassage
from mirage.io.values import number

_LANGUAGE = "en"


def read(records: Iterable[Record], builder: Builder) -> Iterator[Item]:
    """Read each run as a retriever, ordered by its scores; it is named after the file."""
    runs: dict[tuple[str, str, str], dict[str, float]] = {}
    places: dict[tuple[str, str, str], str] = {}
    for record in records:
        language = text(record, "language")
        if language is None:
            language = _LANGUAGE
            builder.note_guess("language", "a run has no texts: assumed English; change it with --set language=CODE")
        for query_id, document, given in _entries(record):
            if (score := number(given, "score", record.where)) is None:
                raise BadInput("a document has no score", where=record.where, do="save the run again with ranx")
            key = text(record, "retriever", "run") or stem(record.where), language, query_id
            places.setdefault(key, record.where)
            runs.setdefault(key, {})[document] = score
    for key, scores in runs.items():
        retriever, language, query_id = key
        ordered = sorted(scores.items(), key=lambda entry: (-entry[1], entry[0]))
        ranking = GivenRanking(retriever, [(ShownPassage(None, document), score) for document, score in ordered])
        yield Item(None, query_id=query_id, language=language, rankings=[ranking], where=places[key])


def _entries(record: Record) -> list[tuple[str, str, Any]]:
    """Return query, document and score of a row, or of an object of scores by query."""
    value = record.value
    if "q_id" in value:
        return [(need(record, "q_id"), need(record, "doc_id"), value.get("score"))]
    if (wrong := next((name for name in value if not isinstance(value[name], dict)), None)) is not None:
        do = "give a run that ranx saved, {QUERY: {DOCUMENT: SCORE}}"
        raise BadInput(f"{wrong} has no object of scores by document", where=record.where, do=do)
    return [(str(query), str(name), given) for query, scores in value.items() for name, given in scores.items()]


FORMAT = Format(
    name="ranx",
    title="ranx: runs as tables; its JSON is read as `trec`",
    source="AmenRa/ranx, ranx/data_structures/run.py (Run.save and to_dataframe: q_id, doc_id, score; .json and .lz4 "
    "hold an object of scores by query)",
    gives=("queries", "retrieved"),
    recognise=has_fields("q_id", "doc_id", "score", of="ranx"),
    read=read,
)
