"""Judging an arena: sampling battles, deciding them by a model or by features, and storing the verdicts."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.battles.judge import HEURISTIC, judges_alone
from mirage.battles.verdict_rows import OF_KNOWN
from mirage.errors import BadInput
from mirage.llm import calls as llm_calls
from mirage.llm.asking import ArenaCalls, Replies
from mirage.llm.calls import ChatModel, Cost, Limits, Settings
from mirage.llm.engines.shards import Shard
from mirage.schema import QueryKey, Tables
from mirage.stages.judge.criteria import PLANTED, Criterion, load_criterion
from mirage.stages.judge.heuristic import MARGIN, WEIGHTS, judge_by_features
from mirage.stages.judge.pairs import (
    OrderedPair,
    answering_systems,
    choose_answers,
    choose_known,
    choose_pairs,
    listed_pairs,
)
from mirage.stages.judge.prompt import Plant, Prompts, judgeable
from mirage.stages.judge.stats import JudgeStats, judge_stats
from mirage.stages.judge.verdict import answers_of, read_points, read_verdicts
from mirage.stages.model_stage import ModelResult, ModelStage, read_tables
from mirage.stages.stage import Stage
from mirage.stats.rows import group, read_rows
from mirage.store.arena import Arena, open_arena
from mirage.store.ledger import Ledger, kept_ledger, ledger_key
from mirage.store.runs import settings_of
from mirage.store.upsert import NewRows, Snapshot, read_consistently, retry_outdated, upsert
from mirage.store.writing import Provenance


@dataclass(frozen=True, slots=True)
class BattleSample:
    """The battles of an arena to judge (`mirage.stages.judge.choose_pairs`); by default all."""

    queries: int | None = None
    """Queries per language."""
    pairs: int | None = None
    """Pairs of answers per language, each judged in both orders."""
    seed: int = 0
    """Seed of the sample."""
    languages: Sequence[str] | None = None
    """Codes; None for all."""
    battles: Sequence[OrderedPair] | None = None
    """Exactly these battles, in both orders; the options above are then ignored."""
    known: bool = False
    """Only known-answer pairs (`mirage.stages.judge.choose_known`); the verdicts then test the judge and cannot rank
    systems.
    """

    def owner(self, judge_name: str) -> str:
        """Return the judge name under which verdicts on these battles are stored."""
        return f"{OF_KNOWN}{judge_name}" if self.known else judge_name


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Settings for judging battles by a model."""

    judge: str
    """Name of the judge, under which its verdicts are stored."""
    sample: BattleSample = field(default_factory=BattleSample)
    """The battles to judge."""
    replace: bool = False
    """Whether to judge again battles that have verdicts or cached replies. An interrupted run resumes with the replies
    it already has.
    """
    criterion: Criterion = field(default_factory=load_criterion)
    """Criterion and prompt of the judge."""
    planted: bool = False
    """Whether to judge known-answer pairs whose wrong answer carries a verdict in its own favour, to test whether an
    answer can steer the judge.
    """
    repeat: int = 0
    """Number of these verdicts among several of the judge on the same battles; 0 is the first."""

    @property
    def owner(self) -> str:
        """The judge name under which verdicts on these battles are stored."""
        name = self.criterion.judge_name(self.judge)
        return self.battles.owner(f"{name}: {PLANTED}" if self.planted else name)

    @property
    def battles(self) -> BattleSample:
        """The battles to judge: for planted cases, known-answer pairs."""
        return replace(self.sample, known=True) if self.planted else self.sample

    @property
    def scored(self) -> bool:
        """True if the points are scores of unchanged answers; a planted verdict changes an answer."""
        plain = self.owner == self.criterion.judge_name(self.judge)
        return self.criterion.points is not None and plain and not self.repeat


