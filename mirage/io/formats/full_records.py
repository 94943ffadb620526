"""Traversal of an arena by query and by answer, with all related data, for the writers of formats."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mirage.io.formats.spec import QueryKey, ShownPassage
from mirage.schema import Score
from mirage.stages.shown import ShownPassages

if TYPE_CHECKING:
    from mirage.store import Arena

AnswerKey = tuple[str, str, str]
"""Language, query_id and system."""


@dataclass(frozen=True, slots=True)
class WholeQuery:
    """One query with its conversation, reference, tags and passages."""

    language: str
    """Its language."""
    query_id: str
    """Its id."""
    text: str | None
    """The query; null if unpublished."""
    reference: str | None
    """Its reference answer; null if it has none."""
    turns: tuple[tuple[str, str], ...]
    """Speaker and text of each earlier turn."""
    tags: Mapping[str, tuple[str, ...]]
    """Values by tag."""
    passages: tuple[ShownPassage, ...]
    """Its passages in order."""
    subset: str | None
    """Its subset (`schema.Query`)."""


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """One answer with its query, scores and features."""

    query: WholeQuery
    """Its query."""
    system: str
    """The system that answered."""
    text: str | None
    """The raw text; null if there is none."""
    numbered: bool | None
    """Whether the prompt numbered its passages (`schema.Answer`)."""
    status: str
    """Status of the answer (`schema.Answer`)."""
    template: str | None
    """Name of the prompt's template; null if unknown."""
    thoughts: str | None
    """A reasoning model's thoughts (`schema.Answer`)."""
    run_date: str | None
    """Day of the answer (`schema.Answer`)."""
    scores: tuple[Score, ...]
    """Scores by people and programs."""
    features: Mapping[str, float]
    """Features by name, without missing values."""


def whole_queries(arena: Arena) -> dict[QueryKey, WholeQuery]:
    """Yield every query of an arena, sorted by key.

    Raises:
        TableMissing: if the arena has no queries.
    """
    documents = {
        (row["language"], row["query_id"], row["passage_id"]): row for row in _rows(arena, "documents", optional=True)
    }
    turns: dict[QueryKey, list[tuple[str, str]]] = defaultdict(list)
    for row in sorted(_rows(arena, "turns", optional=True), key=lambda row: int(row["position"])):
        turns[_key(row)].append((row["speaker"], row["text"]))
    tags: dict[QueryKey, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in _rows(arena, "tags", optional=True):
        tags[_key(row)][row["tag"]].append(row["value"])
    passages: dict[QueryKey, list[ShownPassage]] = defaultdict(list)
    for row in sorted(_rows(arena, "passages", optional=True), key=lambda row: int(row["position"])):
        document = documents.get((*_key(row), row["passage_id"]), {})
        metadata = document.get("metadata")
        passages[_key(row)].append(
            ShownPassage(
                row["text"],
                row["passage_id"],
                row["title"],
                row["relevant"],
                document.get("url"),
                None if metadata is None else json.loads(metadata),
                row["pooled"],
                row["passage_language"],
            )
        )
    references = {_key(row): row["text"] for row in _rows(arena, "references", optional=True)}
    return {
        key: WholeQuery(
            *key,
            row["text"],
            references.get(key),
            tuple(turns[key]),
            {tag: tuple(values) for tag, values in tags[key].items()},
            tuple(passages[key]),
            row["subset"],
        )
        for row in _rows(arena, "queries")
        for key in [_key(row)]
    }


def whole_answers(arena: Arena) -> Iterator[WholeAnswer]:
    """Yield every answer of an arena, sorted by key.

    Raises:
        TableMissing: if the arena has no queries or no answers.
    """
    queries = whole_queries(arena)
    scores: dict[AnswerKey, list[Score]] = defaultdict(list)
    for row in _rows(arena, "scores", optional=True):
        scores[(*_key(row), row["system"])].append(Score(**row))
    retrieved = arena.read_optional("retrieved")
    lists = None if retrieved is None else ShownPassages(arena.read_optional("passages"), retrieved, columns=_SHOWN)
    features: dict[AnswerKey, dict[str, float]] = defaultdict(dict)
    for row in _rows(arena, "features", optional=True):
        if row["value"] is not None:
            features[(*_key(row), row["system"])][row["feature"]] = row["value"]
    for row in _rows(arena, "answers"):
        key = (*_key(row), row["system"])
        query = queries[_key(row)]
        if lists is not None and row["retriever"] is not None:
            seen = lists.of(_key(row), row["retriever"], row["depth"])
            query = replace(query, passages=_among(query.passages, seen))
        yield WholeAnswer(
            query,
            row["system"],
            row["text"],
            row["numbered"],
            row["status"],
            row["template"],
            row["thoughts"],
            row["run_date"],
            tuple(scores[key]),
            features[key],
        )


_SHOWN = ("text", "passage_id", "title", "relevant")


def _among(given: tuple[ShownPassage, ...], seen: Iterable[tuple[Any, ...]]) -> tuple[ShownPassage, ...]:
    """Return the passages shown to a system, completed from those given with the query."""
    by_id = {passage.passage_id: passage for passage in given}
    return tuple(by_id.get(row[1]) or ShownPassage(*row) for row in seen)


def json_lines(records: Iterable[Mapping[str, Any]]) -> str:
    """Return records as JSON Lines, without escaping letters."""
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)


def _rows(arena: Arena, table: str, *, optional: bool = False) -> list[dict[str, Any]]:
    return [] if optional and table not in arena.tables else arena.read(table).to_pylist()


def _key(row: Mapping[str, Any]) -> QueryKey:
    return row["language"], row["query_id"]
