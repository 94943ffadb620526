"""Where the name of each mark goes, so that no two names overlap and none hides a mark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

SIZE = 11
"""Size of a label's text in pixels."""
HEIGHT = 14
"""Height of a label in pixels."""
ADVANCE = 0.58
"""Mean advance of a character in sizes of the text; on the wide side for names of systems in Noto Sans."""
WIDTHS = (1.0, 1.25, 1.6, 2.2)
"""The place is sought so that it holds when the plot is drawn wider than the least width, too."""

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in pixels."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark that wants its name beside it. Places are shares of the plot, from its left and from its top."""

    label: str
    x: float
    y: float
    left: float
    """Where its horizontal whisker begins; `x` where there is none."""
    right: float
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where a label is drawn, in pixels from its mark."""

    dx: float
    """To the nearest edge of the label, or to its middle if `anchor` is `center`."""
    dy: float
    """To the label's middle; positive is down."""
    anchor: str
    """`left`: the label begins there; `right`: it ends there; `center`."""

    @property
    def led(self) -> bool:
        """Whether it is far enough from its mark to need a line to it."""
        return abs(self.dx) > 16 or abs(self.dy) > 20


@lru_cache(maxsize=64)
def place(marks: tuple[Mark, ...], width: float, height: float) -> tuple[Place, ...]:
    """A place for every label, near its mark, free of other labels and marks and inside the plot.

    Args:
        marks: the marks.
        width: least width of the plot in pixels; the places hold at greater widths as well.
        height: height of the plot in pixels.

    Returns:
        One place a mark, in their order. Deterministic. Where there is no free place, the one that hides least.
    """
    # Marks in a crowd choose last: they may need long lines, and lines must go around labels.
    crowd = {
        i: sum(1 / (0.01 + (m.x - o.x) ** 2 + (m.y - o.y) ** 2) for o in marks if o is not m)
        for i, m in enumerate(marks)
    }
    best: tuple[float, dict[int, Place]] | None = None
    for order in (sorted(crowd, key=lambda i: (crowd[i], i)), sorted(crowd, key=lambda i: (marks[i].y, i))):
        found: dict[int, Place] = {}
        total = 0.0
        for i in order:
            costs = [(_cost(marks, found, i, p, width, height), n, p) for n, p in enumerate(_places())]
            cost, _, found[i] = min(costs)
            total += cost
        if best is None or total < best[0]:
            best = (total, found)
    assert best is not None  # noqa: S101  # there are two orders
    return tuple(best[1][i] for i in range(len(marks)))


@lru_cache(maxsize=1)
def _places() -> tuple[Place, ...]:
    """Places to try, nearest first."""
    near = [Place(8, 0, "left"), Place(-8, 0, "right"), Place(0, -14, "center"), Place(0, 14, "center")]
    far = [
        Place(sign * dx, dy, anchor)
        for dx in (0, 4, 8, 14, 24, 40, 60, 90)
        for dy in (*range(-200, 0, 10), *range(10, 210, 10))
        for sign, anchor in ((1, "left"), (-1, "right"))
    ]
    return (*near, *sorted(far, key=lambda p: (p.dx**2 + p.dy**2, p.dy, p.anchor)))


def box(mark: Mark, place: Place, width: float, height: float) -> Box:
    """The pixels a label covers in a plot of this size."""
    long = len(mark.label) * ADVANCE * SIZE
    x, y = mark.x * width + place.dx, mark.y * height + place.dy
    left = {"left": x, "right": x - long, "center": x - long / 2}[place.anchor]
    return left, y - HEIGHT / 2, left + long, y + HEIGHT / 2


def _cost(marks: Sequence[Mark], found: dict[int, Place], i: int, place: Place, least: float, height: float) -> float:
    mark = marks[i]
    cost = (place.dx**2 + place.dy**2) ** 0.5 / 10
    for wider in WIDTHS:
        width = least * wider
        here = box(mark, place, width, height)
        cost += 400 * _outside(here, width, height)
        for other in _obstacles(marks, width, height):
            cost += 40 * _share(here, other)
        line = (mark.x * width, mark.y * height, mark.x * width + place.dx, mark.y * height + place.dy)
        for j, that in found.items():
            there = box(marks[j], that, width, height)
            cost += 400 * (_share(here, there) > 0)
            theirs = (marks[j].x * width, marks[j].y * height)
            cost += 60 * (that.led and _crosses((*theirs, theirs[0] + that.dx, theirs[1] + that.dy), here))
            cost += 60 * (place.led and _crosses(line, there))
        if place.led:
            cost += sum(
                8 * _crosses(line, (m.x * width - 4, m.y * height - 4, m.x * width + 4, m.y * height + 4))
                for m in marks
                if m is not mark
            )
    return cost


def _obstacles(marks: Sequence[Mark], width: float, height: float) -> Iterator[Box]:
    """The marks and their whiskers."""
    for m in marks:
        x, y = m.x * width, m.y * height
        yield x - 5, y - 5, x + 5, y + 5
        yield m.left * width, y - 1, m.right * width, y + 1
        yield x - 1, m.top * height, x + 1, m.bottom * height


def _outside(box: Box, width: float, height: float) -> float:
    """Pixels by which a box leaves the plot."""
    return max(0.0, -box[0]) + max(0.0, -box[1]) + max(0.0, box[2] - width) + max(0.0, box[3] - height)


def _share(a: Box, b: Box) -> float:
    """1 plus the pixels two boxes have in common along their shorter side; 0 where they have none."""
    across, down = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return 1 + min(across, down) if across > 0 and down > 0 else 0.0


def _crosses(line: Box, box: Box) -> bool:
    """Whether a line from (left, top) to (right, bottom) touches a box, by points along it."""
    x0, y0, x1, y1 = line
    return any(
        box[0] <= x0 + (x1 - x0) * t / 12 <= box[2] and box[1] <= y0 + (y1 - y0) * t / 12 <= box[3]
        for t in range(1, 13)
    )
