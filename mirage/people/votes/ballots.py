"""Ballots to send to voters: drawing items, storing the key, and importing the votes.

    ballots = draw_ballots(arena, "te", n=40, people=["amina", "ravi", "lakshmi"], reviews=2)
    keep(ballots)                                      # the key from ids to systems stays here
    rows = read_ballot(Path("amina.jsonl"))               # all votes, or BadInput for an invalid file
    database.append(rows)

A ballot is of battles, or of the labels of queries for an audit, each query with its passages and without the label
(`audit_ballots`). It has an opaque id for each item: a keyed digest (HMAC-SHA256) of ballot, item and order. The
mapping from ids to systems, and the secret of the digests, are stored in the user's folder.

Returned files are JSONL: a head, one event per line (a vote or an undo), and a signature of all preceding lines by the
ballot's key. The signature detects files that are damaged, edited or merged. It does not authenticate the voter: anyone
who has a ballot can vote on it.
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
from mirage.people.votes.belonging import belonging, shown_now, votes_on
from mirage.people.votes.database import Votes
from mirage.people.votes.labels import AuditItem, refuse_strays
from mirage.people.votes.queue import VoteItem, next_items
from mirage.people.votes.rows import UNDO, LabelVote, Vote, cast, digest, validate_row
from mirage.people.votes.stage import vote_pool
from mirage.schema import Code, Count
from mirage.store.ballots import ballot_secret, keep_ballot, kept_ballots

FILE_FORMAT = 1
"""Format version of a returned file."""
_HEAD = "mirage_ballot"
_DO = "nothing was imported; ask for the file as the ballot gave it"
LABELS = "labels"
"""Kind of a ballot of labels, in records and returned files."""
_SEED = 0
"""Seed of the queue and of the distribution; ids of ballots depend on it."""
Subject = VoteItem | AuditItem


@dataclass(frozen=True, slots=True)
class BallotItem:
    """One item of a ballot."""

    item_id: str
    """Its opaque id in the ballot: 32 hexadecimal digits."""
    subject: Subject
    """The battle, in the order shown, or the query."""
    shown: str
    """Digest of the displayed texts (`mirage.people.votes.shown_digest`)."""


@dataclass(frozen=True, slots=True)
class Ballot:
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
    items: tuple[BallotItem, ...]
    """Items in display order; battles or queries."""

    @property
    def of_labels(self) -> bool:
        """True for an audit of labels, false for battles."""
        return isinstance(self.items[0].subject, AuditItem)

    @property
    def answers(self) -> str:
        """Digest of all displayed texts, independent of their order."""
        return digest(*(entry.shown for entry in self.items))

    @property
    def session(self) -> str:
        """Session of its votes."""
        return f"ballot-{self.ballot_id}"


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


def assign(n: int, people: int, reviews: int) -> list[list[int]]:
    """Distribute items over people: every item to as many people as it needs, and the same number to each person.

    Each item goes to the people with the fewest so far, with ties broken at random.

    Args:
        n: number of items.
        people: number of people.
        reviews: number of people per item.

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
    rng = np.random.default_rng(_SEED)
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
) -> list[Ballot]:
    """Draw battles from the queue and distribute them over people.

    The battles are those that the queue asks first of a voter of its own: in random order, each with its chance, the
    plainly random share among them. Order and sides are drawn for each person.

    Args:
        arena: the arena; it has answers.
        language: a code.
        n: total number of battles; fewer if the language has fewer.
        people: for whom the ballots are; None for a person who gives a name in the ballot.
        reviews: number of people per battle.

    Returns:
        A ballot a person, in their order.

    Raises:
        BadInput: if people or reviews make no assignment.
        UnknownName: if the arena has no answers in the language.
        NotEnoughData: if there is nothing to vote on, or less than one battle for each person.
    """
    check_names(people)
    chosen = next_items(vote_pool(arena, language), voter=f"ballot/{_SEED}", n=n) if n > 0 else []
    if n > 0 and len(chosen) * reviews < len(people):
        raise NotEnoughData(
            f"{len(chosen)} battles in {language}, each seen by {reviews}, do not go round {len(people)} people",
            do="ask fewer people, or for more reviews",
        )
    return _deal(arena, language, chosen, people, reviews)


def audit_ballots(
    arena: store.Arena,
    items: Sequence[AuditItem],
    *,
    people: Sequence[str | None] = (None,),
    reviews: int = 1,
) -> list[Ballot]:
    """Distribute the queries of an audit over people, one ballot per language and person.

    Args:
        arena: the arena.
        items: the queries (`labels.draw_audit`).
        people: names of the voters; None for one voter who enters a name in the ballot.
        reviews: number of people who check each query.

    Raises:
        BadInput: if people or reviews make no valid assignment.
        NotEnoughData: if a query or its passages have no text here.
    """
    check_names(people)
    _need_texts(arena, items)
    ballots = []
    for language in dict.fromkeys(entry.language for entry in items):
        ballots += _deal(arena, language, [entry for entry in items if entry.language == language], people, reviews)
    return ballots


