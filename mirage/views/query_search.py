"""View of the queries with matching answers, and of the filters that an arena offers.

A search returns keys only; texts are read for the queries on display.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.stages.shown import shown_passages
from mirage.store.arena import Arena
from mirage.store.search import answer_values, find_answers
from mirage.views import causes
from mirage.views.query import QueryView
from mirage.views.query_keys import Key, Keys, language_place

AnswerKey = tuple[str, str, str]
"""Language, query and system of an answer."""


@dataclass(frozen=True)
class Scope:
    """Filters that an arena offers, and its size."""

    languages: tuple[str, ...]
    systems: tuple[str, ...]
    subsets: tuple[str, ...]
    """Existing subsets; empty if the queries have none."""
    parsers: tuple[str, ...]
    """Parsers with outcomes; empty without outcomes."""
    outcomes: tuple[str, ...]
    """Outcomes by any of these parsers."""
    queries: int
    """Number of queries."""
    answers: int
    """Number of answers, by query and system."""
    answer_texts: bool
    """Whether the arena has the answers' texts."""
    query_texts: bool
    """Whether the arena has the text of any query."""

    @property
    def texts(self) -> bool:
        """True if there is text to search."""
        return self.answer_texts or self.query_texts


@dataclass(frozen=True)
class AnswerFilter:
    """Filter of answers. A query matches if one of its answers does."""

    languages: tuple[str, ...] = ()
    """Codes; empty for all."""
    subset: str = ""
    """Subset of the query; empty for any."""
    systems: tuple[str, ...] = ()
    """Systems; empty for all."""
    outcomes: tuple[str, ...] = ()
    """Outcome; empty for any."""
    parser: str = "strict"
    """Parser of the outcomes."""
    cause: str = ""
    """Cause of the answer (`retrieval.Cause`), or `unclassified`; empty for any."""
    passage_language: str = ""
    """Language of a passage shown to the system; empty for any."""
    text: str = ""
    """Text to search for in queries and answers, ignoring case; empty for any."""
    noted: frozenset[AnswerKey] | None = None
    """Language, query and system of the answers with matching notes; None for all."""
    preferred: tuple[str, ...] = ()
    """Codes of the languages to list first; they filter nothing."""

    @property
    def narrowed(self) -> bool:
        """True if the filter can select some answers of a query and not others."""
        return bool(
            self.systems or self.outcomes or self.cause or self.text or self.passage_language or self.noted is not None
        )


@dataclass(frozen=True, eq=False)
class AnswerSelection(Keys):
    """Matching queries."""

    answers: int
    """Number of matching answers."""

    def start(self, telling: Collection[Key]) -> Key | None:
        """Return the query to open: in the first language, a disputed one if possible; None without queries."""
        first = self.keys[0] if self.keys else None
        return next((key for key in self.keys if first and key[0] == first[0] and key in telling), first)


@dataclass(frozen=True)
class QueryItem:
    """A query in the list."""

    key: Key
    subset: str | None
    text: str | None
    """Text of the query; null if it was not published or is not bundled."""


@lru_cache(maxsize=16)
def scope(arena: Arena) -> Scope:
    """Return the filters that an arena offers, and its size.

    Raises:
        TableMissing: if the arena has neither outcomes nor answers.
    """
    known = answer_values(arena)
    sql = "SELECT 1 FROM queries WHERE text IS NOT NULL LIMIT 1"

    def among(column: str, kind: Any) -> tuple[str, ...]:
        return tuple(value for value in get_args(kind) if value in known[column])

    return Scope(
        languages=tuple(sorted(known["language"])),
        systems=tuple(sorted(known["system"])),
        subsets=among("subset", schema.Subset),
        parsers=among("parser", schema.Parser),
        outcomes=among("outcome", schema.Outcome) if "outcomes" in arena.tables else (),
        queries=known["queries"],
        answers=known["answers"],
        answer_texts="answers" in arena.tables,
        query_texts="queries" in arena.tables and len(arena.sql(sql)) > 0,
    )


