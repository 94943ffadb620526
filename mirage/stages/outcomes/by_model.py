"""Outcomes of free answers by a chat model, in any language."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.llm.asking import ArenaCalls, Conversations, explain_unread, plan_calls
from mirage.llm.calls import ChatModel, Cost
from mirage.llm.completion import Messages
from mirage.llm.prompts import fence_code, one_message
from mirage.schema import Outcome, QueryKey
from mirage.stages.outcomes.parsed import DIFFERS, FreeAnswer, Parsed, Readings
from mirage.stages.outcomes.stage import OUTCOMES, free_answers
from mirage.stages.outcomes.tables import parse_outcome
from mirage.stages.outcomes.vocabulary import LANGUAGES, examples
from mirage.stats.intervals import wilson
from mirage.stats.rows import read_rows
from mirage.store.arena import Arena, open_arena
from mirage.store.upsert import matching
from mirage.text.languages import base, name_of
from mirage.text.marks import read_mark, word_form
from mirage.text.thoughts import part_thoughts

_OUTCOMES: dict[str, Outcome] = {each: each for each in ("answered", "abstained", "clarification")}
UNREAD = Parsed("unparsed", "by_model_unread")
"""Reading of an answer whose call failed, or whose reply names no outcome."""

FORM = word_form(_OUTCOMES, "outcome")
"""Form of an outcome in a reply."""


@dataclass(frozen=True, slots=True)
class OutcomeRequest:
    """A free answer to classify."""

    language: str
    """Code of the query's language."""
    answer: str
    """The raw answer."""
    query: str
    """The query; empty if unknown."""
    right: str | None = None
    """Its label, for a labelled example."""

    def conversation(self) -> Messages:
        """Return the messages. Each text is fenced by marks with a code that occurs in none of them."""
        return one_message(
            "outcome",
            code=fence_code(self.untrusted_texts()),
            language=name_of(self.language),
            question=self.query,
            answer=part_thoughts(self.answer).text,
        )

    def untrusted_texts(self) -> list[str]:
        """Return every untrusted text."""
        return [self.query, self.answer]


@dataclass(frozen=True, slots=True)
class ModelAgreement:
    """Agreement of the model with the labelled examples of one language."""

    language: str
    agreeing: int
    n: int
    """Examples with a reply that could be read."""

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of the share that agrees."""
        return wilson(self.agreeing, self.n) if self.n else (0.0, 1.0)


@dataclass(frozen=True)
class ModelOutcomes:
    """Result of classifying answers with a model."""

    decided: Readings
    """Readings by language, text and query (`tables.outcomes`)."""
    agreement: Sequence[ModelAgreement]
    """By language of the answers; none for a language without labelled examples."""
    failed: Mapping[str, int]
    """Answers without an outcome, by reason. A later run retries those whose call failed."""
    unasked: int
    """Answers not requested because the budget was reached or the run ended."""
    cost: Cost
    """Cost of the calls."""


def plan_outcomes(path: Path, model: ChatModel) -> Cost:
    """Return the maximum cost of classifying the free answers of an arena; nothing is sent or written.

    Raises:
        ArenaError: if the arena lacks queries or answers.
        NotEnoughData: if there is no free answer to a query with a relevance label.
    """
    return plan_calls(path, Conversations(_requests(path)), model)


def classify_by_model(path: Path, calls: ArenaCalls) -> ModelOutcomes:
    """Classify the free answers of an arena, and the labelled examples of its languages; only the ledger is written.

    Replies are committed to the arena's ledger as they arrive: a rerun resumes without paying twice.

    Raises:
        ArenaError: if the arena lacks queries or answers.
        NotEnoughData: if there is no free answer to a query with a relevance label.
        Unreachable: if the service rejects every call, or every call failed.
    """
    requests = _requests(path)
    replies = calls.replies(path, requests)
    replies.need_any()
    decided: dict[FreeAnswer, Parsed] = {}
    failed: Counter[str] = Counter()
    agreement: dict[str, list[bool]] = {}
    unasked = 0
    for request, reply in zip(requests, replies.by_number, strict=True):
        reason = None if reply is None else explain_unread(reply)
        outcome = None if reply is None or reason else read_mark(FORM, reply.text or "", request.untrusted_texts())
        if request.right is not None:
            agreement.setdefault(request.language, []).extend([outcome == request.right] if outcome else [])
            continue
        decided[request.language, request.answer, request.query] = Parsed(outcome, "by_model") if outcome else UNREAD
        if reply is None:
            unasked += 1
        elif outcome is None:
            failed[reason or "no outcome could be read"] += 1
    rows = [ModelAgreement(code, sum(right), len(right)) for code, right in agreement.items()]
    return ModelOutcomes(decided, rows, failed, unasked, replies.cost)


def _disputed_answers(arena: Arena) -> set[QueryKey]:
    """Return language and text of the answers on which the rules and a second opinion differ; they are asked first."""
    outcomes = arena.read_optional("outcomes")
    if outcomes is None:
        return set()
    differing = outcomes.filter(pc.equal(outcomes["rule"], DIFFERS.rule))
    return set(read_rows(matching(arena.read("answers"), differing, schema.key("answers")), "language", "text"))


def _requests(path: Path) -> list[OutcomeRequest]:
    """Return a request for each text that the rules for free answers would read, and for each labelled example."""
    arena = open_arena(path)
    found = [
        OutcomeRequest(*answer)
        for answer in free_answers({name: arena.read(name) for name in OUTCOMES.reads})
        if parse_outcome(answer[1], language=answer[0], template=None).outcome not in ("empty", "api_error")
    ]
    if not found:
        raise NotEnoughData(
            "there is no free answer to a query with a relevance label",
            do="replies to NoMIRACL's prompts are read by their formulas: mirage measure outcomes DIR",
        )
    disputed = _disputed_answers(arena)
    requests = sorted(found, key=lambda request: (request.language, request.answer) not in disputed)
    for code in sorted({request.language for request in requests}):
        if base(code) in LANGUAGES:
            requests += [OutcomeRequest(code, each.answer, each.query, each.right) for each in examples(base(code))]
    return requests
