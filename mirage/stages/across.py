"""Languages of queries, passages and answers, where passages are in other languages than their query.

recall_by_pair(arena)            # retrieval measures by language of the query and of the passage
decisions_by_pair(arena)         # correct decisions by language of the query and of the relevant passages shown
answer_languages(arena)          # languages of the answers
detect_passage_languages(path)   # writes the missing languages of passages
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import schema, store
from mirage.errors import NotEnoughData
from mirage.stages.retrieve.attribution import attributions
from mirage.stages.retrieve.measures import RELEVANT_FROM, by_query, labelled_passages, means, ranked_lists
from mirage.stats.intervals import wilson
from mirage.store import Arena
from mirage.text.answers import strip_markup
from mirage.text.detection import detect

if TYPE_CHECKING:
    import pyarrow as pa

MEASURES = ("nDCG@10", "R@10")
"""Default measures by pair of languages."""
_TABLES = ("passages", "retrieved")


@dataclass(frozen=True, slots=True)
class PairMean:
    """One retriever's mean of one measure, for queries in one language and passages in one language."""

    query_language: str
    """Language of the queries; `all` for the mean over languages, equally weighted."""
    passage_language: str
    """Language of the passages that count as relevant; passages in other languages occupy ranks but have no gain."""
    retriever: str
    """The retriever."""
    measure: str
    """Name of the measure, in [0, 1]."""
    mean: float | None
    """Mean over the queries with a relevant passage in this language; null if there are none."""
    low: float | None
    """Lower end of the 95% interval over queries, where a query asked in several languages is one unit; null with fewer
    than two.
    """
    high: float | None
    """Upper end."""
    n: int
    """Queries with a value, counted in each language."""


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
    share: float
    """Share of correct decisions, in [0, 1]."""
    low: float
    """Lower end of its 95% interval over queries (Wilson)."""
    high: float
    """Upper end."""


@dataclass(frozen=True, slots=True)
class AnswerLanguage:
    """Share of a system's answers in one language, for queries in one language."""

    system: str
    """The system."""
    query_language: str
    """Language of the queries."""
    answer_language: str
    """Detected language of the answers."""
    k: int
    """Answers in this language."""
    n: int
    """Answers whose language was detected."""
    share: float
    """Share of the answers, in [0, 1]."""
    low: float
    """Lower end of its 95% interval (Wilson)."""
    high: float
    """Upper end."""


@dataclass(frozen=True, slots=True)
class DetectResult:
    """Result of detecting languages."""

    arena: store.Arena
    """The updated arena."""
    detected: int
    """Number of passages whose language was detected, counted per query and retriever."""
    unknown: int
    """Number of passages whose language remains unknown: no text, or a text too short or too mixed."""


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


def recall_by_pair(
    arena: Arena,
    *,
    measures: Sequence[str] = MEASURES,
    languages: Iterable[str] | None = None,
    relevant_from: int = RELEVANT_FROM,
) -> list[PairMean]:
    """Evaluate every retriever by language of the query and of the passage.

    Only passages in the row's passage language count as relevant.

    Args:
        arena: with passages labelled by people, whose languages are known.
        measures: names of measures.
        languages: codes of the queries; None for all.
        relevant_from: lowest grade that counts as relevant.

    Raises:
        NotEnoughData: if no labelled passage has a language, or no retriever has results.
        UnknownName: if there is no such measure or language.
    """
    import pyarrow.compute as pc

    passages, labels = labelled_passages(arena, languages)
    runs = ranked_lists(arena, passages, languages)
    key = ["language", "query_id", "passage_id"]
    labels = labels.join(passages.select([*key, "passage_language"]), key, join_type="left outer")
    rows = []
    for code in sorted(labels["passage_language"].drop_null().unique().to_pylist()):
        own = labels.filter(pc.equal(labels["passage_language"], code)).select([*key, "grade"])
        measured = by_query(runs, own, measures=measures, relevant_from=relevant_from)
        rows += [
            PairMean(row.language, code, row.retriever, row.measure, row.mean, row.low, row.high, row.n)
            for row in means(measured)
            if row.n
        ]
    if not rows:
        raise NotEnoughData(
            "no relevant passage has a language",
            where=arena.address,
            do=f"mirage report languages {arena.address} --detect",
        )
    return rows


