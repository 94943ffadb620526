"""An answer prepared for planting faults: sentences, citations, key sentences, and replacement texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from mirage.stages.judge.faults.negation import is_statement
from mirage.text.answers import Citation, blank_citations, citations, parse_answer
from mirage.text.segmentation import sentences, terms

WITHIN = 0.1
"""Maximum relative change in an answer's length, except by the padding fault."""
_MATCH = 0.6
"""Share of a fact's terms that a sentence must contain to state it."""
Edit = tuple[int, int, str]
"""Start and end (exclusive) of a piece of the answer, and the text that replaces it."""


@dataclass(frozen=True)
class FaultPassage:
    """A passage to take sentences from."""

    passage_id: str
    """Its id."""
    text: str
    """Its text."""


@dataclass(frozen=True)
class AnswerToChange:
    """An answer with the inputs of the fault families."""

    language: str
    """Code of its language."""
    text: str
    """The answer."""
    system: str
    """Its system."""
    query_id: str
    """Its query."""
    passages: tuple[FaultPassage, ...]
    """The passages shown to its system that have a text, in order."""
    passage_ids: tuple[str, ...]
    """Ids of all passages shown to its system, in order."""
    numbered: bool
    """Whether the prompt numbered its passages."""
    facts: tuple[str, ...] = ()
    """Vital facts that the answer is known to state."""
    foreign: tuple[str, ...] = ()
    """Sentences from passages of other queries in the same language."""
    translations: tuple[str, ...] = ()
    """Answers in other languages, starting with those to the parallel query."""

    @cached_property
    def citations(self) -> tuple[Citation, ...]:
        """Citations of passages that were shown."""
        return tuple(c for c in citations(self.text, self.passage_ids, numbered=self.numbered) if c.known)

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Spans of the sentences, without headings; citations inside a span are part of it."""
        blank = blank_citations(self.text, self.citations)
        parts = parse_answer(self.text)
        spans: list[tuple[int, int]] = []
        for part in sorted(filter(None, (parts.preamble_span, parts.reason_span, parts.answer_span))):
            start, end = part
            spans += [(start + a, start + b) for a, b in sentences(blank[start:end], self.language)]
        return tuple(span for span in spans if any(map(str.isalnum, self.words(span))))

    def words(self, span: tuple[int, int]) -> str:
        """Return the text of a sentence without its citations."""
        start, end = span
        inside = [c for c in self.citations if start <= c.start and c.end <= end]
        blank = blank_citations(self.text, inside)[start:end]
        return " ".join(blank.split()) if inside else blank

    def cited_after(self, k: int) -> tuple[Citation, ...]:
        """Return the citations in a sentence, or between it and the next."""
        start = self.sentences[k][0]
        end = self.sentences[k + 1][0] if k + 1 < len(self.sentences) else len(self.text)
        return tuple(c for c in self.citations if start <= c.start < end)

    @cached_property
    def key(self) -> tuple[int, ...]:
        """Indices of the sentences that state a vital fact; without facts, of a cited sentence and its repetitions."""
        for fact in self.facts:
            if stating := [k for k, span in enumerate(self.sentences) if states(self.words(span), fact)]:
                return tuple(stating)
        cited = [k for k in range(len(self.sentences)) if self.cited_after(k)]
        if not cited:
            return ()
        text = self.words(self.sentences[cited[-1]])
        return tuple(k for k, span in enumerate(self.sentences) if self.words(span) == text)

    @property
    def by_fact(self) -> bool:
        """True if the key sentences state a known vital fact."""
        return any(states(self.words(self.sentences[k]), fact) for k in self.key for fact in self.facts)

    def fits(self, text: str) -> bool:
        """Return whether a changed answer has about the same length."""
        return abs(len(text) - len(self.text)) <= WITHIN * len(self.text)

    def change(self, edits: Iterable[Edit]) -> str:
        """Return the answer with some pieces replaced."""
        text = self.text
        for start, end, new in sorted(set(edits), reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def replace_sentence(self, k: int, new: str) -> Edit:
        """Return the edit that replaces a sentence and the citations inside it."""
        start, end = self.sentences[k]
        inside = [c for c in self.citations if start <= c.start and c.end <= end]
        kept = "".join(f" {self.text[a:b]}" for a, b in sorted({(c.start, c.end) for c in inside}))
        return start, end, new + kept

    def cite(self, mention: Citation, passage_id: str) -> Edit:
        """Return the edit that makes a citation point to another passage that was shown, in the same form."""
        written = self.text[mention.start : mention.end]
        if mention.label == mention.passage_id:
            new = passage_id
        else:
            new = _in_script_of(str(self.passage_ids.index(passage_id) + 1), mention.label)
        return mention.start, mention.end, written.replace(mention.label, new, 1)


def states(sentence: str, fact: str) -> bool:
    """Return whether a sentence contains most terms of a fact."""
    wanted = terms_of(fact)
    return bool(wanted) and len(wanted & terms_of(sentence)) >= _MATCH * len(wanted)


@lru_cache(maxsize=20_000)
def terms_of(text: str) -> frozenset[str]:
    """Return the distinct terms of a text."""
    return frozenset(terms(text))


def sentences_of(passages: Sequence[FaultPassage], language: str) -> dict[str, str]:
    """Return the statements in passages with the id of their passage, in order."""
    found: dict[str, str] = {}
    for passage in passages:
        for start, end in sentences(passage.text, language):
            if is_statement(passage.text[start:end], language):
                found.setdefault(passage.text[start:end], passage.passage_id)
    return found


def closest(lengths: Mapping[str, int] | Iterable[str], target: int) -> list[str]:
    """Sort texts by the distance of their length from a target, then by text."""
    return sorted(lengths, key=lambda text: (abs(len(text) - target), text))


def _in_script_of(number: str, example: str) -> str:
    """Write a number in the digits of an example."""
    import unicodedata

    first = next((character for character in example if character.isdecimal()), "0")
    zero = ord(first) - unicodedata.decimal(first)
    return "".join(chr(zero + int(digit)) for digit in number)
