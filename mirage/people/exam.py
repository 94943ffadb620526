"""A judge's exam: agreement of each judge with people on the same battles.

    result = exam(arena, votes=log)                # ExamResult: one record per judge and language, people last
    result.exams[0].measures["agree"]              # value, 95% interval, n, queries, or the reason why there is none

People are voters, authors of imported verdicts, and raters of answers. The naming of the two systems is arbitrary, so
every figure counts a battle from both sides: it does not change when systems are renamed.

A rank correlation of two noisy orders of the systems is biased towards 0, and no bootstrap of the correlation corrects
that if systems are close. The interval of tau-b therefore follows from the significant pairwise differences, by people
and by the judge, simultaneously for all pairs (step-down max-t, as Mogstad, Romano, Shaikh and Wilhelm, Review of
Economic Studies 91, 2024, for ranks). It covers every two orders consistent with these, so its coverage is at least
nominal, and it is wide if few pairs are significant.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Literal

import numpy as np
import pyarrow as pa

from mirage import schema
from mirage.battles.decision import FIRST, SECOND, TIE, decide_battles
from mirage.battles.judge import UNORDERED, judges_alone
from mirage.battles.verdict_rows import OF_SCORES, Verdicts, programs, with_known, without_known
from mirage.errors import NotEnoughData, UnknownName
from mirage.people.votes.kinds import IMPORTED, Vote
from mirage.people.votes.opinions import (
    STATISTICS,
    WIDTH,
    Items,
    Opinions,
    items_of,
    judge_sums,
    known_sums,
    opinions_of,
    people_sums,
    ratio,
)
from mirage.people.votes.raters import rater_verdicts
from mirage.people.votes.rows import imported_votes, label
from mirage.people.votes.stage import votes_that_count
from mirage.ranking.by_query import by_query
from mirage.schema import PEOPLE, CodeOrAll, Count
from mirage.stats.arrays import Array, Places
from mirage.stats.intervals import CONFIDENCE
from mirage.stats.jackknife import LEAST, Estimate, Scale, estimate, jackknife
from mirage.stats.kendall import kendall
from mirage.store.arena import Arena
from mirage.text.data import load_words
from mirage.text.languages import in_order

DRAWS, SEED = 2_000, 0
"""Normal draws of the ratings behind the intervals of the systems' order, and their seed."""
_REFERENCE = "people are what judges are compared with"
_COLUMNS = ("language", "query_id", "judge", "system_a", "system_b", "verdict", "points", "person")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure of a judge."""

    name: str
    """Name in records and tables."""
    title: str
    """Display name."""
    meaning: str
    """Definition, unit of analysis and interpretation."""
    scale: Scale
    """Range: [0, 1], [-1, 1] or any logits."""
    written: Literal["rate", "rating"]
    """Format of its values."""
    none: str
    """Reason to give if there is no value."""
    fair: float | None = None
    """Value of a fair judge, or of chance; null if there is none."""


def _load_measures(group: str) -> dict[str, Measure]:
    return {name: Measure(name=name, **facts) for name, facts in load_words("measures", "mirage.people")[group].items()}


MEASURES = _load_measures("people")
"""All measures of an exam, by name, in the order of the columns."""
MEASURES_ALONE = _load_measures("alone")
"""Measures of a judge without people, by name."""
_STATISTICS = {
    **{name: STATISTICS[name] for name in ("agree", "kappa", "first")},
    "known": (lambda sums: ratio(sums[:, 0], sums[:, 1]), lambda sums: sums[:, 1]),
}
"""Value and sample size of the measures that are functions of sums over queries; of known-answer pairs, which are not
battles of people, of B x 2 sums: correct ones, and all.
"""


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


@dataclass(frozen=True, eq=False)
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
    arena: Arena,
    *,
    votes: Iterable[Vote] = (),
    judges: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    ratings: str | None = None,
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
        seed: seed of the draws.

    Raises:
        TableMissing: if the arena has no judgments.
        UnknownName: if a judge, a language or the measure does not exist.
        NotEnoughData: if there is no battle decided by people, and no known-answer pair decided by a judge.
    """
    arena.need("judgments")
    heard = [*votes_that_count(arena, votes), *_score_votes(arena, ratings)]
    if languages is not None:
        for code in languages:
            if code not in arena.languages("judgments"):
                raise UnknownName("language", code, arena.languages("judgments"), where=arena.address)
        heard = [vote for vote in heard if vote.language in languages]
    if not heard and "outcomes" not in arena.tables:
        raise nobody_decided()
    judgments = programs(arena.read("judgments", columns=_COLUMNS))
    outcomes = None
    if "outcomes" in arena.tables:
        codes = arena.languages("outcomes") if languages is None else languages
        outcomes = arena.sql(
            "SELECT language, query_id, system, correct FROM outcomes "
            "WHERE parser = 'strict' AND list_contains($codes, language)",
            {"codes": list(codes)},
        )
    exams, alone = examine(judgments, heard, judges=judges, outcomes=outcomes, seed=seed).exams, judges_alone(arena)
    return ExamResult(tuple(_without_first(row) if row.judge in alone else row for row in exams))


