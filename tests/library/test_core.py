"""The core without the explorer: each command runs where Streamlit is not installed, and no module needs it."""

import ast
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from arena_writer import write_arena
from commands import write_jsonl
from conftest import ROOT
from installed import core, run, wheel  # noqa: F401  # fixtures

from mirage import open_arena

SIXTEEN = (
    *("app", "pull", "import", "check", "show", "evaluate", "generate", "measure"),
    *("judge", "rank", "compare", "report", "votes", "export", "arena", "testset"),
)
NEEDS = {
    "app": ("explorer", [("app",), ("app", "{arena}")]),
    "testset": ("retrieval", [("testset", "new", "--corpus", "{corpus}", "--model", "m", "--base-url", "{nobody}")]),
    "generate": ("retrieval", [("generate", "retrieve", "{arena}", "--languages", "sw")]),
    "judge": (
        "models",
        [("judge", "{arena}", "--judge", "m", "--model", "m", "--base-url", "{nobody}", "--languages", "sw")],
    ),
}
"""By command: the extra that some of its uses need, and these uses."""
_RUNS = """
pull: pull {arena} pulled
import: import --formats
import: import {file}
import: import {file} --into imported
check: check
check: check {arena}
check: check {file}
show: show answers {arena} --system half
evaluate: evaluate {file} --into evaluated
generate: generate {arena} --system s --model m --base-url {nobody} --dry-run
measure: measure outcomes {arena}
measure: measure features {arena} --only length
measure: measure nuggets {arena}
measure: measure {arena}
judge: judge {arena} --judge heuristic --languages sw --queries 2
judge: judge passport {arena} --judge heuristic --languages sw --queries 2
judge: report judges {arena} --passport --judge heuristic
rank: rank {arena} --judge heuristic --languages sw
rank: rank {battles}
rank: rank surrogate {arena} --judge heuristic --languages sw --regressor ridge
rank: rank paper {arena} --judge heuristic --languages sw --draws 3
compare: compare {arena} thorough cautious --judge heuristic --languages sw --margin 9
compare: compare {arena} thorough cautious --measure rate --languages sw --margin 1
report: report rates {arena}
report: report paper
report: report retrieval {arena}
report: report failures {arena}
report: report languages {arena} --detect
report: report noise sample
report: report judges {arena}
votes: votes ballot {arena} --language sw --out ballot.csv --n 4
votes: votes audit {arena} --out audit.csv --languages sw --n 4
votes: votes import {votes}
votes: votes agreement {arena}
votes: votes export log.csv
export: export table {arena} outcomes --out outcomes.csv
export: export html {arena} --into report.html
export: check report.html --arena {arena}
export: export preferences {arena} --judge heuristic --out pairs.jsonl
export: export trec {arena} --out trec
arena: arena copy {arena} copied
arena: arena remove {arena} half
"""
RUNS: dict[str, list[tuple[str, ...]]] = {}
for _name, _, _words in (line.partition(": ") for line in _RUNS.strip().splitlines()):
    RUNS.setdefault(_name, []).append(tuple(_words.split()))
"""By command: runs on a copy of the arena that need no extra, one after the other in one folder."""
QUESTION = {"question": "When was the old bridge built?", "contexts": ["The old bridge was built in 1902."]}
ANSWERS = [
    QUESTION | {"system": system, "answer": f"{system}: {year}"} for system, year in (("early", 1902), ("late", 1930))
]


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample in a few languages: what a command needs does not depend on how much there is."""
    sample = open_arena("sample")
    tables = {name: sample.read(name, languages=SOME if sample.languages(name) else None) for name in sample.tables}
    return write_arena(tmp_path_factory.mktemp("few") / "arena", tables).path


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files that commands read, by their names in the runs."""
    folder = tmp_path_factory.mktemp("files")
    battle = {"language": "sw", "query_id": "sw-01", "system_a": "half", "system_b": "thorough"}
    said = {"voter": "amina", "vote": "B", "control": True, "why": "random", "time": "2026-01-01T00:00:00.000000Z"}
    votes = [{"vote_id": "1", "arena": "arena", **battle, **said}]
    (folder / "battles.csv").write_text("system_a,system_b,verdict\nx,y,A\nx,y,A\nx,y,B\n", "utf-8")
    (folder / "bridge.md").write_text("# The old bridge\n\nThe old bridge was built in 1902.\n", "utf-8")
    for name, rows in {"answers.jsonl": ANSWERS, "votes.jsonl": votes}.items():
        write_jsonl(folder / name, *rows)
    return {
        "arena": "arena",
        "file": str(folder / "answers.jsonl"),
        "battles": str(folder / "battles.csv"),
        "votes": str(folder / "votes.jsonl"),
        "corpus": str(folder / "bridge.md"),
        "nobody": "http://127.0.0.1:9/v1",
    }


