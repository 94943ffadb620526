"""Queries and relevance labels in the plain files of information retrieval.

topics  query id TAB query
qrels   query id, Q0, document id, its grade: 1 if the passage is relevant else 0, or more grades; white space between
run     query id, Q0, document id, rank, score, name of the run; white space between
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mirage import store
from mirage.errors import BadInput


@dataclass(frozen=True, slots=True)
class RelevanceLabel:
    """The human label of one passage for one query."""

    passage_id: str
    """The document id."""
    relevant: bool
    """Whether the passage helps answer the query."""
    where: str
    """`file:line` of the label."""


@dataclass(frozen=True, slots=True)
class GradedLabel:
    """The graded label of one document for one query."""

    query_id: str
    """The query."""
    passage_id: str
    """The document id."""
    grade: float
    """Relevance grade: 0 is not relevant, higher is more relevant; -1 for a pooled, unjudged passage."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """One line of a run: a document that a retriever gave to a query."""

    query_id: str
    """The query."""
    passage_id: str
    """The document id."""
    rank: int
    """Its place in the run, as the run says it: from 0 or 1."""
    score: float
    """What the retriever gave it."""
    run: str
    """Name of the run."""


def columns(line: str) -> list[str]:
    """Split a line at ASCII white space, as trec_eval does; any other space is part of an id."""
    return re.findall(r"[^ \t\r\n\f\v]+", line)


def parse_grade(line: str, where: str) -> GradedLabel:
    """Parse a line of qrels with any grades, of four columns, or of three as in BEIR: query id, document id, grade.

    Raises:
        BadInput: if it has another form.

    Source: trec_eval (usnistgov/trec_eval at 8bef1e9).
    """
    fields = columns(line)
    try:
        query_id, *_, passage_id, grade = fields
        if len(fields) not in (3, 4) or not math.isfinite(value := float(grade)):
            raise ValueError
    except ValueError:
        raise BadInput(
            "this line is no judgment", where=where, do="write: query id, Q0, document id, a whole number"
        ) from None
    return GradedLabel(query_id, passage_id, int(value) if value == int(value) else value)


def parse_rank(line: str, where: str) -> RunLine:
    """Parse a line of a run.

    Raises:
        BadInput: if it has another form.

    Source: trec_eval (usnistgov/trec_eval at 8bef1e9).
    """
    fields = columns(line)
    try:
        query_id, _, passage_id, rank, score, run = fields
        return RunLine(query_id, passage_id, int(rank), float(score), run)
    except ValueError:
        raise BadInput(
            "this line is not of a run",
            where=where,
            do="write: query id, Q0, document id, rank, score, name of the run",
        ) from None


_TAG = re.compile(r"<\s*(/?)\s*(top|topic|num|number|title|query|desc|description|narr|narrative)\b([^>]*)>", re.I)
_NUMBER = re.compile(r"(?:number|id)\s*=\s*[\"']?([^\"'\s>]+)", re.I)
_LABELS = re.compile(r"^\s*(?:Number|Topic|Description|Narrative)\s*:\s*", re.I)
_SHORT = {"number": "num", "query": "title", "description": "desc", "narrative": "narr", "topic": "top"}


def tagged_topics(lines: Iterable[tuple[str, str]]) -> Iterator[tuple[dict[str, str], str]]:
    """Topics between `<top>` tags, closed or not, or in XML: by field (`num`, `title`, `desc`, `narr`), and where each
    begins.

    Raises:
        BadInput: if a topic has no number.

    Source: the forms that ir_datasets reads (allenai/ir_datasets, ir_datasets/formats/trec.py at 04dd8ca).
    """
    from html import unescape

    topic: dict[str, str] | None = None
    field, begin = "", ""
    for where, line in lines:
        place = 0
        for tag in (*_TAG.finditer(line), None):
            if topic is not None and field:
                topic[field] += line[place : tag.start() if tag else None] + ("" if tag else "\n")
            if tag is None:
                break
            place = tag.end()
            name = _SHORT.get(tag[2].lower(), tag[2].lower())
            if name == "top" and not tag[1]:
                number = _NUMBER.search(tag[3])
                topic, begin = {"num": number[1]} if number else {}, where
            elif name == "top" and topic is not None:
                yield {key: _clean(unescape(text)) for key, text in _require_number(topic, begin).items()}, begin
                topic = None
            if topic is not None and name != "top" and not tag[1]:
                topic.setdefault(name, "")
            field = "" if tag[1] or name == "top" else name


def _require_number(topic: dict[str, str], where: str) -> dict[str, str]:
    if not _clean(topic.get("num", "")):
        raise BadInput("this topic has no number", where=where, do="write <num> and its id, or an attribute number")
    return topic


def _clean(text: str) -> str:
    return " ".join(_LABELS.sub("", text).split())


def topics(path: Path, *, seen: dict[str, str] | None = None) -> dict[str, str]:
    """Queries by id, in the order of the file.

    Args:
        path: the file, UTF-8, compressed if named `.gz`.
        seen: ids of other files and where they stand, for several files that share no id; this file's are added.

    Raises:
        BadInput: naming file and line, if a line is malformed or an id occurs twice.
    """
    seen = {} if seen is None else seen
    texts: dict[str, str] = {}
    for where, line in store.lines(path):
        query_id, tab, text = line.partition("\t")
        if not (query_id and tab and text.strip()) or "\t" in text:
            raise BadInput("this line is not an id, a tab and a query", where=where, do="write: id TAB query")
        if seen.setdefault(query_id, where) != where:
            raise BadInput(
                f"query {query_id} occurs twice",
                where=f"{where}, first at {seen[query_id]}",
                do="keep one of the lines",
            )
        texts[query_id] = text
    return texts


def qrels(path: Path, query_ids: Collection[str]) -> dict[str, list[RelevanceLabel]]:
    """Return the judged passages of each query, in file order.

    Args:
        path: the file, UTF-8, compressed if named `.gz`.
        query_ids: ids of the queries; no other may be judged.

    Raises:
        BadInput: naming file and line, if a line is malformed, its query unknown or its pair judged twice.
    """
    by_query: dict[str, list[RelevanceLabel]] = {}
    pairs: set[tuple[str, str]] = set()
    for where, line in store.lines(path):
        fields = line.split()
        if len(fields) != 4 or fields[3] not in ("0", "1"):
            raise BadInput("this line is no judgment", where=where, do="write: query id, Q0, document id, 0 or 1")
        query_id, _, passage_id, label = fields
        if query_id not in query_ids:
            raise BadInput(
                f"query {query_id} is judged but not among the topics", where=where, do="fetch topics and qrels again"
            )
        if (query_id, passage_id) in pairs:
            raise BadInput(
                f"document {passage_id} is judged twice for query {query_id}", where=where, do="keep one line"
            )
        pairs.add((query_id, passage_id))
        by_query.setdefault(query_id, []).append(RelevanceLabel(passage_id, label == "1", where))
    return by_query
