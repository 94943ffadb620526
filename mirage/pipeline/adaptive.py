"""Judging an arena in rounds of random battles, until a goal or the budget.

A run that was interrupted is repeated from its first round: the order of the battles depends on names and the seed
only, and replies come from the ledger, so it reaches the same point without asking or paying twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mirage import llm, store
from mirage.battles.verdict_rows import from_judgments
from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.adaptive import AdaptiveSettings, AdaptiveState, random_order
from mirage.ranking.bootstrap import RankingReport, rate
from mirage.stages.judge.pairs import OrderedPair
from mirage.stages.judge.stage import (
    BattleSample,
    JudgePrice,
    JudgeSettings,
    judge_by_model,
    judgeable_systems,
    price_battles,
)

Watch = Callable[[AdaptiveState, float | None], None]
"""Called after each round with the state, and the cost of all verdicts so far, including cached replies; None without
prices.
"""

_PILOT = 200
"""Number of battles whose maximum price stands for all before the first round."""


@dataclass(frozen=True, eq=False)
class AdaptiveResult:
    """Result of judging in rounds."""

    arena: store.Arena
    """The arena with the verdicts."""
    state: AdaptiveState
    """The state after the last round, with the ranking."""
    reason: str
    """Why judging stopped."""
    left_out: tuple[str, ...]
    """Systems without answers in every language, which are not judged."""


def judge_adaptively(
    path: Path,
    asked: JudgeSettings,
    model: llm.ChatModel,
    settings: AdaptiveSettings,
    *,
    calls: Callable[[llm.ChatModel], llm.ArenaCalls],
    watch: Watch = lambda *_: None,
) -> AdaptiveResult:
    """Judge random battles of an arena in rounds until a goal is reached, the budget is spent, or no round is left.

    Args:
        path: the arena's folder.
        asked: the judge; of its sample only the languages count.
        model: the model. Without a budget its rounds share all battles, with one the budget.
        settings: goal, rounds and seed.
        calls: returns the calls of the model with what is left of its budget.
        watch: called after each round.

    Raises:
        BadInput: if the judge has verdicts that were chosen in another way, or the goal does not suit the systems.
        ArenaError: if the arena lacks a table.
        NotEnoughData: if there is nothing to judge, or the budget does not pay for a round.
        Unreachable: if the service ends the run.
    """
    answered = judgeable_systems(path, asked.sample.languages)
    if not answered:
        raise NotEnoughData("no query that can be judged has answers of two systems", do="add answers")
    _refuse_other_verdicts(path, asked.owner, sorted(answered))
    order = random_order(answered, seed=settings.seed)
    battles = [OrderedPair(*battle) for battle in order.battles]
    state, reason, money = AdaptiveState(settings, order.systems, len(battles)), "", None
    while not state.done and not reason:
        n = _affordable(path, asked, model, state, battles, money)
        if n < 1:
            reason = "the budget is spent"
            break
        chosen = replace(asked, sample=BattleSample(battles=battles[: state.judged + n], possible=order.possible))
        limits = model.limits
        if limits.budget is not None:
            limits = replace(limits, budget=max(limits.budget - _price(path, chosen, model).paid, 0.0))
        # All battles chosen so far; cached replies are free.
        arena, result = judge_by_model(path, chosen, calls(replace(model, limits=limits)))
        state = state.after(_rank(arena, asked.owner, sorted(answered)), state.judged + n)
        money = _price(path, chosen, model).paid or None
        watch(state, money)
        if result.unasked:
            reason = "the budget is spent"
    if not state.number:
        raise NotEnoughData(
            "the budget does not pay for a first round",
            do="raise --budget, or lower --max-tokens or the number of --rounds",
        )
    reason = _why(state) if state.reached or not reason else reason
    systems = {system for of_language in answered.values() for present in of_language.values() for system in present}
    return AdaptiveResult(arena, state, reason, tuple(sorted(systems - set(order.systems))))


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


def _price(path: Path, asked: JudgeSettings, model: llm.ChatModel) -> JudgePrice:
    """Return the cost of battles so far, including cached replies, and at most; 0 without prices."""
    if model.limits.budget is None and model.limits.cost(0, 0) is None:
        return JudgePrice(0.0, 0.0)
    return price_battles(path, asked, model)


def _affordable(
    path: Path,
    asked: JudgeSettings,
    model: llm.ChatModel,
    state: AdaptiveState,
    battles: Sequence[OrderedPair],
    spent: float | None,
) -> int:
    """Return the number of battles of the next round: an equal share of those left, or of the budget left."""
    left = state.settings.rounds - state.number
    n = -(-state.left // left)
    if (budget := model.limits.budget) is None:
        return n
    if spent is not None:
        price = spent / state.battles
    else:
        pilot = battles[state.judged : state.judged + _PILOT]
        price = _price(path, replace(asked, sample=BattleSample(battles=pilot)), model).most / len(pilot)
        # Where the service counts no tokens, every battle so far may have cost the maximum.
        spent = price * state.judged
    return n if price <= 0 else min(n, int((budget - spent) / left / price))


def _rank(arena: store.Arena, name: str, languages: Sequence[str]) -> RankingReport:
    """Return the ranking by a judge's verdicts in some languages."""
    import pyarrow.compute as pc

    table = arena.read("judgments", languages=[code for code in languages if code in arena.languages("judgments")])
    table = table.filter(pc.equal(table["judge"], name))
    if not len(table):
        raise NotEnoughData("no battle has a verdict", do="check that the service responds, then rerun the command")
    return rate(from_judgments(table, judge=name))


def _why(state: AdaptiveState) -> str:
    """Return why a design that is done has stopped."""
    if not state.reached:
        return "every battle is judged" if not state.left else f"all {state.settings.rounds} rounds are finished"
    top, n, of = state.settings.top, int((state.relevant & state.separated).sum()), int(state.relevant.sum())
    if n == of:
        best = "the best system is" if top == 1 else f"the {top} best systems are"
        return f"{best} separated from all others" if top else f"all {of} pairs of systems are separated"
    what = f"pairs of one of the {top} best with another" if top else "pairs of systems"
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
