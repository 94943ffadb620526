"""Whether a system lies where the surrogate has seen systems: on populations made here, of several shapes."""

import numpy as np
import pytest
from numpy.typing import NDArray

from mirage.ranking.surrogate import evaluate
from mirage.ranking.surrogate.data import LanguageData, Training
from mirage.ranking.surrogate.evaluate import leave_one_out
from mirage.ranking.surrogate.range import distances
from mirage.ranking.surrogate.reporting import predict_new

Array = NDArray[np.float64]
F = 11


def population(rng: np.random.Generator, kind: str, n: int) -> Array:
    """Feature means (n x F) of systems drawn alike."""
    common, own = rng.normal(size=(n, 1)), rng.normal(size=(n, F))
    if kind == "skewed":
        return np.asarray(np.exp(0.8 * (0.6 * common + 0.8 * own)))
    if kind == "share":
        return np.asarray(1 / (1 + np.exp(-(2.5 + 1.5 * (0.6 * common + 0.8 * own)))))
    if kind == "heavy":
        return np.asarray(rng.standard_t(3, size=(n, F)))
    if kind == "two families":
        return np.asarray(own - 3 * (rng.random((n, 1)) < 0.2))
    return np.asarray(own)


def training(means: dict[str, Array], theta: Array) -> Training:
    """One query, whose values are the means; the last system has no rating."""
    names = tuple(f"s{k:02}" for k in range(len(theta)))

    def ratings(out: frozenset[str]) -> Array:
        values = np.array([np.nan if s in out else t for s, t in zip(names, theta, strict=True)])
        return np.asarray(values - np.nanmean(values))

    n = len(theta)
    languages = {
        code: LanguageData(
            *(code, names, X[None], np.ones(1), np.zeros(1, dtype=np.intp)),
            *(np.zeros((1, n, n), dtype=np.float32), ratings),
        )
        for code, X in means.items()
    }
    return Training(tuple(f"f{k:02}" for k in range(next(iter(means.values())).shape[1])), languages)


@pytest.mark.parametrize("languages", [1, 3])
@pytest.mark.parametrize("n", [8, 12, 19])
@pytest.mark.parametrize("kind", ["normal", "skewed", "share", "heavy", "two families"])
def test_ordinary_new_systems_are_warned_of_in_under_a_tenth_of_the_cases(kind: str, n: int, languages: int) -> None:
    """Eleven features; a system counts once, in however many languages it is said to lie outside."""
    rng = np.random.default_rng([77, n, languages])
    alarms = []
    for _ in range(60):
        shared = population(rng, kind, n + 1)
        X = {
            code: shared + 0.3 * shared.std() * rng.normal(size=shared.shape) for code in ("en", "sw", "zh")[:languages]
        }
        seen = training(X, np.append(rng.normal(size=n), np.nan))
        by_language = distances(seen, f"s{n:02}")
        alarms.append(any(distance.outside for code, distance in by_language.items() if code != "all"))
    assert np.mean(alarms) <= 0.1


def world(rng: np.random.Generator, n: int, shift: float) -> tuple[Training, float]:
    """Ratings that follow five of eleven features; the new system's lies `shift` standard deviations off in one of all,
    which its rating knows nothing of. Also its true rating, on the others' scale.
    """
    X = population(rng, "normal", n + 1)
    slopes = np.where(np.arange(F) < 5, rng.normal(size=F), 0.0)
    theta = X @ slopes / 2 + 0.5 * rng.normal(size=n + 1)
    X[n, rng.integers(F)] += shift * rng.choice([-1, 1])
    true = float(theta[n] - theta[:n].mean())
    theta[n] = np.nan
    return training({"en": X}, theta), true


@pytest.mark.parametrize(("n", "shift"), [(8, 0.0), (19, 0.0), (8, 3.0), (19, 6.0), (8, 12.0)])
def test_where_an_interval_is_printed_it_covers(n: int, shift: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "combinations", lambda *_: ())  # pairs have no interval
    rng = np.random.default_rng([5, n, int(shift)])
    covered = []
    for _ in range(40):
        seen, true = world(rng, n, shift)
        left_out = leave_one_out(seen, "ridge")
        reach = distances(seen, f"s{n:02}")
        _, low, high = predict_new(seen, f"s{n:02}", "ridge", left_out, reach, 0)["en"]
        assert (low is None) == (high is None) == bool(reach["en"].outside)
        if low is not None and high is not None:
            covered.append(low <= true <= high)
    if shift == 12:
        assert len(covered) <= 4
    else:
        assert len(covered) >= (1 if shift else 36)
    # 0.9, less what chance does to so few.
    assert not covered or np.mean(covered) >= 0.9 - 1.65 * np.sqrt(0.09 / len(covered))


def test_it_says_in_which_feature_and_language() -> None:
    rng = np.random.default_rng(1)
    X = {code: population(rng, "normal", 11) for code in ("en", "sw")}
    X["sw"][10, 3] += 30
    by_language = distances(training(X, np.append(rng.normal(size=10), np.nan)), "s10")
    assert by_language["sw"].outside == ("f03",)
    assert by_language["en"].outside == ()
    assert list(by_language) == ["en", "sw", "all"]
    assert min(distance.stretch for distance in by_language.values()) >= 1


def test_a_value_beside_equal_ones_lies_outside_and_equal_ones_do_not() -> None:
    rng = np.random.default_rng(2)
    X = population(rng, "normal", 9)
    X[:, 4] = 0.1 + 0.2
    theta = np.append(rng.normal(size=8), np.nan)
    assert distances(training({"en": X}, theta), "s08")["en"].outside == ()
    X[8, 4] = 0.35
    assert distances(training({"en": X}, theta), "s08")["en"].outside == ("f04",)


def test_left_out_systems_outside_have_no_interval_and_do_not_count_as_covered() -> None:
    rng = np.random.default_rng(3)
    X = population(rng, "normal", 10)
    X[4, 2] += 40
    left_out = leave_one_out(training({"en": X}, rng.normal(size=10)), "ridge")
    of = left_out.languages["en"]
    index = of.systems.index("s04")
    assert np.isnan([of.low[index], of.high[index]]).all()
    assert np.isfinite(np.delete(of.low, index)).all()
    assert left_out.quality()[0].covered is not None
    assert distances(training({"en": X}, rng.normal(size=10)), "s04")["en"].outside == ("f02",)
