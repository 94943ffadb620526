"""Data of the Features page: means of every feature by system and language, and correlations with the ratings.

Results are cached by arena, which is hashed by its manifest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.battles.judge import judges
from mirage.errors import MirageError
from mirage.explorer.leaderboard import data as leaderboard
from mirage.ranking.judges import Judge, size
from mirage.stages.features import means as feature_means
from mirage.stages.features.families import FEATURES
from mirage.stages.features.means import FeatureMean, over_languages
from mirage.stages.features.reader import no_reply
from mirage.stages.features.relations import Relation, relations
from mirage.stats.units import Unit
from mirage.views.query import OF_LANGUAGE, has_formulas

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena


def ends_of_ranking(arena: Arena, systems: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the first and the last of some systems in the ranking by the arena's first judge, and its name; without a
    ranking of them by name, and no judge's name.
    """
    names, ranked = judges(arena), list[str]()
    if names:
        judge = Judge.from_name(names[0])
        with suppress(MirageError):
            ranked = leaderboard.board(arena, judge, size(arena, judge).languages).rows["system"].to_pylist()
    ranked = [name for name in ranked if name in systems]
    ends = ranked or systems
    return tuple(dict.fromkeys((ends[0], ends[-1]))), names[0] if ranked else ""


@dataclass(frozen=True, eq=False)
class Overview:
    """Means by language and over languages."""

    features: tuple[str, ...]
    """Features with a value, in declaration order; without those of the language if answers are formulas."""
    systems: tuple[str, ...]
    """Systems, by name."""
    languages: tuple[str, ...]
    """Languages, by code."""
    answers: int
    """Number of measured answers; missing ones do not count."""
    unit: Unit
    """The unit of the intervals over languages."""
    by_feature: Mapping[str, tuple[FeatureMean, ...]]
    """Means of each feature by language and system."""
    over: Mapping[str, pa.Table]
    """For each feature one row per system, best first by the feature's direction: `system, mean, low, high, n, total,
    coverage` and `languages`, the number with a mean. Languages have equal weights."""
    matrix: pa.Table
    """One row per system and one column per feature: the mean over languages."""
    everything: pa.Table
    """All rows by language and over languages (`all`)."""


@lru_cache(maxsize=256)
def of_language(arena: Arena, code: str) -> tuple[FeatureMean, ...]:
    """Compute the means of one language: the slow step on large arenas, so a page calls it language by language."""
    columns = ["language", "system", "feature", "value"]
    rows = arena.read("features", columns=columns, languages=[code], encoded=columns[:3])
    return tuple(feature_means.means(rows))


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
    joint = over_languages(feature_means, _shared_rows(arena, languages))
    named = {row.feature for row in feature_means if row.mean is not None}
    named -= set(OF_LANGUAGE) if has_formulas(arena) else set()
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
    counts = arena.sql(
        "SELECT count(DISTINCT (language, query_id, system)) AS n FROM features "
        "WHERE reason IS DISTINCT FROM ? AND list_contains(?, language)",
        [no_reply("missing"), list(languages)],
    )
    return Overview(
        features=tuple(order),
        systems=systems,
        languages=languages,
        answers=counts["n"][0].as_py(),
        unit=next((row.unit for row in joint if row.unit != "query"), "query"),
        by_feature={name: tuple(rows) for name, rows in by_feature.items()},
        over=over,
        matrix=pa.table({"system": list(systems), **columns}),
        everything=pa.Table.from_pylist([_row(row) for row in [*joint, *feature_means]]),
    )


@lru_cache(maxsize=64)
def feature_relations(arena: Arena, judge: Judge, languages: tuple[str, ...]) -> tuple[Relation, ...]:
    """Return the correlation of each feature with the ratings by a judge (`stages.features.relations`).

    Args:
        arena: an arena with features, and with battles by the judge.
        judge: relevance labels, with the skill whose queries count, nuggets or a judge.
        languages: codes; one without a rating is left out.

    Raises:
        NotEnoughData: if no language of the arena can be rated.
    """
    rated = leaderboard.board(arena, judge, size(arena, judge).languages).ranking.languages
    ratings = {
        code: dict(zip(row.systems, row.theta.tolist(), strict=True))
        for code, row in rated.items()
        if code in languages
    }
    means = [row for code in languages for row in of_language(arena, code)]
    return tuple(relations(means, ratings, features=overview(arena, languages).features))


def by_relation(rows: Sequence[Relation]) -> list[Relation]:
    """Return the correlations over all languages, or in the only one, of features of the content: those with an
    interval that excludes 0 first, then by strength.
    """
    several = any(row.language == "all" for row in rows)
    joint = [row for row in rows if (row.language == "all") == several and row.feature not in OF_LANGUAGE]
    return sorted(joint, key=lambda row: (not row.clear, -abs(row.tau or 0.0)))


_SHOWN = tuple(field.name for field in fields(FeatureMean) if field.name != "error")


def _row(row: FeatureMean) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _SHOWN} | {"coverage": row.coverage}


def _sign(feature: str) -> int:
    """Return the factor that makes the best value sort first."""
    spec = FEATURES.get(feature)
    return 1 if spec is not None and spec.direction == "lower" else -1
