"""All steps in their order, each skipped while what it was made from is the same."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from commands import mirage
from misbehaving import Act, Call, Service, error, reply
from run_cases import few, ran
from sample_source import read_sample

from mirage import schema
from mirage.errors import ArenaError
from mirage.llm import presets
from mirage.llm.calls import ChatModel, Limits, Settings
from mirage.pipeline import steps
from mirage.pipeline.steps import RunModel, StepReport, Steps
from mirage.stages.judge.stage import BattleSample
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.store import arena as arenas
from mirage.store import runs, writing
from mirage.store.arena import open_arena
from mirage.store.runs import record_run

SOURCE = Path(__file__).resolve().parents[2] / "data" / "sample" / "source"
EVERY = [
    "baselines",
    "outcomes",
    "features",
    "judge heuristic",
    "ratings by relevance",
    "ratings by heuristic",
]
IDLE = {"nuggets by terms"}


@pytest.fixture(scope="module")
def ready(module_path: Path) -> Path:
    """An arena of answerable queries alone, which the heuristic can decide, after a whole run."""
    path = module_path / "arena"
    writing.write(path, few(read_sample(SOURCE), n=2), made_by="a test")
    assert [(d.step, d.state) for d in done(path)] == [(step, "ran") for step in EVERY]
    return path


@pytest.fixture
def arena(ready: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    import shutil

    return Path(shutil.copytree(ready, tmp_path / "arena"))


def done(
    path: Path,
    judge: str = "heuristic",
    model: RunModel | None = None,
    *,
    baselines: bool = True,
    seed: int = 0,
) -> list[StepReport]:
    """What all steps did, but for nuggets that are not there."""
    every = Steps(path, "a test")
    results = [*every.measure(baselines=baselines), every.judge(judge, BattleSample(), model)]
    results += every.rate(judge, draws=20, seed=seed)
    return [result for result in results if result.step not in IDLE]


def change(path: Path, table: str, edit: Any, made_by: str = "another command") -> None:
    """Write a table anew with its first row changed, as a command that knows of no run does."""
    old = open_arena(path).read(table)
    rows = old.to_pylist()
    edit(rows)
    columns = {name: [row[name] for row in rows] for name in old.column_names}
    writing.write(path, {table: schema.from_columns(table, columns)}, made_by=made_by)


def test_a_second_run_skips_everything_and_says_why(ready: Path) -> None:
    before = open_arena(ready).version
    repeated = done(ready)
    assert [(d.step, d.state, d.why) for d in repeated] == [(step, "skipped", "up to date") for step in EVERY]
    assert all(d.seconds == 0 and d.cost is None for d in repeated)
    assert open_arena(ready).version == before


def test_a_run_makes_every_table(ready: Path) -> None:
    arena = open_arena(ready)
    assert set(arena.tables) == {"queries", "passages", "answers", "outcomes", "features", "judgments", "ratings"}
    assert set(pc.unique(arena.read("ratings")["judge"]).to_pylist()) == {"relevance", "heuristic"}
    measured = pc.unique(arena.read("features")["feature"]).to_pylist()
    assert "answer_rougeL" in measured, "the system called reference is the reference"
    assert "fluency_score" not in measured, "no model was named"
    assert arenas.check(arena)


def test_a_changed_answer_runs_again_all_that_depends_on_answers_and_no_more(arena: Path) -> None:
    def edit(rows: list[dict[str, Any]]) -> None:
        row = next(row for row in rows if row["system"] == "reference")
        row["text"] = "##Reason: nothing. ##Answer: Something else entirely."

    change(arena, "answers", edit)
    results = {d.step: d for d in done(arena, baselines=False)}
    assert ran(list(results.values())) == EVERY[1:]
    assert results["outcomes"].why == "answers changed"
    assert "baselines" not in results


def test_changed_features_run_again_the_judge_that_weighs_them_and_the_ratings(arena: Path) -> None:
    def edit(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if row["feature"] == "target_language" and row["system"] == "baseline/bm25-3":
                row["value"] = 0.0

    change(arena, "features", edit)
    steps_ = Steps(arena, "a test")
    results = [steps_.judge("heuristic", BattleSample()), *steps_.rate("heuristic", draws=20, seed=0)]
    assert ran(results) == EVERY[3:]
    # All ratings are one table, which goes with the verdicts that some of them were made from.
    assert [d.why for d in results] == [
        "features changed",
        "there is no ratings table",
        "no record of this step for the ratings",
    ]


def test_a_new_judge_runs_again_no_other_judge_and_nothing_before(arena: Path) -> None:
    rows = [schema.Judgment("en", "en-01", "someone", "reference", "baseline/abstain", "A", None, None, None)]
    old = open_arena(arena).read("judgments")
    before = runs.runs(open_arena(arena), "judgments")
    new = pa.concat_tables([old, schema.from_rows("judgments", rows)])
    writing.write(arena, {"judgments": new}, made_by="another command")
    for step, record in before.items():
        record_run(arena, "judgments", step, record, left=runs.content(open_arena(arena), "judgments"))
    results = done(arena)
    assert ran(results) == ["ratings by heuristic"]
    assert results[-1].why == "judgments changed"


def test_other_options_and_a_new_version_run_a_stage_again(arena: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = done(arena, seed=1)
    assert [(d.step, d.why) for d in results if d.state == "ran"] == [
        ("ratings by relevance", "changed options: seed"),
        ("ratings by heuristic", "changed options: seed"),
    ]
    monkeypatch.setattr(steps, "OUTCOMES", replace(OUTCOMES, version=OUTCOMES.version + 1))
    results = done(arena, seed=1)
    assert [(d.step, d.why) for d in results if d.state == "ran"] == [("outcomes", "new version of the stage")]
    assert ran(done(arena, seed=1)) == []


def test_a_step_without_what_it_needs_is_skipped_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="there is no arena"):
        done(tmp_path / "none")
    tables = few(read_sample(SOURCE), "en")
    only = writing.write(tmp_path / "arena", {"queries": tables["queries"]}, made_by="a test")
    results = done(only.path)
    assert {d.state for d in results} == {"skipped"}
    assert results[0].why.startswith("this arena has no passages;")
    assert "mirage import" in results[0].why
    complete = writing.write(tmp_path / "one", tables, made_by="a test")
    results = done(complete.path, baselines=False)
    judge_step = next(d for d in results if d.step == "judge heuristic")
    assert judge_step.state == "skipped"
    assert judge_step.why


def test_a_cost_is_told_before_anything_is_sent(arena: Path) -> None:
    before = open_arena(arena).version
    model = RunModel(ChatModel(Settings("m")))
    cost = Steps(arena, "a test").judging_cost("m", BattleSample(), model)
    assert open_arena(arena).version == before
    # Some answers are the same, word for word: what is asked of them is asked once.
    assert cost.calls + cost.kept == open_arena(arena).rows("judgments")


def by_model(service: Service, **limits: Any) -> dict[str, Any]:
    settings = Settings("m", max_tokens=50)
    call_limits = Limits(**{"retries": 0, "backoff": 0, "price_in": 1, "price_out": 2, **limits})
    model = ChatModel(settings, call_limits, presets.resolve(base_url=service.url))
    return {"model": RunModel(model), "judge": "m"}


def test_a_model_judges_once_and_its_cost_is_told(arena: Path) -> None:
    with Service(lambda call: reply("Both are fine. [[3]] [[C]]")) as service:
        options = by_model(service)
        results = {d.step: d for d in done(arena, **options)}
        assert results["judge m"].state == "ran"
        cost = results["judge m"].cost
        assert cost.calls + cost.kept == open_arena(arena).rows("judgments") / 2
        assert cost.tokens_in == 100 * cost.calls
        assert cost.money == pytest.approx(cost.calls * (100 * 1 + 20 * 2) / 1e6)
        calls = len(service.calls)
        assert ran(done(arena, **options)) == []
        assert len(service.calls) == calls
        judges = pc.unique(open_arena(arena).read("judgments")["judge"]).to_pylist()
        assert sorted(judges) == ["heuristic", "m"]


def test_what_failed_is_left_to_the_next_run(arena: Path) -> None:
    heard: list[str] = []

    def second_time(call: Call) -> Act:
        heard.append(call.content)
        return error(500) if len(heard) == 2 else reply("[[C]]")

    with Service(second_time) as service:
        options = by_model(service, concurrency=1)
        every = Steps(arena, "a test")
        first, second, third = (
            every.judge(sample=BattleSample(pairs=3), name="m", model=options["model"]) for _ in range(3)
        )
    assert first.state == "unfinished"
    assert first.why == "1 battle failed; rerun the command to resume"
    assert second.state == "ran"
    assert second.cost.calls == 1
    assert third.state == "skipped"


def test_measure_prints_every_step_with_its_reason(arena: Path) -> None:
    change(arena, "answers", lambda answers: answers[0].update(text="I do not know."))
    row = re.compile(r"^ *(outcomes|nuggets|features) .* (ran|skipped) +(\S.*?)  ", flags=re.MULTILINE)
    first, second = (row.findall(mirage("measure", arena).stdout) for _ in range(2))
    assert [(stage, state) for stage, state, _ in first] == [
        ("outcomes", "ran"),
        ("nuggets", "skipped"),
        ("features", "ran"),
    ]
    assert [state for _, state, _ in second] == ["skipped"] * 3
    assert {why for _, _, why in second} == {"up to date", "there are no nuggets"}
