"""The steps of `mirage evaluate` and `mirage measure`, in order, each skipped while its inputs are unchanged.

baselines  queries, passages           -> answers of the systems `baseline/..`
outcomes   queries, answers            -> outcomes
nuggets    answers, nuggets            -> nugget_assignments, by shared words
features   answers; queries, passages  -> features, those whose tables are there
judge      answers, features           -> judgments; by a model: of queries, passages, answers
ratings    outcomes; judgments         -> ratings by relevance; by the judge

The manifest records beside each table the inputs of its steps: content of the tables read, options, version. While they
are unchanged, running a step again would give the same result.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from mirage import schema
from mirage.battles.counts import RELEVANCE
from mirage.errors import NotEnoughData, TableMissing
from mirage.llm import calls as llm_calls
from mirage.llm.asking import ArenaCalls, Engine, engine_of
from mirage.llm.calls import ChatModel, Cost
from mirage.ranking.judges import Judge
from mirage.ranking.stage import RATING_STAGES, store_ratings
from mirage.schema import REFERENCE
from mirage.stages.features import table as feature_table
from mirage.stages.features.spec import Tools
from mirage.stages.features.stage import FEATURES, measurable_in
from mirage.stages.generate.stage import BASELINES
from mirage.stages.judge.heuristic import WEIGHTS
from mirage.stages.judge.stage import BattleSample, JudgeSettings, judge_arena_by_features, judge_by_model, plan_judging
from mirage.stages.nuggets.stage import TERM_ASSIGNMENTS
from mirage.stages.outcomes.rates import is_by_model
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.stages.stage import Progress, Stage, run
from mirage.store import runs
from mirage.store.arena import Arena, open_arena
from mirage.store.runs import record_run
from mirage.store.upsert import read_consistently
from mirage.text.segmentation import count_text


@dataclass(frozen=True)
class RunModel:
    """A model that judges."""

    model: ChatModel
    """The model, with its service; needs none if nothing is sent."""
    caller: Callable[[ChatModel], Engine] = engine_of
    """Returns the function that calls a model."""


@dataclass(frozen=True)
class StepReport:
    """Report of a step."""

    stage: str
    """The stage: one of those above."""
    step: str
    """The step: a stage has several for several judges."""
    state: Literal["ran", "skipped", "unfinished"]
    """`unfinished`: calls remain for a later run."""
    why: str
    """Why it ran or was skipped, and what remains."""
    seconds: float = 0.0
    """Duration in seconds."""
    cost: Cost | None = None
    """Cost of its calls; None if it makes none."""


@dataclass(frozen=True)
class StepResult:
    """Result of a step."""

    arena: Arena
    """The arena after the step."""
    cost: Cost | None = None
    """Cost of its calls; None if it makes none."""
    left: str = ""
    """Remaining work; empty if there is none."""
    remark: str = ""
    """Work skipped for lack of data, with the reason; empty if none."""


@dataclass(frozen=True)
class Step:
    """A part of a stage that runs or is skipped as a whole."""

    stage: str
    """The stage."""
    name: str
    """Name of the step."""
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
    off: str = ""
    """Why it is not wanted; empty if it is."""

    def reason_to_run(self, arena: Arena) -> str:
        """Return why the step has to run; empty if it is up to date or not wanted.

        Raises:
            TableMissing: if the arena lacks a table that it reads.
        """
        if self.off:
            return ""
        for table in self.reads:
            arena.need(table)
        if self.writes not in arena.tables:
            return f"there is no {self.writes} table"
        before, now = runs.runs(arena, self.writes).get(self.name), self.inputs(arena)
        if before is None:
            return f"no record of this step for the {self.writes}"
        tables, options = before.get("tables", {}), before.get("options", {})
        changed = [table for table in self.reads if tables.get(table) != now["tables"][table]]
        if changed:
            return " and ".join(changed) + " changed"
        if options != now["options"]:
            both = sorted({*options, *now["options"]})
            names = [name for name in both if options.get(name) != now["options"].get(name)]
            return "changed options: " + ", ".join(names)
        return "" if before.get("version") == now["version"] else "new version of the stage"

    def inputs(self, arena: Arena) -> dict[str, Any]:
        """Return what the result depends on, as JSON."""
        tables = {table: runs.content(arena, table) for table in self.reads}
        return {"tables": tables, "options": dict(self.options), "version": self.version}


@dataclass(frozen=True)
class Steps:
    """The steps on one arena."""

    path: Path
    """The arena's folder."""
    made_by: str
    """The command, for the manifest."""
    watch: Callable[[str], Progress] = lambda _: lambda _done, _of: None
    """Maps a step's name to its progress callback."""

    def run(self, step: Step) -> StepReport:
        """Run a step unless it is up to date, and record its inputs; without its tables or data it is skipped.

        Raises:
            ArenaError: if there is no arena, or it cannot be written.
            Unreachable: if the service rejects every call.
        """
        arena = open_arena(self.path)
        try:
            reason = step.reason_to_run(arena)
            if not reason:
                return StepReport(step.stage, step.name, "skipped", step.off or "up to date")
            inputs = step.inputs(arena)
            self.watch(step.name)
            begun = time.perf_counter()
            done = step.work()
            seconds = time.perf_counter() - begun
        except (TableMissing, NotEnoughData) as error:
            do = f"; {error.do}" if error.do else ""
            return StepReport(step.stage, step.name, "skipped", f"{error.what}{do}")
        if not done.left:
            record_run(self.path, step.writes, step.name, inputs, left=runs.content(done.arena, step.writes))
        why = "; ".join(part for part in (done.left or reason, done.remark) if part)
        return StepReport(step.stage, step.name, "unfinished" if done.left else "ran", why, seconds, done.cost)

    def measure(self, *, baselines: bool = False) -> Iterator[StepReport]:
        """Run what needs no model and no judge, after the answers of the baselines if they are wanted."""
        if baselines:
            yield self.run(self._stage("baselines", BASELINES, "baselines", part="system"))
        outcomes = open_arena(self.path).read_optional("outcomes")
        off = "a model classified the answers" if is_by_model(outcomes) else ""
        yield self.run(replace(self._stage("outcomes", OUTCOMES, "outcomes", part=None), off=off))
        arena = open_arena(self.path)
        step = self._stage("nuggets", TERM_ASSIGNMENTS, "nuggets by terms", part="assigner")
        off = "" if "nuggets" in arena.tables else "there are no nuggets"
        yield self.run(replace(step, reads=TERM_ASSIGNMENTS.tables(arena), off=off))
        yield self.run(self._features())

    def judge(self, name: str, sample: BattleSample, model: RunModel | None = None) -> StepReport:
        """Judge by the heuristic judge, or by a model if there is one."""
        return self.run(self._judge_step(name, sample, model))

    def judging_cost(self, name: str, sample: BattleSample, model: RunModel) -> Cost | None:
        """Return the maximum cost of judging by a model, without sending anything; None if there is nothing to do."""
        try:
            if self._judge_step(name, sample, model).reason_to_run(open_arena(self.path)):
                return plan_judging(self.path, JudgeSettings(name, sample), model.model)
        except (TableMissing, NotEnoughData):
            pass
        return None

    def rate(self, judge: str, *, draws: int, seed: int) -> Iterator[StepReport]:
        """Store the ratings by relevance labels, and by the judge."""
        options = {"draws": draws, "seed": seed}
        for name in dict.fromkeys((RELEVANCE, judge)):
            decider = Judge.from_name(name)
            stage = RATING_STAGES[decider.table]

            def work(decider: Judge = decider, step: str = f"ratings by {name}") -> StepResult:
                return StepResult(store_ratings(self.path, decider, made_by=self.made_by, step=step, **options))

            own = {**options, "judge": name}
            yield self.run(Step("ratings", f"ratings by {name}", stage.reads, "ratings", work, own, stage.version))

    def _stage(self, name: str, stage: Stage, step: str, *, part: str | None, **options: Any) -> Step:
        """Return a step that applies a stage to tables only; its options determine the result."""

        def work() -> StepResult:
            arena = run(stage, self.path, made_by=self.made_by, part=part, step=step, **options)
            remarks = [] if part else arena.manifest["made"][stage.writes[0]]["notes"]
            return StepResult(arena, remark="; ".join(remarks))

        return Step(name, step, stage.reads, stage.writes[0], work, options, stage.version)

    def _features(self) -> Step:
        """Return the step that measures every feature that needs no model, and whose tables are there."""
        reference = _reference(self.path)
        arena, tools = open_arena(self.path), Tools(reference=reference)
        free, lacking = measurable_in(arena, tools)

        def work() -> StepResult:
            options: dict[str, Any] = {"only": free, "tools": tools, "progress": self.watch("features")}
            measured = run(FEATURES, self.path, made_by=self.made_by, part="feature", step="features", **options)
            return StepResult(measured, remark=_describe_missing(lacking, arena))

        options = {"features": free, "reference": reference}
        return Step("features", "features", FEATURES.tables(arena), "features", work, options, FEATURES.version)

    def _judge_step(self, name: str, sample: BattleSample, model: RunModel | None) -> Step:
        options = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(sample).items()}
        step = f"judge {name}"

        def weigh() -> StepResult:
            return StepResult(judge_arena_by_features(self.path, sample=sample, made_by=self.made_by, step=step))

        if model is None:
            options["weights"] = [list(asdict(weight).values()) for weight in WEIGHTS]
            return Step("judge", step, ("answers", "features"), "judgments", weigh, options)
        chat, caller = model.model, model.caller

        def ask() -> StepResult:
            calls = ArenaCalls(chat, self.made_by, self.watch(step), engine=caller(chat))
            arena, judged = judge_by_model(self.path, JudgeSettings(name, sample), calls, step=step)
            return StepResult(arena, judged.cost, _note_rest(sum(judged.failed.values()), judged.unasked))

        options |= llm_calls.parameters(chat.settings)
        return Step("judge", step, ("queries", "passages", "answers"), "judgments", ask, options)


def _reference(path: Path) -> str | None:
    """Return the name of the system `reference`, if the arena has its answers."""

    def find(arena: Arena) -> str | None:
        if "answers" not in arena.tables:
            return None
        rows = arena.sql("SELECT count(*) AS n FROM answers WHERE system = ?", [REFERENCE])
        return REFERENCE if rows["n"][0].as_py() else None

    return read_consistently(path, find)


def _describe_missing(names: Sequence[str], arena: Arena) -> str:
    """Describe features without their tables, ignoring optional tables."""
    names = [name for name in names if not set(feature_table.tables([name])) & (schema.OPTIONAL - set(arena.tables))]
    absent = ", ".join(table for table in feature_table.tables(names) if table not in arena.tables)
    return f"without {absent} these are not measured: {', '.join(names)}" if names else ""


def _note_rest(failed: int, unasked: int) -> str:
    """Describe calls that remain for a later run."""
    parts = [f"{count_text(failed, 'battle')} failed"] if failed else []
    parts += [f"{count_text(unasked, 'battle')} not sent: the budget was reached"] if unasked else []
    return "; ".join([*parts, "rerun the command to resume"]) if parts else ""
