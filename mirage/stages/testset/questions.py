"""Questions by a model: requests, and validation of the replies."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

from mirage.llm import asking
from mirage.llm.completion import Messages, Reply
from mirage.llm.prompts import MAX_PASSAGE_TOKENS, fence_code, fence_texts, one_message
from mirage.llm.tokens import TokenEstimate
from mirage.schema import Draft, NuggetImportance, QuestionType
from mirage.stages.model_stage import read_list
from mirage.stages.testset.settings import CorpusPassage
from mirage.text.detection import language_shares
from mirage.text.languages import base, name_of
from mirage.text.segmentation import words

MAX_FACTS = 10
"""Maximum number of facts per question."""
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
}
"""Task by type of question."""
TYPES = tuple(_TASKS)
"""Types of question, which take turns."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of an answer."""

    text: str
    """The fact, in the language of the question."""
    importance: NuggetImportance
    """Its importance."""
    quote: str
    """Passage text that states it, in the passage's language."""


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """An accepted question."""

    draft: Draft
    """Row of table `drafts`."""
    facts: tuple[Fact, ...]
    """Facts of the answer, vital facts first."""

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
    passage: CorpusPassage
    """Passage to write it from."""

    @property
    def draft_id(self) -> str:
        """Hash of language, type and passage."""
        about = [self.language, self.type, self.passage.passage_id]
        return hashlib.blake2b(json.dumps(about).encode(), digest_size=6).hexdigest()

    def conversation(self) -> Messages:
        """Return the messages. Each text is fenced by marks with a code that occurs in none of them."""
        text = TokenEstimate().cut(_passage_text(self.passage), MAX_PASSAGE_TOKENS)
        code = fence_code([text])
        return one_message(
            "testset_question",
            code=code,
            language=name_of(self.language),
            passages=fence_texts("PASSAGE", [text], code),
            task=_TASKS[self.type],
        )

    def draft(self, **values: Any) -> Draft:
        """Return a row of table `drafts` with these values; the others are null."""
        name = self.passage.passage_id
        empty = Draft(self.language, self.draft_id, self.type, name, None, None, None, None, None, None)
        return replace(empty, **values)


def _passage_text(passage: CorpusPassage) -> str:
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


class _DropError(Exception):
    """A question to drop, with the reason."""


def read_question(request: QuestionRequest, reply: Reply) -> WrittenQuestion | Draft:
    """Parse a model's reply into a question, or a draft row with the reason for dropping it."""
    draft = request.draft(call=reply.key)
    try:
        entry = _read_entry(reply)
        draft = replace(draft, text=_words_of(entry.get("question"), "the question has no text"))
        draft = replace(draft, answer=_words_of(entry.get("answer"), "the question has no answer"))
        facts = _read_facts(request.passage, entry.get("facts"))
        name = request.passage.passage_id
        rows = [{"fact": f.text, "importance": f.importance, "passage_id": name, "quote": f.quote} for f in facts]
        draft = replace(draft, facts=json.dumps(rows, ensure_ascii=False))
        _refuse_unfit(request, draft)
    except _DropError as error:
        return replace(draft, reason=str(error))
    return WrittenQuestion(replace(draft, query_id=f"q-{draft.draft_id}"), tuple(facts))


def _read_entry(reply: Reply) -> Mapping[str, Any]:
    """Return the only question of a reply."""
    if (unread := asking.explain_unread(reply)) is not None:
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


def _read_facts(passage: CorpusPassage, entries: Any) -> list[Fact]:
    """Parse the facts, vital facts first."""
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _DropError("the reply has no list of facts")
    facts = []
    for entry in entries[:MAX_FACTS]:
        text = _words_of(entry.get("fact"), "a fact has no text")
        importance, quote = entry.get("importance"), entry.get("quote")
        if importance not in ("vital", "okay"):
            raise _DropError(f"the importance of a fact is {str(importance)[:40]!r}, not vital or okay")
        if isinstance(quote, str) and holds_words(_passage_text(passage), quote):
            facts.append(Fact(text, importance, quote.strip()))
        elif importance == "vital":
            raise _DropError("the quote of a vital fact is not in the passage")
    if not any(fact.importance == "vital" for fact in facts):
        raise _DropError("the answer has no vital fact")
    return sorted(facts, key=lambda fact: fact.importance != "vital")


def holds_words(text: str, quote: str) -> bool:
    """Return whether a text contains the words of a quote in order, ignoring case, punctuation and whitespace."""
    wanted = words(quote)
    return bool(wanted) and f" {' '.join(wanted)} " in f" {' '.join(words(text))} "


def _refuse_unfit(request: QuestionRequest, draft: Draft) -> None:
    """Drop a question in another language, or a copy."""
    text, answer = str(draft.text), str(draft.answer)
    shares = language_shares(f"{text} {answer}", named=[request.language])
    own = sum(share for code, share in shares.items() if base(code) == base(request.language))
    likeliest = max(shares, key=shares.__getitem__)
    if base(request.language) in {base(code) for code in shares} and own < _OTHER_LANGUAGE < shares[likeliest]:
        raise _DropError(f"the question is in {name_of(likeliest)}")
    if _copied_share(text, request.passage.text) >= _COPIED:
        raise _DropError("the question copies the passage")
    if len(words(answer)) >= _LONG_ANSWER and _copied_share(answer, request.passage.text) >= _COPIED_ANSWER:
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
    """Drop questions that repeat an earlier question; return the others, and the dropped rows.

    Args:
        questions: questions in one language, in order.
        before: questions accepted earlier.
    """
    known = [word_grams(str(question.draft.text), 2) for question in before]
    new: list[WrittenQuestion] = []
    dropped: list[Draft] = []
    for question in questions:
        grams = word_grams(str(question.draft.text), 2)
        if any(jaccard(grams, other) >= _SAME for other in known):
            dropped.append(replace(question.draft, query_id=None, reason="the question repeats another"))
        else:
            new.append(question)
            known.append(grams)
    return new, dropped


Grams = Set[tuple[str, ...]]
"""N-grams of a text."""
# A sentence end mark of any script, but a full stop only before a space, so that 3.5 is not split; in Thai and Lao,
# which have no end marks, a space between two letters.
_END = re.compile(r"[!?。！？।॥؟۔።။༎\n]+|[.…]+(?=\s|$)|(?<=[\u0e00-\u0eff])\s+(?=[\u0e00-\u0eff])")


def word_grams(text: str, n: int) -> Grams:
    """Return the n-grams of a text's words; a character is a word in scripts without spaces.

    N-grams do not cross sentence ends, so reordering sentences does not change them. A shorter sentence is one n-gram.
    """
    found = [words(sentence) for sentence in _END.split(text)]
    return {tuple(each[k : k + n]) for each in found if each for k in range(max(1, len(each) - n + 1))}


def jaccard(first: Grams, second: Grams) -> float:
    """Return the Jaccard similarity of two texts' n-grams, in [0, 1]; 0 if one has none."""
    common = len(first & second)
    return common / (len(first) + len(second) - common) if common else 0.0
