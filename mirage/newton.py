"""Newton's method for concave functions, many at once: the loop behind every fit with one maximum.

`newton` takes each function's own curvature. `chord` takes one curvature for all, so that a step is a matrix product:
the fast path where functions are much alike, such as the likelihoods of resampled data. What it does not bring to a
maximum is left to `newton`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = slice | NDArray[np.intp]
"""Which of the B functions a call is about: all, or those of these numbers."""
Solver = Callable[[Array], Array]
"""Given right-hand sides (R x n x k): the inverse curvatures times these."""
Curvature = Array | Solver
"""Minus the Hessians of some functions, or what solves with them."""
Slopes = Callable[[Array, Rows], tuple[Array, Sequence[Curvature]]]
"""Given points (R x n) of some functions: the gradients there (R x n), and minus the Hessians, which are positive
definite, as the blocks along their diagonals (each R x m x m, the m of all blocks add up to n; or a single solver)."""
Value = Callable[[Array, Rows], Array]
"""Given points (R x n) of some functions: their values there (R)."""
T = TypeVar("T")

_SHORT = 0.1
"""A step no longer than this goes up: differences that move by at most 0.2 change the curvature of a logistic by less
than a quarter."""
_HALVINGS = 30
"""Times that a step is halved at most."""
_TRIED, _SLOW = 3, 0.6
"""After so many steps, a chord iteration whose steps do not shrink by this factor is given up: converging at 1/2 takes
as many steps as there are, and what is slower is better left to `newton`."""


@dataclass(frozen=True, slots=True)
class Maximum:
    """Where B concave functions have their maxima."""

    point: Array
    """B x n."""
    converged: NDArray[np.bool_]
    """B: whether the iteration came to an end there; elsewhere `point` is where it was given up."""
    steps: int
    """Steps taken."""
    directions: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))
    """B x n x m: under a constraint A, H^-1 A' where the last step began, H minus the Hessian; empty without."""


def newton(
    slopes: Slopes,
    x: Array,
    *,
    tolerance: float,
    limit: int,
    longest: float = np.inf,
    rounding: float = 0.0,
    bound: float = np.inf,
    value: Value | None = None,
    constraint: Array | None = None,
    wait: bool = False,
) -> Maximum:
    """The points where concave functions have their maxima; a function leaves the batch when it has converged.

    Args:
        slopes: gradients and curvatures.
        x: B x n: where to begin.
        tolerance: a function has converged when no coordinate moves by more than this.
        limit: the largest number of steps.
        longest: no coordinate moves by more than this in a step, so that a step does not leave the region where the
            curvature tells anything.
        rounding: a step no longer than this that is not shorter than half of the one before is rounding: converged.
        bound: a function is given up when a coordinate goes beyond this, on either side of 0.
        value: where given, a step that goes down is halved until it does not.
        constraint: B x m x n: A of each function; its maximum is sought among the points with A x = 0, and it must
            begin at such a point.
        wait: whether functions that have converged go on until all have.
    """
    x = x.copy()
    directions = np.zeros((0, 0, 0) if constraint is None else constraint.transpose(0, 2, 1).shape)
    converged = np.zeros(len(x), dtype=bool)
    rows: Rows = slice(None)
    left, before, steps = np.arange(len(x)), np.full(len(x), np.inf), 0
    while len(left) and steps < limit:
        steps += 1
        here = x[rows]
        gradient, curvature = slopes(here, rows)
        if constraint is None:
            step = _solve(curvature, gradient[:, :, None])[:, :, 0]
        else:
            step, directions[rows] = _along(gradient, curvature, constraint[rows])
        length = np.abs(step).max(axis=1)
        step *= np.minimum(1, longest / np.maximum(length, 1e-300))[:, None]
        long = np.flatnonzero(length > _SHORT)
        if value is not None and len(long):
            step[long] *= _uphill(value, here[long], step[long], left[long])[:, None]
        x[rows] = here + step
        close = (length <= tolerance) | ((length <= rounding) & (length >= before / 2))
        converged[left] = close
        more = ~close & (np.abs(x[rows]).max(axis=1) <= bound)
        before = length
        if not more.any():
            break
        if not (wait or more.all()):
            rows = left = left[more]
            before = length[more]
    return Maximum(x, converged, steps, directions)


