"""People's votes for the pages: one database for all sessions, reread only after a new vote.

Votes are stored outside the arena, so cache keys also contain the number of rows in the log, which only grows.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.errors import MirageError, Unreachable
from mirage.people.notes import notes_on
from mirage.people.votes.belonging import VoteLog, log_on, log_votes, votes_on
from mirage.people.votes.database import URL, Votes
from mirage.people.votes.kinds import Evidence, LabelVote, Note, Vote
from mirage.people.votes.rows import battle
from mirage.people.votes.stage import counting, imported_on
from mirage.store import home
from mirage.views.labels import LabelsView, labels_view

if TYPE_CHECKING:
    from mirage.store.arena import Arena

PAUSE = 20.0
"""Seconds for which read-only pages do not retry an unresponsive database."""


@dataclass
class _Database:
    """The votes, and the time of the last failed access."""

    votes: Votes
    failed: tuple[float, Unreachable] | None = field(default=None)


def database() -> Votes:
    """Open the database of votes named by the environment; the same object for all sessions.

    Raises:
        BadInput: if the address is not a database's. ArenaError: if the user's own folder cannot be made.
    """
    return _shared().votes


def _shared() -> _Database:
    return _open_database(os.environ.get(URL, ""), str(home.home_folder()))


@lru_cache(maxsize=4)
def _open_database(url: str, _folder: str) -> _Database:
    return _Database(Votes(url or None))


def log(arena: Arena) -> tuple[Vote, ...]:
    """Return the votes that count for the current content of an arena, by time.

    Raises:
        Unreachable: if the database does not respond, or failed just before.
    """
    return _counting(arena, votes_at(arena))


@lru_cache(maxsize=8)
def _counting(arena: Arena, votes: VoteLog[Vote]) -> tuple[Vote, ...]:
    return tuple(counting(arena, votes.votes))


def votes_at(arena: Arena) -> VoteLog[Vote]:
    """Return the votes of the database on an arena, for views.

    Raises:
        Unreachable: as in `log`.
    """
    return _votes(arena, version())


@lru_cache(maxsize=8)
def _votes(arena: Arena, _version: tuple[str, int]) -> VoteLog[Vote]:
    return log_on(arena, database().rows(Vote))


def evidence_at() -> VoteLog[Evidence]:
    """Return the votes on citations, which correct levels; none if the database does not respond."""
    try:
        return _evidence(_version("citations"))
    except MirageError:
        return log_votes(())


@lru_cache(maxsize=2)
def _evidence(_version: tuple[str, int]) -> VoteLog[Evidence]:
    return log_votes(database().rows(Evidence))


def version() -> tuple[str, int]:
    """Return the version of the votes: the database and its number of rows.

    Raises:
        Unreachable: as in `log`.
    """
    return _version("battles")


def _version(kind: str) -> tuple[str, int]:
    """Return the database, and the number of rows of a kind of votes (`kinds.KINDS`)."""
    shared = _shared()
    if shared.failed is not None and time.monotonic() - shared.failed[0] < PAUSE:
        raise shared.failed[1]
    try:
        key = shared.votes.where, shared.votes.version()[kind]
    except Unreachable as error:
        shared.failed = time.monotonic(), error
        raise
    shared.failed = None
    return key


def on(arena: Arena, language: str, query_id: str, systems: tuple[str, str]) -> list[Vote]:
    """Return the votes on one battle.

    Raises:
        Unreachable: as in `log`.
    """
    first, second = sorted(systems)
    cast = [vote for vote in _standing(arena, votes_at(arena)) if battle(vote) == (language, query_id, first, second)]
    return [*imported_on(arena, language, query_id, systems), *cast]


@lru_cache(maxsize=8)
def _standing(arena: Arena, votes: VoteLog[Vote]) -> tuple[Vote, ...]:
    return tuple(votes_on(arena, votes.votes).counting)


def notes_at(arena: Arena) -> tuple[Note, ...]:
    """Return everybody's notes on the current texts of an arena, by time.

    Raises:
        Unreachable: as in `log`.
    """
    return _notes(arena, _version("notes"))


@lru_cache(maxsize=8)
def _notes(arena: Arena, _key: tuple[str, int]) -> tuple[Note, ...]:
    return tuple(notes_on(arena, database().rows(Note)).counting)


def labels_at(arena: Arena) -> LabelsView:
    """Return what is known about an arena's labels: whether a program made them, and people's audit of them.

    Raises:
        Unreachable: as in `log`.
    """
    return _labels(arena, _version("labels"))


@lru_cache(maxsize=8)
def _labels(arena: Arena, _key: tuple[str, int]) -> LabelsView:
    return labels_view(arena, database().rows(LabelVote))
