"""Adaptive judging of an arena: rounds of battles, each chosen by the verdicts so far, until a goal or the budget.

A run that was interrupted is repeated from its first round: the choice depends on verdicts and names only, and replies
come from the ledger, so it reaches the same point without asking or paying twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage import llm, store
from mirage.battles.verdict_rows import COLUMNS, verdicts
from mirage.errors import BadInput, NotEnoughData
from mirage.pipeline.steps import RunModel
from mirage.ranking.adaptive import AdaptiveSettings, AdaptiveState, Population, begin, points_of, populate
from mirage.ranking.adaptive.population import Array
from mirage.stages import judge
from mirage.stages.judge.stage import (
    BattleSample,
    JudgeSettings,
    answering_systems,
    judge_arena_by_features,
    judge_by_model,
    price_battles,
)
from mirage.store.ledger import price_share

if TYPE_CHECKING:
    import pyarrow as pa

Watch = Callable[["RoundReport"], None]
"""Called after each round."""

_CHEAPEST = 0.1
"""Minimum cost of a pair's call, as a share of the mean."""

_PILOT = 200
"""Number of battles whose maximum price stands for all before the first round."""


@dataclass(frozen=True, slots=True)
class RoundReport:
    """One finished round of adaptive judging."""

    number: int
    """Its number, from 1."""
    rounds: int
    """Number of planned rounds."""
    battles: int
    """Battles judged so far, each in both orders."""
    possible: int
    """Battles that could be judged."""
    separated: int
    """Pairs of systems separated so far."""
    open: int
    """Pairs that matter to the goal, are not separated, and may still be."""
    pairs: int
    """Pairs of systems."""
    widest: float
    """Width of the widest 95% interval of a rating, in logits."""
    money: float | None
    """Cost of all verdicts so far, including cached replies; None without prices."""


@dataclass(frozen=True, eq=False)
class AdaptiveResult:
    """Result of adaptive judging."""

    arena: store.Arena
    """The arena with the verdicts."""
    state: AdaptiveState
    """The state after the last round, with the estimate."""
    rounds: tuple[RoundReport, ...]
    """The finished rounds."""
    reason: str
    """Why judging stopped."""
    left_out: tuple[str, ...]
    """Systems without answers in every language, which are not judged."""


def _engine(model: llm.ChatModel) -> llm.Engine:
    return RunModel(model).engine()


@dataclass(frozen=True)
class JudgeRounds:
    """A judge for adaptive judging."""

    name: str
    """Name of the judge, under which its verdicts are stored."""
    made_by: str
    """The command, for the manifest."""
    model: llm.ChatModel | None = None
    """The model; None for the heuristic judge."""
    criterion: judge.Criterion = field(default_factory=judge.load_criterion)
    """What the model decides by; of two answers, not points for one."""
    engine: Callable[[llm.ChatModel], llm.Engine] = _engine
    """Returns the function that calls a model."""
    progress: Callable[[int, int], None] | None = None
    """Called with the number of finished requests of a round and their total."""

    @property
    def owner(self) -> str:
        """The name under which its verdicts are stored."""
        return self.asked(BattleSample()).owner

    def asked(self, sample: BattleSample) -> JudgeSettings:
        """Return the settings for judging battles."""
        return JudgeSettings(self.name, sample, criterion=self.criterion)

    @property
    def budget(self) -> float | None:
        """The budget, in the currency of the prices."""
        return None if self.model is None else self.model.limits.budget


def judge_adaptively(
    path: Path,
    by: JudgeRounds,
    settings: AdaptiveSettings,
    *,
    languages: Sequence[str] | None = None,
    watch: Watch | None = None,
) -> AdaptiveResult:
    """JudgeRounds battles of an arena in rounds until a goal is reached, the budget is spent, or no round is left.

    Args:
        path: the arena's folder.
        by: the judge; without a budget its rounds share all battles, with one the budget.
        settings: goal, rounds and random share.
        languages: codes; None for all.
        watch: called after each round.

    Raises:
        BadInput: if the judge has verdicts that were chosen in another way, the goal does not suit the systems, or the
            criterion gives points to single answers.
        ArenaError: if the arena lacks a table.
        NotEnoughData: if there is nothing to judge, or the budget does not pay for a round.
        Unreachable: if the service ends the run.
    """
    if by.criterion.scale.kind == "points":
        raise BadInput(
            f"rounds choose pairs of answers, and {by.criterion.name} gives points to one answer",
            do="use a criterion with the scale pairwise, or judge without a goal",
        )
    answered = answering_systems(path, languages, by_features=by.model is None)
    if not answered:
        raise NotEnoughData("no query that can be judged has answers of two systems", do="add answers")
    if by.model is not None:
        _refuse_other_verdicts(path, by.owner, sorted(answered))
    population = populate(answered, seed=settings.seed)
    systems = {system for of_language in answered.values() for present in of_language.values() for system in present}
    state, rounds = begin(population, settings), list[RoundReport]()
    reason, possible = "", _possible(population)
    while not state.done and not reason:
        n = _affordable(path, by, state, rounds, possible)
        if n < 1:
            reason = "the budget is spent"
            break
        counts = state.choose(n)
        sample = BattleSample(battles=_battles(population, population.judged(counts), settings.seed), possible=possible)
        new = population.judged(counts) & ~population.judged(state.counts)
        paid = _paid(path, by, _battles(population, new, settings.seed)) + ((rounds and rounds[-1].money) or 0.0)
        arena, unasked = _ask(path, by, sample, paid)
        table, points = _points(arena, by.owner, population)
        money, cost = _spending(path, by, table, population)
        state = state.after(points)
        state = state if cost is None else replace(state, cost=cost)
        rounds.append(_report(state, money))
        if watch is not None:
            watch(rounds[-1])
        if unasked:
            reason = "the budget is spent"
    if not rounds:
        raise NotEnoughData(
            "the budget does not pay for a first round",
            do="raise --budget, or lower --max-tokens or the number of --rounds",
        )
    reason = _why(state) if state.reached or not reason else reason
    return AdaptiveResult(arena, state, tuple(rounds), reason, tuple(sorted(systems - set(population.systems))))


