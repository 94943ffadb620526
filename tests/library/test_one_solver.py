"""The one Bradley-Terry solver against general optimisers and a plain reference: covariates, constraints, penalties."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference import bradley_terry
from scipy.optimize import minimize

from mirage.ranking.fit import RIDGE, CellStyle, Fit, Likelihood, PairCounts, fit, maximise
from mirage.ranking.jeffreys import bias_reduced
from mirage.stats.newton import StepRule, newton

Array = NDArray[np.float64]

FEW = settings(max_examples=25, deadline=None)
SEEDS = st.integers(0, 10_000)
SYSTEMS = st.integers(2, 6)


def cells(seed: int, systems: int, *, per_pair: int = 4, covariates: int = 2, ties: bool = False) -> Likelihood:
    """A random small arena with a ridge of 0.1, so that every maximum is finite."""
    rng = np.random.default_rng(seed)
    pair = np.repeat(np.arange(systems * (systems - 1) // 2), per_pair)
    first, second, tied = rng.integers(0, 4, (3, 1, len(pair))).astype(float)
    style = CellStyle(pair, rng.normal(size=(covariates, len(pair)))) if covariates else None
    return Likelihood(PairCounts(first, second, tied if ties else None, systems), 0.1, style)


def loss(model: Likelihood, x: Array) -> float:
    """Minus the penalised log-likelihood, from the formulas of the models, battle by battle."""
    s, style = model.n_systems, model.style
    i, j = np.triu_indices(s, 1)
    pair = np.arange(len(i)) if style is None else style.pair
    d = x[i[pair]] - x[j[pair]]
    if style is not None:
        d = d + x[s : s + len(style.z)] @ style.z
    weights = [d / 2, -d / 2] + ([np.full(len(d), x[-1])] if model.ties is not None else [])
    whole = np.logaddexp.reduce(weights, axis=0)
    counts = [model.first, model.second] + ([model.ties] if model.ties is not None else [])
    gained = sum(float((n[0] * (w - whole)).sum()) for n, w in zip(counts, weights, strict=True))
    return model.ridge / 2 * float(x @ x) - gained


def optimum(model: Likelihood, **options: Any) -> Array:
    method = "SLSQP" if "constraints" in options else "BFGS"
    tight = {"ftol": 1e-14, "maxiter": 1000} if method == "SLSQP" else {"gtol": 1e-9}
    result = minimize(lambda x: loss(model, x), np.zeros(model.size), method=method, options=tight, **options)
    return np.asarray(result.x)


@FEW
@example(373, 6, 2, True)
@given(SEEDS, SYSTEMS, st.integers(0, 3), st.booleans())
def test_with_covariates_and_ties_the_maximum_is_that_of_a_general_optimiser(
    seed: int, systems: int, covariates: int, ties: bool
) -> None:
    model = cells(seed, systems, covariates=covariates, per_pair=4 if covariates else 1, ties=ties)
    maximum = maximise([model], np.zeros((1, model.size)))
    assert maximum.converged.all()
    expected = optimum(model)
    # Only the ridge holds the mean of the ratings: a general optimiser stops where it hardly matters.
    expected[:systems] -= expected[:systems].mean()
    np.testing.assert_allclose(maximum.point[0], expected, atol=1e-5)
    # A cell is a battle count: its gradient is that of the value.
    x = np.random.default_rng(seed).normal(size=model.size)
    slopes, step = model.slopes(x[None]), 1e-6 * np.eye(model.size)
    rises = [(loss(model, x - row) - loss(model, x + row)) / 2e-6 for row in step]
    np.testing.assert_allclose(slopes[0][0], rises, atol=1e-5)
    np.testing.assert_allclose(model.gradient(x[None]), slopes[0], atol=1e-9)
    assert -loss(model, x) == pytest.approx(model.value(x[None])[0])


@FEW
@given(SEEDS, st.integers(3, 6), st.integers(1, 2), st.booleans())
def test_under_a_constraint_the_maximum_is_that_of_a_general_optimiser(
    seed: int, systems: int, languages: int, ties: bool
) -> None:
    """The differences of the first two systems sum to 0 over languages, as the tests of pairs hold them."""
    models = [cells(seed + k, systems, covariates=k, per_pair=3 if k else 1, ties=ties) for k in range(languages)]
    sizes = [model.size for model in models]
    A = np.zeros(sum(sizes))
    for start in np.cumsum([0, *sizes[:-1]]):
        A[start : start + 2] = 1, -1
    together = maximise(models, np.zeros((1, len(A))), constraint=A[None, None])
    assert together.converged.all()
    assert A @ together.point[0] == pytest.approx(0, abs=1e-12)

    def whole(x: Array) -> float:
        parts = np.split(x, np.cumsum(sizes)[:-1])
        return sum(loss(model, part) for model, part in zip(models, parts, strict=True))

    held = {"type": "eq", "fun": lambda x: A @ x}
    best = minimize(whole, np.zeros(len(A)), method="SLSQP", constraints=held, options={"ftol": 1e-14, "maxiter": 999})
    np.testing.assert_allclose(together.point[0], best.x, atol=1e-4)
    assert whole(together.point[0]) <= best.fun + 1e-10
    H = [
        model.slopes(part[None])[1][0]
        for model, part in zip(models, np.split(together.point[0], np.cumsum(sizes)[:-1]), strict=True)
    ]
    directions = np.concatenate(
        [np.linalg.solve(h, a) for h, a in zip(H, np.split(A, np.cumsum(sizes)[:-1]), strict=True)]
    )
    np.testing.assert_allclose(together.directions[0, :, 0], directions, atol=1e-5)


@FEW
@given(SEEDS, SYSTEMS, st.floats(0.3, 3))
def test_with_jeffreys_penalty_and_covariate_the_maximum_is_a_general_optimisers(
    seed: int, systems: int, phi: float
) -> None:
    model = cells(seed, systems, covariates=1)
    model.ridge = 1e-9
    design = np.hstack([model.D[model.style.pair][:, 1:], model.style.z.T]) if model.style else np.empty(0)
    n = (model.first + model.second)[0]

    def penalised(x: Array) -> float:
        p = 1 / (1 + np.exp(-design @ x))
        information = design.T @ ((n * p * (1 - p))[:, None] * design)
        return loss(model, np.r_[0, x]) - phi / 2 * float(np.linalg.slogdet(information)[1])

    if (np.bincount(model.style.pair, n) if model.style else n).min() == 0:
        return  # parts that never met have no maximum
    best = minimize(penalised, np.zeros(design.shape[1]), method="BFGS", options={"gtol": 1e-8}).x
    x, prior = bias_reduced(model, dispersion=phi)
    np.testing.assert_allclose(x[0, 1:systems] - x[0, 0], best[: systems - 1], atol=1e-3)
    assert penalised(np.r_[x[0, 1:systems] - x[0, 0], x[0, systems:]]) <= penalised(best) + 1e-6
    # Leverages add up to the number of parameters, but for the little that the ridge takes where little is known.
    assert 2 * prior.added.sum() / phi == pytest.approx(systems, abs=1e-3)


@FEW
@given(SEEDS, SYSTEMS)
def test_without_a_penalty_the_ratings_are_those_of_the_plain_reference(seed: int, systems: int) -> None:
    points = np.random.default_rng(seed).integers(1, 9, (systems, systems)).astype(float)
    i, j = np.triu_indices(systems, 1)
    fitted = fit(PairCounts(points[i, j][None], points[j, i][None], None, systems), ridge=0.0)
    np.fill_diagonal(points, 0)
    np.testing.assert_allclose(fitted.theta[0], bradley_terry(points.tolist(), steps=3000), atol=1e-7)


@FEW
@given(SEEDS, SYSTEMS, st.booleans())
def test_many_data_sets_at_once_have_the_maxima_they_have_alone_and_by_chords(
    seed: int, systems: int, ties: bool
) -> None:
    """Some of them hold a system that never wins, some one battle alone."""
    rng = np.random.default_rng(seed)
    n = systems * (systems - 1) // 2
    first, second, tied = rng.poisson(rng.choice([0.3, 3, 30], (1, 5, 1)), (3, 5, n)).astype(float)
    second[0] = 0
    tied += 1
    counts = PairCounts(first + 0.5, second, tied if ties else None, systems)
    together = fit(counts, ridge=1e-3)
    start = fit(
        PairCounts(
            *(side.mean(axis=0)[None] for side in (first + 0.5, second)),
            tied.mean(axis=0)[None] if ties else None,
            systems,
        ),
        ridge=1e-3,
    )
    by_chords = fit(counts, ridge=1e-3, start=start)
    for k in range(5):
        alone = fit(PairCounts(counts.first[[k]], counts.second[[k]], tied[[k]] if ties else None, systems), ridge=1e-3)
        np.testing.assert_allclose(together.theta[k], alone.theta[0], atol=1e-8)
        np.testing.assert_allclose(by_chords.theta[k], alone.theta[0], atol=1e-6)


def test_equal_systems_are_equal_and_without_penalty_a_loser_is_unbounded() -> None:
    equal = PairCounts(np.array([[3.0, 4, 4]]), np.array([[3.0, 1, 1]]), None, 3)
    theta = fit(equal).theta[0]
    assert theta[0] == pytest.approx(theta[1], abs=1e-9)
    never = Likelihood(PairCounts(np.array([[3.0, 4, 4]]), np.array([[3.0, 0, 0]]), None, 3), 0.0)
    both = PairCounts(np.vstack([equal.first, never.first]), np.vstack([equal.second, never.second]), None, 3)
    maxima = maximise([Likelihood(both, 0.0)], np.zeros((2, 3)), bound=15.0)
    assert maxima.converged.tolist() == [True, False]
    np.testing.assert_allclose(maxima.point[0] - maxima.point[0].mean(), theta, atol=1e-6)
    assert np.isfinite(fit(PairCounts(never.first, never.second, None, 3), ridge=RIDGE).theta).all()


def test_a_fit_starts_where_it_is_told_and_says_how_many_steps_it_took() -> None:
    counts = PairCounts(np.array([[5.0, 2, 4]]), np.array([[1.0, 2, 3]]), None, 3)
    cold = fit(counts)
    warm = fit(counts, start=Fit(cold.theta, None, 0))
    assert warm.iterations < cold.iterations
    np.testing.assert_allclose(warm.theta, cold.theta, atol=1e-7)


@FEW
@given(st.lists(st.floats(-40, 40), min_size=1, max_size=5))
def test_a_step_is_bounded_and_a_function_that_does_not_converge_says_so(begin: list[float]) -> None:
    """log cosh x has its maximum (of its negative) at 0; Newton's own step leaps ever farther from beyond 1.1."""
    x = np.array(begin)[:, None]

    def slopes(x: Array, _: Any) -> tuple[Array, list[Array]]:
        return -np.tanh(x), [np.cosh(np.clip(x, -300, 300))[:, :, None] ** -2.0]

    bounded = newton(slopes, x, StepRule(1e-9, 100, longest=1.0))
    assert bounded.converged.all()
    np.testing.assert_allclose(bounded.point, 0, atol=1e-9)
    short = newton(slopes, x, StepRule(1e-9, 1, longest=1.0))
    assert (np.abs(short.point - x) <= 1 + 1e-9).all()
    assert (short.converged == (np.abs(np.array(begin)) <= 1e-9)).all()


def test_newtons_method_stands_in_one_module_alone() -> None:
    """A loop that moves a point, from where it was, by the solution of a system of equations."""
    loops: set[str] = set()
    for path in sorted((ROOT / "mirage").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        solving = {"solve"}
        while more := {f.name for f in functions if called(f) & solving} - solving:
            solving |= more
        for loop in (node for node in ast.walk(tree) if isinstance(node, ast.While | ast.For)):
            if called(loop) & solving and any(moves(node) for node in ast.walk(loop)):
                loops.add(str(path.relative_to(ROOT)))
    assert loops == {"mirage/stats/newton.py"}


def called(tree: ast.AST) -> set[str]:
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {getattr(call, "attr", getattr(call, "id", "")) for call in calls}


def moves(node: ast.AST) -> bool:
    """Whether a statement sets a name, or a part of it, to what rests on itself."""
    if not isinstance(node, ast.Assign):
        return isinstance(node, ast.AugAssign)
    targets = {part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)}
    return bool(targets & {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)})
