"""The exam of an arena's judges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from mirage import schema, store
from mirage.battles.decided import decide_battles
from mirage.battles.verdict_rows import OF_SCORES, programs, with_known, without_known
from mirage.errors import NotEnoughData, UnknownName
from mirage.people.exam.items import (
    Items,
    Opinions,
    items_of,
    judge_sums,
    known_sums,
    opinions_of,
    people_sums,
)
from mirage.people.exam.measures import MEASURES, STATISTICS, WIDTH
from mirage.people.exam.order import Order, order_measure, order_of
from mirage.people.votes import PEOPLE, Vote, imported_votes
from mirage.people.votes.raters import rater_verdicts
from mirage.people.votes.stage import counting
from mirage.schema import CodeOrAll, Count
from mirage.stats.jackknife import Array, Estimate, estimate, jackknife
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa

DRAWS, SEED = 500, 0
_REFERENCE = "people are what judges are compared with"
_COLUMNS = ("language", "query_id", "judge", "system_a", "system_b", "verdict", "points", "person")


@dataclass(frozen=True, slots=True)
class JudgeExam:
    """Agreement of one judge with people in one language."""

    judge: str
    """The judge; `people`: people among themselves, the reference row."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over the languages that have an interval, with equal weights."""
    battles: Count
    """Battles decided by people and the judge; for people, those decided by at least two people."""
    measures: Mapping[str, Estimate]
    """By the names of `MEASURES`."""


@dataclass(frozen=True, slots=True)
class ExamMeasure:
    """One measure of one judge in one language: a row of `ExamResult.table`."""

    key = ("judge", "language", "measure")
    reason_of = "value"

    judge: str
    """The judge; `people`: people among themselves."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over languages with equal weights."""
    measure: str
    """Name of the measure (`mirage.people.exam.MEASURES`)."""
    value: float | None
    """The value; null if undefined."""
    low: float | None
    """Lower end of its 95% interval, with the query as the cluster."""
    high: float | None
    """Upper end."""
    n: Count
    """Sample size: votes, verdicts, battles or systems, as the measure defines."""
    queries: Count
    """Number of queries."""
    reason: str | None
    """Reason why the value or the interval is null."""


@dataclass(frozen=True)
class ExamResult:
    """The exam of every judge of an arena."""

    exams: tuple[JudgeExam, ...]
    """One record per judge and language: judges by name, people last, `all` after the languages."""

    def table(self) -> pa.Table:
        """Return every measure as `ExamMeasure` rows."""
        rows = [
            ExamMeasure(row.judge, row.language, name, *astuple(mark))
            for row in self.exams
            for name, mark in row.measures.items()
        ]
        return schema.from_rows(ExamMeasure, rows)