def _refuse_other_verdicts(path: Path, name: str, languages: Sequence[str]) -> None:
    """Raise if a judge has verdicts in some languages whose battles were not chosen adaptively."""
    arena = store.open_arena(path)
    if "judgments" not in arena.tables:
        return
    sql = """
        SELECT count(*) AS n FROM judgments
        WHERE judge = ? AND inclusion IS NULL AND verdict <> 'unparsed' AND list_contains(?, language)
    """
    n = arena.sql(sql, [name, list(languages)])["n"].to_pylist()[0]
    if n:
        raise BadInput(
            f"{name} has {n:,} verdicts on battles that were not chosen by --until",
            where=arena.address,
            do="give this judge another name with --judge: replies in the ledger are used again for nothing",
        )


def _possible(population: Population) -> dict[judge.Cell, int]:
    """Return the number of battles by language and pair of systems."""
    i, j = np.triu_indices(len(population.systems), 1)
    names = [(population.systems[a], population.systems[b]) for a, b in zip(i.tolist(), j.tolist(), strict=True)]
    sizes = population.sizes.reshape(len(population.languages), -1).tolist()
    return {
        (code, *pair): n
        for code, of_language in zip(population.languages, sizes, strict=True)
        for pair, n in zip(names, of_language, strict=True)
        if n
    }


def _battles(population: Population, chosen: NDArray[np.bool_], seed: int) -> list[judge.OrderedPair]:
    """Return the chosen battles in the order of their cells, all cells in turn, so that those a budget leaves out are a
    random part of them.
    """
    ids = [(code, query) for code, queries in population.queries.items() for query in queries]
    i, j = np.triu_indices(len(population.systems), 1)
    at = np.flatnonzero(chosen)
    turn = np.random.default_rng(seed).permutation(population.n)[at]
    at = at[np.lexsort((turn, population.place[at] / population.sizes[population.cell[at]]))]
    return [
        judge.OrderedPair(ids[row][0], ids[row][1], population.systems[i[pair]], population.systems[j[pair]])
        for row, pair in zip(population.row[at].tolist(), population.pair[at].tolist(), strict=True)
    ]


def _paid(path: Path, by: JudgeRounds, battles: Sequence[judge.OrderedPair]) -> float:
    """Return the amount already paid for battles by an interrupted run. 0 without a budget."""
    if by.model is None or by.budget is None or not battles:
        return 0.0
    return price_battles(path, by.asked(BattleSample(battles=battles)), by.model).paid


def _ask(path: Path, by: JudgeRounds, sample: BattleSample, paid: float) -> tuple[store.Arena, int]:
    """JudgeRounds all battles chosen so far; cached replies are free. Return the number of verdicts not asked for."""
    if by.model is None:
        return judge_arena_by_features(path, sample=sample, made_by=by.made_by), 0
    model = by.model
    if by.budget is not None:
        model = replace(model, limits=replace(model.limits, budget=max(by.budget - paid, 0.0)))
    calls = llm.ArenaCalls(by.engine(model), model, by.made_by, by.progress)
    arena, result = judge_by_model(path, by.asked(sample), calls)
    return arena, result.unasked


