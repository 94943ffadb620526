"""Test sets from a corpus: questions by a model, some made unanswerable by removing the passages that answer them.

`questions.py` has a model write a question from a passage and rejects unfit questions, `checks.py` finds every passage
that answers, and `stage.py` draws the questions that become unanswerable and writes the arena.
"""
