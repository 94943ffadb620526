"""Near-duplicates: planted copies are found in every script, and the sparse search finds what a plain one does."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_cases import TWO_SENTENCES

from mirage.text.duplicates import close_vectors, near_duplicates
from mirage.text.segmentation import words


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


@pytest.mark.parametrize(
    ("alphabet", "spaced"),
    [
        ("abdeghiklmnostuwyz", True),
        ("অআকখগঘচছজতথদনপবমযরলশসহািীুে", True),
        ("ابتجحدرسعفقكلمنهوي", True),
        ("абвгдежзиклмнопрстуя", True),
        ("桥市北建年人水山東大学国中小高新地方生日", False),
        ("กขคงจชดตถทนบปผพมยรลวสหอา", False),
    ],
    ids=["latin", "bengali", "arabic", "cyrillic", "han", "thai"],
)
def test_copies_and_reorderings_are_found_and_nothing_else(alphabet: str, spaced: bool) -> None:
    originals = passages(60, alphabet=alphabet, spaced=spaced)
    draw = np.random.default_rng(11)
    copies = ["".join(sentences) for sentences in originals]
    reordered = ["".join(draw.permutation(sentences)) for sentences in originals]
    cut = ["".join(sentences[:-1]) if len(sentences) > 4 else "".join(sentences) for sentences in originals]
    noisy = [copy.upper().replace(" ", "  ") for copy in copies]
    for planted in (copies, reordered, cut, noisy):
        n = len(copies)
        pairs = [(one, other - n) for one, other, _ in near_duplicates([*copies, *planted])]
        missed = set(range(n)) - {one for one, other in pairs if one == other}
        assert len(missed) <= n // 100
        assert all(one == other for one, other in pairs)


@pytest.mark.parametrize("code", TWO_SENTENCES)
def test_two_sentences_in_another_order_are_the_same_text(code: str) -> None:
    first, second = TWO_SENTENCES[code]
    assert list(near_duplicates([f"{first} {second}", f"{second} {first}"])) == [(0, 1, 1.0)]


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(
        st.lists(
            st.sampled_from(["a b c d e.", "b c d e f g.", "a b.", "c d e f.", "桥在北。", "g h i j k l!"]), max_size=5
        ),
        min_size=2,
        max_size=9,
    ),
    threshold=st.sampled_from([0.1, 0.3, 0.5, 0.75, 1.0]),
)
def test_the_search_finds_what_comparing_every_pair_does(texts: list[list[str]], threshold: float) -> None:
    def grams(sentences: list[str]) -> set[tuple[str, ...]]:
        found = [words(sentence) for sentence in sentences]
        return {tuple(w[k : k + 5]) for w in found if w for k in range(max(1, len(w) - 4))}

    sets = [grams(sentences) for sentences in texts]
    similar = {
        (i, j): len(sets[i] & sets[j]) / len(sets[i] | sets[j])
        for i, j in combinations(range(len(sets)), 2)
        if sets[i] and sets[j]
    }
    expected = [(i, j, pytest.approx(value)) for (i, j), value in similar.items() if value >= threshold]
    joined = [" ".join(sentences) for sentences in texts]
    assert list(near_duplicates(joined, threshold=threshold)) == expected


def test_texts_without_words_are_duplicates_of_none() -> None:
    assert len(near_duplicates(["", "", "!!", "...", "one two"])) == 0
    assert len(near_duplicates([])) == len(near_duplicates(["", ""])) == 0


def test_texts_from_one_template_are_compared_in_blocks() -> None:
    texts = [
        f"The form has to be filled in before the first of May. Number {k} {k * 7} {k * 13} here and now."
        for k in range(400)
    ]
    pairs = near_duplicates(texts)
    assert len(pairs) == 400 * 399 // 2
    assert np.all(pairs.similarity >= 0.5)


def test_a_threshold_outside_its_range_is_refused() -> None:
    for threshold in (0, -1, 1.5):
        with pytest.raises(ValueError, match="threshold"):
            near_duplicates(["a"], threshold=threshold)


def test_vectors_are_close_from_the_threshold_on() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 0.0]])
    others = np.array([[2.0, 0.0], [0.95, np.sqrt(1 - 0.95**2)], [0.8, 0.6], [0.0, 0.0], [-1.0, 0.0]])
    pairs = close_vectors(vectors, others)
    assert [(one, other) for one, other, _ in pairs] == [(0, 0), (0, 1)]
    assert pairs.similarity == pytest.approx([1, 0.95], abs=1e-6)
