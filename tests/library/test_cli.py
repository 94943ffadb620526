"""The command line: what it prints, where, with which exit code, and that nothing is lost when it refuses or dies."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cli_cases import Mirror
from commands import mirage, rows, run_python
from conftest import PATIENCE, ROOT
from filelock import FileLock
from golden.cases import read_table
from nomiracl_cases import row, save
from pipeline_cases import judgments, published_answers
from published_cases import differing
from store_cases import file_size_limit, snapshot

from mirage import schema
from mirage.io.sources.nomiracl.origin import SYSTEM_NAMES
from mirage.ranking.board import Ranked
from mirage.store import cores
from mirage.store.arena import open_arena
from mirage.store.runs import settings_of

RATES = (
    "language,subset,system,n,answers,answered,abstained,clarification,unparsed,empty,api_error,missing,"
    "rate,rate_low,rate_high,rate_as_published,as_published_low,as_published_high,as_published_n,unclassified,languages,"
    "labels,corrected,corrected_low,corrected_high,audited,label_error,label_reason"
)
RANKS = ",".join(column.name for column in schema.columns(Ranked))


@pytest.fixture(scope="module", autouse=True)
def one_core() -> Iterator[None]:
    """Let imports read small files in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cores, "available", lambda: 1)
        yield


@pytest.fixture(scope="module")
def imported(module_path: Path) -> Path:
    """Return an arena as the command imports it; tests change a copy."""
    mirage("import", "nomiracl", published_answers(module_path / "in"), "--into", module_path / "arena")
    return module_path / "arena"


@pytest.fixture
def arena(imported: Path, tmp_path: Path) -> Path:
    shutil.copytree(imported, tmp_path / "arena")
    return tmp_path / "arena"


# --- what is printed, and where ---------------------------------------------------------------------------------------


def test_import_then_rates_then_rank_work_one_after_the_other(tmp_path: Path) -> None:
    result = mirage("import", "nomiracl", published_answers(tmp_path / "in"), "--into", tmp_path / "a b")
    assert "48 replies of 3 systems" in result.stderr
    assert rows(mirage("report", "rates", tmp_path / "a b", "--format", "csv"))
    by_name = mirage("rank", tmp_path / "a b", "--judge", "relevance", "--format", "csv")
    assert rows(by_name)
    assert mirage("rank", tmp_path / "a b", "--format", "csv").stdout == by_name.stdout, "the only judge there is"


@pytest.mark.parametrize(("command", "columns"), [(("report", "rates"), RATES), (("rank",), RANKS)])
def test_the_csv_has_the_columns_of_the_contract(arena: Path, command: tuple[str, ...], columns: str) -> None:
    assert mirage(*command, arena, "--format", "csv").stdout.splitlines()[0] == columns
    assert list(json.loads(mirage(*command, arena, "--format", "json").stdout)[0]) == columns.split(",")


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(arena: Path) -> None:
    command = ("rank", arena, "--judge", "relevance", "--format", "csv", "--seed")
    assert mirage(*command, 5).stdout == mirage(*command, 5).stdout != mirage(*command, 6).stdout


def test_a_ranking_is_kept_only_when_asked_and_beside_those_of_other_judges(arena: Path, tmp_path: Path) -> None:
    before = snapshot(arena)
    mirage("rank", arena, "--judge", "relevance")
    assert snapshot(arena) == before, "printing writes nothing"
    mirage("import", "--as", "judgments", judgments(tmp_path / "j.csv"), "--into", arena)
    mirage("rank", arena, "--judge", "relevance", "--store")
    mirage("rank", arena, "--judge", "j", "--store", "--draws", "20")
    ratings = open_arena(arena).read("ratings")
    assert set(zip(ratings["judge"].to_pylist(), ratings["skill"].to_pylist(), strict=True)) == {
        *(("relevance", skill) for skill in ("abstain", "answer", "both")),
        ("j", "both"),
    }
    made = [settings_of(open_arena(arena), "ratings", judge) for judge in ("relevance", "j")]
    assert [(settings or {})["draws"] for settings in made] == [1000, 20]


