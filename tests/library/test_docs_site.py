"""The guide: it builds without a warning, has every page, command, table and term in it, and fetches nothing."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click import Context
from conftest import ROOT
from typer.main import get_command

from mirage import schema
from mirage.cli import app
from mirage.cli.common import FILE_COMMAND
from mirage.cli.noting import COUNT
from mirage.explorer.kit.page_list import PAGES

DOCS = sorted((ROOT / "docs").glob("*.md"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guide, built as `make docs` does."""
    into = tmp_path_factory.mktemp("site")
    config = ROOT / "docs" / "site" / "mkdocs.yml"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(config), "-d", str(into)]
    result = subprocess.run(
        command, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert result.returncode == 0, result.stderr
    assert not result.stderr.strip()
    return into


def words(page: Path) -> str:
    """The text of a built page."""
    text = re.sub(r"<(script|style).*?</\1>", " ", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def leaves(prefix: tuple[str, ...], node: object) -> list[str]:
    """Every command that can be run."""
    children = getattr(node, "commands", None)
    if children is None:
        return [" ".join(prefix)]
    return [leaf for name, child in children.items() for leaf in leaves((*prefix, name), child)]


def test_every_page_of_the_guide_is_in_its_navigation(site: Path) -> None:
    config = (ROOT / "docs" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {path.name for path in DOCS} | {"decisions/README.md"}
    assert pages == set(re.findall(r": (\S+\.md)$", config, flags=re.MULTILINE))
    assert {path.with_suffix(".html").name for path in DOCS} <= {path.name for path in site.iterdir()}


def test_every_command_and_its_options_are_in_it(site: Path) -> None:
    text = words(site / "commands.html")
    commands = leaves(("mirage",), get_command(app))
    assert len(commands) > 15
    for command in commands:
        assert command in text
    assert "--base-url" in text
    assert "--concurrency" in text


def test_every_table_and_column_is_in_it(site: Path) -> None:
    formats = words(site / "formats.html")
    for name in schema.TABLES:
        for column in schema.columns(name):
            assert column.name in formats


def test_every_page_of_the_explorer_is_in_it_and_on_the_tour(site: Path) -> None:
    index, tour = words(site / "index.html"), words(site / "tour.html")
    for entry in PAGES:
        if entry.file.is_file():
            assert entry.question in index
            assert entry.title in tour, f"the tour passes by {entry.title}"


def test_the_guide_fetches_nothing_from_elsewhere(site: Path) -> None:
    for page in site.glob("*.html"):
        fetched = re.findall(
            r"<(?:script|link|img|iframe)[^>]+(?:src|href)=[\"']?(https?:[^\"' >]+)", page.read_text("utf-8")
        )
        assert [url for url in fetched if "canonical" not in url] == [], page.name


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_a_command_in_the_guide_names_a_subcommand_and_options_that_exist(path: Path) -> None:
    program: Any = get_command(app)
    blocks = re.findall(r"```bash[^\n]*\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for line in "".join(blocks).replace("\\\n", " ").splitlines():
        parts = shlex.split(line, comments=True)
        if parts and parts[0].removeprefix(".venv/bin/") == "mirage":
            node = program
            rest = parts[1:]
            while rest and hasattr(node, "commands"):
                if (named := node.get_command(Context(node), rest[0])) is not None:
                    rest.pop(0)
                # `mirage import FILE` and `mirage notes DIR` name no subcommand.
                elif (named := node.commands.get(FILE_COMMAND) or node.commands.get(COUNT)) is None:
                    break
                node = named
            known = {name for parameter in node.params for name in (*parameter.opts, *parameter.secondary_opts)}
            assert {part.split("=")[0] for part in rest if part.startswith("--")} <= known | {"--help"}, line
        elif parts and parts[0] == "make":
            assert re.search(rf"^{parts[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_every_picture_of_the_guide_is_there() -> None:
    for path in DOCS:
        for picture in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
            assert (ROOT / "docs" / picture).is_file(), f"{path.name}: {picture}"


def test_the_parts_made_from_the_program_are_those_of_today() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "site" / "generated.py"))
    pages = script["pages_with_parts"]()
    assert {path.name for path in pages} == {
        "commands.md",
        "data.md",
        "formats.md",
        "index.md",
        "levels.md",
        "methods.md",
    }
    for path in pages:
        marks = re.findall(r"<!-- (/?\w+) -->", path.read_text("utf-8"))
        assert [name for name in marks if name in script["PARTS"]] == [name[1:] for name in marks if name[0] == "/"]
        assert script["page"](path.read_text("utf-8")) == path.read_text("utf-8"), f"{path.name}: run: make docs"


def test_the_glossary_is_that_of_the_docstrings() -> None:
    """`make docs` writes it; every word stands for an object that has a docstring."""
    spec = importlib.util.spec_from_file_location("glossary", ROOT / "docs" / "site" / "glossary.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    words = {word: dotted for group in module.GROUPS.values() for word, dotted in group.items()}
    assert all(module.meaning(dotted) for dotted in words.values())
    assert len(set(words.values())) == len(words), "an object has one word"
    assert module.FILE.read_text(encoding="utf-8") == module.glossary(), "run: make docs"
