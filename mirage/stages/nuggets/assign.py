"""Assignment of nuggets to answers by a model: batched requests, and parsing of the replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from mirage import llm, schema
from mirage.llm.prompts import bundled_text, fence_code, fill
from mirage.schema import Assignment, NuggetAssignment
from mirage.stages.nuggets.bank import banks
from mirage.stages.nuggets.reading import read_list
from mirage.text.languages import name_of

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 10
"""Nuggets per request (nuggetizer's window)."""
_ASSIGNMENTS = get_args(Assignment)


@dataclass(frozen=True, slots=True)
class AssignRequest:
    """An answer, and some nuggets of its query."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    system: str
    """The system that answered."""
    query: str
    """Text of the query."""
    answer: str
    """The raw answer."""
    nuggets: tuple[tuple[str, str], ...]
    """Id and text of each nugget, at most `BATCH`."""

    def conversation(self) -> llm.Messages:
        """Return the messages. Each text is fenced by marks with a code that occurs in none of them."""
        code = fence_code([self.query, self.answer, *(text for _, text in self.nuggets)])
        nuggets = "\n\n".join(
            f"<<NUGGET {number} {code}>>\n{text}\n<<END {code}>>" for number, (_, text) in enumerate(self.nuggets, 1)
        )
        values = {"code": code, "language": name_of(self.language), "question": self.query, "answer": self.answer}
        return [{"role": "user", "content": fill(bundled_text("nugget_assign"), {**values, "nuggets": nuggets})}]


@dataclass(frozen=True)
class AssignResult:
    """Result of assigning nuggets with a model."""

    assignments: pa.Table
    """`schema.NuggetAssignment` rows, one per nugget requested; null with a reason if the assignment failed."""
    failed: Mapping[str, int]
    """Nuggets without an assignment, by reason. A later run retries those whose call failed."""
    unasked: int
    """Nuggets not requested because the budget was reached or the run ended. They have no row."""
    cost: llm.Cost
    """Cost of the calls."""


def assign_requests(queries: pa.Table, nuggets: pa.Table, answers: pa.Table) -> list[AssignRequest]:
    """Build the requests for each answer with a text, to a query with nuggets, in batches of `BATCH` nuggets.

    Args:
        queries: `schema.Query` rows; a query without a text is sent as an empty one.
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
"""Assignment, the words of the answer that state the nugget, and the reason if there is no assignment."""


def _none(request: AssignRequest, reason: str) -> list[Assigned]:
    """Return no assignment for any nugget of a request."""
    return [(None, None, reason)] * len(request.nuggets)


def parse_assignments(text: str, request: AssignRequest) -> list[Assigned]:
    """Parse for each nugget of a request its assignment, the quote, and the reason if there is none.

    Quotes that are not in the answer are dropped; the assignment stays. Contradictory entries on one nugget give none.
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
    return [
        _parse_assignment(by_number.get(number, []), request.answer) for number in range(1, len(request.nuggets) + 1)
    ]


def _parse_assignment(entries: Sequence[Mapping[str, Any]], answer: str) -> Assigned:
    given = {str(entry.get("assignment")) for entry in entries}
    if len(given) != 1:
        return None, None, "the reply has two assignments of it" if given else "the reply has no assignment of it"
    (name,) = given
    assignment: Assignment | None = next((known for known in _ASSIGNMENTS if known == name), None)
    if assignment is None:
        return None, None, f"its assignment is {name[:40]!r}, not one of {', '.join(_ASSIGNMENTS)}"
    quotes = [entry["quote"] for entry in entries if isinstance(entry.get("quote"), str)]
    quote = next((words for words in quotes if _holds(answer, words)), None)
    return assignment, None if assignment == "not_support" else quote, None


def _holds(answer: str, quote: str) -> bool:
    """Return whether an answer contains these words, ignoring whitespace and case."""
    words = " ".join(quote.casefold().split())
    return bool(words) and words in " ".join(answer.casefold().split())


def collect_assignments(requests: Sequence[AssignRequest], replies: llm.Replies, *, assigner: str) -> AssignResult:
    """Collect the assignments in a model's replies.

    Args:
        requests: the requests.
        replies: their replies.
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
