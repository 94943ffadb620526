"""View of the surrogate: how well do cheap features predict the judge? Left-out systems by each regressor."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.battles.judge import HEURISTIC, RELEVANCE
from mirage.errors import BadInput
from mirage.ranking.judges import Judge
from mirage.ranking.surrogate.data import COVERAGE, Training
from mirage.ranking.surrogate.quality import Quality, paired_test
from mirage.ranking.surrogate.range import ALL
from mirage.ranking.surrogate.regressors import CHEAP, PUBLISHED, REGRESSORS, SEED
from mirage.ranking.surrogate.reporting import RegressorSummary, held_out, report_on, summary
from mirage.ranking.surrogate.stage import ABLATIONS, PREDICTION_STAGES
from mirage.ranking.surrogate.training import training
from mirage.schema import CodeOrAll, Skill
from mirage.stages.stage import Progress
from mirage.store.arena import Arena
from mirage.store.runs import settings_of
from mirage.text.languages import in_language, in_order, name_of
from mirage.text.numbers import FORMATS
from mirage.text.segmentation import count_text
from mirage.views.cache import cached_view, memoize
from mirage.views.features import feature_title
from mirage.views.rates import published_arena

SURE = 0.05
"""Significance level for a difference between two regressors."""
_FEW = 3
"""Maximum number of languages a remark lists."""


@dataclass(frozen=True, slots=True)
class SurrogateChoice:
    """Choices of a view of the surrogate."""

    judge: str | None = None
    """Judge whose ratings are predicted; None for the first of `predicted_judges`, else relevance labels."""
    skill: Skill = "both"
    """Queries that count, by relevance labels."""
    languages: tuple[str, ...] = ()
    """Codes to fit and predict; empty for all."""
    regressors: tuple[str, ...] = ()
    """Regressors to compare; empty for the stored ones, else `CHEAP`."""


DEFAULT = SurrogateChoice()
"""The stored predictions of the first judge."""


@dataclass(frozen=True, slots=True)
class JudgedInterval:
    """95% interval of a system's rating by the judge, on the scale of the predictions."""

    key = ("language", "system")

    language: CodeOrAll
    """Language of the answers; `all`: the mean over languages."""
    system: str
    """The system."""
    low: float | None
    """Lower end in logits; null if unbounded."""
    high: float | None
    """Upper end."""


