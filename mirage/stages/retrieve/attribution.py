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

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from mirage.schema import Outcome, Subset
from mirage.stats.intervals import mean_interval, wilson
from mirage.stats.units import shared_ids, sharing_factor

Cause = Literal[
    "right", "not_retrieved", "other_language", "unused_language", "ignored", "unsupported", "right_refusal"
]
CAUSES: tuple[Cause, ...] = get_args(Cause)
OF_LANGUAGES: tuple[Cause, ...] = ("other_language", "unused_language")
"""Causes that occur only if passages are in another language than their query; reported only if one of them occurs."""
SHOWN_FROM = 5
"""Minimum number of queries with a relevant passage in a language to call the language unused."""


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
    import numpy as np

    queries = {code: list(of_query) for code, of_query in by_language.items()}
    if not shared_ids(queries):
        return 1.0
    values = {
        code: np.array([float(own == cause) for own in of_query.values()]) for code, of_query in by_language.items()
    }
    return sharing_factor(values, queries)
