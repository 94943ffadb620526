"""Outcomes of answers, and rates of outcomes.

An answer says that the passages have the answer (or gives it), that they do not, or it is unparsed. The prompt
determines the rules. A reply to a prompt of NoMIRACL is parsed by `published.py` by the rules of the NoMIRACL program
and by `strict.py` by corrected rules (with `formulas.py` and `direct.py`, on text folded by `fold.py`); any other
answer by `free.py`, on text split by `sentences.py`. Both use the vocabularies of `vocabulary.py`, one file a language.
`parsed.py` lists the rules. `tables.py` applies them to an arena and compares the parsers;
`rates.py` computes rates, also of several answers to a query, `templates.py` by prompt, `confusion.py` as confusion
matrices, and `corrected.py` corrects them for the label errors that an audit finds.
"""
