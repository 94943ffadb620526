"""Assignment of votes to arenas by the texts voted on, independent of folder names.

A vote has a digest of what was shown (`shown_digest`): of the query, and of the subject. The first part, with the ids,
identifies the arenas of the vote; the second whether the answers are unchanged. So votes follow an arena that is
renamed, copied or rebuilt from the same files, and another arena with the same name does not inherit them.

Votes without a digest, from files of other programs, belong to arenas whose folder has the name under which they were
given, if these have the query and the answers, or no texts at all.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic

from mirage.people.votes.kinds import IMPORTED, AnyRow, LabelVote, Note, Row, Vote, kind_of
from mirage.people.votes.rows import digest, valid_votes
from mirage.store.arena import Arena, chosen_queries
from mirage.text.segmentation import count_text


@dataclass(frozen=True)
class ArenaVotes(Generic[AnyRow]):
    """The votes on an arena, by validity."""

    counting: list[AnyRow]
    """Valid votes on unchanged texts, in order of time."""
    changed: list[AnyRow]
    """Valid votes on texts that have changed; they do not count."""
    opinions: list[AnyRow]
    """Votes whose draw is not proved; they do not count."""

    def notes(self) -> list[str]:
        """Return sentences on the votes that are left out, and on those that count although something is not known."""
        lines = []
        if self.opinions:
            lines.append(f"Left out: {count_text(len(self.opinions), 'opinion')} from files that prove no draw.")
        if self.changed:
            on_passages = kind_of(self.changed[0]).subject == "passages"
            subject = "queries whose passages have" if on_passages else "answers whose text has"
            lines.append(f"Left out: {count_text(len(self.changed), 'vote')} on {subject} changed since the vote.")
        counted = {
            "without a digest of the texts: counted for the name of the arena's folder": [
                not v.shown for v in self.counting
            ],
            "stored before ballots were signed: draw not proved": [v.proof is None for v in self.counting],
            "under a name that the voter wrote: person not proved": [v.proof == "draw" for v in self.counting],
        }
        lines += [f"{count_text(sum(which), 'vote')} {said}." for said, which in counted.items() if any(which)]
        return lines


@dataclass(frozen=True)
class VoteLog(Generic[AnyRow]):
    """Votes as an argument of a view: equal if their content is."""

    digest: str
    """Digest of the votes and notes."""
    votes: tuple[AnyRow, ...] = field(repr=False, compare=False)
    """The votes, in order of time."""
    notes: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Sentences on votes that are left out (`ArenaVotes.notes`)."""


