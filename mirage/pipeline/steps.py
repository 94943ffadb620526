"""The steps of a run, in order.

baselines  queries, passages           -> answers of the systems `baseline/..`
outcomes   queries, answers            -> outcomes
nuggets    answers, nuggets            -> nugget_assignments, by shared words
features   answers; queries, passages  -> features, those whose tables are there
judge      answers, features           -> judgments; by a model: of queries, passages, answers
ratings    outcomes; judgments         -> ratings by relevance; by the judge
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from mirage import llm, schema, store
from mirage.battles.counts import RELEVANCE
from mirage.ranking.settings import DRAWS, SEED
from mirage.ranking.stage import JUDGED_RATINGS, RELEVANCE_RATINGS
from mirage.schema import REFERENCE
from mirage.stages import features, judge
from mirage.stages.features.stage import FEATURES, measurable_in
from mirage.stages.generate.stage import BASELINES
from mirage.stages.judge.stage import BattleSample, JudgeSettings, judge_arena_by_features, judge_by_model, plan_judging
from mirage.stages.nuggets.stage import TERM_ASSIGNMENTS
from mirage.stages.outcomes import is_by_model
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.stages.stage import Progress, Stage, run

Left = str
"""Remaining work; empty if there is none."""


@dataclass(frozen=True)
class RunModel:
    """A model for a run."""

    model: llm.ChatModel
    """The model that judges, with its service; needs none if nothing is sent."""
    caller: Callable[[llm.ChatModel], llm.Engine] | None = None
    """Returns the function that calls a model; None for `llm.engine_of`."""

    def engine(self) -> llm.Engine:
        """Return the function that calls the model."""
        return llm.engine_of(self.model) if self.caller is None else self.caller(self.model)


@dataclass(frozen=True)
class RunSettings:
    """Options of a run. Without a model it costs nothing."""

    start: str = "baselines"
    """First stage."""
    end: str = "ratings"
    """Last stage."""
    baselines: bool = True
    """Whether the baselines also answer."""
    judge: str = judge.HEURISTIC
    """The judge: `heuristic`, or the model's name as a judge."""
    sample: BattleSample = field(default_factory=BattleSample)
    """The battles to judge."""
    draws: int = DRAWS
    """Bootstrap draws of the ratings."""
    seed: int = SEED
    """Seed of the draws."""
    model: RunModel | None = None
    """Model that judges."""


@dataclass(frozen=True)
class StepResult:
    """Result of a step."""

    arena: store.Arena
    """The arena after the step."""
    cost: llm.Cost | None = None
    """Cost of its calls; None if it makes none."""
    left: Left = ""
    """Remaining work."""
    remark: str = ""
    """What was skipped for lack of data, and why; empty if nothing."""


@dataclass(frozen=True)
class Step:
    """A part of a stage that runs or is skipped as a whole."""

    stage: str
    """One of `ORDER`."""
    name: str
    """Name; a stage has several steps for several systems, judges or judges."""
    reads: tuple[str, ...]
    """Required tables."""
    writes: str
    """Output table."""
    work: Callable[[], StepResult]
    """Runs the step."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Everything besides the tables that determines the result, as JSON."""
    version: int = 1
    """Version of the stage."""
    plan: Callable[[], llm.Cost | None] = lambda: None
    """Returns the maximum cost of its calls; sends nothing."""
    off: str = ""
    """Why it is not wanted; empty if it is."""
    without: str = ""
    """What is skipped for lack of data, and why; empty if nothing."""


@dataclass(frozen=True)
class _Run:
    """Shared state of one run's steps."""

    path: Path
    wanted: RunSettings
    made_by: str
    progress: Callable[[str], Progress]

    def stage(self, name: str, stage: Stage, step: str, *, part: str | None, **options: Any) -> Step:
        """Return a step that applies a stage to tables only; its options determine the result."""

        def work() -> StepResult:
            arena = run(stage, self.path, made_by=self.made_by, part=part, step=step, **options)
            remarks = [] if part else arena.manifest["made"][stage.writes[0]]["notes"]
            return StepResult(arena, remark="; ".join(remarks))

        return Step(name, step, stage.reads, stage.writes[0], work, options, stage.version)


def _baselines(this: _Run) -> Iterator[Step]:
    step = this.stage("baselines", BASELINES, "baselines", part="system")
    yield step if this.wanted.baselines else replace(step, off="not asked for")


def _outcomes(this: _Run) -> Iterator[Step]:
    step = this.stage("outcomes", OUTCOMES, "outcomes", part=None)
    stored = store.open_arena(this.path).read_optional("outcomes")
    yield replace(step, off="a model classified the answers" if is_by_model(stored) else "")


