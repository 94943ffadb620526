"""Which nuggets an answer states, by a model: what it is asked, in batches, and the assignments in its reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from mirage import llm, schema
from mirage.languages import name_of
from mirage.nuggets.bank import banks
from mirage.nuggets.reading import read_list
from mirage.prompts import bundled_text, fence_code, fill
from mirage.schema import Assignment, NuggetAssignment

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 10
"""Nuggets of one request (nuggetizer's window)."""
_ASSIGNMENTS = get_args(Assignment)


@dataclass(frozen=True, slots=True)
class AssignRequest:
    """An answer, and some nuggets of its query."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    system: str
    """What produced the answer."""
    query: str
    """Text of the query."""
    answer: str
    """The raw answer."""
    nuggets: tuple[tuple[str, str], ...]
    """Id and text of each nugget, at most `BATCH`."""

    def conversation(self) -> llm.Messages:
        """What the model is asked. Each text stands between two marks with a code that occurs in none of them."""
        code = fence_code([self.query, self.answer, *(text for _, text in self.nuggets)])
        nuggets = "\n\n".join(
            f"<<NUGGET {number} {code}>>\n{text}\n<<END {code}>>" for number, (_, text) in enumerate(self.nuggets, 1)
        )
        values = {"code": code, "language": name_of(self.language), "question": self.query, "answer": self.answer}
        return [{"role": "user", "content": fill(bundled_text("nugget_assign"), {**values, "nuggets": nuggets})}]


@dataclass(frozen=True)
class AssignResult:
    """What came of asking a model which nuggets answers state."""

    assignments: pa.Table
    """`schema.NuggetAssignment` rows, one for every nugget asked about; null with a reason where no assignment came."""
    failed: Mapping[str, int]
    """Nuggets without an assignment, by the reason. A later run asks again for those whose call failed."""
    unasked: int
    """Nuggets not asked about, since the budget was reached or the run ended. They have no row."""
    cost: llm.Cost
    """What it has cost."""


def assign_requests(queries: pa.Table, nuggets: pa.Table, answers: pa.Table) -> list[AssignRequest]:
    """What is asked of each answer that has a text, to a query that has nuggets: requests of `BATCH` nuggets.

    Args:
        queries: `schema.Query` rows; a query without a text is asked about with an empty one.
        nuggets: `schema.Nugget` rows.
        answers: `schema.Answer` rows.
    """
    names = ("language", "query_id", "text")
    columns = (queries[name].to_pylist() for name in names)
    texts = {(language, query_id): text or "" for language, query_id, text in zip(*columns, strict=True)}
    by_query = banks(nuggets)
    requests = []
    columns = (schema.sort("answers", answers)[name].to_pylist() for name in (*schema.key("answers"), "text"))
    for language, query_id, system, text in zip(*columns, strict=True):
        bank = by_query.get((language, query_id), [])
        if text is not None and text.strip():
            requests += [
                AssignRequest(
                    language,
                    query_id,
                    system,
                    texts.get((language, query_id), ""),
                    text,
                    tuple(bank[start : start + BATCH]),
                )
                for start in range(0, len(bank), BATCH)
            ]
    return requests


Assigned = tuple[Assignment | None, str | None, str | None]
"""Assignment, the words of the answer that state the nugget, and why there is no assignment."""


def _none(request: AssignRequest, reason: str) -> list[Assigned]:
    """No assignment of any nugget of a request."""
    return [(None, None, reason)] * len(request.nuggets)


def parse_assignments(text: str, request: AssignRequest) -> list[Assigned]:
    """For each nugget of a request: assignment, the words of the answer that state it, and why there is none.

    Words that the answer does not hold are no quotation and are left out; the assignment stands. Two entries on one
    nugget that disagree give none.
    """
    entries = read_list(text)
    if isinstance(entries, str):
        return _none(request, entries)
    by_number: dict[int, list[dict[str, Any]]] = {}
    for entry in entries:
        number = entry.get("nugget")
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= len(request.nuggets):
            return _none(request, f"the reply names the nugget {str(number)[:40]!r}, which was not shown")
        by_number.setdefault(number, []).append(entry)
    return [_assigned(by_number.get(number, []), request.answer) for number in range(1, len(request.nuggets) + 1)]


def _assigned(entries: Sequence[Mapping[str, Any]], answer: str) -> Assigned:
    given = {str(entry.get("assignment")) for entry in entries}
    if len(given) != 1:
        return None, None, "the reply has two assignments of it" if given else "the reply has no assignment of it"
    (name,) = given
    assignment: Assignment | None = next((known for known in _ASSIGNMENTS if known == name), None)
    if assignment is None:
        return None, None, f"its assignment is {name[:40]!r}, none of {', '.join(_ASSIGNMENTS)}"
    quotes = [entry["quote"] for entry in entries if isinstance(entry.get("quote"), str)]
    quote = next((words for words in quotes if _holds(answer, words)), None)
    return assignment, None if assignment == "not_support" else quote, None


def _holds(answer: str, quote: str) -> bool:
    """Whether an answer has these words, but for white space and case."""
    words = " ".join(quote.casefold().split())
    return bool(words) and words in " ".join(answer.casefold().split())


def assigned(requests: Sequence[AssignRequest], replies: llm.Replies, *, assigner: str) -> AssignResult:
    """The assignments in a model's replies.

    Args:
        requests: what was asked.
        replies: what came.
        assigner: the model's name, for the rows.
    """
    failed: Counter[str] = Counter()
    rows = []
    unasked = 0
    for request, reply in zip(requests, replies.by_number, strict=True):
        if reply is None:
            unasked += len(request.nuggets)
            continue
        reason = llm.unread(reply)
        given = parse_assignments(reply.text or "", request) if reason is None else _none(request, reason)
        key = request.language, request.query_id, request.system
        for (name, _), (assignment, quote, why) in zip(request.nuggets, given, strict=True):
            rows.append(NuggetAssignment(*key, name, assigner, assignment, quote, why, reply.key))
            failed.update([why] if why is not None else [])
    table = schema.sort("nugget_assignments", schema.from_rows("nugget_assignments", rows))
    return AssignResult(table, dict(failed), unasked, replies.cost)
