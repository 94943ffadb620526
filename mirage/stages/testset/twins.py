"""Sampling of the questions to make unanswerable, and of the passages to remove for them.

A question becomes one query: answerable over the corpus, or unanswerable after everything that answers it is removed.
The choice is random, so the subsets do not differ in style. Questions that share an answering passage are drawn
together, since removing it affects both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage.stages.testset.checks import CheckedQuestion

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Split:
    """Questions to make unanswerable, and the passages to remove."""

    unanswerable: frozenset[int]
    """Numbers of the questions to make unanswerable."""
    removed: frozenset[int]
    """Rows of the passages to remove from the corpus."""


def split_questions(checked: Sequence[CheckedQuestion], share: float, *, rng: np.random.Generator) -> Split:
    """Draw the questions that become unanswerable, a share of each language and, where possible, of each type.

    Args:
        checked: the questions.
        share: share to make unanswerable, from 0 to 1.
        rng: draws the questions.
    """
    touched = [{*one.answering(), *one.doubtful()} for one in checked]
    groups = _groups(touched)
    kinds = [(one.question.draft.language, one.question.draft.type) for one in checked]
    of_language, of_kind = Counter(language for language, _ in kinds), Counter(kinds)
    taken, taken_of_kind = Counter[str](), Counter[tuple[str, str]]()
    chosen: set[int] = set()

    def take(group: Sequence[int], *, by_type: bool) -> None:
        counts, counts_of_kind = (
            Counter(kinds[number][0] for number in group),
            Counter(kinds[number] for number in group),
        )
        fits = all(taken[name] + n <= round(share * of_language[name]) for name, n in counts.items())
        if by_type:
            # The half allows for types with an odd number of questions.
            fits &= all(taken_of_kind[kind] + n <= share * of_kind[kind] + 0.5 for kind, n in counts_of_kind.items())
        if fits and chosen.isdisjoint(group):
            chosen.update(group)
            taken.update(counts)
            taken_of_kind.update(counts_of_kind)

    # Groups first: single questions fill the rest.
    order = sorted(rng.permutation(len(groups)).tolist(), key=lambda position: len(groups[position]) == 1)
    for by_type in (True, False):
        for position in order:
            take(groups[position], by_type=by_type)
    return Split(frozenset(chosen), frozenset(row for number in chosen for row in touched[number]))


def _groups(touched: Sequence[Iterable[int]]) -> list[list[int]]:
    """Return the indices of the questions in groups that share passages, directly or transitively."""
    parent = list(range(len(touched)))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    first: dict[int, int] = {}
    for number, rows in enumerate(touched):
        for row in rows:
            parent[root(number)] = root(first.setdefault(row, number))
    groups: dict[int, list[int]] = {}
    for number in range(len(touched)):
        groups.setdefault(root(number), []).append(number)
    return list(groups.values())
