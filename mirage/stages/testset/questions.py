"""Questions by a model: requests, and validation of the replies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from mirage import llm
from mirage.llm.prompts import MAX_PASSAGE_TOKENS, fence_code, fence_texts, one_message
from mirage.schema import Draft, NuggetImportance, QuestionType
from mirage.stages.model_stage import find_number, read_list
from mirage.stages.testset.settings import CorpusPassage
from mirage.text.detection import language_shares
from mirage.text.duplicates import near_duplicates
from mirage.text.languages import base, name_of
from mirage.text.segmentation import words

MAX_FACTS = 10
"""Maximum number of facts per question."""
_SEVERAL: dict[QuestionType, int] = {"comparison": 3, "several": 3}
"""Number of passages shown by question type; one for other types."""
_COPIED, _GRAM = 0.5, 5
"""Share of a question's word 5-grams in a passage above which the question is a copy."""
_COPIED_ANSWER, _LONG_ANSWER = 0.9, 60
"""The same share for an answer, and the minimum words to test it: a short answer may quote."""
_OTHER_LANGUAGE = 0.1
"""Probability of the requested language below which a text is rejected."""
_SAME = 0.8
"""Jaccard similarity of word pairs above which two questions are duplicates."""
_TASKS: dict[QuestionType, str] = {
    "fact": "Ask for one fact that the passage states. The answer is short.",
    "list": "Ask for all of several things that the passage lists or names. Each of them is a fact.",
    "comparison": "Ask for a comparison of two things, each of which another one of the passages is about.",
    "several": "Ask a question whose answer needs facts of at least two of the passages together.",
    "follow_up": "Write a short conversation that ends with the question: what the user and the agent said before it,"
    " in one to three turns each, and then the user's question, which goes on from there. The question still names what"
    " it asks about. The agent's turns do not answer it.",
}
_TURNS = '[{ "speaker": "user", "text": "..." }, { "speaker": "agent", "text": "..." }]'


Turn = tuple[Literal["user", "agent"], str]
"""Speaker and text."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of an answer."""

    text: str
    """The fact, in the language of the question."""
    importance: NuggetImportance
    """Its importance."""
    passage_id: str
    """The passage that states it."""
    quote: str
    """Passage text that states it, in the passage's language."""


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """An accepted question."""

    draft: Draft
    """Row of table `drafts`."""
    facts: tuple[Fact, ...]
    """Facts of the answer, vital facts first."""
    turns: tuple[Turn, ...]
    """Speaker and text of each earlier turn."""

    @property
    def vital(self) -> list[Fact]:
        """The vital facts."""
        return [fact for fact in self.facts if fact.importance == "vital"]


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A request for a question."""

    language: str
    """Code of the language to ask in."""
    type: QuestionType
    """Type of question."""
    passages: tuple[CorpusPassage, ...]
    """Passages to write it from, starting with the sampled passage."""

    @property
    def draft_id(self) -> str:
        """Hash of language, type and passages."""
        about = [self.language, self.type, *(passage.passage_id for passage in self.passages)]
        return hashlib.blake2b(json.dumps(about).encode(), digest_size=6).hexdigest()

    def conversation(self) -> llm.Messages:
        """Return the messages. Each text is fenced by marks with a code that occurs in none of them."""
        cut = llm.TokenEstimate().cut
        texts = [cut(_passage_text(passage), MAX_PASSAGE_TOKENS) for passage in self.passages]
        code = fence_code(texts)
        return one_message(
            "testset_question",
            code=code,
            language=name_of(self.language),
            passages=fence_texts("PASSAGE", texts, code),
            task=_TASKS[self.type],
            turns=_TURNS if self.type == "follow_up" else "[]",
        )

    def draft(self, **values: Any) -> Draft:
        """Return a row of table `drafts` with these values; the others are null."""
        ids = "\n".join(passage.passage_id for passage in self.passages)
        empty = Draft(self.language, self.draft_id, self.type, ids, None, None, None, None, None, None)
        return replace(empty, **values)


def passages_for(kind: QuestionType) -> int:
    """Return the number of passages for a type of question."""
    return _SEVERAL.get(kind, 1)


def _passage_text(passage: CorpusPassage) -> str:
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


class _DropError(Exception):
    """A question to drop, with the reason."""


def read_question(request: QuestionRequest, reply: llm.Reply) -> WrittenQuestion | Draft:
    """Parse a model's reply into a question, or a draft row with the reason for dropping it."""
    draft = request.draft(call=reply.key)
    try:
        entry = _read_entry(reply)
        draft = replace(draft, text=_words_of(entry.get("question"), "the question has no text"))
        draft = replace(draft, answer=_words_of(entry.get("answer"), "the question has no answer"))
        facts, turns = _read_facts(request, entry.get("facts")), _read_turns(request, entry.get("turns"))
        rows = [
            {"fact": f.text, "importance": f.importance, "passage_id": f.passage_id, "quote": f.quote} for f in facts
        ]
        draft = replace(draft, facts=json.dumps(rows, ensure_ascii=False))
        _refuse_unfit(request, draft)
    except _DropError as error:
        return replace(draft, reason=str(error))
    return WrittenQuestion(replace(draft, query_id=f"q-{draft.draft_id}"), tuple(facts), turns)