@dataclass(frozen=True, eq=False)
class SurrogateView:
    """Predictions of left-out systems by several regressors, their quality, and what the best rests on."""

    judge: str
    """Judge whose ratings are predicted."""
    judge_name: str
    """Its name in sentences."""
    skill: Skill
    """Queries that count."""
    chosen: str
    """The regressor for new systems."""
    seed: int | None
    """Seed of the regressors; None for predictions stored without it."""
    stored: bool
    """Whether the predictions are those of the arena, else they were fitted now."""
    summary: pa.Table
    """Rows of `RegressorSummary`, one per regressor: the paper's, then ours."""
    quality: pa.Table
    """Rows of `Quality` by language, `all` last, then regressor."""
    predictions: pa.Table
    """Rows of `schema.Prediction`: every system by every regressor."""
    intervals: pa.Table
    """Rows of `JudgedInterval`, of stored ratings; empty without."""
    importances: pa.Table
    """Rows of `schema.Importance` of the regressor for new systems: permuted features, largest increase first, then
    ablations by feature set and language. Empty if none are stored."""
    calls: int | None
    """Judge calls that a prediction saves for a new system: the mean number of judgments per judged system; 0 by
    relevance labels, which call no model; None without judgments."""
    remarks: tuple[str, ...]
    """Remarks to show with the tables."""

    @property
    def regressors(self) -> tuple[str, ...]:
        """Names of the regressors."""
        return tuple(self.summary["regressor"].to_pylist())

    @property
    def worthwhile(self) -> tuple[str, ...]:
        """Our regressors that predict better than the mean rating, and the one for new systems."""
        rows = self.summary.to_pylist()
        return tuple(
            row["regressor"] for row in rows if row["chosen"] or (not row["published"] and (row["r2"] or 0.0) > 0)
        )

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages with predictions, `all` last."""
        return tuple(dict.fromkeys(self.quality["language"].to_pylist()))

    @property
    def conclusion(self) -> str:
        """The answer for the regressor for new systems over all languages."""
        return self.conclude(self.chosen, ALL)

    def conclude(self, regressor: str, language: str) -> str:
        """Answer the question for one regressor in a language, or `all`."""
        row = self.quality_row(regressor, language) if language != ALL else self.summary_row(regressor)
        where = in_language(language) if language != ALL else f"on average over {row['languages']} languages"
        write = FORMATS["probability"].write
        if self.judge == HEURISTIC:
            return "The heuristic judge is a weighted sum of these features, so predicting it is no finding."
        agrees = "agrees" if (row["tau"] or 0.0) > 0 else "does not agree"
        facts = f"tau {write(row['tau'])} {where}, {self.count_systems(language)}"
        return f"Predicted ranking {agrees} with the one by {self.judge_name} ({facts})."

    def test_sentence(self, regressor: str) -> str:
        """Return whether a regressor differs from the one for new systems; empty if it was not tested."""
        p = self.summary_row(regressor)["p"]
        if p is None:
            return ""
        value = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        verdict = "Significantly" if p < SURE else "Not significantly"
        return f"{verdict} different from {REGRESSORS[self.chosen].title}, used for new systems ({value})."

    def count_systems(self, language: str) -> str:
        """Return the number of left-out systems in a language, or for `all` the range over the languages."""
        rows = self.quality.select(["language", "systems"]).to_pylist()
        counts = [row["systems"] for row in rows if (language == row["language"] or language == ALL != row["language"])]
        low, high = min(counts), max(counts)
        return count_text(high, "system") if low == high else f"{low:,} to {high:,} systems"

    def summary_row(self, regressor: str) -> dict[str, Any]:
        """Return the row of a regressor over all languages (`RegressorSummary`)."""
        return next(row for row in self.summary.to_pylist() if row["regressor"] == regressor)

    def quality_row(self, regressor: str, language: str) -> dict[str, Any]:
        """Return the row of a regressor in a language (`Quality`)."""
        return next(row for row in self.quality_of(regressor) if row["language"] == language)

    def quality_of(self, regressor: str) -> list[dict[str, Any]]:
        """Return the rows of a regressor by language (`Quality`), `all` last."""
        return [row for row in self.quality.to_pylist() if row["regressor"] == regressor]

    def points(self, regressor: str, language: str) -> tuple[schema.Prediction, ...]:
        """Return a regressor's predictions in a language by the judge's rating, best first; new systems last."""
        rows = [schema.Prediction(**row) for row in self.predictions.to_pylist()]
        rows = [row for row in rows if (row.regressor, row.language) == (regressor, language)]
        return tuple(sorted(rows, key=lambda row: (row.judged is None, -(row.judged or 0.0), row.rank, row.system)))

    def judged_ends(self, language: str) -> dict[str, tuple[float | None, float | None]]:
        """Return the interval of each system's rating by the judge in a language."""
        rows = self.intervals.to_pylist()
        return {row["system"]: (row["low"], row["high"]) for row in rows if row["language"] == language}

    def systems_outside(self, regressor: str) -> frozenset[str]:
        """Return the systems that are outside the range of the others in some feature."""
        rows = self.predictions.to_pylist()
        return frozenset(row["system"] for row in rows if row["regressor"] == regressor and row["outside"])

    @property
    def saved_calls(self) -> str:
        """The judge calls that a prediction saves, in a sentence; empty if there are none."""
        if not self.calls:
            return ""
        return f"Judging one system took {self.calls:,} verdicts on average; a prediction takes none."

    def compare_regressors(self, figures: PrintedSurrogate, language: str) -> pa.Table:
        """Return a row per regressor in a language, with what the paper prints of the same one."""
        lines = []
        for row in self.summary.to_pylist():
            values = row if language == ALL else self.quality_row(row["regressor"], language)
            line = {key: values[key] for key in ("tau", "rmse", "covered")} | {"r2": _positive(values["r2"])}
            line["name"] = REGRESSORS[row["regressor"]].title + (" (for new systems)" if row["chosen"] else "")
            line["p"] = None if row["p"] is None else f"{row['p']:.3f}"
            lines.append(line | {"printed": figures.r2.get((language, "holdout", row["published"]))})
        return _table(lines, ("name", "tau", "rmse", "r2", "covered", "p", "printed"))

    @property
    def permuted(self) -> pa.Table:
        """The importance of each permuted feature, the largest first; `feature` is its display name."""
        rows = self._importances("permutation")
        return pa.Table.from_pylist([row | {"feature": feature_title(row["features"])} for row in rows])

    def ablations(self, figures: PrintedSurrogate, language: str) -> tuple[pa.Table, tuple[str, ...]]:
        """Return tau by set of features, in a language or the mean over languages, and why some have none."""
        ablated, lines, lacking = self._importances("ablation"), [], []
        for name in dict.fromkeys(row["features"] for row in ablated):
            rows = [row for row in ablated if row["features"] == name]
            single = [row for row in rows if row["language"] != ALL]
            line: dict[str, Any] = {"features": name, "printed": figures.ablation.get((language, name))}
            if language == ALL and single:
                values = [row["value"] for row in single if row["value"] is not None]
                line |= {"tau": sum(values) / len(values) if values else None}
                line |= {"systems": max(row["systems"] for row in single)}
            else:
                row = next((row for row in rows if row["language"] == language), rows[-1])
                line |= {"tau": row["value"], "systems": row["systems"] or None}
                lacking += [f"{name} ({row['reason']})"] if row["reason"] else []
            lines.append(line)
        return _table(lines, ("features", "tau", "systems", "printed")), tuple(lacking)

    def by_language(self, figures: PrintedSurrogate, regressor: str, codes: Collection[str]) -> pa.Table:
        """Return the quality of a regressor in each of these languages, beside the paper's Tables 2 and 5."""
        forest = {row["language"]: row["tau"] for row in self.quality_of(PUBLISHED)}
        lines, write = [], FORMATS["probability"].write
        for row in self.quality_of(regressor):
            code = row["language"]
            if code != ALL and code in codes:
                value, minus, plus = figures.r2_draws.get(code, (None, 0.0, 0.0))
                printed = value and f"{write(value)} ({write(value + minus)} to {write(value + plus)})"
                line = {"name": name_of(code), "tau": row["tau"], "r2": _positive(row["r2"]), "systems": row["systems"]}
                line |= {"forest": forest.get(code), "printed_tau": figures.tau.get(code), "printed_r2": printed}
                lines.append(line)
        return _table(lines, ("name", "tau", "r2", "systems", "forest", "printed_tau", "printed_r2"))

    def _importances(self, kind: str) -> list[dict[str, Any]]:
        return [row for row in self.importances.to_pylist() if row["kind"] == kind]


