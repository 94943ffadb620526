"""View of the battles of two systems, and of a single one: why did A beat B?

A battle is one query that two systems answered; a judge decides it by one verdict or, where both orders of the
answers were judged, by two. A search reads only keys and verdicts; texts are read for the battle shown.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.battles.decision import Decision, Winner, decide, decisions, orient_verdict
from mirage.battles.failures import failures_of
from mirage.battles.judge import ALONE
from mirage.ranking.judges import Judge, PanelJudge
from mirage.schema import PEOPLE, Count
from mirage.stages.features.families import FEATURES
from mirage.store.arena import Arena
from mirage.store.labels import source_phrase
from mirage.views.cache import memoize
from mirage.views.query import AnswerView, FeatureValue, QueryView, of_systems, query_view
from mirage.views.query_keys import Key, Keys, language_place
from mirage.views.query_search import AnswerFilter, find_queries, query_of_link, scope
from mirage.views.win_matrix import Cell

RESULTS: dict[Winner, str] = {
    "first": "the first system wins",
    "second": "the second system wins",
    "tie": "no winner: all verdicts are ties, or they disagree",
    "unparsed": "no verdict",
}
"""Results of a battle by all verdicts of a judge, with their meanings."""
MOST = 2
"""Maximum number of features named in a sentence."""
ACTS = {
    ("relevant", True): "answers correctly (a passage is relevant)",
    ("relevant", False): "abstains although a passage is relevant",
    ("non_relevant", True): "abstains correctly (no passage is relevant)",
    ("non_relevant", False): "answers although no passage is relevant",
}
"""Decision of a system in words, by the subset of the query and whether it is correct."""


@dataclass(frozen=True)
class BattleFilter:
    """Filter of the battles of two systems."""

    first: str
    second: str
    judge: Judge | None
    """Relevance labels, nuggets or a judge; None without decided battles."""
    languages: tuple[str, ...] = ()
    """Codes; all if empty."""
    result: Winner | Literal[""] = ""
    """Result; empty for any."""
    flipped: bool = False
    """Only battles with inconsistent verdicts."""
    disagree: bool = False
    """Only battles on which two judges disagree."""
    text: str = ""
    """Text to search for in the query, both answers and rationales, ignoring case; empty for any."""
    noted: frozenset[Key] | None = None
    """Queries with matching notes on the battle or its answers; None for all."""


@dataclass(frozen=True, slots=True)
class BattleRow:
    """The result of a battle of two systems."""

    language: str
    """Language of the query."""
    query_id: str
    """The query."""
    first: str
    """The first system."""
    second: str
    """The second."""
    judge: str | None
    """The judge; null without one."""
    result: str | None
    """Winner of the two; null without a verdict."""
    flipped: bool
    """Whether its verdicts are inconsistent."""
    verdicts: Count
    """Number of verdicts."""


@dataclass(frozen=True, eq=False)
class BattleSelection(Keys):
    """Matching battles."""

    decisions: Mapping[Key, Decision]
    """Result of each battle of the two systems in the chosen languages, matching or not."""
    wanted: BattleFilter

    @cached_property
    def cell(self) -> Cell:
        """Return the counts over all battles in the chosen languages, matching or not."""
        n = Counter(decision.winner for decision in self.decisions.values())
        return Cell(self.wanted.first, self.wanted.second, n["first"], n["tie"], n["second"], n["unparsed"])

    def start(self, languages: Sequence[str] = (), texts: Collection[Key] = ()) -> Key | None:
        """Return the battle to open: with a winner, both texts, in the first of these languages that has one, won by
        the first system if possible; None without battles.

        Args:
            languages: codes, the preferred one first.
            texts: queries with the texts of both answers.
        """
        order = {result: position for position, result in enumerate(RESULTS)}

        def place(key: Key) -> tuple[bool, bool, int, int, Key]:
            winner = self.decisions[key].winner
            decided = winner in ("first", "second")
            return not decided, key not in texts, language_place(key[0], languages), order[winner], key

        return min(self.keys, key=place, default=None)

    @cached_property
    def table(self) -> pa.Table:
        """The matching battles as rows of `BattleRow`."""
        of = self.wanted
        judge = of.judge.name if of.judge else None
        rows = []
        for key in self.keys:
            decision = self.decisions[key]
            result, flipped = decision.winner if decision.n_verdicts else None, not decision.consistent
            rows.append(BattleRow(*key, of.first, of.second, judge, result, flipped, decision.n_verdicts))
        return schema.from_rows(BattleRow, rows)


@dataclass(frozen=True, slots=True)
class FeatureComparison:
    """One feature that both answers have."""

    measure: FeatureValue
    """Measurement of the first answer, with the feature's metadata."""
    first: float
    second: float
    direction: Literal["higher", "lower", "none"]
    """The better side."""
    low: float
    """Start of the bars: the lowest possible value, or the lower of the two if unbounded."""
    high: float
    """End of a full bar."""

    @property
    def better(self) -> Literal["first", "second"] | None:
        """Return the side with the better value; None for values written alike or if neither direction is better."""
        if self.direction == "none" or self.measure.write(self.first) == self.measure.write(self.second):
            return None
        return "first" if (self.first > self.second) == (self.direction == "higher") else "second"

    @property
    def gap(self) -> float:
        """Distance of the two values as a share of the scale."""
        return abs(self.first - self.second) / (self.high - self.low)


