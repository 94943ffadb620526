"""Inputs that failed in the field, each with its right value (shared/data/field/README.md), by the real commands."""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from arena_writer import read_rows
from commands import CliRunner, mirage
from conftest import ROOT
from misbehaving import Act, Call, Service

from mirage import rank
from mirage.cli import app
from mirage.stages.judge.verdict import parse_verdict
from mirage.store.arena import open_arena


@pytest.fixture
def field(shared: Path) -> Path:
    folder = shared / "field"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent")
    return folder


def run(*words: object) -> str:
    """Run a command that must succeed; what it prints."""
    return mirage(*words).output


def stdout(*words: object) -> str:
    """Run a command that must succeed and return what it prints but for remarks."""
    return mirage(*words).stdout


def rows(arena: Path, table: str) -> list[dict[str, Any]]:
    return read_rows(arena, table)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def test_votes_on_one_query_are_one_unit(field: Path, tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    run("import", field / "repeated-votes.jsonl", "--into", arena)
    ranking = rank(open_arena(arena), judge="human").to_pandas()
    x = ranking[ranking.system == "x"].iloc[0]
    assert x.rating == pytest.approx(0.18, abs=0.03)
    assert x.low < -0.4
    assert x.high > 0.8
    assert set(ranking.best) == {"tied"}


def retrieval(arena: Path, measure: str) -> dict[str, float]:
    words = ("report", "retrieval", arena, "--format", "json", "--by", "language", "--measures", measure)
    printed = json.loads(stdout(*words))
    return {row["retriever"]: row["mean"] for row in printed if row["language"] != "all" and row["measure"] == measure}


def test_pooled_passages_are_no_retriever(field: Path, tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    run("import", field / "given-phantom", "--set", "language=en", "--into", arena)
    assert retrieval(arena, "AP@1000") == {"mine": pytest.approx(0.095, abs=0.001)}


def test_two_runs_with_one_tag_are_two(field: Path, tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    run("import", field / "same-run-tag", "--set", "language=en", "--into", arena)
    assert sorted(retrieval(arena, "nDCG@10").values()) == pytest.approx([0.264, 0.613], abs=0.001)


def test_a_rank_column_that_orders_nothing_is_ignored(field: Path, tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    run("import", field / "rank-column-0", "--set", "language=en", "--into", arena)
    assert len(rows(arena, "passages")) == 11


def test_a_gap_beside_a_claim_is_no_abstention(field: Path, tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    run("import", field / "outcomes-longform.jsonl", "--into", arena)
    run("measure", "outcomes", arena)
    right = {row["query_id"]: row["domain"].removeprefix("right=") for row in lines(field / "outcomes-longform.jsonl")}
    got = {row["query_id"]: row["outcome"] for row in rows(arena, "outcomes") if row["parser"] == "strict"}
    assert got == right


def test_the_option_that_helps_is_named(field: Path, tmp_path: Path) -> None:
    file = field / "no-system.json"
    imported = mirage("import", file, "--into", tmp_path / "arena", code=2)
    checked = mirage("check", file, "--format", "json", code=2)
    assert imported.output.count("--set system=NAME") == 1
    wrong = json.loads(checked.stdout)
    assert len(wrong) == 3, "the check lists every record"
    assert all("--set system=NAME" in row["to_do"] for row in wrong)


def test_judgments_take_the_language_of_their_query(field: Path, tmp_path: Path) -> None:
    for options in (["--as", "judgments"], []):
        arena = tmp_path / f"arena{len(options)}"
        run("import", field / "judgments-explicit" / "queries.jsonl", "--into", arena)
        run("import", field / "judgments-explicit" / "verdicts.jsonl", "--into", arena, *options)
        assert [row["language"] for row in rows(arena, "judgments")] == ["sw"]


def test_battles_in_memory_stay_small(field: Path) -> None:
    """140,000 battles of 53 systems without query ids, which took over 9 GB."""
    # The peak that the script prints counts the process that started it, too.
    program = f"import runpy; runpy.run_path({str(field / 'df-memory.py')!r})\n"
    program += "from benchmarks.harness import peak_mb; print('peak', peak_mb())"
    command = [sys.executable, "-c", program, "140000", "53"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert float(done.stdout.rpartition("peak ")[2]) < 1_000


def test_one_name_in_two_spellings_is_one_system(field: Path, tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    run("import", field / "nfc-nfd.jsonl", "--into", arena)
    assert len({row["system"] for row in rows(arena, "answers")}) == 1


def told_services(folders: Sequence[Path], tmp_path: Path) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """Generate answers by the services of folders of cases; return what each run prints, and its first answer."""
    cases = {}
    for folder in folders:
        cases |= json.loads((folder / "cases.json").read_text("utf-8"))
    run("import", folders[0] / "two.jsonl", "--into", arena := tmp_path / "arena")
    told = {}

    def behave(call: Call) -> Act:
        acts = cases[call.body["model"]]
        status, headers, body = acts[min(call.number, len(acts)) - 1]
        return Act(status, (body if isinstance(body, str) else json.dumps(body)).encode(), headers)

    with Service(behave) as service:
        for case in cases:
            service.requests.clear()
            given = ("--system", case, "--model", case, "--base-url", service.url, "--max-tokens", 256, "--retries", 2)
            words = [str(word) for word in ("generate", arena, *given, "--concurrency", 1)]
            told[case] = CliRunner().invoke(app, words).output + f"\n{len(service.calls)} requests"
            service.calls.clear()
    answers = [row for row in rows(arena, "answers") if row["query_id"] == "q0"]
    return told, {row["system"]: row for row in answers}


def test_turn_4_services_are_told_as_what_they_are(field: Path, tmp_path: Path) -> None:
    told, answers = told_services([field / "turn4" / "06-services"], tmp_path)
    status = {system: row["status"] for system, row in answers.items()}
    assert "the model is loaded with a context of only 4096 tokens" in told["error-string"]
    assert status["filter-other"] == "refused"
    assert "asks to wait 36,000 seconds" in told["wait-in-body"]
    assert [status[case] for case in ("rate-as-400", "stream", "prompt-cut", "other-model")] == ["ok"] * 4
    assert status["stop-at-limit"] == "truncated"


def test_turn_5_services_are_told_as_what_they_are(field: Path, tmp_path: Path) -> None:
    """Pitfalls 223, 224, 227 and 230, `field/turn5` 04 to 11 and 17: the row, the reason and the number of requests."""
    told, answers = told_services([path.parent for path in sorted((field / "turn5").glob("*/cases.json"))], tmp_path)
    status = {system: row["status"] for system, row in answers.items()}
    assert [status[case] for case in ("usage-rules-403", "flagged-403", "refusal-part")] == ["refused"] * 3
    assert answers["refusal-part"]["text"] == "Dabei kann ich nicht helfen."
    assert {answers[case]["text"] for case in ("output-text", "prefixed", "zeros")} == {
        "Der Leuchtturm wurde 1902 gebaut [1]."
    }
    assert status["thoughts-only"] == "empty"
    assert "--max-tokens" in answers["thoughts-only"]["reason"]
    for case, words, n in (
        ("over-minute", "--depth", 2),
        ("anthropic", "--provider anthropic", 1),
        ("regain-400", "You will regain access on 2030-12-01 at 00:00 UTC", 1),
        ("volume", "asks to wait 7,811 seconds", 1),
        ("thoughts-only", "510 reply tokens", 2),
        ("zeros", "2 calls are estimates", 2),
    ):
        assert words in told[case], told[case]
        assert f"\n{n} requests" in told[case], told[case]
    (verdict,) = lines(field / "turn5" / "17-two-verdict-lines" / "replies.jsonl")
    assert parse_verdict(verdict["reply"]).verdict == verdict["right"]


# --- inputs that failed: files and words ------------------------------------------------------------------------------


def refused(*words: object) -> str:
    """Run a command that must refuse its input; what it prints."""
    return mirage(*words, code=2).output


def test_pitfall_173_no_fields_are_suggested_that_the_values_contradict(field: Path) -> None:
    told = refused("import", field / "turn4" / "05-suggested-map" / "judged.jsonl")
    assert "ModelAnswer=system" not in told
    assert "output=answer" not in told


def test_pitfall_179_a_verdict_in_a_tag_counts(field: Path) -> None:
    for row in lines(field / "turn4" / "07-verdict-tag" / "replies.jsonl"):
        assert parse_verdict(row["reply"]).verdict == row["right"]


def test_pitfall_179_files_of_csv_have_a_byte_order_mark_and_pipes_none(field: Path, tmp_path: Path) -> None:
    run("import", field / "turn4" / "14-words" / "b" / "verdicts.jsonl", "--into", tmp_path / "a")
    words = ["rank", str(tmp_path / "a"), "--judge", "j", "--format", "csv"]
    piped = stdout(*words)
    with (tmp_path / "csv").open("wb") as file:
        subprocess.run([sys.executable, "-m", "mirage", *words], stdout=file, check=True)
    assert (tmp_path / "csv").read_bytes() == b"\xef\xbb\xbf" + piped.encode()
    assert not piped.startswith("\ufeff")
    assert "\ufeff" not in stdout(*words[:-1], "csv-exact")


def test_pitfall_179_the_command_that_writes_keeps_the_map(field: Path, tmp_path: Path) -> None:
    file = shutil.copy(field / "turn4" / "14-words" / "c" / "answers.csv", tmp_path / "my answers.csv")
    told = run("import", file, "--as", "rag", "--map", "LLM=system,summary=answer,source=question")
    words = shlex.split(told.rpartition("To write it: mirage ")[2])
    run(*words[:-1], tmp_path / "a")
    assert open_arena(tmp_path / "a").rows("answers") == 3


def test_pitfall_179_counts_add_up_and_unknown_files_of_a_folder_are_named(field: Path) -> None:
    words = field / "turn4" / "14-words"
    assert "6 of 3" not in run("import", words / "d" / "short.jsonl")
    told = refused("import", words / "e")
    assert "one.csv" in told
    assert "two.csv" not in told
