"""Voting session: votes are sent one by one, resent after an outage, and undone on request.

A vote gets its id when its item is first shown. A key pressed twice, or a vote sent again, is then the same vote.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import streamlit as st

from mirage.errors import MirageError, Unreachable
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.text import plain
from mirage.explorer.serve import metrics
from mirage.explorer.serve.identity import Reader, may, reader
from mirage.people import votes
from mirage.store import Arena
from mirage.store.roles import Role

_SESSION, _PENDING, _TRIED, _NAME = "_spot_session", "_spot_pending", "_spot_tried", "_spot_name"
_WAITING = "_spot_waiting"
RETRY = 5.0
"""Seconds after which a vote that waits is sent again by itself."""


@dataclass
class VoteSession:
    """One voter's session on one arena in one language: the votes so far, and one that waits for the database."""

    arena: Arena
    language: str
    voter: str
    reader: Reader
    kind: type[votes.Row]
    log: list[Any]
    """Everybody's votes that count, in the order of their times."""
    left_out: list[str] = field(default_factory=list)
    """Sentences on votes that do not count (`votes.ArenaVotes.notes`)."""
    failed: MirageError | None = None
    """Why the last vote could not be kept or taken back."""
    _shown: dict[tuple[str, ...], tuple[str, float]] = field(default_factory=dict)

    @property
    def own_votes(self) -> list[Any]:
        """Return the voter's own votes."""
        return [row for row in self.log if row.voter == self.voter]

    @property
    def last(self) -> Any:
        """Return the latest own vote that can be undone, or None.

        Without a login names are unverified, so only votes of this session can be undone.
        """
        rows = [row for row in self.own_votes if self.reader.name or row.session == self.reader.session]
        return rows[-1] if rows else None

    def token(self, item: tuple[str, ...]) -> str:
        """Return the id of the coming vote on an item; the first call starts its clock."""
        return self._shown.setdefault(item, (votes.token(), time.monotonic()))[0]

    def seconds(self, token: str) -> float | None:
        """Return for how long the item of a token has been shown."""
        starts = [start for name, start in self._shown.values() if name == token]
        return round(time.monotonic() - starts[0], 3) if starts else None

    def send(self, row: Any) -> None:
        """Submit a vote (`votes.Row`); keep it in the session where the database does not answer."""
        self.failed = None
        try:
            vote = people.database().submit(row)
        except Unreachable as error:
            st.session_state[_PENDING] = row
            st.session_state[_TRIED] = time.monotonic()
            st.session_state.setdefault(_WAITING, metrics.waiting())
            metrics.vote("waiting")
            self.failed = error
            return
        except MirageError as error:
            _settle("refused")
            self.failed = error
            return
        _settle("kept")
        if type(vote) is self.kind and (vote.arena, vote.language) == (self.arena.name, self.language):
            self.log = votes.standing([*self.log, vote])

    def take_back(self, vote_id: str) -> None:
        """Take one of the voter's votes back."""
        self.failed = None
        try:
            kind: Any = self.kind
            session = None if self.reader.name else self.reader.session
            people.database().undo(kind, vote_id, voter=self.voter, session=session)
        except MirageError as error:
            self.failed = error
            return
        self.log = [row for row in self.log if row.vote_id != vote_id]
        self._shown = {item: seen for item, seen in self._shown.items() if seen[0] != vote_id}


def _settle(result: Literal["kept", "refused"]) -> None:
    """No vote waits any more: it is kept, or will never be."""
    st.session_state.pop(_PENDING, None)
    st.session_state.pop(_WAITING, None)
    metrics.vote(result)


def pending() -> votes.Row | None:
    """Return the vote of this session that is not saved yet."""
    row: votes.Row | None = st.session_state.get(_PENDING)
    return row


def due() -> bool:
    """Return whether an unsent vote is due for a retry."""
    tried: float = st.session_state.get(_TRIED, 0.0)
    return pending() is not None and time.monotonic() - tried >= RETRY / 2


def current_session() -> VoteSession:
    """Return the open voting session."""
    session: VoteSession = st.session_state[_SESSION]
    return session


def enter(
    arena: Arena, language: str, voter: str, kind: type[votes.Row], load: Callable[[votes.Votes], votes.ArenaVotes[Any]]
) -> VoteSession:
    """Open the session with everybody's votes as they are now; a vote that waits is sent first, and while it must wait
    the session stays as it was.

    Raises:
        MirageError: if the votes cannot be read.
    """
    old: VoteSession | None = st.session_state.get(_SESSION)
    current_reader = reader()
    session = VoteSession(arena, language, voter, current_reader, kind, [])
    settings = arena, language, voter, current_reader, kind
    if old is not None and (old.arena, old.language, old.voter, old.reader, old.kind) == settings:
        session = old
    if (row := pending()) is not None:
        session.send(row)
        if session.failed is not None and pending() is not None:
            if session is not old:
                raise session.failed
            return session
    sorted_out = load(people.database())
    session.log, session.left_out = sorted_out.counting, sorted_out.notes()
    st.session_state[_SESSION] = session
    return session


def voter(role: Role = "voter", doing: str = "Voting") -> str:
    """Return the voter's name: from the login, or asked for and kept for the session; empty if none.

    Once there is a name its field is gone: in a field, the keys that vote would be letters. There is no field either
    where this reader may not vote.

    Args:
        role: the least role that may do it.
        doing: what is done, for the page.
    """
    login = reader().name
    if not may(role):
        return ""
    if chosen := name():
        st.button(
            f"{doing} as {plain(chosen)}",
            key="spot_who",
            type="tertiary",
            disabled=bool(login),
            help="Your login name." if login else "Choose another name.",
            on_click=lambda: st.session_state.pop(_NAME, None),
        )
        return chosen
    st.text_input(
        "Your name",
        key="spot_voter",
        max_chars=votes.LONGEST["voter"],
        placeholder="or a pseudonym",
        width=220,
        help="Stored with your votes and edits; not part of the link.",
        on_change=_ask_name,
    )
    return ""


def name() -> str:
    """Return the name under which this reader's votes are saved; empty if unknown."""
    known: str = reader().name or st.session_state.get(_NAME, "")
    return known


def _ask_name() -> None:
    if typed := str(st.session_state["spot_voter"]).strip():
        st.session_state[_NAME] = typed
