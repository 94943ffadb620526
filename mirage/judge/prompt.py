"""What the judge is asked: query, passages and both answers, fenced, so that the text inside is data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, overload

from mirage import schema
from mirage.answers import is_numbered
from mirage.formats.content import renumbered
from mirage.judge.pairs import OrderedPair
from mirage.llm import Messages, TokenEstimate
from mirage.prompts import MAX_PASSAGE_TOKENS, bundled_text, fence_code, fill
from mirage.shown import ShownPassages, contexts

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class PromptPassage:
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

    query: str
    passages: tuple[PromptPassage, ...]
    """In the order of the prompt that was answered."""
    answer_a: str
    """The answer shown first, whole and unchanged but for the numbers of passages where the two systems were shown
    different ones; empty where there is none."""
    answer_b: str
    """The answer shown second."""
    turns: tuple[tuple[str, str], ...] = ()
    """What was said before the query, in order: who spoke, and the text."""

    def texts(self) -> list[str]:
        """Every text, in the order shown."""
        parts = (part for p in self.passages for part in (p.passage_id, p.title, p.text) if part is not None)
        return [*(part for turn in self.turns for part in turn), self.query, *parts, self.answer_a, self.answer_b]


_BEFORE = "The question ends a conversation. What was said before it, in order:"
"""Stands before the turns, where there are any."""


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
    turns = [
        f"<<EARLIER TURN {k} {code}>>\nspeaker: {speaker}\n{text}\n<<END {code}>>"
        for k, (speaker, text) in enumerate(shown.turns, 1)
    ]
    before = [_BEFORE, *turns] if turns else []
    passages = [
        f"<<PASSAGE {p.position} {code}>>\nid: {p.passage_id}\n"
        + (f"title: {p.title}\n" if p.title is not None else "")
        + f"{p.text}\n<<END {code}>>"
        for p in shown.passages
    ]
    values = {
        "code": code,
        "question": shown.query,
        "passages": "\n\n".join([*before, *passages]),
        "answer_a": shown.answer_a,
        "answer_b": shown.answer_b,
    }
    return fill(template(), values)


class Prompts(Sequence[Messages]):
    """The conversations of battles, each rendered when it is asked for: those of an arena can be gigabytes.

    Args:
        battles: the battles.
        queries: `schema.Query` rows of their queries.
        passages: `schema.Passage` rows; those without text are left out.
        answers: `schema.Answer` rows.
        turns: `schema.Turn` rows; None where no query has any.
        retrieved: `schema.Retrieved` rows, of which systems were shown some; None for none.

    Where the two systems were shown different passages, the battle shows those of the first and then those of the
    second that the first was not shown. They are numbered in this order, and so are the numbers in brackets by which an
    answer cites them.
    """

    def __init__(
        self,
        battles: Sequence[OrderedPair],
        queries: pa.Table,
        passages: pa.Table,
        answers: pa.Table,
        turns: pa.Table | None = None,
        retrieved: pa.Table | None = None,
    ) -> None:
        self._battles = battles
        self._queries = {
            (row["language"], row["query_id"]): row["text"]
            for row in queries.select(["language", "query_id", "text"]).to_pylist()
        }
        self._shown = ShownPassages(passages, retrieved, columns=_COLUMNS)
        self._passages: dict[tuple[Any, ...], list[PromptPassage]] = {}
        self._answers = {
            (row["language"], row["query_id"], row["system"]): _ShownAnswer(
                row["text"] or "", row["retriever"], row["depth"], is_numbered(row["template"], row["numbered"])
            )
            for row in answers.select(
                ["language", "query_id", "system", "text", "retriever", "depth", "template", "numbered"]
            ).to_pylist()
        }
        self._turns: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for row in schema.sort("turns", turns).to_pylist() if turns is not None else ():
            turn = row["speaker"], TokenEstimate().cut(row["text"], MAX_PASSAGE_TOKENS)
            self._turns.setdefault((row["language"], row["query_id"]), []).append(turn)

    def __len__(self) -> int:
        return len(self._battles)

    def shown(self, number: int) -> ShownTexts:
        """The texts of a battle, by its number."""
        battle = self._battles[number]
        query = battle.language, battle.query_id
        first, second = (self._answers[*query, system] for system in (battle.system_a, battle.system_b))
        passages, texts = self._passages_of(query, first), (first.text, second.text)
        if first.context != second.context:
            ids = [self._ids(query, answer) for answer in (first, second)]
            order = list(dict.fromkeys(ids[0] + ids[1]))
            by_id = {passage.passage_id: passage for passage in (*self._passages_of(query, second), *passages)}
            places = [(place, by_id[passage]) for place, passage in enumerate(order, start=1) if passage in by_id]
            passages = [replace(passage, position=place) for place, passage in places]
            texts = _renumbered(first, ids[0], order), _renumbered(second, ids[1], order)
        return ShownTexts(self._queries[query], tuple(passages), *texts, tuple(self._turns.get(query, ())))

    def _ids(self, query: tuple[str, str], answer: _ShownAnswer) -> list[str]:
        """Ids of all passages that an answer's system was shown, in order."""
        return [row[1] for row in self._shown.of(query, *answer.context)]

    def _passages_of(self, query: tuple[str, str], answer: _ShownAnswer) -> list[PromptPassage]:
        """The passages with a text that an answer's system was shown, in order, each cut.

        They are cut by the estimate and never by a tokenizer, so that a prompt is the same on every machine.
        """
        place = (*query, *answer.context)
        if place not in self._passages:
            self._passages[place] = [
                PromptPassage(position, passage_id, title, TokenEstimate().cut(text, MAX_PASSAGE_TOKENS))
                for position, passage_id, title, text in self._shown.of(query, *answer.context)
                if text is not None
            ]
        return self._passages[place]

    @overload
    def __getitem__(self, number: int) -> Messages: ...
    @overload
    def __getitem__(self, number: slice) -> list[Messages]: ...
    def __getitem__(self, number: int | slice) -> Messages | list[Messages]:
        if isinstance(number, slice):
            return [self[index] for index in range(*number.indices(len(self)))]
        return [{"role": "user", "content": render_battle(self.shown(number))}]


def judgeable(queries: pa.Table, passages: pa.Table, retrieved: pa.Table | None = None) -> set[tuple[str, str]]:
    """Language and id of the queries that can be judged: those whose text is known, and the text of a passage."""
    columns = (queries[name].to_pylist() for name in ("language", "query_id", "text"))
    known = {(language, query) for language, query, text in zip(*columns, strict=True) if text is not None}
    rows = contexts(passages, retrieved)
    columns = (rows[name].to_pylist() for name in ("language", "query_id", "text"))
    return known & {(language, query) for language, query, text in zip(*columns, strict=True) if text is not None}


_COLUMNS = ("position", "passage_id", "title", "text")


@dataclass(frozen=True, slots=True)
class _ShownAnswer:
    """An answer, with what its system was shown."""

    text: str
    retriever: str | None
    depth: int | None
    numbered: bool

    @property
    def context(self) -> tuple[str | None, int | None]:
        """Equal for two answers whose systems were shown the same passages of a query."""
        return self.retriever, self.depth


def _renumbered(answer: _ShownAnswer, shown: Sequence[str], order: Sequence[str]) -> str:
    """An answer whose numbers in brackets count passages in another order."""
    return renumbered(answer.text, shown, order) if answer.numbered and answer.text else answer.text
