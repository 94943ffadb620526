"""Ballots to send around: which battles, for whom, and what comes back.

    ballots = draw_ballots(arena, "te", n=40, people=["amina", "ravi", "lakshmi"], reviews=2)
    keep(ballots)                                      # who is who stays here
    rows = returned(Path("amina.jsonl"))               # votes, or BadInput: nothing of a file that is not sound
    database.append(rows)

A ballot holds an opaque id for each battle: a keyed digest (HMAC-SHA256) of ballot, battle and order. Which systems an
id stands for is kept in the user's own folder, and with it the secret behind the digests.

What comes back is JSONL: a head, an event a line (a vote, or that one is taken back), and a signature of all lines
before it, by a key of that ballot. The signature tells a file that was damaged, edited by hand or put together from
several. It cannot tell what a voter thinks: who has a ballot can vote on it as they like.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mirage import store
from mirage.errors import BadInput, NotEnoughData
from mirage.schema import Code, Count
from mirage.store.ballots import ballot_secret, keep_ballot, kept_ballots
from mirage.votes.belonging import belonging, shown_now, votes_on
from mirage.votes.database import Votes
from mirage.votes.queue import VoteItem, cast, next_items
from mirage.votes.rows import UNDO, Vote, checked, digest, item
from mirage.votes.stage import vote_pool

FILE_FORMAT = 1
"""Format of a file that a ballot gives back."""
_HEAD = "mirage_ballot"
_DO = "nothing was imported; ask for the file as the ballot gave it"


@dataclass(frozen=True, slots=True)
class BallotItem:
    """One battle of a ballot."""

    item_id: str
    """What stands for it in the ballot: 32 hexadecimal digits that say nothing without the secret."""
    battle: VoteItem
    """The battle, in the order shown."""
    shown: str
    """Digest of the query and the two answers (`mirage.votes.shown_digest`)."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """Battles for one person to vote on, away from the explorer."""

    ballot_id: str
    """16 hexadecimal digits; the same for what is drawn with the same arguments from the same answers."""
    arena: str
    """Name of the arena."""
    language: str
    """Language of the queries."""
    voter: str | None
    """For whom it is; null where whoever gets it gives a name."""
    part: int
    """Its number among those drawn together, from 1."""
    parts: int
    """How many were drawn together."""
    items: tuple[BallotItem, ...]
    """In the order in which they are shown."""

    @property
    def answers(self) -> str:
        """Digest of all answers of the ballot, in any order."""
        return digest(*(entry.shown for entry in self.items))

    @property
    def session(self) -> str:
        """The session of its votes."""
        return f"ballot-{self.ballot_id}"


@dataclass(frozen=True, slots=True)
class BallotProgress:
    """How far the person who got a ballot has come, by what was imported."""

    key = ("ballot",)

    ballot: str
    """Id of the ballot."""
    language: Code
    """Language of its queries."""
    voter: str | None
    """For whom it was made or, where that was left open, who gave it back; null where nobody has yet."""
    items: Count
    """Battles on it."""
    voted: Count
    """Of these those with a vote that stands, skips among them."""
    left: Count
    """Those without."""


def assign(n: int, people: int, reviews: int, *, seed: int = 0) -> list[list[int]]:
    """Deal items to people: every item to as many different ones as it needs, and to all people the same number.

    Each item goes to those who have fewest so far, by lot among equals.

    Args:
        n: how many items.
        people: how many people.
        reviews: how many people see an item.
        seed: of the lots.

    Returns:
        For each person the items, in increasing order. No two people differ by more than one item.

    Raises:
        BadInput: if there are fewer people than reviews, or a number is below 1.
    """
    if min(n, people, reviews) < 1:
        raise BadInput("a ballot takes at least one item, one person and one review", do="give numbers from 1")
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


def people_of(voters: str | None, part: str | None) -> tuple[list[str | None], int | None]:
    """For whom ballots are drawn.

    Args:
        voters: names with commas between; None for people without names.
        part: `I/N`: the I-th of N people without names.

    Returns:
        The people, and the index of the one whose ballot is wanted; None for all.

    Raises:
        BadInput: if both are given, or a part is none.
    """
    if part is None:
        return ([None], None) if voters is None else ([*voters.split(",")], None)
    first, _, last = part.partition("/")
    numbers = [int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0 for text in (first, last)]
    if voters is not None or not 1 <= numbers[0] <= numbers[1]:
        raise BadInput(f"{part} is no part of the ballots", do="give --part 1/3, or --voters, and not both")
    return [None] * numbers[1], numbers[0] - 1


def draw_ballots(
    arena: store.Arena,
    language: str,
    *,
    n: int,
    people: Sequence[str | None] = (None,),
    reviews: int = 1,
    seed: int = 0,
) -> list[Ballot]:
    """Draw battles from the queue and deal them to people.

    The battles are those that the queue asks first of a voter who is named by the seed: in random order, each with its
    chance, the plainly random share among them. Order and sides are drawn for each person.

    Args:
        arena: the arena; it has answers.
        language: a code.
        n: how many battles in all; fewer where the language has no more.
        people: for whom the ballots are; None for somebody who gives a name in the ballot.
        reviews: how many people see each battle.
        seed: other battles come with another.

    Returns:
        A ballot a person, in their order.

    Raises:
        BadInput: if people or reviews make no assignment.
        UnknownName: if the arena has no answers in the language.
        NotEnoughData: if there is nothing to vote on, or less than one battle for each person.
    """
    names = [person.strip() for person in people if person is not None]
    if len(set(names)) < len(names) or not all(names):
        raise BadInput("two voters have one name, or one has none", do="give each voter a name of their own")
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
        ballot_id = _keyed(secret, "id", about)[:16]
        entries = [_entry(secret, ballot_id, battle, words) for battle, words in own]
        entries.sort(key=lambda entry: entry.item_id)
        name = person.strip() if person is not None else None
        ballots.append(Ballot(ballot_id, arena.name, language, name, number, len(people), tuple(entries)))
    return ballots


def keep(ballots: Iterable[Ballot]) -> None:
    """Keep who is who on ballots in the user's own folder; without it what comes back means nothing.

    Raises:
        ArenaError: if the folder cannot be written.
    """
    for ballot in ballots:
        keep_ballot(ballot.ballot_id, asdict(ballot))


def kept() -> dict[str, Ballot]:
    """The ballots that were made here, by id.

    Raises:
        ArenaError: if one cannot be read.
    """
    return {ballot_id: _ballot(record) for ballot_id, record in kept_ballots().items()}


def ballot_key(ballot_id: str) -> str:
    """The key with which a ballot signs what it gives back: 64 hexadecimal digits, different for every ballot."""
    return _keyed(ballot_secret(), "key", ballot_id)


def is_returned(path: Path) -> bool:
    """Whether a file is one that a ballot gave back, by its first line."""
    return any(f'"{_HEAD}"' in line for line in store.beginning(path, 1))


def returned(path: Path, log: Iterable[Vote] = ()) -> list[Vote]:
    """The votes in a file that a ballot gave back; all of them, or none.

    Args:
        path: the file.
        log: the votes that are there already; a ballot is of one voter.

    Returns:
        Votes and takings back, in the order in which they were given; the same for a file that is read again.

    Raises:
        BadInput: if the file is of a ballot that was not made here, was changed, is of other answers than the ballot,
            or of another voter than gave it back before.
    """
    ballot, head, events = _verified(path)
    for name, value in (("arena", ballot.arena), ("language", ballot.language), ("answers", ballot.answers)):
        if head.get(name) != value:
            raise BadInput(f"{name} is {head.get(name)!r}, and the ballot has {value!r}", where=f"{path}:1", do=_DO)
    voter = head.get("voter")
    if not isinstance(voter, str) or not voter.strip() or ballot.voter not in (None, voter.strip()):
        raise BadInput(
            f"the voter is {voter!r}, and the ballot is for {ballot.voter or 'somebody with a name'}",
            where=f"{path}:1",
            do=_DO,
        )
    others = {vote.voter for vote in log if vote.session == ballot.session} - {voter.strip()}
    if others:
        raise BadInput(
            f"this ballot was given back by {min(others)}, and now by {voter.strip()}",
            where=f"{path}:1",
            do="give each person a ballot of their own; nothing was imported",
        )
    entries = {entry.item_id: entry for entry in ballot.items}
    rows: list[Vote] = []
    for where, event in events:
        try:
            rows.append(_vote(ballot, voter.strip(), entries, rows, event))
        except BadInput as error:
            raise BadInput(error.what, where=where, do=error.do or _DO) from None
    if not rows:
        raise BadInput("nobody has voted on this ballot", where=str(path), do="vote, then save the votes again")
    return rows


def import_ballot(database: Votes, path: Path) -> tuple[int, int]:
    """Read a file that a ballot gave back into the database (`returned`); twice is as good as once.

    Returns:
        How many rows were read, and how many of them were new.

    Raises:
        BadInput: if the file is not sound, or the same ballot was voted on in two places.
        Unreachable: if the database does not answer.
    """
    rows = returned(path, database.rows(Vote))
    try:
        return len(rows), database.append(rows, [str(path)] * len(rows))
    except BadInput as error:
        do = "the ballot was voted on in two browsers: import one file of the two; nothing was imported"
        raise BadInput(error.what, where=error.where, do=do) from None


def ballots_left(arena: store.Arena, log: Iterable[Vote]) -> list[BallotProgress]:
    """How far the ballots of an arena have come.

    Args:
        arena: the arena.
        log: the votes, those taken back among them.

    Returns:
        A row a ballot that was made here, by language, part and id.

    Raises:
        ArenaError: if a ballot's record cannot be read.
    """
    by_session: dict[str, list[Vote]] = {}
    for vote in votes_on(arena, log).counting:
        by_session.setdefault(vote.session or "", []).append(vote)
    rows = []
    for ballot in sorted(kept().values(), key=lambda b: (b.language, b.part, b.ballot_id)):
        if not belonging(arena, [_blank_vote(ballot.arena, entry.battle, entry.shown) for entry in ballot.items]):
            continue
        own_votes = by_session.get(ballot.session, [])
        voted = len({item(vote) for vote in own_votes})
        voter = ballot.voter or next((vote.voter for vote in own_votes), None)
        n = len(ballot.items)
        rows.append(BallotProgress(ballot.ballot_id, ballot.language, voter, n, voted, n - voted))
    return rows


def _verified(path: Path) -> tuple[Ballot, dict[str, Any], list[tuple[str, dict[str, Any]]]]:
    """The ballot, the head and the events, each with its place, of a file whose signature holds."""
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
    ballot = kept().get(str(head.get("ballot")))
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


def _vote(
    ballot: Ballot, voter: str, entries: Mapping[str, BallotItem], before: Sequence[Vote], event: Mapping[str, Any]
) -> Vote:
    """The row of one event: a vote on an item, or that an earlier vote is taken back."""
    vote_id = f"{ballot.session}-{len(before):05d}"
    if event.get("vote") == UNDO:
        back = event.get("undoes")
        if type(back) is not int or not 0 <= back < len(before) or before[back].vote == UNDO:
            raise BadInput(f"it takes back {back!r}, which is no vote before it")
        undo: dict[str, Any] = {"vote_id": vote_id, "time": event.get("time"), "vote": UNDO, "note": None}
        return checked(replace(before[back], **undo, undoes=before[back].vote_id, seconds=None))
    entry = entries.get(str(event.get("item")))
    if entry is None:
        raise BadInput(f"{event.get('item')!r} is no item of the ballot")
    about: dict[str, Any] = asdict(entry.battle)
    given = {name: event.get(name) for name in ("vote", "time", "seconds", "note")}
    given["note"] = given["note"] or None
    about |= given | {"vote_id": vote_id, "arena": ballot.arena, "voter": voter, "undoes": None}
    return checked(Vote(**about, session=ballot.session, shown=entry.shown))


def _entry(secret: bytes, ballot_id: str, battle: VoteItem, shown: str) -> BallotItem:
    """An item of a ballot, with its sides drawn."""
    first, second = sorted((battle.system_a, battle.system_b))
    if int(_keyed(secret, "side", [ballot_id, *_key(battle)])[0], 16) % 2:
        first, second = second, first
    sided = replace(battle, system_a=first, system_b=second)
    return BallotItem(_keyed(secret, "item", [ballot_id, sided.query_id, first, second])[:32], sided, shown)


def _key(battle: VoteItem) -> tuple[str, ...]:
    return (battle.language, battle.query_id, *sorted((battle.system_a, battle.system_b)))


def _keyed(secret: bytes, purpose: str, about: object) -> str:
    data = json.dumps([purpose, about], ensure_ascii=True).encode("ascii")
    return hmac.new(secret, data, hashlib.sha256).hexdigest()


def _digests(arena: store.Arena, battles: Sequence[VoteItem]) -> list[str]:
    """Digest of the query and the two answers of each battle."""
    return shown_now(arena, [_blank_vote(arena.name, battle) for battle in battles])


def _blank_vote(arena: str, battle: VoteItem, shown: str | None = None) -> Vote:
    """A vote on a battle without an opinion, to look its texts up by."""
    return cast(battle, vote="skip", vote_id="-", arena=arena, voter="-", shown=shown)


def _ballot(record: Mapping[str, Any]) -> Ballot:
    items = tuple(
        BallotItem(entry["item_id"], VoteItem(**entry["battle"]), entry["shown"]) for entry in record["items"]
    )
    return Ballot(**{**record, "items": items})
