"""Languages of queries and passages, where passages are in other languages than their query.

decisions_by_pair(causes)        # correct decisions by language of the query and of the relevant passages shown
detect_passage_languages(path)   # writes the missing languages of passages
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.stages.retrieve.attribution import AnswerCause
from mirage.stats.intervals import wilson
from mirage.stats.rows import group, read_rows
from mirage.store.arena import Arena, open_arena
from mirage.store.upsert import NewRows, Snapshot, by_key, retry_outdated, upsert
from mirage.store.writing import Provenance
from mirage.text.detection import detect

_TABLES = ("passages", "retrieved")
_KEY = ("language", "query_id", "passage_id")


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
            rows = rows.group_by(rows.column_names).aggregate([])
            pairs.update(read_rows(rows, "language", "passage_language"))
    return frozenset(pairs)


def decisions_by_pair(causes: Iterable[AnswerCause]) -> list[DecisionShare]:
    """Count correct decisions by languages of the query and of the relevant passages that the system was shown.

    Args:
        causes: of answers to queries with labelled passages whose languages are known (`attributions`).
    """
    decided = group(
        ((entry.attribution.system, entry.attribution.language, code), entry.attribution.cause == "right")
        for entry in causes
        if entry.attribution.cause is not None
        for code in entry.relevant_in
    )
    counts = ((key, sum(right), len(right)) for key, right in sorted(decided.items()))
    return [DecisionShare(*key, k, n, k / n, *wilson(k, n)) for key, k, n in counts]


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
            keys = list(read_rows(table, *_KEY))
            missing = list(read_rows(table.filter(pc.is_null(table["passage_language"])), *_KEY))
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


def _detect(tables: Iterable[pa.Table], named: list[str]) -> dict[tuple[str, ...], str]:
    """Return the languages of passages by key: given, else detected from a text."""
    of_text = cache(lambda text: detect(text, named))
    known: dict[tuple[str, ...], str] = {}
    for table in tables:
        for *of, text, code in read_rows(table, *_KEY, "text", "passage_language"):
            key = tuple(of)
            if key not in known and (found := code or (of_text(text) if text else None)):
                known[key] = found
    return known


def _fill_languages(table: pa.Table, found: Sequence[str | None]) -> pa.Table:
    """Return a table with these languages where it has none."""
    place = table.column_names.index("passage_language")
    field = schema.arrow_schema("passages").field("passage_language")
    return table.set_column(place, field, pc.coalesce(table["passage_language"], pa.array(found, pa.string())))
