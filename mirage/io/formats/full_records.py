"""Export of flat records (`rag`): one line per answer, with its query and the passages shown to its system."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mirage.stages.shown import ShownPassages
from mirage.store.arena import Arena
from mirage.store.files import write_text

_SHOWN = ("passage_id", "title", "text", "relevant")
_ANSWER = ("status", "template", "numbered", "thoughts", "run_date")
_Key = tuple[str, str]
_Rows = dict[_Key, list[dict[str, Any]]]


def write(arena: Arena, path: Path) -> None:
    """Write one line per answer, which `rag` reads again.

    Raises:
        TableMissing: if the arena has no queries or no answers.
    """
    write_text(path, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in _lines(arena)))


def _lines(arena: Arena) -> Iterator[dict[str, Any]]:
    queries = _queries(arena)
    retrieved = arena.read_optional("retrieved")
    lists = None if retrieved is None else ShownPassages(arena.read_optional("passages"), retrieved, columns=_SHOWN)
    for row in arena.read("answers").to_pylist():
        key = row["language"], row["query_id"]
        line = {**queries[key], "answer": row["text"], "system": row["system"], **{name: row[name] for name in _ANSWER}}
        if lists is not None and row["retriever"] is not None:
            given = {context["id"]: context for context in line["contexts"]}
            seen = [dict(zip(_SHOWN, shown, strict=True)) for shown in lists.of(key, row["retriever"], row["depth"])]
            line["contexts"] = [given.get(shown["passage_id"]) or _context(shown, {}) for shown in seen]
        kept = ("contexts", "answer")
        yield {name: value for name, value in line.items() if name in kept or value not in (None, [], {})}


def _queries(arena: Arena) -> dict[_Key, dict[str, Any]]:
    """Return the fields of each query by key."""
    names = ("passages", "documents", "turns", "tags", "references")
    passages, documents, turns, tags, references = (_by_query(arena, name) for name in names)
    queries = {}
    for key, rows in _by_query(arena, "queries").items():
        about = {row["passage_id"]: row for row in documents[key]}
        of_tag: dict[str, list[str]] = defaultdict(list)
        for row in tags[key]:
            of_tag[row["tag"]].append(row["value"])
        queries[key] = {
            "question": rows[0]["text"],
            "contexts": [_context(row, about.get(row["passage_id"], {})) for row in passages[key]],
            "answer": None,
            "system": None,
            "id": key[1],
            "language": key[0],
            "reference": next((row["text"] for row in references[key]), None),
            "turns": [{"role": row["speaker"], "content": row["text"]} for row in turns[key]],
            "tags": of_tag,
            "subset": rows[0]["subset"],
        }
    return queries


def _by_query(arena: Arena, table: str) -> _Rows:
    """Return the rows of a table by query, in the order of their positions; none if there is no such table."""
    by_query: _Rows = defaultdict(list)
    rows = arena.read(table) if table == "queries" else arena.read_optional(table)
    for row in [] if rows is None else rows.to_pylist():
        by_query[row["language"], row["query_id"]].append(row)
    for part in by_query.values():
        part.sort(key=lambda row: int(row.get("position", 0)))
    return by_query


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
