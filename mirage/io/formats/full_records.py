"""Export of flat records (`rag`): one line per answer, with all data on its query, passages and measurements."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mirage import store
from mirage.stages.shown import ShownPassages

if TYPE_CHECKING:
    from pathlib import Path

OURS = "mirage"
"""Field with mirage's measurements, which is not read."""
_SHOWN = ("passage_id", "title", "text", "relevant")
_ANSWER = ("status", "template", "numbered", "thoughts", "run_date")
_KEY = ("language", "query_id")


def write(arena: store.Arena, path: Path) -> None:
    """Write one line per answer, which `rag` reads again.

    The object `mirage` holds the answer's features by name, and its scores as `MEASURE/RATER`.

    Raises:
        TableMissing: if the arena has no queries or no answers.
    """
    store.write_text(path, json_lines(_lines(arena)))


def json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    """Return records as JSON Lines, without escaping letters."""
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)


def _lines(arena: store.Arena) -> Iterator[dict[str, Any]]:
    queries = _queries(arena)
    measured: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for row in _rows(arena, "features"):
        measured[*_key(row), row["system"]][row["feature"]] = row["value"]
    for row in _rows(arena, "scores"):
        measured[*_key(row), row["system"]][f"{row['measure']}/{row['rater']}"] = row["value"]
    retrieved = arena.read_optional("retrieved")
    lists = None if retrieved is None else ShownPassages(arena.read_optional("passages"), retrieved, columns=_SHOWN)
    for row in arena.read("answers").to_pylist():
        query = queries[_key(row)]
        contexts = query["contexts"]
        if lists is not None and row["retriever"] is not None:
            given = {context["id"]: context for context in contexts}
            seen = lists.of(_key(row), row["retriever"], row["depth"])
            contexts = [given.get(shown[0]) or _context(dict(zip(_SHOWN, shown, strict=True)), {}) for shown in seen]
        about = {name: row[name] for name in _ANSWER}
        values = {name: value for name, value in measured[*_key(row), row["system"]].items() if value is not None}
        line = {**query, "contexts": contexts, "answer": row["text"], "system": row["system"], **about, OURS: values}
        kept = ("contexts", "answer")
        yield {name: value for name, value in line.items() if name in kept or value not in (None, [], {})}


def _queries(arena: store.Arena) -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the fields of each query by key."""
    documents = {(*_key(row), row["passage_id"]): row for row in _rows(arena, "documents")}
    contexts: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(_rows(arena, "passages"), key=lambda row: int(row["position"])):
        contexts[_key(row)].append(_context(row, documents.get((*_key(row), row["passage_id"]), {})))
    turns: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in sorted(_rows(arena, "turns"), key=lambda row: int(row["position"])):
        turns[_key(row)].append({"role": row["speaker"], "content": row["text"]})
    tags: dict[tuple[str, ...], dict[str, list[str]]] = defaultdict(dict)
    for row in _rows(arena, "tags"):
        tags[_key(row)].setdefault(row["tag"], []).append(row["value"])
    references = {_key(row): row["text"] for row in _rows(arena, "references")}
    return {
        _key(row): {
            "question": row["text"],
            "contexts": contexts[_key(row)],
            "answer": None,
            "system": None,
            "id": row["query_id"],
            "language": row["language"],
            "reference": references.get(_key(row)),
            "turns": turns[_key(row)],
            "tags": tags[_key(row)],
            "subset": row["subset"],
        }
        for row in arena.read("queries").to_pylist()
    }


def _context(row: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    facts = {
        "id": row["passage_id"],
        "title": row["title"],
        "text": row["text"],
        "relevant": row["relevant"],
        "url": document.get("url"),
        "language": row.get("passage_language"),
    }
    metadata: dict[str, Any] = json.loads(document.get("metadata") or "{}")
    return {name: value for name, value in facts.items() if value is not None} | metadata


def _rows(arena: store.Arena, table: str) -> list[dict[str, Any]]:
    rows = arena.read_optional(table)
    return [] if rows is None else rows.to_pylist()


def _key(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["language"], row["query_id"]
