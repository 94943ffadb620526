"""Newton's method for a batch of concave functions: the loop behind every fit with one maximum.

`newton` uses each function's own curvature. `chord` uses one curvature for all, so that a step is a matrix product: the
fast path if the functions are similar, such as the likelihoods of resampled data. Functions for which it does not
converge are left to `newton`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mirage.stats.arrays import Array, Flags, Places

Rows = slice | Places
"""Selection among the B functions: all, or those with these indices."""
Solver = Callable[[Array], Array]
"""Maps right-hand sides (R x n x k) to the inverse curvatures times these."""
Curvature = Sequence[Array] | Solver
"""Minus the Hessians of some functions, which are positive definite, as diagonal blocks (each R x m x m, the m of all
blocks add up to n), or a solver for them.
"""
Slopes = Callable[[Array, Rows], tuple[Array, Curvature]]
"""Maps points (R x n) of some functions to the gradients (R x n), and their curvatures."""
Value = Callable[[Array, Rows], Array]
"""Maps points (R x n) of some functions to their values (R)."""
T = TypeVar("T")

_SHORT = 0.1
"""Step length up to which a step always increases the value: differences that change by at most 0.2 change the
curvature of a logistic by less than a quarter.
"""
_HALVINGS = 30
"""Maximum number of times a step is halved."""
_REMEMBERED = 6
"""Number of steps that `Acceleration` uses."""
_TRIED, _SLOW = 3, 0.6
"""Number of steps after which a chord iteration must shrink its steps by this factor or stop: slower convergence is
left to `newton`.
"""


@dataclass(frozen=True, slots=True)
class Maximum:
    """Maxima of B concave functions."""

    point: Array
    """B x n: the maxima."""
    converged: Flags
    """B: whether the iteration converged; otherwise `point` is the last iterate."""
    steps: int
    """Number of steps."""
    directions: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))
    """B x n x m: with a constraint A, H^-1 A' at the start of the last step, H minus the Hessian; empty without."""


@dataclass(frozen=True, slots=True)
class StepRule:
    """Length of the steps of an iteration, and its end."""

    tolerance: float
    """A function has converged when no coordinate moves by more than this."""
    limit: int
    """Maximum number of steps."""
    longest: float = np.inf
    """Maximum change of a coordinate in a step, so that a step stays where the curvature is informative."""
    rounding: float = 0.0
    """A step no longer than this and not shorter than half of the previous one is rounding: converged."""
    bound: float = np.inf
    """A function is given up when the absolute value of a coordinate exceeds this."""


def newton(
    slopes: Slopes,
    x: Array,
    rule: StepRule,
    *,
    value: Value | None = None,
    constraint: Array | None = None,
    wait: bool = False,
) -> Maximum:
    """Maximise concave functions in a batch; a function leaves the batch when it has converged.

    Args:
        slopes: gradients and curvatures.
        x: B x n: starting points.
        rule: length and end of the steps.
        value: if given, a step that decreases the value is halved until it does not.
        constraint: B x m x n: A of each function, to maximise among the points with A x = 0, including the start.
        wait: whether converged functions keep iterating until all have converged.
    """
    x = x.copy()
    directions = np.zeros((0, 0, 0) if constraint is None else constraint.transpose(0, 2, 1).shape)
    converged = np.zeros(len(x), dtype=bool)
    rows: Rows = slice(None)
    left, before, steps = np.arange(len(x)), np.full(len(x), np.inf), 0
    while len(left) and steps < rule.limit:
        steps += 1
        here = x[rows]
        gradient, curvature = slopes(here, rows)
        if constraint is None:
            step = _solve(curvature, gradient[:, :, None])[:, :, 0]
        else:
            step, directions[rows] = _constrained_step(gradient, curvature, constraint[rows])
        length = np.abs(step).max(axis=1)
        step *= np.minimum(1, rule.longest / np.maximum(length, 1e-300))[:, None]
        long = np.flatnonzero(length > _SHORT)
        if value is not None and len(long):
            step[long] *= _ascent_scale(value, here[long], step[long], left[long])[:, None]
        x[rows] = here + step
        close = (length <= rule.tolerance) | ((length <= rule.rounding) & (length >= before / 2))
        converged[left] = close
        more = ~close & (np.abs(x[rows]).max(axis=1) <= rule.bound)
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
    """Maximise with one curvature for all functions; a function whose steps do not shrink is given up.

    Args:
        gradient: maps points (R x n) of some functions to the gradients (R x n).
        inverse: n x n: inverse of a curvature close to that of every function.
        x: B x n: starting points, in the precision to compute in.
        tolerance: as for `newton`.
        limit: maximum number of steps.
        wait: whether converged functions keep iterating until all have converged, where selecting rows would cost more.
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


class Acceleration:
    """Anderson's acceleration of steps that shrink by a constant factor (J. ACM 12(4), 1965): the last steps tell how
    steps change with the point, and thus where they are 0. The fixed point stays the same.
    """

    def __init__(self) -> None:
        self._points: list[Array] = []
        self._steps: list[Array] = []

    def __call__(self, x: Array, step: Array) -> Array:
        """Return the accelerated step of one function.

        Args:
            x: 1 x n: the point.
            step: 1 x n x 1: its plain step.
        """
        longest = np.abs(step).max()
        if longest > _SHORT or (self._steps and longest > np.abs(self._steps[-1]).max()):
            self._points, self._steps = [], []
        self._points = [*self._points, x.ravel().copy()][-_REMEMBERED:]
        self._steps = [*self._steps, step.ravel()][-_REMEMBERED:]
        if len(self._steps) == 1:
            return step
        moved, changed = np.diff(self._points, axis=0).T, np.diff(self._steps, axis=0).T
        weights = np.linalg.lstsq(changed, step.ravel(), rcond=None)[0]
        return step - ((moved + changed) @ weights).reshape(step.shape)


def memoize_last(take: Callable[[Rows], T]) -> Callable[[Rows], T]:
    """Memoize `take` for the last rows, which rarely change between steps."""
    last: list[tuple[Rows, T]] = []

    def take_cached(rows: Rows) -> T:
        if not last or last[0][0] is not rows:
            last[:] = [(rows, take(rows))]
        return last[0][1]

    return take_cached


def _solve(curvature: Curvature, right: Array) -> Array:
    """Return the inverse curvatures times the right-hand sides (R x n x k)."""
    if callable(curvature):
        return curvature(right)
    parts = np.split(right, np.cumsum([block.shape[2] for block in curvature])[:-1], axis=1)
    return np.concatenate([np.linalg.solve(H, part) for H, part in zip(curvature, parts, strict=True)], axis=1)


def _constrained_step(gradient: Array, curvature: Curvature, constraint: Array) -> tuple[Array, Array]:
    """Return the step along the constraint (R x n), and the directions off it (R x n x m)."""
    solved = _solve(curvature, np.concatenate([gradient[:, :, None], constraint.transpose(0, 2, 1)], axis=2))
    step, directions = solved[:, :, :1], solved[:, :, 1:]
    off: Array = directions @ np.linalg.solve(constraint @ directions, constraint @ step)
    return (step - off)[:, :, 0], directions


def _ascent_scale(value: Value, x: Array, step: Array, rows: Places) -> Array:
    """Return the scale of each step, 1 or a power of 1/2, that does not decrease the value beyond rounding (R)."""
    scale, level = np.ones(len(x)), value(x, rows)
    for _ in range(_HALVINGS):
        worse = value(x + scale[:, None] * step, rows) < level - 1e-9 * np.abs(level)
        if not worse.any():
            break
        scale[worse] /= 2
    return scale
