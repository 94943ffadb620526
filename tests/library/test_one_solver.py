"""The one Bradley-Terry solver against general optimisers and a plain reference: covariates, constraints, penalties."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from mirage.ranking.fit import CellStyle, Likelihood, PairCounts, fit, maximise
from mirage.stats.newton import StepRule, newton

Array = NDArray[np.float64]

FEW = settings(max_examples=25)
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
        np.testing.assert_allclose(together[k], alone[0], atol=1e-8)
        np.testing.assert_allclose(by_chords[k, :systems], alone[0, :systems], atol=1e-6)


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