def refuse_choices(mode: str, **given: object) -> None:
    """Raise if options conflict with a mode that chooses the battles itself.

    Args:
        mode: the option of the mode.
        given: the options that choose or repeat battles; those that are set are refused.

    Raises:
        BadInput: naming the options to omit.
    """
    if names := ", ".join(name for name, value in given.items() if value):
        raise BadInput(f"{mode} chooses the battles itself, and cannot be combined with {names}", do=f"omit {names}")


Asked = tuple[list[OrderedPair], Prompts]
"""Battles, and their prompts: one for each battle, or with points one for each answer."""


@dataclass(frozen=True)
class _Judging(ModelStage[Asked, ModelResult]):
    """Judging battles of an arena by a model."""

    settings: JudgeSettings
    model: Settings

    @property
    def subject(self) -> str:
        return self.settings.owner

    @property
    def replaces(self) -> bool:
        return self.settings.replace

    def made_with(self, _asked: Asked, settings: Settings) -> dict[str, Any]:
        criterion = self.settings.criterion
        scale = {} if criterion.points is None else {"points": list(criterion.points)}
        return {**llm_calls.parameters(settings), "criterion": criterion.name, "prompt": criterion.prompt, **scale}

    def read(self, arena: Arena) -> Snapshot:
        if self.settings.judge == HEURISTIC:
            raise BadInput(
                f"{HEURISTIC} is the name of the judge without a model",
                do="give the judge another name, or omit --model",
            )
        return _seen(arena, self.settings.battles)

    def requests(self, seen: Snapshot, _ledger: Ledger | None) -> tuple[Prompts, Asked]:
        asked = _battles(seen.tables, self.settings.battles, self.settings)
        return asked[1], asked

    def check(self, arena: Arena, asked: Asked, ledger: Ledger | None) -> None:
        if ledger is not None and "judgments" in arena.tables:
            self._refuse_another(arena, ledger, asked[0] if self.settings.replace else ())
        if self.settings.scored and "scores" in arena.tables:
            self._refuse_other_scores(arena, asked)

    def _refuse_another(self, arena: Arena, ledger: Ledger, again: Sequence[OrderedPair]) -> None:
        """Raise if verdicts of two models, services, parameters or prompts would share one judge's name.

        Checking one verdict is enough, since no other kind is ever stored. Battles to judge again do not count.
        """
        table = arena.read("judgments", columns=(*OrderedPair._fields, "judge", "call", "prompt"))
        own = read_rows(table.filter(pc.equal(table["judge"], self.subject)), *OrderedPair._fields, "call", "prompt")
        replaced = set(again)
        stored = next((row for row in own if row[:4] not in replaced), None)
        if stored is None:
            return
        before, now, prompt = {}, self.model.request([]), self.settings.criterion.prompt
        if stored[4] is not None:
            before = ledger.request(stored[4]) or now
        changed = [key for key in sorted({*before, *now} - {"messages", "again"}) if before.get(key) != now.get(key)]
        if stored[4] is None:
            found, name = "that were imported", "this judge another name with --judge"
        elif changed:
            found = "with " + ", ".join(f"{key} {before.get(key)}" for key in changed)
            name = "this judge another name with --judge"
        elif stored[5] != prompt:
            found = f"with another prompt ({stored[5]}, now {prompt})"
            name = "the criterion another name"
        else:
            return
        raise BadInput(
            f"{self.subject} has verdicts {found}",
            where=arena.address,
            do=f"give {name}, or redo all its verdicts with --replace",
        )

    def _refuse_other_scores(self, arena: Arena, asked: Asked) -> None:
        """Raise if scores of two scales or prompts would share one name."""
        name, points = self.settings.criterion.name, self.settings.criterion.points or (0, 0)
        sql = (
            "SELECT DISTINCT rater, low, high FROM scores WHERE measure = ? AND rater <> ? "
            "AND (low IS DISTINCT FROM ? OR high IS DISTINCT FROM ?) ORDER BY ALL"
        )
        for row in arena.sql(sql, [name, self.subject, *points]).to_pylist():
            ends = "an unknown scale" if row["low"] is None else f"a scale from {row['low']:g} to {row['high']:g}"
            raise BadInput(
                f"{row['rater']} has scores by {name} on {ends}, not from {points[0]} to {points[1]}",
                where=arena.address,
                do="give the criterion another name",
            )
        if not self.settings.replace and self._differ(arena, asked):
            raise BadInput(
                f"{self.subject} has scores with another prompt, model or parameters",
                where=arena.address,
                do="give the criterion or the judge another name, or redo all its scores with --replace",
            )

    def _differ(self, arena: Arena, asked: Asked) -> bool:
        """Return whether the judge's scores in an arena are by another prompt, model or parameters."""
        made = json.loads(json.dumps(self.made_with(asked, self.model)))
        return settings_of(arena, "scores", self.subject) not in (None, made)

    @property
    def _owner(self) -> str:
        """Name under which the ledger counts the judge's replacements: a system may have the judge's name."""
        return f"judge {self.subject}"

    def scope(self, asked: Asked) -> tuple[str, str]:
        battles = ledger_key({"battles": sorted(asked[0])})
        return self._owner, f"{llm_calls.describe(llm_calls.parameters(self.model))}; {battles}"

    def repetition(self, _asked: Asked, number: int) -> dict[str, Any]:
        """Return the repetition of calls after some replacements of the verdicts, and the earlier ones whose replies
        also count: a replacement may have covered only a few battles.
        """
        repeat = self.settings.repeat
        of_repeat = f" repeat {repeat}" if repeat else ""
        names = [f"{self._owner} {n}{of_repeat}" if n or repeat else None for n in range(number, -1, -1)]
        return {"again": names[0], "earlier": () if self.settings.replace else names[1:]}

    def results(
        self, asked: Asked, replies: Replies, seen: Snapshot, _ledger: Ledger
    ) -> tuple[dict[str, NewRows], ModelResult]:
        settings, name, (battles, prompts) = self.settings, self.subject, asked
        tables: dict[str, NewRows] = {}
        if settings.criterion.points is None:
            judged = read_verdicts(battles, prompts, replies, name)
        else:
            judged, scores = read_points(battles, prompts, replies, name, settings.criterion)
            if settings.scored:
                tables["scores"] = NewRows(scores, self._replaced_scores(asked, seen.arena))
        criterion, repeat = settings.criterion.name, settings.repeat or None
        made = [replace(j, criterion=criterion, prompt=settings.criterion.prompt, repeat=repeat) for j in judged]
        judgments = schema.from_rows("judgments", made)
        # Repeats of these battles stay, unless all verdicts on them are replaced.
        of_repeat = () if settings.replace and not settings.repeat else ("repeat",)
        columns = dict(zip(OrderedPair._fields, zip(*battles, strict=True), strict=True))
        columns |= {"judge": (name,) * len(battles), "repeat": (repeat,) * len(battles)}
        of_battles = schema.from_columns("judgments", columns).select([*schema.BATTLE, *of_repeat])
        rows = NewRows(judgments, of_battles)
        result = ModelResult(judgments, dict(replies.reasons), replies.unasked, {}, replies.cost)
        return tables | _tables(seen.arena, rows), result

    def _replaced_scores(self, asked: Asked, arena: Arena) -> pa.Table:
        """Return the keys of the scores to replace: those of the answers, and all that were made in another way."""
        names = {"measure": self.settings.criterion.name, "rater": self.subject}
        answers = [
            schema.Score(*answer[:3], **names, person=False, value=None, low=None, high=None, reason=None)
            for answer in answers_of(asked[0])
        ]
        keys = [*names] if self._differ(arena, asked) else schema.key("scores")
        return schema.from_rows("scores", answers).select(keys)


