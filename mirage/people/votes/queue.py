"""Queue of battles to vote on: random, with known inclusion probabilities that favour informative battles.

    pool = gather_pool(language="sw", answers=answers, judgments=judgments, ratings=ratings)
    items = next_items(pool, voter="amina", seen=seen, n=10)

A hash of its name gives every battle a fixed number from 0 to 1. The battle is included if the number is below its
inclusion probability, which doubles with every reason in its favour and is 1 for the most. Included battles come in
random order, regardless of the reasons. Wherever people stop, a battle has therefore been voted on with a probability
proportional to its inclusion probability, which the vote stores (`Vote.inclusion`); weighted by its inverse, the votes
represent all battles (Horvitz and Thompson 1952): corrected ratings use every such vote. The factor is only 2: the
residual variance of votes given judges and ratings is only slightly larger where judges differ (by 1.12 to 1 on 26,919
battles of Chatbot Arena), and very unequal weights cost more than they gain.

The battles whose number is below the smallest probability are the control part: a plain random sample, used for
agreement. It is at least a quarter of the included battles.

A quarter of the battles come in the same order for everyone, so that people overlap; the others come in a separate
order for each person.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import FIRST, SECOND, TIE, Battle, read_verdicts
from mirage.errors import BadInput
from mirage.people.votes.coefficients import ENOUGH
from mirage.people.votes.rows import Vote, now, validate_row
from mirage.people.votes.verdicts import battle, label

if TYPE_CHECKING:
    import pyarrow as pa

Hashes = NDArray[np.uint64]

CONTROL, COMMON, SEED = 0.25, 0.25, 0
"""Minimum inclusion probability; share of the battles with a common order; seed of the hashes."""
RANDOM = "random"
"""Reason of a control battle."""
REASONS = ("flipped", "judges disagree", "close ranks", "not judged")
"""Reasons of others: a judge's two orders name different winners; two judges do; the two systems are neighbours in a
judge's ranking with overlapping intervals; no judge has decided it. A battle without any, or one outside the included
battles that comes after these, is `filler`.
"""
FILLER = "filler"

_REPLIED = ("ok", "truncated")
_COUNTS = np.array([bits.bit_count() for bits in range(1 << len(REASONS))])
"""Number of reasons, by bit set."""


@dataclass(frozen=True, slots=True)
class VoteItem:
    """One battle to vote on. The page hides `system_a`, `system_b`, `control` and `why` until the vote."""

    language: str
    """Language of the query."""
    query_id: str
    """The query."""
    system_a: str
    """The system to show first; the order is drawn for the voter and the battle."""
    system_b: str
    """The system to show second."""
    control: bool
    """Whether it is in the control part."""
    why: str
    """`random`, `filler`, or comma-separated `REASONS`."""
    inclusion: float | None = None
    """Inclusion probability of the battle; null if it is not included."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The battles of one language that can be voted on; the same for all voters, computed once."""

    language: str
    """The language."""
    battles: tuple[Battle, ...]
    """The battles, sorted."""
    reasons: NDArray[np.uint8]
    """Reasons of each battle: one bit for each of `REASONS`."""
    hashes: Hashes
    """One hash per battle, of its name and the seed."""
    inclusion: NDArray[np.float64]
    """Inclusion probability of each battle."""
    on_request: NDArray[np.bool_]
    """Whether it is included."""
    control: NDArray[np.bool_]
    """Whether it is in the control part, used for agreement."""
    same_text: int
    """Battles excluded because both answers have the same text."""
    seed: int
    """Seed of the hashes."""
    share: float
    """Minimum inclusion probability."""

    @cached_property
    def index(self) -> Mapping[Battle, int]:
        """The position of each battle."""
        return {battle_key: k for k, battle_key in enumerate(self.battles)}

    @cached_property
    def n_queries(self) -> int:
        """The number of queries of the included battles."""
        return len(
            {battle.query_id for battle, requested in zip(self.battles, self.on_request, strict=True) if requested}
        )


