"""Reading answers for measurement: each with its query, its passages and the reference."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import BadInput
from mirage.schema import QueryKey
from mirage.stages.features.assessed import Assessments
from mirage.stages.features.spec import MeasuredAnswer
from mirage.stages.shown import ShownPassages, query_texts
from mirage.stats.rows import read_rows
from mirage.text.answers import is_numbered

_COLUMNS = ("language", "query_id", "system", "text", "status", "template", "numbered", "retriever", "depth")
"""Columns of `answers` used in a `MeasuredAnswer`."""
IS_REFERENCE = "this is the reference"
"""Reason why the reference system has no agreement with the reference."""


def no_reply(status: str) -> str:
    """Return the reason why a feature of an answer without a text is null, by the answer's status."""
    return f"no reply ({status})"


class AnswerReader:
    """Builds a `MeasuredAnswer` from each row of `answers`.

    Args:
        queries: `schema.Query` rows; None if nothing is known of the queries.
        passages: `schema.Passage` rows; None for none.
        answers: `schema.Answer` rows, including the reference's.
        reference: the reference system, or `schema.Reference` rows; None if there is none, or none is needed.
        texts: whether the passages' texts are needed.
        retrieved: `schema.Retrieved` rows of passages shown to systems; None for none.
        assessments: nugget assignments and support grades; None if no feature needs them.
    """

    def __init__(
        self,
        queries: pa.Table | None,
        passages: pa.Table | None,
        answers: pa.Table,
        *,
        reference: str | pa.Table | None,
        texts: bool,
        retrieved: pa.Table | None = None,
        assessments: Assessments | None = None,
    ) -> None:
        self.answers: pa.Table = schema.sort("answers", answers.select(_COLUMNS))
        """The answers to measure, sorted by key."""
        self._assessments = assessments or Assessments({})
        self._queries: dict[QueryKey, str | None] = query_texts(queries)
        if queries is None:
            self._queries = dict.fromkeys(read_rows(self.answers, "language", "query_id"))
        self._texts = texts
        self._pooled: set[tuple[Any, ...]] = set()
        if passages is not None and "pooled" in passages.column_names:
            self._pooled |= set(read_rows(passages.filter(passages["pooled"]), "language", "query_id"))
        columns_read = ("passage_id", "relevant", *(("title", "text") if texts else ()))
        self._shown = ShownPassages(passages, retrieved, columns=columns_read)
        self._passages: dict[tuple[Any, ...], tuple[tuple[Any, ...], ...]] = {}
        self._reference = reference if isinstance(reference, str) else None
        self._references: dict[QueryKey, MeasuredAnswer | str] = {}
        self._absent = MeasuredAnswer.reference
        """Reason for a query without a reference."""
        if isinstance(reference, str):
            self._absent = f"{reference} has no answer to this query"
            own = self.answers.filter(pc.equal(self.answers["system"], reference))
            for answer in own.filter(pc.is_in(own["status"], pa.array(["ok", "truncated"]))).to_pylist():
                if isinstance(measured := self.read(answer), MeasuredAnswer):
                    self._references[answer["language"], answer["query_id"]] = measured
        elif reference is not None:
            self._absent = "this query has no reference answer"
            texts_of = query_texts(reference)
            self._references = {key: MeasuredAnswer(key[0], str(text), False, (), ()) for key, text in texts_of.items()}

    def blocks(self, size: int) -> Iterator[list[MeasuredAnswer | str]]:
        """Yield the answers in blocks, each with its query, passages and reference, or a reason why there is none.

        Raises:
            BadInput: if a query is missing.
        """
        for start in range(0, len(self.answers), size):
            yield [self.read(answer) for answer in self.answers.slice(start, size).to_pylist()]

    def read(self, answer: dict[str, Any]) -> MeasuredAnswer | str:
        """Return the answer of a row, or the reason why there is none.

        Raises:
            BadInput: if its query is missing.
        """
        text, key = answer["text"], (answer["language"], answer["query_id"])
        if key not in self._queries:
            raise BadInput(
                f"the query of an answer of {answer['system']} is missing",
                where=f"language={key[0]!r}, query_id={key[1]!r}",
                do="import the queries of the answers",
            )
        if text is None:
            return no_reply(answer["status"])
        if not text.strip():
            return "empty reply"
        ids, labels, texts = self._passages_of(key, answer["retriever"], answer["depth"])
        is_reference = answer["system"] == self._reference
        reference = IS_REFERENCE if is_reference else self._references.get(key, self._absent)
        numbered = is_numbered(answer["template"], answer["numbered"])
        ordered = numbered is not None or answer["retriever"] is not None or key not in self._pooled
        numbered = numbered if ordered else False
        nuggets, grades = self._assessments.of((*key, answer["system"]))
        about = self._queries[key], texts, ordered, reference, nuggets, grades
        return MeasuredAnswer(key[0], text, numbered, ids, labels, *about)

    def _passages_of(self, query: QueryKey, retriever: str | None, depth: int | None) -> tuple[tuple[Any, ...], ...]:
        """Return ids, labels and, if needed, texts of the shown passages, in order; cached, as systems share them."""
        place = (*query, retriever, depth)
        if place not in self._passages:
            rows = self._shown.of(query, retriever, depth)
            texts = (f"{row[2]}: {row[3]}" if row[2] and row[3] is not None else row[3] for row in rows if self._texts)
            self._passages[place] = tuple(row[0] for row in rows), tuple(row[1] for row in rows), tuple(texts)
        return self._passages[place]
