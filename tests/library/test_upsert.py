"""Several programs change one arena at the same time: nothing is lost, nothing stands on a text that is gone."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from arena_writer import add_rows, make_answer, make_judgment, make_query, read_rows, write_arena
from commands import mirage, write_jsonl
from conftest import ROOT
from misbehaving import Act, Call, Service, reply

from mirage import schema
from mirage.errors import BadInput, Outdated, UnknownName
from mirage.ranking.stage import JUDGED_RATINGS
from mirage.stages.features.stage import FEATURES
from mirage.stages.outcomes.stage import OUTCOMES
from mirage.stages.stage import Stage, run
from mirage.store import arena as arenas
from mirage.store import runs
from mirage.store.arena import Arena, open_arena
from mirage.store.ledger import Ledger, ledger_path
from mirage.store.runs import record_run, settings_of
from mirage.store.systems import remove_system
from mirage.store.upsert import by_key, read_consistently, upsert
from mirage.store.writing import Provenance

QUERIES = [("en", f"q{i}") for i in range(4)]


def answers(system: str, text: str = "An answer.", *, among: list[tuple[str, str]] | None = None) -> pa.Table:
    keys = QUERIES if among is None else among
    return schema.from_rows("answers", [make_answer(*key, system, text) for key in keys])


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """Queries with passages and labels, answers of two systems, their outcomes and features, and verdicts on them."""
    queries = [make_query(*key, "relevant", f"What of {key[1]}?") for key in QUERIES]
    passages = [schema.Passage(*key, f"{key[1]}#0", 1, "Title", f"A text about {key[1]}.", True) for key in QUERIES]
    tables = {
        "queries": queries,
        "passages": passages,
        "answers": pa.concat_tables([answers("one"), answers("two")]),
        "judgments": [make_judgment(*key, "judge", "one", "two", "A") for key in QUERIES],
    }
    path = tmp_path / "arena"
    write_arena(path, tables)
    for stage in (OUTCOMES, FEATURES):
        run(stage, path, made_by="a test")
    run(JUDGED_RATINGS, path, made_by="a test", part="judge", judge="judge", draws=20)
    return path


def lines(path: Path, table: pa.Table) -> Path:
    write_jsonl(path, *table.to_pylist())
    return path


def systems(path: Path, table: str = "answers") -> set[str]:
    rows = open_arena(path).read(table)
    return {value for name in rows.column_names if name.startswith("system") for value in rows[name].to_pylist()}


def test_three_imports_at_once_keep_all_three_systems(tmp_path: Path, arena: Path) -> None:
    names = ("red", "green", "blue")
    gate = tmp_path / "go"
    code = (
        "import sys, time; from pathlib import Path; from mirage import cli, store\n"
        "import mirage.pipeline, mirage.io.imports, mirage.io.options, pyarrow.compute\n"
        "Path(sys.argv[1]).touch()\n"
        "while not Path(sys.argv[2]).exists(): time.sleep(0.001)\n"
        "cli.app(sys.argv[3:], prog_name='mirage')"
    )
    programs = []
    for name in names:
        file = lines(tmp_path / f"{name}.jsonl", answers(name))
        command = [sys.executable, "-c", code, str(tmp_path / f"{name}.ready"), str(gate)]
        programs.append(
            subprocess.Popen([*command, "import", "--as", "answers", str(file), "--into", str(arena)], cwd=ROOT)
        )
    while not all((tmp_path / f"{name}.ready").exists() for name in names):
        assert all(program.poll() is None for program in programs)
    gate.touch()
    assert [program.wait(timeout=120) for program in programs] == [0, 0, 0]
    now = open_arena(arena)
    assert systems(arena) == {"one", "two", *names}
    assert now.rows("answers") == 5 * len(QUERIES)
    assert {origin["name"] for origin in now.manifest["made"]["answers"]["from"]} == {f"{name}.jsonl" for name in names}
    assert systems(arena, "outcomes") == systems(arena, "features") == {"one", "two"}
    arenas.check(now)


def test_two_imports_into_a_folder_that_is_not_there_yet_keep_both(tmp_path: Path) -> None:
    """The second one must see the arena that the first one has made meanwhile."""
    seen: list[bool] = []

    def other(arena: Arena) -> None:
        seen.append("answers" in arena.tables)

    add_rows(tmp_path / "new", answers=answers("red"))
    upsert(tmp_path / "new", {"answers": by_key("answers", answers("blue"))}, made_by="a test", check=other)
    assert seen == [True]
    assert systems(tmp_path / "new") == {"red", "blue"}


def in_the_middle(change: Callable[[], object], then: Act | None = None) -> Callable[[Call], Act]:
    """A service during whose first call something else happens to the arena."""
    calls: list[int] = []

    def behave(_: Call) -> Act:
        calls.append(1)
        if len(calls) == 1:
            change()
        return then or reply()

    return behave


def bring(arena: Path, table: pa.Table) -> Callable[[], object]:
    return lambda: add_rows(arena, answers=table)


def test_answers_and_verdicts_that_come_while_a_model_answers_stay(arena: Path) -> None:
    verdict = make_judgment("en", "q0", "new", "one", "two", "B")

    def change() -> None:
        add_rows(arena, answers=answers("red"))
        add_rows(arena, judgments=[verdict])

    with Service(in_the_middle(change)) as service:
        mirage("generate", arena, "--system", "mine", "--model", "m", "--base-url", service.url, "--retries", "0")
    assert systems(arena) == {"one", "two", "red", "mine"}
    assert {row["judge"] for row in read_rows(arena, "judgments")} == {"judge", "new"}


def test_a_model_may_answer_two_languages_in_two_programs_under_one_name(arena: Path) -> None:
    passage = schema.Passage("fi", "q0", "q0#0", 1, "T", "Teksti.", True)
    add_rows(arena, queries=[make_query("fi", "q0", "relevant", "Mitä?")], passages=[passage])
    with Service() as service:
        common = [arena, "--system", "mine", "--model", "m", "--base-url", service.url, "--retries", "0"]
        service.behave = in_the_middle(lambda: mirage("generate", *common, "--languages", "fi"))
        mirage("generate", *common, "--languages", "en")
    system_rows = [row for row in read_rows(arena, "answers") if row["system"] == "mine"]
    assert sorted((row["language"], row["query_id"]) for row in system_rows) == sorted([*QUERIES, ("fi", "q0")])
    assert {row["status"] for row in system_rows} == {"ok"}


def test_no_verdict_is_kept_on_a_text_that_changed_while_the_judge_read_it(arena: Path) -> None:
    changed = answers("one", "Another text.", among=[("en", "q1")])
    with Service(in_the_middle(bring(arena, changed), reply("So. [[A]]"))) as service:
        mirage("judge", arena, "--judge", "late", "--model", "m", "--base-url", service.url, "--retries", "0")
    rows = [row for row in read_rows(arena, "judgments") if row["judge"] == "late"]
    assert {row["query_id"] for row in rows} == {"q0", "q2", "q3"}
    assert {row["query_id"] for row in read_rows(arena, "judgments")} == {"q0", "q2", "q3"}


def test_two_judges_under_one_name_with_two_models_are_told_apart_at_the_end_too(arena: Path) -> None:
    def other(service: Service) -> None:
        mirage("judge", arena, "--judge", "late", "--model", "m2", "--base-url", service.url, "--retries", "0")

    with Service() as service:
        service.behave = in_the_middle(lambda: other(service), reply("So. [[A]]"))
        command = ["judge", str(arena), "--judge", "late", "--model", "m1", "--base-url", service.url, "--retries", "0"]
        result = mirage(*command, code=2)
    assert "late has verdicts" in result.output
    calls = [row["call"] for row in read_rows(arena, "judgments") if row["judge"] == "late"]
    with Ledger(ledger_path(arena)) as ledger:
        assert {ledger.request(call)["model"] for call in calls} == {"m2"}  # type: ignore[index]


def test_outcomes_of_a_system_that_came_meanwhile_are_not_lost(arena: Path) -> None:
    """A stage that replaces its whole table knows only the answers that it has read."""
    stage = OUTCOMES
    calls: list[int] = []

    def slow(tables: Any) -> dict[str, pa.Table]:
        calls.append(1)
        if len(calls) == 1:
            bring(arena, answers("red"))()
            run(stage, arena, made_by="another program")
        return stage.run(tables)

    result = run(Stage("slow", stage.reads, stage.writes, slow), arena, made_by="a test")
    assert systems(arena, "outcomes") == {"one", "two", "red"}
    assert result.rows("outcomes") == 2 * 3 * len(QUERIES)


def test_ratings_made_from_verdicts_that_changed_meanwhile_are_made_again(arena: Path) -> None:
    stage = JUDGED_RATINGS
    seen: list[int] = []

    def slow(tables: Any, **options: Any) -> dict[str, pa.Table]:
        seen.append(len(tables["judgments"]))
        if len(seen) == 1:
            add_rows(arena, judgments=[make_judgment("en", "q0", "judge", "two", "one", "B")])
        return stage.run(tables, **options)

    slow_stage = Stage("slow", stage.reads, stage.writes, slow)
    run(slow_stage, arena, made_by="a test", part="judge", judge="judge", draws=20)
    assert seen == [4, 5]


def test_what_changes_at_every_attempt_is_given_up_and_nothing_is_written(arena: Path) -> None:
    def outrun(_: Any) -> dict[str, pa.Table]:
        names = len(systems(arena, "judgments"))
        row = make_judgment("en", "q0", f"judge {names}", f"s{names}", "one", "B")
        add_rows(arena, judgments=[row])
        return {"ratings": schema.arrow_schema("ratings").empty_table()}

    stage = Stage("slow", ("judgments",), ("ratings",), outrun)
    with pytest.raises(Outdated, match="judgments"):
        run(stage, arena, made_by="a test", part="judge")
    assert "ratings" not in open_arena(arena).tables


def test_what_is_refused_under_the_lock_leaves_the_arena_as_it_was(arena: Path) -> None:
    before = {path: path.read_bytes() for path in arena.rglob("*") if path.is_file() and path.name != ".lock"}

    def refuse(_: Arena) -> None:
        raise BadInput("no")

    with pytest.raises(BadInput):
        upsert(arena, {"answers": by_key("answers", answers("red"))}, made_by="a test", check=refuse)
    bad = answers("red").set_column(4, "status", pa.array(["no such status"] * len(QUERIES)))
    with pytest.raises(BadInput):
        add_rows(arena, answers=bad)
    after = {path: path.read_bytes() for path in arena.rglob("*") if path.is_file() and path.name != ".lock"}
    assert after == before


def test_a_changed_answer_takes_along_what_was_said_of_it_and_no_more(arena: Path) -> None:
    result = upsert(
        arena,
        {"answers": by_key("answers", answers("one", "Another.", among=[("en", "q1")]))},
        made_by="a test",
    )
    assert dict(result.replaced) == {"answers": 1}
    features = 1 + len({row["feature"] for row in read_rows(result.arena, "features")})
    assert result.lost["judgments"] == 1
    assert result.lost["outcomes"] == 2
    assert result.lost["features"] == features - 1
    assert "ratings" not in result.arena.tables
    keys = {(row["query_id"], row["system"]) for row in read_rows(result.arena, "outcomes")}
    assert ("q1", "one") not in keys
    assert ("q1", "two") in keys


def test_the_same_again_changes_nothing_that_was_made_of_it(arena: Path) -> None:
    before = open_arena(arena).manifest["tables"]
    result = upsert(arena, {"answers": by_key("answers", answers("one"))}, made_by="a test")
    assert result.arena.manifest["tables"] == before
    assert not result.lost


def test_settings_of_what_stays_stay_and_those_of_what_is_replaced_go(arena: Path) -> None:
    def put(system: str, seed: int) -> Arena:
        rows = {"answers": by_key("answers", answers(system))}
        return upsert(arena, rows, made_by=Provenance("a test", settings={system: {"seed": seed}})).arena

    put("red", 1)
    put("blue", 2)
    assert put("red", 3).manifest["made"]["answers"]["settings"] == {"blue": {"seed": 2}, "red": {"seed": 3}}
    assert settings_of(open_arena(arena), "answers", "green") is None


def test_the_settings_of_a_step_are_forgotten_after_a_write_by_another_program(arena: Path) -> None:
    left = runs.content(open_arena(arena), "outcomes")
    record_run(arena, "outcomes", "step", {"options": {"seed": 1}}, left=left)
    assert runs.runs(open_arena(arena), "outcomes") == {"step": {"options": {"seed": 1}}}
    add_rows(arena, answers=answers("one", "Another."))
    record_run(arena, "outcomes", "late", {"options": {"seed": 1}}, left=left)
    assert runs.runs(open_arena(arena), "outcomes") == {}


def test_a_reader_goes_on_with_the_arena_as_it_is_after_a_change(arena: Path) -> None:
    calls: list[int] = []

    def read(opened: Arena) -> int:
        calls.append(1)
        if len(calls) == 1:
            add_rows(arena, answers=answers("one", "Another."))
        return len(opened.read("answers"))

    assert read_consistently(arena, read) == 2 * len(QUERIES)
    assert len(calls) == 2


def test_a_system_is_removed_from_every_table(tmp_path: Path) -> None:
    sample = ROOT / "data" / "sample"
    arena = open_arena(shutil.copytree(sample, tmp_path / "arena"))
    system = "reference"
    others = {table: arena.rows(table) for table in ("queries", "passages")}
    answers = sum(name == system for name in arena.read("answers")["system"].to_pylist())
    done = remove_system(arena.path, system, made_by="a test")
    assert arenas.check(done.arena)
    for table in done.arena.tables:
        data = done.arena.read(table)
        for side in {"system", "system_a", "system_b"} & set(data.column_names):
            assert system not in data[side].to_pylist(), table
    assert {table: done.arena.rows(table) for table in others} == others
    assert done.rows["answers"] == answers
    orphan = arena.path / "answers" / "en-0123456789ab.parquet"
    orphan.write_bytes(b"left by a removal that was killed")
    with pytest.raises(UnknownName):
        remove_system(arena.path, system, made_by="a test")
