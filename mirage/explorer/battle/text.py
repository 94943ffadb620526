"""Sentences on the result of a battle and its reasons."""

from __future__ import annotations

from mirage.battles.decision import Decision
from mirage.battles.judge import Judge
from mirage.explorer.answers.data import AnswerView
from mirage.explorer.battle.data import BattleView, FeatureComparison

MOST = 2
"""Maximum number of features named in a sentence."""
ACTS = {
    ("relevant", True): "answers correctly (a passage is relevant)",
    ("relevant", False): "abstains although a passage is relevant",
    ("non_relevant", True): "abstains correctly (no passage is relevant)",
    ("non_relevant", False): "answers although no passage is relevant",
}
"""What a system does, by the subset of the query and whether that is the correct decision."""


def conclusion(battle: BattleView, judge: Judge | None) -> str:
    """Return the result of a battle and its reason, in a sentence; empty without a decision.

    Args:
        battle: the battle.
        judge: the judge; None without one.
    """
    if judge is None:
        return ""
    if judge.by_labels:
        return _by_labels(battle)
    return _by_judge(battle, battle.decision(judge.name), judge)


def _by_labels(battle: BattleView) -> str:
    first, second = battle.first, battle.second
    right = [answer.correct is True for answer in (first, second)]
    acts = [_act(battle.query.subset, answer) for answer in (first, second)]
    if right[0] == right[1]:
        if acts[0] == acts[1]:
            return f"Tie: {first.system} {acts[0]}; so does {second.system}."
        return f"Tie: {first.system} {acts[0]}; {second.system} {acts[1]}."
    winner, loser = (0, 1) if right[0] else (1, 0)
    names = (first.system, second.system)
    return f"{names[winner]} wins: it {acts[winner]}; {names[loser]} {acts[loser]}."


def _act(subset: str | None, answer: AnswerView) -> str:
    if answer.correct is None:
        return "gives no parsable answer"
    return ACTS.get((subset or "", answer.correct), "decides correctly" if answer.correct else "decides wrongly")


def _by_judge(battle: BattleView, decision: Decision, judge: Judge) -> str:
    if decision.winner not in ("first", "second"):
        return ""
    winner, loser = battle.first.system, battle.second.system
    if decision.winner == "second":
        winner, loser = loser, winner
    orders = " in both orders" if decision.n_verdicts > 1 and decision.consistent else ""
    reasons = sorted(
        (compared for compared in battle.compared if compared.better == decision.winner), key=_gap, reverse=True
    )[:MOST]
    words = [_reason(compared, first=decision.winner == "first") for compared in reasons]
    because = f", with better {' and '.join(words)}" if words else ""
    if judge.kind == "nuggets":
        return f"{winner} beats {loser} by nuggets: it states more of the vital nuggets in full."
    return f"{judge.name} prefers {winner} to {loser}{orders}{because}."


def _gap(compared: FeatureComparison) -> float:
    """Return the distance of two values as a share of the scale."""
    return abs(compared.first - compared.second) / (compared.high - compared.low)


def _reason(compared: FeatureComparison, *, first: bool) -> str:
    values = (compared.first, compared.second) if first else (compared.second, compared.first)
    return f"{compared.measure.title} ({values[0]:.3g} vs. {values[1]:.3g})"
