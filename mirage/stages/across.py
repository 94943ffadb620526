"""Languages of queries and passages, where passages are in other languages than their query.

decisions_by_pair(causes)        # correct decisions by language of the query and of the relevant passages shown
detect_passage_languages(path)   # writes the missing languages of passages
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import schema
from mirage.stages.retrieve.attribution import AnswerCause
from mirage.stats.intervals import wilson
from mirage.store.arena import Arena, open_arena
from mirage.store.upsert import NewRows, Snapshot, by_key, retry_outdated, upsert
from mirage.store.writing import Provenance
from mirage.text.detection import detect

if TYPE_CHECKING:
    import pyarrow as pa

_TABLES = ("passages", "retrieved")


@dataclass(frozen=True, slots=True)
class DecisionShare:
    """Share of a system's answers with a correct decision, by languages of the query and of a relevant passage."""

    system: str
    """The system."""
    query_language: str
    """Language of the queries."""
    passage_language: str
    """Language of a relevant passage shown to the system; an answer can count for several."""
    k: int
    """Correct decisions: the system answers, and cites a relevant passage or nothing (`retrieve.attribution`)."""
    n: int
    """Attributed answers to queries with such a passage."""
    share: schema.Share
    """Share of correct decisions, in [0, 1]."""
    low: schema.Share
    """Lower end of its 95% interval over queries (Wilson)."""
    high: schema.Share
    """Upper end."""


@dataclass(frozen=True, slots=True)
class DetectResult:
    """Result of detecting languages."""

    arena: Arena
    """The updated arena."""
    detected: int
    """Number of passages, counted per query, whose language was detected."""
    unknown: int
    """Number of passages, counted per query, whose language remains unknown: no text, or one too short or mixed."""


def is_cross_lingual(arena: Arena) -> bool:
    """Return whether queries of one language have given or retrieved passages in several languages."""
    return len(_pairs(arena)) > len({language for language, _ in _pairs(arena)})


def passage_languages(arena: Arena) -> list[str]:
    """Return the known languages of an arena's passages."""
    return sorted({code for _, code in _pairs(arena)})


@lru_cache(maxsize=16)
def _pairs(arena: Arena) -> frozenset[tuple[str, str]]:
    """Return the pairs of languages of a query and a passage."""
    pairs: set[tuple[str, str]] = set()
    for table in _TABLES:
        if table in arena.tables:
            rows = arena.read(table, columns=["language", "passage_language"]).drop_null()
            rows = rows.group_by(["language", "passage_language"]).aggregate([])
            pairs |= set(zip(*(rows[name].to_pylist() for name in ("language", "passage_language")), strict=True))
    return frozenset(pairs)


def decisions_by_pair(causes: Iterable[AnswerCause]) -> list[DecisionShare]:
    """Count correct decisions by languages of the query and of the relevant passages that the system was shown.

    Args:
        causes: of answers to queries with labelled passages whose languages are known (`attributions`).
    """
    counts: dict[tuple[str, str, str], list[bool]] = {}
    for entry in causes:
        own = entry.attribution
        if own.cause is not None:
            for code in entry.relevant_in:
                counts.setdefault((own.system, own.language, code), []).append(own.cause == "right")
    return [
        DecisionShare(*key, sum(right), len(right), sum(right) / len(right), *wilson(sum(right), len(right)))
        for key, right in sorted(counts.items())
    ]


def detect_passage_languages(path: Path, *, made_by: str) -> DetectResult:
    """Detect the language of passages that have a text and no language, and write it to the arena.

    A retrieved passage without a text takes the language of the query's passage with its id. Given languages and all
    else stay unchanged.

    Args:
        path: the arena's folder.
        made_by: the command, for the manifest.

    Raises:
        ArenaError: if the arena lacks queries, or cannot be written.
    """

    def make() -> DetectResult:
        arena = open_arena(path)
        arena.need("queries")
        tables = {name: arena.read(name) for name in _TABLES if name in arena.tables}
        named = {*arena.languages("queries")}
        for table in tables.values():
            named |= set(table["passage_language"].drop_null().unique().to_pylist())
        known = _detect(tables.values(), sorted(named))
        changed: dict[str, NewRows] = {}
        detected, unknown = set[tuple[str, ...]](), set[tuple[str, ...]]()
        for name, table in tables.items():
            keys = _keys(table)
            missing = [key for key, code in zip(keys, table["passage_language"].to_pylist(), strict=True) if not code]
            detected.update(key for key in missing if key in known)
            unknown.update(key for key in missing if key not in known)
            if not known.keys().isdisjoint(missing):
                changed[name] = by_key(name, _fill_languages(table, [known.get(key) for key in keys]))
        if changed:
            note = f"language of {len(detected):,} passages detected from their texts"
            provenance = Provenance(made_by, notes=[note])
            arena = upsert(path, changed, made_by=provenance, seen=Snapshot(arena, tables)).arena
        return DetectResult(arena, len(detected), len(unknown))

    return retry_outdated(make)


def _keys(table: pa.Table) -> list[tuple[str, ...]]:
    """Return the language and id of the query and the id of the passage of each row."""
    return list(zip(*(table[name].to_pylist() for name in ("language", "query_id", "passage_id")), strict=True))


def _detect(tables: Iterable[pa.Table], named: list[str]) -> dict[tuple[str, ...], str]:
    """Return the languages of passages by key: given, else detected from a text."""
    of_text = cache(lambda text: detect(text, named))
    known: dict[tuple[str, ...], str] = {}
    for table in tables:
        rows = zip(_keys(table), table["text"].to_pylist(), table["passage_language"].to_pylist(), strict=True)
        for key, text, code in rows:
            if found := code or (of_text(text) if text and key not in known else None):
                known.setdefault(key, found)
    return known


def _fill_languages(table: pa.Table, found: Sequence[str | None]) -> pa.Table:
    """Return a table with these languages where it has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    place = table.column_names.index("passage_language")
    field = schema.arrow_schema("passages").field("passage_language")
    return table.set_column(place, field, pc.coalesce(table["passage_language"], pa.array(found, pa.string())))
