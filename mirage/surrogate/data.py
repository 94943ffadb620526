"""What a surrogate learns from: features of answers, verdicts, ratings; and the part of it that one fit may see."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mirage.errors import NotEnoughData, UnknownName

Array = NDArray[np.float64]
Predicted = dict[str, Array]
"""By language: S ratings in logits, on the scale on which the systems trained on are centred; NaN for whom none was
asked for."""

COVERAGE = 0.1
"""Share of the queries on which a system must have a feature for its mean to be used."""

FEWEST = 3
"""Systems with ratings below which nothing can be learnt."""


@dataclass(frozen=True, eq=False)
class LanguageData:
    """One language: the answers' features, the verdicts, and the ratings that follow from them."""

    code: str
    """Code of the language."""
    systems: tuple[str, ...]
    """The S systems with features, sorted by name; one without battles is new, and only predicted."""
    values: Array
    """Q x S x F: the feature values of each answer, NaN where one could not be measured. A null is never 0."""
    weights: Array
    """Q: weight of each query; the strata of a skill weigh the same."""
    strata: NDArray[np.intp]
    """Q: the stratum of each query (with the relevance referee its subset)."""
    points: NDArray[np.float32]
    """Q x S x S: battles the row system won against the column system on the query, a tie as half."""
    ratings: Callable[[frozenset[str]], Array]
    """S ratings in logits, fitted without any battle of the systems named, centred on 0 over the others; NaN for the
    named and for systems without battles."""
    offset: float = 0.0
    """Logits to add to have the referee's own scale, which is centred over all that it judged, with features or not."""

    @cached_property
    def rated(self) -> NDArray[np.bool_]:
        """S: whether a system has a rating of its own."""
        return np.isfinite(self.ratings(frozenset()))

    @cached_property
    def coverage(self) -> Array:
        """S x F: share of the queries on which a system has the feature, in [0, 1]."""
        return np.asarray(np.isfinite(self.values).mean(axis=0))

    @cached_property
    def means(self) -> Array:
        """S x F: the mean of each feature over the queries on which the system has it; NaN under `COVERAGE`."""
        return np.where(self.coverage >= COVERAGE, averages(self.values, self.weights[None])[0], np.nan)


@dataclass(frozen=True, eq=False)
class Training:
    """The features, battles and ratings by language that surrogates of one referee and skill learn from."""

    features: tuple[str, ...]
    """Names of the F features."""
    languages: Mapping[str, LanguageData]
    """By code."""

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

    def only(self, *, features: Sequence[str] | None = None, languages: Collection[str] | None = None) -> Training:
        """The same with some of the features and languages.

        Raises:
            UnknownName: if one is not here.
        """
        for name in features or ():
            if name not in self.features:
                raise UnknownName("feature", name, self.features)
        for code in languages or ():
            if code not in self.languages:
                raise UnknownName("language", code, self.languages)
        names = self.features if features is None else tuple(f for f in self.features if f in set(features))
        columns = [self.features.index(name) for name in names]
        selected = {c: language for c, language in self.languages.items() if languages is None or c in set(languages)}
        return Training(
            names, {c: replace(language, values=language.values[:, :, columns]) for c, language in selected.items()}
        )

    def unused(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """By feature and language: the systems for which it has too few values, so that it is left out there."""
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
    """Where it comes from."""
    y: Array
    """S: target ratings, centred on 0 over the systems trained on; NaN elsewhere."""
    train: NDArray[np.bool_]
    """S: the systems trained on."""
    to_predict: NDArray[np.bool_]
    """S: the systems to be predicted: those trained on, and those left out."""
    use: NDArray[np.bool_]
    """F: features that every system trained on or left out has here. Others are left out: nothing is filled in."""

    @property
    def X(self) -> Array:  # noqa: N802  # a matrix, as in the formulas
        """S x F': feature means of the features in use."""
        return np.asarray(self.language.means[:, self.use])

    def standard(self) -> Array:
        """S x F: feature means centred on the systems trained on; 0 for features not in use and systems not asked.

        A system left out is taken no further out than one range beyond the systems trained on: a slope learnt on means
        that hardly differ says nothing of one that lies far away.
        """
        X = np.zeros(self.language.means.shape)
        seen = self.language.means[np.ix_(self.train, self.use)]
        low, high = seen.min(axis=0), seen.max(axis=0)
        near = np.clip(self.language.means[np.ix_(self.to_predict, self.use)], 2 * low - high, 2 * high - low)
        X[np.ix_(self.to_predict, self.use)] = near - seen.mean(axis=0)
        return X


def fit_parts(training: Training, out: Collection[str] = ()) -> Iterator[FitPart]:
    """What a fit that leaves some systems out may see, language by language.

    Args:
        training: the material.
        out: systems whose battles it must not see; their features are there, to be predicted from.

    Raises:
        NotEnoughData: if no language has `FEWEST` systems to train on and a feature that all have.
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
            do="measure more features (mirage features), or judge more systems",
        )


def averages(values: Array, times: Array) -> Array:
    """B x S x F means of Q x S x F values over draws of the queries, in one matrix product.

    Args:
        values: NaN where there is no value; it counts neither above nor below the line.
        times: B x Q: how often each query occurs, or its weight.

    Returns:
        NaN where no value of a draw is there.
    """
    q, s, f = values.shape
    present = np.isfinite(values)
    total = times @ np.where(present, values, 0.0).reshape(q, s * f)
    count = times @ present.reshape(q, s * f).astype(times.dtype)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(count > 0, total / count, np.nan)).reshape(len(times), s, f)
