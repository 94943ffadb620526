"""Checks of a corpus's passages: sources of a question, their near-duplicates, and passages that state its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mirage import llm
from mirage.llm.prompts import fence_code, fence_texts, one_message
from mirage.schema import Check, Finding, PassageCheck
from mirage.stages.model_stage import find_number, read_list
from mirage.stages.nuggets.terms import match_terms
from mirage.stages.retrieve.bm25 import Bm25
from mirage.stages.testset.questions import WrittenQuestion, holds_words
from mirage.stages.testset.settings import CorpusPassage
from mirage.text.duplicates import near_duplicates
from mirage.text.languages import name_of

POOL = 50
"""Number of passages per search for a question, to match with its facts."""
MODEL_CHECKED = 20
"""Maximum number of passages that the model reads per question."""
_CHECK_TOKENS = 375
"""Maximum tokens of each of these passages."""


@dataclass(frozen=True, slots=True)
class PassageFinding:
    """Result of one check of one passage."""

    check: Check
    """The check."""
    finding: Finding | None
    """The finding; None if undecided."""
    value: float | None = None
    """Similarity or share of facts."""
    evidence: str | None = None
    """The passage it is similar to, or the words that state a fact."""
    reason: str | None = None
    """Reason why there is no finding."""
    call: str | None = None
    """Ledger key of the call."""


@dataclass
class CheckedQuestion:
    """A question with the checks of the passages that may answer it."""

    question: WrittenQuestion
    """The question."""
    order: list[int]
    """Rows of the passages found by searches, starting with the question's own search, best first."""
    found: dict[int, list[PassageFinding]] = field(default_factory=dict)
    """Checks by row of the passage."""

    def add(self, row: int, result: PassageFinding) -> None:
        """Record a check of a passage; a second check of a kind is ignored."""
        if all(known.check != result.check for known in self.found.setdefault(row, [])):
            self.found[row].append(result)

    def answering(self) -> list[int]:
        """Return the rows of the passages that answer, sources first.

        A passage answers if a check says so; if the model has read it, shared words alone do not decide.
        """
        return [row for row, results in self.found.items() if _verdict(results) == "answers"]

    def doubtful(self) -> list[int]:
        """Return the rows of the passages that state a vital fact by their words, but not according to the model.

        Partial matches of a fact's words do not count: in similar documents nearly all passages have them.
        """
        return [
            row
            for row, results in self.found.items()
            if _verdict(results) == "partly" and any(result.finding == "answers" for result in results)
        ]

    def silent(self) -> list[int]:
        """Return the rows of the checked passages that answer nothing, in the order of the search."""
        checked = {row for row, results in self.found.items() if _verdict(results) == "nothing"}
        return [row for row in self.order if row in checked]


def _verdict(results: Sequence[PassageFinding]) -> Finding:
    """Combine the checks of a passage; `partly` if they disagree, so that it counts as neither."""
    by_check = {result.check: result.finding for result in results}
    if "answers" in (by_check.get(check) for check in ("source", "copy", "vector", "model")):
        return "answers"
    words, model = by_check.get("facts"), by_check.get("model")
    if words == "answers":
        return "answers" if model is None else "partly"
    return "partly" if words == "partly" and model is None else "nothing"


class SearchedCorpus:
    """A corpus with its search index and near-duplicates, for the checks.

    Args:
        passages: the passages.
    """

    def __init__(self, passages: Sequence[CorpusPassage]) -> None:
        self.passages = passages
        self.rows = {passage.passage_id: row for row, passage in enumerate(passages)}
        self.index = Bm25(passage.searched for passage in passages)
        self.copies: dict[int, list[tuple[int, float]]] = {}
        """Near-duplicates by passage, with their similarity."""
        for first, second, similarity in near_duplicates([passage.text for passage in passages]):
            self.copies.setdefault(first, []).append((second, similarity))
            self.copies.setdefault(second, []).append((first, similarity))

    def search(self, query: str, depth: int) -> list[int]:
        """Return the rows of the passages that match a query best."""
        return [row for row, _ in self.index.search(query, depth)]

    def without_copies(self, rows: Iterable[int]) -> list[int]:
        """Return rows without near-duplicates of earlier rows."""
        kept: list[int] = []
        copied: set[int] = set()
        for row in rows:
            if row not in copied:
                kept.append(row)
                copied.update(other for other, _ in self.copies.get(row, ()))
        return kept


