"""Files of RAGElo: `queries.csv`, `documents.csv`, `answers.csv`, and its judge's decisions (`*_results.jsonl`)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import answer_text, first, need, number, text
from mirage.io.formats.logs import members
from mirage.io.formats.spec import GivenAnswer, GivenScore, GivenVerdict, Item, Record, Sample, ShownPassage
from mirage.io.values import unpack

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


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read a record as a query, a document, an answer or a result, by its columns."""
    value = record.value
    document = first(value, *_DOCUMENT_ID) is not None
    if document and text(record, *_DOCUMENT) is None:
        builder.left_out("results of documents", "an arena keeps people's labels of relevance, not a judge's")
        return
    if not document and not any(value.get(name) not in (None, "") for name in ("agent", "agent_a", "query")):
        raise BadInput(
            "this record has none of query, did, agent, or agent_a and agent_b",
            where=record.where,
            do="map its columns: --map THEIRS=query, --map THEIRS=agent",
        )
    item = Item(None, query_id=need(record, *_QUERY_ID))
    if value.get("agent_a") and value.get("agent_b"):
        yield replace(item, verdicts=[_game(record, builder)])
    elif document:
        passage = ShownPassage(text(record, *_DOCUMENT), need(record, *_DOCUMENT_ID), title=text(record, "title"))
        yield replace(item, passages=[passage])
    elif "agent" not in value:
        yield replace(item, text=text(record, "query"), reference=text(record, "reference"))
    elif "raw_answer" in value or "exception" in value:
        yield replace(item, scores=list(_scores(record, need(record, "agent"))))
    else:
        # Its prompts show documents by their ids.
        yield replace(item, answers=[GivenAnswer(need(record, "agent"), answer_text(record, "answer"), numbered=False)])


def _scores(record: Record, system: str) -> Iterator[GivenScore]:
    """Return the judge's numbers for a single answer."""
    given = unpack(record.value.get("answer"))
    for name, value in (given if isinstance(given, Mapping) else {"score": given}).items():
        score = number(value)
        if score is not None or name == "score":
            reason = text(record, "exception") or "the judge gave no number"
            yield GivenScore(system, str(name), JUDGE, score, reason=reason)


def _game(record: Record, builder: Builder) -> GivenVerdict:
    """Return the verdict of one battle in the order shown; `C` is a tie."""
    given: Any = unpack(record.value.get("answer"))
    winner = members(given).get("winner") if isinstance(given, Mapping) else given
    if (judge := text(record, "judge")) is None:
        judge = JUDGE
        builder.note_guess("judge", f"RAGElo's results do not name it, so it is called {JUDGE}; --set judge=NAME")
    return GivenVerdict(
        judge,
        need(record, "agent_a"),
        need(record, "agent_b"),
        verdict=_WINNERS.get(str(winner).strip().upper(), "unparsed"),
        rationale=text(record, "raw_answer"),
        reason=text(record, "exception") or f"the winner is {winner!r}, not A, B or C",
    )


FORMAT = Format(
    name="ragelo",
    title="RAGElo: queries, documents and answers as CSV, and its judge's results",
    source="zetaalphavector/RAGElo: the columns by README.md at 0156b17, results by ragelo/types/results.py at 0033b9e "
    "and docs/examples/notebooks/pairwise_answers_evaluations.csv at 4faece8 (C is a tie). Results do not say which "
    "model judged.",
    gives=("queries", "references", "passages", "answers", "scores", "judgments"),
    recognise=recognise,
    items=_items,
)