def plan_judging(path: Path, settings: JudgeSettings, model: ChatModel) -> Cost:
    """Estimate the maximum cost of judging without sending or writing anything; raises as `ModelStage.plan` does."""
    return _Judging(settings, model.settings).plan(path, model)


def judge_by_model(
    path: Path, settings: JudgeSettings, calls: ArenaCalls, *, step: str | None = None
) -> tuple[Arena, ModelResult]:
    """Judge the answers of an arena by a model.

    Its verdicts replace its earlier ones on the same battles; its other verdicts and those of other judges are kept.

    Args:
        path: the arena's folder.
        settings: judge and battles.
        calls: the model.
        step: the step of a run (`store.upsert`).

    Returns:
        The arena, and one verdict for every battle with a reply, parsed or not. A failed call has no row: a later run
        retries it.

    Raises:
        BadInput: if the name is the heuristic judge's, or has verdicts by another model or other parameters.
        ArenaError: if the arena lacks queries, passages or answers, or cannot be written.
        NotEnoughData: if there is nothing to judge.
        Unreachable: if the service rejects what every call needs, or no call got a reply.
    """
    return _Judging(settings, calls.model.settings).run(path, calls, step=step)


def of_shard(whole: Path, sample: BattleSample, shard: Shard, *, by_features: bool) -> BattleSample:
    """Restrict a sample to a shard's queries, so that all shards together judge the sample of the whole arena.

    Args:
        whole: folder of the sharded arena.
        sample: battles to judge there.
        shard: the shard.
        by_features: whether the heuristic judge is used, which needs no texts.

    Raises:
        ArenaError: if the arena lacks queries, passages or answers.
        NotEnoughData: if there is nothing to judge.
    """

    def read(arena: Arena) -> list[OrderedPair]:
        if by_features:
            answers = {"answers": arena.read("answers", languages=sample.languages)}
            return _choose(_with_outcomes(arena, answers) if sample.known else answers, sample)
        return _battles(_seen(arena, sample).tables, sample)[0]

    battles = read_consistently(whole, read)
    own = [battle for battle in battles if shard.has(battle.language, battle.query_id)]
    return BattleSample(battles=own, known=sample.known)


