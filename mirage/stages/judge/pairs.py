"""Choice of the answer pairs to judge: all pairs, or a seeded sample, each in both orders."""

import hashlib
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from mirage.errors import BadInput, NotEnoughData
from mirage.schema import QueryKey
from mirage.stats.rows import group, read_rows

ANSWERS = ("ok", "truncated", "empty", "refused")
"""Statuses of answers that take part in battles, including empty ones. A failed call says nothing about a system."""

Pair = tuple[str, str]


class OrderedPair(NamedTuple):
    """Two answers to one query, in the order shown."""

    language: str
    """Code of the query's language."""
    query_id: str
    """The query."""
    system_a: str
    """The system shown first."""
    system_b: str
    """The system shown second."""


def choose_pairs(
    answers: pa.Table,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = 0,
    among: Collection[QueryKey] | None = None,
) -> list[OrderedPair]:
    """Choose the battles in each language: all pairs of answers to a query, or a sample; every pair in both orders.

    A sample depends only on the seed and on names, not on the order of rows, and a larger sample contains the smaller
    one. Queries with the lowest hashes are sampled. Pairs are sampled in a balanced way: systems, pairs and queries
    occur about equally often (a round-robin schedule of the systems, each pair on its least-used query).

    Args:
        answers: `schema.Answer` rows; columns language, query_id, system and status suffice. Missing or failed answers
            are excluded.
        queries: queries per language; all if None.
        pairs: pairs of answers per language, each in both orders; all if None. With `queries` they are sampled from
            those.
        seed: seed of the sample.
        among: language and id of the queries that can be judged; all if None.

    Returns:
        The battles, the two orders of a pair adjacent; one language after the other, otherwise in sampling order, so
        that a prefix is a sample.

    Raises:
        BadInput: if a number is not positive.
        NotEnoughData: if no query has answers of two systems.
    """
    for name, number in (("queries", queries), ("pairs", pairs)):
        if number is not None and number < 1:
            raise BadInput(f"the number of {name} cannot be {number}", do="give 1 or more, or omit it for all")
    battles = []
    for language, answered in answering_systems(answers, among).items():
        chosen = {query: answered[query] for query in _shuffle(answered, seed, language, "query")[:queries]}
        drawn = _balance_pairs(chosen, seed, language)
        if pairs is None:
            drawn = ((query, pair) for query in chosen for pair in _schedule(chosen[query], seed, language))
        battles += _both_orders(language, itertools.islice(drawn, pairs))
    if not battles:
        raise NotEnoughData(
            "no query that can be judged has answers of two systems",
            do="add the texts of queries and passages, and answers of a second system",
        )
    return battles


def _both_orders(language: str, drawn: Iterable[tuple[str, Pair]]) -> list[OrderedPair]:
    """Return the two battles of each query and pair."""
    return [OrderedPair(language, query, *shown) for query, (a, b) in drawn for shown in ((a, b), (b, a))]


def choose_answers(
    answers: pa.Table, *, queries: int | None = None, seed: int = 0, among: Collection[QueryKey] | None = None
) -> list[OrderedPair]:
    """Choose the answers of each language to judge alone, where nothing can battle; arguments as for `choose_pairs`.

    Returns:
        Each answer, as a battle of its system with itself.
    """
    return [
        OrderedPair(language, query, system, system)
        for language, answered in answering_systems(answers, among, least=1).items()
        for query in _shuffle(answered, seed, language, "query")[:queries]
        for system in answered[query]
    ]


def choose_known(
    answers: pa.Table,
    outcomes: pa.Table,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = 0,
    among: Collection[QueryKey] | None = None,
) -> list[OrderedPair]:
    """Choose known-answer pairs: battles between a correct and a wrong answer by the relevance labels.

    They are sampled as by `choose_pairs`, alternating between queries with and without an answer in the passages, so
    that a judge that always prefers an abstention, or never does, is right on half of them.

    Args:
        answers: as for `choose_pairs`.
        outcomes: columns language, query_id, system, subset and correct, one row per answer; null if unknown.
        queries: queries per language with such a pair; all if None.
        pairs: pairs of answers per language, each in both orders; all if None.
        seed: seed of the sample.
        among: language and id of the queries that can be judged; all if None.

    Returns:
        The battles, the two orders of a pair adjacent, as in `choose_pairs`.

    Raises:
        NotEnoughData: if no query that can be judged has a correct and a wrong answer.
    """
    columns = ("language", "query_id", "subset", "system", "correct")
    rows = [row for row in read_rows(outcomes, *columns) if row[-1] is not None]
    subsets = {row[:2]: row[2] for row in rows}
    known = {query: dict(own) for query, own in group((row[:2], row[3:]) for row in rows).items()}
    battles = []
    for language, answered in answering_systems(answers, among).items():
        right: dict[str, dict[str, bool]] = {}
        for query, names in answered.items():
            own = known.get((language, query), {})
            right[query] = {name: own[name] for name in names if name in own}
        opposed = [query for query, own in right.items() if len(set(own.values())) > 1]
        drawn = group(
            (subsets[language, query], query) for query in _shuffle(opposed, seed, language, "query")[:queries]
        )
        by_subset = [
            _balance_pairs({query: list(right[query]) for query in drawn[subset]}, seed, language, right)
            for subset in sorted(drawn)
        ]
        turns = (item for turn in itertools.zip_longest(*by_subset) for item in turn if item is not None)
        battles += _both_orders(language, itertools.islice(turns, pairs))
    if not battles:
        raise NotEnoughData(
            "no query that can be judged has a right and a wrong answer by its relevance labels",
            do="compute outcomes from labels and answers first: mirage measure outcomes DIR",
        )
    return battles


