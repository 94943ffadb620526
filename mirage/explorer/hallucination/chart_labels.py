"""Placement of labels beside marks, so that no two labels overlap and none hides a mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

SIZE = 11
"""Size of a label's text in pixels."""
HEIGHT = 14
"""Height of a label in pixels."""
ADVANCE = 0.58
"""Mean advance of a character, in font sizes; slightly high for system names in Noto Sans."""

Boxes = np.ndarray[Any, np.dtype[np.float64]]
"""Boxes as rows (left, top, right, bottom), or lines as rows (x0, y0, x1, y1), in pixels."""
Indices = np.ndarray[Any, np.dtype[np.intp]]


@dataclass(frozen=True, slots=True)
class LabelAnchor:
    """A mark to label. Coordinates are shares of the plot, from the left and the top."""

    label: str
    x: float
    y: float
    left: float
    """Left end of its horizontal whisker; `x` without one."""
    right: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """Position of a label, in pixels from its mark at the least width; at a greater one `dx` grows with the plot."""

    dx: float
    """Offset to the nearest edge of the label, or to its middle if `anchor` is `center`."""
    dy: float
    """Offset to the label's middle; positive is down."""
    anchor: str
    """`left`: the label begins at the offset; `right`: it ends there; `center`."""

    @property
    def led(self) -> bool:
        """Return whether the label is so far from its mark that it needs a leader line."""
        return abs(self.dx) > 12 or abs(self.dy) > 16


def _places() -> tuple[LabelPlace, ...]:
    """Return the candidate positions, nearest first."""
    near = [
        LabelPlace(8, 0, "left"),
        LabelPlace(-8, 0, "right"),
        LabelPlace(0, -14, "center"),
        LabelPlace(0, 14, "center"),
    ]
    far = [
        LabelPlace(sign * dx, dy, anchor)
        for dx in (0, 6, 14, 30, 50)
        for dy in (*range(-187, 0, 11), *range(11, 188, 11))
        for sign, anchor in ((1, "left"), (-1, "right"))
    ]
    return (*near, *sorted(far, key=lambda place: (place.dx**2 + place.dy**2, place.dy, place.anchor)))


PLACES = _places()
_D = np.array([(p.dx, p.dy) for p in PLACES])
_ANCHOR = np.array([{"left": 0.0, "center": 0.5, "right": 1.0}[p.anchor] for p in PLACES])
_LED = np.array([p.led for p in PLACES])
_FAR = np.hypot(_D[:, 0], _D[:, 1]) / 4
_CLEAR_OF_LINES = np.array([-2.0, 0.0, 2.0, 0.0])
"""Room between a label and the lines of others, in pixels."""
_TRIED = 24
"""Places that a label tries first, those that cost least alone; most find theirs among them."""


@lru_cache(maxsize=64)
def place_labels(marks: tuple[LabelAnchor, ...], width: float, height: float) -> tuple[LabelPlace, ...]:
    """Place every label near its mark, free of other labels and marks and inside the plot.

    Args:
        marks: the marks.
        width: least width of the plot in pixels. At a greater width all that is drawn moves apart but the texts, which
            keep their size: what is free of overlaps stays so.
        height: height of the plot in pixels.

    Returns:
        One place a mark, in their order; always the same for the same marks. Where no place is free, the one that
        hides least.
    """
    if not marks:
        return ()
    n = len(marks)
    view = _View(marks, width, height)
    positions = np.array([(mark.x, mark.y) for mark in marks]).reshape(n, 2)
    near = (1 / (0.01 + ((positions[:, None] - positions[None]) ** 2).sum(axis=2))).sum(axis=1)
    best: tuple[float, dict[int, int]] = (np.inf, {})
    for order in (np.argsort(near), np.argsort(-near), np.argsort(-positions[:, 0])):
        best = min(best, _settle(view, [int(i) for i in order]), key=lambda solution: solution[0])
    return tuple(PLACES[best[1][i]] for i in range(n))


def _settle(view: _View, order: Sequence[int]) -> tuple[float, dict[int, int]]:
    """Place the labels in an order, twice, so that the second pass knows all others; return cost and choice."""
    chosen: dict[int, int] = {}
    costs: dict[int, float] = {}
    for _ in range(2):
        for i in order:
            others = {j: k for j, k in chosen.items() if j != i}
            costs[i], chosen[i] = _choose(view, i, others)
    return sum(costs.values()), chosen


def _choose(view: _View, i: int, others: Mapping[int, int]) -> tuple[float, int]:
    """Return the least cost of label `i` with the others fixed, and the first position that has it."""
    least = _FAR + view.alone[i]
    order = np.argsort(least, kind="stable")
    tried = order[:_TRIED]
    if others:
        cost = least[tried] + view.between(i, others, tried)
        # Other labels only add cost, so a position that costs more alone cannot be the best.
        rest = order[_TRIED:][least[order[_TRIED:]] <= cost.min()]
        if rest.size:
            cost = np.append(cost, least[rest] + view.between(i, others, rest))
            tried = np.append(tried, rest)
    else:
        cost = least[tried]
    best = np.lexsort((tried, cost))[0]
    return float(cost[best]), int(tried[best])