@dataclass(frozen=True, eq=False)
class BattleView:
    """One battle with its query, answers, verdicts and features."""

    query: QueryView
    first: AnswerView
    second: AnswerView
    judgments: tuple[schema.Judgment, ...]
    """All verdicts on the pair, sorted by judge, with the first system's first position before its second."""
    compared: tuple[FeatureComparison, ...]
    computed: Mapping[str, Decision] = field(default_factory=dict)
    """Decision of the judge that decides, by its name, if it has no stored verdicts."""
    conclusion: str = ""
    """The result by the judge that decides and its reason, in a sentence; empty without one."""

    def judged(self, judge: str) -> tuple[schema.Judgment, ...]:
        """Return the verdicts of one judge, one per order."""
        return tuple(judgment for judgment in self.judgments if judgment.judge == judge)

    def decision(self, judge: str) -> Decision:
        """Return the decision of a judge."""
        if judge in self.computed:
            return self.computed[judge]
        return decide(
            [
                orient_verdict(judgment.verdict, swapped=judgment.system_a != self.first.system, grade=judgment.points)
                for judgment in self.judged(judge)
            ]
        )

    @property
    def judges(self) -> tuple[str, ...]:
        """Return the judges of this battle."""
        return tuple(dict.fromkeys(judgment.judge for judgment in self.judgments))


def _conclude(battle: BattleView, judge: Judge, arena: Arena) -> str:
    """Return the result of a battle by a judge and its reason, in a sentence."""
    if judge.rests_on_labels:
        return _conclude_by_labels(battle, source_phrase(arena))
    failed = [
        name
        for name in (battle.first.system, battle.second.system)
        if (*battle.query.key, name) in failures_of(arena).failed
    ]
    if failed and judge.asked:
        other = battle.second if failed == [battle.first.system] else battle.first
        return (
            "Tie: both answers failed." if len(failed) == 2 else f"{other.system} wins: {failed[0]} failed to answer."
        )
    decision = battle.decision(judge.name)
    if decision.winner == "tie":
        return f"Tie: {judge.name} {'calls it one' if decision.consistent else 'disagrees between the two orders'}."
    if decision.winner == "unparsed":
        return f"No verdict by {judge.name}."
    winner, loser = battle.first.system, battle.second.system
    if decision.winner == "second":
        winner, loser = loser, winner
    if judge.rule:
        return f"{winner} beats {loser} by {judge.name}: {judge.rule}."
    orders = " in both orders" if decision.n_verdicts > 1 and decision.consistent else ""
    better = [compared for compared in battle.compared if compared.better == decision.winner]
    reasons = sorted(better, key=lambda compared: compared.gap, reverse=True)[:MOST]
    words = [_reason(compared, first=decision.winner == "first") for compared in reasons]
    because = f", with better {' and '.join(words)}" if words else ""
    prefers = "People prefer" if judge.name == PEOPLE else f"{judge.name} prefers"
    return f"{prefers} {winner} to {loser}{orders}{because}."


