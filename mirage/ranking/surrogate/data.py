"""Training data of a surrogate (features of answers, verdicts, ratings), and the part that one fit may use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mirage.errors import NotEnoughData, UnknownName
from mirage.stats.arrays import Array, Flags, Places

Predicted = dict[str, Array]
"""By language: S ratings in logits, centred on the training systems; NaN for systems not predicted."""

COVERAGE = 0.1
"""Minimum share of the queries on which a system must have a feature for its mean to be used."""

FEWEST = 3
"""Minimum number of rated systems for a fit."""


@dataclass(frozen=True, eq=False)
class LanguageData:
    """One language: the answers' features, the verdicts, and the ratings fitted to them."""

    code: str
    """Code of the language."""
    systems: tuple[str, ...]
    """The S systems with features, sorted by name; one without battles is new, and only predicted."""
    values: Array
    """Q x S x F: the feature values of each answer, NaN where not measured. A null is never 0."""
    weights: Array
    """Q: weight of each query; the strata of a skill have equal weights."""
    strata: Places
    """Q: the stratum of each query (with the relevance judge its subset)."""
    points: NDArray[np.float32]
    """Q x S x S: battles the row system won against the column system on the query, a tie as half."""
    ratings: Callable[[frozenset[str]], Array]
    """S ratings in logits, fitted without any battle of the named systems, centred on 0 over the others; NaN for the
    named and for systems without battles.
    """
    offset: float = 0.0
    """Logits to add for the judge's own scale, which is centred over all judged systems, with features or not."""

    @cached_property
    def rated(self) -> Flags:
        """S: whether a system has a rating."""
        return np.isfinite(self.ratings(frozenset()))

    @cached_property
    def coverage(self) -> Array:
        """S x F: share of the queries on which a system has the feature, in [0, 1]."""
        return np.asarray(np.isfinite(self.values).mean(axis=0))

    @cached_property
    def means(self) -> Array:
        """S x F: mean of each feature over the queries on which the system has it; NaN below `COVERAGE`."""
        return np.where(self.coverage >= COVERAGE, averages(self.values, self.weights[None])[0], np.nan)


@dataclass(frozen=True, eq=False)
class Training:
    """The features, battles and ratings by language that surrogates of one judge and skill are trained on."""

    features: tuple[str, ...]
    """Names of the F features."""
    languages: Mapping[str, LanguageData]
    """Data by language code."""

    @property
    def systems(self) -> tuple[str, ...]:
        """Every system with a rating in some language."""
        rated = {
            s
            for language in self.languages.values()
            for s, yes in zip(language.systems, language.rated, strict=True)
            if yes
        }
        return tuple(sorted(rated))

    @property
    def new(self) -> tuple[str, ...]:
        """Systems with features but without a battle anywhere."""
        return tuple(sorted({s for language in self.languages.values() for s in language.systems} - set(self.systems)))

    def select_features(self, features: Sequence[str]) -> Training:
        """Return the data with some of the features.

        Raises:
            UnknownName: if one does not exist.
        """
        for name in features:
            if name not in self.features:
                raise UnknownName("feature", name, self.features)
        names = tuple(name for name in self.features if name in set(features))
        columns = [self.features.index(name) for name in names]
        languages = {c: replace(of, values=of.values[:, :, columns]) for c, of in self.languages.items()}
        return Training(names, languages)

    def unused_features(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return by feature and language the systems with too few values, for which the feature is excluded there."""
        unused: dict[str, dict[str, tuple[str, ...]]] = {}
        for code, language in self.languages.items():
            for f, name in enumerate(self.features):
                gap = np.isnan(language.means[:, f]) & language.rated
                if gap.any():
                    lacking = tuple(s for s, yes in zip(language.systems, gap, strict=True) if yes)
                    unused.setdefault(name, {})[code] = lacking
        return unused


@dataclass(frozen=True, eq=False)
class FitPart:
    """One language of one fit."""

    language: LanguageData
    """The language's data."""
    y: Array
    """S: target ratings, centred on 0 over the training systems; NaN elsewhere."""
    train: Flags
    """S: the training systems."""
    to_predict: Flags
    """S: the systems to predict: those of the training, and those left out."""
    use: Flags
    """F: features that every training or left-out system has here. Others are excluded: nothing is imputed."""

    @property
    def X(self) -> Array:  # noqa: N802  # a matrix, as in the formulas
        """S x F': feature means of the features in use."""
        return self.language.means[:, self.use]

    def standard(self) -> Array:
        """Return feature means centred on the training systems (S x F); 0 for features not in use and systems not
        predicted.

        Values of a left-out system are clipped to one range beyond the training systems: a slope learnt from means that
        hardly differ does not extrapolate far.
        """
        X = np.zeros(self.language.means.shape)
        seen = self.language.means[np.ix_(self.train, self.use)]
        low, high = seen.min(axis=0), seen.max(axis=0)
        near = np.clip(self.language.means[np.ix_(self.to_predict, self.use)], 2 * low - high, 2 * high - low)
        X[np.ix_(self.to_predict, self.use)] = near - seen.mean(axis=0)
        return X


def fit_parts(training: Training, out: Collection[str] = ()) -> Iterator[FitPart]:
    """Yield the data that a fit without some systems may use, language by language.

    Args:
        training: the data.
        out: systems whose battles are excluded; their features remain, for prediction.

    Raises:
        NotEnoughData: if no language has `FEWEST` training systems and a feature that all have.
    """
    left_out = frozenset(out)
    count = 0
    for _, language in sorted(training.languages.items()):
        y = language.ratings(left_out & frozenset(language.systems))
        train = np.isfinite(y)
        to_predict = train | np.array([s in left_out for s in language.systems])
        use = np.isfinite(language.means[to_predict]).all(axis=0)
        if train.sum() >= FEWEST and use.any():
            count += 1
            yield FitPart(language, y - y[train].mean(), train, to_predict, use)
    if not count:
        raise NotEnoughData(
            f"no language has {FEWEST} rated systems that share a feature",
            do="measure more features (mirage measure features), or judge more systems",
        )


def averages(values: Array, times: Array) -> Array:
    """Return B x S x F means of Q x S x F values over draws of the queries, in one matrix product.

    Args:
        values: NaN where there is no value, which is excluded from the mean.
        times: B x Q: number of occurrences of each query, or its weight.

    Returns:
        The means; NaN where a draw has no value.
    """
    q, s, f = values.shape
    present = np.isfinite(values)
    total = times @ np.where(present, values, 0.0).reshape(q, s * f)
    count = times @ present.reshape(q, s * f).astype(times.dtype)
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, total / count, np.nan).reshape(len(times), s, f)
