"""Definitions of features, and their inputs and tools."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

from mirage.llm.completion import Reply
from mirage.schema import Assignment, NuggetImportance, Support
from mirage.text.answers import Citation, ParsedAnswer, citations, parse_answer, strip_markup
from mirage.text.segmentation import words


@dataclass(frozen=True, slots=True)
class FeatureSpec:
    """Declaration of one feature of an answer; by default a share, higher is better."""

    name: str
    """Value of the `feature` column."""
    title: str
    """Human-readable name."""
    meaning: str
    """Definition: the measured quantity, the text it is measured on, and when the value is missing."""
    source: str
    """Source paper and section, and our departures."""
    needs: tuple[str, ...]
    """Required table names, and fields of `Tools`. If there are passages, every feature reads their ids, which
    distinguish citations from other bracketed text.
    """
    unit: str = ""
    """Unit of the value; empty for a pure number."""
    low: float | None = 0
    """Lowest possible value; null if unbounded."""
    high: float | None = 1
    """Highest possible value; null if unbounded."""
    direction: Literal["higher", "lower", "none"] = "higher"
    """The better side; `none` if neither is."""


@dataclass(frozen=True)
class MeasuredAnswer:
    """One non-empty answer, with the passages it was given."""

    language: str
    """Code of the query's language."""
    text: str
    """The raw answer."""
    numbered: bool | None
    """Whether the prompt numbered the passages, so that `[3]` cites the third (`mirage.text.answers.is_numbered`)."""
    passage_ids: tuple[str, ...]
    """The shown passages, in prompt order; empty if unknown."""
    relevant: tuple[bool | None, ...]
    """Their relevance labels; null if unlabelled."""
    query: str | None = None
    """The query; null if its text is unknown."""
    texts: tuple[str | None, ...] = ()
    """The passages as `title: text`, null if unknown; empty if no feature needs them."""
    ordered: bool = True
    """Whether it is known in which order the passages were shown."""
    reference: MeasuredAnswer | str = "no reference system was named"
    """The reference answer to the same query, of a system or written, or the reason why there is none."""
    nuggets: tuple[tuple[NuggetImportance, Assignment | None], ...] = ()
    """Importance of each nugget of the query, and whether this answer states it; None if undecided."""
    grades: Mapping[tuple[int, str], Support | None] = field(default_factory=dict)
    """Support of each sentence by a passage it cites, by sentence number and passage; None if undecided."""

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
        """The answer part without citations; null if there is none."""
        span = self.parts.answer_span
        return None if span is None else self.words_of(*span)

    @cached_property
    def answer_words(self) -> list[str]:
        """The words of the answer part (`mirage.text.segmentation.words`); empty if there is none."""
        return words(self.answer or "")

    def words_of(self, start: int, end: int) -> str:
        """Return a stretch of the answer without the citations that begin in it."""
        words, position = "", start
        for cut in (mention for mention in self.mentions if start <= mention.start < end):
            words, position = _join_stretches(words, self.text[position : cut.start]), max(position, cut.end)
        return strip_markup(_join_stretches(words, self.text[position:end]))


_CLOSING = frozenset(".,;:!?)]}»”’…%。，、；：？！）」』।॥۔،؛؟")


def _join_stretches(left: str, right: str) -> str:
    """Join two stretches around a removed citation: one space if there was any, none before closing marks."""
    bare = right.lstrip()
    spaced = left != "" and (left[-1].isspace() or bare != right) and bare[:1] not in _CLOSING
    return left.rstrip() + (" " if spaced else "") + bare


class PairScorer(Protocol):
    """A model that scores pairs of texts; implemented in `mirage.stages.features.pairs`."""

    @property
    def labels(self) -> Sequence[str]:
        """Names of the scores, in lower case."""

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Sequence[float]]:
        """Return the raw scores (logits) of each pair, in the order of `labels`."""


Grade = Callable[[Sequence[Sequence[Mapping[str, str]]]], "Sequence[Reply | None]"]
"""Calls a chat model: one reply per conversation, None for those not sent because of the budget."""


@dataclass(frozen=True, slots=True)
class Tools:
    """Tools of some features besides the tables. Features without their tool are not measured."""

    reference: str | None = None
    """System with the reference answers of the overlap features; None for written references, if there are any."""
    support: PairScorer | None = None
    """Natural-language inference: does the first text support the second?"""
    reranker: PairScorer | None = None
    """Relevance: does the second text answer the first?"""
    grade: Grade | None = None
    """The model that grades answers."""
    assigner: str | None = None
    """Assigner of nuggets; None for the default (`assessed.decider`)."""
    grader: str | None = None
    """Grader of support; None for the default."""


Measured = float | str
"""A value, or the reason why there is none."""


Measure = Callable[[Sequence[MeasuredAnswer], Tools, Collection[str]], Iterable[Sequence[Measured]]]
"""Measures answers with the tools: for each answer, in order, one value or reason per spec of the family, in order.
Values beyond the named features are dropped by the caller.
"""


@dataclass(frozen=True, slots=True)
class FeatureFamily:
    """Features that one function measures together."""

    specs: tuple[FeatureSpec, ...]
    """Declarations of the features."""
    measure: Measure
    """Measurement function."""
    whole: bool = False
    """Whether it gets all answers at once instead of blocks: one run of calls to a service, under one budget."""


def each(measure: Callable[[MeasuredAnswer], Sequence[Measured]]) -> Measure:
    """Build the measure of a family that handles one answer at a time without tools."""
    return lambda answers, _tools, _wanted: map(measure, answers)
