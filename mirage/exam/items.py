"""What people and judges decided on the same battles, and the sums by query that every measure is made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mirage.battles.decision import UNPARSED, Battle, Decision, Shown, decide, points, shown, swap
from mirage.exam.estimates import Array
from mirage.exam.measures import COINCIDENCES, LEANINGS, WIDTH
from mirage.makers import BASELINE, OTHER, Makers
from mirage.votes import Vote, battle, label
from mirage.votes.agreement import coincidences

if TYPE_CHECKING:
    import pyarrow as pa

Lengths = Mapping[tuple[str, str, str], float]
"""Lengths of answers by language, query and system."""


class Opinion(NamedTuple):
    """What one person said of a battle."""

    voter: str
    label: int
    """`FIRST`, `SECOND` or `TIE`."""
    swapped: bool
    """Whether the second system's answer was shown first."""


Opinions = Mapping[Battle, Sequence[Opinion]]
"""What people said, in the order of their names."""


@dataclass(frozen=True, eq=False)
class Item:
    """A battle that people and a judge decided."""

    opinions: Sequence[Opinion]
    """What people said."""
    verdicts: Sequence[Shown]
    """What the judge said, readable verdicts only."""
    decision: Decision
    """What that comes to."""
    people: float
    """Mean points that people give the first system."""

    @property
    def agreeing(self) -> int:
        """Votes that the decision agrees with."""
        return sum(opinion.label == self.decision.label for opinion in self.opinions)


Items = Mapping[Battle, Item]


def opinions_of(votes: Iterable[Vote]) -> dict[str, dict[Battle, list[Opinion]]]:
    """The opinions of votes that stand and were drawn at random, by language."""
    heard: dict[str, dict[Battle, list[Opinion]]] = defaultdict(lambda: defaultdict(list))
    for vote in votes:
        opinion = label(vote) if vote.control else None
        if opinion is not None:
            heard[vote.language][battle(vote)].append(Opinion(vote.voter, opinion, vote.system_a > vote.system_b))
    return {code: {key: sorted(each) for key, each in sorted(by_battle.items())} for code, by_battle in heard.items()}


def items_of(judgments: pa.Table, opinions: Mapping[str, Opinions]) -> dict[str, dict[str, Items]]:
    """The battles that each judge decided, of those with opinions, by judge and language."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids = pa.array(sorted({key.query_id for by_battle in opinions.values() for key in by_battle}), pa.string())
    rows = judgments.filter(pc.is_in(judgments["query_id"], value_set=ids))
    names = ("judge", "language", "query_id", "system_a", "system_b", "verdict")
    grades = rows["points"].to_pylist() if "points" in rows.column_names else [None] * len(rows)
    seen: dict[str, dict[Battle, list[Shown]]] = defaultdict(lambda: defaultdict(list))
    for judge, code, query_id, a, b, verdict, grade in zip(
        *(rows[name].to_pylist() for name in names), grades, strict=True
    ):
        swapped = a > b
        key = Battle(code, query_id, b, a) if swapped else Battle(code, query_id, a, b)
        if key in opinions.get(code, {}):
            seen_verdict = shown(verdict, swapped=swapped, grade=grade)
            if seen_verdict.label != UNPARSED:
                seen[judge][key].append(seen_verdict)
    items: dict[str, dict[str, dict[Battle, Item]]] = defaultdict(lambda: defaultdict(dict))
    for judge, by_battle in sorted(seen.items()):
        for key in sorted(by_battle):
            verdicts = by_battle[key]
            heard = opinions[key.language][key]
            people = sum(points(opinion.label) for opinion in heard) / len(heard)
            items[judge][key.language][key] = Item(heard, verdicts, decide(verdicts), people)
    return {judge: dict(by_language) for judge, by_language in items.items()}


def judge_sums(judge: str, items: Items, *, lengths: Lengths, makers: Makers) -> Array:
    """Q x `WIDTH`: what each query adds, of one judge in one language."""
    maker = makers.of(judge)
    by_query: dict[str, Array] = defaultdict(lambda: np.zeros(WIDTH))
    for key, item in items.items():
        sums = by_query[key.query_id]
        labels = tuple(opinion.label for opinion in item.opinions)
        sums += _decided(labels, item.decision.label)
        for verdict in item.verdicts:
            _add(sums, "first", (verdict.points - item.people) * (-1 if verdict.swapped else 1))
        apart = item.decision.points - item.people
        first, second = (lengths.get((*key[:2], system), np.nan) for system in key[2:])
        if first < second or first > second:
            _add(sums, "length", apart if first > second else -apart)
        own = [makers.of(system) == maker for system in key[2:]]
        if maker not in (BASELINE, OTHER) and own[0] != own[1]:
            _add(sums, "family", apart if own[0] else -apart)
    return _stacked(by_query.values())


def people_sums(opinions: Opinions) -> Array:
    """Q x `WIDTH`: the same of people among themselves; every two people who decided a battle are a pair."""
    by_query: dict[str, Array] = defaultdict(lambda: np.zeros(WIDTH))
    for key, heard in opinions.items():
        sums = by_query[key.query_id]
        sums += _decided(tuple(opinion.label for opinion in heard), None)
        for opinion in heard:
            _add(sums, "first", (points(opinion.label) - 0.5) * (-1 if opinion.swapped else 1))
    return _stacked(by_query.values())


def _add(sums: Array, name: str, leaning: float) -> None:
    sums[LEANINGS[name]] += leaning
    sums[LEANINGS[name] + 1] += 1


def _stacked(rows: Iterable[Array]) -> Array:
    return np.array([*rows]).reshape(-1, WIDTH)


@lru_cache(maxsize=4096)
def _decided(labels: tuple[int, ...], decision: int | None) -> Array:
    """The table and coincidences of one battle, by people's labels and the judge's decision; None: people alone."""
    sums = np.zeros(WIDTH)
    for person, judge, weight in _compared(labels, decision):
        sums[3 * person + judge] += weight
        sums[3 * swap(person) + swap(judge)] += weight
    counts = Counter(labels if decision is None else (*labels, decision))
    sums[COINCIDENCES] = coincidences(np.array([[counts[k] for k in range(3)]], dtype=np.float64))[0]
    sums.flags.writeable = False
    return sums


def _compared(labels: tuple[int, ...], decision: int | None) -> Iterator[tuple[int, int, float]]:
    """Pairs of a person's label and the judge's, and what they weigh from either side."""
    if decision is not None:
        yield from ((value, decision, 0.5) for value in labels)
        return
    # Neither of two people is the measure of the other: each is once the person and once the judge.
    for left, right in combinations(labels, 2):
        yield left, right, 0.25
        yield right, left, 0.25
