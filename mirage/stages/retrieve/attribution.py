"""Attribution of wrong decisions to the retriever, or to the model that read its passages.

    right           answers, and was shown a relevant passage; it cites one, or cites nothing
    not_retrieved   relevant passages exist, and none of them was shown
    other_language  as ignored, and every relevant passage shown is in another language than the query
    unused_language as other_language, and the system never cites a passage of these languages
    ignored         a relevant passage was shown; abstains (a false refusal), or cites only passages that are not
    unsupported     answers, though no relevant passage exists
    right_refusal   abstains, and no relevant passage exists

`other_language` and `unused_language` take the place of `ignored` only where the languages of passages are known. A
language is unused if the system was shown relevant passages in it for at least `SHOWN_FROM` queries, all of one
language, and cited no passage in it for any of them.

The first that applies is the cause. It depends on human labels of passages and on the answer's outcome and citations,
and names its evidence. NoMIRACL is the case of two subsets: `right` and `ignored` where some passage is relevant,
`unsupported` (a hallucination) and `right_refusal` where none is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mirage.schema import Outcome, Subset
from mirage.stages.retrieve.measures import RELEVANT_FROM, grades
from mirage.stages.shown import ShownPassages
from mirage.stats.bounded import bounded_mean_intervals, mean_of_means
from mirage.stats.intervals import mean_interval, wilson
from mirage.stats.units import shared_ids, sharing_factor
from mirage.store import Arena
from mirage.text.answers import citations, cited_ids, is_numbered
from mirage.text.languages import base

if TYPE_CHECKING:
    import pyarrow as pa

Cause = Literal[
    "right", "not_retrieved", "other_language", "unused_language", "ignored", "unsupported", "right_refusal"
]
CAUSES: tuple[Cause, ...] = get_args(Cause)
OF_LANGUAGES: tuple[Cause, ...] = ("other_language", "unused_language")
"""Causes that occur only if passages are in another language than their query; reported only if one of them occurs."""
SHOWN_FROM = 5
"""Minimum number of queries with a relevant passage in a language to call the language unused."""


CAUSED_BY = ("outcomes", "passages", "documents", "retrieved", "answers")
"""Input tables of causes; all but the first are optional."""
_QUERY = ("language", "query_id")
_ANSWER = ("text", "template", "numbered", "retriever", "depth")
_EXISTS: tuple[Cause, ...] = ("right", "ignored", "not_retrieved", *OF_LANGUAGES)
"""Causes of answers to queries with a relevant passage."""


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """One answer and the passages shown to its system."""

    language: str
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """The system."""
    outcome: Outcome
    """Outcome of the answer (`schema.OutcomeRow`)."""
    shown: tuple[str, ...]
    """Ids of the shown passages, in order."""
    cited: tuple[str, ...]
    """Ids of the shown passages that the answer cites."""
    foreign: frozenset[str] = frozenset()
    """Ids of the shown passages in another language than the query."""
    unused: frozenset[str] = frozenset()
    """Ids of those in a language that the system does not use."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The cause of one answer."""

    language: str
    """Language of the query."""
    query_id: str
    """The query."""
    system: str
    """The system."""
    cause: Cause | None
    """The cause; null if the labels or the answer do not determine one."""
    evidence: str
    """Evidence for the cause, or the reason why there is none, in a few words."""


@dataclass(frozen=True, slots=True)
class CauseShare:
    """Share of a system's answers with one cause, in one language."""

    language: str
    """Language of the queries; `all` for the mean over languages, equally weighted."""
    system: str
    """The system."""
    cause: Cause
    """The cause."""
    k: int
    """Answers with this cause."""
    n: int
    """Answers with any cause."""
    share: float
    """Share of answers with this cause, in [0, 1]; over all languages the mean of the languages' shares."""
    low: float
    """Lower end of its 95% interval (Wilson; over languages `intervals.mean_interval`, with the query across languages
    as the unit where they share ids).
    """
    high: float
    """Upper end."""


@dataclass(frozen=True, slots=True)
class AnswerCause:
    """The cause of one answer, and whether its system was shown everything relevant."""

    attribution: Attribution
    """The cause, with its evidence."""
    complete: bool | None
    """Whether every relevant passage of the query was shown; null if none is known."""
    relevant_in: frozenset[str] = frozenset()
    """Known languages of the relevant passages shown; none without an answer."""


