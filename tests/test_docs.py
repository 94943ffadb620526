"""The README is true: its commands run, its output is today's, its tree is the tree, its tables are complete."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from typer.main import get_command

from mirage.cli import app
from mirage.ui.frame import PAGES

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(<!-- output -->\n)?```\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = [
    line for mark, block in BLOCKS if not mark for line in block.splitlines() if line.startswith((".venv/", "make "))
]
RUN_HERE = ("rank data/nomiracl", "rates data/nomiracl")
"""Commands that read the bundled data alone. The others fetch, serve or write: their options are checked by --help."""


def mirage(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mirage", *args],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "160"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_there_are_commands_to_check() -> None:
    assert len(COMMANDS) >= 10


@pytest.mark.parametrize("command", [c for c in COMMANDS if any(part in c for part in RUN_HERE)])
def test_a_command_on_the_bundled_data_runs(command: str) -> None:
    done = mirage(*shlex.split(command)[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_printed_result_is_what_the_command_prints_today() -> None:
    printed = next(block for mark, block in BLOCKS if mark)
    command = next(c for c in COMMANDS if "rank data/nomiracl" in c)
    said = mirage(*shlex.split(command)[1:]).stdout

    def rows(text: str) -> list[list[str]]:
        return [line.split() for line in text.splitlines() if line.strip() and "─" not in line]

    assert rows(printed) == rows(said)


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith(".venv/")])
def test_a_command_names_a_subcommand_and_options_that_exist(command: str) -> None:
    words = shlex.split(command)[1:]
    node = get_command(app)
    while words and words[0] in getattr(node, "commands", {}):
        node = node.commands[words.pop(0)]
    known = {name for parameter in node.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_the_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in COMMANDS:
        if command.startswith("make "):
            assert re.search(rf"^{command.split()[1]}:", makefile, flags=re.MULTILINE)


def test_every_command_is_in_the_readme_and_no_other() -> None:
    listed = set(re.findall(r"^\| `mirage (\w+)`", README, flags=re.MULTILINE))
    assert listed == set(get_command(app).commands)


def test_every_page_is_in_the_readme_with_its_question() -> None:
    listed = re.findall(r"^\| ([A-Z][a-z ]+) \| (.+\?) \|$", README, flags=re.MULTILINE)
    assert listed == [(entry.title, entry.question) for entry in PAGES if entry.file.is_file()]


def test_the_tree_names_every_file_and_module_and_nothing_else() -> None:
    tree = next(block for _, block in BLOCKS if block.startswith("app.py"))
    top, inside = set(), set()
    for line in tree.splitlines():
        name = line.split()[0].rstrip("/")
        (inside if line.startswith("  ") else top).add(name)
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    first = {Path(f).parts[0] for f in tracked if f and not f.startswith(".")}
    assert top == first - {"README.md"}
    modules = {Path(f).parts[1] for f in tracked if f.startswith("mirage/")}
    assert inside == {m for m in modules if not m.startswith("__") and m != "py.typed"}


def test_every_picture_is_there() -> None:
    for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file()


def test_nothing_speaks_of_a_machine() -> None:
    own = "|".join(("/wo" + "rk/", "/ro" + "ot/", "/tm" + "p/"))
    for path in [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]:
        assert not re.search(own, path.read_text(encoding="utf-8")), path
