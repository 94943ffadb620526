"""Near-duplicates among texts: Jaccard similarity of word n-grams."""

from __future__ import annotations

import re
from collections.abc import Set

from mirage.text.segmentation import words

Grams = Set[tuple[str, ...]]
"""N-grams of a text."""
# A sentence end mark of any script, but a full stop only before a space, so that 3.5 is not split; in Thai and Lao,
# which have no end marks, a space between two letters.
_END = re.compile(r"[!?。！？।॥؟۔።။༎\n]+|[.…]+(?=\s|$)|(?<=[\u0e00-\u0eff])\s+(?=[\u0e00-\u0eff])")


def word_grams(text: str, n: int) -> Grams:
    """Return the n-grams of a text's words; a character is a word in scripts without spaces.

    N-grams do not cross sentence ends, so reordering sentences does not change them. A shorter sentence is one n-gram.
    """
    found = [words(sentence) for sentence in _END.split(text)]
    return {tuple(each[k : k + n]) for each in found if each for k in range(max(1, len(each) - n + 1))}


def jaccard(first: Grams, second: Grams) -> float:
    """Return the Jaccard similarity of two texts' n-grams, in [0, 1]; 0 if one has none."""
    common = len(first & second)
    return common / (len(first) + len(second) - common) if common else 0.0
