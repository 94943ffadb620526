"""Checks of a corpus's passages: the source of a question, its near-duplicates, and what a model finds to answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from mirage.llm.asking import explain_unread
from mirage.llm.completion import Messages, Reply
from mirage.llm.prompts import fence_code, fence_texts, one_message
from mirage.llm.tokens import TokenEstimate
from mirage.schema import Finding, PassageCheck
from mirage.stages.model_stage import find_number, read_list
from mirage.stages.retrieve.bm25 import Bm25
from mirage.stages.testset.questions import Grams, WrittenQuestion, holds_words, jaccard, word_grams
from mirage.stages.testset.settings import CorpusPassage
from mirage.stats.rows import group
from mirage.text.languages import name_of

MODEL_CHECKED = 20
"""Maximum number of passages that the model reads per question."""
_POOL, _COPY, _GRAM = 50, 0.5, 5
"""Passages per search; Jaccard similarity of word 5-grams from which a passage is a near-duplicate."""
_CHECK_TOKENS = 375
"""Maximum tokens of each passage that the model reads."""


UNCHECKED = PassageCheck("", "", "", "model", None, None, None, removed=False, reason=None, call=None)
"""The row of a check before its key and its finding are known."""


@dataclass(frozen=True, slots=True)
class CheckedQuestion:
    """A question with the findings on the passages that may answer it."""

    question: WrittenQuestion
    """The question."""
    found: dict[int, PassageCheck]
    """Findings by row of the passage, in the order of the search."""

    def rows(self, finding: Finding | None) -> list[int]:
        """Return the rows of the passages with a finding, in order; None for undecided passages."""
        return [row for row, result in self.found.items() if result.finding == finding]


class SearchedCorpus:
    """A corpus with its search index.

    Args:
        passages: the passages.
    """

    def __init__(self, passages: Sequence[CorpusPassage]) -> None:
        self.passages = passages
        self.rows = {passage.passage_id: row for row, passage in enumerate(passages)}
        self._index = Bm25(passage.searched for passage in passages)
        self._grams: dict[int, Grams] = {}

    def search(self, query: str, depth: int = _POOL) -> list[int]:
        """Return the rows of the passages that match a query best."""
        return [row for row, _ in self._index.search(query, depth)]

    def similarity(self, first: int, second: int) -> float:
        """Return the Jaccard similarity of two passages' word 5-grams."""
        for row in (first, second):
            if row not in self._grams:
                self._grams[row] = word_grams(self.passages[row].text, _GRAM)
        return jaccard(self._grams[first], self._grams[second])


def add_copies(found: dict[int, PassageCheck], corpus: SearchedCorpus) -> None:
    """Record the near-duplicates of the passages that answer, transitively, among those most similar by search."""
    open_ = [row for row, result in found.items() if result.finding == "answers"]
    while open_:
        row = open_.pop()
        name = corpus.passages[row].passage_id
        for other in corpus.search(corpus.passages[row].searched):
            answers = other in found and found[other].finding == "answers"
            if not answers and (similarity := corpus.similarity(row, other)) >= _COPY:
                copied = replace(UNCHECKED, check="copy", finding="answers")
                found[other] = replace(copied, value=similarity, evidence=name)
                open_.append(other)


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """A question with passages for the model to read."""

    language: str
    """Code of the question's language."""
    question: str
    """The question."""
    facts: tuple[str, ...]
    """Its vital facts."""
    rows: tuple[int, ...]
    """Rows of the passages."""
    passages: tuple[CorpusPassage, ...]
    """The passages."""

    def conversation(self) -> Messages:
        """Return the messages. Each text is delimited by a code that occurs in none of the texts."""
        cut = TokenEstimate().cut
        texts = [cut(passage.searched, _CHECK_TOKENS) for passage in self.passages]
        code = fence_code([self.question, *self.facts, *texts])
        return one_message(
            "testset_check",
            code=code,
            language=name_of(self.language),
            question=self.question,
            facts=fence_texts("FACT", self.facts, code),
            passages=fence_texts("PASSAGE", texts, code),
        )


def start_check(question: WrittenQuestion, corpus: SearchedCorpus) -> tuple[CheckedQuestion, CheckRequest | None]:
    """Find the source of a question and its near-duplicates, and build the request to check other passages.

    These are the best of searches for the question, each vital fact and its quote, and the source: the question may be
    in another language than the passages.

    Returns:
        The question with the findings so far, and the request; None if no passage is left to check.
    """
    text, source = str(question.draft.text), corpus.rows[question.draft.passages]
    quotes = " … ".join(fact.quote for fact in question.facts)
    found = {source: replace(UNCHECKED, check="source", finding="answers", evidence=quotes)}
    add_copies(found, corpus)
    searched = [text, *(words for fact in question.vital for words in (f"{text} {fact.text}", fact.quote))]
    searches = [corpus.search(words) for words in (*searched, corpus.passages[source].searched)]
    pool = dict.fromkeys(row for best in zip_longest(*searches) for row in best if row is not None)
    rows = tuple(row for row in pool if row not in found)[:MODEL_CHECKED]
    facts = tuple(fact.text for fact in question.vital)
    passages = tuple(corpus.passages[row] for row in rows)
    request = CheckRequest(question.draft.language, text, facts, rows, passages) if rows else None
    return CheckedQuestion(question, found), request


def read_check(request: CheckRequest, reply: Reply) -> dict[int, PassageCheck]:
    """Parse a model's findings by row; a passage without a valid finding is undecided, with the reason."""
    reason: str | None = explain_unread(reply)
    entries = [] if reason is not None else read_list(reply.text or "")
    if isinstance(entries, str):
        reason, entries = entries, []
    by_number = group((find_number(entry, "passage", len(request.rows)), entry) for entry in entries)
    if None in by_number:
        named = str(by_number[None][0].get("passage"))[:40]
        reason, by_number = f"the reply names the passage {named!r}, which was not shown", {}
    results = {}
    for number, (row, passage) in enumerate(zip(request.rows, request.passages, strict=True), 1):
        own = by_number.get(number, [])
        given = {str(entry.get("finding")) for entry in own}
        finding: Finding | None = "answers" if given == {"answers"} else "nothing" if given == {"nothing"} else None
        quotes = [entry.get("quote") for entry in own if finding == "answers"]
        quote = next((q for q in quotes if isinstance(q, str) and holds_words(passage.searched, q)), None)
        why = None if finding is not None else reason or "the reply has no valid finding on it"
        results[row] = replace(UNCHECKED, finding=finding, evidence=quote, reason=why, call=reply.key)
    return results
