"""Ballots to send to voters: drawing battles, storing the key, and importing the votes.

    ballots = draw_ballots(arena, "te", n=40, people=["amina", "ravi", "lakshmi"], reviews=2)
    keep(ballots)                                      # the key from ids to systems stays here
    rows = read_ballot(Path("amina.jsonl"))               # all votes, or BadInput for an invalid file
    database.append(rows)

A ballot has an opaque id for each battle: a keyed digest (HMAC-SHA256) of ballot, battle and order. The mapping from
ids to systems, and the secret of the digests, are stored in the user's folder.

Returned files are JSONL: a head, one event per line (a vote or an undo), and a signature of all preceding lines by the
ballot's key. The signature detects files that are damaged, edited or merged. It does not authenticate the voter: anyone
who has a ballot can vote on it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from mirage import store
from mirage.errors import BadInput, NotEnoughData
from mirage.people.votes.belonging import belonging, shown_now, votes_on
from mirage.people.votes.database import Votes
from mirage.people.votes.queue import VoteDetails, VoteItem, cast, next_items
from mirage.people.votes.rows import UNDO, LabelVote, Vote, digest, item, validate_row
from mirage.people.votes.stage import vote_pool
from mirage.schema import Code, Count
from mirage.store.ballots import ballot_secret, keep_ballot, kept_ballots

FILE_FORMAT = 1
"""Format version of a returned file."""
_HEAD = "mirage_ballot"
_DO = "nothing was imported; ask for the file as the ballot gave it"
AnyVote = TypeVar("AnyVote", Vote, LabelVote)


class ShownItem(Protocol):
    """A ballot item."""

    @property
    def shown(self) -> str:
        """Digest of the displayed texts."""
        ...


AnyItem = TypeVar("AnyItem", bound=ShownItem)
AnyBallot = TypeVar("AnyBallot", bound="SentBallot[Any]")


@dataclass(frozen=True, slots=True)
class BallotItem:
    """One battle of a ballot."""

    item_id: str
    """Its opaque id in the ballot: 32 hexadecimal digits."""
    battle: VoteItem
    """The battle, in the order shown."""
    shown: str
    """Digest of the query and the two answers (`mirage.people.votes.shown_digest`)."""


@dataclass(frozen=True, slots=True)
class SentBallot(Generic[AnyItem]):
    """Items in one language for one person to vote on outside the explorer."""

    ballot_id: str
    """16 hexadecimal digits; the same for the same arguments and texts."""
    arena: str
    """Name of the arena."""
    language: str
    """Language of the queries."""
    voter: str | None
    """The voter's name; null if the recipient enters one."""
    part: int
    """Its number among the ballots drawn together, from 1."""
    parts: int
    """Number of ballots drawn together."""
    items: tuple[AnyItem, ...]
    """Items in display order."""

    @property
    def answers(self) -> str:
        """Digest of all displayed texts, independent of their order."""
        return digest(*(entry.shown for entry in self.items))

    @property
    def session(self) -> str:
        """Session of its votes."""
        return f"ballot-{self.ballot_id}"


@dataclass(frozen=True, slots=True)
class Ballot(SentBallot[BallotItem]):
    """Battles for one person to vote on."""


@dataclass(frozen=True, slots=True)
class BallotProgress:
    """Progress of one ballot, from the imported votes."""

    key = ("ballot",)

    ballot: str
    """Id of the ballot."""
    language: Code
    """Language of its queries."""
    voter: str | None
    """The voter it was made for or, if open, who returned it; null if not returned yet."""
    items: Count
    """Battles on it."""
    voted: Count
    """Battles with a valid vote, including skips."""
    left: Count
    """Battles without a vote."""


def assign(n: int, people: int, reviews: int, *, seed: int = 0) -> list[list[int]]:
    """Distribute items over people: every item to as many people as it needs, and the same number to each person.

    Each item goes to the people with the fewest so far, with ties broken at random.

    Args:
        n: number of items.
        people: number of people.
        reviews: number of people per item.
        seed: seed of the ties.

    Returns:
        The items of each person, in increasing order. Numbers differ by at most one item.

    Raises:
        BadInput: if there are fewer people than reviews, or a number is below 1.
    """
    if min(n, people, reviews) < 1:
        raise BadInput("a ballot needs at least one item, one person and one review", do="give numbers from 1")
    if reviews > people:
        raise BadInput(
            f"{reviews} reviews of an item take as many people, and there are {people}",
            do="name more people, or ask for fewer reviews",
        )
    rng = np.random.default_rng(seed)
    dealt: list[list[int]] = [[] for _ in range(people)]
    for k in range(n):
        lots = rng.random(people)
        for person in sorted(range(people), key=lambda p: (len(dealt[p]), lots[p]))[:reviews]:
            dealt[person].append(k)
    return dealt