def listed_pairs(
    answers: pa.Table, battles: Iterable[OrderedPair], *, among: Collection[QueryKey] | None = None
) -> list[OrderedPair]:
    """Return the battles of a list without duplicates, each pair in both orders.

    Args:
        answers: `schema.Answer` rows, as for `choose_pairs`.
        battles: pairs of answers in either order, or in both.
        among: language and id of the queries that can be judged; all if None.

    Returns:
        The battles in the order of the list, the two orders of a pair adjacent.

    Raises:
        BadInput: if a battle is impossible: a query that cannot be judged, or a system without an answer to it.
        NotEnoughData: if the list is empty.
    """
    answered = answering_systems(answers, among)
    pairs: dict[tuple[str, str, frozenset[str]], list[OrderedPair]] = {}
    for language, query, *both in battles:
        systems = answered.get(language, {}).get(query, [])
        if both[0] == both[1] or not set(both).issubset(systems):
            raise BadInput(
                f"{both[0]} cannot battle {both[1]}",
                where=f"language={language}, query_id={query}",
                do=f"there must be two answers, the texts of the query and of a passage; answered: {systems}",
            )
        pairs.setdefault((language, query, frozenset(both)), _both_orders(language, [(query, (both[0], both[1]))]))
    if not pairs:
        raise NotEnoughData("the list of battles is empty", do="omit it to judge all")
    return [battle for both in pairs.values() for battle in both]


def answering_systems(
    answers: pa.Table, among: Collection[QueryKey] | None, *, least: int = 2
) -> dict[str, dict[str, list[str]]]:
    """Return the systems with an answer, by language and query, for queries with at least two or some other number."""
    by_language: dict[str, dict[str, list[str]]] = {}
    for language, query, system, status in sorted(read_rows(answers, "language", "query_id", "system", "status")):
        if status in ANSWERS and (among is None or (language, query) in among):
            by_language.setdefault(language, {}).setdefault(query, []).append(system)
    return {
        language: {query: systems for query, systems in answered.items() if len(systems) >= least}
        for language, answered in by_language.items()
    }


def _shuffle(names: Collection[str], seed: int, *about: str) -> list[str]:
    """Return names in a seeded order: that of their hashes."""
    return sorted(names, key=lambda name: hashlib.sha256("\0".join([str(seed), *about, name]).encode()).digest())


def _schedule(systems: Collection[str], seed: int, language: str) -> list[Pair]:
    """Return every pair once, as rounds of a tournament in which each system plays once per round (the circle
    method).
    """
    circle: list[str | None] = [*_shuffle(systems, seed, language, "system")]
    circle += [None] * (len(circle) % 2)
    half = len(circle) // 2
    schedule = []
    for _ in range(len(circle) - 1):
        facing = zip(circle[:half], circle[: -half - 1 : -1], strict=True)
        schedule += [(a, b) for a, b in facing if a is not None and b is not None]
        circle.insert(1, circle.pop())
    return schedule


def _balance_pairs(
    answered: Mapping[str, Sequence[str]],
    seed: int,
    language: str,
    right: Mapping[str, Mapping[str, bool]] | None = None,
) -> Iterator[tuple[str, Pair]]:
    """Yield queries with pairs until there are no more: in schedule order, each pair on its least-used query. With
    `right`, by query and system, only pairs of a correct and a wrong answer.
    """
    queries = list(answered)
    systems = sorted({system for present in answered.values() for system in present})
    present = {system: np.array([system in answered[query] for query in queries]) for system in systems}
    left = {(a, b): present[a] & present[b] for a, b in _schedule(systems, seed, language)}
    if right is not None:
        won = {
            system: np.array([right[query].get(system, False) for query in queries], dtype=bool) for system in systems
        }
        left = {(a, b): free & (won[a] != won[b]) for (a, b), free in left.items()}
    drawn = np.zeros(len(queries), dtype=np.intp)
    while left:
        for pair, free in list(left.items()):
            if not free.any():
                del left[pair]
                continue
            index = int(np.argmin(np.where(free, drawn, len(left) + drawn.max())))
            drawn[index] += 1
            free[index] = False
            yield queries[index], pair
