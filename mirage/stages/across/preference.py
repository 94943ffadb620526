"""Language preference of retrievers and generators for passages in some languages.

A retriever's preference for a language is the language's share of the first k passages, minus its share of the relevant
passages of the same query. A generator's is its share of the cited passages, minus its share of the shown passages,
within classes of relevance, since citing relevant passages is not a preference for their language. Only answers with a
choice count: a class with a citation must contain passages in this and another language. Means over queries, then over
languages of queries. Passages of an unknown language are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from mirage.stages.across.estimate import unit_mean
from mirage.stages.retrieve.attribution import answer_rows, cited_passages
from mirage.stages.retrieve.measures import RELEVANT_FROM
from mirage.stages.shown import ShownPassages
from mirage.text.languages import base

if TYPE_CHECKING:
    import pyarrow as pa

OWN = "own"
"""Code for each query's own language, in rows over all languages."""


@dataclass(frozen=True, slots=True)
class LanguagePreference:
    """Preference of one retriever or system for one language of passages."""

    name: str
    """The retriever or the system."""
    query_language: str
    """Language of the queries; `all` for the mean over languages, equally weighted."""
    passage_language: str
    """Language of the passages; with `all`, `own` for the language of each query."""
    share: float
    """Share of the language among the first k or the cited passages, in [0, 1]."""
    expected: float
    """Its share among the relevant passages, or among the shown passages within relevance classes."""
    preference: float
    """Share minus expected share: above 0 if the language is preferred."""
    low: float | None
    """Lower end of its 95% interval over queries; null with fewer than two."""
    high: float | None
    """Upper end."""
    n: int
    """Queries, counted in each language."""
    units: int
    """Number of units of the interval; a query asked in several languages is one unit."""

    @property
    def significant(self) -> bool:
        """True if the interval of the preference excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class ShareOfQuery:
    """Observed and expected share of one passage language in one query."""

    name: str
    """The retriever or system."""
    language: str
    """Language of the query."""
    query_id: str
    """The query."""
    passage_language: str
    """Language of the passages."""
    share: float
    """Observed share."""
    expected: float
    """Expected share."""


def retriever_shares(
    runs: pa.Table, passages: pa.Table, grades: pa.Table, *, depth: int, relevant_from: int = RELEVANT_FROM
) -> list[ShareOfQuery]:
    """Return the shares of languages among the first and the relevant passages, by retriever and query.

    Args:
        runs: columns language, query_id, retriever, passage_id, rank and passage_language.
        passages: rows of `schema.Passage`, with the languages of the labelled passages.
        grades: result of `measures.grades`.
        depth: number of first passages.
        relevant_from: lowest grade that counts as relevant.

    Returns:
        A row per query and passage language, for queries with a retrieved and a relevant passage of a known language.
    """
    key = ["language", "query_id", "passage_id"]
    labelled = grades.join(passages.select([*key, "passage_language"]), key, join_type="inner")
    relevant: dict[tuple[str, str], Counter[str]] = {}
    for row in labelled.to_pylist():
        if row["grade"] >= relevant_from and row["passage_language"] is not None:
            relevant.setdefault((row["language"], row["query_id"]), Counter())[row["passage_language"]] += 1
    columns = ("retriever", "language", "query_id", "passage_language")
    lists: dict[tuple[str, str, str], list[str | None]] = {}
    ordered = runs.sort_by([(name, "ascending") for name in (*columns[:3], "rank")])
    for *place, code in zip(*(ordered[name].to_pylist() for name in columns), strict=True):
        lists.setdefault((place[0], place[1], place[2]), []).append(code)
    found = {key: Counter(code for code in listed[:depth] if code is not None) for key, listed in lists.items()}
    codes = sorted({code for counts in (*relevant.values(), *found.values()) for code in counts})
    return [
        ShareOfQuery(retriever, language, query_id, code, own[code] / own.total(), wanted[code] / wanted.total())
        for (retriever, language, query_id), own in sorted(found.items())
        if own and (wanted := relevant.get((language, query_id)))
        for code in codes
    ]


def system_shares(tables: Mapping[str, pa.Table], grades: pa.Table | None) -> list[ShareOfQuery]:
    """Return the shares of languages among the cited passages and among those shown, by system and query.

    Args:
        tables: `answers`, and `passages` and `retrieved` if present.
        grades: result of `measures.grades`; None if no passage has a label.

    Returns:
        A row per answer and language of shown passages, where the answer had a choice.
    """
    shown = ShownPassages(tables.get("passages"), tables.get("retrieved"), columns=("passage_id", "passage_language"))
    labels: dict[tuple[str, str, str], int] = {}
    if grades is not None:
        keys = zip(*(grades[name].to_pylist() for name in ("language", "query_id", "passage_id")), strict=True)
        labels = dict(zip(keys, grades["grade"].to_pylist(), strict=True))
    rows = []
    for (language, query_id, system), answer in sorted(answer_rows(tables["answers"]).items()):
        listed = dict(shown.of((language, query_id), answer.get("retriever"), answer.get("depth")))
        languages = {name: code for name, code in listed.items() if code is not None}
        cited = languages.keys() & set(cited_passages(answer, tuple(listed)))
        classes: dict[bool | None, list[str]] = {}
        for name in languages:
            grade = labels.get((language, query_id, name))
            classes.setdefault(None if grade is None else grade >= RELEVANT_FROM, []).append(name)
        share, expected, choice = Counter[str](languages[name] for name in cited), Counter[str](), set[str]()
        for names in classes.values():
            counts, n_cited = Counter(languages[name] for name in names), len(cited.intersection(names))
            for code, count in counts.items():
                expected[code] += n_cited * count / len(names)  # type: ignore[assignment]  # expected counts
            if n_cited and len(counts) > 1:
                choice |= counts.keys()
        n = len(cited)
        rows += [
            ShareOfQuery(system, language, query_id, code, share[code] / n, expected[code] / n)
            for code in sorted(choice)
        ]
    return rows


def preferences(shares: Iterable[ShareOfQuery]) -> list[LanguagePreference]:
    """Average preferences by query language and over all, with intervals.

    Args:
        shares: `retriever_shares` or `system_shares`.
    """
    cells: dict[tuple[str, str, str], dict[str, dict[str, ShareOfQuery]]] = {}
    for row in shares:
        keys = [(row.name, row.language, row.passage_language), (row.name, "all", row.passage_language)]
        if base(row.language) == base(row.passage_language):
            keys.append((row.name, "all", OWN))
        for key in keys:
            cells.setdefault(key, {}).setdefault(row.language, {})[row.query_id] = row
    rows = []
    for key, languages in sorted(cells.items()):
        share, expected = (
            fmean(fmean(getattr(row, column) for row in of_query.values()) for of_query in languages.values())
            for column in ("share", "expected")
        )
        gaps = {
            language: {query_id: row.share - row.expected for query_id, row in of_query.items()}
            for language, of_query in languages.items()
        }
        mean = unit_mean(gaps, low=-1.0, high=1.0)
        rows.append(LanguagePreference(*key, share, expected, mean.mean, mean.low, mean.high, mean.n, mean.units))
    return rows