def gather_pool(
    *,
    language: str,
    answers: pa.Table,
    judgments: pa.Table | None = None,
    ratings: pa.Table | None = None,
    share: float = CONTROL,
    seed: int = SEED,
) -> Pool:
    """Gather the battles of a language: those decided by a judge, or all pairs of answers if none is judged.

    Args:
        language: its code.
        answers: columns language, query_id, system, status and text (or any digest of it); others than usable answers
            are left out.
        judgments: table `judgments`.
        ratings: table `ratings`; its rows by judges tell which ranks are close.
        share: the least chance of a battle; 1 asks all alike.
        seed: seed of the hashes; the parts change with it, so leave it.

    Raises:
        BadInput: if the share is not above 0 and at most 1.
    """
    if not 0 < share <= 1:
        raise BadInput(f"the share cannot be {share}", do="give a value above 0, at most 1")
    texts = _texts(answers, language)
    candidates = {} if judgments is None else _decided_battles(_of(judgments, language), ratings, language)
    if not candidates:
        unjudged = 1 << REASONS.index("not judged")
        candidates = {
            Battle(language, query, first, second): unjudged
            for query, texts_by_system in sorted(texts.items())
            for first, second in itertools.combinations(sorted(texts_by_system), 2)
        }
    shown = [
        battle_key
        for battle_key in candidates
        if battle_key.first in (by_system := texts.get(battle_key.query_id, {})) and battle_key.second in by_system
    ]
    battles = tuple(
        battle_key
        for battle_key in shown
        if (by_system := texts[battle_key.query_id])[battle_key.first] != by_system[battle_key.second]
    )
    reasons = np.array([candidates[battle_key] for battle_key in battles], dtype=np.uint8)
    hashes = np.array([_hash(seed, *battle_key) for battle_key in battles], dtype=np.uint64)
    n_reasons = _COUNTS[reasons]
    inclusion = np.maximum(share, 2.0 ** (n_reasons - n_reasons.max(initial=0)))
    drawn = _unit(_mix_hashes(hashes, "part"))
    return Pool(
        language,
        battles,
        reasons,
        hashes,
        inclusion,
        drawn < inclusion,
        drawn < inclusion.min(initial=1.0),
        len(shown) - len(battles),
        seed,
        share,
    )


def next_items(pool: Pool, *, voter: str, seen: Iterable[Vote] = (), n: int = 10) -> list[VoteItem]:
    """Return the next battles for a voter; stable until one of them is voted on, then the same without that one.

    Args:
        pool: the battles of a language.
        voter: who votes; the order is theirs.
        seen: the voter's valid votes, including skips; a battle is shown once, and again if its vote was undone.
        n: how many.

    Returns:
        At most n battles, the next one first; fewer where no more are left.
    """
    voted = {battle(vote) for vote in seen if vote.language == pool.language}
    n_voted = len(voted)
    left = np.ones(len(pool.battles), dtype=bool)
    left[[pool.index[battle_key] for battle_key in voted if battle_key in pool.index]] = False
    common = _unit(_mix_hashes(pool.hashes, "common")) < COMMON
    own = _mix_hashes(pool.hashes, f"own/{voter}")
    lines = {
        "common": _first(pool.hashes, pool.on_request & common & left, n),
        "own": _first(own, pool.on_request & ~common & left, n),
        "rest": _first(own, ~pool.on_request & left, n),
    }
    items: list[VoteItem] = []
    while len(items) < n and any(lines.values()):
        turn_hash = np.array([_hash(pool.seed, voter, str(n_voted + len(items)))], dtype=np.uint64)
        turn = ("common", "own") if _unit(_mix_hashes(turn_hash, "which"))[0] < COMMON else ("own", "common")
        line = next(lines[name] for name in (*turn, "rest") if lines[name])
        items.append(_item(pool, line.pop(0), own))
    return items


@dataclass(frozen=True, slots=True)
class VoteDetails:
    """Circumstances of a vote."""

    note: str | None = None
    """The voter's note."""
    seconds: float | None = None
    """Time taken."""
    session: str | None = None
    """The session."""
    shown: str | None = None
    """`digest` of the two answers."""


def cast(
    chosen: VoteItem,
    *,
    vote: str,
    vote_id: str,
    arena: str,
    voter: str,
    details: VoteDetails = VoteDetails(),  # frozen
) -> Vote:
    """Build a vote on a battle of the queue, for submission.

    Args:
        chosen: the battle.
        vote: the vote's word; `A` is the answer shown first.
        vote_id: made when the battle was first shown (`token`) and kept until the vote is: a second press of a key, or
            a second attempt after an error, is then the same vote.
        arena: name of the arena.
        voter: name of the voter.
        details: circumstances of the vote.

    Raises:
        BadInput: if a value is not one of its column's.
    """
    names = ("language", "query_id", "system_a", "system_b", "control", "why", "inclusion")
    about = {name: getattr(chosen, name) for name in names}
    values: dict[str, Any] = {"vote": vote, "vote_id": vote_id, "time": now(), "arena": arena, "voter": voter}
    values |= asdict(details) | {"note": details.note or None, "undoes": None}
    return validate_row(Vote(**about, **values))


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of one voter, and of all voters, in one language."""

    own: int
    """The voter's valid votes, including skips."""
    own_random: int
    """Those on battles of the control part."""
    left: int
    """Battles the voter has not voted on."""
    random: int
    """All voters' votes with an opinion on battles of the control part."""
    queries: int
    """Number of queries of these."""
    enough: int
    """Number of queries from which the agreement is reliable."""