def judge_arena_by_features(path: Path, *, sample: BattleSample, made_by: str, step: str | None = None) -> Arena:
    """Judge an arena's answers by the heuristic judge. Its verdicts replace all its earlier ones; with a list of
    battles, those on the list.

    Raises:
        ArenaError: if the arena lacks answers or features, or cannot be written.
        NotEnoughData: if there is nothing to judge.
    """
    name = sample.owner(HEURISTIC)
    made = {"weights": {weight.feature: weight.weight for weight in WEIGHTS}, "margin": MARGIN}

    def read(arena: Arena) -> Snapshot:
        columns = ["language", "query_id", "system", "status"]
        answers = arena.read("answers", columns=columns, languages=sample.languages)
        tables = {"features": arena.read("features"), "answers": answers}
        return Snapshot(arena, _with_outcomes(arena, tables) if sample.known else tables)

    def make() -> Arena:
        seen = read_consistently(path, read)
        judgments = judge_by_features(_choose(seen.tables, sample), seen.tables["features"], name=name)
        replaced = pa.table({"judge": [name]}) if sample.battles is None else judgments.select(list(schema.BATTLE))
        rows = NewRows(judgments, replaced)
        tables = _tables(seen.arena, rows)
        if not tables:
            return seen.arena
        by = Provenance(made_by, settings={name: made} if len(rows.new) else {}, step=step)
        return upsert(path, tables, made_by=by, seen=seen).arena

    return retry_outdated(make)


def judge_statistics(path: Path, *, limits: Limits | None = None) -> list[JudgeStats]:
    """Return the statistics of every judge of an arena, and the cost of its calls.

    Args:
        path: the arena's folder.
        limits: prices; without them costs are null.

    Raises:
        ArenaError: if the arena lacks judgments.
    """
    arena = open_arena(path)
    names = ("language", "query_id", "judge", "system_a", "system_b", "verdict", "call")
    judgments = arena.read("judgments", columns=names, encoded=names[:-1])
    with kept_ledger(path) as ledger:
        return judge_stats(judgments, ledger, limits, judges_alone(arena))