def _deal(
    arena: store.Arena,
    language: str,
    subjects: Sequence[Subject],
    people: Sequence[str | None],
    reviews: int,
) -> list[Ballot]:
    """Return the ballot of each person who is dealt an item."""
    dealt = assign(len(subjects), len(people), reviews)
    shown = [text or "" for text in shown_now(arena, [_blank(subject, arena.name) for subject in subjects])]
    secret, ballots = ballot_secret(), []
    for number, (person, places) in enumerate(zip(people, dealt, strict=True), start=1):
        own = [(subjects[k], shown[k]) for k in places]
        if not own:
            continue
        kind = [LABELS] * isinstance(own[0][0], AuditItem)
        about = [*kind, arena.name, language, person, number, len(people), reviews, _SEED]
        ballot_id = sign(secret, "id", [*about, [(*subject.key, text) for subject, text in own]])[:16]
        entries = sorted((_entry(secret, ballot_id, *entry) for entry in own), key=lambda entry: entry.item_id)
        name = person.strip() if person is not None else None
        ballots.append(Ballot(ballot_id, arena.name, language, name, number, len(people), tuple(entries)))
    return ballots


def keep(ballots: Iterable[Ballot]) -> None:
    """Store the key of ballots in the user's folder; without it returned votes cannot be read.

    Raises:
        ArenaError: if the folder cannot be written.
    """
    for ballot in ballots:
        kind = {"kind": LABELS} if ballot.of_labels else {}
        items = [{"item_id": e.item_id, e.subject.field: asdict(e.subject), "shown": e.shown} for e in ballot.items]
        keep_ballot(ballot.ballot_id, kind | asdict(ballot) | {"items": items})


def stored_ballots() -> dict[str, Ballot]:
    """Return the ballots made here, by id.

    Raises:
        ArenaError: if one cannot be read.
    """
    return {ballot_id: _ballot(record) for ballot_id, record in kept_ballots().items()}


def ballot_key(ballot_id: str) -> str:
    """Return the key with which a ballot signs its file: 64 hexadecimal digits, different for every ballot."""
    return sign(ballot_secret(), "key", ballot_id)


def is_returned(path: Path) -> bool:
    """Return whether a file is a returned ballot, by its first line."""
    return any(f'"{_HEAD}"' in line for line in store.beginning(path, 1))


def read_ballot(path: Path, database: Votes | None = None) -> list[Any]:
    """Return the votes of a returned ballot; all of them, or none.

    Args:
        path: the file.
        database: the votes stored already; a ballot belongs to one voter.

    Returns:
        Votes and undos in order, `Vote` or `LabelVote`; the same if the file is read again.

    Raises:
        BadInput: if the ballot was not made here, was changed, has other answers, or was returned by another voter
            before.
    """
    ballot, head, events = _verify(path)
    kind: type[Any] = LabelVote if ballot.of_labels else Vote
    voter = _check_head(ballot, head, path, database.rows(kind) if database else ())
    entries = {entry.item_id: entry for entry in ballot.items}
    rows: list[Any] = []
    for where, event in events:
        try:
            rows.append(_read_event(ballot, voter, entries, rows, event))
        except BadInput as error:
            raise BadInput(error.what, where=where, do=error.do or _DO) from None
    if not rows:
        raise BadInput("this ballot has no votes", where=str(path), do="vote, then save the file again")
    return rows


def import_ballot(database: Votes, path: Path, *, arena: store.Arena | None = None) -> tuple[int, int]:
    """Import a returned ballot into the database (`read_ballot`); importing it twice is harmless.

    Args:
        database: the votes.
        path: the file.
        arena: reject votes on labels of queries that this arena lacks or has changed; None to accept them, though they
            count for no arena.

    Returns:
        The number of rows read, and the number of new ones.

    Raises:
        BadInput: if the file is invalid, or the same ballot was voted on in two places.
        Unreachable: if the database does not respond.
    """
    rows = read_ballot(path, database)
    where = [str(path)] * len(rows)
    if arena is not None and isinstance(rows[0], LabelVote):
        refuse_strays(arena, rows, where)
    try:
        return len(rows), database.append(rows, where)
    except BadInput as error:
        do = "the ballot was voted on in two browsers: import only one of the two files; nothing was imported"
        raise BadInput(error.what, where=error.where, do=do) from None