def _positive(r2: float | None) -> float | None:
    """Return an explained variance; None below 0, where the mean predicts better and the value has no scale."""
    return r2 if r2 is not None and r2 >= 0 else None


def _table(lines: list[dict[str, Any]], names: tuple[str, ...]) -> pa.Table:
    """Return lines as a table, with floats in columns that are neither texts nor counts."""
    types = dict.fromkeys(("name", "features", "p", "printed_r2"), pa.string()) | {"systems": pa.int64()}
    return pa.Table.from_pylist(lines, schema=pa.schema([(name, types.get(name, pa.float64())) for name in names]))


@memoize
def predicted_judges(arena: Arena) -> tuple[tuple[str, Skill], ...]:
    """Return the judges and skills with stored predictions, relevance labels first."""
    if "predictions" not in arena.tables:
        return ()
    stored = arena.read("predictions", columns=["judge", "skill"]).group_by(["judge", "skill"]).aggregate([])
    pairs = [(row["judge"], row["skill"]) for row in stored.to_pylist()]
    order = get_args(Skill)
    return tuple(sorted(pairs, key=lambda pair: (pair[0] != RELEVANCE, pair[0], order.index(pair[1]))))


@cached_view
def surrogate_view(arena: Arena, choice: SurrogateChoice = DEFAULT, progress: Progress | None = None) -> SurrogateView:
    """Return the stored predictions if they were made with these choices, else fit the regressors.

    Args:
        arena: the arena.
        choice: choices of the view.
        progress: called with the number of finished fits and their total.

    Raises:
        TableMissing: if the arena lacks a table to fit.
        NotEnoughData: if there are too few rated systems with features.
        BadInput: for nugget scores, which are features themselves.
    """
    judge = decider(arena, choice)
    rows = _stored_predictions(arena, judge, choice)
    if rows is not None:
        made = settings_of(arena, "predictions", judge.name) or {}
        return _view(arena, judge, rows, seed=made.get("seed"), stored=True)
    seen = _training(arena, judge, choice.languages)
    report = report_on(seen, judge, regressors=choice.regressors or CHEAP, progress=progress)
    return _view(arena, judge, report.table(), seed=SEED, stored=False)