@dataclass(frozen=True, slots=True)
class GivenRetrieval:
    """One system's share of right answers to answerable queries: overall, and if all relevant passages were shown."""

    language: str
    """Language of the queries; `all` for the mean over languages, equally weighted."""
    system: str
    """The system."""
    whole: float
    """Share of right answers among queries with a relevant passage, in [0, 1]."""
    n: int
    """Number of such queries with a cause."""
    given: float
    """Share of right answers among those with all relevant passages shown."""
    n_given: int
    """Number of those."""
    lost: float
    """`given` minus `whole`: the loss due to retrieval."""
    low: float | None
    """Lower end of the 95% interval of `lost` over queries; null if all of a language's queries had complete retrieval.
    """
    high: float | None
    """Upper end."""


def attribute(
    answer: ShownAnswer, grades: Mapping[str, int], *, subset: Subset | None = None, relevant_from: int = 1
) -> Attribution:
    """Determine the cause of one answer.

    Args:
        answer: the answer, and the passages shown to its system.
        grades: grade by passage id of the labelled passages of the query, shown or not.
        subset: whether any given passage is relevant, if single passages have no labels. Used if no passage is labelled
            relevant, and only as far as the labels leave it open.
        relevant_from: lowest grade that counts as relevant.
    """

    def result(cause: Cause | None, evidence: str) -> Attribution:
        return Attribution(answer.language, answer.query_id, answer.system, cause, evidence)

    if answer.outcome not in ("answered", "abstained"):
        return result(None, f"the answer is {answer.outcome}")
    relevant = {passage for passage, grade in grades.items() if grade >= relevant_from}
    if not relevant and subset is None and not grades:
        return result(None, "no passage of the query has a label")
    abstains = answer.outcome == "abstained"
    if not relevant and subset != "relevant":
        evidence = "no passage of the query is labelled relevant"
        return result("right_refusal" if abstains else "unsupported", evidence)
    if not relevant:
        # Some given passage is relevant, but which one is unlabelled.
        evidence = "of the passages given with the query one is relevant"
        return result("ignored", f"{evidence}; it abstains") if abstains else result("right", f"{evidence}; it answers")
    shown = [passage for passage in answer.shown if passage in relevant]
    if not shown:
        unlabelled = sum(passage not in grades for passage in answer.shown)
        more = f"; {unlabelled} of them have no label" if unlabelled else ""
        return result("not_retrieved", f"none of {len(relevant)} relevant among {len(answer.shown)} shown{more}")
    evidence = f"was shown {shown[0]}, which is relevant"
    cause: Cause = "ignored"
    if answer.foreign.issuperset(shown):
        cause = "unused_language" if answer.unused.issuperset(shown) else "other_language"
        evidence += " and in another language than the query, like all relevant passages shown"
    if abstains:
        return result(cause, f"{evidence}; it abstains")
    if answer.cited and not relevant & set(answer.cited):
        return result(cause, f"{evidence}; it cites only {', '.join(answer.cited)}")
    cites = [passage for passage in answer.cited if passage in relevant]
    return result("right", f"{evidence}; it cites {cites[0]}" if cites else f"{evidence}; it cites nothing")


def cause_shares(attributions: Iterable[Attribution], *, causes: Collection[Cause] | None = None) -> list[CauseShare]:
    """Count causes by language and system, and over languages; answers without a cause are excluded.

    Args:
        attributions: causes, one per answer; the query is the unit.
        causes: causes to report; None for all, without the language causes if none of them occurs.
    """
    attributions = list(attributions)
    if causes is None:
        occurs = not {entry.cause for entry in attributions}.isdisjoint(OF_LANGUAGES)
        causes = [cause for cause in CAUSES if occurs or cause not in OF_LANGUAGES]
    found: dict[str, dict[str, dict[str, Cause]]] = {}
    for entry in attributions:
        if entry.cause is not None:
            found.setdefault(entry.system, {}).setdefault(entry.language, {})[entry.query_id] = entry.cause
    shares = []
    for system in sorted(found):
        by_language = dict(sorted(found[system].items()))
        for cause in causes:
            cells = [(sum(own == cause for own in queries.values()), len(queries)) for queries in by_language.values()]
            for code, (k, n) in zip(by_language, cells, strict=True):
                shares.append(CauseShare(code, system, cause, k, n, k / n, *wilson(k, n)))
            k, n = (sum(column) for column in zip(*cells, strict=True))
            factor = _sharing_factor(by_language, cause)
            shares.append(CauseShare("all", system, cause, k, n, *mean_interval(cells, factor=factor)))
    return shares


