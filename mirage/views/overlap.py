"""Shared word runs of two answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from mirage.text.segmentation import Span, word_spans
from mirage.views.query import AnswerView

RUN = 3
"""Minimum length in words of a shared run."""
WORDS = 2_000
"""Maximum words of an answer to compare, to limit the time."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Spans of one of two answers: shared with the other answer, and not shared."""

    shared: tuple[Span, ...]
    """Spans shared with the other answer, in characters of the raw answer."""
    own: tuple[Span, ...]
    """Spans not shared. Whitespace and punctuation are in neither."""
    words: int
    """Number of words in the answer; a citation counts as one."""
    words_shared: int


def shared_words(first: AnswerView, second: AnswerView) -> tuple[Parts, Parts] | None:
    """Find the words that two answers share, in the same order; None if an answer has no text or more than `WORDS`
    words. Words are those of `mirage.text.segmentation`, ignoring case. A citation counts as one word, equal to
    citations of the same passages.
    """
    left, right = _tokens(first), _tokens(second)
    if not left or not right or max(len(left), len(right)) > WORDS:
        return None
    # Without autojunk, which would drop "the" and every run around it.
    matcher = SequenceMatcher(None, [form for _, form in left], [form for _, form in right], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size >= RUN]
    return (
        _parts(left, [(block.a, block.size) for block in blocks]),
        _parts(right, [(block.b, block.size) for block in blocks]),
    )


def overlap_text(parts: tuple[Parts, Parts] | None) -> str:
    """Return in words how much of two answers is shared, and how it is marked (`shared_words`)."""
    if parts is None:
        return "No word-by-word comparison: one answer has no text or is too long."
    first, second = parts
    if not first.words_shared:
        return "The answers share no run of three words."
    return (
        f"{first.words_shared:,} shared words in runs of three or more: {first.words_shared / first.words:.0%} of the "
        f"first answer, {second.words_shared / second.words:.0%} of the second. Shared text is muted, differences are "
        "underlined."
    )


def _tokens(answer: AnswerView) -> list[tuple[Span, str]]:
    """Return words and citations in order, each with its normalised form."""
    text = answer.text or ""
    cited: dict[Span, list[str]] = {}
    for citation in answer.citations:
        cited.setdefault((citation.start, citation.end), []).append(citation.passage_id or text[citation.start :][:9])
    # Words contain no whitespace, so a word never equals a citation.
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
