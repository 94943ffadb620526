"""Dates of answers: read at import, those of replies, and runs kept under their dates."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from arena_writer import write_arena
from commands import mirage as run
from commands import write_jsonl
from conftest import ROOT
from judge_cases import answers, texts
from misbehaving import Service

from mirage.errors import BadInput
from mirage.store import arena as arenas
from mirage.store.arena import open_arena
from mirage.store.ledger import Ledger, ledger_path
from mirage.store.systems import keep_run
from mirage.text.dates import today, utc_day


def dated(path: Path, day: str | None, text: str = "An answer.") -> Path:
    """A file with one system's answers to the queries of the arena, and a date if there is one."""
    records = [
        {"language": "en", "query_id": f"q{k}", "system": "mine", "text": f"{text} {k}"}
        | ({} if day is None else {"created_at": day})
        for k in range(8)
    ]
    return write_jsonl(path, *records)


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    """An arena with answers of four systems without dates."""
    path = tmp_path / "arena"
    return write_arena(path, {**texts(8), "answers": answers(("a", "b", "c", "d"), 8)}).path


def dates(path: Path, system: str) -> set[str | None]:
    """Dates of the answers of a system."""
    table = open_arena(path).read("answers", columns=["system", "run_date"]).to_pylist()
    return {row["run_date"] for row in table if row["system"] == system}


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2026-11-20", "2026-11-20"),
        ("2026-11-20T23:30:00-05:00", "2026-11-21"),
        ("2026-11-20T05:13:28Z", "2026-11-20"),
        ("2026-11-20 05:13:28", "2026-11-20"),
        (1_732_579_200, "2024-11-26"),
        ("1732579200", "2024-11-26"),
    ],
)
def test_a_date_is_a_day_in_utc(value: Any, day: str) -> None:
    assert utc_day(value) == day


@pytest.mark.parametrize("value", ["", "yesterday", "2026-13-01", "20.11.2026", "2026", 2026, None, True, [], 1e30])
def test_what_is_no_date_is_refused(value: Any) -> None:
    with pytest.raises(BadInput, match="not a date"):
        utc_day(value)


@pytest.mark.parametrize(
    ("day", "option", "expected"),
    [
        ("2026-10-01T10:00:00Z", [], "2026-10-01"),
        (None, ["--set", "run_date=2026-10-02"], "2026-10-02"),
        (None, [], None),
    ],
)
def test_an_import_keeps_the_date_that_it_is_given(
    day: str | None, option: list[str], expected: str | None, arena: Path, tmp_path: Path
) -> None:
    run("import", dated(tmp_path / "new.jsonl", day), "--into", arena, *option)
    assert dates(arena, "mine") == {expected}
    assert dates(arena, "a") == {None}


def test_rag_records_bring_their_date_and_write_it(tmp_path: Path) -> None:
    record = {"question": "Where is the light?", "contexts": ["There."], "answer": "There [1].", "system": "s"}
    file = tmp_path / "rag.jsonl"
    file.write_text(json.dumps(record | {"created_at": 1_732_579_200}) + "\n", "utf-8")
    first, second = tmp_path / "first", tmp_path / "second"
    run("import", file, "--into", first, "--set", "language=en")
    assert dates(first, "s") == {"2024-11-26"}
    run("export", "records", first, "--out", tmp_path / "out.jsonl")
    run("import", tmp_path / "out.jsonl", "--into", second)
    assert dates(second, "s") == {"2024-11-26"}


def test_a_date_that_cannot_be_read_refuses_the_file(arena: Path, tmp_path: Path) -> None:
    file = dated(tmp_path / "new.jsonl", "last week")
    assert "last week" in run("import", "--as", "answers", file, "--into", arena, code=2).output
    assert "mine" not in open_arena(arena).read("answers")["system"].to_pylist()


def test_a_generated_answer_has_the_day_of_its_reply(arena: Path) -> None:
    with Service() as service:
        command = ["generate", arena, "--system", "new", "--model", "m", "--base-url", service.url]
        run(*command)
        assert dates(arena, "new") == {today()}
        with Ledger(ledger_path(arena)) as ledger:
            calls = open_arena(arena).read("answers", columns=["call"])["call"].drop_null().to_pylist()
            assert set(ledger.days(calls).values()) == {today()}
            assert ledger.days(["unknown"]) == {}


def test_a_kept_run_has_its_rows_under_its_name_and_date(tmp_path: Path) -> None:
    path = Path(shutil.copytree(ROOT / "data" / "sample", tmp_path / "arena"))
    opened = open_arena(path)
    before = {table: opened.read(table) for table in opened.tables}
    system = "fluent"
    kept = keep_run(path, system, date="2026-10-01", made_by="a test")
    after = kept.arena
    assert arenas.check(after)
    assert kept.name == "fluent@2026-10-01"
    for table in set(after.tables) - {"systems", "published"}:
        old, new = before[table], after.read(table)
        sides = {"system", "system_a", "system_b"} & set(old.column_names)
        assert len(old) == len(new), table
        for side in sides:
            names = [kept.name if name == system else name for name in old[side].to_pylist()]
            assert sorted(map(str, names)) == sorted(map(str, new[side].to_pylist())), table
    derived = {"ratings", "tournaments", "predictions", "importances"}
    assert set(before) - set(after.tables) == derived & set(before)


def test_kept_runs_of_one_day_are_numbered(arena: Path, tmp_path: Path) -> None:
    for text in ("One.", "Two.", "Three."):
        run("import", "--as", "answers", dated(tmp_path / "new.jsonl", "2026-10-01", text), "--into", arena)
        if text != "Three.":
            run("arena", "keep-run", arena, "mine")
    systems = set(open_arena(arena).read("answers")["system"].to_pylist())
    assert systems == {"a", "b", "c", "d", "mine@2026-10-01", "mine@2026-10-01~2", "mine"}


def test_a_run_is_not_kept_under_a_date_that_it_does_not_have(arena: Path, tmp_path: Path) -> None:
    assert "unknown" in run("arena", "keep-run", arena, "a", code=2).output
    assert "future" in run("arena", "keep-run", arena, "a", "--date", "2999-01-01", code=2).output
    run("import", "--as", "answers", dated(tmp_path / "new.jsonl", "2026-08-01"), "--into", arena)
    assert "2026-08-01" in run("arena", "keep-run", arena, "mine", "--date", "2026-08-02", code=2).output
    run("arena", "keep-run", arena, "mine")
    assert "mine" in run("arena", "keep-run", arena, "mine@2026-08-01", code=2).output
    assert run("arena", "keep-run", arena, "nobody", code=2)
