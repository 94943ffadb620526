"""Ballots of an audit of labels: queries with their passages, each with three questions.

They are signed, returned and imported like ballots of battles (`ballots.py`), without the labels: voters do not see
what the program decided.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput, NotEnoughData
from mirage.people.votes.ballots import (
    SentBallot,
    append_returned,
    assign,
    check_head,
    check_names,
    import_ballot,
    read_events,
    sign,
    undone_vote,
    verify_returned,
)
from mirage.people.votes.belonging import shown_now
from mirage.people.votes.database import Votes
from mirage.people.votes.labels import AuditItem, refuse_strays
from mirage.people.votes.rows import UNDO, LabelVote, now, validate_row
from mirage.store.ballots import ballot_secret, keep_ballot, kept_ballots

KIND = "labels"
"""Ballot kind, in records and returned files."""


@dataclass(frozen=True, slots=True)
class LabelItem:
    """One query of a ballot."""

    item_id: str
    """Its opaque id in the ballot: 32 hexadecimal digits."""
    query: AuditItem
    """The query."""
    shown: str
    """Digest of the query and its passages (`mirage.people.votes.shown_digest`)."""


@dataclass(frozen=True, slots=True)
class LabelBallot(SentBallot[LabelItem]):
    """Queries of one language for one person to check."""


def label_ballots(
    arena: store.Arena,
    items: Sequence[AuditItem],
    *,
    people: Sequence[str | None] = (None,),
    reviews: int = 1,
    seed: int = 0,
) -> list[LabelBallot]:
    """Distribute the queries of an audit over people, one ballot per language and person.

    Args:
        arena: the arena.
        items: the queries (`labels.draw_audit`).
        people: names of the voters; None for one voter who enters a name in the ballot.
        reviews: number of people who check each query.
        seed: seed of the distribution.

    Raises:
        BadInput: if people or reviews make no valid assignment.
        NotEnoughData: if a query or its passages have no text here.
    """
    check_names(people)
    _need_texts(arena, items)
    secret, ballots = ballot_secret(), []
    languages = dict.fromkeys(entry.language for entry in items)
    for language in languages:
        of_language = [entry for entry in items if entry.language == language]
        shown = [text or "" for text in shown_now(arena, [_blank(arena.name, entry) for entry in of_language])]
        for number, (person, places) in enumerate(
            zip(people, assign(len(of_language), len(people), reviews, seed=seed), strict=True), start=1
        ):
            own = [(of_language[k], shown[k]) for k in places]
            if not own:
                continue
            about = [KIND, arena.name, language, person, number, len(people), reviews, seed]
            ballot_id = sign(secret, "id", [*about, [(entry.query_id, text) for entry, text in own]])[:16]
            entries = [
                LabelItem(sign(secret, "item", [ballot_id, entry.query_id])[:32], entry, text) for entry, text in own
            ]
            entries.sort(key=lambda entry: entry.item_id)
            name = person.strip() if person is not None else None
            ballots.append(LabelBallot(ballot_id, arena.name, language, name, number, len(people), tuple(entries)))
    return ballots


def keep_label_ballots(ballots: Iterable[LabelBallot]) -> None:
    """Store the key of ballots in the user's folder; returned votes cannot be read without it.

    Raises:
        ArenaError: if the folder cannot be written.
    """
    for ballot in ballots:
        keep_ballot(ballot.ballot_id, {"kind": KIND, **asdict(ballot)})


def stored_label_ballots() -> dict[str, LabelBallot]:
    """Return the ballots of labels made here, by id.

    Raises:
        ArenaError: if one cannot be read.
    """
    return {name: _ballot(record) for name, record in kept_ballots().items() if record.get("kind") == KIND}


def read_label_ballot(path: Path, log: Iterable[LabelVote] = ()) -> list[LabelVote]:
    """Return the votes of a returned ballot of labels; all of them, or none.

    Args:
        path: the file.
        log: votes stored already; a ballot belongs to one voter.

    Raises:
        BadInput: as in `ballots.read_ballot`.
    """
    ballot, head, events = verify_returned(path, stored_label_ballots())
    voter = check_head(ballot, head, path, log)
    entries = {entry.item_id: entry for entry in ballot.items}
    return read_events(path, events, lambda before, event: _vote(ballot, voter, entries, before, event))


def import_any_ballot(database: Votes, path: Path, *, arena: store.Arena | None = None) -> tuple[int, int]:
    """Import a returned ballot of battles or of labels; importing it twice is harmless.

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
    if not _has_labels(path):
        return import_ballot(database, path)
    rows = read_label_ballot(path, database.rows(LabelVote))
    if arena is not None:
        refuse_strays(arena, rows, [str(path)] * len(rows))
    return len(rows), append_returned(database, rows, path)


def _has_labels(path: Path) -> bool:
    """Return whether the head of a returned ballot, its first line, says that it is of labels."""
    try:
        head = json.loads("".join(store.beginning(path, 1)))
    except (ValueError, RecursionError):
        return False
    return isinstance(head, dict) and head.get("kind") == KIND


def _vote(
    ballot: LabelBallot,
    voter: str,
    entries: Mapping[str, LabelItem],
    before: Sequence[LabelVote],
    event: Mapping[str, Any],
) -> LabelVote:
    """Return the row of one event: a vote on an item, or an undo of an earlier vote."""
    if event.get("vote") == UNDO:
        return undone_vote(ballot, before, event)
    entry = entries.get(str(event.get("item")))
    if entry is None:
        raise BadInput(f"{event.get('item')!r} is not an item of the ballot")
    given: dict[str, Any] = {name: event.get(name) for name in ("vote", "asked", "right_language", "time", "seconds")}
    return validate_row(
        LabelVote(
            vote_id=f"{ballot.session}-{len(before):05d}",
            arena=ballot.arena,
            language=entry.query.language,
            query_id=entry.query.query_id,
            voter=voter,
            note=event.get("note") or None,
            undoes=None,
            session=ballot.session,
            shown=entry.shown,
            inclusion=entry.query.inclusion,
            **given,
        )
    )


def _blank(arena: str, entry: AuditItem) -> LabelVote:
    """Return a vote without an opinion, to look up its texts."""
    place = (arena, entry.language, entry.query_id)
    return LabelVote("-", now(), *place, "-", "skip", None, None, None, None, None, None, None, entry.inclusion)


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


def _ballot(record: Mapping[str, Any]) -> LabelBallot:
    items = tuple(LabelItem(entry["item_id"], AuditItem(**entry["query"]), entry["shown"]) for entry in record["items"])
    return LabelBallot(**{name: value for name, value in record.items() if name != "kind"} | {"items": items})
