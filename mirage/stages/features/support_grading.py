"""Support grading by a model: how far each cited passage supports its sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import llm, schema, store
from mirage.errors import BadInput, NotEnoughData
from mirage.llm.prompts import MAX_PASSAGE_TOKENS, bundled_text, fence_code, fill
from mirage.schema import PEOPLE, Support, SupportGrade
from mirage.stages.features.reader import AnswerReader
from mirage.stages.features.spec import MeasuredAnswer
from mirage.stages.features.support import cited_places
from mirage.text.languages import name_of
from mirage.text.marks import read_mark, word_form

if TYPE_CHECKING:
    import pyarrow as pa

_GRADES: dict[str, Support] = {"full": "full", "partial": "partial", "none": "none"}
_NO_TEXT = "the text of the passage is not known"

_FORM = word_form(_GRADES, "support")


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

    def conversation(self) -> llm.Messages:
        """Return the messages. Each text is fenced by marks with a code that occurs in none of them."""
        values = {
            "code": fence_code(self.untrusted_texts()),
            "language": name_of(self.language),
            "question": self.query,
            "passage": self.passage or "",
            "sentence": self.words,
        }
        return [{"role": "user", "content": fill(bundled_text("support"), values)}]

    def untrusted_texts(self) -> list[str]:
        """Return every untrusted text."""
        return [self.query, self.passage or "", self.words]


@dataclass(frozen=True)
class SupportResult:
    """Result of grading support with a model."""

    grades: pa.Table
    """`schema.SupportGrade` rows, one per citation requested; null with a reason if grading failed."""
    failed: Mapping[str, int]
    """Citations without a grade, by reason. A later run retries those whose call failed."""
    unasked: int
    """Citations not requested because the budget was reached or the run ended. They have no row."""
    cost: llm.Cost
    """Cost of the calls."""


def support_requests(
    queries: pa.Table | None, passages: pa.Table, answers: pa.Table, retrieved: pa.Table | None = None
) -> list[SupportRequest]:
    """Return a request per citation of a known passage, in the order of answers and sentences.

    Args:
        queries: `schema.Query` rows; None if there are none.
        passages: `schema.Passage` rows.
        answers: `schema.Answer` rows.
        retrieved: `schema.Retrieved` rows of passages shown to systems; None for none.
    """
    cut = llm.TokenEstimate().cut
    if queries is None:
        keys = answers.select(["language", "query_id"]).group_by(["language", "query_id"]).aggregate([])
        queries = schema.from_columns("queries", {name: keys[name] for name in keys.column_names})
    reader = AnswerReader(queries, passages, answers, reference=None, texts=True, retrieved=retrieved)
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
    return requests


def parse_support(text: str, shown_texts: Iterable[str] = ()) -> Support | None:
    """Return the grade in a model's reply, by the rules of `mirage.text.marks`; None if there is none.

    Args:
        text: the model's reply.
        shown_texts: texts in its prompt.
    """
    return read_mark(_FORM, text, shown_texts)


def plan_support(path: Path, model: llm.ChatModel, *, languages: Sequence[str] | None = None) -> llm.Cost:
    """Return the maximum cost of grading the citations of an arena; nothing is sent or written.

    Raises:
        ArenaError: if the arena lacks passages or answers.
        NotEnoughData: if no answer cites a passage with a known text.
    """
    seen = store.consistently(path, lambda arena: seen_citations(arena, languages))
    conversations = llm.Conversations(_askable(_requests(seen)))
    return llm.plan_calls(path, conversations, model)


def grade_support(
    path: Path, *, grader: str, calls: llm.ArenaCalls, languages: Sequence[str] | None = None
) -> tuple[store.Arena, SupportResult]:
    """Grade with a model how far each cited passage supports its sentence, replacing the model's earlier grades.

    Replies are committed to the arena's ledger as they arrive: a rerun resumes without paying twice. A citation whose
    call failed gets a row with the reason.

    Args:
        path: the arena's folder.
        grader: name for the rows.
        calls: the model.
        languages: codes; None for all.

    Raises:
        BadInput: if the name is that of people's votes.
        ArenaError: if the arena lacks passages or answers, or cannot be written.
        NotEnoughData: if no answer cites a passage with a known text.
        Unreachable: if the service rejects every call, or every call failed.
    """
    if grader == PEOPLE:
        raise BadInput(f"{grader} is the name of people's votes", do="use another name for the model")
    seen = store.consistently(path, lambda arena: seen_citations(arena, languages))
    requests = _requests(seen)
    askable = _askable(requests)
    replies = calls.replies(path, askable)
    result = _result(requests, askable, replies, grader)
    arena = calls.write(path, "support_grades", result.grades, subject=grader, seen=seen)
    replies.need_any()
    return arena, result


def seen_citations(arena: store.Arena, languages: Sequence[str] | None = None) -> store.Snapshot:
    """Read the inputs of support grades."""
    if "retrieved" not in arena.tables:
        arena.need("passages")
    seen = {"answers": arena.read("answers", languages=languages)}
    for name in ("queries", "passages", "retrieved"):
        if (table := arena.read_optional(name, languages=languages)) is not None:
            seen[name] = table
    return store.Snapshot(arena, seen)


def _requests(seen: store.Snapshot) -> list[SupportRequest]:
    tables = seen.tables
    passages = tables.get("passages", schema.from_rows("passages", []))
    requests = support_requests(tables.get("queries"), passages, tables["answers"], tables.get("retrieved"))
    if not _askable(requests):
        raise NotEnoughData(
            "no answer cites a passage with a known text",
            do="import the passages' texts",
        )
    return requests


def _askable(requests: Sequence[SupportRequest]) -> list[SupportRequest]:
    return [request for request in requests if request.passage is not None]


def _result(
    requests: Sequence[SupportRequest], askable: Sequence[SupportRequest], replies: llm.Replies, grader: str
) -> SupportResult:
    by_request = dict(zip(map(id, askable), replies.by_number, strict=True))
    failed: Counter[str] = Counter()
    rows = []
    unasked = 0
    for request in requests:
        reply = by_request.get(id(request))
        if reply is None and request.passage is not None:
            unasked += 1
            continue
        grade, reason = (None, _NO_TEXT) if reply is None else _read(reply, request)
        key = request.language, request.query_id, request.system, request.sentence, request.passage_id
        rows.append(SupportGrade(*key, grader, grade, reason, None if reply is None else reply.key))
        failed.update([reason] if reason is not None else [])
    table = schema.sort("support_grades", schema.from_rows("support_grades", rows))
    return SupportResult(table, dict(failed), unasked, replies.cost)


def _read(reply: llm.Reply, request: SupportRequest) -> tuple[Support | None, str | None]:
    """Return the grade of a reply, or the reason why there is none."""
    if (reason := llm.unread(reply)) is not None:
        return None, reason
    grade = parse_support(reply.text or "", request.untrusted_texts())
    return grade, None if grade is not None else "no grade could be read"
