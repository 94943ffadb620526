"""View of one query: what did each system say? Its passages, answers, outcomes, measures, nuggets and judgments."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import pyarrow as pa

from mirage import schema
from mirage.battles.decision import decisions
from mirage.battles.judge import HEURISTIC, verdict_judges
from mirage.schema import Nugget, NuggetAssignment
from mirage.stages.features.assessed import decider
from mirage.stages.features.families import FEATURES
from mirage.stages.features.reader import IS_REFERENCE
from mirage.stages.outcomes.parsed import RULES
from mirage.stages.outcomes.tables import outcomes
from mirage.stages.retrieve.attribution import Attribution
from mirage.stages.shown import merge_passages, shown_with
from mirage.store.arena import Arena
from mirage.store.query_rows import of_query
from mirage.text.answers import Citation, citations, is_numbered
from mirage.text.numbers import FORMATS
from mirage.text.segmentation import SHOWN
from mirage.views import causes
from mirage.views.cache import memoize
from mirage.views.query_keys import Key

OF_LANGUAGE = ("target_language", "english_language")
"""Features of the language of an answer, not of its content."""
_FORMULAS = ("i_dont_know", "answer_is_present", "answer_is_not_present", "negated")
"""Rules of the parser for answers that repeat a fixed English formula of their prompt."""
MERITS = {
    "nugget_vital_strict": "vital nuggets",
    "answer_overlap_score": "agreement with the reference",
    "answer_rougeL": "agreement with the reference",
}
"""Features that order the answers to a query, if measured, in words; of two with the same words the first."""
_COUNTED = ("characters", "passages", "citations")
"""Units of features that are counts."""
MEASURED = "Labels say whether a system should have answered, not whether its answer is true."
"""Basis of a correct decision."""


@dataclass(frozen=True)
class FeatureValue:
    """One feature of one answer."""

    name: str
    title: str
    meaning: str
    unit: str
    value: float | None
    reason: str | None
    """Reason why there is no value."""

    def write(self, value: float | None) -> str:
        """Format a value of this feature by its unit."""
        return FORMATS["count" if self.unit in _COUNTED else "probability"].write(value)


@dataclass(frozen=True)
class MeasureScores:
    """Scores of one answer by one measure, from people or from programs."""

    measure: str
    """The scale."""
    person: bool
    """Whether the raters are people."""
    scores: tuple[schema.Score, ...]
    """Scores by rater."""

    @property
    def mean(self) -> float | None:
        """Mean over the raters with a parsed score; null if there is none."""
        values = [score.value for score in self.scores if score.value is not None]
        return sum(values) / len(values) if values else None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The worst and the best value of the scale; null if unknown."""
        low, high = self.scores[0].low, self.scores[0].high
        return None if low is None or high is None else (low, high)


@dataclass(frozen=True)
class AnswerView:
    """Answer of one system, with its measurements."""

    system: str
    text: str | None
    status: str | None
    """As in `schema.Answer`; null if the arena lacks the answers."""
    reason: str | None
    """Details of the failure, if more is known than the status."""
    outcome: str | None
    """Outcome; null if the arena has no outcomes."""
    rule: str
    """Name of the parser rule that matched."""
    rule_meaning: str
    """Meaning of the rule."""
    span: tuple[int, int] | None
    """Span of the text that determined the outcome, in characters of the answer."""
    correct: bool | None
    """Whether the decision is correct for the subset; null if undecided."""
    citations: tuple[Citation, ...]
    measures: tuple[FeatureValue, ...]
    scores: tuple[MeasureScores, ...] = ()
    """Scores: people's first, then by measure."""
    retriever: str | None = None
    """Retriever of the passages shown to the system; null for passages given with the query."""
    shown: tuple[str, ...] = ()
    """Ids of the passages shown to the system, in order."""
    cause: Attribution | None = None
    """Cause of the error, if any; null if the arena has no outcomes."""

    def merit(self, feature: str) -> float:
        """Return the value of a feature to order answers by: the highest for the reference, the lowest without one."""
        if any(measure.reason == IS_REFERENCE for measure in self.measures):
            return math.inf
        values = (measure.value for measure in self.measures if measure.name == feature)
        return next((value for value in values if value is not None), -math.inf)


@dataclass(frozen=True, slots=True)
class NuggetRow:
    """One nugget with its assignment to each answer."""

    nugget: Nugget
    """The fact."""
    assignments: Mapping[str, NuggetAssignment]
    """Assignments by system; undecided systems are missing."""


