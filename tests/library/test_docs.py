"""The README and the guide are true: commands run, outputs are today's, tables are complete, and every name exists."""

from __future__ import annotations

import ast
import importlib
import re
import runpy
import shlex
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from commands import CliRunner
from conftest import ROOT
from nomiracl_cases import save
from typer.main import get_command

from mirage.cli import app
from mirage.cli.common import FILE_COMMAND
from mirage.explorer.kit.page_list import PAGES

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(<!-- output -->\n)?```\w*\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = [
    line for mark, block in BLOCKS if not mark for line in block.splitlines() if line.startswith(("mirage ", "make "))
]
GUIDE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
"""Pages whose names of files and functions must exist; decisions and the changelog also name what is gone."""
NOT_RUN = {"pull": "needs the network", "app": "serves until it is stopped; the browser tests open it"}
"""Commands that are only asked for their --help here. `make` makes what runs the tests; its targets are looked up."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder outside the checkout, with a file of answers and one of judgments."""
    pairs = [("new", "old", "A"), ("old", "new", "B"), ("new", "old", "tie")]
    record = {"question": "When was the old bridge over the river built?", "contexts": ["It was built in 1902."]}
    answers = [record | {"system": name, "answer": f"{name}: in 1902 [1]."} for name in ("new", "old")]
    save(tmp_path / "answers.jsonl", answers)
    save(
        tmp_path / "judgments.jsonl",
        [
            {"language": "sw", "query_id": f"q{n}", "judge": "NAME", "system_a": a, "system_b": b, "verdict": verdict}
            for n, (a, b, verdict) in enumerate(pairs)
        ],
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_commands_of_the_readme_run_in_their_order_and_print_what_it_says(here: Path) -> None:
    printed = {}
    for command in COMMANDS:
        program, *words = shlex.split(command)
        if program != "mirage":
            continue
        done = CliRunner().invoke(app, ["--help"] if words[0] in NOT_RUN else words)
        assert done.exit_code == 0, f"{command}: {done.output}"
        assert done.output
        printed[command] = done.stdout
    (result,) = [block for mark, block in BLOCKS if mark]
    first = next(command for command in printed if "rank nomiracl" in command)
    assert [line.rstrip() for line in printed[first].strip("\n").splitlines() if line.strip()] == result.splitlines()


def test_the_python_of_the_readme_runs_outside_a_checkout(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    assert "2 systems" in capsys.readouterr().out
    assert (here / "answers-arena").is_dir()


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("mirage ")])
def test_a_command_names_a_subcommand_and_options_that_exist(command: str) -> None:
    words = shlex.split(command)[1:]
    node = get_command(app)
    while words and words[0] in getattr(node, "commands", {}):
        node = node.commands[words.pop(0)]
    node = getattr(node, "commands", {}).get(FILE_COMMAND, node)  # `mirage import FILE` names no subcommand
    known = {name for parameter in node.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_the_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in COMMANDS:
        if command.startswith("make "):
            assert re.search(rf"^{command.split()[1]}:", makefile, flags=re.MULTILINE)


def test_every_command_is_in_the_table_of_commands_and_no_other() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `mirage (\w+)`", page, flags=re.MULTILINE))
    assert listed == set(get_command(app).commands)


def test_every_page_is_in_the_readme_with_what_it_asks() -> None:
    listed = re.findall(r"^\| ([A-Z][a-z ?]+) \| (.+\?) \|$", README, flags=re.MULTILINE)
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


def test_the_table_of_rooms_is_that_of_the_import_contract() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "site" / "architecture.py"))
    assert script["FILE"].read_text(encoding="utf-8") == script["page"](), "run: make docs"


def code_of(text: str) -> str:
    """The inline code of a page, without its blocks and without the titles of links to elsewhere."""
    text = re.sub(r"\[`[^`]+`\]\(https?:[^)]+\)", "", text)
    return "\n".join(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)))


@pytest.mark.parametrize("path", GUIDE, ids=lambda path: path.name)
def test_a_file_named_in_the_guide_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"^((?:mirage|pages|tests|docs|benchmarks|\.ci)/[\w./-]*)$", code_of(text), flags=re.MULTILINE)
    written_by_a_recipe = set(re.findall(r'^```\w+ title="([^"]+)"', text, flags=re.MULTILINE))
    missing = [
        name
        for name in named
        if not {"NAME", "NAME.py"} & set(Path(name).parts)
        and name not in written_by_a_recipe
        and not (ROOT / name).exists()
    ]
    assert missing == []


def resolve(dotted: str) -> Any:
    """The module, class, function or attribute of a dotted name."""
    parts = dotted.split(".")
    for n in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for part in parts[n:]:
            fields = getattr(value, "__dataclass_fields__", {})
            value = fields[part] if part in fields else getattr(value, part)
        return value
    raise ModuleNotFoundError(dotted)


@pytest.mark.parametrize("path", GUIDE, ids=lambda path: path.name)
def test_a_module_or_function_named_in_the_guide_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for dotted in re.findall(r"^(mirage(?:\.[A-Za-z_]\w*)+)\b(?!/)", code_of(text), flags=re.MULTILINE):
        if dotted != "mirage.py":
            resolve(dotted)
    for block in re.findall(r"^```python[^\n]*\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE):
        modules = {"mirage": "mirage"}
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mirage"):
                for alias in node.names:
                    if isinstance(resolve(f"{node.module}.{alias.name}"), ModuleType):
                        modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
                resolve(f"{modules[node.value.id]}.{node.attr}")


@pytest.mark.parametrize("path", GUIDE, ids=lambda path: path.name)
def test_a_name_said_to_be_in_a_file_is_defined_there(path: Path) -> None:
    text = " ".join(path.read_text(encoding="utf-8").split())
    pairs = re.findall(r"`(\w+)` (?:of|in) `((?:mirage|pages|tests)/[\w./-]+\.(?:py|css))`", text)
    for name, file in pairs:
        assert re.search(rf"^\s*(?:def |class )?{name}\b", (ROOT / file).read_text("utf-8"), re.MULTILINE), (name, file)


DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.name)
def test_a_decision_has_context_decision_and_consequence_in_under_150_words(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith(f"# {path.name[:3]} ")
    prose = "\n".join(line for line in lines[1:] if not line.startswith("|"))
    assert re.findall(r"^\*\*(\w+)\.\*\*", prose, flags=re.MULTILINE) == ["Context", "Decision", "Consequence"]
    assert len(prose.split()) < 150


def test_the_index_of_decisions_is_complete() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- \[(\d{3} [^]]+)\]\(([^)]+)\)$", index, flags=re.MULTILINE)
    titles = [path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for path in DECISIONS]
    assert sorted(listed) == list(zip(titles, (path.name for path in DECISIONS), strict=True))