def _without_first(row: JudgeExam) -> JudgeExam:
    first = replace(row.measures["first"], value=None, low=None, high=None, reason=UNORDERED)
    return replace(row, measures={**row.measures, "first": first})


def examine(
    judgments: pa.Table,
    votes: Iterable[Vote],
    *,
    judges: Sequence[str] | None = None,
    outcomes: pa.Table | None = None,
    seed: int = SEED,
) -> ExamResult:
    """Examine judges by votes.

    Args:
        judgments: columns of table `judgments`, of programs only.
        votes: valid votes (`mirage.people.votes.rows.valid_votes`); those on battles that the queue chose are ignored.
        judges: names; None for all.
        outcomes: language, query_id, system and correct of answers, for known-answer pairs; None for none.
        seed: seed of the draws.

    Raises:
        UnknownName: if a judge has no verdict.
        NotEnoughData: if no vote counts and there is no known-answer pair.
    """
    heard = (vote for vote in votes if vote.control or vote.why == IMPORTED)
    opinions = opinions_of(vote for vote in heard if label(vote) is not None)
    drawn, whole = without_known(judgments), with_known(judgments)
    battles = decide_battles(drawn)
    known_pairs = {} if outcomes is None else known_sums(decide_battles(whole), outcomes)
    if not opinions and not known_pairs:
        raise nobody_decided()
    known = sorted(name for name in whole["judge"].unique().to_pylist() if not name.startswith(OF_SCORES))
    for name in judges or ():
        if name not in known:
            raise UnknownName("judge", name, known)
    names = [name for name in known if judges is None or name in judges]
    by_judge = items_of(battles, opinions)
    examined = _Examined(seed)
    exams: list[JudgeExam] = []
    codes = in_order({*opinions, *(code for name in names for code in known_pairs.get(name, {}))})
    for name in names:
        exams += examined.rows(name, by_judge.get(name, {}), known_pairs.get(name, {}), codes)
    if opinions:
        exams += examined.people(opinions, joint=len(codes) > 1)
    return ExamResult(tuple(exams))


def nobody_decided() -> NotEnoughData:
    """Return the error for an exam without any decision by people."""
    return NotEnoughData(
        "no person decided a battle that counts", do="vote on the Spot check page, or import people's verdicts"
    )


@dataclass(frozen=True, eq=False)
class Order:
    """Ratings of the systems in one language, and how they depend on its queries."""

    theta: Array
    """S ratings, systems by name."""
    moves: Array
    """Q x S: influence of each query on the ratings; queries by id."""

    @property
    def systems(self) -> int:
        """Number of systems."""
        return len(self.theta)

    @property
    def queries(self) -> int:
        """Number of queries."""
        return len(self.moves)