def progress(pool: Pool, votes: Iterable[Vote], *, voter: str) -> Progress:
    """Count the votes of a language.

    Args:
        pool: the battles of the language.
        votes: those that stand, of everybody.
        voter: whose progress.
    """
    language_votes = [vote for vote in votes if vote.language == pool.language]
    own_votes = [vote for vote in language_votes if vote.voter == voter]
    drawn = [vote for vote in language_votes if vote.control and label(vote) is not None]
    voted = {battle(vote) for vote in own_votes}
    return Progress(
        own=len(own_votes),
        own_random=sum(vote.control for vote in own_votes),
        left=len(pool.battles) - sum(battle_key in pool.index for battle_key in voted),
        random=len(drawn),
        queries=len({vote.query_id for vote in drawn}),
        enough=ENOUGH,
    )


def _item(pool: Pool, k: int, own: Hashes) -> VoteItem:
    language, query, *pair = pool.battles[k]
    first, second = reversed(pair) if _unit(_mix_hashes(own[k : k + 1], "order"))[0] < 0.5 else pair
    reasons = [name for bit, name in enumerate(REASONS) if pool.reasons[k] >> bit & 1]
    control, selected = bool(pool.control[k]), bool(pool.on_request[k])
    reason = RANDOM if control else ", ".join(reasons) if selected and reasons else FILLER
    return VoteItem(language, query, first, second, control, reason, float(pool.inclusion[k]) if selected else None)


def _first(order: Hashes, among: NDArray[np.bool_], n: int) -> list[int]:
    """Return the n first battles in an order."""
    battles = np.flatnonzero(among)
    return [int(k) for k in battles[np.argsort(order[battles], kind="stable")][:n]]


def _decided_battles(judgments: pa.Table, ratings: pa.Table | None, language: str) -> dict[Battle, int]:
    """Return the battles that a judge decided, sorted, each with its `REASONS` as bits."""
    verdicts = read_verdicts(judgments).select_parsed()
    decided = verdicts.decide()
    query, first, second = (column[decided.head] for column in (verdicts.query, verdicts.first, verdicts.second))
    s = len(verdicts.systems)
    _, at, place = np.unique((query * s + first) * s + second, return_index=True, return_inverse=True)

    def any_judge(chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.bincount(place[chosen], minlength=len(at)) > 0

    flipped = any_judge(~decided.consistent)
    winners = [any_judge(decided.consistent & (decided.label == label)) for label in (FIRST, SECOND, TIE)]
    differ = np.sum(winners, axis=0) > 1
    close = close_pairs(ratings, language, {verdicts.judges[k] for k in np.unique(verdicts.judge)})
    battles = [
        Battle(language, verdicts.queries[q], verdicts.systems[one], verdicts.systems[other])
        for q, one, other in zip(query[at].tolist(), first[at].tolist(), second[at].tolist(), strict=True)
    ]
    return {
        battle_key: flip | differs << 1 | (battle_key[2:] in close) << 2
        for battle_key, flip, differs in zip(battles, flipped.tolist(), differ.tolist(), strict=True)
    }


def close_pairs(ratings: pa.Table | None, language: str, judges: Collection[str]) -> set[tuple[str, str]]:
    """Return pairs of neighbours in a judge's ranking with overlapping intervals."""
    by_judge: dict[str, list[dict[str, Any]]] = {}
    for row in [] if ratings is None else _of(ratings, language).to_pylist():
        if row["judge"] in judges:
            by_judge.setdefault(row["judge"], []).append(row)
    pairs = set()
    for rows in by_judge.values():
        rows.sort(key=lambda row: (-row["rating"], row["system"]))
        for better, worse in itertools.pairwise(rows):
            # A missing end is unbounded.
            if worse["high"] is None or better["low"] is None or worse["high"] > better["low"]:
                first, second = sorted((better["system"], worse["system"]))
                pairs.add((first, second))
    return pairs


def _texts(answers: pa.Table, language: str) -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = {}
    columns = (_of(answers, language)[name].to_pylist() for name in ("query_id", "system", "status", "text"))
    for query, system, status, text in zip(*columns, strict=True):
        if status in _REPLIED and text is not None:
            texts.setdefault(query, {})[system] = text.strip()
    return texts


def _of(table: pa.Table, language: str) -> pa.Table:
    import pyarrow.compute as pc

    return table.filter(pc.equal(table["language"], language))


def _hash(seed: int, *names: str) -> int:
    data = "\0".join([str(seed), *names]).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


def _mix_hashes(hashes: Hashes, name: str) -> Hashes:
    """Return independent hashes for another purpose (the finaliser of splitmix64)."""
    x = hashes ^ np.uint64(_hash(0, name))
    with np.errstate(over="ignore"):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _unit(hashes: Hashes) -> NDArray[np.float64]:
    """Convert hashes to numbers in [0, 1)."""
    return np.asarray((hashes >> np.uint64(11)) / float(1 << 53))
