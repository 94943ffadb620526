"""Support grading by a model: how far each cited passage supports its sentence."""

from dataclasses import dataclass
from typing import Any, get_args

from mirage.errors import NotEnoughData
from mirage.llm.asking import explain_unread
from mirage.llm.completion import Messages, Reply
from mirage.llm.prompts import MAX_PASSAGE_TOKENS, fence_code, one_message
from mirage.llm.tokens import TokenEstimate
from mirage.schema import PEOPLE, Support, SupportGrade
from mirage.stages.features.reader import AnswerReader
from mirage.stages.features.spec import MeasuredAnswer
from mirage.stages.features.support import cited_places
from mirage.stages.model_stage import Languages, RowStage, read_tables
from mirage.store.arena import Arena
from mirage.store.upsert import Snapshot
from mirage.text.languages import name_of
from mirage.text.marks import read_mark, word_form

_GRADES: dict[str, Support] = {grade: grade for grade in get_args(Support)}
_NO_TEXT = "the text of the passage is not known"

FORM = word_form(_GRADES, "support")
"""Form of a grade in a reply."""


@dataclass(frozen=True, slots=True)
class SupportRequest:
    """A sentence and a passage it cites."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    system: str
    """The system that answered."""
    sentence: int
    """Index of the sentence (`support.cited_places`)."""
    passage_id: str
    """The passage."""
    query: str
    """Text of the query; empty if unknown."""
    passage: str | None
    """Truncated text of the passage; None if unknown."""
    words: str
    """The sentence, without its citations."""

    def conversation(self) -> Messages:
        """Return the messages. Each text is fenced by marks with a code that occurs in none of them."""
        return one_message(
            "support",
            code=fence_code(self.untrusted_texts()),
            language=name_of(self.language),
            question=self.query,
            passage=self.passage or "",
            sentence=self.words,
        )

    def untrusted_texts(self) -> list[str]:
        """Return every untrusted text."""
        return [self.query, self.passage or "", self.words]


def _requests(seen: Snapshot) -> tuple[list[SupportRequest], dict[str, int]]:
    """Return a request per citation of a known passage, in the order of answers and sentences."""
    cut, tables = TokenEstimate().cut, seen.tables
    given = tables.get("queries"), tables.get("passages"), tables["answers"]
    reader = AnswerReader(*given, reference=None, texts=True, retrieved=tables.get("retrieved"))
    requests = []
    for row in reader.answers.to_pylist():
        answer = reader.read(row)
        if not isinstance(answer, MeasuredAnswer):
            continue
        texts = dict(zip(answer.passage_ids, answer.texts, strict=True))
        for place in cited_places(answer):
            for passage_id in place.passage_ids:
                text = texts[passage_id]
                shown = None if text is None else cut(text, MAX_PASSAGE_TOKENS)
                key = row["language"], row["query_id"], row["system"]
                requests.append(SupportRequest(*key, place.number, passage_id, answer.query or "", shown, place.words))
    if all(request.passage is None for request in requests):
        raise NotEnoughData("no answer cites a passage with a known text", do="import the passages' texts")
    return requests, {}


def seen_citations(arena: Arena, languages: Languages = None) -> Snapshot:
    """Read the inputs of support grades."""
    if "retrieved" not in arena.tables:
        arena.need("passages")
    return read_tables(arena, ("answers",), ("queries", "passages", "retrieved"), languages)


def _row(request: SupportRequest, *decision: Any) -> SupportGrade:
    """Return the row of a request, from the grader, the grade, the reason if there is none, and the call."""
    key = request.language, request.query_id, request.system, request.sentence, request.passage_id
    return SupportGrade(*key, *decision)


def _read(request: SupportRequest, reply: Reply, grader: str) -> list[SupportGrade]:
    """Return the grade of a reply, or the reason why there is none."""
    reason = explain_unread(reply)
    grade = None if reason else read_mark(FORM, reply.text or "", request.untrusted_texts())
    return [_row(request, grader, grade, reason or (None if grade else "no grade could be read"), reply.key)]


SUPPORT = RowStage(
    "support_grades",
    seen_citations,
    _requests,
    _read,
    decided=lambda request, grader: [_row(request, grader, None, _NO_TEXT, None)] if request.passage is None else [],
    reserved={PEOPLE: "people's votes"},
)
"""Grades how far each cited passage supports its sentence. A citation whose call failed gets a row with the reason."""
