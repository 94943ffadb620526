"""The live arena: readers' questions with their passages, answers and votes, separate from the test set.

It is stored in the folder `ask` of the arena that readers ask about. It has the tables of any arena, so every page and
command reads it, and it cannot affect numbers of the test set. A vote is a verdict of the judge `people`.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from mirage import schema, store
from mirage.errors import BadInput
from mirage.people.ask.pairs import Pair, ordered
from mirage.store.home import LIVE

if TYPE_CHECKING:
    from mirage.store import Arena

MADE_BY = "the page Ask"
_ENDS = "?؟？।。.!！ \u00a0"
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """Rows of one question in the live arena."""

    query_id: str
    """Id of the question."""
    passages: tuple[schema.Passage, ...] = ()
    """Its passages; empty for a new question."""
    answers: tuple[schema.Answer, ...] = ()
    """Its answers."""
    voted: tuple[tuple[str, Pair], ...] = ()
    """Voter and pair of each vote on it."""


@dataclass(frozen=True, slots=True)
class VotedQuestion:
    """A question with two answers and a vote, to be written."""

    query: schema.Query
    """The question."""
    passages: tuple[schema.Passage, ...]
    """The passages shown to both systems."""
    answers: tuple[schema.Answer, schema.Answer]
    """The answers, in the order shown."""
    verdict: schema.Verdict
    """The vote, in this order."""
    voter: str
    """Pseudonym of the reader."""


class _ChangedError(Exception):
    """Another reader's answer to the same question was stored first."""


def live_folder(folder: Path) -> Path:
    """Return the folder of the live arena of an arena's folder."""
    return folder / LIVE


def open_live(folder: Path) -> Arena | None:
    """Open the live arena of an arena's folder; None before the first vote.

    Raises:
        ArenaError: if it is damaged.
    """
    path = live_folder(folder)
    return store.reopen(path) if store.is_arena(path) else None


def question_id(language: str, text: str) -> str:
    """Return the id of a question, ignoring spaces, case and the final punctuation mark."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(_ENDS)
    return f"ask-{hashlib.sha256(f'{language} {folded}'.encode()).hexdigest()[:16]}"


def known_question(live: Arena | None, language: str, query_id: str) -> KnownQuestion:
    """Return the stored rows of a question."""
    if live is None or language not in live.languages("queries"):
        return KnownQuestion(query_id)
    passages = _rows(live, "passages", schema.Passage, language, query_id)
    judgments = _rows(live, "judgments", schema.Judgment, language, query_id)
    return KnownQuestion(
        query_id,
        tuple(sorted(passages, key=lambda row: row.position)),
        tuple(_rows(live, "answers", schema.Answer, language, query_id)),
        tuple(
            (row.voter or "", ordered(row.system_a, row.system_b)) for row in judgments if row.judge == schema.PEOPLE
        ),
    )


@lru_cache(maxsize=8)
def vote_pairs(live: Arena) -> tuple[Pair, ...]:
    """Return the two systems of every vote."""
    rows = live.read("judgments", columns=["judge", "system_a", "system_b"])
    columns = (rows[name].to_pylist() for name in ("judge", "system_a", "system_b"))
    return tuple(ordered(a, b) for judge, a, b in zip(*columns, strict=True) if judge == schema.PEOPLE)


def write_vote(folder: Path, voted: VotedQuestion, *, title: str) -> str:
    """Write a question, its passages, both answers and the vote, in one transaction.

    A question asked before keeps its rows. If a different answer of the same system was stored in the meantime, the
    question gets a new id (`ID~2`), since a vote belongs to the answers shown.

    Args:
        folder: the folder of the arena that was asked about.
        voted: the rows.
        title: title of a new live arena.

    Returns:
        The id under which the question was written.

    Raises:
        BadInput: if this reader has voted on this pair for this question.
        ArenaError: if the arena cannot be written.
    """
    first = voted.query.query_id
    for number in range(1, 100):
        query_id = first if number == 1 else f"{first}~{number}"
        try:
            _write(folder, voted, query_id, title)
            return query_id
        except _ChangedError:
            continue
    raise BadInput("too many readers asked this at the same time", do="ask another question")


def _write(folder: Path, voted: VotedQuestion, query_id: str, title: str) -> None:
    language = voted.query.language
    pair = ordered(voted.answers[0].system, voted.answers[1].system)
    known = KnownQuestion(query_id)

    def refuse_changed(live: Arena) -> None:
        now = known_question(live, language, query_id)
        if (voted.voter, pair) in now.voted:
            raise BadInput(
                "you have voted on these two systems for this question", do="ask again for another pair of systems"
            )
        texts = {answer.system: answer.text for answer in now.answers}
        if any(texts.get(answer.system, answer.text) != answer.text for answer in voted.answers):
            raise _ChangedError
        if [row.passage_id for row in now.passages or voted.passages] != [row.passage_id for row in voted.passages]:
            raise _ChangedError
        if len(now.answers) != len(known.answers) or bool(now.passages) != bool(known.passages):
            # Another vote on the question was written since: read again, or its rows would be overwritten.
            raise store.Outdated("the question has changed", do="vote again")

    def attempt() -> None:
        nonlocal known
        known = known_question(open_live(folder), language, query_id)
        rows = _new_rows(voted, known, query_id)
        store.upsert(
            live_folder(folder),
            {table: store.by_key(table, schema.from_rows(table, part)) for table, part in rows.items() if part},
            made_by=store.Provenance(MADE_BY, subjects=[schema.PEOPLE]),
            texts=lambda live: {} if live is not None else {"title": title, "label": "real answers"},
            check=refuse_changed,
        )

    store.retry_outdated(attempt)


def _new_rows(voted: VotedQuestion, known: KnownQuestion, query_id: str) -> dict[str, Sequence[Any]]:
    """Return the rows to write, without existing rows of a known question."""
    have = {answer.system for answer in known.answers}
    rows: dict[str, Sequence[Any]] = {
        "queries": [] if known.passages else [_with_id(voted.query, query_id)],
        "passages": [] if known.passages else [_with_id(row, query_id) for row in voted.passages],
        "answers": [_with_id(row, query_id) for row in voted.answers if row.system not in have],
        "judgments": [
            schema.Judgment(
                voted.query.language,
                query_id,
                schema.PEOPLE,
                voted.answers[0].system,
                voted.answers[1].system,
                voted.verdict,
                rationale=None,
                reason=None,
                call=None,
                person=True,
                voter=voted.voter,
            )
        ],
    }
    return rows


def _with_id(row: _Row, query_id: str) -> _Row:
    from dataclasses import replace

    changed: Any = replace(row, query_id=query_id)  # type: ignore[type-var]
    return changed  # type: ignore[no-any-return]


def _rows(live: Arena, table: str, kind: Callable[..., _Row], language: str, query_id: str) -> list[_Row]:
    """Return the rows of a question in a table."""
    if language not in live.languages(table):
        return []
    found = live.sql(
        f'SELECT * FROM "{table}" WHERE language = ? AND query_id = ?',  # noqa: S608  # a table's name
        [language, query_id],
        languages=[language],
    ).to_pylist()
    names: Collection[str] = [column.name for column in schema.columns(schema.TABLES[table])]
    return [kind(**{name: row[name] for name in names if name in row}) for row in found]
