"""Test sets from a corpus: questions by a model, some made unanswerable by removing the passages that answer them.

`coverage.py` chooses passages that cover the corpus, `questions.py` has a model write questions from them and rejects
unfit questions, `checks.py` finds every passage that answers, `twins.py` decides which questions become unanswerable
and which passages to remove, and `stage.py` runs all steps and writes the arena.
"""
