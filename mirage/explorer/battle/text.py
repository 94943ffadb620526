"""Why a battle went as it went, in a sentence."""

from __future__ import annotations

from mirage.battles.decision import Decision
from mirage.battles.referee import Referee
from mirage.explorer.answers.data import AnswerView
from mirage.explorer.battle.data import BattleView, FeatureComparison

MOST = 2
"""Features that a sentence names."""
ACTS = {
    ("relevant", True): "answers where a passage is relevant",
    ("relevant", False): "abstains although a passage is relevant",
    ("non_relevant", True): "abstains where no passage is relevant",
    ("non_relevant", False): "answers although no passage is relevant",
}
"""What a system does, by the subset of the query and whether that is right."""


def conclusion(battle: BattleView, referee: str) -> str:
    """Who beat whom on this query, and why: by relevance labels what each of the two does, by a judge which features
    speak for the better; empty where nobody has decided.

    Args:
        battle: the battle.
        referee: who decides; empty for nobody.
    """
    if not referee:
        return ""
    if Referee.from_name(referee).by_labels:
        return _by_labels(battle)
    return _by_judge(battle, battle.decision(referee), referee)


def _by_labels(battle: BattleView) -> str:
    first, second = battle.first, battle.second
    right = [answer.correct is True for answer in (first, second)]
    acts = [_act(battle.query.subset, answer) for answer in (first, second)]
    if right[0] == right[1]:
        if acts[0] == acts[1]:
            return f"A tie on this query: {first.system} and {second.system} do the same, each {acts[0]}."
        return f"A tie on this query: {first.system} {acts[0]}, and {second.system} {acts[1]}."
    winner, loser = (0, 1) if right[0] else (1, 0)
    names = (first.system, second.system)
    return f"{names[winner]} beats {names[loser]} on this query: it {acts[winner]}, while {names[loser]} {acts[loser]}."


def _act(subset: str | None, answer: AnswerView) -> str:
    if answer.correct is None:
        return "neither answers nor abstains readably"
    return ACTS.get((subset or "", answer.correct), "is right" if answer.correct else "is wrong")


def _by_judge(battle: BattleView, decision: Decision, judge: str) -> str:
    if decision.winner not in ("first", "second"):
        return ""
    winner, loser = battle.first.system, battle.second.system
    if decision.winner == "second":
        winner, loser = loser, winner
    orders = " in both orders of the answers" if decision.n_verdicts > 1 and decision.consistent else ""
    reasons = sorted(
        (compared for compared in battle.compared if compared.better == decision.winner), key=_gap, reverse=True
    )[:MOST]
    words = [_reason(compared, first=decision.winner == "first") for compared in reasons]
    because = f"; of the features {' and '.join(words)} speak{'s' if len(words) == 1 else ''} for it" if words else ""
    return f"{winner} beats {loser} on this query by {judge}{orders}{because}."


def _gap(compared: FeatureComparison) -> float:
    """How far apart the two values are, as a share of the scale."""
    return abs(compared.first - compared.second) / (compared.high - compared.low)


def _reason(compared: FeatureComparison, *, first: bool) -> str:
    values = (compared.first, compared.second) if first else (compared.second, compared.first)
    return f"{compared.measure.title} ({values[0]:.3g} against {values[1]:.3g})"
