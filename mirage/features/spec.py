"""What a feature is, and what it is measured on and with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

from mirage.answers import Citation, ParsedAnswer, citations, parse_answer, strip_markup
from mirage.schema import Assignment, NuggetImportance, Support
from mirage.text import words


@dataclass(frozen=True, slots=True)
class FeatureSpec:
    """Declaration of one measure of an answer."""

    name: str
    """Value of the `feature` column."""
    title: str
    """Name for people."""
    meaning: str
    """What is measured, on what, and when it has no value."""
    unit: str
    """Unit of the value; empty for a pure number."""
    low: float | None
    """Lowest possible value; null if unbounded."""
    high: float | None
    """Highest possible value; null if unbounded."""
    direction: Literal["higher", "lower", "none"]
    """Which side is better; `none` where neither is."""
    source: str
    """The paper and place it is from, and how ours departs."""
    needs: tuple[str, ...]
    """What it cannot be computed without: names of tables, and fields of `Tools`. Where there are passages, every
    feature reads their ids: by these a citation is told from other text in brackets."""


@dataclass(frozen=True)
class MeasuredAnswer:
    """One answer that is not empty, with the passages it was given."""

    language: str
    """Code of the query's language."""
    text: str
    """The raw answer."""
    numbered: bool
    """Whether the prompt numbered the passages, so that `[3]` cites the third (`mirage.answers.is_numbered`)."""
    passage_ids: tuple[str, ...]
    """The passages shown, in the order of the prompt; none if they are not known."""
    relevant: tuple[bool | None, ...]
    """Their human relevance labels; null where a passage has none."""
    query: str | None = None
    """The query; null where its text is not known."""
    texts: tuple[str | None, ...] = ()
    """The passages as `title: text`, null where not known; none where no feature asked for them."""
    reference: MeasuredAnswer | str = "no reference system was named"
    """The reference system's answer to the same query, or why there is none."""
    nuggets: tuple[tuple[NuggetImportance, Assignment | None], ...] = ()
    """Importance of each nugget of the query, and whether this answer states it; None where that is not decided."""
    grades: Mapping[tuple[int, str], Support | None] = field(default_factory=dict)
    """How far a passage bears out a sentence that cites it, by the sentence's number and the passage; None where that
    is not decided."""

    @cached_property
    def mentions(self) -> tuple[Citation, ...]:
        """The citations in the answer."""
        return citations(self.text, self.passage_ids, numbered=self.numbered)

    @cached_property
    def parts(self) -> ParsedAnswer:
        """Reason and answer."""
        return parse_answer(self.text)

    @cached_property
    def answer(self) -> str | None:
        """The words of the answer part, without citations; null where the answer has no answer part."""
        span = self.parts.answer_span
        return None if span is None else self.words_of(*span)

    @cached_property
    def answer_words(self) -> list[str]:
        """The answer part word by word (`mirage.text.words`); none where there is no answer part."""
        return words(self.answer or "")

    def words_of(self, start: int, end: int) -> str:
        """A stretch of the answer without the citations that begin in it, as if they had never been there."""
        words, position = "", start
        for cut in (mention for mention in self.mentions if start <= mention.start < end):
            words, position = _joined(words, self.text[position : cut.start]), max(position, cut.end)
        return strip_markup(_joined(words, self.text[position:end]))


_CLOSING = frozenset(".,;:!?)]}»”’…%。，、；：？！）」』।॥۔،؛؟")


def _joined(left: str, right: str) -> str:
    """Two stretches with a citation cut out between them: one space where there was any, none before closing marks."""
    bare = right.lstrip()
    spaced = left != "" and (left[-1].isspace() or bare != right) and bare[:1] not in _CLOSING
    return left.rstrip() + (" " if spaced else "") + bare


class PairScorer(Protocol):
    """A model that scores pairs of texts; `mirage.features.pairs` has the real one."""

    @property
    def labels(self) -> Sequence[str]:
        """Names of the scores, in lower case."""

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Sequence[float]]:
        """Raw scores (logits) of each pair, in the order of `labels`."""


class Completion(Protocol):
    """What comes back from a chat model (`mirage.llm.Reply`)."""

    @property
    def text(self) -> str | None:
        """The answer; null when there is none."""

    @property
    def status(self) -> str:
        """`ok`, `empty`, `truncated`, `refused` or `api_error`."""

    @property
    def reason(self) -> str | None:
        """Why there is no sound answer."""


Grade = Callable[[Sequence[Sequence[Mapping[str, str]]]], Sequence[Completion | None]]
"""Asks a chat model: conversations in, one reply each out, None for those not asked for want of budget."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What some features need besides the tables. A feature whose tool is not there is not measured."""

    reference: str | None = None
    """The system whose answers the overlap features compare with."""
    support: PairScorer | None = None
    """Natural-language inference: does the first text support the second?"""
    reranker: PairScorer | None = None
    """Relevance: does the second text answer the first?"""
    grade: Grade | None = None
    """The model that grades answers."""
    assigner: str | None = None
    """Whose assignments of nuggets count; None for the default (`assessed.decider`)."""
    grader: str | None = None
    """Whose grades of support count; None for the default."""
    part: bool = False
    """Whether the tables are a part of an arena, in which the reference may have no answer."""


Measured = float | str
"""A value, or the reason why there is none."""


Measure = Callable[[Sequence[MeasuredAnswer], Tools, Collection[str]], Iterable[Sequence[Measured]]]
"""Measures answers with the tools, as far as the named features are wanted: for each answer, in order, one value or
reason for each spec of the family, in their order. What is measured beyond the wanted is left out by the caller."""


@dataclass(frozen=True, slots=True)
class FeatureFamily:
    """Features that one function measures together."""

    specs: tuple[FeatureSpec, ...]
    """What is measured."""
    measure: Measure
    """How."""
    whole: bool = False
    """Whether it sees all answers at once, not block by block: one run of calls to a service, under one budget."""


def each(measure: Callable[[MeasuredAnswer], Sequence[Measured]]) -> Measure:
    """The measure of a family that looks at one answer at a time and needs no tool."""
    return lambda answers, _tools, _wanted: map(measure, answers)
