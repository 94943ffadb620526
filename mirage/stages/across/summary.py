"""Cross-lingual measures of an arena.

recall_by_pair(arena)        # retrieval measures by language of the query and of the passage
retriever_preference(arena)  # share of a language among the first k, minus its share among the relevant passages
system_preference(arena)     # share of a language among the cited passages, minus its share among those shown
system_consistency(arena)    # agreement of decisions and vital nuggets over parallel queries
judge_consistency(arena)     # agreement of verdicts on the same battle in two languages
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.errors import NotEnoughData
from mirage.stages.across.agreement import Label, LanguageAgreement, agreements
from mirage.stages.across.preference import LanguagePreference, preferences, retriever_shares, system_shares
from mirage.stages.retrieve.attribution import attributions
from mirage.stages.retrieve.measures import (
    RELEVANT_FROM,
    by_query,
    grades,
    labelled_passages,
    means,
    ranked_lists,
)
from mirage.store import Arena

if TYPE_CHECKING:
    import pyarrow as pa

MEASURES = ("nDCG@10", "R@10")
"""Default measures by pair of languages."""
DEPTH = 10
"""Default number of first passages whose languages count."""


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
    for table in ("passages", "retrieved"):
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


def retriever_preference(
    arena: Arena,
    *,
    depth: int = DEPTH,
    languages: Iterable[str] | None = None,
    relevant_from: int = RELEVANT_FROM,
) -> list[LanguagePreference]:
    """Return the language preference of every retriever among its first passages.

    Args:
        arena: with passages labelled by people, whose languages are known.
        depth: number of first passages.
        languages: codes of the queries; None for all.
        relevant_from: lowest grade that counts as relevant.

    Raises:
        NotEnoughData: if no passage has a label, or no retriever has results.
        UnknownName: if there is no such language.
    """
    passages, labels = labelled_passages(arena, languages)
    runs = ranked_lists(arena, passages, languages)
    return preferences(retriever_shares(runs, passages, labels, depth=depth, relevant_from=relevant_from))


def system_preference(arena: Arena, *, languages: Iterable[str] | None = None) -> list[LanguagePreference]:
    """Return the language preference of every system among the passages shown to it.

    Args:
        arena: with answers that cite passages, whose languages are known.
        languages: codes of the queries; None for all.

    Raises:
        TableMissing: if it lacks answers.
        UnknownName: if there is no such language.
    """
    arena.need("answers")
    tables = _read(arena, ("answers", "passages", "retrieved", "documents"), languages)
    labels = grades(tables["passages"], tables.get("documents")) if "passages" in tables else None
    return preferences(system_shares(tables, labels))


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
    from mirage.stats.intervals import wilson

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
    from mirage.stats.intervals import wilson
    from mirage.text.answers import strip_markup
    from mirage.text.detection import detect

    arena.need("answers")
    answers = _read(arena, ("answers",), languages)["answers"]
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


def system_consistency(
    arena: Arena, *, languages: Iterable[str] | None = None, parser: str = "strict", assigner: str | None = None
) -> list[LanguageAgreement]:
    """Return the agreement of each system's decisions and vital nuggets across the languages of parallel queries.

    Args:
        arena: with outcomes; vital nuggets count as the same if they have the same id in the languages of a query.
        languages: codes of the queries; None for all.
        parser: parser whose outcomes count.
        assigner: assigner of nuggets; None for the default.

    Raises:
        TableMissing: if it lacks outcomes.
        UnknownName: if there is no such language or assigner.
    """
    from mirage.stages.features.assessed import chosen_rows

    arena.need("outcomes")
    tables = _read(arena, ("outcomes", "nuggets", "nugget_assignments"), languages)
    decisions = [
        Label(row["system"], row["language"], row["query_id"], "", row["outcome"])
        for row in tables["outcomes"].select(["system", "language", "query_id", "parser", "outcome"]).to_pylist()
        if row["parser"] == parser and row["outcome"] in ("answered", "abstained")
    ]
    result = agreements(decisions, "decision")
    if "nuggets" in tables and "nugget_assignments" in tables:
        vital = {
            (row["language"], row["query_id"], row["nugget_id"])
            for row in tables["nuggets"].to_pylist()
            if row["importance"] == "vital"
        }
        stated = [
            Label(row["system"], row["language"], row["query_id"], row["nugget_id"], row["assignment"])
            for row in chosen_rows(tables["nugget_assignments"], "assigner", assigner)
            if row["assignment"] is not None and (row["language"], row["query_id"], row["nugget_id"]) in vital
        ]
        result += agreements(stated, "vital nuggets")
    return result


def judge_consistency(arena: Arena, *, languages: Iterable[str] | None = None) -> list[LanguageAgreement]:
    """Return the agreement of each judge's preferences between two systems across the languages of parallel queries.

    Args:
        arena: with judgments.
        languages: codes of the queries; None for all.

    Raises:
        TableMissing: if it lacks judgments.
        UnknownName: if there is no such language.
    """
    from mirage.battles.decided import decide_battles
    from mirage.battles.verdict_rows import without_known

    arena.need("judgments")
    decided = decide_battles(without_known(_read(arena, ("judgments",), languages)["judgments"]))
    labels = []
    columns = (decided.judge, decided.language, decided.query, decided.first, decided.second, decided.label)
    for judge, language, query, first, second, label in zip(*(column.tolist() for column in columns), strict=True):
        pair = f"{decided.systems[first]}\n{decided.systems[second]}"
        place = decided.judges[judge], decided.languages[language], decided.queries[query]
        labels.append(Label(*place, pair, str(label), pair))
    return agreements(labels, "verdict")


def count_unknown(arena: Arena) -> tuple[int, int]:
    """Return the number of given and retrieved passages without a known language, and their total number."""
    import pyarrow.compute as pc

    from mirage.stages.shown import contexts

    rows = contexts(arena.read_optional("passages"), arena.read_optional("retrieved"))
    return int(pc.sum(pc.is_null(rows["passage_language"])).as_py() or 0), len(rows)


def _read(arena: Arena, names: Iterable[str], languages: Iterable[str] | None) -> dict[str, pa.Table]:
    codes = None if languages is None else list(languages)
    return {name: arena.read(name, languages=codes) for name in names if name in arena.tables}