@dataclass(frozen=True, slots=True)
class NuggetMatrix:
    """The nuggets of one query with the assignments of some systems."""

    rows: tuple[NuggetRow, ...]
    """The nuggets, vital nuggets first."""
    systems: tuple[str, ...]
    """Systems by name; empty without assignments."""
    assigner: str | None
    """Assigner; null without assignments."""

    @property
    def vital(self) -> int:
        """Number of vital nuggets."""
        return sum(row.nugget.importance == "vital" for row in self.rows)

    def of_systems(self, systems: Collection[str]) -> NuggetMatrix:
        """Return the matrix with the assignments of these systems alone."""
        rows = tuple(
            NuggetRow(row.nugget, {name: own for name, own in row.assignments.items() if name in systems})
            for row in self.rows
        )
        return NuggetMatrix(rows, tuple(name for name in self.systems if name in systems), self.assigner)


@dataclass(frozen=True, eq=False)
class QueryView:
    """One query with its passages, answers and labels."""

    key: Key
    subset: str | None
    text: str | None
    reason: str
    """Reason why there is no text; empty if the arena has no texts of queries."""
    passages: tuple[schema.Passage, ...]
    """Passages given with the query, in order, then further retrieved passages shown to systems; empty if the arena
    lacks passages."""
    answers: tuple[AnswerView, ...]
    """Answers by system name."""
    turns: tuple[schema.Turn, ...] = ()
    """Earlier turns of the conversation, in order; empty if there are none or they are unknown."""
    tags: tuple[schema.Tag, ...] = ()
    """Tags of the query, sorted by name and value."""
    reference: str | None = None
    """The reference answer; null if there is none."""
    documents: Mapping[str, schema.Document] = field(default_factory=dict)
    """Sources of the passages, by passage id."""
    nuggets: NuggetMatrix | None = None
    """The nuggets of the query; null if it has none."""
    judgments: tuple[schema.Judgment, ...] = ()
    """All verdicts on its answers, by judge, with the two orders of a pair adjacent."""
    judge: str = ""
    """The judge whose verdicts order the answers; empty in an arena without judgments."""

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The systems, best first: by the vital nuggets they state and their agreement with the reference where a
        passage answers the query, then correct decisions before others, then by their mean points in the battles of
        the query by `judge`, then by name.
        """
        won: dict[str, list[float]] = {}
        rows = [row for row in self.judgments if row.judge == self.judge]
        for battle, decision in decisions(schema.from_rows("judgments", rows)).get(self.judge, {}).items():
            won.setdefault(battle.first, []).append(decision.points)
            won.setdefault(battle.second, []).append(1 - decision.points)
        share = {system: sum(points) / len(points) for system, points in won.items()}
        order = sorted(
            self.answers,
            key=lambda answer: (
                *(-answer.merit(feature) for feature in self._merits.values()),
                {True: 0, None: 1, False: 2}[answer.correct],
                -share.get(answer.system, 0.0),
                answer.system,
            ),
        )
        return tuple(answer.system for answer in order)

    @cached_property
    def _merits(self) -> Mapping[str, str]:
        """The features that order the answers, by their words: none where no passage answers the query."""
        known = {measure.name for answer in self.answers for measure in answer.measures if measure.value is not None}
        found = {words: name for name, words in reversed(MERITS.items()) if name in known}
        return {} if self.subset == "non_relevant" else dict(reversed(found.items()))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Criteria of the order, and the basis of a correct decision."""
        decided = any(answer.correct is not None for answer in self.answers)
        by = [*self._merits, *(["correct decisions"] if decided else [])]
        by += [*([f"wins by {self.judge}"] if self.judge else []), "name"]
        return (f"Order: {', '.join(by)}.", *([MEASURED] if decided else []))

    def table(self) -> pa.Table:
        """Return the answers as rows: query, outcome, a column per feature, and the mean score by each measure."""
        facts = ("system", "text", "status", "reason", "outcome", "rule", "correct")
        rows = [
            {"language": self.key[0], "query_id": self.key[1], "subset": self.subset, "query": self.text}
            | {fact: getattr(answer, fact) for fact in facts}
            | dict(zip(("span_start", "span_end"), answer.span or (None, None), strict=True))
            | dict.fromkeys(measure.name for other in self.answers for measure in other.measures)
            | {measure.name: measure.value for measure in answer.measures}
            | {f"score:{given.measure}": None for other in self.answers for given in other.scores}
            | {f"score:{given.measure}": given.mean for given in answer.scores}
            for answer in self.answers
        ]
        return pa.Table.from_pylist(rows)