def check_by_words(question: WrittenQuestion, corpus: SearchedCorpus) -> CheckedQuestion:
    """Find the sources of a question, their near-duplicates, and the passages that state a vital fact by their words.

    Facts are matched with passages found by searching for the question, each fact, each quote and each source. Facts
    are in the language of the question, quotes in the language of their passage.
    """
    draft, vital = question.draft, question.vital
    sources = list(dict.fromkeys(fact.passage_id for fact in question.facts))
    pool = corpus.search(str(draft.text), POOL)
    for fact in vital:
        pool += corpus.search(f"{draft.text} {fact.text}", POOL) + corpus.search(fact.quote, POOL)
    for name in sources:
        # The question may be in another language than the passages.
        pool += corpus.search(corpus.passages[corpus.rows[name]].searched, POOL)
    pool = list(dict.fromkeys(pool))
    checked = CheckedQuestion(question, pool)
    for name in sources:
        quotes = [fact.quote for fact in question.facts if fact.passage_id == name]
        checked.add(corpus.rows[name], PassageFinding("source", "answers", evidence=" … ".join(quotes)))
    add_copies(checked, corpus)
    for row in pool:
        passage = corpus.passages[row]
        language = passage.language or draft.language
        found: list[tuple[Finding, str | None]] = []
        for fact in vital:
            matches = [
                match_terms(words, passage.searched, language, str(draft.text)) for words in (fact.text, fact.quote)
            ]
            best = min(matches, key=lambda match: ("support", "partial_support", "not_support").index(match[0]))
            found.append(({"support": "answers", "partial_support": "partly"}.get(best[0], "nothing"), best[1]))  # type: ignore[arg-type]
        verdicts = [verdict for verdict, _ in found]
        finding: Finding = "answers" if "answers" in verdicts else "partly" if "partly" in verdicts else "nothing"
        share = verdicts.count("answers") / len(verdicts)
        quote = next((words for verdict, words in found if verdict == finding != "nothing"), None)
        checked.add(row, PassageFinding("facts", finding, share, quote))
    add_copies(checked, corpus)
    return checked


def add_copies(checked: CheckedQuestion, corpus: SearchedCorpus) -> None:
    """Record the near-duplicates of the passages that answer, transitively."""
    open_ = checked.answering()
    seen = set(open_)
    while open_:
        row = open_.pop()
        name = corpus.passages[row].passage_id
        for other, similarity in corpus.copies.get(row, ()):
            checked.add(other, PassageFinding("copy", "answers", similarity, name))
        new = [other for other in checked.answering() if other not in seen]
        seen.update(new)
        open_ += new


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

    def conversation(self) -> llm.Messages:
        """Return the messages. Each text is delimited by a code that occurs in none of the texts."""
        cut = llm.TokenEstimate().cut
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


def check_request(checked: CheckedQuestion, corpus: SearchedCorpus, depth: int) -> CheckRequest | None:
    """Build the request to check a question's passages: passages undecided by their words, then the top search results.

    Args:
        checked: the question.
        corpus: its corpus.
        depth: number of passages per query; twice as many are checked, in case some answer.

    Returns:
        The request; None if no passage is left to check.
    """
    certain = {
        row for row, results in checked.found.items() if any(r.check in ("source", "copy", "vector") for r in results)
    }
    by_words = {row: results[0].finding for row, results in checked.found.items() if row not in certain}
    open_ = [row for finding in ("answers", "partly") for row, found in by_words.items() if found == finding]
    rest = [row for row in checked.order if row not in certain and row not in open_]
    rows = tuple([*open_, *rest[: 2 * depth]][:MODEL_CHECKED])
    if not rows:
        return None
    draft = checked.question.draft
    return CheckRequest(
        draft.language,
        str(draft.text),
        tuple(fact.text for fact in checked.question.vital),
        rows,
        tuple(corpus.passages[row] for row in rows),
    )


def read_check(request: CheckRequest, reply: llm.Reply | None) -> dict[int, PassageFinding]:
    """Parse a model's findings by row; a passage without a valid finding is undecided, with the reason."""
    key = None if reply is None else reply.key
    reason: str | None = "not asked" if reply is None else llm.unread(reply)
    entries = [] if reply is None or reason is not None else read_list(reply.text or "")
    if isinstance(entries, str):
        reason, entries = entries, []
    by_number: dict[int, list[Mapping[str, Any]]] = {}
    for entry in entries:
        number = find_number(entry, "passage", len(request.rows))
        if number is None:
            named = str(entry.get("passage"))[:40]
            reason, by_number = f"the reply names the passage {named!r}, which was not shown", {}
            break
        by_number.setdefault(number, []).append(entry)
    results = {}
    for number, (row, passage) in enumerate(zip(request.rows, request.passages, strict=True), 1):
        given = {str(entry.get("finding")) for entry in by_number.get(number, ())}
        finding: Finding | None = "answers" if given == {"answers"} else "nothing" if given == {"nothing"} else None
        quotes = [entry.get("quote") for entry in by_number.get(number, ())]
        quote = next((q for q in quotes if isinstance(q, str) and holds_words(passage.searched, q)), None)
        why = None if finding is not None else reason or "the reply has no valid finding on it"
        evidence = quote if finding == "answers" else None
        results[row] = PassageFinding("model", finding, None, evidence, why, key)
    return results


def check_rows(
    checked: CheckedQuestion, corpus: SearchedCorpus, query_id: str, is_removed: Callable[[int], bool]
) -> list[PassageCheck]:
    """Return the rows of table `passage_checks` of a question.

    Args:
        checked: the question.
        corpus: its corpus.
        query_id: the query.
        is_removed: returns whether the passage in a row was removed from the corpus.
    """
    language = checked.question.draft.language
    return [
        PassageCheck(
            language,
            query_id,
            corpus.passages[row].passage_id,
            result.check,
            result.finding,
            result.value,
            result.evidence,
            is_removed(row),
            result.reason,
            result.call,
        )
        for row, results in checked.found.items()
        for result in results
    ]
