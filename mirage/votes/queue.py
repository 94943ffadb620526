"""What to vote on next: battles that tell most, and a random share that keeps the figures honest.

    pool = gather(language="sw", answers=answers, judgments=judgments, ratings=ratings)
    items = next_items(pool, voter="amina", seen=seen, n=10)

Every battle of a language belongs, by a hash of its name, to one of two parts for good. The control part, a quarter,
is drawn from at random, and only its votes count for agreement and correction: it is a random sample of the battles
whatever the queue prefers in the other part. Were the two drawn from one part, the preferred battles would be gone
before chance could draw them, and the rest would look better than the whole. A quarter: with 100 votes 25 are random,
which gives the agreement an interval of about 0.2 to either side, while three in four still go where they tell most.

Half of the control part comes in the same order to everybody, so that people meet on the same battles; the other half,
and the preferred part among equals, comes to each in an order of their own.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput
from mirage.votes.agreement import ENOUGH
from mirage.votes.rows import Vote, checked, now
from mirage.votes.verdicts import TIE, Battle, Said, battle, judged, label

if TYPE_CHECKING:
    import pyarrow as pa

Hashes = NDArray[np.uint64]

CONTROL, COMMON, SEED = 0.25, 0.5, 0
"""Share of the battles drawn at random; share of these that everybody meets in the same order; seed of the hashes."""
RANDOM = "random"
"""Why a control battle was chosen."""
REASONS = ("flipped", "judges disagree", "close ranks", "not judged")
"""Why others were: a judge's two orders name different winners; two judges do; the two systems are neighbours in a
judge's ranking and their intervals overlap; no judge has decided it. A battle of the preferred part with none of them
is `filler`."""
FILLER = "filler"

_REPLIED = ("ok", "truncated")


@dataclass(frozen=True, slots=True)
class Item:
    """One battle to vote on. The page hides `system_a`, `system_b`, `control` and `why` until the vote."""

    language: str
    """Language of the question."""
    query_id: str
    """The question."""
    system_a: str
    """The system to show first; the order is drawn for the voter and the battle."""
    system_b: str
    """The system to show second."""
    control: bool
    """Whether it was drawn at random."""
    why: str
    """`random`, `filler`, or `REASONS` with commas between them."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The battles of one language that can be voted on; the same for all voters, made once."""

    language: str
    """The language."""
    battles: tuple[Battle, ...]
    """The battles, sorted."""
    reasons: NDArray[np.uint8]
    """What speaks for each: one bit for each of `REASONS`."""
    hashes: Hashes
    """One number a battle, by its name and the seed."""
    control: NDArray[np.bool_]
    """Whether it belongs to the control part."""
    same_text: int
    """Battles left out because both answers are the same text."""
    seed: int
    """Seed of the hashes."""
    share: float
    """The control share."""


def gather(
    *,
    language: str,
    answers: pa.Table,
    judgments: pa.Table | None = None,
    ratings: pa.Table | None = None,
    share: float = CONTROL,
    seed: int = SEED,
) -> Pool:
    """Gather the battles of a language: those that a judge has decided, or all pairs of answers where none is judged.

    Args:
        language: its code.
        answers: columns language, query_id, system, status and text (or any digest of it); others than usable replies
            are left out.
        judgments: table `judgments`.
        ratings: table `ratings`; its rows by judges tell which ranks are close.
        share: the control share.
        seed: seed of the hashes; the parts change with it, so leave it.

    Raises:
        BadInput: if the share is not between 0 and 1.
    """
    if not 0 <= share <= 1:
        raise BadInput(f"a control share of {share} cannot be drawn", do="give one from 0 to 1")
    texts = _texts(answers, language)
    said = {} if judgments is None else judged(_of(judgments, language))
    found: set[Battle] = {one for by in said.values() for one in by}
    if not found:
        found = {
            (language, query, first, second)
            for query, replies in texts.items()
            for first in replies
            for second in replies
            if first < second
        }
    shown = [one for one in sorted(found) if one[2] in (here := texts.get(one[1], {})) and one[3] in here]
    battles = tuple(one for one in shown if texts[one[1]][one[2]] != texts[one[1]][one[3]])
    close = _close(ratings, language, said)
    reasons = np.array([_reasons(one, said, close) for one in battles], dtype=np.uint8)
    hashes = np.array([_hash(seed, *one) for one in battles], dtype=np.uint64)
    return Pool(
        language,
        battles,
        reasons,
        hashes,
        _unit(_mixed(hashes, "part")) < share,
        len(shown) - len(battles),
        seed,
        share,
    )


def next_items(pool: Pool, *, voter: str, seen: Iterable[Vote] = (), n: int = 10) -> list[Item]:
    """The next battles for a voter; the same until one of them is voted on, and then the same but for that one.

    Args:
        pool: the battles of a language.
        voter: who votes; the order is theirs.
        seen: their votes that stand, skips among them; a battle comes once, and one whose vote was taken back again.
        n: how many.

    Returns:
        At most n battles, the next one first; fewer where no more are left.
    """
    done = {battle(vote) for vote in seen if vote.language == pool.language}
    at = len(done)
    left = np.array([one not in done for one in pool.battles], dtype=bool)
    common = _unit(_mixed(pool.hashes, "common")) < COMMON
    own = _mixed(pool.hashes, f"own/{voter}")
    weight = np.array([bin(bits).count("1") for bits in range(1 << len(REASONS))])[pool.reasons]
    lines = {
        "common": _first(pool.hashes, pool.control & common & left, n),
        "own": _first(own, pool.control & ~common & left, n),
        "preferred": _first(own, ~pool.control & left, n, weight),
    }
    items: list[Item] = []
    while len(items) < n and any(lines.values()):
        here = np.array([_hash(pool.seed, voter, str(at + len(items)))], dtype=np.uint64)
        if _unit(_mixed(here, "slot"))[0] < pool.share:
            turn = ("common", "own") if _unit(_mixed(here, "which"))[0] < COMMON else ("own", "common")
            wanted = (*turn, "preferred")
        else:
            wanted = ("preferred", "own", "common")
        line = next(lines[name] for name in wanted if lines[name])
        items.append(_item(pool, line.pop(0), own))
    return items