@dataclass(frozen=True, eq=False)
class _Examined:
    """Builder of the rows of judges and people."""

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
                        [orders[part] for part in scope if part in orders], none=MEASURES["tau_b"].none, seed=self.seed
                    ),
                },
            )
            for code, scope in _scopes(languages, joint=len(languages) > 1)
        ]

    def people(self, opinions: Mapping[str, Opinions], *, joint: bool) -> list[JudgeExam]:
        rows = []
        for code, scope in _scopes(in_order(opinions), joint=joint):
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
            self.orders[key] = order_of(items, taken)
        return self.orders[key]


def _scopes(languages: Sequence[str], *, joint: bool) -> list[tuple[str, Sequence[str]]]:
    """Return each language separately, and with `joint` all together."""
    return [*((code, [code]) for code in languages), *([("all", languages)] if joint else [])]


def _measures(sums: Sequence[Array]) -> dict[str, Estimate]:
    return {name: _estimate(name, sums) for name in _STATISTICS if name != "known"}


def _estimate(name: str, sums: Sequence[Array]) -> Estimate:
    measure, (statistic, trials) = MEASURES[name], _STATISTICS[name]
    return estimate([jackknife(of, statistic, trials) for of in sums], none=measure.none, scale=measure.scale)


def _score_votes(arena: Arena, measure: str | None) -> list[Vote]:
    """Return the votes implied by people's scores, one per person and battle."""
    import pyarrow.compute as pc

    scores = arena.read("scores") if "scores" in arena.tables else schema.arrow_schema("scores").empty_table()
    scores = scores.filter(pc.fill_null(scores["person"], False))
    names = sorted(scores["measure"].unique().to_pylist())
    if measure is not None and measure not in names:
        raise UnknownName("measure that people scored", measure, names)
    if measure is None and len(names) != 1:
        return []
    votes: list[Vote] = []
    for rater in sorted(scores["rater"].unique().to_pylist()):
        try:
            rows = rater_verdicts(scores.filter(pc.equal(scores["rater"], rater)), measure or names[0])
        except (NotEnoughData, UnknownName):
            continue  # this person scored no two answers to a query
        persons = {"person": pa.array([True] * len(rows)), "voter": pa.array([rater] * len(rows), pa.string())}
        rows = pa.table({name: rows[name] for name in rows.column_names} | persons)
        votes += imported_votes(rows, arena.name)
    return votes


# --- the order of systems ---------------------------------------------------------------------------------------------


def order_of(items: Items, taken: Array) -> Order | None:
    """Rate the systems of one language by the points of the first system of each battle.

    Args:
        items: the battles.
        taken: points of the first system of each, by the judge or by people.

    Returns:
        The order; None with fewer than three systems.
    """
    heard = items.opinions
    present, both = np.unique(
        np.concatenate([heard.first[items.battle], heard.second[items.battle]]), return_inverse=True
    )
    if len(present) < 3:
        return None
    with_items, query = np.unique(items.query, return_inverse=True)
    counted = Verdicts(
        "-",
        tuple(heard.systems[k] for k in present),
        tuple(heard.queries[k] for k in with_items),
        query,
        both[: len(items)],
        both[len(items) :],
        np.where(taken == 0.5, TIE, np.where(taken > 0.5, FIRST, SECOND)).astype(np.int8),
        taken.astype(np.float32),
        np.full(len(items), -1, dtype=np.intp),
        np.zeros(len(items), dtype=bool),
    ).battles()
    layout = by_query(counted)
    return Order(layout.theta, layout.moves)