def _nuggets(this: _Run) -> Iterator[Step]:
    step = this.stage("nuggets", TERM_ASSIGNMENTS, "nuggets by terms", part="assigner")
    arena = store.open_arena(this.path)
    reads = TERM_ASSIGNMENTS.tables(arena)
    yield replace(step, reads=reads, off="" if "nuggets" in arena.tables else "there are no nuggets")


def _features(this: _Run) -> Iterator[Step]:
    reference = _reference(this.path)
    tools = features.Tools(reference=reference)
    arena = store.open_arena(this.path)
    free, lacking = measurable_in(arena, tools)

    def measure() -> StepResult:
        options: dict[str, Any] = {"only": free, "tools": tools, "progress": this.progress("features")}
        return StepResult(run(FEATURES, this.path, made_by=this.made_by, part="feature", step="features", **options))

    decides = {"features": free, "reference": reference}
    reads = FEATURES.tables(arena)
    yield Step(
        "features", "features", reads, "features", measure, decides, FEATURES.version, without=_lacking(lacking, arena)
    )


def _judge(this: _Run) -> Iterator[Step]:
    judge_name, sample, model = this.wanted.judge, this.wanted.sample, this.wanted.model
    options = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(sample).items()}

    name = f"judge {judge_name}"

    def weigh() -> StepResult:
        return StepResult(judge_arena_by_features(this.path, sample=sample, made_by=this.made_by, step=name))

    if judge_name == judge.HEURISTIC or model is None:
        options["weights"] = [list(asdict(weight).values()) for weight in judge.WEIGHTS]
        yield Step("judge", name, ("answers", "features"), "judgments", weigh, options)
        return
    settings, judge_model, engine = JudgeSettings(judge_name, sample), model.model, model.engine

    def ask() -> StepResult:
        calls = llm.ArenaCalls(engine(), judge_model, this.made_by, this.progress(name))
        arena, judged = judge_by_model(this.path, settings, calls, step=name)
        return StepResult(arena, judged.cost, _note_rest(sum(judged.failed.values()), judged.unasked, "battles"))

    def plan() -> llm.Cost:
        return plan_judging(this.path, settings, judge_model)

    reads = ("queries", "passages", "answers")
    yield Step("judge", name, reads, "judgments", ask, options | llm.parameters(judge_model.settings), plan=plan)


def _ratings(this: _Run) -> Iterator[Step]:
    options = {"draws": this.wanted.draws, "seed": this.wanted.seed}
    yield this.stage("ratings", RELEVANCE_RATINGS, f"ratings by {RELEVANCE}", part="judge", **options)
    judge_name = this.wanted.judge
    yield this.stage("ratings", JUDGED_RATINGS, f"ratings by {judge_name}", part="judge", judge=judge_name, **options)


_STAGES: dict[str, Callable[[_Run], Iterator[Step]]] = {
    "baselines": _baselines,
    "outcomes": _outcomes,
    "nuggets": _nuggets,
    "features": _features,
    "judge": _judge,
    "ratings": _ratings,
}
ORDER = tuple(_STAGES)
"""Stage names that bound a run."""


def steps(
    stage: str, path: Path, request: RunSettings, *, made_by: str, progress: Callable[[str], Progress]
) -> Iterator[Step]:
    """Yield the steps of a stage, in order.

    Args:
        stage: one of `ORDER`.
        path: the arena's folder.
        request: options of the run.
        made_by: the command, for the manifest.
        progress: maps a step's name to its progress callback (amount done, total).
    """
    return _STAGES[stage](_Run(path, request, made_by, progress))


def _reference(path: Path) -> str | None:
    """Return the name of the system `reference`, if the arena has its answers."""

    def find(arena: store.Arena) -> str | None:
        if "answers" not in arena.tables:
            return None
        rows = arena.sql("SELECT count(*) AS n FROM answers WHERE system = ?", [REFERENCE])
        return REFERENCE if rows["n"][0].as_py() else None

    return store.consistently(path, find)


def _lacking(names: Sequence[str], arena: store.Arena) -> str:
    """Describe features without their tables, ignoring optional tables."""
    names = [name for name in names if not set(features.tables([name])) & (schema.OPTIONAL - set(arena.tables))]
    absent = ", ".join(table for table in features.tables(names) if table not in arena.tables)
    return f"without {absent} these are not measured: {', '.join(names)}" if names else ""


def _note_rest(failed: int, unasked: int, unit: str) -> Left:
    """Describe calls that remain for a later run."""
    parts = [f"{failed:,} {unit} failed"] if failed else []
    parts += [f"{unasked:,} {unit} not sent: the budget was reached"] if unasked else []
    return "; ".join([*parts, "rerun the command to resume"]) if parts else ""