def check_names(people: Iterable[str | None]) -> None:
    """Check that voters' names are distinct and not blank; a ballot may also have no name.

    Raises:
        BadInput: if two share a name, or one is blank.
    """
    names = [person.strip() for person in people if person is not None]
    if len(set(names)) < len(names) or not all(names):
        raise BadInput("two voters have the same name, or a name is blank", do="give each voter a distinct name")


def draw_ballots(
    arena: store.Arena,
    language: str,
    *,
    n: int,
    people: Sequence[str | None] = (None,),
    reviews: int = 1,
    seed: int = 0,
) -> list[Ballot]:
    """Draw battles from the queue and distribute them over people.

    The battles are those that the queue asks first of a voter who is named by the seed: in random order, each with its
    chance, the plainly random share among them. Order and sides are drawn for each person.

    Args:
        arena: the arena; it has answers.
        language: a code.
        n: total number of battles; fewer if the language has fewer.
        people: for whom the ballots are; None for a person who gives a name in the ballot.
        reviews: number of people per battle.
        seed: random seed.

    Returns:
        A ballot a person, in their order.

    Raises:
        BadInput: if people or reviews make no assignment.
        UnknownName: if the arena has no answers in the language.
        NotEnoughData: if there is nothing to vote on, or less than one battle for each person.
    """
    check_names(people)
    chosen = next_items(vote_pool(arena, language), voter=f"ballot/{seed}", n=n) if n > 0 else []
    if n > 0 and len(chosen) * reviews < len(people):
        raise NotEnoughData(
            f"{len(chosen)} battles in {language}, each seen by {reviews}, do not go round {len(people)} people",
            do="ask fewer people, or for more reviews",
        )
    dealt = assign(n if n < 1 else len(chosen), len(people), reviews, seed=seed)
    shown = _digests(arena, chosen)
    secret = ballot_secret()
    ballots = []
    for number, (person, numbers) in enumerate(zip(people, dealt, strict=True), start=1):
        own = [(chosen[k], shown[k]) for k in numbers]
        about = [arena.name, language, person, number, len(people), reviews, seed, [(*_key(b), s) for b, s in own]]
        ballot_id = sign(secret, "id", about)[:16]
        entries = [_entry(secret, ballot_id, battle, words) for battle, words in own]
        entries.sort(key=lambda entry: entry.item_id)
        name = person.strip() if person is not None else None
        ballots.append(Ballot(ballot_id, arena.name, language, name, number, len(people), tuple(entries)))
    return ballots


def keep(ballots: Iterable[Ballot]) -> None:
    """Store the key of ballots in the user's folder; without it returned votes cannot be read.

    Raises:
        ArenaError: if the folder cannot be written.
    """
    for ballot in ballots:
        keep_ballot(ballot.ballot_id, asdict(ballot))


def stored_ballots() -> dict[str, Ballot]:
    """Return the ballots of battles made here, by id.

    Raises:
        ArenaError: if one cannot be read.
    """
    return {ballot_id: _ballot(record) for ballot_id, record in kept_ballots().items() if "kind" not in record}


def ballot_key(ballot_id: str) -> str:
    """Return the key with which a ballot signs its file: 64 hexadecimal digits, different for every ballot."""
    return sign(ballot_secret(), "key", ballot_id)


def is_returned(path: Path) -> bool:
    """Return whether a file is a returned ballot, by its first line."""
    return any(f'"{_HEAD}"' in line for line in store.beginning(path, 1))


def read_ballot(path: Path, log: Iterable[Vote] = ()) -> list[Vote]:
    """Return the votes of a returned ballot; all of them, or none.

    Args:
        path: the file.
        log: votes stored already; a ballot belongs to one voter.

    Returns:
        Votes and undos in order; the same if the file is read again.

    Raises:
        BadInput: if the ballot was not made here, was changed, has other answers, or was returned by another voter
            before.
    """
    ballot, head, events = verify_returned(path, stored_ballots())
    voter = check_head(ballot, head, path, log)
    entries = {entry.item_id: entry for entry in ballot.items}
    return read_events(path, events, lambda before, event: _vote(ballot, voter, entries, before, event))