@lru_cache(maxsize=16)
def find_queries(arena: Arena, search: AnswerFilter) -> AnswerSelection:
    """Return the queries with a matching answer.

    Raises:
        TableMissing: if the arena has neither outcomes nor answers.
    """
    chosen = {"system": search.systems, "outcome": search.outcomes}
    chosen["subset"] = (search.subset,) if search.subset else ()
    chosen["parser"] = (search.parser,) if "outcomes" in arena.tables else ()
    among: list[Collection[AnswerKey]] = []
    if search.cause:
        by_answer = causes.by_answer(arena, search.parser).items()
        among.append([key for key, entry in by_answer if (entry.cause or causes.UNDECIDED) == search.cause])
    if search.passage_language:
        among.append(_shown_in(arena, search.passage_language))
    if search.noted is not None:
        among.append(search.noted)
    found = find_answers(
        arena,
        chosen=chosen,
        languages=search.languages,
        text=search.text,
        among=[_key_table(keys) for keys in among],
    )
    keys = zip(found["language"].to_pylist(), found["query_id"].to_pylist(), strict=True)
    ordered = sorted(keys, key=lambda key: language_place(key[0], search.preferred))
    return AnswerSelection(tuple(ordered), sum(found["answers"].to_pylist()))


@lru_cache(maxsize=16)
def disputed_queries(arena: Arena, parser: str) -> frozenset[Key]:
    """Return the queries on which some systems decide correctly and others wrongly; none without outcomes."""
    if "outcomes" not in arena.tables:
        return frozenset()
    rows = arena.sql(
        "SELECT language, query_id FROM outcomes WHERE parser = ? GROUP BY ALL "
        "HAVING bool_or(correct) AND NOT bool_and(correct)",
        [parser],
    )
    return frozenset(zip(rows["language"].to_pylist(), rows["query_id"].to_pylist(), strict=True))


def _key_table(keys: Collection[AnswerKey]) -> pa.Table:
    """Return keys of answers as a table."""
    columns = list(zip(*keys, strict=True)) or [(), (), ()]
    names = ("language", "query_id", "system")
    return pa.table({name: pa.array(column, pa.string()) for name, column in zip(names, columns, strict=True)})


@lru_cache(maxsize=16)
def _shown_in(arena: Arena, code: str) -> frozenset[AnswerKey]:
    """Return the answers of systems that were shown a passage in a language."""
    if "answers" not in arena.tables:
        return frozenset()
    names = ("answers", "passages", "retrieved")
    rows = shown_passages({name: arena.read(name) for name in names if name in arena.tables})
    rows = rows.filter(pc.equal(rows["passage_language"], code))
    return frozenset(zip(*(rows[name].to_pylist() for name in ("language", "query_id", "system")), strict=True))


@lru_cache(maxsize=256)
def items(arena: Arena, keys: tuple[Key, ...]) -> tuple[QueryItem, ...]:
    """Return the queries of one page of the list, in the given order."""
    by_key: dict[Key, dict[str, Any]] = {}
    if "queries" in arena.tables:
        rows = arena.sql(
            "SELECT language, query_id, subset, text FROM queries "
            "WHERE list_contains($languages, language) AND list_contains($ids, query_id)",
            {"languages": sorted({key[0] for key in keys}), "ids": [key[1] for key in keys]},
        )
        by_key = {(row["language"], row["query_id"]): row for row in rows.to_pylist()}
    return tuple(
        QueryItem(key, *((by_key[key]["subset"], by_key[key]["text"]) if key in by_key else (None, None)))
        for key in keys
    )


def query_of_link(arena: Arena, link: str, languages: Sequence[str] = ()) -> Key:
    """Return the query that a link names: `ar:771728#0`, or an id alone.

    Args:
        arena: the arena.
        link: value of the query parameter.
        languages: languages to search first for an id that occurs in several.

    Raises:
        UnknownName: if there is no such query; the message names the nearest.
    """
    return find_queries(arena, AnswerFilter(parser="".join(scope(arena).parsers[:1]))).resolve(link, languages)


def matches(query: QueryView, search: AnswerFilter) -> frozenset[str]:
    """Return the systems whose answer to a query matches, as in `find_queries`."""
    text = _fold(search.text)
    in_query = text in _fold(query.text or "")
    return frozenset(
        answer.system
        for answer in query.answers
        if (not search.systems or answer.system in search.systems)
        and (not search.outcomes or answer.outcome in search.outcomes)
        and (search.noted is None or (*query.key, answer.system) in search.noted)
        and (
            not search.passage_language
            or any(
                p.passage_language == search.passage_language for p in query.passages if p.passage_id in answer.shown
            )
        )
        and (in_query or text in _fold(answer.text or ""))
    )


def _fold(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFC", text).lower()
