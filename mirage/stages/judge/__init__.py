"""Pairwise verdicts on answers: choosing pairs, prompting a judge, parsing its replies, and measuring its consistency.

`pairs.py` chooses pairs, `prompt.py` and `prompts/judge.txt` render the prompt, `verdict.py` parses the reply,
`stats.py` computes judge statistics, `family.py` tests for self-preference. `criteria.py` has the criteria and reads
rubrics. `heuristic.py` is a judge without a model: a weighted sum of features. `stage.py` judges the battles of an
arena.
"""