@memoize
def has_formulas(arena: Arena) -> bool:
    """Return whether most answers of an arena repeat an English formula of their prompt, in whatever language the query
    is: the language of such an answer says nothing.
    """
    if "outcomes" not in arena.tables:
        return False
    sql = "SELECT avg(list_contains($rules, rule)::INT) AS share FROM outcomes WHERE parser = 'strict'"
    return (arena.sql(sql, {"rules": list(_FORMULAS)})["share"][0].as_py() or 0.0) > 0.5


@lru_cache(maxsize=256)
def query_view(arena: Arena, key: Key, parser: str = "strict") -> QueryView:
    """Read one query with its passages, all answers, and their outcomes, features and scores."""
    queries = of_query(arena, "queries", key)
    contexts = shown_with(arena, key)
    rows = {row["system"]: row for row in of_query(arena, "answers", key)}
    seen = {system: contexts.of(key, row.get("retriever"), row.get("depth")) for system, row in rows.items()}
    passages = merge_passages(key, [contexts.of(key, None, None), *seen.values()])
    decided = {row["system"]: row for row in of_query(arena, "outcomes", key) if row["parser"] == parser}
    caused = causes.of_query(arena, key, parser) if decided else {}
    measured: dict[str, list[FeatureValue]] = {}
    order = {name: position for position, name in enumerate(FEATURES)}
    # English is the target language of an English query, where the share of English has no worse end.
    left_out = OF_LANGUAGE if has_formulas(arena) else OF_LANGUAGE[1:] if key[0] == "en" else ()
    for row in sorted(of_query(arena, "features", key), key=lambda row: order.get(row["feature"], len(order))):
        if row["feature"] not in left_out:
            measured.setdefault(row["system"], []).append(_measure(row))
    given = _scores_by_system(of_query(arena, "scores", key))
    answers = [
        _answer_view(
            system,
            rows.get(system, {}),
            decided.get(system, {}),
            shown=tuple(passage_id for passage_id, *_ in seen.get(system, ())),
            measures=tuple(measured.get(system, ())),
            scores=given.get(system, ()),
            cause=caused.get(system),
        )
        for system in sorted(rows.keys() | decided.keys() | measured.keys() | given.keys())
    ]
    first = queries[0] if queries else {}
    subsets = [row["subset"] for row in decided.values()]
    return QueryView(
        key=key,
        subset=first.get("subset") or (subsets[0] if subsets else None),
        text=first.get("text"),
        reason=first.get("reason") or "",
        passages=passages,
        turns=tuple(schema.Turn(**row) for row in of_query(arena, "turns", key)),
        tags=tuple(schema.Tag(**row) for row in of_query(arena, "tags", key)),
        reference=next((row["text"] for row in of_query(arena, "references", key)), None),
        documents={row["passage_id"]: schema.Document(**row) for row in of_query(arena, "documents", key)},
        answers=tuple(answers),
        nuggets=_nuggets(arena, key),
        judgments=_judgments(arena, key),
        judge="".join(verdict_judges(arena)[:1]),
    )


@memoize
def _assigner(arena: Arena) -> str | None:
    """Return the assigner with the most assignments; the term matcher only if there is no other."""
    if "nugget_assignments" not in arena.tables:
        return None
    return decider(arena.read("nugget_assignments", columns=["assigner"]), "assigner")


def _nuggets(arena: Arena, key: Key) -> NuggetMatrix | None:
    """Return the nuggets of a query against the systems; None if it has none."""
    nuggets = [Nugget(**row) for row in of_query(arena, "nuggets", key)]
    if not nuggets:
        return None
    assigner = _assigner(arena)
    by_nugget: dict[str, dict[str, NuggetAssignment]] = {nugget.nugget_id: {} for nugget in nuggets}
    for row in (NuggetAssignment(**row) for row in of_query(arena, "nugget_assignments", key)):
        if row.assigner == assigner and row.nugget_id in by_nugget:
            by_nugget[row.nugget_id][row.system] = row
    nuggets.sort(key=lambda nugget: (nugget.importance != "vital", nugget.nugget_id))
    rows = tuple(NuggetRow(nugget, by_nugget[nugget.nugget_id]) for nugget in nuggets)
    return NuggetMatrix(rows, tuple(sorted(set().union(*by_nugget.values()))), assigner)


