"""Attribution of wrong decisions to the retriever, or to the model that read its passages.

    right           answers, and was shown a relevant passage; it cites one, or cites nothing
    not_retrieved   relevant passages exist, and none of them was shown
    ignored         a relevant passage was shown; abstains (a false refusal), or cites only passages that are not
    unsupported     answers, though no relevant passage exists
    right_refusal   abstains, and no relevant passage exists

The first that applies is the cause. It depends on labels of passages and on the answer's outcome and citations,
and names its evidence. NoMIRACL is the case of two subsets: `right` and `ignored` where some passage is relevant,
`unsupported` (a hallucination) and `right_refusal` where none is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from mirage.schema import AnswerKey, Outcome, Share, Subset, Tables
from mirage.stages.retrieve.measures import RELEVANT_FROM, grades, labels_by_query
from mirage.stages.shown import ShownPassages
from mirage.stats.intervals import mean_interval, wilson
from mirage.stats.units import shared_ids, sharing_factor
from mirage.store.arena import Arena
from mirage.text.answers import citations, cited_ids, is_numbered

Cause = Literal["right", "not_retrieved", "ignored", "unsupported", "right_refusal"]
CAUSES: tuple[Cause, ...] = get_args(Cause)

CAUSED_BY = ("outcomes", "passages", "documents", "retrieved", "answers")
"""Input tables of causes; all but the first are optional."""
_QUERY = ("language", "query_id")


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
    answers: int
    """Answers with any cause."""
    n: int
    """Independent queries of these answers: an id shared by languages counts once."""
    share: Share
    """Share of answers with this cause, in [0, 1]; over all languages the mean of the languages' shares."""
    low: Share
    """Lower end of its 95% interval (Wilson; over languages `intervals.mean_interval`, with the query across languages
    as the unit where they share ids).
    """
    high: Share
    """Upper end."""


@dataclass(frozen=True, slots=True)
class AnswerCause:
    """The cause of one answer, and the languages of the relevant passages that its system was shown."""

    attribution: Attribution
    """The cause, with its evidence."""
    relevant_in: frozenset[str]
    """Known languages of these passages; none without an answer."""


def attribute(
    outcome: Outcome,
    shown: Sequence[str],
    cited: Sequence[str],
    grades: Mapping[str, int],
    *,
    subset: Subset | None = None,
    relevant_from: int = 1,
) -> tuple[Cause | None, str]:
    """Determine the cause of one answer; return it with its evidence.

    Args:
        outcome: outcome of the answer.
        shown: ids of the passages shown to its system, in order.
        cited: ids of the shown passages that it cites.
        grades: grade by passage id of the labelled passages of the query, shown or not.
        subset: whether any given passage is relevant, if single passages have no labels. Used if no passage is labelled
            relevant, and only as far as the labels leave it open.
        relevant_from: lowest grade that counts as relevant.
    """
    if outcome not in ("answered", "abstained"):
        return None, f"the answer is {outcome}"
    relevant = {passage for passage, grade in grades.items() if grade >= relevant_from}
    if not relevant and subset is None and not grades:
        return None, "no passage of the query has a label"
    abstains = outcome == "abstained"
    if not relevant and subset != "relevant":
        evidence = "no passage has the answer"
        return "right_refusal" if abstains else "unsupported", evidence
    if not relevant:
        # Some given passage is relevant, but which one is unlabelled.
        evidence = "of the passages given with the query one is relevant"
        return ("ignored", f"{evidence}; it abstains") if abstains else ("right", f"{evidence}; it answers")
    found = [passage for passage in shown if passage in relevant]
    if not found:
        unlabelled = sum(passage not in grades for passage in shown)
        more = f"; {unlabelled} of them have no label" if unlabelled else ""
        return "not_retrieved", f"none of {len(relevant)} relevant among {len(shown)} shown{more}"
    evidence = f"was shown {found[0]}, which is relevant"
    if abstains:
        return "ignored", f"{evidence}; it abstains"
    if cited and not relevant & set(cited):
        return "ignored", f"{evidence}; it cites only {', '.join(cited)}"
    cites = [passage for passage in cited if passage in relevant]
    return "right", f"{evidence}; it cites {cites[0]}" if cites else f"{evidence}; it cites nothing"


def cause_shares(attributions: Iterable[Attribution]) -> list[CauseShare]:
    """Count causes by language and system, and over languages; answers without a cause are excluded.

    Args:
        attributions: causes, one per answer; the query is the unit.
    """
    found: dict[str, dict[str, dict[str, Cause]]] = {}
    for entry in attributions:
        if entry.cause is not None:
            found.setdefault(entry.system, {}).setdefault(entry.language, {})[entry.query_id] = entry.cause
    shares = []
    for system, languages in sorted(found.items()):
        by_language = dict(sorted(languages.items()))
        for cause in CAUSES:
            cells = [(sum(own == cause for own in queries.values()), len(queries)) for queries in by_language.values()]
            for code, (k, n) in zip(by_language, cells, strict=True):
                shares.append(CauseShare(code, system, cause, k, n, n, k / n, *wilson(k, n)))
            k, answers = (sum(column) for column in zip(*cells, strict=True))
            n, factor = len(set[str]().union(*by_language.values())), _sharing_factor(by_language, cause)
            shares.append(CauseShare("all", system, cause, k, answers, n, *mean_interval(cells, factor=factor)))
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


def causes(tables: Tables, *, parser: str = "strict", relevant_from: int = RELEVANT_FROM) -> list[AnswerCause]:
    """Determine the cause of every answer with an outcome.

    Args:
        tables: `outcomes`, and `passages`, `documents`, `retrieved` and `answers` if present. Without answers citations
            are unknown; without passages only the query's subset is known.
        parser: parser whose outcomes count.
        relevant_from: lowest grade that counts as relevant.
    """
    passages = tables.get("passages")
    shown = ShownPassages(passages, tables.get("retrieved"), columns=("passage_id", "passage_language"))
    labels = {} if passages is None else labels_by_query(grades(passages, tables.get("documents")))
    outcomes = tables["outcomes"]
    rows = outcomes.filter(pc.equal(outcomes["parser"], parser)).select([*_QUERY, "system", "subset", "outcome"])
    answers = answer_rows(tables.get("answers"))
    result = []
    for row in rows.to_pylist():
        key, system = (row["language"], row["query_id"]), row["system"]
        answer = answers.get((*key, system), {})
        languages = dict(shown.of(key, answer.get("retriever"), answer.get("depth")))
        grades_of = labels.get(key, {})
        relevant = {passage for passage, grade in grades_of.items() if grade >= relevant_from} & languages.keys()
        cites = cited_passages(answer, tuple(languages)) if row["outcome"] == "answered" and relevant else ()
        cause, evidence = attribute(
            row["outcome"], tuple(languages), cites, grades_of, subset=row["subset"], relevant_from=relevant_from
        )
        relevant_in = {languages[name] for name in relevant if answer} - {None}
        result.append(AnswerCause(Attribution(*key, system, cause, evidence), frozenset(relevant_in)))
    return result


def answer_rows(answers: pa.Table | None) -> dict[AnswerKey, dict[str, Any]]:
    """Return the shown and cited passages of each answer, by key."""
    rows = [] if answers is None else answers.to_pylist()
    return {(row["language"], row["query_id"], row["system"]): row for row in rows}


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
