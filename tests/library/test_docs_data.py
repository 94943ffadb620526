"""The pages data.md and logs.md: their blocks come in by their commands, in their order, and names are the reader's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from commands import CliRunner
from docs_data_cases import BLOCKS, FILES, LOG_BLOCKS, LOGS, PAGE

from mirage import store
from mirage.cli import app
from mirage.io.formats import rag
from mirage.io.formats.registry import formats

COMMANDS = [line for kind, _, content in BLOCKS if kind == "bash" for line in content.splitlines()]
SECTIONS = dict(re.findall(r"^##+ (.*`([\w-]+)`)$", PAGE + LOGS, flags=re.MULTILINE))
"""Each heading that ends with a name, and that name."""
ROWS = re.findall(
    r"^\| \[`([\w-]+)`\]\((?:logs\.md)?#([\w-]+)\) \| (.*?) \| (.*?) \| (.*?) \| (yes|no) \|$", PAGE, flags=re.MULTILINE
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of both pages."""
    monkeypatch.chdir(tmp_path)
    for name, content in (*FILES, *((name, content) for _, name, content in LOG_BLOCKS if name)):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content, encoding="utf-8")
    return tmp_path


def run(command: str) -> str:
    """What a command of the page prints; the arena it writes is sound."""
    program, *words = shlex.split(command)
    assert program == "mirage"
    if words[0] == "app":  # it serves until it is stopped
        assert store.is_arena(Path(words[1]))
        return ""
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, f"{command}: {done.output}"
    if "--into" in words:
        store.check(store.open_arena(Path(words[words.index("--into") + 1])))
    return done.output


@pytest.mark.usefixtures("here")
def test_the_blocks_of_both_pages_run_and_every_format_is_recognised() -> None:
    pytest.importorskip("datasets", reason="the extra hub is not installed")
    recognised = set()
    for kind, name, content in (*BLOCKS, *LOG_BLOCKS):
        if kind == "python":
            exec(compile(content, "docs/data.md", "exec"), {})
        if kind != "bash" or name:
            continue
        for command in content.splitlines():
            printed = run(command)
            if command.split()[:2] == ["mirage", "import"] and command.split()[2] not in formats():
                recognised.update(re.findall(r"records? read as ([\w-]+)", printed))
    assert recognised == set(formats())


def test_every_file_of_the_page_is_used_by_a_command() -> None:
    assert FILES
    for name, _ in FILES:
        assert any(Path(name).parts[0] in command for command in COMMANDS), name


def test_the_table_of_formats_is_the_registry_and_every_format_has_a_section() -> None:
    slugs = {name: re.sub(r"[^\w\s-]", "", heading.lower()).replace(" ", "-") for heading, name in SECTIONS.items()}
    told = {name: (title, tables, written) for name, _, title, _, tables, written in ROWS}
    assert told == {
        name: (entry.title, ", ".join(f"`{table}`" for table in entry.gives), "yes" if entry.write else "no")
        for name, entry in formats().items()
    }
    for name, anchor, _, source, _, _ in ROWS:
        assert anchor == slugs[name], name
        assert source.strip("`") in formats()[name].source, name


def test_the_names_of_fields_are_those_that_are_read() -> None:
    listed = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| \w+ \| (`.*?) \| ", PAGE, flags=re.MULTILINE))))
    assert listed >= {name for names in rag.FIELDS.values() for name in names}
