"""Ballots: sheets of items that a person fills in outside the explorer.

    from mirage.store.export import export_rows

    rows = battle_ballot(database, arena, "te", voter="amina", n=40)       # the next battles of her queue
    export_rows(rows, Path("amina.csv"))
    import_ballot(database, Path("amina.csv"), arena)

A ballot is a table with a row per battle, or per query of a label audit, with the texts to read and an empty column
`vote`. It names no system, no verdict and no label. `item` is the id of the query and a digest of the battle in the
order shown (or of the label) and its texts; an import looks the digest up, and rejects a row if its texts have changed.
`proof` signs the draw, the item and the voter. A row with another proof, or none, is imported as an opinion, which does
not count.
"""

import itertools
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from mirage import schema
from mirage.errors import BadInput
from mirage.people.votes.belonging import belonging, shown_now, votes_on
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Proof, Vote
from mirage.people.votes.labels import AuditItem
from mirage.people.votes.proof import as_opinion, is_signed, sign
from mirage.people.votes.queue import FILLER, FLIPPED, RANDOM, VoteItem, next_items
from mirage.people.votes.rows import cast, digest, read_voter, token
from mirage.people.votes.stage import ImportedVotes, count_imported, vote_pool
from mirage.stages.shown import merge_passages, shown_with
from mirage.store import records
from mirage.store.arena import Arena
from mirage.store.query_rows import of_query

Item = VoteItem | AuditItem
DRAWN = ((True, RANDOM, 1.0), (True, RANDOM, 0.5), (False, FLIPPED, 1.0), (False, FILLER, None))
"""Ways in which the queue draws a battle: `control`, `why` and `inclusion`."""


@dataclass(frozen=True, slots=True)
class BallotRow:
    """One row of a ballot; the voter fills in `vote`, `voter` if it is empty, and a note if there is one."""

    item: str
    """Id of the query, and a digest of what the row is on: text even in a spreadsheet."""
    language: schema.Code
    """Language of the query."""
    query: str | None
    """Its text, after the earlier turns if there are any."""
    answer_a: str | None
    """The first answer; null in an audit of labels."""
    answer_b: str | None
    """The second answer."""
    passages: str | None
    """The passages of the query, or those that the two systems saw."""
    vote: str | None
    """On battles `A`, `B`, `tie`, `both_bad` or `skip`; on labels, do the passages answer the query: `yes`, `no`,
    `unclear` or `skip`. Rows without a vote are left out."""
    voter: str | None
    """The voter: a name or a pseudonym."""
    note: str | None
    """A comment."""
    proof: str | None
    """The draw, and its signature with the item and the voter it was drawn for."""


def battle_ballot(database: Votes, arena: Arena, language: str, *, voter: str | None, n: int) -> pa.Table:
    """Draw the next battles of a voter's queue as a ballot.

    Args:
        database: the votes, whose key signs the ballot.
        arena: the arena; it has answers.
        language: a code.
        voter: who votes; None for a ballot whose voters write their names.
        n: number of battles; fewer if the language has fewer.

    Returns:
        Rows of `BallotRow`. A voter has some battles in common with others; copies of one ballot have all.

    Raises:
        UnknownName: if the arena has no answers in the language.
    """
    seen: Sequence[Vote] = ()
    if voter is not None:
        voter = read_voter(voter)
        seen = votes_on(arena, database.rows(Vote, language=language, voter=voter)).counting
    return ballot(database, arena, next_items(vote_pool(arena, language), voter=voter or "", seen=seen, n=n), voter)


def is_ballot(path: Path) -> bool:
    """Return whether a file is a ballot, by its first record."""
    first = next(iter(records.records(path)), None)
    return first is not None and "item" in first.value and "passages" in first.value


def import_ballot(database: Votes, path: Path, arena: Arena) -> ImportedVotes:
    """Import the votes of a ballot: all of them, or none. A vote that was imported before is not stored again.

    Votes without the signature of the draw, or under another name than that of the ballot, are stored as opinions. A
    new vote on an item that its voter has voted on replaces the earlier one, and is counted.

    Args:
        database: the votes.
        path: the file, of any format that `mirage.store.records.records` reads.
        arena: the arena that the ballot was drawn from.

    Raises:
        BadInput: with file and line, if a row is on no item of the arena as it is now, a value is invalid, or another
            row has another vote of the same person on the same item.
        Unreachable: if the database does not respond.
    """
    rows: dict[tuple[Any, ...], Any] = {}
    where: dict[tuple[Any, ...], str] = {}
    items: dict[tuple[str, str], dict[str, tuple[Item, str]]] = {}
    keys = database.keys()
    for line in records.records(path):
        given = line.value
        if not given.get("vote"):
            continue
        key = str(given.get("language")), str(given.get("item")).rpartition(":")[0]
        try:
            if key not in items:
                items[key] = _items_of(arena, *key)
            if given.get("item") not in items[key]:
                raise BadInput(
                    f"{given.get('item')!r} is not an item of {arena.name} with its current texts",
                    do="name the arena of the ballot, or draw it again; nothing was imported",
                )
            item, shown = items[key][given["item"]]
            values = {name: given.get(name) or None for name in ("vote", "voter", "note")}
            row = cast(item, **values, vote_id=token(), arena=arena.name, shown=shown)
            row = _prove(row, given["item"], str(given.get("proof")), keys)
            if _opinion(rows.setdefault(_item(row), row)) != _opinion(row):
                raise BadInput(
                    f"{row.voter} has another vote on this item in {where[_item(row)]}",
                    do="keep one of the two rows; nothing was imported",
                )
        except BadInput as error:
            raise BadInput(error.what, where=line.where, do=error.do or "nothing was imported") from None
        where.setdefault(_item(row), line.where)
    if not rows:
        raise BadInput("this ballot has no votes", where=str(path), do="fill in the column vote")
    log = [row for kind in {type(row) for row in rows.values()} for row in database.rows(kind)]
    earlier = [row for row, is_same in belonging(arena, log) if is_same]
    stored, voted = {_opinion(row) for row in earlier}, {_item(row) for row in earlier}
    new = [about for about, row in rows.items() if _opinion(row) not in stored]
    n_new = database.append([rows[about] for about in new], [where[about] for about in new])
    return count_imported(rows.values(), n_new, sum(about in voted for about in new))