def _sharing_factor(by_language: Mapping[str, Mapping[str, Cause]], cause: Cause) -> float:
    """Return the variance of a cause's mean over languages, relative to queries that share no ids."""
    queries = {code: list(of_query) for code, of_query in by_language.items()}
    if not shared_ids(queries):
        return 1.0
    values = {
        code: np.array([float(own == cause) for own in of_query.values()]) for code, of_query in by_language.items()
    }
    return sharing_factor(values, queries)


def causes(
    tables: Mapping[str, pa.Table], *, parser: str = "strict", relevant_from: int = RELEVANT_FROM
) -> list[AnswerCause]:
    """Determine the cause of every answer with an outcome.

    Args:
        tables: `outcomes`, and `passages`, `documents`, `retrieved` and `answers` if present. Without answers citations
            are unknown; without passages only the query's subset is known.
        parser: parser whose outcomes count.
        relevant_from: lowest grade that counts as relevant.
    """
    import pyarrow.compute as pc

    passages = tables.get("passages")
    shown = ShownPassages(passages, tables.get("retrieved"), columns=("passage_id", "passage_language"))
    labels: dict[tuple[str, str], dict[str, int]] = {}
    if passages is not None:
        graded = grades(passages, tables.get("documents"))
        for language, query_id, passage_id, grade in zip(
            *(graded[name].to_pylist() for name in graded.column_names), strict=True
        ):
            labels.setdefault((language, query_id), {})[passage_id] = grade
    outcomes = tables["outcomes"]
    rows = outcomes.filter(pc.equal(outcomes["parser"], parser)).select([*_QUERY, "system", "subset", "outcome"])
    answers = answer_rows(tables.get("answers"))
    n_shown: Counter[tuple[str, str, str]] = Counter()
    used: set[tuple[str, str, str]] = set()
    collected = []
    for row in rows.to_pylist():
        key, system = (row["language"], row["query_id"]), row["system"]
        answer = answers.get((*key, system), {})
        languages = dict(shown.of(key, answer.get("retriever"), answer.get("depth")))
        foreign = {
            name: (system, key[0], code)
            for name, code in languages.items()
            if code is not None and base(code) != base(key[0])
        }
        relevant = {passage for passage, grade in labels.get(key, {}).items() if grade >= relevant_from}
        cites: tuple[str, ...] = ()
        if row["outcome"] == "answered" and not relevant.isdisjoint(languages):
            cites = cited_passages(answer, tuple(languages))
        n_shown.update({foreign[name] for name in foreign.keys() & relevant})
        used |= {foreign[name] for name in foreign.keys() & set(cites)}
        relevant_in = {languages[name] for name in relevant & languages.keys() if answer} - {None}
        collected.append((row, tuple(languages), cites, foreign, relevant, relevant_in))
    result = []
    for row, ids, cites, foreign, relevant, relevant_in in collected:
        key = row["language"], row["query_id"]
        unused = {name for name, cell in foreign.items() if n_shown[cell] >= SHOWN_FROM and cell not in used}
        entry = ShownAnswer(*key, row["system"], row["outcome"], ids, cites, frozenset(foreign), frozenset(unused))
        cause = attribute(entry, labels.get(key, {}), subset=row["subset"], relevant_from=relevant_from)
        complete = relevant.issubset(ids) if relevant else None
        result.append(AnswerCause(cause, complete, frozenset(relevant_in)))
    return result


