"""The steps of a run, in order.

retrieve   queries, passages           -> retrieved, of the retrievers that a run is asked for
baselines  queries, passages           -> answers of the systems `baseline/..`; also over each retriever
generate   queries, passages           -> answers of a system, by a model; also over each retriever
outcomes   queries, answers            -> outcomes
nuggets    answers, nuggets            -> nugget_assignments, by shared words
features   answers; queries, passages  -> features, those whose tables are there; with a model, the graded ones too
judge      answers, features           -> judgments; by a model: of queries, passages, answers
ratings    outcomes; judgments         -> ratings by relevance; by the judge
surrogate  features, with either       -> predictions, importances; only if asked for, as it takes minutes
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_args

import numpy as np

from mirage import llm, schema, store
from mirage.battles.counts import RELEVANCE
from mirage.errors import NotEnoughData, UnknownName
from mirage.llm import prompts
from mirage.llm.engines.tasks import Executor
from mirage.ranking import surrogate
from mirage.ranking.settings import DRAWS, SEED
from mirage.ranking.stage import JUDGED_RATINGS, RELEVANCE_RATINGS
from mirage.ranking.surrogate.stage import JUDGED_PREDICTIONS, RELEVANCE_PREDICTIONS
from mirage.schema import REFERENCE
from mirage.stages import features, judge
from mirage.stages.features.stage import FEATURES, measurable_in, need_system
from mirage.stages.generate.baselines import TEMPLATE
from mirage.stages.generate.settings import GenerateSettings
from mirage.stages.generate.stage import (
    BASELINES,
    BASELINES_OVER,
    generate_answers,
    plan_generating,
    whole_system,
)
from mirage.stages.judge.stage import BattleSample, JudgeSettings, judge_arena_by_features, judge_by_model, plan_judging
from mirage.stages.nuggets.stage import TERM_ASSIGNMENTS
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.stages.retrieve.stage import RETRIEVE, RetrieveSettings, retrieve
from mirage.stages.shown import GIVEN, retrievers
from mirage.stages.stage import Progress, Stage, run
from mirage.store import ledger_path

_T = TypeVar("_T")
Left = str
"""Remaining work; empty if there is none."""


@dataclass(frozen=True)
class RunModel:
    """A model for a run."""

    model: llm.ChatModel
    """The model that grades and judges, with its service; needs none if nothing is sent."""
    answering: llm.Settings | None = None
    """Model name and sampling parameters for answering queries; None for the same as elsewhere."""
    caller: Callable[[llm.ChatModel], llm.Engine] | None = None
    """Returns the function that calls a model; None for `llm.engine_of`."""

    def engine(self, settings: llm.Settings | None = None) -> llm.Engine:
        """Return the function that calls the model, with other settings if given."""
        model = self.model if settings is None else replace(self.model, settings=settings)
        if self.caller is not None:
            return self.caller(model)
        return llm.engine_of(model, np.random.default_rng())


@dataclass(frozen=True)
class RunSettings:
    """Options of a run. Without a model it costs nothing."""

    start: str = "retrieve"
    """First stage."""
    end: str = "ratings"
    """Last stage."""
    retrievers: tuple[str, ...] = ()
    """Retrievers of end-to-end systems, besides the given passages: `bm25` over the passages of the arena is created if
    missing; others must have lists.
    """
    depth: int = 10
    """Number of a retriever's top passages shown to its systems."""
    baselines: bool = True
    """Whether the baselines also answer."""
    system: str | None = None
    """Name of the system that the model answers as; None for no answers."""
    reference: str | None = None
    """System with the reference answers; by default `reference`, if it exists."""
    judge: str = judge.HEURISTIC
    """The judge: `heuristic`, or the model's name as a judge."""
    sample: BattleSample = field(default_factory=BattleSample)
    """The battles to judge."""
    draws: int = DRAWS
    """Bootstrap draws of the ratings."""
    seed: int = SEED
    """Seed of the draws."""
    model: RunModel | None = None
    """Model that answers, grades features, and judges."""
    executor: Executor | None = None
    """Runs features without a model; None to run here."""


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
    """Name; a stage has several steps for several systems, judges or referees."""
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


BM25 = "bm25"
"""Retriever that a run can create."""


