"""Queue of battles to vote on: random, with known inclusion probabilities that favour informative battles.

    pool = gather_pool(language="sw", answers=answers, judgments=judgments)
    items = next_items(pool, voter="amina", seen=seen, n=10)

A hash of its name gives every battle a fixed number from 0 to 1. The battle is included if the number is below its
inclusion probability: 1 if a judge's winner depends on the order (a flip), else a half; 1 for all without any flip.
Included battles come in random order, regardless of flips. Whenever people stop, a battle has therefore been voted on
with a probability proportional to its inclusion probability, which the vote stores (`Vote.inclusion`); weighted by its
inverse, the votes represent all battles (Horvitz and Thompson 1952): corrected ratings use every such vote. The factor
is only 2: the residual variance of votes given judges and ratings is only slightly larger where judges waver (by 1.12
to 1 on 26,919 battles of Chatbot Arena), and very unequal weights cost more than they gain.

The battles whose number is below the smallest probability are the control part: a plain random sample, used for
agreement. It is at least half of the included battles.

Battles come in the order of random numbers. For a quarter of the battles the number is the same for everyone, so that
people overlap; for the others it is drawn for each person.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage.battles.decision import Battle, decisions
from mirage.people.votes.kinds import Vote
from mirage.people.votes.rows import battle, label
from mirage.stats.arrays import Array, Flags

if TYPE_CHECKING:
    import pyarrow as pa

Hashes = NDArray[np.uint64]

COMMON, SEED = 0.25, 0
"""Share of the battles with a common order; seed of the hashes."""
_OTHERS = 0.5
"""Inclusion probability of battles that are not flipped."""
RANDOM = "random"
"""Reason of a control battle."""
FLIPPED = "flipped"
"""Reason of other battles: a judge's two orders name different winners."""
FILLER = "filler"
"""Reason of a battle outside the included battles, which comes after these."""

_REPLIED = ("ok", "truncated")


@dataclass(frozen=True, slots=True)
class VoteItem:
    """One battle to vote on. The page hides `system_a`, `system_b`, `control` and `why` until the vote."""

    row = Vote

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
    """`random`, `flipped` or `filler`."""
    inclusion: float | None = None
    """Inclusion probability of the battle; null if it is not included."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The battles of one language that can be voted on; the same for all voters, computed once."""

    language: str
    """The language."""
    battles: tuple[Battle, ...]
    """The battles, sorted."""
    hashes: Hashes
    """One hash per battle, of its name and the seed."""
    inclusion: Array
    """Inclusion probability of each battle."""
    on_request: Flags
    """Whether it is included."""
    control: Flags
    """Whether it is in the control part, used for agreement."""
    same_text: int
    """Battles excluded because both answers have the same text."""

    @cached_property
    def index(self) -> Mapping[Battle, int]:
        """The position of each battle."""
        return {battle_key: k for k, battle_key in enumerate(self.battles)}

    @cached_property
    def n_queries(self) -> int:
        """The number of queries of the included battles."""
        return len({key.query_id for key, asked in zip(self.battles, self.on_request, strict=True) if asked})


def gather_pool(
    *,
    language: str,
    answers: pa.Table,
    judgments: pa.Table | None = None,
    seed: int = SEED,
) -> Pool:
    """Gather the battles of a language: those decided by a judge, or all pairs of answers if none is judged.

    Args:
        language: its code.
        answers: columns query_id, system, status and text (or any digest of it), of the language; others than usable
            answers are left out.
        judgments: table `judgments`, of the language.
        seed: seed of the hashes; the parts change with it, so leave it.
    """
    texts = _texts(answers)
    flipped = {} if judgments is None else _decided_battles(judgments)
    if not flipped:
        pairs = ((query, pair) for query, of in sorted(texts.items()) for pair in itertools.combinations(sorted(of), 2))
        flipped = dict.fromkeys((Battle(language, query, *pair) for query, pair in pairs), False)
    shown = [key for key in flipped if {key.first, key.second} <= texts.get(key.query_id, {}).keys()]
    battles = tuple(key for key in shown if texts[key.query_id][key.first] != texts[key.query_id][key.second])
    hashes = np.array([_hash(seed, *battle_key) for battle_key in battles], dtype=np.uint64)
    flips = np.array([flipped[battle_key] for battle_key in battles], dtype=bool)
    inclusion = np.where(flips | ~flips.any(), 1.0, _OTHERS)
    drawn = _unit(_mix_hashes(hashes, "part"))
    return Pool(
        language,
        battles,
        hashes,
        inclusion,
        drawn < inclusion,
        drawn < inclusion.min(initial=1.0),
        len(shown) - len(battles),
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
    voted = [pool.index.get(battle(vote), -1) for vote in seen]
    own = _mix_hashes(pool.hashes, f"own/{voter}")
    common = _unit(_mix_hashes(pool.hashes, "common")) < COMMON
    order = np.lexsort((np.where(common, _mix_hashes(pool.hashes, "order"), own), ~pool.on_request))
    left = order[~np.isin(order, voted)]
    return [_item(pool, k, own) for k in left[:n].tolist()]


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of one voter, and of all voters, in one language."""

    own: int
    """The voter's valid votes, including skips."""
    left: int
    """Battles the voter has not voted on."""
    queries: int
    """Number of queries with an opinion by any voter on a control battle."""


def progress(pool: Pool, votes: Iterable[Vote], *, voter: str) -> Progress:
    """Count the votes of a language.

    Args:
        pool: the battles of the language.
        votes: valid votes of all voters.
        voter: the voter to report on.
    """
    language_votes = [vote for vote in votes if vote.language == pool.language]
    own_votes = [vote for vote in language_votes if vote.voter == voter]
    voted = {battle(vote) for vote in own_votes}
    return Progress(
        own=len(own_votes),
        left=len(pool.battles) - sum(battle_key in pool.index for battle_key in voted),
        queries=len({vote.query_id for vote in language_votes if vote.control and label(vote) is not None}),
    )


def _item(pool: Pool, k: int, own: Hashes) -> VoteItem:
    language, query, *pair = pool.battles[k]
    first, second = reversed(pair) if _unit(_mix_hashes(own[k : k + 1], "order"))[0] < 0.5 else pair
    control, selected = bool(pool.control[k]), bool(pool.on_request[k])
    reason = RANDOM if control else FLIPPED if selected else FILLER
    return VoteItem(language, query, first, second, control, reason, float(pool.inclusion[k]) if selected else None)


def _decided_battles(judgments: pa.Table) -> dict[Battle, bool]:
    """Return the battles that a judge decided, sorted, each with whether a judge's two orders disagree."""
    flipped: dict[Battle, bool] = {}
    for by_battle in decisions(judgments).values():
        for key, decision in by_battle.items():
            flipped[key] = flipped.get(key, False) or not decision.consistent
    return dict(sorted(flipped.items()))


def _texts(answers: pa.Table) -> dict[str, dict[str, str]]:
    texts: dict[str, dict[str, str]] = {}
    columns = (answers[name].to_pylist() for name in ("query_id", "system", "status", "text"))
    for query, system, status, text in zip(*columns, strict=True):
        if status in _REPLIED and text is not None:
            texts.setdefault(query, {})[system] = text.strip()
    return texts


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


def _unit(hashes: Hashes) -> Array:
    """Convert hashes to numbers in [0, 1)."""
    return (hashes >> np.uint64(11)) / float(1 << 53)
