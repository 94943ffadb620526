"""Judging an arena in rounds of random battles, until a goal or the budget.

A run that was interrupted is repeated from its first round: the order of the battles depends on names and the seed
only, and replies come from the ledger, so it reaches the same point without asking or paying twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mirage import llm, store
from mirage.battles.verdict_rows import from_judgments
from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.adaptive import AdaptiveSettings, AdaptiveState, random_order
from mirage.ranking.bootstrap import RankingReport, rate
from mirage.stages import judge
from mirage.stages.judge.stage import (
    BattleSample,
    JudgePrice,
    JudgeSettings,
    answering_systems,
    judge_arena_by_features,
    judge_by_model,
    price_battles,
)

Watch = Callable[["RoundReport"], None]
"""Called after each round."""

_PILOT = 200
"""Number of battles whose maximum price stands for all before the first round."""


@dataclass(frozen=True, slots=True)
class RoundReport:
    """One finished round."""

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
    """Result of judging in rounds."""

    arena: store.Arena
    """The arena with the verdicts."""
    state: AdaptiveState
    """The state after the last round, with the ranking."""
    rounds: tuple[RoundReport, ...]
    """The finished rounds."""
    reason: str
    """Why judging stopped."""
    left_out: tuple[str, ...]
    """Systems without answers in every language, which are not judged."""


@dataclass(frozen=True)
class JudgeRounds:
    """A judge for judging in rounds."""

    name: str
    """Name of the judge, under which its verdicts are stored."""
    made_by: str
    """The command, for the manifest."""
    model: llm.ChatModel | None = None
    """The model; None for the heuristic judge."""
    criterion: judge.Criterion = field(default_factory=judge.load_criterion)
    """What the model decides by; of two answers, not points for one."""
    engine: Callable[[llm.ChatModel], llm.Engine] = llm.engine_of
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
    """Judge random battles of an arena in rounds until a goal is reached, the budget is spent, or no round is left.

    Args:
        path: the arena's folder.
        by: the judge; without a budget its rounds share all battles, with one the budget.
        settings: goal, rounds and seed.
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
    order = random_order(answered, seed=settings.seed)
    battles = [judge.OrderedPair(*battle) for battle in order.battles]
    state, rounds, reason = AdaptiveState(settings, order.systems, len(battles)), list[RoundReport](), ""
    while not state.done and not reason:
        n = _affordable(path, by, state, battles, rounds)
        if n < 1:
            reason = "the budget is spent"
            break
        sample = BattleSample(battles=battles[: state.judged + n], possible=order.possible)
        arena, unasked = _ask(path, by, sample)
        state = state.after(_rank(arena, by.owner, sorted(answered)), state.judged + n)
        rounds.append(_report(state, _price(path, by, battles[: state.judged]).paid or None))
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
    systems = {system for of_language in answered.values() for present in of_language.values() for system in present}
    return AdaptiveResult(arena, state, tuple(rounds), reason, tuple(sorted(systems - set(order.systems))))


def _refuse_other_verdicts(path: Path, name: str, languages: Sequence[str]) -> None:
    """Raise if a judge has verdicts in some languages whose battles were not chosen by rounds."""
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


def _price(path: Path, by: JudgeRounds, battles: Sequence[judge.OrderedPair]) -> JudgePrice:
    """Return the cost of battles so far, including cached replies, and at most; 0 without prices or a model."""
    if by.model is None or not battles or (by.budget is None and by.model.limits.cost(0, 0) is None):
        return JudgePrice(0.0, 0.0)
    return price_battles(path, by.asked(BattleSample(battles=battles)), by.model)


def _ask(path: Path, by: JudgeRounds, sample: BattleSample) -> tuple[store.Arena, int]:
    """Judge all battles chosen so far; cached replies are free. Return the number of verdicts not asked for."""
    if by.model is None:
        return judge_arena_by_features(path, sample=sample, made_by=by.made_by), 0
    model = by.model
    if by.budget is not None:
        paid = _price(path, by, sample.battles or ()).paid
        model = replace(model, limits=replace(model.limits, budget=max(by.budget - paid, 0.0)))
    calls = llm.ArenaCalls(by.engine(model), model, by.made_by, by.progress)
    arena, result = judge_by_model(path, by.asked(sample), calls)
    return arena, result.unasked


def _affordable(
    path: Path,
    by: JudgeRounds,
    state: AdaptiveState,
    battles: Sequence[judge.OrderedPair],
    rounds: Sequence[RoundReport],
) -> int:
    """Return the number of battles of the next round: an equal share of those left, or of the budget left."""
    left = state.settings.rounds - state.number
    n = -(-state.left // left)
    if by.budget is None or by.model is None:
        return n
    spent = rounds[-1].money if rounds else None
    if spent is not None:
        price = spent / rounds[-1].battles
    else:
        pilot = battles[state.judged : state.judged + _PILOT]
        price = _price(path, by, pilot).most / len(pilot)
        # Where the service counts no tokens, every battle so far may have cost the maximum.
        spent = price * state.judged
    return n if price <= 0 else min(n, int((by.budget - spent) / left / price))


def _rank(arena: store.Arena, name: str, languages: Sequence[str]) -> RankingReport:
    """Return the ranking by a judge's verdicts in some languages."""
    import pyarrow.compute as pc

    table = arena.read("judgments", languages=[code for code in languages if code in arena.languages("judgments")])
    table = table.filter(pc.equal(table["judge"], name))
    if not len(table):
        raise NotEnoughData("no battle has a verdict", do="check that the service responds, then rerun the command")
    return rate(from_judgments(table, judge=name))


def _report(state: AdaptiveState, money: float | None) -> RoundReport:
    return RoundReport(
        state.number,
        state.settings.rounds,
        0 if state.row is None else int(state.row.record.sum()) // 2,
        state.possible,
        int(state.separated.sum()),
        int(state.open.sum()),
        state.pairs,
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
    """Return the systems over all languages, the best first, with intervals and the number of judged battles; a null
    end where the data puts no bound. `rank_low` and `rank_high` are those that the tests of all rounds leave open.
    """
    if state.ranking is None:
        return []
    rank_low, rank_high = (dict(zip(state.systems, ends, strict=True)) for ends in state.rank_ranges.tolist())
    rows = sorted(state.ranking.table([*state.ranking.languages][-1]).to_pylist(), key=lambda row: -row["rating"])
    return [
        {"rank": rank, "system": row["system"], "rating": row["rating"], "low": row["low"], "high": row["high"]}
        | {"rank_low": rank_low[row["system"]], "rank_high": rank_high[row["system"]], "n_battles": row["battles"]}
        for rank, row in enumerate(rows, 1)
    ]
