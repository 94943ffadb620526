"""Voting session: votes are sent one by one, resent after an outage, and undone on request.

A vote gets its id when its item is first shown. A key pressed twice, or a vote sent again, is then the same vote.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from mirage.errors import MirageError, Unreachable
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.identity import Reader, may, reader
from mirage.explorer.kit.text import plain
from mirage.people.votes.belonging import votes_on
from mirage.people.votes.kinds import Row
from mirage.people.votes.rows import LONGEST, token, valid_votes
from mirage.store.arena import Arena

_SESSION, _PENDING, _TRIED, _NAME = "_spot_session", "_spot_pending", "_spot_tried", "_spot_name"
RETRY = 5.0
"""Seconds between automatic retries of an unsent vote."""


MakeVote = Callable[[str, str | None], Row]
"""Create the row of a vote from the choice and the voter's note."""


@dataclass(frozen=True)
class HeldVote:
    """A vote waiting for the voter's name."""

    token: str
    """Vote id."""
    choice: str
    """The choice."""
    note: str | None
    """The voter's note."""
    seconds: float | None
    """Seconds taken."""
    make_vote: MakeVote
    """Creates its row once the name is known."""


@dataclass
class VoteSession:
    """One voter's session on one arena in one language: the votes so far, and an unsent vote.

    The voter is empty until a name is given: until then the first vote is held (`hold`).
    """

    arena: Arena
    language: str
    voter: str
    reader: Reader
    kind: type[Row]
    log: list[Any]
    """Everybody's valid votes, sorted by time."""
    left_out: list[str] = field(default_factory=list)
    """Notes on votes that do not count (`votes.ArenaVotes.notes`)."""
    failed: MirageError | None = None
    """Why the last vote could not be stored or undone."""
    order: str = ""
    """Seed of the queue's order: the voter, or the session if it began without a name."""
    held: HeldVote | None = None
    """A vote held until a name is given."""
    notice: str = ""
    """Note on the last vote, if it was not stored because of an earlier vote."""
    _shown: dict[tuple[Any, ...], tuple[str, float]] = field(default_factory=dict)

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

    def token(self, item: tuple[Any, ...]) -> str:
        """Return the id of the next vote on an item; the first call starts its timer."""
        return self._shown.setdefault(item, (token(), time.monotonic()))[0]

    def seconds(self, token: str) -> float | None:
        """Return the seconds that a token's item has been shown; for a held vote, until it was given."""
        if self.held is not None and self.held.token == token:
            return self.held.seconds
        starts = [start for name, start in self._shown.values() if name == token]
        return round(time.monotonic() - starts[0], 3) if starts else None

    def hold(self, token: str, choice: str, note: str | None, make_vote: MakeVote) -> None:
        """Hold a vote until its voter has a name."""
        self.held = HeldVote(token, choice, note, self.seconds(token), make_vote)

    def drop(self) -> None:
        """Discard the held vote."""
        self.held = None

    def release(self) -> None:
        """Submit the held vote under the voter's name, unless the voter has already voted on the item."""
        if (held := self.held) is None:
            return
        try:
            row = held.make_vote(held.choice, held.note)
        except MirageError as error:
            self.failed = error
            return
        finally:
            self.held = None
        if row.item in (vote.item for vote in self.own_votes):
            self.notice = "You have already voted on this item. Your earlier vote counts."
        else:
            self.send(row)

    def send(self, row: Any) -> None:
        """Submit a vote (`votes.Row`); keep it in the session if the database does not respond."""
        self.failed, self.notice = None, ""
        try:
            vote = people.database().submit(row)
        except Unreachable as error:
            st.session_state[_PENDING] = row
            st.session_state[_TRIED] = time.monotonic()
            self.failed = error
            return
        except MirageError as error:
            _settle()
            self.failed = error
            return
        _settle()
        if type(vote) is self.kind and (vote.arena, vote.language) == (self.arena.name, self.language):
            self.log = valid_votes([*self.log, vote])

    def take_back(self, vote_id: str) -> None:
        """Undo one of the voter's votes."""
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


def _settle() -> None:
    """Clear the unsent vote, stored or discarded."""
    st.session_state.pop(_PENDING, None)


def pending() -> Row | None:
    """Return the vote of this session that is not saved yet."""
    row: Row | None = st.session_state.get(_PENDING)
    return row


def is_due() -> bool:
    """Return whether an unsent vote is due for a retry."""
    tried: float = st.session_state.get(_TRIED, 0.0)
    return pending() is not None and time.monotonic() - tried >= RETRY / 2


def current_session() -> VoteSession:
    """Return the open voting session."""
    session: VoteSession = st.session_state[_SESSION]
    return session


def enter(arena: Arena, language: str, voter: str, kind: type[Any]) -> VoteSession:
    """Open the session with everybody's current votes. An unsent vote is sent first; if that fails, the session is
    unchanged.

    Raises:
        MirageError: if the votes cannot be read.
    """
    old: VoteSession | None = st.session_state.get(_SESSION)
    current_reader = reader()
    if old is not None and old.held is not None and voter:
        # A held vote keeps its item and id.
        old.voter = voter
    session = VoteSession(arena, language, voter, current_reader, kind, [], order=voter or current_reader.session)
    settings = arena, language, voter, current_reader, kind
    if old is not None and (old.arena, old.language, old.voter, old.reader, old.kind) == settings:
        session = old
    if (row := pending()) is not None:
        session.send(row)
        if session.failed is not None and pending() is not None:
            if session is not old:
                raise session.failed
            return session
    sorted_out = votes_on(arena, people.database().rows(kind, language=language))
    session.log, session.left_out = sorted_out.counting, sorted_out.notes()
    st.session_state[_SESSION] = session
    if voter:
        session.release()
    return session


def voter() -> str:
    """Return the voter's name: from the login, or typed and stored in the session; empty if none.

    Hide the name field once it is set; otherwise it captures the voting keys. Readers who may not vote see no field.
    """
    login = reader().name
    if not may("voter"):
        return ""
    if chosen := name():
        st.button(
            f"Voting as {plain(chosen)}",
            key="spot_who",
            type="tertiary",
            disabled=bool(login),
            help="Your login name." if login else "Choose another name.",
            on_click=lambda: st.session_state.pop(_NAME, None),
        )
        return chosen
    ask_name()
    return ""


def ask_name(key: str = "spot_voter", *, bare: bool = False) -> None:
    """Ask for a name or a pseudonym.

    Args:
        key: key of the field.
        bare: hide the label, except for screen readers.
    """
    st.text_input(
        "Your name",
        key=key,
        max_chars=LONGEST["voter"],
        placeholder="Name or pseudonym" if bare else "or a pseudonym",
        label_visibility="collapsed" if bare else "visible",
        width=220,
        help="Stored with your votes and edits; not part of the link.",
        on_change=_keep_name,
        args=(key,),
    )


def name() -> str:
    """Return the name under which this reader's votes are saved; empty if unknown."""
    known: str = reader().name or st.session_state.get(_NAME, "")
    return known


def keep_name(typed: str) -> None:
    """Store a typed name in the session, unless it is blank or the reader is logged in."""
    if (typed := typed.strip()) and not reader().name:
        st.session_state[_NAME] = typed


def _keep_name(key: str) -> None:
    keep_name(str(st.session_state[key]))