def _judgments(arena: Arena, key: Key) -> tuple[schema.Judgment, ...]:
    """Return all verdicts on the answers to a query, by judge, with the two orders of a pair adjacent.

    Undecided verdicts of the heuristic judge are omitted.
    """
    rows = [schema.Judgment(**row) for row in of_query(arena, "judgments", key)]
    rows = [row for row in rows if row.judge != HEURISTIC or row.verdict != "unparsed"]
    return tuple(sorted(rows, key=lambda row: (row.judge, *sorted((row.system_a, row.system_b)), row.system_a)))


def sample_view(arena: Arena, shown: QueryView, number: int, parser: str) -> QueryView:
    """Return a query with each system's answer replaced by one of its samples, where it exists.

    Samples have no features, scores or causes; their outcomes are computed here.

    Args:
        arena: the arena.
        shown: the query with the first answers, sample 0.
        number: number of the sample.
        parser: parser whose outcomes to show.
    """
    if number == 0:
        return shown
    rows = [row for row in of_query(arena, "samples", shown.key) if row["sample"] == number]
    decided: dict[str, dict[str, Any]] = {}
    if rows and shown.subset and any(answer.outcome for answer in shown.answers):
        queries, samples = (
            pa.Table.from_pylist(part, schema.arrow_schema(name))
            for name, part in (("queries", of_query(arena, "queries", shown.key)), ("samples", rows))
        )
        found = outcomes(queries, samples).to_pylist()
        decided = {row["system"]: row for row in found if row["parser"] == parser}
    by_system = {row["system"]: row for row in rows}
    absent = {"status": "missing", "reason": f"no sample {number}"}
    answers = []
    for first in shown.answers:
        row, outcome = by_system.get(first.system, absent), decided.get(first.system, {})
        answers.append(_answer_view(first.system, row | {"retriever": first.retriever}, outcome, shown=first.shown))
    return replace(shown, answers=tuple(answers))


def _answer_view(
    system: str,
    row: Mapping[str, Any],
    outcome: Mapping[str, Any],
    *,
    shown: tuple[str, ...],
    measures: tuple[FeatureValue, ...] = (),
    scores: tuple[MeasureScores, ...] = (),
    cause: Attribution | None = None,
) -> AnswerView:
    """Return a system's answer from its row of `answers` or `samples` and its outcome, each empty if there is none."""
    text, rule = row.get("text"), outcome.get("rule", "")
    start, end = outcome.get("span_start"), outcome.get("span_end")
    numbered = is_numbered(row.get("template"), row.get("numbered"))
    return AnswerView(
        system=system,
        text=text,
        status=row.get("status"),
        reason=row.get("reason"),
        outcome=outcome.get("outcome"),
        rule=rule,
        rule_meaning=RULES.get(rule, ""),
        span=None if start is None or end is None else (start, end),
        correct=outcome.get("correct"),
        citations=citations(text[:SHOWN], shown, numbered=numbered) if text and shown else (),
        measures=measures,
        scores=scores,
        retriever=row.get("retriever"),
        shown=shown,
        cause=cause,
    )


def of_systems(query: QueryView, systems: Collection[str]) -> QueryView:
    """Return a query with the nuggets of these systems, and if any of them had a retriever, only the passages that they
    were shown.
    """
    query = replace(query, nuggets=query.nuggets and query.nuggets.of_systems(systems))
    chosen = [answer for answer in query.answers if answer.system in systems]
    if not any(answer.retriever for answer in chosen):
        return query
    ids = {passage_id for answer in chosen for passage_id in answer.shown}
    return replace(query, passages=tuple(passage for passage in query.passages if passage.passage_id in ids))


def _scores_by_system(rows: Iterable[dict[str, Any]]) -> dict[str, tuple[MeasureScores, ...]]:
    """Group the scores of a query, sorted by key, by system and measure."""
    by_measure: dict[tuple[str, bool, str], list[schema.Score]] = {}
    for score in (schema.Score(**row) for row in rows):
        by_measure.setdefault((score.system, not score.person, score.measure), []).append(score)
    by_system: dict[str, list[MeasureScores]] = {}
    for (system, program, measure), scores in sorted(by_measure.items()):
        by_system.setdefault(system, []).append(MeasureScores(measure, not program, tuple(scores)))
    return {system: tuple(scores) for system, scores in by_system.items()}


def _measure(row: dict[str, Any]) -> FeatureValue:
    spec, reason = FEATURES.get(row["feature"]), row["reason"]
    return FeatureValue(
        name=row["feature"],
        title=spec.title if spec else row["feature"],
        meaning=spec.meaning if spec else "",
        unit=spec.unit if spec else "",
        value=row["value"],
        reason=reason and reason.replace("no reply (", "no answer (").replace("empty reply", "empty answer"),
    )