class _View:
    """The marks in a plot of one size, and the box of each candidate label."""

    def __init__(self, marks: tuple[LabelAnchor, ...], width: float, height: float) -> None:
        x, y = np.array([mark.x * width for mark in marks]), np.array([mark.y * height for mark in marks])
        long = np.array([len(mark.label) * ADVANCE * SIZE for mark in marks])
        ends_x, ends_y = x[:, None] + _D[:, 0], y[:, None] + _D[:, 1]
        left = ends_x - _ANCHOR * long[:, None]
        half = HEIGHT / 2
        self.labels = np.stack([left, ends_y - half, left + long[:, None], ends_y + half], axis=2)
        self.lines = np.stack([np.broadcast_to(v, ends_x.shape) for v in (x[:, None], y[:, None], ends_x, ends_y)], 2)
        dots = np.stack([x - 5, y - 5, x + 5, y + 5], axis=1)
        across = [(mark.left * width, mark.y * height - 1, mark.right * width, mark.y * height + 1) for mark in marks]
        down = [(mark.x * width - 1, mark.top * height, mark.x * width + 1, mark.bottom * height) for mark in marks]
        obstacles = np.concatenate([dots, np.array(across + down).reshape(-1, 4)])
        beyond = np.maximum(0, -self.labels[..., 0]) + np.maximum(0, self.labels[..., 2] - width)
        beyond += np.maximum(0, -self.labels[..., 1]) + np.maximum(0, self.labels[..., 3] - height)
        dotted = np.array([_overlap(candidates, _diagonal(width, height)).sum(axis=1) for candidates in self.labels])
        hidden = np.array([_overlap(candidate_boxes, obstacles).sum(axis=1) for candidate_boxes in self.labels])
        crossed = [
            _touch(candidate_lines, np.delete(dots, i, axis=0)).sum(axis=1)
            for i, candidate_lines in enumerate(self.lines)
        ]
        self.alone = 400 * beyond + 0.4 * dotted + 30 * hidden + 3 * _LED * np.array(crossed)

    def between(self, i: int, others: Mapping[int, int], places: Indices) -> Boxes:
        """Return the cost that the other labels add to label `i` at each of these positions."""
        candidate_boxes, lines, own_led = self.labels[i, places], self.lines[i, places], _LED[places]
        marks, chosen = list(others), list(others.values())
        labels, other_lines, led = self.labels[marks, chosen], self.lines[marks, chosen], _LED[chosen]
        cost = 400 * _overlap(candidate_boxes, labels).sum(axis=1)
        cost += 60 * own_led * _touch(lines, labels + _CLEAR_OF_LINES).sum(axis=1)
        cost += 30 * own_led * (_cross(lines, other_lines) * led).sum(axis=1)
        if led.any():
            cost += 60 * _touch(other_lines[led], candidate_boxes + _CLEAR_OF_LINES).sum(axis=0)
        return np.asarray(cost)


def _diagonal(width: float, height: float) -> Boxes:
    """Return small boxes along the dotted line, from the upper left corner to the lower right."""
    steps = np.linspace(0.05, 0.95, 60)
    return np.stack([steps * width - 1, steps * height - 1, steps * width + 1, steps * height + 1], axis=1)


def _overlap(a: Boxes, b: Boxes) -> Boxes:
    """Return the overlap of boxes a (rows) and b (columns): 1 plus pixels along the shorter side; 0 without overlap."""
    across = np.minimum(a[:, None, 2], b[:, 2]) - np.maximum(a[:, None, 0], b[:, 0])
    down = np.minimum(a[:, None, 3], b[:, 3]) - np.maximum(a[:, None, 1], b[:, 1])
    return np.where((across > 0) & (down > 0), 1 + np.minimum(across, down), 0)


def _touch(lines: Boxes, b: Boxes) -> Boxes:
    """Return whether lines (rows) touch boxes (columns): their overlaps in x and in y intersect."""
    start, way = lines[:, None, :2], lines[:, None, 2:] - lines[:, None, :2]
    way = np.where(way == 0, 1e-9, way)
    first, second = (b[None, :, :2] - start) / way, (b[None, :, 2:] - start) / way
    enter, leave = np.minimum(first, second).max(axis=2), np.maximum(first, second).min(axis=2)
    return np.asarray((enter <= leave) & (leave >= 0) & (enter <= 1), dtype=float)


def _cross(a: Boxes, b: Boxes) -> Boxes:
    """Return whether lines a (rows) and b (columns) cross."""

    def side(p: Boxes, q: Boxes, of_x: Boxes, of_y: Boxes) -> Boxes:
        return np.asarray(
            np.sign((q[..., 0] - p[..., 0]) * (of_y - p[..., 1]) - (q[..., 1] - p[..., 1]) * (of_x - p[..., 0]))
        )

    a0, a1, b0, b1 = a[:, None, :2], a[:, None, 2:], b[None, :, :2], b[None, :, 2:]
    apart_b = side(a0, a1, b0[..., 0], b0[..., 1]) * side(a0, a1, b1[..., 0], b1[..., 1]) < 0
    apart_a = side(b0, b1, a0[..., 0], a0[..., 1]) * side(b0, b1, a1[..., 0], a1[..., 1]) < 0
    return np.asarray(apart_a & apart_b, dtype=float)
