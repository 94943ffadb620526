"""Nuggets of an arena: generation and assignment by a model, assignment by shared words.

New assignments replace older ones. Features that depend on them are removed, and recomputed by
`mirage.stages.features.measuring`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import pyarrow as pa

from mirage import schema
from mirage.errors import NotEnoughData
from mirage.llm.asking import explain_unread
from mirage.llm.completion import Messages, Reply
from mirage.llm.prompts import MAX_PASSAGE_TOKENS, fence_code, fence_texts, one_message
from mirage.llm.tokens import TokenEstimate
from mirage.schema import Assignment, Nugget, NuggetAssignment, Tables
from mirage.stages.model_stage import RowStage, find_number, read_list, read_tables
from mirage.stages.nuggets.bank import banks, nugget_id
from mirage.stages.nuggets.terms import TERMS, assign_by_terms
from mirage.stages.shown import query_texts
from mirage.stages.stage import Progress, Stage
from mirage.stats.rows import group, read_rows
from mirage.store.upsert import Snapshot
from mirage.text.languages import name_of

MAX_NUGGETS = 30
"""Maximum nuggets per query (nuggetizer's limit)."""
BATCH = 10
"""Nuggets per request to assign (nuggetizer's window)."""
_ASSIGNMENTS = get_args(Assignment)


@dataclass(frozen=True, slots=True)
class BankRequest:
    """A query whose nuggets are to be generated."""

    language: str
    """Code of its language."""
    query_id: str
    """Its id."""
    text: str
    """The query."""
    passages: tuple[tuple[str, str], ...]
    """Id and truncated text of each source passage."""

    def conversation(self) -> Messages:
        """Return the messages. Each text is fenced by marks with a code that occurs in none of them."""
        texts = [text for _, text in self.passages]
        code = fence_code([self.text, *texts])
        return one_message(
            "nugget_create",
            code=code,
            language=name_of(self.language),
            question=self.text,
            passages=fence_texts("PASSAGE", texts, code),
            most=str(MAX_NUGGETS),
        )


def bank_requests(seen: Snapshot) -> tuple[list[BankRequest], dict[str, int]]:
    """Build the requests for queries whose nuggets can be generated, and count the others by reason.

    Nuggets are generated from the passages labelled relevant, or from all if no passage of the query has a label.

    Raises:
        NotEnoughData: if there is nothing to request.
    """
    known, cut = banks(seen.tables.get("nuggets")), TokenEstimate().cut
    passages = seen.tables["passages"].sort_by("position").to_pylist()
    by_query = group(((row["language"], row["query_id"]), row) for row in passages)
    requests, left = [], Counter[str]()
    for row in schema.sort("queries", seen.tables["queries"]).to_pylist():
        key = row["language"], row["query_id"]
        rows = by_query.get(key, [])
        labelled = any(passage["relevant"] is not None for passage in rows)
        chosen = [passage for passage in rows if passage["relevant"] or not labelled]
        texts = tuple(
            (passage["passage_id"], cut(passage["text"], MAX_PASSAGE_TOKENS))
            for passage in chosen
            if passage["text"] is not None
        )
        if key in known:
            left["the query has nuggets already"] += 1
        elif row["text"] is None:
            left["the text of the query is unknown"] += 1
        elif not texts:
            left["no passage is relevant" if rows and not chosen else "the texts of the passages are unknown"] += 1
        else:
            requests.append(BankRequest(*key, row["text"], texts))
    if not requests:
        why = "; ".join(f"{n:,}: {reason}" for reason, n in left.items()) or "there is no query"
        raise NotEnoughData("no nuggets can be generated", where=why, do="import passages with texts")
    return requests, dict(left)


def parse_bank(text: str, request: BankRequest, author: str) -> list[Nugget] | str:
    """Parse the nuggets in a model's reply, at most `MAX_NUGGETS`, vital nuggets first; or return why it is invalid.

    One entry without a text, with an unknown importance or with a passage not shown invalidates the reply. Duplicates
    are merged, and vital if any of them is.
    """
    entries = read_list(text)
    if isinstance(entries, str):
        return entries
    found: dict[str, Nugget] = {}
    for entry in entries:
        words, importance, passage = (entry.get(name) for name in ("nugget", "importance", "passage"))
        if not isinstance(words, str) or not words.strip():
            return "a nugget has no text"
        if importance not in ("vital", "okay"):
            return f"the importance of a nugget is {str(importance)[:40]!r}, not vital or okay"
        number = find_number(entry, "passage", len(request.passages))
        if passage is not None and number is None:
            return f"a nugget names the passage {str(passage)[:40]!r}, which was not shown"
        name = nugget_id(words)
        source = None if number is None else request.passages[number - 1][0]
        nugget = Nugget(request.language, request.query_id, name, words.strip(), importance, source, author)
        if name not in found or found[name].importance == "okay":
            found[name] = nugget
    ordered = sorted(found.values(), key=lambda nugget: nugget.importance != "vital")
    return ordered[:MAX_NUGGETS] or "the reply has no nugget"


BANKS = RowStage(
    "nuggets",
    lambda arena, languages: read_tables(arena, ("queries", "passages"), ("nuggets",), languages),
    bank_requests,
    lambda request, reply, author: explain_unread(reply) or parse_bank(reply.text or "", request, author),
)
"""Generates the nuggets of every query without any."""


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

    def conversation(self) -> Messages:
        """Return the messages. Each text is fenced by marks with a code that occurs in none of them."""
        texts = [text for _, text in self.nuggets]
        code = fence_code([self.query, self.answer, *texts])
        return one_message(
            "nugget_assign",
            code=code,
            language=name_of(self.language),
            question=self.query,
            answer=self.answer,
            nuggets=fence_texts("NUGGET", texts, code),
        )


def _assign_requests(seen: Snapshot) -> tuple[list[AssignRequest], dict[str, int]]:
    """Build the requests for each answer with a text, to a query with nuggets, in batches of `BATCH` nuggets. A query
    without a text is sent as an empty one.
    """
    texts = query_texts(seen.tables.get("queries"))
    by_query = banks(seen.tables["nuggets"])
    requests = []
    answers = schema.sort("answers", seen.tables["answers"])
    for language, query_id, system, text in read_rows(answers, *schema.key("answers"), "text"):
        key = language, query_id
        bank = by_query.get(key, []) if text is not None and text.strip() else []
        for start in range(0, len(bank), BATCH):
            part = tuple(bank[start : start + BATCH])
            requests.append(AssignRequest(*key, system, texts.get(key) or "", text, part))
    if not requests:
        raise NotEnoughData(
            "no answer with a text belongs to a query with nuggets", do="create or import nuggets first"
        )
    return requests, {}


Assigned = tuple[Assignment | None, str | None, str | None]
"""Assignment, the words of the answer that state the nugget, and the reason if there is no assignment."""


def _no_assignments(request: AssignRequest, reason: str) -> list[Assigned]:
    """Return no assignment for any nugget of a request."""
    return [(None, None, reason)] * len(request.nuggets)


def parse_assignments(text: str, request: AssignRequest) -> list[Assigned]:
    """Parse for each nugget of a request its assignment, the quote, and the reason if there is none.

    Quotes that are not in the answer are dropped; the assignment stays. Contradictory entries on one nugget give none.
    """
    entries = read_list(text)
    if isinstance(entries, str):
        return _no_assignments(request, entries)
    by_number = group((find_number(entry, "nugget", len(request.nuggets)), entry) for entry in entries)
    if None in by_number:
        named = str(by_number[None][0].get("nugget"))[:40]
        return _no_assignments(request, f"the reply names the nugget {named!r}, which was not shown")
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


def _read_assignments(request: AssignRequest, reply: Reply, assigner: str) -> list[NuggetAssignment]:
    reason = explain_unread(reply)
    given = parse_assignments(reply.text or "", request) if reason is None else _no_assignments(request, reason)
    key = request.language, request.query_id, request.system
    return [
        NuggetAssignment(*key, name, assigner, *decision, reply.key)
        for (name, _), decision in zip(request.nuggets, given, strict=True)
    ]


ASSIGNMENTS = RowStage(
    "nugget_assignments",
    lambda arena, languages: read_tables(arena, ("answers", "nuggets"), ("queries",), languages),
    _assign_requests,
    _read_assignments,
    size=lambda request: len(request.nuggets),
    reserved={TERMS: "the word matcher"},
)
"""Decides which nuggets each answer states. A nugget whose call failed gets a row with the reason."""


def _terms(tables: Tables, *, progress: Progress | None = None) -> dict[str, pa.Table]:
    if progress is not None:
        progress(0, 1)
    table = assign_by_terms(tables["nuggets"], tables["answers"], tables.get("queries"))
    if progress is not None:
        progress(1, 1)
    return {"nugget_assignments": table}


TERM_ASSIGNMENTS = Stage(
    "nugget assignments by terms",
    ("answers", "nuggets"),
    ("nugget_assignments",),
    _terms,
    uses=("queries",),
    by=("language", "query_id"),
)
"""Matches every nugget with every answer by shared words."""
