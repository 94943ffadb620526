"""Weak spots of a design, that is of the pattern of who met whom how often.

    for finding in design(battles):
        finding.kind, finding.systems, finding.text

An interval gives the precision of a rating but not the cause of a wide one: all battles are against one system, few
battles connect two parts, a system has hardly any battles.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.text.segmentation import count_text

Kind = Literal["star", "link", "few", "unmet"]

STAR = 0.75
"""Share of the battles, or of the pairs that met, from which one system makes a design a star. In a complete design of
S systems each has a share of 2 / S, at most a half from 4 systems on.
"""

FEW = 0.25
"""Share of the median system's battles below which a rating is reported as imprecise."""

LINK = 0.5
"""Two parts are weakly connected if the battles between them are fewer than this share of the median system's
battles.
"""

UNMET = 0.1
"""Share of pairs that never met above which it is reported."""

_NAMED = 6
"""Number of systems above which only their number is printed, not their names."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A weak spot of a design."""

    kind: Kind
    """`star`: all or most battles are with one system. `link`: few battles connect two parts. `few`: a system has few
    battles. `unmet`: many pairs never met.
    """
    systems: tuple[str, ...]
    """The systems concerned: the centre of the star, the smaller of the two parts, the system with few battles; none
    for `unmet`.
    """
    battles: int
    """The battles concerned: with the centre, between the two parts, of the system; all for `unmet`."""
    text: str
    """Description in one line."""


def design(battles: Battles) -> tuple[Finding, ...]:
    """Return the weak spots of the design of one language; none if all pairs met about equally often."""
    counts = _counts(battles)
    battles_per_system = counts.sum(axis=1)
    median = float(np.median(battles_per_system))
    few = tuple(
        Finding(
            "few",
            (system,),
            int(n),
            f"{system} has {count_text(n, 'battle')}, the median system {median:,.0f}: its rating is imprecise",
        )
        for system, n in zip(battles.systems, battles_per_system.tolist(), strict=True)
        if n < FEW * median
    )
    return (*_star(battles.systems, counts), *_link(battles.systems, counts, median), *few, *_unmet(counts))


def designs(battles: Mapping[str, Battles]) -> tuple[str, ...]:
    """Return the weak spots of the designs of several languages, as lines.

    A weak spot of several languages is reported once, for the language with the fewest battles.
    """
    spots: dict[tuple[str, tuple[str, ...]], list[tuple[int, str, str]]] = {}
    for code, row in battles.items():
        for finding in design(row):
            spots.setdefault((finding.kind, finding.systems), []).append((finding.battles, code, finding.text))
    lines = []
    for occurrences in spots.values():
        _, code, text = min(occurrences)
        if len(battles) == 1:
            lines.append(text)
        elif len(occurrences) == 1:
            lines.append(f"{code}: {text}")
        else:
            lines.append(f"{code}: {text}; also in {len(occurrences) - 1} more of {len(battles)} languages")
    return tuple(lines)


def minimum_cut(counts: NDArray[np.int64], *, below: int = sys.maxsize) -> tuple[int, tuple[int, ...]]:
    """Return the minimum number of battles to remove so that the systems fall into two parts.

    The algorithm of Nagamochi, Ono and Ibaraki (Mathematical Programming 67, 1994): systems are visited in the order of
    their battles with those visited before, and two that no smaller cut separates are merged, many in one pass.

    Args:
        counts: S x S, symmetric, S at least 2: battles of every two systems.
        below: upper bound (exclusive) on the cuts to find; a low bound merges far more systems per pass.

    Returns:
        The number of battles, 0 if the graph is disconnected already, and the systems of one part; if there is no cut
        below the bound, the bound and no system.
    """
    weights = counts.astype(np.int64).copy()
    np.fill_diagonal(weights, 0)
    merged: list[tuple[int, ...]] = [(k,) for k in range(len(weights))]
    best, part = min(int(weights.sum()) + 1, below), tuple[int, ...]()
    while len(weights) > 1:
        degrees = weights.sum(axis=1)
        k = int(degrees.argmin())
        if degrees[k] < best:
            best, part = int(degrees[k]), merged[k]
        if best == 0:
            break
        label = _merge_inseparable(weights, best)
        n, (i, j) = int(label.max()) + 1, weights.nonzero()
        weights = np.bincount(label[i] * n + label[j], weights[i, j], n * n).astype(np.int64).reshape(n, n)
        np.fill_diagonal(weights, 0)
        merged = [
            tuple(sorted(system for k in np.flatnonzero(label == group) for system in merged[k]))
            for group in range(len(weights))
        ]
    return best, part


