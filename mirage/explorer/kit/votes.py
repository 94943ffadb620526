"""People's votes for the pages: one database for all sessions, reread only after a new vote.

Votes are stored outside the arena, so cache keys also contain the number of rows in the log, which only grows.
"""

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mirage.errors import MirageError, Unreachable
from mirage.people.notes import notes_on
from mirage.people.votes.belonging import VoteLog, log_on, log_votes
from mirage.people.votes.database import URL, Votes
from mirage.people.votes.kinds import KINDS, Evidence, Note, Vote
from mirage.people.votes.rows import battle
from mirage.people.votes.stage import votes_that_count
from mirage.store import home
from mirage.store.arena import Arena
from mirage.views.labels import LabelsView, labels_view

PAUSE = 20.0
"""Seconds for which read-only pages do not retry an unresponsive database."""


@dataclass
class _Database:
    """The votes, and the time of the last failed access."""

    votes: Votes
    failed: tuple[float, Unreachable] | None = None


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
    return _votes_that_count(arena, votes_at(arena))


@lru_cache(maxsize=8)
def _votes_that_count(arena: Arena, votes: VoteLog[Vote]) -> tuple[Vote, ...]:
    return tuple(votes_that_count(arena, votes.votes))


def votes_at(arena: Arena) -> VoteLog[Vote]:
    """Return the votes of the database on an arena, for views.

    Raises:
        Unreachable: as in `log`.
    """
    votes: VoteLog[Vote] = _read(log_on, arena, "battles", _version("battles"))
    return votes


def evidence_at() -> VoteLog[Evidence]:
    """Return the votes on citations, which correct levels; none if the database does not respond."""
    try:
        return _evidence(_version("citations"))
    except MirageError:
        return log_votes(())


@lru_cache(maxsize=2)
def _evidence(_version: tuple[str, int]) -> VoteLog[Evidence]:
    return log_votes(database().rows(Evidence))


@lru_cache(maxsize=24)
def _read(of: Callable[..., Any], arena: Arena, kind: str, _version: tuple[str, int]) -> Any:
    """Return a function of an arena and the rows of a kind of votes (`kinds.KINDS`)."""
    return of(arena, database().rows(KINDS[kind].row))


def _version(kind: str) -> tuple[str, int]:
    """Return the database, and the number of rows of a kind of votes.

    Raises:
        Unreachable: as in `log`.
    """
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


def battle_votes(arena: Arena, language: str, query_id: str, systems: tuple[str, str]) -> list[Vote]:
    """Return the votes on one battle, without verdicts that came with the data.

    Raises:
        Unreachable: as in `log`.
    """
    key = (language, query_id, *sorted(systems))
    return [vote for vote in votes_at(arena).votes if battle(vote) == key]


def notes_at(arena: Arena) -> Sequence[Note]:
    """Return everybody's notes on the current texts of an arena, by time.

    Raises:
        Unreachable: as in `log`.
    """
    notes: Sequence[Note] = _read(notes_on, arena, "notes", _version("notes")).counting
    return notes


def labels_at(arena: Arena) -> LabelsView:
    """Return the origin of an arena's labels, and people's audit of them.

    Raises:
        Unreachable: as in `log`.
    """
    labels: LabelsView = _read(labels_view, arena, "labels", _version("labels"))
    return labels