def decider(arena: Arena, choice: SurrogateChoice) -> Judge:
    """Return the judge whose ratings are predicted.

    Raises:
        BadInput: for nugget scores, which are features themselves.
    """
    name = choice.judge or next((name for name, _ in predicted_judges(arena)), RELEVANCE)
    judge = Judge.from_name(name, skill=choice.skill)
    if judge.table not in PREDICTION_STAGES:
        raise BadInput(
            "nugget scores are features, so a prediction from features would know the ratings by nuggets",
            do="choose relevance or a judge",
        )
    return judge


def describe_features(arena: Arena, choice: SurrogateChoice = DEFAULT) -> tuple[str, ...]:
    """Return lines on the features that fits use, and exclude in some languages; none without the tables."""
    judge = decider(arena, choice)
    if not set(PREDICTION_STAGES[judge.table].reads) <= set(arena.tables):
        return ()
    seen = _training(arena, judge, choice.languages)
    lines = [f"{len(seen.features)} features: {', '.join(seen.features)}"]
    for feature, languages in seen.unused_features().items():
        lacking = "; ".join(f"{code}: {', '.join(systems)}" for code, systems in languages.items())
        if len(languages) > _FEW:
            everyone = sorted({system for systems in languages.values() for system in systems})
            lacking = f"{', '.join(everyone)}, in {len(languages)} languages"
        under = f"a system has it on fewer than {COVERAGE:.0%} of the queries"
        lines.append(f"{feature} is excluded where {under}: {lacking}")
    return tuple(lines)


def _training(arena: Arena, judge: Judge, languages: tuple[str, ...]) -> Training:
    for table in PREDICTION_STAGES[judge.table].reads:
        arena.need(table)
    features, verdicts = (arena.read(table) for table in PREDICTION_STAGES[judge.table].reads)
    return training(features, verdicts, judge, languages=languages or None)


def _stored_predictions(arena: Arena, judge: Judge, choice: SurrogateChoice) -> pa.Table | None:
    """Return the stored predictions of a judge by the chosen regressors; None if they were made with other choices."""
    if choice.languages or (judge.name, judge.skill) not in predicted_judges(arena):
        return None
    rows = _rows_of(arena, "predictions", judge)
    regressors = {name for name in rows["regressor"].unique().to_pylist() if name in REGRESSORS}
    return rows if regressors and choice.regressors in ((), tuple(r for r in REGRESSORS if r in regressors)) else None


def _rows_of(arena: Arena, table: str, judge: Judge) -> pa.Table:
    """Return the rows of a judge and its skill."""
    rows = arena.read(table)
    return rows.filter(pc.and_(pc.equal(rows["judge"], judge.name), pc.equal(rows["skill"], judge.skill)))


