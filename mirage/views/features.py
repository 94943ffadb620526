"""View of the features: what makes an answer good, and which systems lack it?

Means of every feature by system and language, and their correlation with the ratings by a judge.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import fmean
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.battles.judge import judges
from mirage.errors import MirageError, NotEnoughData
from mirage.ranking.judges import Judge
from mirage.ranking.settings import RankSettings
from mirage.stages.features.families import FEATURES
from mirage.stages.features.means import FeatureMean, means, over_languages
from mirage.stages.features.reader import no_reply
from mirage.stages.features.relations import Relation, relations
from mirage.stats.units import Unit, name_unit
from mirage.store.arena import Arena
from mirage.text.segmentation import join_or_count
from mirage.views.board import BoardChoice, board_view
from mirage.views.cache import cached_view, memoize
from mirage.views.query import OF_LANGUAGE, has_formulas


@dataclass(frozen=True, slots=True)
class FeatureChoice:
    """Choices of a view of features."""

    languages: tuple[str, ...] = ()
    """Codes; those without features are ignored. Empty for all."""
    judge: Judge | None = None
    """The judge whose ratings the features are compared with; None for the first of the arena, if it ranks a system."""


ALL = FeatureChoice()
"""All languages, the first judge."""
_DOWNLOADED = ("language", "system", "feature", "mean", "low", "high", "n", "total", "bounded", "unit", "coverage")
"""Columns of `FeaturesView.everything`."""


@dataclass(frozen=True, eq=False)
class FeaturesView:
    """Means of the features by language and over languages, and their correlations with the ratings."""

    features: tuple[str, ...]
    """Features with a value, in declaration order; without those of the language if answers are formulas."""
    systems: tuple[str, ...]
    """Systems, by name."""
    languages: tuple[str, ...]
    """Languages, by code."""
    answers: int
    """Number of measured answers; missing ones do not count."""
    means: pa.Table
    """Rows of `FeatureMean`: of language `all`, then of each language."""
    relations: pa.Table
    """Rows of `Relation` with the ratings by `judge`; none without ratings."""
    ranked: tuple[str, ...]
    """Systems in the ranking by `judge` over all its languages, best first; empty without one."""
    judge: str
    """Name of the judge in sentences; empty without ratings."""
    conclusion: str
    """The feature that correlates most with the rating, and the systems that lack it; empty without ratings."""
    remarks: tuple[str, ...]
    """Remarks to show with the means."""

    @property
    def unit(self) -> str:
        """The unit of the intervals over languages, in words."""
        units: list[Unit] = self.means["unit"].unique().to_pylist()
        return name_unit(next((unit for unit in units if unit != "query"), "query"))

    @cached_property
    def by_feature(self) -> Mapping[str, tuple[FeatureMean, ...]]:
        """Means of each feature by language and system."""
        by_feature: dict[str, list[FeatureMean]] = {name: [] for name in self.features}
        for row in self.means.to_pylist():
            if row["language"] != "all" and row["feature"] in by_feature:
                by_feature[row["feature"]].append(FeatureMean(**row))
        return {name: tuple(rows) for name, rows in by_feature.items()}

    @cached_property
    def over(self) -> Mapping[str, pa.Table]:
        """For each feature one row per system, best first by the feature's direction: the columns of `everything`, and
        `languages`, the number with a mean. Languages have equal weights.
        """
        joint = [row for row in self.everything.to_pylist() if row["language"] == "all"]
        over = {}
        for name in self.features:
            means = self.by_feature[name]
            rows = [
                row | {"languages": sum(m.mean is not None for m in means if m.system == row["system"])}
                for row in joint
                if row["feature"] == name
            ]
            rows.sort(key=lambda row: (row["mean"] is None, _sign(name) * (row["mean"] or 0), row["system"]))
            over[name] = pa.Table.from_pylist(rows)
        return over

    def matrix(self, names: Sequence[str]) -> tuple[pa.Table, int, int]:
        """Return the means of some features over languages, a row per system, and the fewest and most answers behind
        one; of each feature its mean and the ends of its interval, `_low` and `_high`.
        """
        lines, counts = dict[str, dict[str, Any]](), set[int]()
        for name in names:
            for row in self.over[name].to_pylist():
                line = lines.setdefault(row["system"], {"system": row["system"]})
                line |= {name: row["mean"], f"{name}_low": row["low"], f"{name}_high": row["high"]}
                counts |= {row["n"]} if row["n"] else set()
        return pa.Table.from_pylist(list(lines.values())), min(counts), max(counts)

    @cached_property
    def everything(self) -> pa.Table:
        """The means without their errors, and with `coverage`, the share of the queries with a value."""
        coverage = pc.divide(pc.cast(self.means["n"], "float64"), self.means["total"])
        return self.means.append_column("coverage", coverage).select(_DOWNLOADED)

    @cached_property
    def correlations(self) -> tuple[Relation, ...]:
        """The rows of `relations`."""
        return tuple(Relation(**row) for row in self.relations.to_pylist())

    @property
    def related(self) -> tuple[Relation, ...]:
        """The correlations over all languages, or in the only one, of features of the content: those with an interval
        that excludes 0 first, then by strength.
        """
        return tuple(_by_strength(self.correlations))

    def ends_of_ranking(self, features: Sequence[str]) -> tuple[tuple[str, ...], str]:
        """Return the first and the last system of the ranking, or by name without one, among those with a mean of each
        of some features, or all if none has; and what they are, in words.
        """
        has_mean = {
            (row["system"], name) for name in features for row in self.over[name].to_pylist() if row["mean"] is not None
        }
        valued = [system for system in self.systems if all((system, name) in has_mean for name in features)]
        ranked = [system for system in self.ranked if system in (valued or self.systems)]
        ends = ranked or valued or self.systems
        of = " of the systems with these features" if 0 < len(valued) < len(self.systems) else ""
        about = f"First and last in the ranking by {self.judge}{of}. " if ranked else ""
        return tuple(dict.fromkeys((ends[0], ends[-1]))), about


@cached_view
def features_view(arena: Arena, choice: FeatureChoice = ALL) -> FeaturesView:
    """Average the features over the answers of each system in some languages, and correlate them with the ratings.

    Args:
        arena: an arena with features.
        choice: the choices.

    Raises:
        TableMissing: if the arena has no features.
        NotEnoughData: if none of the languages has features, or the chosen judge rates none of the arena.
    """
    arena.need("features")
    languages = tuple(code for code in arena.languages("features") if not choice.languages or code in choice.languages)
    if not languages:
        raise NotEnoughData("none of the chosen languages has features", do="choose other languages")
    by_language = [row for code in languages for row in _means_of_language(arena, code)]
    joint = over_languages(by_language, _shared_rows(arena, languages))
    formulas = has_formulas(arena)
    named = {row.feature for row in by_language if row.mean is not None}
    named -= set(OF_LANGUAGE) if formulas else set()
    order = (*(name for name in FEATURES if name in named), *sorted(named - FEATURES.keys()))
    counts = arena.sql(
        "SELECT count(DISTINCT (language, query_id, system)) AS n FROM features "
        "WHERE reason IS DISTINCT FROM ? AND list_contains(?, language)",
        [no_reply("missing"), list(languages)],
    )
    rows, ranked, judge = list[Relation](), tuple[str, ...](), choice.judge
    if judge is not None:
        rows, ranked = _relate(arena, judge, by_language, languages, order)
    elif names := judges(arena):
        judge = Judge.from_name(names[0])
        with suppress(MirageError):
            rows, ranked = _relate(arena, judge, by_language, languages, order)
    by = judge.phrase(arena) if judge and ranked else ""
    left_out = "Language features are left out: most answers are fixed English formulas."
    return FeaturesView(
        features=order,
        systems=tuple(sorted({row.system for row in by_language})),
        languages=languages,
        answers=counts["n"][0].as_py(),
        means=schema.from_rows(FeatureMean, [*joint, *by_language]),
        relations=schema.from_rows(Relation, rows),
        ranked=ranked,
        judge=by,
        conclusion=_conclude(_by_strength(rows), joint, by),
        remarks=(left_out,) if formulas else (),
    )


@lru_cache(maxsize=256)
def _means_of_language(arena: Arena, code: str) -> tuple[FeatureMean, ...]:
    """Compute the means of one language, the slow step on large arenas, once for all choices of languages."""
    columns = ["language", "system", "feature", "value"]
    rows = arena.read("features", columns=columns, languages=[code], encoded=columns[:3])
    return tuple(means(rows))


def _shared_rows(arena: Arena, languages: tuple[str, ...]) -> pa.Table:
    """Return the features of these languages if they share queries, else no rows."""
    columns = ["language", "query_id", "system", "feature", "value"]
    sql = (
        "SELECT 1 FROM (SELECT DISTINCT language, query_id FROM features) GROUP BY query_id HAVING count(*) > 1 LIMIT 1"
    )
    if len(languages) > 1 and len(arena.sql(sql)):
        return arena.read("features", columns=columns, languages=languages)
    return schema.arrow_schema("features").empty_table().select(columns)


def _relate(
    arena: Arena, judge: Judge, by_language: Sequence[FeatureMean], languages: tuple[str, ...], order: Sequence[str]
) -> tuple[list[Relation], tuple[str, ...]]:
    """Return the correlation of each feature with the ratings by a judge in some languages, and the ranking over all.

    Raises:
        NotEnoughData: if no language of the arena can be rated.
    """
    board = board_view(arena, BoardChoice((judge.name,), settings=RankSettings(skill=judge.skill)))
    ratings = {
        code: dict(zip(row.systems, row.theta.tolist(), strict=True))
        for code, row in board.ranking.languages.items()
        if code in languages
    }
    return relations(by_language, ratings, features=order), tuple(board.rows["system"].to_pylist())


def _by_strength(rows: Sequence[Relation]) -> list[Relation]:
    several = any(row.language == "all" for row in rows)
    joint = [row for row in rows if (row.language == "all") == several and row.feature not in OF_LANGUAGE]
    return sorted(joint, key=lambda row: (not row.clear, -abs(row.tau or 0.0)))


def _conclude(related: Sequence[Relation], joint: Sequence[FeatureMean], judge: str) -> str:
    """Name the feature that correlates most with the rating, and the systems that lack it; empty without ratings."""
    if not related:
        return ""
    best = related[0]
    if not best.clear or best.tau is None:
        return f"No feature correlates significantly with the rating by {judge}."
    means = {row.system: row.mean for row in joint if row.feature == best.feature and row.mean is not None}
    worst = (min if best.tau > 0 else max)(means.values())
    lacking = join_or_count([system for system in means if means[system] == worst], "system")
    return (
        f"{feature_title(best.feature)} correlates with the rating by {judge} (tau {tau_text(best.tau)}, 95% CI "
        f"{tau_text(best.low)} to {tau_text(best.high)}, n = {best.systems} systems). "
        f"{'Lowest' if best.tau > 0 else 'Highest'}: {lacking}."
    )


@dataclass(frozen=True, slots=True)
class MeanRange:
    """Means of several systems in one language, taken together."""

    systems: int
    low: float
    high: float
    mean: float
    """Their mean, each system counting once."""


def range_of(rows: Iterable[FeatureMean]) -> MeanRange | None:
    """Return the range of the means of several systems; None without any."""
    means = [row.mean for row in rows if row.mean is not None]
    return MeanRange(len(means), min(means), max(means), fmean(means)) if means else None


def feature_title(feature: str) -> str:
    """Return the display name of a feature."""
    return FEATURES[feature].title if feature in FEATURES else feature


def tau_text(value: float | None) -> str:
    """Format a correlation with its sign."""
    return "–" if value is None else f"{value:+.2f}".replace("-", "−")


def _sign(feature: str) -> int:
    """Return the factor that makes the best value sort first."""
    spec = FEATURES.get(feature)
    return 1 if spec is not None and spec.direction == "lower" else -1


@memoize
def languages_with_features(arena: Arena, system: str) -> tuple[str, ...]:
    """Return the languages in which a system has features."""
    rows = arena.read("features", columns=["language", "system"])
    return tuple(sorted(rows.filter(pc.equal(rows["system"], system))["language"].unique().to_pylist()))


@memoize
def compare_features(arena: Arena, system: str, codes: tuple[str, ...]) -> pa.Table:
    """Return a system's mean of each feature and the others' means, in the same languages.

    Args:
        arena: with features.
        system: the system.
        codes: languages in which it has features.

    Returns:
        One row per feature of the system: feature, title, direction, mean, low, high, n, coverage; `others`, the
        median of the other systems, `least` and `most` of them; `place`, one more than the number of systems that are
        better (null where neither side is), and `of`, how many have the feature.
    """
    records: list[dict[str, Any]] = []
    for name, table in features_view(arena, FeatureChoice(codes)).over.items():
        rows = {row["system"]: row for row in table.to_pylist() if row["mean"] is not None}
        if system not in rows or name not in FEATURES:
            continue
        spec, system_row = FEATURES[name], rows[system]
        others = sorted(row["mean"] for other, row in rows.items() if other != system)
        sign = {"higher": 1, "lower": -1, "none": 0}[spec.direction]
        middle = len(others) // 2
        records.append(
            {
                "feature": name,
                "title": spec.title,
                "direction": "neither is better" if not sign else f"{spec.direction} is better",
                **{part: system_row[part] for part in ("mean", "low", "high", "n", "coverage")},
                "others": (others[middle] + others[~middle]) / 2 if others else None,
                "least": others[0] if others else None,
                "most": others[-1] if others else None,
                "place": 1 + sum(sign * other > sign * system_row["mean"] for other in others) if sign else None,
                "of": len(rows),
            }
        )
    return pa.Table.from_pylist(records)