def _merge_inseparable(weights: NDArray[np.int64], best: int) -> NDArray[np.intp]:
    """Return group labels of nodes such that no cut of fewer than `best` battles separates two nodes of a group; at
    least two nodes share a group.
    """
    n = len(weights)
    label, joined, left = np.arange(n), np.zeros(n, dtype=np.int64), np.ones(n, dtype=bool)
    last = k = 0
    for _ in range(n):
        last, k = k, int(np.where(left, joined, -1).argmax())
        left[k] = False
        near = left & (weights[k] > 0)
        joined[near] += weights[k, near]
        inseparable = near & (joined >= best)
        if inseparable.any():
            groups = np.zeros(n, dtype=bool)
            groups[label[inseparable]] = True
            label[groups[label]] = label[k]
    # No cut smaller than the last node's battles, at least `best`, separates the last two.
    label[label == label[k]] = label[last]
    return np.unique(label, return_inverse=True)[1]


def _counts(battles: Battles) -> NDArray[np.int64]:
    """Return the battles of every two systems (S x S)."""
    wins, ties = (counts.sum(axis=0, dtype=np.int64) for counts in (battles.wins, battles.ties))
    return np.asarray(wins + wins.T + ties)


def _star(systems: Sequence[str], counts: NDArray[np.int64]) -> tuple[Finding, ...]:
    total, pairs_met = int(counts.sum()) // 2, int((counts > 0).sum()) // 2
    if len(systems) < 3 or not total:
        return ()
    share = np.maximum(counts.sum(axis=1) / total, (counts > 0).sum(axis=1) / pairs_met)
    k = int(share.argmax())
    n = int(counts[k].sum())
    if n == total and pairs_met > 1:
        subject = "every battle is"
    elif len(systems) > 3 and share[k] >= STAR:
        subject = f"{n / total:.0%} of the battles are"
    else:
        return ()
    text = f"{subject} with {systems[k]}: the others are compared through it, and less precisely with each other"
    return (Finding("star", (systems[k],), n, text),)


def _link(systems: Sequence[str], counts: NDArray[np.int64], median: float) -> tuple[Finding, ...]:
    """Find the cut between two parts of two systems or more each; single systems with few battles are removed first."""
    core = list(range(len(systems)))
    while len(core) > 3:
        cut, part = minimum_cut(counts[np.ix_(core, core)], below=math.ceil(LINK * median))
        if not part:
            return ()
        side = [core[k] for k in part]
        rest = [k for k in core if k not in side]
        smaller, larger = sorted((side, rest), key=len)
        if len(smaller) > 1:
            names = tuple(systems[k] for k in smaller)
            verb = "joins" if cut == 1 else "join"
            joined = f"only {count_text(cut, 'battle')} {verb}" if cut else "no battle joins"
            text = (
                f"{joined} {_list_systems(names)} to {_list_systems(tuple(systems[k] for k in larger))}: the "
                f"difference between the parts is {'imprecise' if cut else 'unknown'}"
            )
            return (Finding("link", names, cut, text),)
        core = larger
    return ()


def _unmet(counts: NDArray[np.int64]) -> tuple[Finding, ...]:
    pairs = len(counts) * (len(counts) - 1) // 2
    never = pairs - int((counts > 0).sum()) // 2
    if not pairs or never <= UNMET * pairs:
        return ()
    text = f"{never:,} of {pairs:,} pairs of systems ({never / pairs:.0%}) never met; they are compared through others"
    return (Finding("unmet", (), int(counts.sum()) // 2, text),)


def _list_systems(systems: Sequence[str]) -> str:
    return ", ".join(systems) if len(systems) <= _NAMED else f"{len(systems)} systems"