def decisions_by_pair(
    arena: Arena, *, languages: Iterable[str] | None = None, parser: str = "strict"
) -> list[DecisionShare]:
    """Count correct decisions by languages of the query and of the relevant passages that the system was shown.

    Args:
        arena: with outcomes, answers, and labelled passages whose languages are known.
        languages: codes of the queries; None for all.
        parser: parser whose outcomes count.

    Raises:
        TableMissing: if it lacks outcomes.
        UnknownName: if there is no such language.
    """
    counts: dict[tuple[str, str, str], list[bool]] = {}
    for entry in attributions(arena, languages=languages, parser=parser):
        own = entry.attribution
        if own.cause is not None:
            for code in entry.relevant_in:
                counts.setdefault((own.system, own.language, code), []).append(own.cause == "right")
    return [
        DecisionShare(*key, sum(right), len(right), sum(right) / len(right), *wilson(sum(right), len(right)))
        for key, right in sorted(counts.items())
    ]


def answer_languages(arena: Arena, *, languages: Iterable[str] | None = None) -> list[AnswerLanguage]:
    """Detect the language of every answer, and count by system and language of the query.

    Args:
        arena: with answers.
        languages: codes of the queries; None for all.

    Raises:
        TableMissing: if it lacks answers.
        UnknownName: if there is no such language.
    """
    codes = None if languages is None else list(languages)
    answers = arena.read("answers", columns=["language", "system", "text"], languages=codes)
    named = sorted({*answers["language"].unique().to_pylist(), *passage_languages(arena)})
    counts: dict[tuple[str, str], Counter[str]] = {}
    for system, language, text in zip(
        *(answers[name].to_pylist() for name in ("system", "language", "text")), strict=True
    ):
        code = detect(strip_markup(text), named) if text else None
        if code is not None:
            counts.setdefault((system, language), Counter())[code] += 1
    return [
        AnswerLanguage(system, language, code, k, of.total(), k / of.total(), *wilson(k, of.total()))
        for (system, language), of in sorted(counts.items())
        for code, k in sorted(of.items())
    ]


def detect_passage_languages(path: Path, *, made_by: str) -> DetectResult:
    """Detect the language of passages that have a text and no language, and write it to the arena.

    Given languages and all else stay unchanged.

    Args:
        path: the arena's folder.
        made_by: the command, for the manifest.

    Raises:
        ArenaError: if the arena lacks queries, or cannot be written.
    """

    def make() -> DetectResult:
        arena = store.open_arena(path)
        arena.need("queries")
        tables = {name: arena.read(name) for name in _TABLES if name in arena.tables}
        named = {*arena.languages("queries")}
        for table in tables.values():
            named |= set(table["passage_language"].drop_null().unique().to_pylist())
        changed: dict[str, store.NewRows] = {}
        detected = unknown = 0
        for name, table in tables.items():
            new, found = _detect(table, sorted(named))
            detected += found
            unknown += new["passage_language"].null_count
            if found:
                changed[name] = store.by_key(name, new)
        if changed:
            note = f"language of {detected:,} passages detected from their texts"
            provenance = store.Provenance(made_by, notes=[note])
            arena = store.upsert(path, changed, made_by=provenance, seen=store.Snapshot(arena, tables)).arena
        return DetectResult(arena, detected, unknown)

    return store.retry_outdated(make)


def _detect(table: pa.Table, named: list[str]) -> tuple[pa.Table, int]:
    """Return a table with missing languages filled in, and the number detected."""
    import pyarrow as pa

    languages = table["passage_language"]
    of_text = cache(lambda text: detect(text, named))
    new = [
        of_text(text) if code is None and text else code
        for text, code in zip(table["text"].to_pylist(), languages.to_pylist(), strict=True)
    ]
    found = languages.null_count - new.count(None)
    place = table.column_names.index("passage_language")
    field = schema.arrow_schema("passages").field("passage_language")
    return table.set_column(place, field, pa.array(new, pa.string())), found
