"""The core without the explorer: each command runs where Streamlit is not installed, and no module needs it."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from installed import core, run, wheel  # noqa: F401  # fixtures

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
rank: rank surrogate {arena} --judge heuristic --languages sw --regressor ridge
rank: rank paper {arena} --judge heuristic --languages sw --draws 3
compare: compare {arena} thorough cautious --judge heuristic --languages sw --margin 9
compare: compare {arena} thorough cautious --measure rate --languages sw --margin 1
report: report rates {arena}
report: report paper
report: report retrieval {arena}
report: report failures {arena}
report: report languages {arena} --detect
report: report noise {arena}
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
"""By command: runs on a copy of the sample that need no extra, one after the other in one folder."""
QUESTION = {"question": "When was the old bridge built?", "contexts": ["The old bridge was built in 1902."]}
ANSWERS = [
    QUESTION | {"system": system, "answer": f"{system}: {year}"} for system, year in (("early", 1902), ("late", 1930))
]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files that commands read, by their names in the runs."""
    folder = tmp_path_factory.mktemp("files")
    battle = {"language": "sw", "query_id": "sw-01", "system_a": "half", "system_b": "thorough"}
    said = {"voter": "amina", "vote": "B", "control": True, "why": "random", "time": "2026-01-01T00:00:00.000000Z"}
    votes = [{"vote_id": "1", "arena": "arena", **battle, **said}]
    (folder / "bridge.md").write_text("# The old bridge\n\nThe old bridge was built in 1902.\n", encoding="utf-8")
    for name, rows in {"answers.jsonl": ANSWERS, "votes.jsonl": votes}.items():
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return {
        "arena": "arena",
        "file": str(folder / "answers.jsonl"),
        "votes": str(folder / "votes.jsonl"),
        "corpus": str(folder / "bridge.md"),
        "nobody": "http://127.0.0.1:9/v1",
    }


def test_the_commands_are_those_that_are_run(core: Path, tmp_path: Path) -> None:
    """Each has a help, and none is forgotten here."""
    program = (
        "import typer; from mirage.cli import app\n"
        "def leaves(command, path=()):\n"
        "    inner = getattr(command, 'commands', {})\n"
        "    yield path\n"
        "    for name, one in inner.items(): yield from leaves(one, (*path, name))\n"
        "print(*(' '.join(path) for path in leaves(typer.main.get_command(app)) if path), sep='\\n')"
    )
    listed = run(core, "-c", program, cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    commands = [line.split() for line in listed.stdout.splitlines()]
    assert sorted({words[0] for words in commands}) == sorted(SIXTEEN) == sorted({*RUNS, *NEEDS})
    helping = (
        "import sys; from mirage.cli import app\n"
        "for words in map(str.split, sys.argv[1:]):\n"
        "    try: app([*words, '--help'], prog_name='mirage')\n"
        "    except SystemExit as end: assert not end.code, words"
    )
    paths = [" ".join(word for word in words if word != "default") for words in commands]
    helped = run(core, "-c", helping, *paths, cwd=tmp_path)
    assert helped.returncode == 0, helped.stderr
    assert helped.stdout.count("Usage: mirage") == len(paths)


ALL = """
import contextlib, io, json, os, sys
from mirage.cli import main
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


def run_all(core: Path, tmp_path: Path, uses: dict[str, list[tuple[str, ...]]], names: dict[str, str]) -> list[Any]:
    """Words, exit code and stderr of each use; those of one command are in one folder, with a copy of the sample."""
    given = []
    for command, words in uses.items():
        shutil.copytree(ROOT / "data" / "sample", tmp_path / command / "arena")
        given += [(str(tmp_path / command), [word.format(**names) for word in use]) for use in words]
    done = run(core, "-c", ALL, json.dumps(given), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_command_runs_without_the_explorer(core: Path, tmp_path: Path, names: dict[str, str]) -> None:
    ended = run_all(core, tmp_path, RUNS, names)
    assert len(ended) == sum(map(len, RUNS.values()))
    # A vote from a file that nobody signed is an opinion, of which there is no agreement.
    wanted = [2 if words[:2] == ["votes", "agreement"] else 0 for words, _, _ in ended]
    ends = zip(ended, wanted, strict=True)
    assert [(*end[:2], end[2][-2000:]) for end, code in ends if end[1] != code or "Traceback" in end[2]] == []


def test_what_needs_an_extra_names_it_in_one_line(core: Path, tmp_path: Path, names: dict[str, str]) -> None:
    uses = {command: words for command, (_, words) in NEEDS.items()}
    for words, code, said in run_all(core, tmp_path, uses, names):
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
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
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
