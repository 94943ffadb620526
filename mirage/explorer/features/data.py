"""Data of the Features page: means of every feature by system and language, and correlations with the ratings.

Results are cached by arena, which is hashed by its manifest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from statistics import fmean
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.battles.judge import Judge, judges
from mirage.explorer.battle.matrix import matrix
from mirage.ranking.board import make_board
from mirage.stages import features
from mirage.stages.features import FEATURES, FeatureMean
from mirage.stats.units import Unit

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from mirage.store import Arena

DRAWS, SEED = 500, 0
"""Number of bootstrap draws of systems for a correlation's interval, and their seed."""
FOCUS = 3
"""Default number of systems in focus."""
FEWEST = 5
"""Minimum number of systems for a correlation's interval."""


def spread(ranked: Sequence[str], n: int = FOCUS) -> tuple[str, ...]:
    """Return n systems spread evenly over a ranking, the first and the last among them; all if there are no more."""
    if len(ranked) <= n:
        return tuple(ranked)
    return tuple(ranked[round(k * (len(ranked) - 1) / (n - 1))] for k in range(n))


def ranked_systems(arena: Arena, systems: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return systems in the order of the arena's first judge, and its name; as given and no name without a judge.

    The order is that of the win matrix, which needs no ratings.
    """
    names = judges(arena)
    if not names:
        return tuple(systems), ""
    ranked = [system for system in matrix(arena, Judge.from_name(names[0])).systems if system in systems]
    return (*ranked, *(system for system in systems if system not in ranked)), names[0]


@dataclass(frozen=True, eq=False)
class Overview:
    """Means by language and over languages."""

    features: tuple[str, ...]
    """Features with a value, in declaration order."""
    systems: tuple[str, ...]
    """Systems, by name."""
    languages: tuple[str, ...]
    """Languages, by code."""
    answers: int
    """Number of measured answers."""
    unit: Unit
    """The unit of the intervals over languages."""
    differing: tuple[str, ...]
    """The same features, sorted by how much systems differ (`between_systems`)."""
    by_feature: Mapping[str, tuple[FeatureMean, ...]]
    """Means of each feature by language and system."""
    over: Mapping[str, pa.Table]
    """For each feature one row per system, best first by the feature's direction: `system, mean, low, high, n, total,
    coverage` and `languages`, the number with a mean. Languages have equal weights."""
    matrix: pa.Table
    """One row per system and one column per feature: the mean over languages."""
    everything: pa.Table
    """All rows by language and over languages (`all`)."""


@dataclass(frozen=True, slots=True)
class Relation:
    """Correlation of a feature with the rating, over the systems of a language."""

    feature: str
    """The feature."""
    language: str
    """Code; `all` for the mean over languages."""
    tau: float | None
    """Kendall's tau-b between the systems' means of the feature and their ratings, in [-1, 1]; null if undefined."""
    low: float | None
    """Lower end of its 95% interval: percentiles over draws of systems; null with fewer than five systems."""
    high: float | None
    """Upper end."""
    systems: int
    """Systems with a mean and a rating (n)."""
    languages: int
    """Number of languages."""
    reason: str
    """Reason for a missing tau or interval; empty if both exist."""

    @property
    def clear(self) -> bool:
        """Return whether the interval excludes 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@lru_cache(maxsize=256)
def of_language(arena: Arena, code: str) -> tuple[FeatureMean, ...]:
    """Compute the means of one language: the slow step on large arenas, so a page calls it language by language."""
    columns = ["language", "system", "feature", "value"]
    rows = arena.read("features", columns=columns, languages=[code], encoded=columns[:3])
    return tuple(features.means(rows))


@lru_cache(maxsize=64)
def _shares_queries(arena: Arena) -> bool:
    """Return whether a query id occurs in several languages of the arena."""
    sql = (
        "SELECT 1 FROM (SELECT DISTINCT language, query_id FROM features) GROUP BY query_id HAVING count(*) > 1 LIMIT 1"
    )
    return len(arena.sql(sql)) > 0


def _shared_rows(arena: Arena, languages: tuple[str, ...]) -> pa.Table:
    """Return the features of these languages if they may share queries, else no rows."""
    columns = ["language", "query_id", "system", "feature", "value"]
    if len(languages) > 1 and _shares_queries(arena):
        return arena.read("features", columns=columns, languages=languages)
    return schema.arrow_schema("features").empty_table().select(columns)


@lru_cache(maxsize=64)
def overview(arena: Arena, languages: tuple[str, ...]) -> Overview:
    """Compute the means of some languages.

    Args:
        arena: an arena with features.
        languages: codes, each with rows in the table.
    """
    import pyarrow as pa

    feature_means = [row for code in languages for row in of_language(arena, code)]
    joint = features.over_languages(feature_means, _shared_rows(arena, languages))
    named = {row.feature for row in feature_means if row.mean is not None}
    order = [*(name for name in FEATURES if name in named), *sorted(named - FEATURES.keys())]
    systems = tuple(sorted({row.system for row in feature_means}))
    by_feature: dict[str, list[FeatureMean]] = {name: [] for name in order}
    counted: dict[tuple[str, str], int] = {}
    for row in feature_means:
        if row.feature in named:
            by_feature[row.feature].append(row)
            counted[row.system, row.feature] = counted.get((row.system, row.feature), 0) + (row.mean is not None)
    over = {}
    for name in order:
        rows = [_row(row) | {"languages": counted[row.system, name]} for row in joint if row.feature == name]
        rows.sort(key=lambda row: (row["mean"] is None, _sign(name) * (row["mean"] or 0), row["system"]))
        over[name] = pa.Table.from_pylist(rows)
    means = {(row.system, row.feature): row.mean for row in joint}
    columns = {name: pa.array([means.get((system, name)) for system in systems], pa.float64()) for name in order}
    answers = {(row.language, row.system): 0 for row in feature_means}
    for row in feature_means:
        answers[row.language, row.system] = max(answers[row.language, row.system], row.total)
    return Overview(
        features=tuple(order),
        differing=tuple(sorted(order, key=lambda name: -between_systems(by_feature[name]))),
        systems=systems,
        languages=languages,
        answers=sum(answers.values()),
        unit=next((row.unit for row in joint if row.unit != "query"), "query"),
        by_feature={name: tuple(rows) for name, rows in by_feature.items()},
        over=over,
        matrix=pa.table({"system": list(systems), **columns}),
        everything=pa.Table.from_pylist([_row(row) for row in [*joint, *feature_means]]),
    )


def between_systems(rows: Sequence[FeatureMean]) -> float:
    """Return the share of a feature's variance between systems, after removing the variance between languages.

    It is the partial eta squared of the system in means by system and language (Cohen 1988, section 8.2).

    Args:
        rows: the means of one feature, at most one a system and language.

    Returns:
        A number in [0, 1]: 0 where systems are alike, or there is nothing to tell them by.
    """
    cells = [(row.language, row.system, row.mean) for row in rows if row.mean is not None]
    by_language: dict[str, list[float]] = {}
    for language, _, mean in cells:
        by_language.setdefault(language, []).append(mean)
    usual = {language: fmean(means) for language, means in by_language.items()}
    by_system: dict[str, list[float]] = {}
    for language, system, mean in cells:
        by_system.setdefault(system, []).append(mean - usual[language])
    total = sum(value**2 for values in by_system.values() for value in values)
    between = sum(len(values) * fmean(values) ** 2 for values in by_system.values())
    return between / total if total > 0 else 0.0


def of_features(relations: Sequence[Relation], *, names: Collection[str]) -> tuple[Relation, ...]:
    """Return the relations of some features."""
    return tuple(relation for relation in relations if relation.feature in names)


def facts(relations: Sequence[Relation]) -> list[dict[str, Any]]:
    """Return relations as dicts, for a file."""
    return [asdict(relation) for relation in relations]


@lru_cache(maxsize=64)
def relations(arena: Arena, judge: Judge, languages: tuple[str, ...]) -> tuple[Relation, ...]:
    """Return the correlation of each feature with the ratings by a judge, over all languages and in each.

    The unit is the system: the interval generalises to other systems of this kind, so it is wide if there are few
    systems, however many queries there are. It is the percentile interval over draws of as many systems, with
    replacement; simulated with 11 to 19 systems and a tau of 0 to 0.9 it covered 90 to 99%.

    Args:
        arena: an arena with features, and with battles by the judge.
        judge: relevance labels, with the skill whose queries count, nuggets or a judge.
        languages: codes; one without a rating is left out.

    Raises:
        NotEnoughData: if no language of the arena can be rated.
    """
    import numpy as np

    rated = _ratings(arena, judge)
    codes = [code for code in languages if code in rated]
    rows = []
    for feature in overview(arena, languages).features:
        by_language = {
            code: systems for code in codes if (systems := _systems(arena, judge, code).get(feature)) is not None
        }
        everywhere = (
            set.intersection(*(set(systems.systems) for systems in by_language.values())) if by_language else set()
        )
        if len(by_language) > 1:
            joint = [systems.among(everywhere) for systems in by_language.values()]
            rows.append(_relation(feature, "all", np.concatenate(joint), len(everywhere)))
        rows += [_relation(feature, code, systems.taus, len(systems.systems)) for code, systems in by_language.items()]
    return tuple(rows)


@lru_cache(maxsize=64)
def _ratings(arena: Arena, judge: Judge) -> dict[str, dict[str, float]]:
    """Return the Leaderboard's ratings by language and system."""
    languages = make_board(arena, judge).ranking.languages
    return {
        code: dict(zip(row.systems, row.theta.tolist(), strict=True))
        for code, row in languages.items()
        if code != "all"
    }


@dataclass(frozen=True, eq=False)
class _Systems:
    """Systems of a language with a rating and a mean of a feature."""

    systems: tuple[str, ...]
    ratings: NDArray[np.float64]
    means: NDArray[np.float64]
    taus: NDArray[np.float64]
    """1 x (1 + draws), as `rank_taus`."""

    def among(self, systems: Collection[str]) -> NDArray[np.float64]:
        """Return the correlation among some of the systems; shape as `taus`."""
        positions = [k for k, name in enumerate(self.systems) if name in systems]
        return (
            self.taus
            if len(positions) == len(self.systems)
            else rank_taus(self.ratings[None, positions], self.means[None, positions])
        )


@lru_cache(maxsize=256)
def _systems(arena: Arena, judge: Judge, code: str) -> dict[str, _Systems]:
    """Group features by their systems, so that each draw serves all features of a group."""
    import numpy as np

    ratings = _ratings(arena, judge)[code]
    means: dict[str, dict[str, float]] = {}
    for row in of_language(arena, code):
        if row.mean is not None and row.system in ratings:
            means.setdefault(row.feature, {})[row.system] = row.mean
    together: dict[tuple[str, ...], list[str]] = {}
    for feature, by_system in means.items():
        together.setdefault(tuple(sorted(by_system)), []).append(feature)
    by_feature = {}
    for systems, names in together.items():
        rated = np.array([ratings[system] for system in systems])
        values = np.array([[means[name][system] for system in systems] for name in names])
        taus = rank_taus(np.broadcast_to(rated, values.shape), values)
        for k, name in enumerate(names):
            by_feature[name] = _Systems(systems, rated, values[k], taus[k : k + 1])
    return by_feature


def rank_taus(first: NDArray[np.float64], second: NDArray[np.float64], *, draws: int = DRAWS) -> NDArray[np.float64]:
    """Return Kendall's tau-b of two rankings of the same systems, observed and over resampled systems.

    A draw samples the systems with replacement; a system drawn twice is tied with itself. Every row of one call, and
    every call with as many systems, has the same draws.

    Args:
        first: L x S values, one row a language; differences under 1e-9 are ties.
        second: L x S.
        draws: how many.

    Returns:
        L x (1 + draws): tau, then its draws; NaN where all systems of one side are tied.
    """
    import numpy as np

    n = first.shape[1]
    drawn = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), size=draws) if n else np.zeros((draws, 0))
    weight = np.concatenate([np.ones((1, n)), drawn])
    i, j = np.triu_indices(n, 1)
    # Number of times each pair of systems is in a draw.
    pairs = (weight[:, i] * weight[:, j]).T

    def order(x: NDArray[np.float64]) -> NDArray[np.float64]:
        difference = x[:, i] - x[:, j]
        return np.asarray(np.where(np.abs(difference) <= 1e-9, 0.0, np.sign(difference)))

    a, b = order(first), order(second)
    norm = np.sqrt(((a * a) @ pairs) * ((b * b) @ pairs))
    return np.asarray(np.divide((a * b) @ pairs, norm, out=np.full_like(norm, np.nan), where=norm > 0))


def _relation(feature: str, code: str, tau_values: NDArray[np.float64], systems: int) -> Relation:
    """Return the mean over the languages (rows) with a tau, and its interval."""
    import numpy as np

    known = np.isfinite(tau_values)
    n = known.sum(axis=0)
    mean = np.divide(np.where(known, tau_values, 0).sum(axis=0), n, out=np.full(len(n), np.nan), where=n > 0)
    if not n[0]:
        reason = "all systems have the same value" if systems > 1 else "fewer than two systems"
        return Relation(feature, code, None, None, None, systems, 0, reason)
    value, draws = float(mean[0]), mean[1:][n[1:] >= 0.9 * n[0]]
    if systems < FEWEST:
        reason = f"no interval: fewer than {FEWEST} systems"
    elif len(draws) < 0.95 * (len(mean) - 1):
        reason = "no interval: too many systems are equal"
    else:
        low, high = np.quantile(draws, [0.025, 0.975], method="weibull")
        return Relation(feature, code, value, float(low), float(high), systems, int(n[0]), "")
    return Relation(feature, code, value, None, None, systems, int(n[0]), reason)


_SHOWN = tuple(field.name for field in fields(FeatureMean) if field.name != "error")


def _row(row: FeatureMean) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _SHOWN} | {"coverage": row.coverage}


def _sign(feature: str) -> int:
    """Return the factor that makes the best value sort first."""
    spec = FEATURES.get(feature)
    return 1 if spec is not None and spec.direction == "lower" else -1