def order_measure(pairs: Sequence[tuple[Order, Order]], *, none: str, seed: int = SEED) -> Estimate:
    """Compute tau-b of a judge's order and people's, averaged over languages.

    Args:
        pairs: the judge's order and people's, one pair per language.
        none: reason to give if there is no value.
        seed: seed of the draws behind the interval.
    """
    n = max((judged.systems for judged, _ in pairs), default=0)
    queries = sum(judged.queries for judged, _ in pairs)
    values = [float(kendall(judged.theta, people.theta)) for judged, people in pairs]
    if not values or np.isnan(values).any():
        return Estimate(None, None, None, n, queries, none if not values else "all systems are equal")
    value = float(np.mean(values))
    least = min(judged.queries for judged, _ in pairs)
    if least < LEAST:
        return Estimate(value, None, None, n, queries, f"under {LEAST} queries")
    # The mean of ends valid in each language is valid for the mean, conservatively, since errors cancel.
    low, high = np.mean([tau_b_ends(*told_apart(pair, seed)) for pair in pairs], axis=0)
    return Estimate(value, min(float(low), value), max(float(high), value), n, queries, None)


def told_apart(orders: tuple[Order, Order], seed: int = SEED) -> tuple[Places, Places]:
    """Find the significant pairwise differences in both orders, simultaneously for all pairs of both: with a
    probability of 95% no pair has a wrong sign.

    A significant pair is removed from the set that determines the critical value, which makes more pairs significant
    (step-down); its opposite direction stays.

    Args:
        orders: orders of the same systems by the same queries, which move both.
        seed: seed of the draws.

    Returns:
        For each order S x S: 1 if the row's system is ahead of the column's, -1 behind, 0 not significant.
    """
    from scipy.special import ndtri, stdtrit

    i, j = np.triu_indices(orders[0].systems, 1)
    difference = np.concatenate([order.theta[i] - order.theta[j] for order in orders])
    moves = np.concatenate([order.moves for order in orders], axis=1)
    drawn = np.random.default_rng(seed).multivariate_normal(
        np.zeros(moves.shape[1]), moves.T @ moves, DRAWS, method="eigh"
    )
    noise = np.concatenate([part[:, i] - part[:, j] for part in np.split(drawn, 2, axis=1)], axis=1)
    deviation = noise.std(axis=0)
    known = deviation > 1e-9
    safe = np.where(known, deviation, 1.0)
    # Student's t correction for an estimated deviation with few queries.
    wider = stdtrit(min(order.queries for order in orders) - 1, 0.5 + CONFIDENCE / 2) / ndtri(0.5 + CONFIDENCE / 2)
    z, t = np.where(known, noise / safe, 0.0) * wider, np.where(known, difference / safe, 0.0)
    signs = np.zeros(len(t), dtype=np.intp)
    while True:
        above, below = np.where(signs > 0, -np.inf, z), np.where(signs < 0, -np.inf, -z)
        bound = np.quantile(np.maximum(above.max(axis=1), below.max(axis=1)), CONFIDENCE, method="higher")
        further = np.where(np.abs(t) > bound, np.sign(t), 0).astype(np.intp)
        if (further == signs).all():
            break
        signs = further
    both = []
    for part in np.split(signs, 2):
        matrix = np.zeros((orders[0].systems,) * 2, dtype=np.intp)
        matrix[i, j], matrix[j, i] = part, -part
        both.append(add_implied(matrix))
    return both[0], both[1]


def add_implied(signs: Places) -> Places:
    """Add the pairs implied by transitivity."""
    ahead = signs > 0
    for k in range(len(signs)):
        ahead |= ahead[:, k, None] & ahead[k]
    return ahead.astype(np.intp) - ahead.T.astype(np.intp)


def tau_b_ends(judged: Places, people: Places) -> tuple[float, float]:
    """Return the minimum and maximum tau-b of two orders consistent with the significant pairs (`told_apart`)."""
    i, j = np.triu_indices(len(judged), 1)
    product = judged[i, j] * people[i, j]
    sure, open_ = float(product.sum()), int((product == 0).sum())
    return (sure - open_) / len(product), (sure + open_) / len(product)
