"""Questions and relevance labels in the plain files of information retrieval.

topics  query id TAB question
qrels   query id, Q0, document id, 1 if the passage is relevant else 0; between them white space
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from mirage import store
from mirage.errors import BadInput


@dataclass(frozen=True, slots=True)
class RelevanceLabel:
    """The human label of one passage for one question."""

    passage_id: str
    """The document id."""
    relevant: bool
    """Whether the passage helps answer the question."""
    where: str
    """`file:line` that says so."""


def topics(path: Path, *, seen: dict[str, str] | None = None) -> dict[str, str]:
    """Questions by id, in the order of the file.

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
            raise BadInput("this line is not an id, a tab and a question", where=where, do="write: id TAB question")
        if seen.setdefault(query_id, where) != where:
            raise BadInput(
                f"query {query_id} occurs twice",
                where=f"{where}, first at {seen[query_id]}",
                do="keep one of the lines",
            )
        texts[query_id] = text
    return texts


def qrels(path: Path, query_ids: Collection[str]) -> dict[str, list[RelevanceLabel]]:
    """The judged passages of each question, in the order of the file.

    Args:
        path: the file, UTF-8, compressed if named `.gz`.
        query_ids: ids of the questions; no other may be judged.

    Raises:
        BadInput: naming file and line, if a line is malformed, its question unknown or its pair judged twice.
    """
    by_question: dict[str, list[RelevanceLabel]] = {}
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
        by_question.setdefault(query_id, []).append(RelevanceLabel(passage_id, label == "1", where))
    return by_question
