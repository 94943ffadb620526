"""Allocation of further labels to the measures and languages whose corrected levels they narrow most."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from mirage.errors import BadInput
from mirage.people.levels.labels import Labels
from mirage.schema import Code, Count

_LEAST_SPREAD = 0.05
"""Minimum standard deviation of an error, as a share of the range: a few labels without an error are weak evidence."""
_STEP = 1
Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class PlannedLabels:
    """Labels to add for one measure in one language, with the resulting width."""

    key = ("measure", "language")

    measure: str
    """The measure."""
    language: Code
    """Language of the answers."""
    add: Count
    """Labels to add, spread evenly over the systems at random."""
    labels: Count
    """Labelled answers now."""
    answers: Count
    """Answers of all systems."""
    error_sd: float
    """Standard deviation of label less prediction, as a share of the range; pooled over languages if this language has
    too few labels.
    """
    width: float | None
    """Width of a system's 95% interval now, predicted from `error_sd`, as a share of the range; null without labels."""
    width_after: float | None
    """The same with the labels added; null if there are still none."""
    cost: float
    """Cost of a label, relative or in any currency."""


@dataclass
class _Cell:
    measure: str
    language: str
    n: int
    total: int
    spread: float
    predicted: float
    systems: int
    share: float
    cost: float
    add: int = 0

    def variance(self, more: int = 0) -> float:
        """Return the variance of a system's level after adding labels."""
        n = (self.n + self.add + more) / self.systems
        if n <= 0:
            return 1.0
        return self.spread**2 / n + self.predicted**2 * self.systems / self.total

    def gain(self) -> float:
        """Return the reduction in variance of the mean over languages by the next label, per unit of cost."""
        return self.share**2 * (self.variance() - self.variance(_STEP)) / self.cost


def plan_labels(
    measures: Sequence[Labels], n: int, *, costs: Mapping[str, float] | None = None
) -> tuple[PlannedLabels, ...]:
    """Distribute further labels over measures and languages.

    Each label goes where it reduces the variance of a measure's mean over languages most for its cost (Neyman's
    allocation, label by label). Measures have equal weight, each in shares of its range.

    Args:
        measures: the labels of each measure.
        n: number of labels to add; with costs, the budget in the same unit.
        costs: cost of a label by language; 1 where not given.

    Returns:
        A row for each measure and language, sorted by labels to add, most first.

    Raises:
        BadInput: if there are no labels to add, or a cost is not above 0.
    """
    costs = costs or {}
    if n < 1:
        raise BadInput(f"cannot plan {n} labels", do="give at least 1")
    for code, cost in costs.items():
        if not (math.isfinite(cost) and cost > 0):
            raise BadInput(f"the cost of a label in {code} is {cost}", do="give more than 0")
        if not any(code in labels.languages for labels in measures):
            raise BadInput(f"no measure has answers in {code}", do="give costs of languages of the arena")
    cells = [cell for labels in measures for cell in _cells(labels, costs)]
    # A cell's gain falls with each label, so the cell with the largest gain stays on top until it gets a label.
    queue = [(-cell.gain(), k) for k, cell in enumerate(cells) if cell.n < cell.total]
    heapq.heapify(queue)
    left = float(n)
    while queue:
        _, k = heapq.heappop(queue)
        cell = cells[k]
        if cell.cost > left + 1e-9:
            continue
        cell.add += _STEP
        left -= cell.cost
        if cell.n + cell.add < cell.total:
            heapq.heappush(queue, (-cell.gain(), k))
    rows = [
        PlannedLabels(
            measure=cell.measure,
            language=cell.language,
            add=cell.add,
            labels=cell.n,
            answers=cell.total,
            error_sd=cell.spread,
            width=_width(cell.variance(-cell.add)) if cell.n else None,
            width_after=_width(cell.variance()) if cell.n + cell.add else None,
            cost=cell.cost,
        )
        for cell in cells
    ]
    return tuple(sorted(rows, key=lambda row: (-row.add, row.measure, row.language)))


def _width(variance: float) -> float:
    return min(2 * Z * math.sqrt(variance), 1.0)


def _cells(labels: Labels, costs: Mapping[str, float]) -> list[_Cell]:
    known = ~np.isnan(labels.labels)
    errors = labels.scaled - labels.predictions
    overall = float(errors[known].std(ddof=1)) if known.sum() > 1 else 0.5
    cells = []
    for code in labels.languages:
        places = labels.of(language=code)
        own = errors[places][known[places]]
        # Few labels estimate the spread badly: the pooled spread counts as ten labels.
        squares = float(((own - own.mean()) ** 2).sum()) if len(own) else 0.0
        spread = math.sqrt((squares + 10 * overall**2) / (max(len(own) - 1, 0) + 10))
        cells.append(
            _Cell(
                measure=labels.measure.name,
                language=code,
                n=len(own),
                total=len(places),
                spread=max(spread, _LEAST_SPREAD),
                predicted=float(labels.predictions[places].std()),
                systems=len({labels.keys[k][2] for k in places.tolist()}),
                share=1 / len(labels.languages),
                cost=costs.get(code, 1.0),
            )
        )
    return cells
