"""What the judge is asked: question, passages and both answers, fenced, so that the text inside is data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, overload

from mirage.judge.pairs import OrderedPair
from mirage.llm import Messages, TokenEstimate
from mirage.prompts import MAX_PASSAGE_TOKENS, bundled_text, fence_code, fill

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage as it is shown."""

    position: int
    """Its place in the prompt that was answered, from 1, by which answers may cite it."""
    passage_id: str
    """Its id, by which they may cite it too."""
    title: str | None
    """Title of its document; null where not known."""
    text: str
    """Its text."""


@dataclass(frozen=True, slots=True)
class ShownTexts:
    """All the text of one battle that others wrote."""

    question: str
    passages: tuple[ShownPassage, ...]
    """In the order of the prompt that was answered."""
    answer_a: str
    """The reply shown first, whole and unchanged; empty where there is none."""
    answer_b: str
    """The reply shown second."""

    def texts(self) -> list[str]:
        """Every text, in the order shown."""
        parts = (part for p in self.passages for part in (p.passage_id, p.title, p.text) if part is not None)
        return [self.question, *parts, self.answer_a, self.answer_b]


@cache
def template() -> str:
    """The prompt, with places for what is shown."""
    return bundled_text("judge")


def render_battle(shown: ShownTexts) -> str:
    """The prompt of a battle.

    Each text stands unchanged between two marks with a code that occurs in none of them, and no text put in is searched
    for anything. The same texts give the same prompt.
    """
    texts = shown.texts()
    code = fence_code(texts)
    passages = (
        f"<<PASSAGE {p.position} {code}>>\nid: {p.passage_id}\n"
        + (f"title: {p.title}\n" if p.title is not None else "")
        + f"{p.text}\n<<END {code}>>"
        for p in shown.passages
    )
    values = {
        "code": code,
        "question": shown.question,
        "passages": "\n\n".join(passages),
        "answer_a": shown.answer_a,
        "answer_b": shown.answer_b,
    }
    return fill(template(), values)


class Prompts(Sequence[Messages]):
    """The conversations of battles, each rendered when it is asked for: those of an arena can be gigabytes.

    Args:
        battles: the battles.
        queries: `schema.Query` rows of their questions.
        passages: `schema.ShownPassage` rows; those without text are left out.
        answers: `schema.Answer` rows.
    """

    def __init__(
        self, battles: Sequence[OrderedPair], queries: pa.Table, passages: pa.Table, answers: pa.Table
    ) -> None:
        self._battles = battles
        self._questions = {
            (row["language"], row["query_id"]): row["text"]
            for row in queries.select(["language", "query_id", "text"]).to_pylist()
        }
        self._passages = _passages(passages)
        self._answers = {
            (row["language"], row["query_id"], row["system"]): row["text"] or ""
            for row in answers.select(["language", "query_id", "system", "text"]).to_pylist()
        }

    def __len__(self) -> int:
        return len(self._battles)

    def shown(self, number: int) -> ShownTexts:
        """The texts of a battle, by its number."""
        battle = self._battles[number]
        question = battle.language, battle.query_id
        return ShownTexts(
            self._questions[question],
            tuple(self._passages[question]),
            self._answers[*question, battle.system_a],
            self._answers[*question, battle.system_b],
        )

    @overload
    def __getitem__(self, number: int) -> Messages: ...
    @overload
    def __getitem__(self, number: slice) -> list[Messages]: ...
    def __getitem__(self, number: int | slice) -> Messages | list[Messages]:
        if isinstance(number, slice):
            return [self[index] for index in range(*number.indices(len(self)))]
        return [{"role": "user", "content": render_battle(self.shown(number))}]


def judgeable(queries: pa.Table, passages: pa.Table) -> set[tuple[str, str]]:
    """Language and id of the questions that can be judged: those whose text is known, and the text of a passage."""
    columns = (queries[name].to_pylist() for name in ("language", "query_id", "text"))
    questions = {(language, query) for language, query, text in zip(*columns, strict=True) if text is not None}
    return questions & set(_passages(passages))


def _passages(passages: pa.Table) -> dict[tuple[str, str], list[ShownPassage]]:
    """The passages with a text, by question, in order, each cut.

    They are cut by the estimate and never by a tokenizer, so that a prompt is the same on every machine.
    """
    cut = TokenEstimate().cut
    columns = ["language", "query_id", "position", "passage_id", "title", "text"]
    by_question: dict[tuple[str, str], list[ShownPassage]] = {}
    for row in passages.select(columns).sort_by([(name, "ascending") for name in columns[:4]]).to_pylist():
        if row["text"] is not None:
            text = cut(row["text"], MAX_PASSAGE_TOKENS)
            passage = ShownPassage(row["position"], row["passage_id"], row["title"], text)
            by_question.setdefault((row["language"], row["query_id"]), []).append(passage)
    return by_question
