"""Data of the Surrogate page: stored predictions of left-out systems by regressor, and their ratings.

Nothing is fitted here. Results are cached by arena, which is hashed by its manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.ranking.judges import Judge
from mirage.ranking.surrogate.range import ALL
from mirage.ranking.surrogate.reporting import RegressorSummary, summary
from mirage.ranking.surrogate.reporting import held_out as read_held_out
from mirage.ranking.surrogate.stage import ABLATIONS
from mirage.views.rates import published_arena as figures_of

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.ranking.surrogate.quality import Quality
    from mirage.schema import Skill
    from mirage.store import Arena


@dataclass(frozen=True, eq=False)
class RegressorComparisonView:
    """Quality of the regressors of one judge and skill on left-out systems."""

    chosen: str
    """The regressor for new systems."""
    summary: tuple[RegressorSummary, ...]
    """One row per regressor: the paper's five, ours."""
    quality: tuple[Quality, ...]
    """Quality by language, `all` last, then regressor."""
    points: pa.Table
    """Table `predictions` of this judge and skill: prediction, interval and rating of every system."""


@lru_cache(maxsize=64)
def available(arena: Arena) -> tuple[tuple[str, Skill], ...]:
    """Return the judges and skills with predictions in an arena, judges first; none without the table."""
    if "predictions" not in arena.tables:
        return ()
    rows = arena.sql("SELECT DISTINCT judge, skill FROM predictions ORDER BY judge = 'relevance', judge, skill")
    return tuple((row["judge"], row["skill"]) for row in rows.to_pylist())


@lru_cache(maxsize=16)
def comparison_of(arena: Arena, judge: Judge) -> RegressorComparisonView:
    """Return the comparison behind the stored predictions.

    Raises:
        TableMissing: if the arena has no predictions.
        NotEnoughData: if it has none for this judge and its skill.
    """
    import pyarrow.compute as pc

    rows = arena.read("predictions")
    by_regressor = read_held_out(rows, judge)
    selection = pc.and_(pc.equal(rows["judge"], judge.name), pc.equal(rows["skill"], judge.skill))
    points = rows.filter(selection)
    chosen = next(reversed(by_regressor))
    quality = [row for held_out in by_regressor.values() for row in held_out.quality()]
    quality.sort(key=lambda row: (row.language == ALL, row.language))
    return RegressorComparisonView(chosen, tuple(summary(by_regressor, chosen)), tuple(quality), points)


_PRINTED_SETS = {
    "All features (11)": "All features",
    "Without LLM-as-judge (9)": "Without LLM-as-judge",
    "Without low-correlation (7)": "Without low-correlation",
    "Only LLM-as-judge (2)": "Only LLM-as-judge",
}
"""Printed and our names of Table 4's rows."""