def exam(
    arena: store.Arena,
    *,
    votes: Iterable[Vote] = (),
    judges: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    ratings: str | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> ExamResult:
    """Measure how the judges of an arena agree with people on the same battles.

    People are voters on randomly sampled battles, authors of imported verdicts, and raters of answers: of two answers
    to a query, the one a person scored higher is better to that person.

    Args:
        arena: with judgments.
        votes: the log of votes, or none.
        judges: names; None for every judge that is not a person.
        languages: codes; None for all with people's decisions.
        ratings: measure whose scores count as people's; None for the only one people scored, and for none if there are
            several, since they ask different questions.
        draws: draws behind the intervals of the systems' order.
        seed: seed of the draws.

    Raises:
        TableMissing: if the arena has no judgments.
        UnknownName: if a judge, a language or the measure does not exist.
        NotEnoughData: if there is no battle decided by people, and no known-answer pair decided by a judge.
    """
    arena.need("judgments")
    heard = [*counting(arena, votes), *_score_votes(arena, ratings)]
    if languages is not None:
        for code in languages:
            if code not in arena.languages("judgments"):
                raise UnknownName("language", code, arena.languages("judgments"), where=arena.address)
        heard = [vote for vote in heard if vote.language in languages]
    if not heard and "outcomes" not in arena.tables:
        raise _nothing()
    judgments = programs(arena.read("judgments", columns=_COLUMNS))
    outcomes = None
    if "outcomes" in arena.tables:
        codes = arena.languages("outcomes") if languages is None else languages
        outcomes = arena.sql(
            "SELECT language, query_id, system, correct FROM outcomes "
            "WHERE parser = 'strict' AND list_contains($codes, language)",
            {"codes": list(codes)},
        )
    return examine(judgments, heard, judges=judges, outcomes=outcomes, draws=draws, seed=seed)


def examine(
    judgments: pa.Table,
    votes: Iterable[Vote],
    *,
    judges: Sequence[str] | None = None,
    outcomes: pa.Table | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> ExamResult:
    """Examine judges by votes.

    Args:
        judgments: columns of table `judgments`, of programs only.
        votes: valid votes (`mirage.people.votes.standing`); those on battles not sampled at random are ignored.
        judges: names; None for all.
        outcomes: language, query_id, system and correct of answers, for known-answer pairs; None for none.
        draws: draws behind the intervals of the systems' order.
        seed: seed of the draws.

    Raises:
        UnknownName: if a judge has no verdict.
        NotEnoughData: if no vote counts and there is no known-answer pair.
    """
    opinions = opinions_of(votes)
    drawn, whole = without_known(judgments), with_known(judgments)
    battles = decide_battles(drawn)
    known_pairs = {} if outcomes is None else known_sums(decide_battles(whole), outcomes)
    if not opinions and not known_pairs:
        raise _nothing()
    known = sorted(name for name in whole["judge"].unique().to_pylist() if not name.startswith(OF_SCORES))
    for name in judges or ():
        if name not in known:
            raise UnknownName("judge", name, known)
    names = [name for name in known if judges is None or name in judges]
    by_judge = items_of(battles, opinions)
    examined = _Examined(draws, seed)
    exams: list[JudgeExam] = []
    codes = in_order({*opinions, *(code for name in names for code in known_pairs.get(name, {}))})
    for name in names:
        exams += examined.rows(name, by_judge.get(name, {}), known_pairs.get(name, {}), codes)
    if opinions:
        exams += examined.people(opinions, joint=len(codes) > 1)
    return ExamResult(tuple(exams))


def _nothing() -> NotEnoughData:
    """Return the error for an exam without any decision by people."""
    return NotEnoughData(
        "no person decided a battle that counts", do="vote on the Spot check page, or import people's verdicts"
    )


@dataclass(frozen=True, eq=False)
class _Examined:
    """Builder of the rows of judges and people."""

    draws: int
    seed: int
    orders: dict[tuple[str, bytes, bytes], Order | None] = field(default_factory=dict)
    """Cached orders: judges on the same battles share people's."""

    def rows(
        self, judge: str, by_language: Mapping[str, Items], known: Mapping[str, Array], languages: Sequence[str]
    ) -> list[JudgeExam]:
        sums: dict[str, Array] = {}
        orders: dict[str, tuple[Order, Order]] = {}
        for code, items in by_language.items():
            sums[code] = judge_sums(items)
            judged, people = self._order(items, items.points), self._order(items, items.people)
            if judged is not None and people is not None:
                orders[code] = judged, people
        return [
            JudgeExam(
                judge,
                code,
                sum(len(by_language[part]) for part in scope if part in by_language),
                _measures([sums.get(part, np.zeros((0, WIDTH))) for part in scope])
                | {
                    "known": _estimate("known", [known[part] for part in scope if part in known]),
                    "tau_b": order_measure(
                        [orders[part] for part in scope if part in orders], none=MEASURES["tau_b"].none
                    ),
                },
            )
            for code, scope in _scopes(languages)
        ]

    def people(self, opinions: Mapping[str, Opinions], *, joint: bool) -> list[JudgeExam]:
        rows = []
        languages = in_order(opinions)
        scopes = _scopes(languages)
        if joint and len(languages) == 1:
            scopes.append(("all", list(languages)))
        for code, scope in scopes:
            measures = _measures([people_sums(opinions[part]) for part in scope])
            for name, mark in measures.items():
                if mark.value is None and not mark.n:
                    measures[name] = replace(mark, reason="no battle was decided by two people")
            measures |= dict.fromkeys(("known", "tau_b"), Estimate(None, None, None, 0, 0, _REFERENCE))
            n = sum(int((opinions[part].n > 1).sum()) for part in scope)
            rows.append(JudgeExam(PEOPLE, code, n, {name: measures[name] for name in MEASURES}))
        return rows

    def _order(self, items: Items, taken: Array) -> Order | None:
        key = items.opinions.language, items.battle.tobytes(), taken.tobytes()
        if key not in self.orders:
            self.orders[key] = order_of(items, taken, draws=self.draws, seed=self.seed)
        return self.orders[key]


def _scopes(languages: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return each language separately, and all together if there are several."""
    return [*((code, [code]) for code in languages), *([("all", list(languages))] if len(languages) > 1 else [])]


def _measures(sums: Sequence[Array]) -> dict[str, Estimate]:
    return {name: _estimate(name, sums) for name in STATISTICS if name != "known"}


def _estimate(name: str, sums: Sequence[Array]) -> Estimate:
    measure, (statistic, trials) = MEASURES[name], STATISTICS[name]
    return estimate([jackknife(of, statistic, trials) for of in sums], none=measure.none, scale=measure.scale)


def _score_votes(arena: store.Arena, measure: str | None) -> list[Vote]:
    """Return the votes implied by people's scores, one per person and battle."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if "scores" not in arena.tables:
        if measure is not None:
            raise UnknownName("measure that people scored", measure, ())
        return []
    scores = arena.read("scores")
    scores = scores.filter(pc.fill_null(scores["person"], False))
    names = sorted(scores["measure"].unique().to_pylist())
    if measure is None and len(names) != 1:
        return []
    if measure is not None and measure not in names:
        raise UnknownName("measure that people scored", measure, names)
    votes: list[Vote] = []
    for rater in sorted(scores["rater"].unique().to_pylist()):
        try:
            rows = rater_verdicts(scores.filter(pc.equal(scores["rater"], rater)), measure or names[0])
        except (NotEnoughData, UnknownName):
            continue  # this person scored no two answers to a query
        persons = {"person": pa.array([True] * len(rows)), "voter": pa.array([rater] * len(rows), pa.string())}
        for name, column in persons.items():
            rows = rows.set_column(rows.column_names.index(name), name, column)
        votes += imported_votes(rows, arena.name)
    return votes
