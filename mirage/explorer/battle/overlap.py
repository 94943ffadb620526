"""Shared word runs of two answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from mirage.text.segmentation import Span, word_spans

if TYPE_CHECKING:
    from mirage.explorer.answers.data import AnswerView

RUN = 3
"""Words that must follow each other in both for a stretch to count as shared."""
WORDS = 2_000
"""Words up to which answers are compared: beyond, it would take too long to wait for."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Stretches of one of two answers: shared with the other, and its own."""

    shared: tuple[Span, ...]
    """Stretches that the other has as well, in characters of the raw answer."""
    own: tuple[Span, ...]
    """Stretches that it has not. What is in neither is white space and punctuation."""
    words: int
    """Words of the answer; a citation is one."""
    words_shared: int


def shared_words(first: AnswerView, second: AnswerView) -> tuple[Parts, Parts] | None:
    """Find the words that two answers share, in the same order; None where one has no text or more than `WORDS` words.

    Words are those of `mirage.text.segmentation`, compared without regard to case; a citation counts as one word,
    which equals another that cites the same passages.
    """
    left, right = _tokens(first), _tokens(second)
    if not left or not right or max(len(left), len(right)) > WORDS:
        return None
    # The heuristic that leaves out frequent words would leave out "the" and with it every run around it.
    matcher = SequenceMatcher(None, [form for _, form in left], [form for _, form in right], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size >= RUN]
    return (
        _parts(left, [(block.a, block.size) for block in blocks]),
        _parts(right, [(block.b, block.size) for block in blocks]),
    )


def _tokens(answer: AnswerView) -> list[tuple[Span, str]]:
    """Words and citations in order, each with the form in which it is compared."""
    text = answer.text or ""
    cited: dict[Span, list[str]] = {}
    for citation in answer.citations:
        cited.setdefault((citation.start, citation.end), []).append(citation.passage_id or text[citation.start :][:9])
    # No word holds white space, so no word equals a citation.
    tokens = [(span, " ".join(("", *sorted(ids)))) for span, ids in cited.items()]
    cited_spans = sorted(cited)
    position = 0
    for span, form in word_spans(text):
        while position < len(cited_spans) and cited_spans[position][1] <= span[0]:
            position += 1
        if position == len(cited_spans) or span[1] <= cited_spans[position][0]:
            tokens.append((span, form))
    return sorted(tokens)


def _parts(tokens: Sequence[tuple[Span, str]], blocks: Sequence[Span]) -> Parts:
    shared, own = [], []
    position = 0
    for start, size in (*blocks, (len(tokens), 0)):
        if start > position:
            own.append((tokens[position][0][0], tokens[start - 1][0][1]))
        if size:
            shared.append((tokens[start][0][0], tokens[start + size - 1][0][1]))
        position = start + size
    return Parts(tuple(shared), tuple(own), len(tokens), sum(size for _, size in blocks))