def test_csv_stays_csv_when_a_name_holds_commas_quotes_or_markup(tmp_path: Path) -> None:
    odd = '[red]a,"b"[/red]'
    save(
        tmp_path / "in" / "relevant" / "ar.test.vanilla_prompt.jsonl",
        [row("q", results={odd: "Yes, answer is present.", "plain": "I don't know"})],
    )
    mirage("import", "nomiracl", tmp_path / "in", "--into", tmp_path / "a")
    assert {r["system"] for r in rows(mirage("report", "rates", tmp_path / "a", "--format", "csv"))} == {odd, "plain"}
    assert "[red]" in mirage("report", "rates", tmp_path / "a").stdout, "for people it is text as well, no markup"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom mirage.cli import app\n"
        "try: app(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('numpy', 'pyarrow', 'pandas', 'duckdb', 'streamlit', 'httpx') if m in sys.modules])"
    )
    assert run_python(code).splitlines()[-1] == "[]"


def test_pitfall_42_a_whole_import_names_the_encoding_of_every_file(tmp_path: Path) -> None:
    """Under a C locale with UTF-8 mode off, where what is left to a default goes wrong, and a default is an error."""
    published_answers(tmp_path / "in", yes="نعم, answer is present.")
    code = (
        "import sys; from mirage.cli import app\n"
        "for words in ('import nomiracl in --into a', 'report rates a --format json'):\n"
        "    try: app(words.split())\n"
        "    except SystemExit as end: assert not end.code, words"
    )
    strict = ("-X", "warn_default_encoding", "-W", "error::EncodingWarning:mirage")
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        [sys.executable, *strict, "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=False
    )
    assert result.returncode == 0, result.stderr
    texts = open_arena(tmp_path / "a").read("answers")["text"].to_pylist()
    assert "نعم, answer is present." in texts


# --- bad input: exit code 2, what and where and what to do, and the arena as it was -----------------------------------


def refused(arena: Path, *args: object) -> str:
    """Run a command that must fail as bad input does, and leave the arena alone; returns what it said."""
    before = snapshot(arena)
    result = mirage(*args, code=2)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert snapshot(arena) == before
    return result.stderr


def test_pitfall_44_a_file_of_an_unknown_language_is_refused(arena: Path, tmp_path: Path) -> None:
    folder = published_answers(tmp_path / "bad")
    (folder / "relevant" / "fi.test.vanilla_prompt.jsonl.gz").rename(
        folder / "relevant" / "suomea.test.vanilla_prompt.jsonl.gz"
    )
    assert "there is no language 'suomea'" in refused(arena, "import", "nomiracl", folder, "--into", arena)


@pytest.mark.parametrize(*read_table("misspelt_commands"))
def test_pitfall_44_an_unknown_name_is_refused_with_the_nearest(
    arena: Path, args: tuple[str, ...], problem: str
) -> None:
    assert problem in refused(arena, *args[0].split(), arena, *args[1:])


