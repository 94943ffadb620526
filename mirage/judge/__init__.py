"""Verdicts on pairs of answers: which pairs, what the judge is asked, what its reply says, and how far to trust it.

    battles = choose(answers, queries=100, among=judgeable(queries, passages))
    judged = ask(battles, Prompts(battles, queries, passages, answers), judge="gpt-4o", ...)
    judge_stats(judged.judgments, ledger)       # flips, position, ties, unparsed, tokens, a judge and language

`pairs.py` chooses, `prompt.py` and `prompts/judge.txt` are what it is asked, `verdict.py` reads the reply, `model.py`
puts the battles to a model, `stats.py` counts, `family.py` looks for a preference for the judge's own maker.
`heuristic.py` is a judge without a model: it weighs the features. `stage.py` judges the battles of an arena.
"""

from mirage.judge.family import FamilyPreference, family_preferences
from mirage.judge.heuristic import HEURISTIC, MARGIN, WEIGHTS, Weight, judge_by_features
from mirage.judge.model import Engine, JudgeResult, ask
from mirage.judge.pairs import OrderedPair, choose_known, choose_pairs, listed
from mirage.judge.prompt import PromptPassage, Prompts, ShownTexts, judgeable, render_battle
from mirage.judge.stats import JudgeStats, judge_stats
from mirage.judge.verdict import ParsedVerdict, parse_verdict

__all__ = [
    "HEURISTIC",
    "MARGIN",
    "WEIGHTS",
    "Engine",
    "FamilyPreference",
    "JudgeResult",
    "JudgeStats",
    "OrderedPair",
    "ParsedVerdict",
    "PromptPassage",
    "Prompts",
    "ShownTexts",
    "Weight",
    "ask",
    "choose_known",
    "choose_pairs",
    "family_preferences",
    "judge_by_features",
    "judge_stats",
    "judgeable",
    "listed",
    "parse_verdict",
    "render_battle",
]
