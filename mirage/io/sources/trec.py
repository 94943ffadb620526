"""Queries, relevance labels and texts in the files of NoMIRACL and MIRACL.

topics  query id TAB query
qrels   query id, Q0, document id, 1 if the passage is relevant else 0; white space between
corpus  JSON Lines with docid, title and text
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mirage.errors import BadInput
from mirage.io.columns import Columns
from mirage.store import files


@dataclass(frozen=True, slots=True)
class RelevanceLabel:
    """The label of one passage for one query."""

    passage_id: str
    """The document id."""
    relevant: bool
    """Whether the passage helps answer the query."""
    where: str
    """`file:line` of the label."""


def topics(path: Path, *, seen: dict[str, str] | None = None) -> dict[str, str]:
    """Queries by id, in the order of the file.

    Args:
        path: the file, UTF-8, compressed if named `.gz`.
        seen: ids of other files with their places, to reject an id that occurs in two files; this file's ids are added.

    Raises:
        BadInput: naming file and line, if a line is malformed or an id occurs twice.
    """
    seen = {} if seen is None else seen
    texts: dict[str, str] = {}
    for where, line in files.lines(path):
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
    for where, line in files.lines(path):
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


def texts(paths: Iterable[Path], labels: Iterable[RelevanceLabel], *, missing: str = "") -> dict[str, tuple[str, str]]:
    """Return title and text of judged documents by id, from files of a corpus in JSON Lines.

    Args:
        paths: the files.
        labels: the labels.
        missing: where a document is not, for the error; empty if documents may be missing.

    Raises:
        BadInput: naming file and line, if a field is missing, a document has two texts, or one is missing.
    """
    needed = {label.passage_id: label for label in labels}
    found: dict[str, tuple[str, str]] = {}
    for path in paths:
        for line in files.jsonl(path):
            docid, *document = (line.value.get(name) for name in ("docid", "title", "text"))
            if docid is not None and docid not in needed:
                continue
            for name, value in (("docid", docid), ("title", document[0]), ("text", document[1])):
                if not isinstance(value, str):
                    what = f"the field {name!r} is missing or not text"
                    raise BadInput(what, where=line.where, do="fetch the file again")
            # The published files repeat a document for each query it was judged for.
            if found.setdefault(docid, (document[0], document[1])) != (document[0], document[1]):
                raise BadInput(f"document {docid} occurs with two texts", where=line.where, do="keep one of them")
    for name, label in needed.items() if missing else ():
        if name not in found:
            what = f"document {name} is judged but {missing}"
            raise BadInput(what, where=label.where, do="fetch both files again")
    return found


def add_passages(
    columns: Columns,
    query: tuple[str, str],
    labels: Iterable[RelevanceLabel],
    documents: Mapping[str, tuple[str, str]],
) -> None:
    """Add the judged passages of a query in their order; title and text are null without a document."""
    for position, label in enumerate(labels, start=1):
        title, text = documents.get(label.passage_id, (None, None))
        columns.add("passages", query, label, position=position, title=title, text=text)
