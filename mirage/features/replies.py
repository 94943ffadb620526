"""From the tables to replies: each with its question, its passages and the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mirage.answers import is_numbered
from mirage.errors import BadInput, UnknownName
from mirage.features.spec import MeasuredAnswer

if TYPE_CHECKING:
    import pyarrow as pa

Key = tuple[str, str]
"""Language and query id of a question."""

COLUMNS = ("language", "query_id", "system", "text", "status", "template", "numbered")
"""Columns of `answers` that a reply is made from."""


class AnswerReader:
    """Makes replies of the rows of `answers`.

    Args:
        queries: `schema.Query` rows.
        passages: `schema.Passage` rows.
        answers: `schema.Answer` rows, where the reference's replies are found.
        reference: the system whose answers are the reference, if one is wanted.
        texts: whether the passages' texts are wanted.

    Raises:
        UnknownName: if the reference is not one of the systems.
    """

    def __init__(
        self, queries: pa.Table, passages: pa.Table, answers: pa.Table, *, reference: str | None, texts: bool
    ) -> None:
        columns = (queries[name].to_pylist() for name in ("language", "query_id", "text"))
        self._questions: dict[Key, str | None] = {
            (code, query): text for code, query, text in zip(*columns, strict=True)
        }
        self._passages = _passages(passages, texts=texts)
        self._reference = reference
        self._references: dict[Key, MeasuredAnswer | str] = {}
        if reference is not None:
            self._references = self._replies_of(reference, answers)

    def reply(self, answer: dict[str, Any]) -> MeasuredAnswer | str:
        """The reply of a row, or why there is none.

        Raises:
            BadInput: if its question is not among the queries.
        """
        text, key = answer["text"], (answer["language"], answer["query_id"])
        if key not in self._questions:
            raise BadInput(
                f"there is an answer of {answer['system']} to a question that is not among the queries",
                where=f"language={key[0]!r}, query_id={key[1]!r}",
                do="import the questions that the answers belong to",
            )
        if text is None:
            return f"no reply ({answer['status']})"
        if not text.strip():
            return "empty reply"
        ids, labels, texts = self._passages.get(key, ((), (), ()))
        reference: MeasuredAnswer | str = MeasuredAnswer.reference
        if self._reference is not None:
            missing = f"{self._reference} has no answer to this question"
            reference = self._references.get(key, missing)
            if answer["system"] == self._reference:
                reference = "this is the reference"
        numbered = is_numbered(answer["template"], answer["numbered"])
        return MeasuredAnswer(key[0], text, numbered, ids, labels, self._questions[key], texts, reference)

    def _replies_of(self, system: str, answers: pa.Table) -> dict[Key, MeasuredAnswer | str]:
        """A system's sound replies by question."""
        import pyarrow.compute as pc

        of = answers.filter(pc.equal(answers["system"], system))
        if not len(of):
            raise UnknownName("system", system, pc.unique(answers["system"]).to_pylist(), where="the reference")
        replies: dict[Key, MeasuredAnswer | str] = {}
        for answer in of.select(COLUMNS).to_pylist():
            reply = self.reply(answer)
            if isinstance(reply, MeasuredAnswer) and answer["status"] in ("ok", "truncated"):
                replies[reply.language, answer["query_id"]] = reply
        return replies


def _passages(
    passages: pa.Table, *, texts: bool
) -> dict[Key, tuple[tuple[str, ...], tuple[bool | None, ...], tuple[str | None, ...]]]:
    """Ids, labels and, if wanted, texts of the passages of each question, in the order of the prompt."""
    names = ["language", "query_id", "passage_id", "relevant", *(["title", "text"] if texts else [])]
    ordered = passages.select([*names, "position"]).sort_by(
        [(name, "ascending") for name in ("language", "query_id", "position")]
    )
    by_question: dict[Key, tuple[list[str], list[bool | None], list[str | None]]] = {}
    for code, query, passage, relevant, *titled in zip(*(ordered[name].to_pylist() for name in names), strict=True):
        ids, labels, bodies = by_question.setdefault((code, query), ([], [], []))
        ids.append(passage)
        labels.append(relevant)
        if texts:
            title, text = titled
            bodies.append(f"{title}: {text}" if title and text is not None else text)
    return {key: (tuple(ids), tuple(labels), tuple(bodies)) for key, (ids, labels, bodies) in by_question.items()}