def log_votes(votes: Iterable[AnyRow], notes: Iterable[str] = ()) -> VoteLog[AnyRow]:
    """Return votes, and sentences on those left out, with their digest."""
    content = tuple(votes), tuple(notes)
    digest_of = hashlib.blake2b(repr(content).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return VoteLog(digest_of, *content)


def log_on(arena: Arena, log: Iterable[AnyRow]) -> VoteLog[AnyRow]:
    """Return the votes of a log that count for an arena in its current state."""
    sorted_out = votes_on(arena, log)
    return log_votes(sorted_out.counting, sorted_out.notes())


def votes_on(arena: Arena, log: Iterable[AnyRow]) -> ArenaVotes[AnyRow]:
    """Classify the votes on an arena in its current state.

    Args:
        arena: the arena; with tags, only votes on queries that have them belong.
        log: the log of all arenas, or any part with all votes of its voters on its items.
    """
    here = belonging(arena, log)
    drawn = [(row, is_same) for row, is_same in here if row.proof != "none"]
    same = valid_votes(row for row, is_same in drawn if is_same)
    voted = {(row.voter, row.item) for row in same}
    changed = valid_votes(row for row, is_same in drawn if not is_same)
    return ArenaVotes(
        same,
        [row for row in changed if (row.voter, row.item) not in voted],
        # Apart from the others, so that no opinion replaces or undoes a vote.
        valid_votes(row for row, _ in here if row.proof == "none"),
    )


def belonging(arena: Arena, log: Iterable[AnyRow]) -> list[tuple[AnyRow, bool]]:
    """Return the rows of a log that belong to an arena, including undos, each with whether its texts are unchanged.

    Verdicts that came with a file are left out: the arena has them in its own table.
    """
    rows = [row for row in log if not (isinstance(row, Vote) and row.why == IMPORTED)]
    if arena.tags:
        rows = [row for row in rows if (row.language, row.query_id) in _tagged_queries(arena)]
    rows = [row for row in rows if row.shown or row.arena == arena.name]
    texts = _Texts(arena, rows)
    here = []
    for row in rows:
        current = texts.subject_digest(row)
        if not row.shown:
            if "answers" not in arena.tables or (current is not None and texts.query_digests(row)):
                here.append((row, True))
            continue
        query_part, _, subject = row.shown.rpartition("-")
        if current is not None and query_part in texts.query_digests(row):
            here.append((row, current == subject))
    return here


def shown_now(arena: Arena, rows: Sequence[Vote | Note | LabelVote]) -> list[str | None]:
    """Return the digest of an arena's current texts for each row; None where the arena lacks an answer's text."""
    texts = _Texts(arena, rows)
    subjects = [texts.subject_digest(row) for row in rows]
    return [
        None if subject is None else f"{min(texts.query_digests(row))}-{subject}"
        for row, subject in zip(rows, subjects, strict=True)
    ]


@lru_cache(maxsize=8)
def _tagged_queries(arena: Arena) -> frozenset[tuple[str, str]]:
    rows = chosen_queries(arena)
    return frozenset(zip(rows["language"].to_pylist(), rows["query_id"].to_pylist(), strict=True))


class _Texts:
    """The arena's texts of some rows."""

    def __init__(self, arena: Arena, rows: Sequence[Row]) -> None:
        self._arena = arena
        self._query_ids: dict[str, set[str]] = defaultdict(set)
        kinds = {kind_of(row) for row in rows}
        for row in rows:
            self._query_ids[row.language].add(row.query_id)
        self._queries = self._read("queries", "''")
        self._answers = self._read("answers", "system")
        self._given: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._cited: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        on_passages = any(kind.cites or kind.subject == "passages" for kind in kinds)
        for table in ("passages", "retrieved") if on_passages else ():
            for key, texts in self._read(table, "passage_id").items():
                self._cited[key] |= texts
                self._given[key[:2]] += texts if table == "passages" else ()

    def _read(self, table: str, column: str) -> dict[tuple[str, str, str], set[str]]:
        """Read the texts of a table, by language, query and a column."""
        texts: dict[tuple[str, str, str], set[str]] = {}
        for code in sorted(set(self._query_ids) & set(self._arena.languages(table))):
            rows = self._arena.sql(
                f"SELECT query_id, {column}, text FROM {table} "  # noqa: S608  # both are named below
                "WHERE language = ? AND query_id IN (SELECT unnest(?::VARCHAR[])) AND text IS NOT NULL",
                [code, sorted(self._query_ids[code])],
            )
            for query, name, text in zip(*(c.to_pylist() for c in rows.columns), strict=True):
                texts.setdefault((code, query, name), set()).add(text)
        return texts

    def query_digests(self, row: Row) -> set[str]:
        """Return the possible digests of a vote's query, and its passage."""
        queries = self._queries.get((row.language, row.query_id, ""), {""})
        if not kind_of(row).cites:
            return {digest(query) for query in queries}
        passages = self._cited[row.language, row.query_id, row.item[-1]]
        return {digest(query, passage) for query in queries for passage in passages}

    def subject_digest(self, row: Row) -> str | None:
        """Return the digest of a vote's subject in the arena; None if it lacks a text."""
        if kind_of(row).subject == "passages":
            known_query = (row.language, row.query_id, "") in self._queries
            return digest(*self._given[row.language, row.query_id]) if known_query else None
        texts = [self._answers.get((row.language, row.query_id, system)) for system in row.systems]
        known = [next(iter(text)) for text in texts if text is not None]
        return digest(*known) if len(known) == len(texts) else None
