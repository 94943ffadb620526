"""Which votes belong to an arena: those on texts that it holds, whatever its folder is called and wherever it lies.

A vote carries a digest of what was shown (`shown_digest`): of the query, and of what was voted on. The first part says,
with the ids, of which arenas the vote is; the second whether the answers are still the same. So the votes on an arena
stay with it when its folder is renamed, copied or made again from the same files, and another arena under the same name
does not inherit them.

Votes from before digests knew the query, and rows without any digest, belong to the arena whose folder has the name
under which they were given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic

from mirage import store
from mirage.text import counted
from mirage.votes.rows import IMPORTED, AnyRow, Evidence, NuggetVote, Row, Vote, digest, item, standing


@dataclass(frozen=True)
class ArenaVotes(Generic[AnyRow]):
    """The votes on an arena, by what becomes of them."""

    counting: list[AnyRow]
    """Those that stand, on texts as they are, in the order of their times."""
    changed: list[AnyRow]
    """Those that stand, on texts that have others in their place now; they do not count."""
    by_name: int
    """How many of those that count belong by the name of the arena's folder alone."""

    def notes(self) -> list[str]:
        """Return a sentence on the votes that are left out, and one on those that belong by a name, where there are."""
        lines = []
        if self.changed:
            lines.append(
                f"Left out: {counted(len(self.changed), 'vote')} on answers whose text has changed since the vote."
            )
        if self.by_name:
            lines.append(
                f"{counted(self.by_name, 'vote')} of an earlier version, which kept no digest of the query: counted "
                "for the name of the arena's folder."
            )
        return lines


def votes_on(arena: store.Arena, log: Iterable[AnyRow]) -> ArenaVotes[AnyRow]:
    """Sort out the votes on an arena as it is.

    Args:
        arena: the arena; of one with tags, only votes on queries that have them belong.
        log: the log of all arenas, or any part that holds all votes of its voters on its items.
    """
    here = belonging(arena, log)
    same = standing(row for row, is_same in here if is_same)
    voted = {(row.voter, item(row)) for row in same}
    changed = standing(row for row, is_same in here if not is_same)
    return ArenaVotes(
        same,
        [row for row in changed if (row.voter, item(row)) not in voted],
        sum(not _query_part(row) for row in same),
    )


def belonging(arena: store.Arena, log: Iterable[AnyRow]) -> list[tuple[AnyRow, bool]]:
    """Return the rows of a log that are of an arena, those that take a vote back among them, and for each whether its
    texts are still the same.

    Verdicts that came with a file are left out: the arena has them in its own table.
    """
    rows = [row for row in log if not (isinstance(row, Vote) and row.why == IMPORTED)]
    if arena.tags:
        rows = [row for row in rows if (row.language, row.query_id) in _chosen(arena)]
    texts = _Texts(arena, [row for row in rows if row.shown is not None])
    here = []
    for row in rows:
        query_part, subject = _query_part(row), (row.shown or "").rpartition("-")[2]
        current = texts.subject_digest(row)
        if not query_part and row.arena == arena.name:
            here.append((row, not subject or current in (None, subject)))
        elif query_part and current is not None and query_part in texts.query_digests(row):
            here.append((row, current == subject))
    return here


def shown_now(arena: store.Arena, votes: Sequence[Vote]) -> list[str]:
    """The digest of what an arena shows for each of some votes on battles between answers that it has."""
    texts = _Texts(arena, votes)
    return [f"{min(texts.query_digests(vote))}-{texts.subject_digest(vote)}" for vote in votes]


def _query_part(row: Row) -> str:
    """The part of a row's digest that is of the query; empty where none is known."""
    return (row.shown or "").rpartition("-")[0]


@lru_cache(maxsize=8)
def _chosen(arena: store.Arena) -> frozenset[tuple[str, str]]:
    rows = store.chosen_queries(arena)
    return frozenset(zip(rows["language"].to_pylist(), rows["query_id"].to_pylist(), strict=True))


class _Texts:
    """The texts of an arena that some rows are on."""

    def __init__(self, arena: store.Arena, rows: Iterable[Row]) -> None:
        self._arena = arena
        self._query_ids: dict[str, set[str]] = defaultdict(set)
        kinds: set[type[Row]] = set()
        for row in rows:
            kinds.add(type(row))
            self._query_ids[row.language].add(row.query_id)
        self._queries = self._read("queries", "''")
        self._answers = self._read("answers", "system")
        self._nuggets = self._read("nuggets", "nugget_id") if NuggetVote in kinds else {}
        self._passages: dict[tuple[str, str, str], set[str]] = {}
        for table in ("passages", "retrieved") if Evidence in kinds else ():
            for key, texts in self._read(table, "passage_id").items():
                self._passages.setdefault(key, set()).update(texts)

    def _read(self, table: str, column: str) -> dict[tuple[str, str, str], set[str]]:
        """The texts of a table, by language, query and a column."""
        texts: dict[tuple[str, str, str], set[str]] = {}
        for code in sorted(set(self._query_ids) & set(self._arena.languages(table))):
            rows = self._arena.sql(
                f"SELECT query_id, {column}, text FROM {table} "  # noqa: S608  # both are named below
                "WHERE language = ? AND query_id IN (SELECT unnest(?::VARCHAR[])) AND text IS NOT NULL",
                [code, sorted(self._query_ids[code])],
                languages=[code],
            )
            for query, name, text in zip(*(c.to_pylist() for c in rows.columns), strict=True):
                texts.setdefault((code, query, name), set()).add(text)
        return texts

    def query_digests(self, row: Row) -> set[str]:
        """The digests of what a vote may be about: of its query, and its passage."""
        queries = self._queries.get((row.language, row.query_id, ""), {""})
        if isinstance(row, Evidence):
            passages = self._passages.get((row.language, row.query_id, row.passage_id), set())
            return {digest(query, passage) for query in queries for passage in passages}
        return {digest(query) for query in queries}

    def subject_digest(self, row: Row) -> str | None:
        """The digest of what a vote is on, as the arena has it; None where it lacks a text."""
        systems = (row.system_a, row.system_b) if isinstance(row, Vote) else (row.system,)
        texts = [self._answers.get((row.language, row.query_id, system)) for system in systems]
        if isinstance(row, NuggetVote):
            texts.append(self._nuggets.get((row.language, row.query_id, row.nugget_id)))
        known = [next(iter(text)) for text in texts if text is not None]
        return digest(*known) if len(known) == len(texts) else None
