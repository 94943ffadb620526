"""What intervals, tests and "N more queries" promise, by simulation with known truth; and what they cost. The truth
is what 5,000 queries come to, which are then dealt out to 50 arenas of 100.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks import calibration, ranking
from benchmarks.harness import Row, seconds
from benchmarks.sandwich import analytic
from benchmarks.simulated import simulate_arena
from mirage.battles.counts import Battles
from mirage.battles.verdict_rows import from_judgments
from mirage.ranking.bootstrap import rate
from mirage.ranking.pair_tests import ALPHA
from mirage.ranking.sample_size import sample_sizes

SYSTEMS, QUERIES, WORLD = 19, 100, 5_000
WORLDS = range(2026, 2034)
"""Seeds of the simulated worlds."""
EQUAL = 8
"""Systems of the arenas in which all are equal."""


@functools.cache
def world(seed: int, systems: int, tie: float = 0.1) -> Battles:
    """All battles on 5,000 queries of one language."""
    arena = simulate_arena(systems=systems, queries=WORLD, languages=["en"], seed=seed, tie=tie)
    return from_judgments(arena.tables["judgments"], judge="judge")["en"]


def unequal(battles: Battles, seed: int) -> Battles:
    """Leave battles out: each pair meets on 15 to 45% of the queries, a system misses up to 30% of them."""
    rng = np.random.default_rng(seed)
    q, s = battles.wins.shape[:2]
    mask = np.triu(rng.random((q, s, s)) < rng.uniform(0.15, 0.45, (s, s)), 1)
    present = rng.random((q, s)) >= rng.permutation(np.linspace(0, 0.3, s))
    mask = (mask | mask.swapaxes(1, 2)) & present[:, :, None] & present[:, None, :]
    return replace(battles, wins=battles.wins * mask, ties=battles.ties * mask)


def dealt(battles: Battles, n: int) -> Iterator[Battles]:
    """The queries in arenas of n."""
    for k in range(0, len(battles.queries) - n + 1, n):
        part = slice(k, k + n)
        yield replace(
            battles,
            queries=battles.queries[part],
            wins=battles.wins[part],
            ties=battles.ties[part],
            strata=battles.strata[part],
        )


def equal(battles: Battles, seed: int) -> Battles:
    """Make all systems equal: on every query their names are dealt out anew."""
    order = np.random.default_rng(seed).permuted(np.tile(np.arange(len(battles.systems)), (WORLD, 1)), axis=1)
    query = np.arange(WORLD)[:, None, None]
    cut = (query, order[:, :, None], order[:, None, :])
    return replace(battles, wins=battles.wins[cut], ties=battles.ties[cut])


def theta(battles: Battles) -> NDArray[np.float64]:
    """The ratings of all queries."""
    return rate({"en": battles}, draws=1).languages["en"].theta


def _share(inside: list[NDArray[np.bool_]]) -> str:
    by_system = np.mean(inside, axis=0)
    return f"{np.mean(inside):.1%} (a system {by_system.min():.1%} to {by_system.max():.1%})"


def coverage() -> list[Row]:
    """Intervals of 19 systems on 100 queries with ties and unequal battles."""
    boot: list[NDArray[np.bool_]] = []
    sandwich: list[NDArray[np.bool_]] = []
    for seed in WORLDS:
        whole = unequal(world(seed, SYSTEMS), seed)
        truth = theta(whole)
        for k, arena in enumerate(dealt(whole, QUERIES)):
            result = rate({"en": arena}, draws=200, seed=k)
            for intervals, inside in ((result.languages["en"], boot), (analytic(result)["en"], sandwich)):
                low, high = intervals.interval()
                inside.append((low <= truth) & (truth <= high))
    title = f"95% intervals cover, {SYSTEMS} systems x {QUERIES} queries, ties, unequal battles"
    seeds = f"{len(boot)} arenas, seeds {WORLDS[0]} to {WORLDS[-1]}"
    return [
        Row(f"{title}: bootstrap", _share(boot), seeds, "", "93 to 97%"),
        Row(f"{title}: sandwich", _share(sandwich), seeds, "", "93 to 97%"),
    ]


def few() -> list[Row]:
    """Intervals of 8 systems on few queries, and of their joint row over 18 languages of 10."""
    rows = []
    for n, target in ((5, "flagged"), (10, "93 to 97%"), (20, "93 to 97%"), (30, "93 to 97%")):
        inside = []
        for seed in WORLDS:
            whole = world(seed, EQUAL)
            truth = theta(whole)
            for k, arena in zip(range(50), dealt(whole, n), strict=False):
                low, high = rate({"en": arena}, draws=200, seed=k).languages["en"].interval()
                inside.append((low <= truth) & (truth <= high))
        title = f"95% intervals cover, {EQUAL} systems x {n} queries"
        rows.append(Row(title, _share(inside), f"{len(inside)} arenas, the same seeds", "", target))
    inside = []
    for seed in WORLDS:
        whole = world(seed, EQUAL)
        truth, parts = theta(whole), list(dealt(whole, 10))
        for k in range(0, len(parts) - 17, 18):
            languages = {f"l{number:02}": arena for number, arena in enumerate(parts[k : k + 18])}
            low, high = rate(languages, draws=200, seed=k).languages["all"].interval()
            inside.append((low <= truth) & (truth <= high))
    title = f"95% intervals of the joint row cover, 18 languages x {EQUAL} systems x 10 queries"
    rows.append(Row(title, _share(inside), f"{len(inside)} arenas, the same seeds", "", "93 to 97%"))
    return rows


def errors() -> list[Row]:
    """Tests of equal systems, and the promise of "N more queries"."""
    rows = []
    for n, thin in ((30, False), (30, True), (100, True)):
        wrong = []
        for seed in WORLDS:
            whole = equal(world(seed, EQUAL), seed)
            whole = unequal(whole, seed) if thin else whole
            tested = (rate({"en": arena}, draws=1).tests["en"] for arena in dealt(whole, n))
            wrong += [bool((tests.holm <= ALPHA).any()) for tests in tested]
        title = f"any two of {EQUAL} equal systems are separated, {n} queries" + (", unequal battles" if thin else "")
        rows.append(Row(title, f"{np.mean(wrong):.1%}", f"{len(wrong):,} arenas, the same seeds", "", "at most 5%"))
    return [*rows, *pairs_of_equals(), promise()]


def pairs_of_equals() -> list[Row]:
    """Equal systems among unequal ones: how often two of them are separated."""
    four = np.repeat([1.2, 0.4, -0.4, -1.2], 2)
    hub = np.r_[0.0, np.repeat([0.8, 0.0, -0.8], 2)]
    designs = [
        (
            calibration.Design("8 systems x 60 queries, four equal pairs", four, 60, 300),
            [(0, 1), (2, 3), (4, 5), (6, 7)],
        ),
        (
            calibration.Design("the same, five random pairs a query", four, 150, 300, meets=calibration.five_pairs),
            [(0, 1), (2, 3), (4, 5), (6, 7)],
        ),
        (
            calibration.Design("a star of 7 systems x 100 queries", hub, 100, 300, meets=calibration.star),
            [(1, 2), (3, 4), (5, 6)],
        ),
    ]
    rows = []
    for design, equals in designs:
        rng = np.random.default_rng([2026, *design.what.encode()])
        wrong = []
        for _ in range(design.arenas):
            tests = rate({"en": calibration.arena(design, design.theta, rng)}, draws=1).tests["en"]
            wrong.append(any(tests.are_separated(f"s{i:02}", f"s{j:02}") for i, j in equals))
        title = f"two equal systems are separated: {design.what}"
        value = f"{np.mean(wrong):.1%}"
        rows.append(Row(title, value, f"{len(wrong)} arenas", "", "at most 5%"))
    return rows


def promise() -> Row:
    """Add as many queries as are said to separate two systems, and look whether they are separated then."""
    rng = np.random.default_rng(53)
    separated, numbers, pairs = [], 0, 0
    for _ in range(150):
        design = calibration.Design("", rng.normal(0, 0.5, 8), 60, 1)
        arena = calibration.arena(design, design.theta, rng)
        tests = rate({"en": arena}, draws=1).tests["en"]
        open_ = [
            (a, b) for k, a in enumerate(tests.systems) for b in tests.systems[:k] if not tests.are_separated(a, b)
        ]
        answers = {pair: sample_sizes(tests, *pair) for pair in open_}
        numbered = [pair for pair in open_ if answers[pair].more]
        pairs, numbers = pairs + len(open_), numbers + len(numbered)
        for pair in numbered[:3]:
            added = calibration.arena(replace(design, queries=answers[pair].more or 0), design.theta, rng)
            both = Battles(
                arena.systems,
                tuple(f"q{k:05}" for k in range(len(arena.queries) + len(added.queries))),
                np.concatenate([arena.wins, added.wins]),
                np.concatenate([arena.ties, added.ties]),
                np.zeros(len(arena.queries) + len(added.queries), dtype=np.intp),
                judge="judge",
                skill="both",
            )
            after = rate({"en": both}, draws=1).tests["en"]
            separated.append(after.p[after.index_of(*pair)] <= answers[pair].level)
    return Row(
        "with as many more queries as are named, two systems are separated (8 systems of sd 0.5 x 60 queries)",
        f"{np.mean(separated):.0%} of {len(separated)} pairs",
        f"of {pairs:,} pairs that are not separated {numbers:,} get a number, the others 'at least'",
        "",
        "75 to 85%",
    )


def run() -> list[Row]:
    """Simulate, then time."""
    result = ranking.ours()
    # A copy knows nothing yet of what a ranking keeps once it was asked.
    rating, tests, sandwich = seconds(ranking.ours, lambda: replace(result).tests, lambda: analytic(replace(result)))
    bootstrap = f"the ranking with its bootstrap: {1000 * rating:.0f} ms"
    return [
        *coverage(),
        *few(),
        *errors(),
        Row(
            "tests of 18 languages x 19 systems x 100 queries and of their joint row, 3,249 tests",
            f"{1000 * tests:.0f} ms",
            bootstrap,
            f"{tests / rating:.1f} times that",
            "",
        ),
        Row(
            "sandwich intervals of the same",
            f"{1000 * sandwich:.0f} ms",
            bootstrap,
            f"{sandwich / rating:.1f} times that",
            "",
        ),
    ]