def ballots_left(arena: store.Arena, log: Iterable[Vote]) -> list[BallotProgress]:
    """Return the progress of an arena's ballots of battles.

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
        blank = [_blank(entry.subject, ballot.arena, entry.shown) for entry in ballot.items]
        if ballot.of_labels or not belonging(arena, blank):
            continue
        own_votes = by_session.get(ballot.session, [])
        voted = len({vote.item for vote in own_votes})
        voter = ballot.voter or next((vote.voter for vote in own_votes), None)
        n = len(ballot.items)
        rows.append(BallotProgress(ballot.ballot_id, ballot.language, voter, n, voted, n - voted))
    return rows


def _verify(path: Path) -> tuple[Ballot, dict[str, Any], list[tuple[str, dict[str, Any]]]]:
    """Return the ballot, the head and the located events of a file with a valid signature.

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
    ballot = stored_ballots().get(str(head.get("ballot")))
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


def _check_head(ballot: Ballot, head: Mapping[str, Any], path: Path, log: Iterable[Vote] | Iterable[LabelVote]) -> str:
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


def _need_texts(arena: store.Arena, items: Sequence[AuditItem]) -> None:
    """Check that every query and passage has a text to show."""
    for table in ("queries", "passages"):
        arena.need(table)
    for language in dict.fromkeys(entry.language for entry in items):
        ids = {entry.query_id for entry in items if entry.language == language}
        for table in ("queries", "passages"):
            if language not in arena.languages(table):
                continue
            rows = arena.read(table, columns=["query_id", "text"], languages=[language])
            for query, text in zip(rows["query_id"].to_pylist(), rows["text"].to_pylist(), strict=True):
                if text is None and query in ids:
                    raise NotEnoughData(
                        f"{language}:{query} has no text in {table}", do="import the texts, then draw the audit"
                    )


def _read_event(
    ballot: Ballot,
    voter: str,
    entries: Mapping[str, BallotItem],
    before: Sequence[Any],
    event: Mapping[str, Any],
) -> Any:
    """Return the row of one event: a vote on an item, or an undo of an earlier vote in the same file.

    Raises:
        BadInput: if it is of no item, or does not name an earlier vote.
    """
    vote_id = f"{ballot.session}-{len(before):05d}"
    given = {name: event.get(name) for name in ("vote", "time", "seconds", "note")} | {"vote_id": vote_id}
    if event.get("vote") == UNDO:
        back = event.get("undoes")
        if type(back) is not int or not 0 <= back < len(before) or before[back].vote == UNDO:
            raise BadInput(f"it undoes {back!r}, which is not an earlier vote")
        emptied = {"note": None, "seconds": None, "undoes": before[back].vote_id}
        return validate_row(replace(before[back], **given | emptied))
    entry = entries.get(str(event.get("item")))
    if entry is None:
        raise BadInput(f"{event.get('item')!r} is no item of the ballot")
    if ballot.of_labels:
        given |= {name: event.get(name) for name in ("asked", "right_language")}
    about = {"arena": ballot.arena, "voter": voter, "session": ballot.session, "shown": entry.shown}
    return cast(entry.subject, **given | about)


def _blank(subject: Subject, arena: str, shown: str | None = None) -> Any:
    """Return a vote without an opinion, to look up its texts."""
    return cast(subject, vote="skip", vote_id="-", arena=arena, voter="-", shown=shown)


def _entry(secret: bytes, ballot_id: str, subject: Subject, shown: str) -> BallotItem:
    """Return an item of a ballot; the sides of a battle are drawn."""
    sides: tuple[str, ...] = ()
    if isinstance(subject, VoteItem):
        sides = subject.key[2:]
        if int(sign(secret, "side", [ballot_id, *subject.key])[0], 16) % 2:
            sides = sides[::-1]
        subject = replace(subject, system_a=sides[0], system_b=sides[1])
    return BallotItem(sign(secret, "item", [ballot_id, subject.query_id, *sides])[:32], subject, shown)


def sign(secret: bytes, purpose: str, about: object) -> str:
    """Return the keyed digest of a ballot, its key or an item: 64 hexadecimal digits."""
    data = json.dumps([purpose, about], ensure_ascii=True).encode("ascii")
    return hmac.new(secret, data, hashlib.sha256).hexdigest()


def _ballot(record: dict[str, Any]) -> Ballot:
    """Return a ballot from its stored record."""
    kind = AuditItem if record.pop("kind", None) == LABELS else VoteItem
    items = (BallotItem(entry["item_id"], kind(**entry[kind.field]), entry["shown"]) for entry in record["items"])
    return Ballot(**record | {"items": tuple(items)})
