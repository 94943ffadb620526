"""Language preference of retrievers and generators for passages in some languages.

A retriever's preference for a language is the language's share of the first k passages, minus its share of the relevant
passages of the same query. A generator's is its share of the cited passages, minus its share of the shown passages,
within classes of relevance, since citing relevant passages is not a preference for their language. Only answers with a
choice count: a class with a citation must contain passages in this and another language. Means over queries, then over
languages of queries. Passages of an unknown language are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from mirage.stages.across.estimate import unit_mean
from mirage.stages.retrieve.attribution import answer_rows, cited_passages
from mirage.stages.retrieve.measures import RELEVANT_FROM
from mirage.stages.shown import ShownPassages
from mirage.stats.holm import holm
from mirage.text.languages import base

if TYPE_CHECKING:
    import pyarrow as pa

OWN = "own"
"""Code for each query's own language, in rows over all languages."""
LEVEL = 0.05
"""Family-wise error rate of significant preferences."""


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
    p: float | None
    """P-value of no preference, adjusted over all rows of the retriever or system: half of the error rate goes to
    `own`, half to the others by Holm's method. Null with fewer than two queries.
    """
    n: int
    """Queries, counted in each language."""
    units: int
    """Number of units of the interval; a query asked in several languages is one unit."""

    @property
    def significant(self) -> bool:
        """True if the preference for or against the language is significant."""
        return self.p is not None and self.p < LEVEL


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
        grades: `grades.grades`.
        depth: number of first passages.
        relevant_from: lowest grade that counts as relevant.

    Returns:
        A row per query and passage language, for queries with a retrieved and a relevant passage of a known language.
    """
    code_of = _languages(passages)
    relevant: dict[tuple[str, str], Counter[str]] = {}
    columns = ("language", "query_id", "passage_id", "grade")
    for language, query_id, name, grade in zip(*(grades[column].to_pylist() for column in columns), strict=True):
        code = code_of.get((language, query_id, name))
        if grade >= relevant_from and code is not None:
            relevant.setdefault((language, query_id), Counter())[code] += 1
    found: dict[tuple[str, str, str], Counter[str]] = {}
    listed = ("retriever", "language", "query_id", "rank", "passage_language")
    ordered = runs.select(listed).sort_by([(name, "ascending") for name in listed[:4]])
    place: Counter[tuple[str, str, str]] = Counter()
    for retriever, language, query_id, _, code in zip(*(ordered[name].to_pylist() for name in listed), strict=True):
        key = retriever, language, query_id
        place[key] += 1
        if place[key] <= depth and code is not None:
            found.setdefault(key, Counter())[code] += 1
    codes = sorted({code for counts in (*relevant.values(), *found.values()) for code in counts})
    return [
        ShareOfQuery(retriever, language, query_id, code, own[code] / own.total(), wanted[code] / wanted.total())
        for (retriever, language, query_id), own in sorted(found.items())
        if (wanted := relevant.get((language, query_id)))
        for code in codes
    ]


def system_shares(tables: Mapping[str, pa.Table], grades: pa.Table | None) -> list[ShareOfQuery]:
    """Return the shares of languages among the cited passages and among those shown, by system and query.

    Args:
        tables: `answers`, and `passages` and `retrieved` if present.
        grades: `grades.grades`; None if no passage has a label.

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
        languages = dict(shown.of((language, query_id), answer.get("retriever"), answer.get("depth")))
        cited = {name for name in cited_passages(answer, tuple(languages)) if languages[name] is not None}
        if not cited:
            continue
        classes: dict[int | None, list[tuple[str, bool]]] = {}
        for name, code in languages.items():
            if code is not None:
                grade = labels.get((language, query_id, name))
                label = None if grade is None else int(grade >= RELEVANT_FROM)
                classes.setdefault(label, []).append((code, name in cited))
        rows += [
            ShareOfQuery(system, language, query_id, code, *pair)
            for code, pair in _shares_within(list(classes.values()), len(cited)).items()
        ]
    return rows


def _shares_within(classes: Sequence[Sequence[tuple[str, bool]]], n: int) -> dict[str, tuple[float, float]]:
    """Return the observed and the expected share among n cited passages, for each language with a choice."""
    share: Counter[str] = Counter()
    expected: dict[str, float] = {}
    choice: set[str] = set()
    for members in classes:
        cited, shown = Counter(code for code, own in members if own), Counter(code for code, _ in members)
        share.update(cited)
        for code, count in shown.items():
            expected[code] = expected.get(code, 0.0) + cited.total() / n * count / shown.total()
        if cited and len(shown) > 1:
            choice |= shown.keys()
    return {code: (share[code] / n, expected[code]) for code in sorted(choice)}


def preferences(shares: Iterable[ShareOfQuery]) -> list[LanguagePreference]:
    """Average preferences by query language and over all, with intervals, and p-values adjusted within each name.

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
    by_name: dict[str, list[LanguagePreference]] = {}
    for (name, query_language, code), languages in sorted(cells.items()):
        share = fmean(fmean(row.share for row in of_query.values()) for of_query in languages.values())
        expected = fmean(fmean(row.expected for row in of_query.values()) for of_query in languages.values())
        gaps = {
            language: {query_id: row.share - row.expected for query_id, row in of_query.items()}
            for language, of_query in languages.items()
        }
        mean = unit_mean(gaps, low=-1.0, high=1.0)
        ends = mean.mean, mean.low, mean.high, mean.p, mean.n, mean.units
        by_name.setdefault(name, []).append(LanguagePreference(name, query_language, code, share, expected, *ends))
    return [row for rows in by_name.values() for row in _adjust(rows)]


def _adjust(rows: Sequence[LanguagePreference]) -> list[LanguagePreference]:
    """Adjust the p-values of all rows of one retriever or system for a family-wise error rate of 5%. The row `own`, if
    there is one, gets half of the error rate, the others share the other half by Holm's method, so that many languages
    do not hide a preference for the query's language.
    """
    own = [row for row in rows if row.passage_language == OWN and row.p is not None]
    others = [row for row in rows if row.passage_language != OWN and row.p is not None]
    factor = 2 if own and others else 1
    raw = [row.p for row in others if row.p is not None]
    adjusted = {id(row): row.p for row in own} | dict(zip(map(id, others), holm(raw), strict=True))
    return [replace(row, p=None if (p := adjusted.get(id(row))) is None else min(1.0, factor * p)) for row in rows]


def _languages(passages: pa.Table) -> dict[tuple[str, str, str], str | None]:
    """Return the language of each passage of each query."""
    columns = ("language", "query_id", "passage_id", "passage_language")
    rows = zip(*(passages[name].to_pylist() for name in columns), strict=True)
    return {(language, query_id, name): code for language, query_id, name, code in rows}