def _read_entry(reply: llm.Reply) -> Mapping[str, Any]:
    """Return the only question of a reply."""
    if (unread := llm.unread(reply)) is not None:
        raise _DropError(f"the model did not reply: {unread}")
    entries = read_list(reply.text or "")
    if isinstance(entries, str):
        raise _DropError(entries)
    if len(entries) != 1:
        raise _DropError(f"the reply has {len(entries)} questions instead of one")
    if entries[0].get("question") is None:
        why = " ".join(str(entries[0].get("why", "no reason given")).split())[:200]
        raise _DropError(f"the model refuses: {why}")
    return entries[0]


def _words_of(value: object, missing: str) -> str:
    """Return a text with its white space normalised."""
    if not isinstance(value, str) or not words(value):
        raise _DropError(missing)
    return " ".join(value.split())


def _read_facts(request: QuestionRequest, entries: Any) -> list[Fact]:
    """Parse the facts, vital facts first."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _DropError("the reply has no list of facts")
    facts = []
    for entry in entries[:MAX_FACTS]:
        text = _words_of(entry.get("fact"), "a fact has no text")
        importance, quote = entry.get("importance"), entry.get("quote")
        number = find_number(entry, "passage", len(request.passages))
        if importance not in ("vital", "okay"):
            raise _DropError(f"the importance of a fact is {str(importance)[:40]!r}, not vital or okay")
        if number is None:
            raise _DropError(f"a fact names the passage {str(entry.get('passage'))[:40]!r}, which was not shown")
        passage = request.passages[number - 1]
        if isinstance(quote, str) and holds_words(_passage_text(passage), quote):
            facts.append(Fact(text, importance, passage.passage_id, quote.strip()))
        elif importance == "vital":
            raise _DropError("the quote of a vital fact is not in its passage")
    if not any(fact.importance == "vital" for fact in facts):
        raise _DropError("the answer has no vital fact")
    if len({fact.passage_id for fact in facts}) < min(passages_for(request.type), 2):
        raise _DropError("the answer needs only one passage")
    return sorted(facts, key=lambda fact: fact.importance != "vital")


def holds_words(text: str, quote: str) -> bool:
    """Return whether a text contains the words of a quote in order, ignoring case, punctuation and whitespace."""
    wanted = words(quote)
    return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(words(text))} "


def _read_turns(request: QuestionRequest, entries: Any) -> tuple[Turn, ...]:
    if request.type != "follow_up":
        return ()
    if not isinstance(entries, list) or not entries:
        raise _DropError("the conversation before the question is missing")
    turns: list[Turn] = []
    for entry in entries:
        speaker, text = (entry.get("speaker"), entry.get("text")) if isinstance(entry, dict) else (None, None)
        if speaker not in ("user", "agent") or not isinstance(text, str) or not text.strip():
            raise _DropError("a turn of the conversation has no speaker or no text")
        turns.append((speaker, " ".join(text.split())))
    return tuple(turns)


def _refuse_unfit(request: QuestionRequest, draft: Draft) -> None:
    """Drop a question in another language, or a copy."""
    text, answer = str(draft.text), str(draft.answer)
    shares = language_shares(f"{text} {answer}", named=[request.language])
    own = sum(share for code, share in shares.items() if base(code) == base(request.language))
    likeliest = max(shares, key=shares.__getitem__)
    if base(request.language) in {base(code) for code in shares} and own < _OTHER_LANGUAGE < shares[likeliest]:
        raise _DropError(f"the question is in {name_of(likeliest)}")
    for passage in request.passages:
        if _copied_share(text, passage.text) >= _COPIED:
            raise _DropError("the question copies the passage")
        if len(words(answer)) >= _LONG_ANSWER and _copied_share(answer, passage.text) >= _COPIED_ANSWER:
            raise _DropError("the answer copies the passage")


def _copied_share(text: str, passage: str) -> float:
    """Return the share of a text's word 5-grams found in a passage; 0 for texts with fewer than two 5-grams."""
    own, other = _grams(words(text)), set(_grams(words(passage)))
    return sum(gram in other for gram in own) / len(own) if len(own) > 1 else 0.0


def _grams(of: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(of[k : k + _GRAM]) for k in range(len(of) - _GRAM + 1)]


def drop_repeated(
    questions: Sequence[WrittenQuestion], before: Sequence[WrittenQuestion] = ()
) -> tuple[list[WrittenQuestion], list[Draft]]:
    """Drop questions that repeat an earlier question in their language; return the others, and the dropped rows.

    Args:
        questions: questions, in order.
        before: questions accepted earlier.
    """
    rows = [*before, *questions]
    repeated: set[int] = set()
    by_language: dict[str, list[int]] = {}
    for number, question in enumerate(rows):
        by_language.setdefault(question.draft.language, []).append(number)
    for numbers in by_language.values():
        pairs = near_duplicates([str(rows[number].draft.text) for number in numbers], threshold=_SAME, shingle=2)
        for first, second, _ in pairs:
            if numbers[first] not in repeated:
                repeated.add(numbers[second])
    repeated -= set(range(len(before)))
    dropped = [replace(rows[k].draft, query_id=None, reason="the question repeats another") for k in sorted(repeated)]
    return [rows[k] for k in range(len(before), len(rows)) if k not in repeated], dropped


def kept_facts(question: WrittenQuestion) -> Mapping[str, Fact]:
    """Return the facts of a question by text; for equal texts, the first."""
    facts: dict[str, Fact] = {}
    for fact in question.facts:
        facts.setdefault(fact.text, fact)
    return facts