def import_ballot(database: Votes, path: Path) -> tuple[int, int]:
    """Import a returned ballot into the database (`read_ballot`); importing it twice is harmless.

    Returns:
        The number of rows read, and the number of new ones.

    Raises:
        BadInput: if the file is invalid, or the same ballot was voted on in two places.
        Unreachable: if the database does not respond.
    """
    rows = read_ballot(path, database.rows(Vote))
    return len(rows), append_returned(database, rows, path)


def ballots_left(arena: store.Arena, log: Iterable[Vote]) -> list[BallotProgress]:
    """Return the progress of an arena's ballots.

    Args:
        arena: the arena.
        log: the votes, including undone ones.

    Returns:
        One row per ballot made here, by language, part and id.

    Raises:
        ArenaError: if a ballot's record cannot be read.
    """
    by_session: dict[str, list[Vote]] = {}
    for vote in votes_on(arena, log).counting:
        by_session.setdefault(vote.session or "", []).append(vote)
    rows = []
    for ballot in sorted(stored_ballots().values(), key=lambda b: (b.language, b.part, b.ballot_id)):
        if not belonging(arena, [_blank_vote(ballot.arena, entry.battle, entry.shown) for entry in ballot.items]):
            continue
        own_votes = by_session.get(ballot.session, [])
        voted = len({item(vote) for vote in own_votes})
        voter = ballot.voter or next((vote.voter for vote in own_votes), None)
        n = len(ballot.items)
        rows.append(BallotProgress(ballot.ballot_id, ballot.language, voter, n, voted, n - voted))
    return rows


def verify_returned(
    path: Path, ballots: Mapping[str, AnyBallot]
) -> tuple[AnyBallot, dict[str, Any], list[tuple[str, dict[str, Any]]]]:
    """Return the ballot, the head and the located events of a file with a valid signature.

    Args:
        path: the file.
        ballots: the ballots made here, by id.

    Raises:
        BadInput: if the file is damaged or was changed, or its ballot was not made here.
    """
    with closing(store.lines(path)) as source:
        read = [(where, text) for where, text in source if text.strip()]
    values: list[tuple[str, dict[str, Any]]] = []
    for where, text in read:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise BadInput("this line is no JSON object", where=where, do=_DO)
        values.append((where, value))
    if len(values) < 2 or values[0][1].get(_HEAD) != FILE_FORMAT or "signature" not in values[-1][1]:
        raise BadInput("the file does not begin or end as a ballot's does", where=str(path), do=_DO)
    head = values[0][1]
    ballot = ballots.get(str(head.get("ballot")))
    if ballot is None:
        raise BadInput(
            f"the ballot {head.get('ballot')!r} was not made here",
            where=values[0][0],
            do="import it where it was made, with the same MIRAGE_HOME; nothing was imported",
        )
    signed = "".join(f"{text}\n" for _, text in read[:-1]).encode("utf-8")
    signature = hmac.new(bytes.fromhex(ballot_key(ballot.ballot_id)), signed, hashlib.sha256).hexdigest()
    if values[-1][1] != {"signature": signature}:
        raise BadInput("the file was changed after the ballot had signed it", where=str(path), do=_DO)
    return ballot, head, values[1:-1]


def read_events(
    path: Path,
    events: Iterable[tuple[str, dict[str, Any]]],
    read_event: Callable[[Sequence[AnyVote], dict[str, Any]], AnyVote],
) -> list[AnyVote]:
    """Return the rows of a returned ballot's events; all of them, or none.

    Args:
        path: the file.
        events: its events, each with its location.
        read_event: converts an event to a row, given the rows before it.

    Raises:
        BadInput: if an event is invalid (the message names its line), or if there is no event.
    """
    rows: list[AnyVote] = []
    for where, event in events:
        try:
            rows.append(read_event(rows, event))
        except BadInput as error:
            raise BadInput(error.what, where=where, do=error.do or _DO) from None
    if not rows:
        raise BadInput("this ballot has no votes", where=str(path), do="vote, then save the file again")
    return rows


def append_returned(database: Votes, rows: Sequence[AnyVote], path: Path) -> int:
    """Store the rows of a returned ballot, and return how many are new.

    Raises:
        BadInput: if the same ballot was voted on in two places.
        Unreachable: if the database does not respond.
    """
    try:
        return database.append(rows, [str(path)] * len(rows))
    except BadInput as error:
        do = "the ballot was voted on in two browsers: import only one of the two files; nothing was imported"
        raise BadInput(error.what, where=error.where, do=do) from None


