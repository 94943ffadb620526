"""Permutation importance of features: the rise of a regressor's held-out error."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mirage.errors import NotEnoughData
from mirage.ranking.surrogate.data import LanguageData, Training
from mirage.ranking.surrogate.regressors import SEED, predict
from mirage.stats.arrays import Array
from mirage.stats.intervals import student_reach

_ROUNDS = 5
"""Number of rounds; in each, every system is paired with another one at random."""


@dataclass(frozen=True, slots=True)
class FeatureImportance:
    """The importance of one feature for one regressor."""

    feature: str
    """The feature."""
    regressor: str
    """The regressor."""
    rise: float
    """Rise of the mean squared error of left-out systems, in squared logits, when the feature's values are replaced by
    another system's; 0 or less: the regressor does not use it.
    """
    low: float
    """Lower end of the 95% interval of the rise (Student's t, the left-out system as the unit)."""
    high: float
    """Upper end."""
    systems: int
    """n: number of systems left out."""


def importances(training: Training, name: str, *, seed: int = SEED) -> tuple[FeatureImportance, ...]:
    """Compute permutation importances on left-out systems (Breiman, Machine Learning 45, 2001), from the largest down.

    Systems are left out in pairs: one fit without both, then each takes one feature's answers from the other, in all
    languages, and is predicted again. A noise feature is then as likely to lower the error as to raise it; taken
    from a training system it would carry that system's rating. The published program uses a forest's in-sample
    impurities instead (MIRAGE-Bench, Figure 5).

    Args:
        training: the data.
        name: the regressor.
        seed: seed of the pairing, and of a randomised regressor.
    """
    systems = training.systems
    rises: dict[str, list[Array]] = {}
    for out in _rounds(systems, np.random.default_rng(seed)):
        for system, rise in zip(out, _rises(training, name, out, seed), strict=True):
            if rise is not None:
                rises.setdefault(system, []).append(rise)
    mean_rises = np.array([np.mean(rises[system], axis=0) for system in systems if system in rises])
    if len(mean_rises) < 2:
        raise NotEnoughData(
            f"{len(systems)} rated systems with features are too few to leave two out",
            do="add features and battles of at least 5 systems",
        )
    n, means = len(mean_rises), mean_rises.mean(axis=0).tolist()
    half = (student_reach(n - 1) * mean_rises.std(axis=0, ddof=1) / np.sqrt(n)).tolist()
    rows = [
        FeatureImportance(feature, name, m, m - h, m + h, n)
        for feature, m, h in zip(training.features, means, half, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (-row.rise, row.feature)))


def _rounds(systems: Sequence[str], rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    """Yield pairs, round by round, no pair twice: the circle method on a random order; with an odd number one is
    idle.
    """
    order: list[str | None] = rng.permutation(list(systems)).tolist()
    order += [None] * (len(order) % 2)
    n = len(order)
    for _ in range(min(_ROUNDS, n - 1)):
        for first, second in zip(order[: n // 2], order[: n // 2 - 1 : -1], strict=True):
            if first is not None and second is not None:
                yield first, second
        order = [order[0], order[-1], *order[1:-1]]


def _rises(training: Training, name: str, out: tuple[str, str], seed: int) -> list[Array | None]:
    """Return F rises of the squared error of each of two systems, mean over languages; None where it has no
    prediction.
    """
    f = len(training.features)
    # Copies of the two, each with one feature of the other, are predicted by the same fit.
    copies = [(system, k, mate) for system, mate in (out, out[::-1]) for k in range(f)]
    names = [_copy_name(n) for n in range(len(copies))]
    widened = Training(
        training.features, {c: _with_copies(language, copies) for c, language in training.languages.items()}
    )
    try:
        predictions = predict(widened, name, out=[*out, *(n for n in names if n in set(widened.new))], seed=seed)
    except NotEnoughData:
        return [None, None]
    mean_rises: list[Array | None] = []
    for place, system in enumerate(out):
        rises = []
        for code, values in predictions.items():
            language = training.languages[code]
            if not set(out) <= set(language.systems):
                continue
            theta = language.ratings(frozenset())
            index = language.systems.index(system)
            others = [theta[k] for k, s in enumerate(language.systems) if s not in out]
            moved = values[len(language.systems) :][place * f : (place + 1) * f]
            if np.isfinite(theta[index]) and np.isfinite(values[index]) and np.isfinite(moved).all():
                true = theta[index] - float(np.nanmean(others))
                rises.append((true - moved) ** 2 - (true - values[index]) ** 2)
        mean_rises.append(np.mean(rises, axis=0) if rises else None)
    return mean_rises


def _copy_name(number: int) -> str:
    return f"\uffff{number:06}"  # sorts after any name, so that the copies stand last


def _with_copies(language: LanguageData, copies: list[tuple[str, int, str]]) -> LanguageData:
    """Add copies of systems, each with one feature from another; none if a system is not in the language."""
    if not {name for system, _, mate in copies for name in (system, mate)} <= set(language.systems):
        return language
    added = np.stack([language.values[:, language.systems.index(system)] for system, _, _ in copies], axis=1)
    for n, (_, f, mate) in enumerate(copies):
        added[:, n, f] = language.values[:, language.systems.index(mate), f]
    extra, s = len(copies), len(language.systems)
    points = np.zeros((len(language.points), s + extra, s + extra), dtype=language.points.dtype)
    points[:, :s, :s] = language.points
    names = frozenset(language.systems)

    def ratings(out: frozenset[str]) -> Array:
        return np.concatenate([language.ratings(out & names), np.full(extra, np.nan)])

    return replace(
        language,
        systems=(*language.systems, *(_copy_name(n) for n in range(extra))),
        values=np.concatenate([language.values, added], axis=1),
        points=points,
        ratings=ratings,
    )
