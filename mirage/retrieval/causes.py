"""The cause of every answer of an arena, and what its generators are worth where retrieval was perfect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mirage.answers import citations, cited, is_numbered
from mirage.features.means import means, over_languages
from mirage.retrieval.attribution import Attribution, Cause, ShownAnswer, attribute
from mirage.retrieval.grades import RELEVANT_FROM, grades
from mirage.shown import ShownPassages

if TYPE_CHECKING:
    import pyarrow as pa

CAUSED_BY = ("outcomes", "passages", "documents", "retrieved", "answers")
"""Tables that causes are made from; all but the first where they are there."""
FEWEST = 8
"""Queries wholly shown that an interval of `GivenRetrieval.lost` needs in each language: with 8 it holds the truth 93
times in 100, with 5 only 85 times (simulated)."""
_QUERY = ("language", "query_id")
_ANSWER = ("text", "template", "numbered", "retriever", "depth")
_EXISTS: tuple[Cause, ...] = ("right", "ignored", "not_retrieved")
"""Causes of answers to queries that some passage answers."""


@dataclass(frozen=True, slots=True)
class AnswerCause:
    """The cause of one answer, and how much of what is relevant its system was shown."""

    attribution: Attribution
    """The cause, with its evidence."""
    complete: bool | None
    """Whether every relevant passage of the query was shown; null where none is known."""


@dataclass(frozen=True, slots=True)
class GivenRetrieval:
    """How often one system is right on what some passage answers: as it is, and where it was shown all of that."""

    language: str
    """Language of the queries; `all` for the mean over languages, each counting alike."""
    system: str
    """The system."""
    whole: float
    """Share of right answers among the queries that some passage answers, in [0, 1]."""
    n: int
    """How many such queries have a cause."""
    given: float
    """The same among those of which all relevant passages were shown."""
    n_given: int
    """How many there are."""
    lost: float
    """`given` minus `whole`: what retrieval costs the system."""
    low: float | None
    """Lower end of the 95% interval of `lost` (Student's t of its linear terms, the query as the unit); null where a
    language has fewer than `FEWEST` queries in `n_given`."""
    high: float | None
    """Upper end."""


def causes(
    tables: Mapping[str, pa.Table], *, parser: str = "strict", relevant_from: int = RELEVANT_FROM
) -> list[AnswerCause]:
    """Find the cause of every answer that has an outcome.

    Args:
        tables: `outcomes`, and of `passages`, `documents`, `retrieved` and `answers` those that are there. Without
            answers nothing is known of citations; without passages the query's subset is all that is known.
        parser: which parser's outcomes.
        relevant_from: the least grade that counts as relevant.
    """
    import pyarrow.compute as pc

    passages = tables.get("passages")
    shown = ShownPassages(passages, tables.get("retrieved"), columns=("passage_id",))
    labels: dict[tuple[str, str], dict[str, int]] = {}
    if passages is not None:
        graded = grades(passages, tables.get("documents"))
        for language, query_id, passage_id, grade in zip(
            *(graded[name].to_pylist() for name in graded.column_names), strict=True
        ):
            labels.setdefault((language, query_id), {})[passage_id] = grade
    outcomes = tables["outcomes"]
    rows = outcomes.filter(pc.equal(outcomes["parser"], parser)).select([*_QUERY, "system", "subset", "outcome"])
    answers = _answers(tables.get("answers"))
    result = []
    for row in rows.to_pylist():
        key = row["language"], row["query_id"]
        answer = answers.get((*key, row["system"]), {})
        ids = tuple(passage for (passage,) in shown.of(key, answer.get("retriever"), answer.get("depth")))
        own_labels = labels.get(key, {})
        relevant = {passage for passage, grade in own_labels.items() if grade >= relevant_from}
        cites = _cites(answer, ids) if relevant & set(ids) and row["outcome"] == "answered" else ()
        cause = attribute(
            ShownAnswer(*key, row["system"], row["outcome"], ids, cites),
            own_labels,
            subset=row["subset"],
            relevant_from=relevant_from,
        )
        result.append(AnswerCause(cause, relevant <= set(ids) if relevant else None))
    return result


def given_retrieval(entries: list[AnswerCause]) -> list[GivenRetrieval]:
    """Compare each system with itself where retrieval was perfect, by language and over languages.

    Only answers with a cause count, to queries that some passage answers. A system is left out of a language where no
    query had all of its relevant passages shown.

    Args:
        entries: what `causes` gave.
    """
    import numpy as np
    import pyarrow as pa

    cells: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for entry in entries:
        if entry.attribution.cause in _EXISTS and entry.complete is not None:
            key = entry.attribution.system, entry.attribution.language
            cells.setdefault(key, []).append((entry.attribution.cause == "right", entry.complete))
    terms: dict[str, list[Any]] = {name: [] for name in ("language", "query_id", "system", "feature", "value")}
    counts: dict[tuple[str, str], tuple[int, int, int, int]] = {}
    for (system, language), pairs in sorted(cells.items()):
        right, complete = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
        n, n_given = len(right), complete.sum()
        if not n_given:
            continue
        whole, given = right.mean(), (right * complete).sum() / n_given
        # Linear terms of the difference of a ratio and a mean: their mean is the difference itself.
        linear = given - whole + n / n_given * complete * (right - given) - (right - whole)
        counts[system, language] = int(right.sum()), n, int((right * complete).sum()), int(n_given)
        terms["language"] += [language] * n
        terms["query_id"] += [str(k) for k in range(n)]
        terms["system"] += [system] * n
        terms["feature"] += ["lost"] * n
        terms["value"] += linear.tolist()
    by_language = means(pa.table(terms)) if counts else []
    result = []
    for row in [*by_language, *over_languages(by_language)]:
        own = [cell for key, cell in counts.items() if key[0] == row.system and row.language in (key[1], "all")]
        n, n_given = sum(cell[1] for cell in own), sum(cell[3] for cell in own)
        whole = sum(cell[0] / cell[1] for cell in own) / len(own)
        given = sum(cell[2] / cell[3] for cell in own) / len(own)
        ends = (row.low, row.high) if min(cell[3] for cell in own) >= FEWEST else (None, None)
        result.append(GivenRetrieval(row.language, row.system, whole, n, given, n_given, given - whole, *ends))
    return result


def _answers(answers: pa.Table | None) -> dict[tuple[str, str, str], dict[str, Any]]:
    """What is needed of each answer, by its key."""
    if answers is None:
        return {}
    names = [name for name in (*_QUERY, "system", *_ANSWER) if name in answers.column_names]
    return {(row["language"], row["query_id"], row["system"]): row for row in answers.select(names).to_pylist()}


def _cites(answer: Mapping[str, Any], passage_ids: tuple[str, ...]) -> tuple[str, ...]:
    """The passages that an answer cites, of those that were shown."""
    text = answer.get("text")
    if not text:
        return ()
    return cited(citations(text, passage_ids, numbered=is_numbered(answer["template"], answer["numbered"])))