def chord(
    gradient: Callable[[NDArray[Any], Rows], NDArray[Any]],
    inverse: NDArray[Any],
    x: NDArray[Any],
    *,
    tolerance: float,
    limit: int,
    wait: bool,
) -> Maximum:
    """The same with one curvature for all functions; a function whose steps do not shrink is given up.

    Args:
        gradient: given points (R x n) of some functions: the gradients there (R x n).
        inverse: n x n: of a curvature close to that of every function.
        x: B x n: where to begin, in the precision that is calculated in.
        tolerance: as for `newton`.
        limit: the largest number of steps.
        wait: whether functions that have converged go on until all have, where setting them apart would cost more.
    """
    x = x.copy()
    converged = np.zeros(len(x), dtype=bool)
    rows: Rows = slice(None)
    left, length, steps = np.arange(len(x)), np.full(len(x), np.inf), 0
    with np.errstate(over="ignore", invalid="ignore"):
        while len(left) and steps < limit:
            steps += 1
            step = gradient(x[rows], rows) @ inverse
            x[rows] += step
            before, length = length, np.abs(step).max(axis=1)
            close = length <= tolerance
            converged[left] = close
            shrinks = length < before * (1 if steps <= _TRIED else _SLOW)
            stay = close | shrinks if wait else shrinks & ~close
            if (close | ~stay).all():
                break
            if not stay.all():
                rows = left = left[stay]
                length = length[stay]
    return Maximum(x, converged, steps)


def remembered(take: Callable[[Rows], T]) -> Callable[[Rows], T]:
    """`take`, which is not called again for the same rows: they change in few of the steps."""
    last: list[tuple[Rows, T]] = []

    def taken(rows: Rows) -> T:
        if not last or last[0][0] is not rows:
            last[:] = [(rows, take(rows))]
        return last[0][1]

    return taken


def _solve(curvature: Sequence[Curvature], right: Array) -> Array:
    """R x n x k: the inverse curvatures, given by their blocks, times the right-hand sides (R x n x k)."""
    first = curvature[0]
    if len(curvature) == 1:
        return np.asarray(first(right) if callable(first) else np.linalg.solve(first, right), dtype=np.float64)
    blocks = [block for block in curvature if not callable(block)]
    parts = np.split(right, np.cumsum([block.shape[2] for block in blocks])[:-1], axis=1)
    solved = [np.linalg.solve(H, part) for H, part in zip(blocks, parts, strict=True)]
    return np.asarray(np.concatenate(solved, axis=1), dtype=np.float64)


def _along(gradient: Array, curvature: Sequence[Curvature], constraint: Array) -> tuple[Array, Array]:
    """The step (R x n) that stays on the constraint, and the directions (R x n x m) that lead off it."""
    solved = _solve(curvature, np.concatenate([gradient[:, :, None], constraint.transpose(0, 2, 1)], axis=2))
    step, directions = solved[:, :, :1], solved[:, :, 1:]
    off: Array = directions @ np.linalg.solve(constraint @ directions, constraint @ step)
    return (step - off)[:, :, 0], directions


def _uphill(value: Value, x: Array, step: Array, rows: NDArray[np.intp]) -> Array:
    """R: the part of each step, 1 or a power of 1/2, that does not go down but by rounding."""
    scale, level = np.ones(len(x)), value(x, rows)
    for _ in range(_HALVINGS):
        worse = value(x + scale[:, None] * step, rows) < level - 1e-9 * np.abs(level)
        if not worse.any():
            break
        scale[worse] /= 2
    return scale