def _retrieve(this: _Run) -> Iterator[Step]:
    """Return the step of BM25 over the arena's passages; lists of that name but another origin are kept."""
    if BM25 not in this.wanted.retrievers:
        idle = partial(_idle, this.path)
        yield Step("retrieve", "retrieve", ("queries",), "retrieved", idle, off="BM25 is not named")
        return
    options, name = RetrieveSettings(BM25), f"retrieve {BM25}"
    arena = store.open_arena(this.path)
    notes = arena.manifest["made"]["retrieved"]["notes"] if "retrieved" in arena.tables else []
    foreign = BM25 in retrievers(arena) and options.note() not in notes

    def work() -> StepResult:
        update, executor = this.progress(name), this.wanted.executor
        arena = retrieve(this.path, options, made_by=this.made_by, progress=update, executor=executor, step=name)
        return StepResult(arena)

    off = "its lists were imported or made differently, and stay" if foreign else ""
    yield Step("retrieve", name, ("queries", "passages"), "retrieved", work, {}, RETRIEVE.version, off=off)


def _baselines(this: _Run) -> Iterator[Step]:
    planned = [this.stage("baselines", BASELINES, "baselines", part="system")]
    options: dict[str, Any] = {"part": "system", "depth": this.wanted.depth}
    for retriever in this.wanted.retrievers:
        step = this.stage("baselines", BASELINES_OVER, f"baselines over {retriever}", retriever=retriever, **options)
        reads = BASELINES_OVER.tables(store.open_arena(this.path))
        planned.append(replace(step, reads=reads, work=_with_lists(this.path, retriever, step.work)))
    for step in planned:
        yield step if this.wanted.baselines else replace(step, off="not asked for")


def _with_lists(path: Path, retriever: str | None, work: Callable[[], _T]) -> Callable[[], _T]:
    """Wrap work on a retriever's lists in a check that they exist; None is the given passages."""

    def check_and_work() -> _T:
        arena = store.open_arena(path)
        if retriever is not None:
            arena.need("retrieved")
            if retriever not in retrievers(arena):
                raise NotEnoughData(f"{retriever} has no results", do=arena.command("retrieved"))
        return work()

    return check_and_work


def _generate(this: _Run) -> Iterator[Step]:
    system, model = this.wanted.system, this.wanted.model
    if system is None or model is None:
        idle = partial(_idle, this.path)
        yield Step("generate", "generate", ("queries",), "answers", idle, off="no system is named")
        return
    yield _generate_from(this, system, model, None)
    for retriever in this.wanted.retrievers:
        yield _generate_from(this, whole_system(system, retriever), model, retriever)


def _generate_from(this: _Run, system: str, answer_model: RunModel, retriever: str | None) -> Step:
    """Return the step that answers from one retriever's passages; None for the given passages."""
    name = f"generate {system}"
    template = prompts.load_template(TEMPLATE)
    model = answer_model.answering or answer_model.model.settings
    limits = answer_model.model.limits
    depth = None if retriever is None else this.wanted.depth
    tokens = llm.tokens_of(model.model)
    settings = GenerateSettings(system, template, model, tokens, this.wanted.seed, retriever=retriever, depth=depth)

    def work() -> StepResult:
        update = this.progress(name)

        def on_reply(cost: llm.Cost, of: int) -> None:
            update(cost.calls + cost.kept + cost.failed, of)

        result = generate_answers(
            this.path,
            settings,
            engine=answer_model.engine(model),
            limits=limits,
            made_by=this.made_by,
            on_reply=on_reply,
            step=name,
        )
        counts = sum(result.counts.values(), Counter[str]())
        return StepResult(result.arena, result.cost, _note_rest(counts["api_error"], counts["not asked"], "queries"))

    def plan() -> llm.Cost:
        return plan_generating(this.path, settings, limits=limits)

    options = {"template": template.name, "seed": settings.seed, **llm.parameters(model)}
    reads: tuple[str, ...] = ("queries", "passages")
    if retriever is not None:
        options |= {"retriever": retriever, "depth": depth}
        reads = BASELINES_OVER.tables(store.open_arena(this.path))
    lists = partial(_with_lists, this.path, retriever)
    return Step("generate", name, reads, "answers", lists(work), options, plan=lists(plan))


def _outcomes(this: _Run) -> Iterator[Step]:
    yield this.stage("outcomes", OUTCOMES, "outcomes", part=None)


def _nuggets(this: _Run) -> Iterator[Step]:
    step = this.stage("nuggets", TERM_ASSIGNMENTS, "nuggets by terms", part="assigner")
    arena = store.open_arena(this.path)
    reads = TERM_ASSIGNMENTS.tables(arena)
    yield replace(step, reads=reads, off="" if "nuggets" in arena.tables else "there are no nuggets")


def _features(this: _Run) -> Iterator[Step]:
    reference = this.wanted.reference or _reference(this.path)
    tools = features.Tools(reference=reference)
    arena = store.open_arena(this.path)
    free, lacking = measurable_in(arena, tools)

    def measure() -> StepResult:
        need_system(store.open_arena(this.path), reference)
        alone = replace(tools, part=this.wanted.executor is not None)
        options: dict[str, Any] = {"only": free, "tools": alone, "progress": this.progress("features")}
        options["executor"] = this.wanted.executor
        return StepResult(run(FEATURES, this.path, made_by=this.made_by, part="feature", step="features", **options))

    decides = {"features": free, "reference": reference}
    reads = FEATURES.tables(arena)
    yield Step(
        "features", "features", reads, "features", measure, decides, FEATURES.version, without=_lacking(lacking, arena)
    )
    if this.wanted.model is not None:
        yield _grade(this, this.wanted.model, reference)