@pytest.mark.parametrize(*read_table("bad_usage"))
def test_bad_usage_ends_with_code_2_and_writes_nothing(
    arena: Path, args: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(arena.parent)
    message = refused(arena, *(str(arena) if a == "DIR" else a for a in args))
    assert message
    assert not Path("x").exists()


def test_a_full_disk_ends_with_code_2_and_the_arena_as_it_was(arena: Path, tmp_path: Path) -> None:
    other = published_answers(tmp_path / "other", yes="Other")
    with file_size_limit(1500):
        message = refused(arena, "import", "nomiracl", other, "--into", arena)
    assert "the arena cannot be written: File too large" in message
    assert "free space" in message


# --- stopped and killed -----------------------------------------------------------------------------------------------


def test_ctrl_c_ends_with_code_130_and_how_to_go_on(tmp_path: Path) -> None:
    answers, arena = published_answers(tmp_path / "new"), tmp_path / "a"
    arena.mkdir()
    code = (
        "import sys, filelock\n"
        "waits = filelock.FileLock.acquire\n"
        "def acquire(self, *args, **options):\n"
        "    print('waiting', flush=True)\n"
        "    return waits(self, *args, **options)\n"
        "filelock.FileLock.acquire = acquire\n"
        "sys.argv[0] = 'mirage'\n"
        "from mirage.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "import", "nomiracl", str(answers), "--into", str(arena)]
    with FileLock(arena / ".lock"):
        program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
        assert program.stdout.readline() == "waiting\n", "the import waits for the lock, or has ended"
        program.send_signal(signal.SIGINT)
        _, message = program.communicate(timeout=PATIENCE)
    assert program.returncode == 130
    assert "Rerun the command to resume" in message
    assert "Traceback" not in message
    assert {path.name for path in arena.iterdir()} == {".lock"}


# --- the outside: a mirror on this machine, and the explorer ----------------------------------------------------------


def test_pull_fetches_what_import_reads(tmp_path: Path) -> None:
    folder = published_answers(tmp_path / "in")
    files = {}
    for path in folder.rglob("*.gz"):
        files[path.relative_to(folder).as_posix().removesuffix(".gz")] = gzip.decompress(path.read_bytes())
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Mirror,), {"files": files}))
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_address[1]}"
        command = ("pull", "nomiracl", "--into", tmp_path / "p", "--languages", "en,fi", "--base-url", address)
        result = mirage(*command)
        assert "4 files" in result.stderr
        assert result.stdout == ""
        assert "0 of them new" in mirage(*command).stderr
        del files["relevant/fi.test.vanilla_prompt.jsonl"]
        result = mirage(*command[:3], tmp_path / "q", *command[4:])
        assert "3 files" in result.stderr
        assert "Not available, and not required: relevant/fi.test.vanilla_prompt.jsonl" in result.stderr
    finally:
        server.shutdown()
        server.server_close()
    mirage("import", "nomiracl", tmp_path / "p", "--into", tmp_path / "a")
    mirage("import", "nomiracl", folder, "--into", tmp_path / "b")
    assert open_arena(tmp_path / "a").read("answers").equals(open_arena(tmp_path / "b").read("answers"))


@pytest.mark.parametrize("named", ["arena", ""])
def test_app_runs_streamlit_on_the_router_with_the_arena_named(
    arena: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    seen: dict[str, Any] = {}

    def replace(program: str, command: list[str], environment: dict[str, str]) -> None:
        seen.update(program=program, command=command, env=environment, cwd=Path.cwd())

    monkeypatch.setattr(os, "execve", replace)
    monkeypatch.chdir(arena.parent)
    monkeypatch.delenv("STREAMLIT_SERVER_ALLOWED_HOSTS", raising=False)
    served = ["--host", "mirage.example.org", "--metrics", "--frame-ancestors", "'self' https://example.org"]
    mirage("app", *([arena] if named == "arena" else [arena.parent]), "--port", 8599, *served)
    assert seen["program"] == sys.executable
    assert seen["command"][:3] == [sys.executable, "-m", "streamlit"]
    assert "--server.port=8599" in seen["command"]
    assert seen["env"]["MIRAGE_ARENAS"] == str(arena if named == "arena" else arena.parent)
    assert seen["cwd"] == ROOT, "where .streamlit/config.toml is"
    assert seen["env"]["MIRAGE_METRICS"] == "1"
    assert seen["env"]["MIRAGE_FRAME_ANCESTORS"] == "'self' https://example.org"
    assert "mirage.example.org" in seen["env"]["STREAMLIT_SERVER_ALLOWED_HOSTS"].split()
    seen.clear()
    assert "is not a site" in mirage("app", "--frame-ancestors", "a.example; script-src *", code=2).stderr
    assert not seen


# --- the published figures, by the real commands ----------------------------------------------------------------------


def test_the_rates_of_the_published_outputs_agree_with_every_published_cell() -> None:
    """Of the bundled outcomes, which `test_builders` makes again from the outputs."""
    result = mirage("report", "rates", "nomiracl", "--parser", "published", "--format", "csv")
    (line,) = (line for line in result.stderr.splitlines() if "5%" in line)
    assert "aya-101" in line, "the published parser leaves many of its answers unclassified, which is said"
    assert differing(rows(result)) == {}
    assert {row["system"] for row in rows(result)} == set(SYSTEM_NAMES.values())