HELP = """
import json, typer
from mirage.cli import app
def leaves(command, path=()):
    yield path
    for name, one in getattr(command, "commands", {}).items():
        yield from leaves(one, (*path, name))
paths = [path for path in leaves(typer.main.get_command(app)) if path]
for path in paths:
    try:
        app([*(word for word in path if word != "default"), "--help"], prog_name="mirage")
    except SystemExit as end:
        assert not end.code, path
print(json.dumps(paths))
"""


def test_the_commands_are_those_that_are_run(core: Path, tmp_path: Path) -> None:
    """Each has a help, and none is forgotten here."""
    helped = run(core, "-c", HELP, cwd=tmp_path)
    assert helped.returncode == 0, helped.stderr
    commands = json.loads(helped.stdout.splitlines()[-1])
    assert helped.stdout.count("Usage: mirage") == len(commands)
    assert sorted({words[0] for words in commands}) == sorted(SIXTEEN) == sorted({*RUNS, *NEEDS})


SOME = ["en", "sw"]
"""Languages of the arena."""
RunAll = Callable[[dict[str, list[tuple[str, ...]]]], list[Any]]
ALL = """
import contextlib, importlib.util, io, json, os, sys
from mirage.cli import main
assert importlib.util.find_spec("streamlit") is None
for folder, words in json.loads(sys.argv[1]):
    os.chdir(folder)
    sys.argv[1:], code, said = words, 0, io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        except BaseException as error:
            code = f"{type(error).__name__}: {error}"
    print(json.dumps([words, code, said.getvalue()]))
"""
"""Runs commands one after the other in one process: Python and the packages are loaded once."""


@pytest.fixture
def run_all(core: Path, tmp_path: Path, few: Path, names: dict[str, str]) -> RunAll:
    """Words, exit code and stderr of each use; those of one command are in one folder, with a copy of the arena."""

    def run_uses(uses: dict[str, list[tuple[str, ...]]]) -> list[Any]:
        given = []
        for command, words in uses.items():
            shutil.copytree(few, tmp_path / command / "arena")
            given += [(str(tmp_path / command), [word.format(**names) for word in use]) for use in words]
        done = run(core, "-c", ALL, json.dumps(given), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run_uses


def test_each_command_runs_without_the_explorer(run_all: RunAll) -> None:
    ended = run_all(RUNS)
    assert len(ended) == sum(map(len, RUNS.values()))
    # A vote from a file that nobody signed is an opinion, of which there is no agreement.
    wanted = [2 if words[:2] == ["votes", "agreement"] else 0 for words, _, _ in ended]
    ends = zip(ended, wanted, strict=True)
    assert [(*end[:2], end[2][-2000:]) for end, code in ends if end[1] != code or "Traceback" in end[2]] == []


def test_what_needs_an_extra_names_it_in_one_line(run_all: RunAll) -> None:
    for words, code, said in run_all({command: words for command, (_, words) in NEEDS.items()}):
        assert code == 2, (words, code, said)
        assert "Traceback" not in said
        assert said.count("pip install") == 1, said
        assert f"pip install 'mirage-rag[{NEEDS[words[0]][0]}]'" in said


# --- imports ----------------------------------------------------------------------------------------------------------


def test_nothing_outside_the_explorer_imports_it_even_later() -> None:
    """Nor inside a function. `mirage app` starts the explorer's server as a process."""
    found = []
    for file in sorted((ROOT / "mirage").rglob("*.py")):
        if file.is_relative_to(ROOT / "mirage" / "explorer"):
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module == "mirage":
                names += [f"mirage.{alias.name}" for alias in node.names]
            found += [
                f"{file.relative_to(ROOT)}:{node.lineno} {name}"
                for name in names
                if f"{name}.".startswith(("mirage.explorer.", "streamlit."))
            ]
    assert found == []
