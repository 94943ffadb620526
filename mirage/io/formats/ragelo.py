"""Files of RAGElo: `queries.csv`, `documents.csv`, `answers.csv`, and its judge's decisions (`*_results.jsonl`)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mirage.errors import BadInput
from mirage.io.formats.fields import answer_text, first, need, number, text
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenScore, GivenVerdict, Record, Sample, ShownPassage
from mirage.io.formats.values import unpack

if TYPE_CHECKING:
    pass

JUDGE = "ragelo"
_WINNERS = {"A": "A", "B": "B", "C": "tie"}
_QUERY_ID = ("qid", "query_id")
_DOCUMENT_ID = ("did", "doc_id", "document_id")
_DOCUMENT = ("document", "document_text")
_OF_QUERIES = frozenset(("qid", "query", "language", "reference", "title", "description", "narrative", "metadata"))


def recognise(sample: Sample) -> str | None:
    """Detect the columns of one of its files."""
    documents = itertools.product(_QUERY_ID, _DOCUMENT_ID, _DOCUMENT)
    answers = itertools.product(_QUERY_ID, (("agent_a", "agent_b"), ("agent",)))
    for names in (*((query, *agents) for query, agents in answers), ("qid", "did"), *documents):
        if set(names) <= sample.fields:
            return f"has {', '.join(names)}"
    # A query with its id is what many files have: more than that is another format's.
    return "has qid, query" if {"qid", "query"} <= sample.fields <= _OF_QUERIES else None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each record as a query, a document, an answer or a result, by its columns."""
    for record in records:
        value = record.value
        if value.get("agent_a") and value.get("agent_b"):
            _game(record, builder)
        elif first(value, *_DOCUMENT_ID) is not None:
            _document(record, builder)
        elif value.get("agent") not in (None, ""):
            _answer(record, builder)
        elif value.get("query") not in (None, ""):
            query_id, language = need(record, *_QUERY_ID), text(record, "language")
            reference = text(record, "reference")
            builder.query(
                text(record, "query"), where=record.where, query_id=query_id, language=language, reference=reference
            )
        else:
            raise BadInput(
                "this record has none of query, did, agent, or agent_a and agent_b",
                where=record.where,
                do="map its columns: --map THEIRS=query, --map THEIRS=agent",
            )


def _document(record: Record, builder: Builder) -> None:
    if text(record, *_DOCUMENT) is None:
        builder.left_out("results of documents", "an arena keeps people's labels of relevance, not a judge's")
        return
    query = builder.query(
        None, where=record.where, query_id=need(record, *_QUERY_ID), language=text(record, "language")
    )
    passage = ShownPassage(text(record, *_DOCUMENT), need(record, *_DOCUMENT_ID), title=text(record, "title"))
    builder.passages(query, [passage], where=record.where)


def _answer(record: Record, builder: Builder) -> None:
    query = builder.query(
        None, where=record.where, query_id=need(record, *_QUERY_ID), language=text(record, "language")
    )
    system = need(record, "agent")
    if "raw_answer" in record.value or "exception" in record.value:
        _scores(record, builder, query, system)
        return
    # Its prompts show documents by their ids.
    builder.answer(query, GivenAnswer(system, answer_text(record, "answer"), numbered=False), where=record.where)


def _scores(record: Record, builder: Builder, query: tuple[str, str], system: str) -> None:
    """Read the judge's numbers for a single answer."""
    given = unpack(record.value.get("answer"))
    values = given if isinstance(given, Mapping) else {"score": given}
    for name, value in values.items():
        score = number(value)
        if score is not None:
            builder.score(query, GivenScore(system, str(name), JUDGE, score, person=False), where=record.where)
        elif name == "score":
            reason = text(record, "exception") or "the judge gave no number"
            builder.score(
                query, GivenScore(system, "score", JUDGE, None, person=False, reason=reason), where=record.where
            )


def _game(record: Record, builder: Builder) -> None:
    """Read one battle in the order shown; `C` is a tie."""
    given: Any = unpack(record.value.get("answer"))
    winner = given.get("winner") if isinstance(given, Mapping) else given
    verdict = _WINNERS.get(str(winner).strip().upper(), "unparsed")
    judge = text(record, "judge")
    if judge is None:
        judge = JUDGE
        builder.note_guess("judge", f"RAGElo's results do not name it, so it is called {JUDGE}; --set judge=NAME")
    exception = text(record, "exception")
    builder.judgment(
        builder.query(None, where=record.where, query_id=need(record, *_QUERY_ID), language=text(record, "language")),
        GivenVerdict(
            judge,
            need(record, "agent_a"),
            need(record, "agent_b"),
            verdict=verdict,
            rationale=text(record, "raw_answer"),
            reason=(exception or f"the winner is {winner!r}, not A, B or C") if verdict == "unparsed" else None,
        ),
        where=record.where,
    )


FORMAT = Format(
    name="ragelo",
    title="RAGElo: queries, documents and answers as CSV, and its judge's results",
    source="zetaalphavector/RAGElo: the columns by README.md at 0156b17, results by ragelo/types/results.py at 0033b9e "
    "and docs/examples/notebooks/pairwise_answers_evaluations.csv at 4faece8 (C is a tie). Results do not say which "
    "model judged.",
    gives=("queries", "references", "passages", "answers", "scores", "judgments"),
    recognise=recognise,
    read=read,
)