def cast(
    chosen: Item,
    *,
    vote: str,
    vote_id: str,
    arena: str,
    voter: str,
    note: str | None = None,
    seconds: float | None = None,
    session: str | None = None,
    shown: str | None = None,
) -> Vote:
    """A vote on a battle of the queue, to be submitted.

    Args:
        chosen: the battle.
        vote: what was said of it, `A` of the one shown first.
        vote_id: made when the battle was first shown (`token`) and kept until the vote is: a second press of a key, or
            a second attempt after an error, is then the same vote.
        arena: name of the arena.
        voter: who votes.
        note: what they wrote.
        seconds: how long it took.
        session: the session.
        shown: `digest` of the two answers.

    Raises:
        BadInput: if a value is not one of its column's.
    """
    about = {name: getattr(chosen, name) for name in ("language", "query_id", "system_a", "system_b", "control", "why")}
    given: dict[str, Any] = {"vote": vote, "note": note or None, "undoes": None, "seconds": seconds}
    given |= {"session": session, "shown": shown, "vote_id": vote_id, "time": now(), "arena": arena, "voter": voter}
    return checked(Vote(**about, **given))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one voter, and everybody, has come in one language."""

    mine: int
    """Votes of the voter that stand, skips among them."""
    mine_random: int
    """Of these those on battles drawn at random."""
    left: int
    """Battles that the voter has not voted on."""
    random: int
    """Everybody's votes with an opinion on battles drawn at random."""
    questions: int
    """Questions these are about."""
    enough: int
    """Questions from which the agreement can be relied on."""


def progress(pool: Pool, votes: Iterable[Vote], *, voter: str) -> Progress:
    """Count the votes of a language.

    Args:
        pool: the battles of the language.
        votes: those that stand, of everybody.
        voter: whose progress.
    """
    here = [vote for vote in votes if vote.language == pool.language]
    mine = [vote for vote in here if vote.voter == voter]
    drawn = [vote for vote in here if vote.control and label(vote) is not None]
    done = {battle(vote) for vote in mine}
    return Progress(
        mine=len(mine),
        mine_random=sum(vote.control for vote in mine),
        left=sum(one not in done for one in pool.battles),
        random=len(drawn),
        questions=len({vote.query_id for vote in drawn}),
        enough=ENOUGH,
    )


def _item(pool: Pool, k: int, own: Hashes) -> Item:
    language, query, *pair = pool.battles[k]
    first, second = reversed(pair) if _unit(_mixed(own[k : k + 1], "order"))[0] < 0.5 else pair
    said = [name for bit, name in enumerate(REASONS) if pool.reasons[k] >> bit & 1]
    control = bool(pool.control[k])
    return Item(language, query, first, second, control, RANDOM if control else ", ".join(said) or FILLER)


def _first(order: Hashes, among: NDArray[np.bool_], n: int, weight: NDArray[Any] | None = None) -> list[int]:
    """The n first of some battles, the heaviest first, equals in an order."""
    at = np.flatnonzero(among)
    keys = (order[at],) if weight is None else (order[at], -weight[at])
    return [int(k) for k in at[np.lexsort(keys)][:n]]


def _reasons(one: Battle, said: Mapping[str, Mapping[Battle, Said]], close: Collection[tuple[str, str]]) -> int:
    of = [by[one] for by in said.values() if one in by]
    winners = {each.label for each in of if not each.flipped}
    flags = (
        any(each.flipped for each in of),
        len(winners - {TIE}) > 1 or (TIE in winners and len(winners) > 1),
        one[2:] in close,
        not of,
    )
    return sum(flag << bit for bit, flag in enumerate(flags))


def _close(ratings: pa.Table | None, language: str, judges: Collection[str]) -> set[tuple[str, str]]:
    """Pairs of neighbours in a judge's ranking whose intervals overlap."""
    by: dict[str, list[dict[str, Any]]] = {}
    for row in [] if ratings is None else _of(ratings, language).to_pylist():
        if row["referee"] in judges:
            by.setdefault(row["referee"], []).append(row)
    found = set()
    for rows in by.values():
        rows.sort(key=lambda row: (-row["rating"], row["system"]))
        for better, worse in itertools.pairwise(rows):
            if worse["high"] > better["low"]:
                first, second = sorted((better["system"], worse["system"]))
                found.add((first, second))
    return found


def _texts(answers: pa.Table, language: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    columns = (_of(answers, language)[name].to_pylist() for name in ("query_id", "system", "status", "text"))
    for query, system, status, text in zip(*columns, strict=True):
        if status in _REPLIED and text is not None:
            found.setdefault(query, {})[system] = text.strip()
    return found


def _of(table: pa.Table, language: str) -> pa.Table:
    import pyarrow.compute as pc

    return table.filter(pc.equal(table["language"], language))


def _hash(seed: int, *names: str) -> int:
    data = "\0".join([str(seed), *names]).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


def _mixed(hashes: Hashes, name: str) -> Hashes:
    """Other numbers, as good as drawn anew, for another purpose (the finaliser of splitmix64)."""
    x = hashes ^ np.uint64(_hash(0, name))
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _unit(hashes: Hashes) -> NDArray[np.float64]:
    """Numbers in [0, 1)."""
    return np.asarray((hashes >> np.uint64(11)) / float(1 << 53))