def _conclude_by_labels(battle: BattleView, by: str) -> str:
    first, second = sorted((battle.first, battle.second), key=lambda answer: answer.correct is not True)
    act, other = (_act(battle.query.subset, answer) for answer in (first, second))
    if first.correct is True and second.correct is not True:
        return f"{first.system} wins{by}: it {act}; {second.system} {other}."
    return (
        f"Tie{by}: {first.system} {act}; {f'so does {second.system}' if act == other else f'{second.system} {other}'}."
    )


def _act(subset: str | None, answer: AnswerView) -> str:
    if answer.correct is None:
        return "gives an answer that could not be classified"
    return ACTS.get((subset or "", answer.correct), "decides correctly" if answer.correct else "decides wrongly")


def _reason(compared: FeatureComparison, *, first: bool) -> str:
    values = (compared.first, compared.second) if first else (compared.second, compared.first)
    return f"{compared.measure.title} ({compared.measure.write(values[0])} vs. {compared.measure.write(values[1])})"


@memoize
def decisions_of(
    arena: Arena, first: str, second: str, judge: Judge | None = None
) -> Mapping[Key, Mapping[str, Decision]]:
    """Return all battles of two systems with the decision of each judge with verdicts and of the chosen judge, sorted
    by language and id.
    """
    tables = [PanelJudge().read_pair(arena, first, second)] if "judgments" in arena.tables else []
    if judge is not None and not judge.asked:
        tables.append(judge.read_pair(arena, first, second))
    if not tables:
        return {}
    rows = pa.concat_tables(tables, promote_options="permissive")
    # A decision is from the side of the system whose name sorts first, which here is to be `first`.
    sides = {name: pc.if_else(pc.equal(rows[name], first), "0", "1") for name in ("system_a", "system_b")}
    rows = pa.table({name: sides.get(name, rows[name]) for name in rows.column_names})
    by_battle: dict[Key, dict[str, Decision]] = {}
    for name, decided in decisions(rows, unparsed=True).items():
        for battle, decision in decided.items():
            by_battle.setdefault((battle.language, battle.query_id), {})[name] = decision
    return {key: by_battle[key] for key in sorted(by_battle)}


@memoize
def find_battles(arena: Arena, search: BattleFilter) -> BattleSelection:
    """Return the battles of two systems that match a search; without a judge all queries that both answered, as battles
    without a verdict.

    Raises:
        TableMissing: if there is no judge, and the arena has no answers.
    """
    if search.judge is None:
        arena.need("answers")
        by_battle: Mapping[Key, Mapping[str, Decision]] = {
            key: {"": decide(())} for key in _answered_queries(arena, search.first, search.second, "true")
        }
    else:
        by_battle = decisions_of(arena, search.first, search.second, search.judge)
    name = search.judge.name if search.judge else ""
    decisions = {
        key: by_judge[name]
        for key, by_judge in by_battle.items()
        if name in by_judge and (not search.languages or key[0] in search.languages)
    }
    hits = _search(arena, search) if search.text else decisions.keys()
    keys = tuple(
        key
        for key, decision in decisions.items()
        if (not search.result or decision.winner == search.result)
        and not (search.flipped and decision.consistent)
        and (not search.disagree or differ(by_battle[key]))
        and (search.noted is None or key in search.noted)
        and key in hits
    )
    return BattleSelection(keys, decisions, search)


def battle_of_link(arena: Arena, search: BattleFilter, link: str) -> Key:
    """Return the battle of two systems that a link names, even if the search does not find it.

    Raises:
        UnknownName: if there is no such battle; the message names the nearest.
    """
    if search.judge is None:
        return query_of_link(arena, link, search.languages)
    every = decisions_of(arena, search.first, search.second, search.judge)
    return Keys(tuple(every)).resolve(link, search.languages)


@lru_cache(maxsize=16)
def with_texts(arena: Arena, first: str, second: str) -> frozenset[Key]:
    """Return the queries with the texts of both systems' answers; empty if the arena has no texts."""
    if "answers" not in arena.tables:
        return frozenset()
    return frozenset(_answered_queries(arena, first, second, "status IN ('ok', 'truncated')"))


