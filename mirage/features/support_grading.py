"""Grading support: a model says how far each cited passage bears out its sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mirage import llm, schema, store
from mirage.errors import BadInput, NotEnoughData
from mirage.features.reader import COLUMNS, AnswerReader
from mirage.features.spec import MeasuredAnswer
from mirage.features.support import cited_places
from mirage.languages import name_of
from mirage.marks import GRADE_NOUNS, Mark, MarkForm, bracketed
from mirage.prompts import MAX_PASSAGE_TOKENS, bundled_text, fence_code, fill
from mirage.schema import PEOPLE, Support, SupportGrade
from mirage.thoughts import part_thoughts

if TYPE_CHECKING:
    import pyarrow as pa

_GRADES: dict[str, Support] = {"full": "full", "partial": "partial", "none": "none"}
_NO_TEXT = "the text of the passage is not known"


def _value(mark: Mark) -> Support | None:
    return _GRADES.get(mark["grade"].casefold())


_FORM = MarkForm(re.compile(bracketed(r"(?P<grade>[A-Za-z]{1,20})")), _value, f"{GRADE_NOUNS}|support")


@dataclass(frozen=True, slots=True)
class SupportRequest:
    """A sentence and a passage that it cites."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    system: str
    """What produced the answer."""
    sentence: int
    """Number of the sentence (`support.cited_places`)."""
    passage_id: str
    """The passage."""
    query: str
    """Text of the query; empty where it is not known."""
    passage: str | None
    """Text of the passage, cut; None where it is not known."""
    words: str
    """The sentence, without its citations."""

    def conversation(self) -> llm.Messages:
        """What the model is asked. Each text stands between two marks with a code that occurs in none of them."""
        values = {
            "code": fence_code(self.shown()),
            "language": name_of(self.language),
            "question": self.query,
            "passage": self.passage or "",
            "sentence": self.words,
        }
        return [{"role": "user", "content": fill(bundled_text("support"), values)}]

    def shown(self) -> list[str]:
        """Every text that others wrote."""
        return [self.query, self.passage or "", self.words]


@dataclass(frozen=True)
class SupportResult:
    """What came of asking a model."""

    grades: pa.Table
    """`schema.SupportGrade` rows, one for every citation asked about; null with a reason where no grade came."""
    failed: Mapping[str, int]
    """Citations without a grade, by the reason. A later run asks again for those whose call failed."""
    unasked: int
    """Citations not asked about, since the budget was reached or the run ended. They have no row."""
    cost: llm.Cost
    """What it has cost."""


def support_requests(
    queries: pa.Table | None, passages: pa.Table, answers: pa.Table, retrieved: pa.Table | None = None
) -> list[SupportRequest]:
    """Every citation of a known passage, in the order of answers and sentences.

    Args:
        queries: `schema.Query` rows; None where there are none.
        passages: `schema.Passage` rows.
        answers: `schema.Answer` rows.
        retrieved: `schema.Retrieved` rows, where systems were shown what a retriever brought; None for none.
    """
    cut = llm.TokenEstimate().cut
    answers = schema.sort("answers", answers.select(COLUMNS))
    if queries is None:
        keys = answers.select(["language", "query_id"]).group_by(["language", "query_id"]).aggregate([])
        queries = schema.from_columns("queries", {name: keys[name] for name in keys.column_names})
    reader = AnswerReader(queries, passages, answers, reference=None, texts=True, retrieved=retrieved)
    requests = []
    for row in answers.to_pylist():
        answer = reader.measured(row)
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
    """The grade that a model sets in its reply, by the rule of `mirage.marks`; None where there is none.

    Args:
        text: what the model wrote.
        shown_texts: the texts it was shown.
    """
    shown_texts = list(shown_texts)
    parted = part_thoughts(text, shown_texts)
    if parted.gap is not None:
        return None
    grades = [_value(mark) for mark in _FORM.own(parted.text, shown_texts)]
    if not grades or (_FORM.planted(shown_texts) and len(set(grades)) > 1):
        return None
    return grades[-1]


def plan_support(
    path: Path, *, settings: llm.Settings, limits: llm.Limits, languages: Sequence[str] | None = None
) -> llm.Cost:
    """What grading the citations of an arena would cost at most; nothing is sent or written.

    Raises:
        ArenaError: if the arena lacks passages or answers.
        NotEnoughData: if no answer cites a passage whose text is known.
    """
    seen = store.consistently(path, lambda arena: seen_citations(arena, languages))
    conversations = llm.Conversations(_askable(_requests(seen)))
    return llm.plan_calls(path, conversations, settings=settings, limits=limits)


def grade_support(
    path: Path, *, grader: str, calls: llm.ArenaCalls, languages: Sequence[str] | None = None
) -> tuple[store.Arena, SupportResult]:
    """Let a model grade how far each cited passage bears out its sentence. Its grades replace its own.

    Replies are in the arena's ledger the moment they come: whoever is stopped goes on with the same command and pays
    nothing twice. A citation whose call failed has a row that says so.

    Args:
        path: the arena's folder.
        grader: the name of its rows.
        calls: the model.
        languages: codes; None for all.

    Raises:
        BadInput: if the name is that of people's votes.
        ArenaError: if the arena lacks passages or answers, or cannot be written.
        NotEnoughData: if no answer cites a passage whose text is known.
        Unreachable: if the service turns down what every call needs, or no call at all got a reply.
    """
    if grader == PEOPLE:
        raise BadInput(f"{grader} is the name of people's votes", do="give the model another name")
    seen = store.consistently(path, lambda arena: seen_citations(arena, languages))
    requests = _requests(seen)
    askable = _askable(requests)
    replies = calls.replies(path, askable)
    result = _result(requests, askable, replies, grader)
    arena = calls.write(path, "support_grades", result.grades, subject=grader, seen=seen)
    replies.need_any()
    return arena, result


def seen_citations(arena: store.Arena, languages: Sequence[str] | None = None) -> store.Snapshot:
    """What grades of support rest on."""
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
            "no answer cites a passage whose text is known",
            do="give the passages their texts",
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
    """The grade of a reply, or why there is none."""
    if (reason := llm.unread(reply)) is not None:
        return None, reason
    grade = parse_support(reply.text or "", request.shown())
    return grade, None if grade is not None else "no grade could be read"
