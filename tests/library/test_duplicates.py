"""Near-duplicates: copies and reorderings share their n-grams in every script, other texts do not."""

import numpy as np
import pytest
from golden.cases import read_table
from text_cases import TWO_SENTENCES

from mirage.stages.testset.questions import jaccard, word_grams


def similarity(first: str, second: str) -> float:
    return jaccard(word_grams(first, 5), word_grams(second, 5))


def passages(n: int, *, alphabet: str, spaced: bool, seed: int = 5) -> list[list[str]]:
    """Return texts as lists of sentences of random words, or of random characters without spaces."""
    draw = np.random.default_rng(seed)
    letters = np.array(list(alphabet))
    vocabulary = ["".join(draw.choice(letters, size=draw.integers(3, 9))) for _ in range(1_000)]
    chances = 1 / np.arange(1, len(vocabulary) + 1)
    chances /= chances.sum()
    gap, end = (" ", ". ") if spaced else ("", "。")
    return [
        [
            gap.join(draw.choice(vocabulary, size=draw.integers(6, 16), p=chances)) + end
            for _ in range(draw.integers(3, 8))
        ]
        for _ in range(n)
    ]


@pytest.mark.parametrize(*read_table("duplicates"))
def test_copies_and_reorderings_are_found_and_nothing_else(alphabet: str, spaced: bool) -> None:
    originals = passages(60, alphabet=alphabet, spaced=spaced)
    draw = np.random.default_rng(11)
    copies = ["".join(sentences) for sentences in originals]
    reordered = ["".join(draw.permutation(sentences)) for sentences in originals]
    cut = ["".join(sentences[:-1]) if len(sentences) > 4 else "".join(sentences) for sentences in originals]
    noisy = [copy.upper().replace(" ", "  ") for copy in copies]
    for planted in (copies, reordered, cut, noisy):
        assert all(similarity(*pair) >= 0.5 for pair in zip(copies, planted, strict=True))
        assert all(similarity(*pair) < 0.5 for pair in zip(copies, [*planted[1:], planted[0]], strict=True))


@pytest.mark.parametrize("code", TWO_SENTENCES)
def test_two_sentences_in_another_order_are_the_same_text(code: str) -> None:
    first, second = TWO_SENTENCES[code]
    assert similarity(f"{first} {second}", f"{second} {first}") == 1


def test_short_texts_are_one_gram_and_texts_without_words_resemble_none() -> None:
    assert word_grams("one two. three four!", 3) == {("one", "two"), ("three", "four")}
    assert jaccard(word_grams("a b c d", 2), word_grams("a b c e", 2)) == 0.5
    assert [similarity(text, text) for text in ("", "!!", "...")] == [0, 0, 0]