def _answered_queries(arena: Arena, first: str, second: str, condition: str) -> list[Key]:
    """Return the queries that both systems answered, under a condition in SQL."""
    rows = arena.sql(
        f"SELECT language, query_id FROM answers WHERE system IN ($first, $second) AND {condition} "  # noqa: S608  # constants alone
        "GROUP BY ALL HAVING count(DISTINCT system) = 2 ORDER BY ALL",
        {"first": first, "second": second},
    )
    return list(zip(rows["language"].to_pylist(), rows["query_id"].to_pylist(), strict=True))


def differ(decisions: Mapping[str, Decision]) -> bool:
    """Return whether the judges with readable verdicts disagree."""
    results = {decision.winner for name, decision in decisions.items() if name not in ALONE}
    return len(results - {"unparsed"}) > 1


@lru_cache(maxsize=128)
def battle_view(arena: Arena, key: Key, first: str, second: str, judge: Judge | None = None) -> BattleView:
    """Read one battle: query, passages, both answers, every verdict, and the features that both have.

    Args:
        arena: the arena.
        key: language and id of the query.
        first: one system.
        second: the other.
        judge: the judge that decides; None without one.
    """
    query = query_view(arena, key)
    by_system = {answer.system: answer for answer in query.answers}
    # A system may have verdicts only.
    first_answer, second_answer = (
        by_system.get(system) or AnswerView(system, None, None, None, None, "", "", None, None, (), ())
        for system in (first, second)
    )
    pair_judgments = [row for row in query.judgments if {row.system_a, row.system_b} == {first, second}]
    values = {measure.name: measure.value for measure in second_answer.measures}
    compared = [
        compare_feature(measure, measure.value, second_value)
        for measure in first_answer.measures
        if measure.value is not None and (second_value := values.get(measure.name)) is not None
    ]
    computed = {}
    if judge is not None and not judge.asked:
        of_pair = decisions_of(arena, first, second, judge).get(key, {})
        computed = {name: decision for name, decision in of_pair.items() if name == judge.name}
    battle = BattleView(
        query=of_systems(query, (first, second)),
        first=first_answer,
        second=second_answer,
        judgments=tuple(sorted(pair_judgments, key=lambda row: (row.judge, row.system_a != first, row.repeat or 0))),
        compared=tuple(compared),
        computed=computed,
    )
    return battle if judge is None else replace(battle, conclusion=_conclude(battle, judge, arena))


def compare_feature(measure: FeatureValue, first: float, second: float) -> FeatureComparison:
    """Return the comparison of two values of a feature, with the ends of its bars."""
    spec = FEATURES.get(measure.name)
    least, most = min(first, second), max(first, second)
    low = spec.low if spec and spec.low is not None else min(0.0, least)
    high = spec.high if spec and spec.high is not None else max(most, low + 1e-9)
    return FeatureComparison(measure, first, second, spec.direction if spec else "none", low, high)


def _search(arena: Arena, search: BattleFilter) -> set[Key]:
    """Return the queries that contain a text, also in an answer by one of the two systems or in a rationale on both."""
    hits: set[Key] = set()
    systems = (search.first, search.second)
    if {"outcomes", "answers"} & set(arena.tables):
        parser = "".join(scope(arena).parsers[:1])
        wanted = AnswerFilter(languages=search.languages, systems=systems, parser=parser, text=search.text)
        hits |= set(find_queries(arena, wanted).keys)
    if "judgments" in arena.tables:
        # Languages as single values, so that other files are not read; the text in an aggregate, since as a filter it
        # makes DuckDB fold every rationale of a row group, whosever battle it is of, many times over.
        chosen = {f"l{n}": code for n, code in enumerate(search.languages)}
        condition = f"AND language IN ({', '.join(f'${name}' for name in chosen)}) " if chosen else ""
        rows = arena.sql(
            "SELECT language, query_id FROM judgments WHERE system_a IN ($first, $second) "  # noqa: S608  # constants alone
            f"AND system_b IN ($first, $second) {condition}GROUP BY ALL "
            "HAVING bool_or(contains(lower(nfc_normalize(rationale)), lower(nfc_normalize($text))))",
            {"first": search.first, "second": search.second, "text": search.text, **chosen},
        )
        hits |= set(zip(rows["language"].to_pylist(), rows["query_id"].to_pylist(), strict=True))
    return hits