@dataclass(frozen=True)
class PrintedSurrogate:
    """Surrogate figures printed in the MIRAGE-Bench paper, by language code. Not computed here."""

    tau: Mapping[str, float] = field(default_factory=dict)
    """Table 2: Kendall's tau of the ranking by the random forest against GPT-4o's; 17 of the 19 systems it ranks were
    trained on."""
    r2: Mapping[tuple[str, str, str], float] = field(default_factory=dict)
    """Table 3: R2 by language, part (`train`, `holdout`) and printed regressor."""
    ablation: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Table 4: tau by language and set of features, by our names."""
    r2_draws: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    """Table 5: mean R2 over tournaments, and the distance to its lower and upper end."""
    reference: str = ""
    """Source; empty if no printed figures are bundled."""


@lru_cache(maxsize=8)
def printed_figures(arena: Arena) -> PrintedSurrogate:
    """Return the printed figures, from the arena or else from the bundled one."""
    figures = figures_of(arena)
    if figures is None:
        return PrintedSurrogate()
    rows = figures.sql(
        "SELECT item, metric, setting, language, value, reference FROM published WHERE source = 'MIRAGE-Bench' "
        "AND item IN ('Table 2', 'Table 3', 'Table 4', 'Table 5') AND value IS NOT NULL ORDER BY item"
    ).to_pylist()
    by_item = {
        item: [row for row in rows if row["item"] == item] for item in ("Table 2", "Table 3", "Table 4", "Table 5")
    }
    ends = {(row["language"], row["metric"].split(": ")[-1]): row["value"] for row in by_item["Table 5"]}
    return PrintedSurrogate(
        {row["language"]: row["value"] for row in by_item["Table 2"]},
        {(row["language"], *row["setting"].split(", ", 1)): row["value"] for row in by_item["Table 3"]},
        {(row["language"], _PRINTED_SETS[row["setting"]]): row["value"] for row in by_item["Table 4"]},
        {
            code: (value, *(ends[code, end] for end in ("ci95_minus", "ci95_plus")))
            for (code, metric), value in ends.items()
            if metric == "mean_r2"
        },
        rows[0]["reference"].split(", Table")[0] + ", Tables 2 to 5" if rows else "",
    )


@dataclass(frozen=True, eq=False)
class Weights:
    """Feature importance of the default regressor; empty if the arena has no table `importances`."""

    permuted: tuple[schema.Importance, ...]
    """One row per feature, largest increase first."""
    ablated: tuple[schema.Importance, ...]
    """Ablations by feature set in order, then language, `all` last."""


@lru_cache(maxsize=16)
def weights(arena: Arena, judge: Judge) -> Weights:
    """Return the stored importances of a judge and its skill."""
    if "importances" not in arena.tables:
        return Weights((), ())
    stored = arena.sql("SELECT * FROM importances WHERE judge = ? AND skill = ?", [judge.name, judge.skill])
    rows = [schema.Importance(**row) for row in stored.to_pylist()]
    permuted = [row for row in rows if row.kind == "permutation"]
    ablated = [row for row in rows if row.kind == "ablation" and row.features in ABLATIONS]
    permuted.sort(key=lambda row: (-(row.value or 0.0), row.features))
    ablated.sort(key=lambda row: (ABLATIONS.index(row.features), row.language == ALL, row.language))
    return Weights(tuple(permuted), tuple(ablated))


@lru_cache(maxsize=64)
def predicted_points(arena: Arena, judge: Judge, regressor: str, language: str) -> tuple[schema.Prediction, ...]:
    """Return one regressor's predictions in one language, by rating of the judge, best first; new systems last."""
    rows = [
        schema.Prediction(**row)
        for row in comparison_of(arena, judge).points.to_pylist()
        if row["regressor"] == regressor and row["language"] == language
    ]
    return tuple(sorted(rows, key=lambda row: (row.judged is None, -(row.judged or 0.0), row.rank, row.system)))


@lru_cache(maxsize=64)
def judged_ends(arena: Arena, judge: Judge, language: str) -> dict[str, tuple[float | None, float | None]]:
    """Return the 95% interval of each system's rating, null if unbounded; empty without ratings.

    Stored ratings are centred over all rated systems, predictions over those with features: the intervals are moved by
    the difference.
    """
    if "ratings" not in arena.tables:
        return {}
    rows = arena.sql(
        "SELECT system, low - rating + judged AS low, high - rating + judged AS high FROM ratings "
        "JOIN (SELECT judge, skill, language, system, any_value(judged) AS judged FROM predictions GROUP BY ALL) "
        "USING (judge, skill, language, system) WHERE judge = ? AND skill = ? AND language = ?",
        [judge.name, judge.skill, language],
    )
    return {row["system"]: (row["low"], row["high"]) for row in rows.to_pylist()}


@lru_cache(maxsize=64)
def quality_by_language(arena: Arena, judge: Judge, regressor: str) -> tuple[dict[str, Any], ...]:
    """Return one regressor's quality by language (`Quality`), `all` last."""
    return tuple(asdict(row) for row in comparison_of(arena, judge).quality if row.regressor == regressor)


@lru_cache(maxsize=32)
def calls(arena: Arena, judge: Judge) -> int | None:
    """Return the judge calls that a prediction saves for a new system: the mean number of judgments per judged system
    over all languages; 0 with a judge that is not asked; null without judgments.
    """
    if not judge.asked:
        return 0
    if "judgments" not in arena.tables:
        return None
    rows = arena.sql(
        "SELECT count(*) AS n FROM (SELECT system_a AS s FROM judgments WHERE judge = ? UNION ALL "
        "SELECT system_b FROM judgments WHERE judge = ?) GROUP BY s",
        [judge.name, judge.name],
    )["n"].to_pylist()
    return round(sum(rows) / len(rows)) if rows else None