def given_retrieval(entries: list[AnswerCause]) -> list[GivenRetrieval]:
    """Compare each system overall and under perfect retrieval, by language and over languages.

    Only answers with a cause count, to queries with a relevant passage. A system is excluded from a language in which
    no query had all of its relevant passages shown.

    Args:
        entries: result of `causes`.
    """
    found: dict[str, dict[str, list[tuple[bool, bool]]]] = {}
    for entry in entries:
        own = entry.attribution
        if own.cause in _EXISTS and entry.complete is not None:
            cell = found.setdefault(own.system, {}).setdefault(own.language, [])
            cell.append((own.cause == "right", entry.complete))
    by_language: list[GivenRetrieval] = []
    joint: list[GivenRetrieval] = []
    for system, cells in sorted(found.items()):
        arrays = {code: np.array(pairs) for code, pairs in sorted(cells.items())}
        rows = [_compare(code, system, *pairs.T) for code, pairs in arrays.items() if pairs[:, 1].any()]
        if not rows:
            continue
        by_language += rows
        whole, given, lost = (np.array([getattr(row, name) for row in rows]) for name in ("whole", "given", "lost"))
        ends: tuple[float | None, float | None] = None, None
        if all(row.low is not None for row in rows):
            lows, highs = (np.array([getattr(row, name) for row in rows]) for name in ("low", "high"))
            ends = mean_of_means(lost, lows, highs)[1:]
        n, n_given = sum(row.n for row in rows), sum(row.n_given for row in rows)
        means = float(whole.mean()), n, float(given.mean()), n_given, float(lost.mean())
        joint.append(GivenRetrieval("all", system, *means, *ends))
    by_language.sort(key=lambda row: (row.language, row.system))
    return [*by_language, *joint]


def _compare(language: str, system: str, right: NDArray[np.bool_], complete: NDArray[np.bool_]) -> GivenRetrieval:
    """Return the share of right answers overall and under perfect retrieval, which some query must have.

    The loss is the share of queries with incomplete retrieval times the difference between these and the others: three
    independent shares, whose intervals (`mirage.stats.bounded`) combine like standard errors.
    """
    n, n_given = len(right), int(complete.sum())
    whole, given = float(right.mean()), float(right[complete].mean())
    ends: tuple[float | None, float | None] = None, None
    if n_given < n:
        parts = [right[complete], right[~complete], ~complete]
        group = np.repeat([0, 1, 2], list(map(len, parts)))
        shares = np.array([part.mean() for part in parts])
        lows, highs = bounded_mean_intervals(np.concatenate(parts).astype(float), group, np.zeros(3), np.ones(3))
        below, above = shares - lows, highs - shares
        gap, missed = shares[0] - shares[1], shares[2]
        fewer, more = (below[2], above[2]) if gap > 0 else (above[2], below[2])
        low = missed * gap - np.sqrt((missed * below[0]) ** 2 + (missed * above[1]) ** 2 + (gap * fewer) ** 2)
        high = missed * gap + np.sqrt((missed * above[0]) ** 2 + (missed * below[1]) ** 2 + (gap * more) ** 2)
        ends = max(float(low), -1.0), min(float(high), 1.0)
    return GivenRetrieval(language, system, whole, n, given, n_given, given - whole, *ends)


def answer_rows(answers: pa.Table | None) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return the shown and cited passages of each answer, by key."""
    if answers is None:
        return {}
    names = [name for name in (*_QUERY, "system", *_ANSWER) if name in answers.column_names]
    return {(row["language"], row["query_id"], row["system"]): row for row in answers.select(names).to_pylist()}


def cited_passages(answer: Mapping[str, Any], passage_ids: tuple[str, ...]) -> tuple[str, ...]:
    """Return the shown passages that an answer cites."""
    text = answer.get("text")
    if not text:
        return ()
    return cited_ids(citations(text, passage_ids, numbered=is_numbered(answer["template"], answer["numbered"])))


def attributions(
    arena: Arena, *, languages: Iterable[str] | None = None, relevant_from: int = RELEVANT_FROM, parser: str = "strict"
) -> list[AnswerCause]:
    """Attribute each answer with an outcome to the retriever or the model.

    Args:
        arena: with outcomes; and answers and labelled passages, or queries with a subset.
        languages: codes; None for all.
        relevant_from: lowest grade that counts as relevant.
        parser: parser whose outcomes count.

    Raises:
        TableMissing: if it lacks outcomes.
    """
    arena.need("outcomes")
    codes = None if languages is None else list(languages)
    tables = {name: arena.read(name, languages=codes) for name in CAUSED_BY if name in arena.tables}
    return causes(tables, parser=parser, relevant_from=relevant_from)