def _view(arena: Arena, judge: Judge, rows: pa.Table, *, seed: int | None, stored: bool) -> SurrogateView:
    """Build the record from predictions."""
    results = held_out(rows, judge)
    chosen = next(reversed(results))
    quality = [row for regressor in results.values() for row in regressor.quality()]
    codes = in_order({row.language for row in quality})
    quality.sort(key=lambda row: (row.language == ALL, codes.index(row.language)))
    summaries = summary(results)
    calls = _calls(arena, judge)
    systems, languages = max(row.systems for row in summaries), summaries[0].languages
    known = "" if seed is None else f"; seed {seed}"
    remarks = [f"{count_text(systems, 'system')}, {count_text(languages, 'language')}{known}"]
    remarks.append(f"for a new system: {chosen}")
    test = paired_test(results[chosen], results[PUBLISHED]) if PUBLISHED in results and chosen != PUBLISHED else None
    if test:
        remarks.append(
            f"{test.better} against {test.than}: tau {test.tau:.3f} and {test.tau_than:.3f}, p = {test.p:.3f}, higher "
            f"in {test.ahead} of {test.languages} languages (paired over {test.systems} systems)"
        )
    new = [row for row in rows.to_pylist() if row["regressor"] == chosen]
    beyond = {row["system"] for row in new if row["outside"]}
    remarks.append(
        f"{len(beyond)} of {len({row['system'] for row in new})} systems are outside the range of the others in some "
        "feature: their predictions have no interval"
    )
    if calls:
        remarks.append(f"a prediction needs no judge call; judging a system like the others took {calls:,}")
    return SurrogateView(
        judge=judge.name,
        judge_name=judge.phrase(arena),
        skill=judge.skill,
        chosen=chosen,
        seed=seed,
        stored=stored,
        summary=schema.from_rows(RegressorSummary, summaries),
        quality=schema.from_rows(Quality, quality),
        predictions=rows,
        intervals=_intervals(arena, judge, rows),
        importances=_importances(arena, judge) if stored else schema.from_rows("importances", []),
        calls=calls,
        remarks=tuple(remarks),
    )


def _importances(arena: Arena, judge: Judge) -> pa.Table:
    rows = []
    if "importances" in arena.tables:
        rows = [schema.Importance(**row) for row in _rows_of(arena, "importances", judge).to_pylist()]
    permuted = [row for row in rows if row.kind == "permutation"]
    ablated = [row for row in rows if row.kind == "ablation" and row.features in ABLATIONS]
    permuted.sort(key=lambda row: (-(row.value or 0.0), row.features))
    ablated.sort(key=lambda row: (ABLATIONS.index(row.features), row.language == ALL, row.language))
    return schema.from_rows("importances", [*permuted, *ablated])


def _intervals(arena: Arena, judge: Judge, predictions: pa.Table) -> pa.Table:
    """Return the intervals of stored ratings on the scale of the predictions.

    Ratings are centred over all rated systems, predictions over those with features.
    """
    rows = []
    if "ratings" in arena.tables:
        columns = ("language", "system", "judged")
        judged = {(row["language"], row["system"]): row["judged"] for row in predictions.select(columns).to_pylist()}
        for row in _rows_of(arena, "ratings", judge).to_pylist():
            value = judged.get((row["language"], row["system"]))
            if value is not None and row["rating"] is not None:
                ends = [None if row[end] is None else row[end] - row["rating"] + value for end in ("low", "high")]
                rows.append(JudgedInterval(row["language"], row["system"], *ends))
    return schema.from_rows(JudgedInterval, rows)


def _calls(arena: Arena, judge: Judge) -> int | None:
    if not judge.asked:
        return 0
    if "judgments" not in arena.tables:
        return None
    rows = arena.read("judgments", columns=["judge", "system_a", "system_b"])
    own = rows.filter(pc.equal(rows["judge"], judge.name))
    sides = pa.chunked_array([*own["system_a"].chunks, *own["system_b"].chunks], pa.string())
    return round(len(sides) / len(sides.unique())) if len(sides) else None


# --- printed figures --------------------------------------------------------------------------------------------------


_PRINTED_SETS = {
    "All features (11)": "All features",
    "Without LLM-as-judge (9)": "Without LLM-as-judge",
    "Without low-correlation (7)": "Without low-correlation",
    "Only LLM-as-judge (2)": "Only LLM-as-judge",
}
"""Printed and our names of Table 4's rows."""
_TABLES = ("Table 2", "Table 3", "Table 4", "Table 5")


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
def printed_surrogate(arena: Arena) -> PrintedSurrogate:
    """Return the printed figures, from the arena or else from the bundled one."""
    figures = published_arena(arena)
    if figures is None:
        return PrintedSurrogate()
    columns = ("source", "item", "metric", "setting", "language", "value", "reference")
    rows = [row for row in figures.read("published", columns=columns).to_pylist() if row["source"] == "MIRAGE-Bench"]
    rows = [row for row in rows if row["item"] in _TABLES and row["value"] is not None]
    by_item = {item: [row for row in rows if row["item"] == item] for item in _TABLES}
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
