"""Pairwise verdicts on answers: choosing pairs, prompting a judge, parsing its replies, and measuring its consistency.

    battles = choose_pairs(answers, queries=100, among=judgeable(queries, passages))
    prompts = Prompts(battles, queries, passages, answers)
    replies = llm.ask(prompts, model, ledger)
    judgments = read_verdicts(battles, prompts, replies, judge="gpt-4o", criterion=load_criterion())
    judge_stats(judgments, ledger)              # flips, position bias, ties, unparsed, tokens by judge and language

`pairs.py` chooses pairs, `prompt.py` and `prompts/judge.txt` render the prompt, `verdict.py` parses the reply,
`stats.py` computes judge statistics,
`family.py` tests for self-preference. `criteria.py` has the criteria and reads rubrics. `heuristic.py` is a judge
without a model: a weighted sum of features. `stage.py` judges the battles of an arena.
"""

from mirage.schema import OVERALL
from mirage.stages.judge.criteria import BUNDLED, PLANTED, Criterion, load_criterion
from mirage.stages.judge.family import FamilyPreference, family_preferences
from mirage.stages.judge.heuristic import HEURISTIC, MARGIN, WEIGHTS, Weight, judge_by_features
from mirage.stages.judge.pairs import (
    Cell,
    OrderedPair,
    add_inclusion,
    answering_systems,
    choose_known,
    choose_pairs,
    listed_pairs,
)
from mirage.stages.judge.prompt import Plant, PromptPassage, Prompts, ShownTexts, judgeable, render_battle
from mirage.stages.judge.stats import JudgeStats, judge_stats
from mirage.stages.judge.verdict import ParsedVerdict, parse_verdict, read_verdicts

__all__ = [
    "BUNDLED",
    "HEURISTIC",
    "MARGIN",
    "OVERALL",
    "PLANTED",
    "WEIGHTS",
    "Cell",
    "Criterion",
    "FamilyPreference",
    "JudgeStats",
    "OrderedPair",
    "ParsedVerdict",
    "Plant",
    "PromptPassage",
    "Prompts",
    "ShownTexts",
    "Weight",
    "add_inclusion",
    "answering_systems",
    "choose_known",
    "choose_pairs",
    "family_preferences",
    "judge_by_features",
    "judge_stats",
    "judgeable",
    "listed_pairs",
    "load_criterion",
    "parse_verdict",
    "read_verdicts",
    "render_battle",
]