def _seen(arena: Arena, sample: BattleSample) -> Snapshot:
    """Return a snapshot of the tables that judging by a model reads."""
    languages = sample.languages if sample.battles is None else sorted({battle.language for battle in sample.battles})
    if "retrieved" not in arena.tables:
        arena.need("passages")
    seen = read_tables(arena, ("queries", "answers"), ("turns", "passages", "retrieved"), languages)
    return Snapshot(arena, _with_outcomes(arena, seen.tables)) if sample.known else seen


def _with_outcomes(arena: Arena, tables: Tables) -> dict[str, pa.Table]:
    """Add the outcomes by relevance labels with the strict parser; no rows if the arena has none."""
    outcomes = arena.read_optional("outcomes")
    rows = schema.arrow_schema("outcomes").empty_table() if outcomes is None else outcomes
    return {**tables, "outcomes": rows.filter(pc.equal(rows["parser"], "strict"))}


def _battles(
    tables: Tables, sample: BattleSample, settings: JudgeSettings | None = None
) -> tuple[list[OrderedPair], Prompts]:
    """Return the sampled battles and their prompts; with points and a single system, its answers."""
    tables = {"passages": schema.arrow_schema("passages").empty_table(), **tables}
    among = judgeable(tables["queries"], tables["passages"], tables.get("retrieved"))
    criterion = load_criterion() if settings is None else settings.criterion
    of_pairs = criterion.points is None or sample.known or sample.battles is not None or sample.pairs is not None
    battles = ([] if of_pairs else _choose_alone(tables, sample, among)) or _choose(tables, sample, among)
    shown = {name: table for name, table in tables.items() if name != "outcomes"}
    most = None if criterion.points is None else criterion.points[1]
    plant = Plant(_wrong(tables["outcomes"]), most) if settings and settings.planted else None
    asked = battles if criterion.points is None else answers_of(battles)
    return battles, Prompts(asked, **shown, criterion=criterion, plant=plant)


def _choose_alone(tables: Tables, sample: BattleSample, among: Collection[QueryKey]) -> list[OrderedPair]:
    """Return the sampled answers of an arena in which no two answer the same query; none in another."""
    answers = tables["answers"]
    if any(answering_systems(answers, among).values()):
        return []
    return choose_answers(answers, queries=sample.queries, seed=sample.seed, among=among)


def _wrong(outcomes: pa.Table) -> dict[QueryKey, list[str]]:
    """Return the systems with a wrong decision, by language and query."""
    rows = read_rows(outcomes, "language", "query_id", "system", "correct")
    return group(((language, query), system) for language, query, system, correct in rows if correct is False)


def _choose(tables: Tables, sample: BattleSample, among: Collection[QueryKey] | None = None) -> list[OrderedPair]:
    """Return the listed battles, or the sampled ones."""
    if sample.battles is not None:
        return listed_pairs(tables["answers"], sample.battles, among=among)
    choose = partial(choose_known, outcomes=tables["outcomes"]) if sample.known else choose_pairs
    return choose(tables["answers"], queries=sample.queries, pairs=sample.pairs, seed=sample.seed, among=among)


def _tables(arena: Arena, rows: NewRows) -> dict[str, NewRows]:
    """Return the rows to write, by table.

    Verdicts on the requested battles are removed even without a new verdict: they were on other texts, or the ledger
    would have the reply.
    """
    return {"judgments": rows} if len(rows.new) or "judgments" in arena.tables else {}


def _heuristic(tables: Tables) -> dict[str, pa.Table]:
    return {"judgments": judge_by_features(choose_pairs(tables["answers"]), tables["features"])}


HEURISTIC_JUDGMENTS = Stage("judgments by the heuristic judge", ("answers", "features"), ("judgments",), _heuristic)
"""Stage that judges every pair of answers by features."""