def _affordable(
    path: Path, by: JudgeRounds, state: AdaptiveState, rounds: Sequence[RoundReport], possible: dict[judge.Cell, int]
) -> int:
    """Return the number of battles of the next round: an equal share of those left, or of the budget left."""
    left = state.settings.rounds - state.number
    n = -(-state.left // left)
    if by.budget is None or by.model is None:
        return n
    money = rounds[-1].money if rounds else None
    if rounds and money is not None:
        price, spent = money / rounds[-1].battles, money
    else:
        chosen = state.population.judged(state.choose(min(_PILOT, state.left)))
        pilot = BattleSample(battles=_battles(state.population, chosen, state.settings.seed), possible=possible)
        priced = price_battles(path, by.asked(pilot), by.model)
        price, spent = priced.most / int(chosen.sum()), 0.0
        if rounds:
            # The service counts no tokens: every battle so far may have cost the maximum.
            spent = price * rounds[-1].battles
    return n if price <= 0 else min(n, int((by.budget - spent) / left / price))


def _points(arena: store.Arena, name: str, population: Population) -> tuple[pa.Table, Array]:
    """Return the rows of a judge, and the points of the population's battles."""
    import pyarrow.compute as pc

    table = arena.read("judgments", columns=[*COLUMNS, "call"], languages=_present(arena, population))
    table = table.filter(pc.equal(table["judge"], name))
    if not len(table):
        raise NotEnoughData("no battle has a verdict", do="check that the service responds, then rerun the command")
    return table, points_of(population, verdicts(table, judge=name, unread=True))


def _present(arena: store.Arena, population: Population) -> list[str]:
    return [code for code in population.languages if code in arena.languages("judgments")]


def _spending(
    path: Path, by: JudgeRounds, table: pa.Table, population: Population
) -> tuple[float | None, Array | None]:
    """Return the cost of the calls behind verdicts, and the mean cost of a call by pair of systems; None without prices
    or counted tokens. A pair's cost is the sum of two systems' parts, by least squares.
    """
    if by.model is None or by.model.limits.cost(0, 0) is None:
        return None, None
    limits, of_call = by.model.limits, dict[str, float]()
    with store.kept_ledger(path) as ledger:
        for call in table["call"].unique().drop_null().to_pylist() if ledger is not None else ():
            reply = ledger.get(call) if ledger is not None else None
            if reply is not None and reply["tokens_in"] is not None:
                cost = limits.cost(reply["tokens_in"], reply["tokens_out"] or 0) or 0.0
                of_call[call] = price_share(reply) * cost
    total = sum(of_call.values())
    if not total:
        return None, None
    number = {system: k for k, system in enumerate(population.systems)}
    names = zip(*(table[name].to_pylist() for name in ("system_a", "system_b", "call")), strict=True)
    known = [(number[a], number[b], of_call[call]) for a, b, call in names if call in of_call]
    first, second, money = (np.array(column) for column in zip(*known, strict=True))
    s = len(number)
    met = np.zeros((s, s))
    np.add.at(met, (first, second), 1.0)
    met += met.T
    met[np.diag_indices(s)] = met.sum(axis=1)
    part = np.linalg.lstsq(met, np.bincount(first, money, s) + np.bincount(second, money, s), rcond=None)[0]
    i, j = np.triu_indices(s, 1)
    return total, np.maximum(part[i] + part[j], _CHEAPEST * money.mean())


def _report(state: AdaptiveState, money: float | None) -> RoundReport:
    return RoundReport(
        state.number,
        state.settings.rounds,
        int(state.counts.sum()),
        state.population.n,
        int(state.separated.sum()),
        int(state.open.sum()),
        state.population.pairs,
        state.widest,
        money,
    )


def _why(state: AdaptiveState) -> str:
    """Return why a design that is done has stopped."""
    goal = state.settings.goal
    if not state.reached:
        return "every battle is judged" if not state.left else f"all {state.settings.rounds} rounds are finished"
    if goal.kind == "width":
        return f"every interval is at most {goal.width:g} logits wide"
    n, of = int((state.relevant & state.separated).sum()), int(state.relevant.sum())
    if n == of:
        best = "the best system is" if goal.top == 1 else f"the {goal.top} best systems are"
        return (
            f"all {of} pairs of systems are separated"
            if goal.kind == "separated"
            else f"{best} separated from all others"
        )
    what = "pairs of systems" if goal.kind == "separated" else f"pairs of one of the {goal.top} best with another"
    return f"{n} of {of} {what} are separated, and judging every battle would not separate the others"


def rating_rows(state: AdaptiveState) -> list[dict[str, object]]:
    """Return the systems over all languages, the best first, with intervals and the number of judged battles."""
    rated = state.rated
    if rated is None:
        return []
    (low, high), (rank_low, rank_high) = rated.interval(), state.rank_ranges
    i, j = np.triu_indices(len(rated.systems), 1)
    of_pair = rated.counts.reshape(-1, len(i)).sum(axis=0)
    battles = np.bincount(i, of_pair, len(rated.systems)) + np.bincount(j, of_pair, len(rated.systems))
    return [
        {
            "rank": rank,
            "system": rated.systems[k],
            "rating": float(rated.theta[k]),
            "low": float(low[k]),
            "high": float(high[k]),
            "rank_low": int(rank_low[k]),
            "rank_high": int(rank_high[k]),
            "n_battles": int(battles[k]),
        }
        for rank, k in enumerate(np.argsort(-rated.theta, kind="stable").tolist(), 1)
    ]