def _grade(this: _Run, grading_model: RunModel, reference: str | None) -> Step:
    """Return the step of the features graded by a chat model."""
    model = grading_model.model
    name = f"features graded by {model.settings.model}"

    arena = store.open_arena(this.path)
    free = set(measurable_in(arena, features.Tools(reference=reference))[0])

    def with_tools(grade: Any) -> dict[str, Any]:
        tools = features.Tools(reference=reference, grade=grade)
        return {"tools": tools, "only": sorted(set(measurable_in(arena, tools)[0]) - free)}

    def work() -> StepResult:
        replies, update, engine = list[llm.Reply | None](), this.progress(name), grading_model.engine()
        with store.Ledger(ledger_path(this.path)) as ledger:

            def grade(conversations: Sequence[llm.Messages]) -> list[llm.Reply | None]:
                counter = iter(range(1, len(conversations) + 1))
                total = len(conversations)
                replies.extend(
                    engine(conversations, ledger=ledger, on_reply=lambda _number, _reply: update(next(counter), total))
                )
                return replies

            graded = run(FEATURES, this.path, made_by=this.made_by, part="feature", step=name, **with_tools(grade))
        failed = sum(reply is not None and reply.status == "api_error" for reply in replies)
        return StepResult(graded, llm.spent(replies, model.limits), _note_rest(failed, replies.count(None), "grades"))

    def plan() -> llm.Cost:
        requests: list[llm.Messages] = []

        def grade(conversations: Sequence[llm.Messages]) -> list[None]:
            requests.extend(conversations)
            return [None] * len(conversations)

        FEATURES.run({table: arena.read(table) for table in FEATURES.tables(arena)}, **with_tools(grade))
        return llm.plan_calls(this.path, requests, model)

    options = {"reference": reference, **llm.parameters(model.settings)}
    measurable, lacking = measurable_in(arena, features.Tools(reference=reference, grade=lambda _: []))
    absent = _lacking(sorted(set(lacking) - free), arena)
    return Step(
        "features",
        name,
        FEATURES.tables(arena),
        "features",
        work,
        options,
        FEATURES.version,
        plan,
        off="" if set(measurable) - free else absent,
        without=absent,
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
    yield this.stage("ratings", RELEVANCE_RATINGS, f"ratings by {RELEVANCE}", part="referee", **options)
    judge_name = this.wanted.judge
    yield this.stage("ratings", JUDGED_RATINGS, f"ratings by {judge_name}", part="referee", judge=judge_name, **options)


def _surrogate(this: _Run) -> Iterator[Step]:
    options: dict[str, Any] = {"part": "referee", "seed": surrogate.SEED}
    skills = list(get_args(schema.Skill))
    referees = RELEVANCE, this.wanted.judge
    yield this.stage("surrogate", RELEVANCE_PREDICTIONS, f"predictions by {referees[0]}", skills=skills, **options)
    yield this.stage("surrogate", JUDGED_PREDICTIONS, f"predictions by {referees[1]}", referee=referees[1], **options)


_STAGES: dict[str, Callable[[_Run], Iterator[Step]]] = {
    "retrieve": _retrieve,
    "baselines": _baselines,
    "generate": _generate,
    "outcomes": _outcomes,
    "nuggets": _nuggets,
    "features": _features,
    "judge": _judge,
    "ratings": _ratings,
    "surrogate": _surrogate,
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


def need_retrievers(arena: store.Arena, names: Sequence[str]) -> None:
    """Check that a run has or can create the lists of its retrievers.

    Raises:
        UnknownName: if there is no such retriever.
    """
    known = {BM25, *retrievers(arena)}
    for name in names:
        if name not in known or name == GIVEN:
            raise UnknownName("retriever", name, sorted(known), where=arena.address)


def _reference(path: Path) -> str | None:
    """Return the name of the system `reference`, if the arena has its answers."""

    def find(arena: store.Arena) -> str | None:
        if "answers" not in arena.tables:
            return None
        rows = arena.sql("SELECT count(*) AS n FROM answers WHERE system = ?", [REFERENCE])
        return REFERENCE if rows["n"][0].as_py() else None

    return store.consistently(path, find)


def _idle(path: Path) -> StepResult:
    """Do nothing."""
    return StepResult(store.open_arena(path))


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