def _item(row: Any) -> tuple[Any, ...]:
    """Return the voter and the item of a vote, with their proof."""
    return row.voter, row.item, row.proof


def _opinion(row: Any) -> tuple[Any, ...]:
    return (*_item(row), row.systems, row.vote, row.note)


def _prove(row: Any, item: str, proof: str, keys: Sequence[str]) -> Any:
    """Return a vote with what the proof of its row of a ballot says, or as an opinion."""
    draw, _, signature = proof.rpartition("-")
    drawn_for: tuple[tuple[Proof, str], ...] = (("voter", row.voter), ("draw", ""))
    for proved, voter in drawn_for:
        if is_signed(keys, signature, "ballot", draw, item, voter):
            return replace(row, proof=proved, session=draw)
    return as_opinion(row)


def ballot(database: Votes, arena: Arena, items: Sequence[Item], voter: str | None = None) -> pa.Table:
    """Return a ballot of battles, or of the queries of an audit (`labels.draw_audit`), for a voter or for anybody."""
    voter = None if voter is None else read_voter(voter)
    own_key, draw, rows = database.keys()[0], token(), []
    for item, shown in zip(items, _current_digests(arena, items), strict=True):
        key = item.language, item.query_id
        about = next((row["text"] for row in of_query(arena, "queries", key)), None)
        turns = [f"{row['speaker']}: {row['text']}" for row in of_query(arena, "turns", key)]
        query = "\n\n".join([*turns, about or ""])
        answers, passages = _texts(arena, item)
        name = _digest(item, shown)
        proof = f"{draw}-{sign(own_key, 'ballot', draw, name, voter or '')}"
        rows.append(BallotRow(name, item.language, query, *answers, passages, None, voter, None, proof))
    return schema.from_rows(BallotRow, rows)


def _texts(arena: Arena, item: Item) -> tuple[tuple[str | None, str | None], str]:
    """Return the answers of an item, and its passages."""
    key = item.language, item.query_id
    contexts = shown_with(arena, key)
    seen = [contexts.of(key, None, None)]
    answers: tuple[str | None, str | None] = (None, None)
    if isinstance(item, VoteItem):
        by_system = {row["system"]: row for row in of_query(arena, "answers", key)}
        sides = [by_system[system] for system in (item.system_a, item.system_b)]
        retrieved = [contexts.of(key, side["retriever"], side["depth"]) for side in sides]
        seen = retrieved if any(side["retriever"] for side in sides) else [*seen, *retrieved]
        answers = sides[0]["text"], sides[1]["text"]
    passages = merge_passages(key, seen)
    return answers, "\n\n".join(f"[{p.passage_id}] {p.title or ''}\n{p.text or ''}" for p in passages)


def _items_of(arena: Arena, language: str, query_id: str) -> dict[str, tuple[Item, str]]:
    """Return everything that a row on a query can be on, with the digest of its texts, by the digest of the item."""
    label = AuditItem(language, query_id)
    (label_shown,) = _current_digests(arena, [label])
    systems = [row["system"] for row in of_query(arena, "answers", (language, query_id)) if row["text"] is not None]
    pairs = [
        VoteItem(language, query_id, *pair, control=False, why=FILLER) for pair in itertools.combinations(systems, 2)
    ]
    items: dict[str, tuple[Item, str]] = {}
    for pair, shown in zip(pairs, _current_digests(arena, pairs), strict=True):
        for (a, b), drawn in itertools.product(itertools.permutations((pair.system_a, pair.system_b)), DRAWN):
            item = VoteItem(language, query_id, a, b, *drawn)
            items[_digest(item, shown)] = item, shown
    return items | ({_digest(label, label_shown): (label, label_shown)} if label_shown else {})


def _current_digests(arena: Arena, items: Sequence[Item]) -> list[str]:
    """Return the digests of the current texts of items of one kind; empty for an item without texts."""
    blank = [cast(item, vote="skip", vote_id="-", arena=arena.name, voter="-") for item in items]
    return [shown or "" for shown in shown_now(arena, blank)]


def _digest(item: Item, shown: str) -> str:
    """Return the opaque id of an item on a ballot."""
    about = "\0".join(map(str, (*astuple(item), shown)))
    return f"{item.query_id}:{digest(about)}"
