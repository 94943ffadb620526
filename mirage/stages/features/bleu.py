"""Sentence BLEU, equal to sacreBLEU's with exponential smoothing and effective order.

Sources: Papineni et al. 2002; Post 2018 (sacreBLEU 2, tokenizers `char`, `intl` and `zh`); Chen and Cherry 2014, method
3. The tests compare every tokenizer and the score with sacreBLEU itself.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, Literal

Tokenizer = Literal["char", "intl", "zh"]
"""Characters; words of any script with punctuation separated; Chinese characters and words between them."""

ORDERS = 4
"""BLEU compares n-grams up to this order."""

# The first range is sacreBLEU's: it writes the ideographs from U+20000 on with four digits, so its range begins at
# U+2001 and ends at U+2A6D. Scores must be comparable with published ones, so it stays.
_CHINESE = re.compile(
    "([\u2001-\u2a6d\u2e80-\u2fdf\u2ff0-\u303f\u3100-\u312f\u31a0-\u31bf\u31c0-\u31ef\u3200-\u33ff\u3400-\u4db5"
    "\u4e00-\u9fbb\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef])"
)
_ASCII_RULES = (
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
"""Rules of mteval-v13a: separate punctuation, but not the point or comma within a number."""


@cache
def _international_rules() -> tuple[tuple[Any, str], ...]:
    """Return the rules of mteval-v14: separate punctuation that is not between digits, and symbols."""
    import regex

    return (
        (regex.compile(r"(\P{N})(\p{P})"), r"\1 \2 "),
        (regex.compile(r"(\p{P})(\P{N})"), r" \1 \2"),
        (regex.compile(r"(\p{S})"), r" \1 "),
    )


def _words(text: str, rules: Sequence[tuple[Any, str]]) -> list[str]:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text.split()


_TOKENIZERS: dict[Tokenizer, Callable[[str], list[str]]] = {
    "char": lambda text: [letter for letter in text if not letter.isspace()],
    "intl": lambda text: _words(text, _international_rules()),
    "zh": lambda text: _words(_CHINESE.sub(r" \1 ", text.strip()), _ASCII_RULES),
}


def tokens(text: str, tokenizer: Tokenizer) -> list[str]:
    """Split a text as sacreBLEU's tokenizer of this name does."""
    return _TOKENIZERS[tokenizer](text.rstrip())


def _ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    """Count the n-grams of tokens."""
    return Counter(zip(*[words[start:] for start in range(order)], strict=False))


# Answers to a query are consecutive and share one reference, so cache only one: an answer may
# have a million words.
@lru_cache(maxsize=1)
def _reference(text: str, tokenizer: Tokenizer) -> tuple[int, list[Counter[tuple[str, ...]]]]:
    """Return the number of tokens of a reference, and its n-grams of each order."""
    words = tokens(text, tokenizer)
    return len(words), [_ngrams(words, order) for order in range(1, ORDERS + 1)]


def sentence_bleu(answer: str, reference: str, tokenizer: Tokenizer) -> float:
    """Return the BLEU of an answer against one reference: float in [0, 1].

    An order without a shared n-gram counts half of what the order before it would with one (exponential smoothing), and
    orders longer than the answer do not count, so a short answer equal to its reference scores 1.
    """
    words = tokens(answer, tokenizer)
    reference_length, counted = _reference(reference, tokenizer)
    logs: list[float] = []
    halvings = 0
    for order, other in enumerate(counted[: len(words)], 1):
        own = _ngrams(words, order)
        both = own.keys() & other.keys()
        if not both and order == 1:
            return 0.0  # without a shared word there are no longer n-grams either
        shared = sum(map(min, map(own.__getitem__, both), map(other.__getitem__, both)))
        halvings += not shared
        # Percent, as sacreBLEU computes it: its scores are reproduced to the last bit.
        total = len(words) - order + 1
        logs.append(math.log(100.0 * shared / total if shared else 100.0 / (2.0**halvings * total)))
    if not logs:
        return 0.0
    brevity = math.exp(1 - reference_length / len(words)) if len(words) < reference_length else 1.0
    return min(brevity * math.exp(sum(logs) / len(logs)) / 100, 1.0)
