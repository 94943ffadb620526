"""Test sets from a corpus: questions by a model, some of them unanswerable once what answers them is taken out.

`coverage.py` chooses passages that cover the corpus, `questions.py` has a model write questions from them and rejects
unfit ones, `checks.py` finds every passage that answers, `twins.py` decides which questions become unanswerable and
which passages leave the corpus, `stage.py` does it all and writes the arena.
"""