def check_head(
    ballot: SentBallot[Any], head: Mapping[str, Any], path: Path, log: Iterable[Vote] | Iterable[LabelVote]
) -> str:
    """Check the head of a returned ballot, and return its voter.

    Raises:
        BadInput: if the head is of another ballot or voter, or the ballot was returned by another voter before.
    """
    for name, value in (("arena", ballot.arena), ("language", ballot.language), ("answers", ballot.answers)):
        if head.get(name) != value:
            raise BadInput(f"{name} is {head.get(name)!r}, but the ballot has {value!r}", where=f"{path}:1", do=_DO)
    voter = head.get("voter")
    if not isinstance(voter, str) or not voter.strip() or ballot.voter not in (None, voter.strip()):
        raise BadInput(
            f"the voter is {voter!r}, but the ballot is for {ballot.voter or 'a named voter'}",
            where=f"{path}:1",
            do=_DO,
        )
    others = {vote.voter for vote in log if vote.session == ballot.session} - {voter.strip()}
    if others:
        raise BadInput(
            f"this ballot was already returned by {min(others)}, and now by {voter.strip()}",
            where=f"{path}:1",
            do="give each person a separate ballot; nothing was imported",
        )
    return voter.strip()


def undone_vote(ballot: SentBallot[Any], before: Sequence[AnyVote], event: Mapping[str, Any]) -> AnyVote:
    """Return the row of an event that undoes an earlier vote in the same file.

    Raises:
        BadInput: if it does not name an earlier vote.
    """
    back = event.get("undoes")
    if type(back) is not int or not 0 <= back < len(before) or before[back].vote == UNDO:
        raise BadInput(f"it undoes {back!r}, which is not an earlier vote")
    undo: dict[str, Any] = {"vote_id": f"{ballot.session}-{len(before):05d}", "time": event.get("time")}
    undo |= {"vote": UNDO, "note": None, "undoes": before[back].vote_id, "seconds": None}
    return validate_row(replace(before[back], **undo))


def _vote(
    ballot: Ballot, voter: str, entries: Mapping[str, BallotItem], before: Sequence[Vote], event: Mapping[str, Any]
) -> Vote:
    """Return the row of one event: a vote on an item, or an undo of an earlier vote."""
    vote_id = f"{ballot.session}-{len(before):05d}"
    if event.get("vote") == UNDO:
        return undone_vote(ballot, before, event)
    entry = entries.get(str(event.get("item")))
    if entry is None:
        raise BadInput(f"{event.get('item')!r} is no item of the ballot")
    about: dict[str, Any] = asdict(entry.battle)
    given = {name: event.get(name) for name in ("vote", "time", "seconds", "note")}
    given["note"] = given["note"] or None
    about |= given | {"vote_id": vote_id, "arena": ballot.arena, "voter": voter, "undoes": None}
    return validate_row(Vote(**about, session=ballot.session, shown=entry.shown))


def _entry(secret: bytes, ballot_id: str, battle: VoteItem, shown: str) -> BallotItem:
    """Return an item of a ballot, with its sides drawn."""
    first, second = sorted((battle.system_a, battle.system_b))
    if int(sign(secret, "side", [ballot_id, *_key(battle)])[0], 16) % 2:
        first, second = second, first
    sided = replace(battle, system_a=first, system_b=second)
    return BallotItem(sign(secret, "item", [ballot_id, sided.query_id, first, second])[:32], sided, shown)


def _key(battle: VoteItem) -> tuple[str, ...]:
    return (battle.language, battle.query_id, *sorted((battle.system_a, battle.system_b)))


def sign(secret: bytes, purpose: str, about: object) -> str:
    """Return the keyed digest of a ballot, its key or an item: 64 hexadecimal digits."""
    data = json.dumps([purpose, about], ensure_ascii=True).encode("ascii")
    return hmac.new(secret, data, hashlib.sha256).hexdigest()


def _digests(arena: store.Arena, battles: Sequence[VoteItem]) -> list[str]:
    """Return the digest of the query and the two answers of each battle."""
    digests = shown_now(arena, [_blank_vote(arena.name, battle) for battle in battles])
    return [shown or "" for shown in digests]


def _blank_vote(arena: str, battle: VoteItem, shown: str | None = None) -> Vote:
    """Return a vote without an opinion, to look up its texts."""
    return cast(battle, vote="skip", vote_id="-", arena=arena, voter="-", details=VoteDetails(shown=shown))


def _ballot(record: Mapping[str, Any]) -> Ballot:
    items = tuple(
        BallotItem(entry["item_id"], VoteItem(**entry["battle"]), entry["shown"]) for entry in record["items"]
    )
    return Ballot(**{**record, "items": items})
