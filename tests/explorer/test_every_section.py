"""Every section of every page opens: on the bundled arenas, the examples of docs/data.md, and without any one table."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import rich_arena
from commands import CliRunner
from docs_data_cases import BLOCKS, FILES
from streamlit.testing.v1 import AppTest

from mirage import cli, schema
from mirage.explorer.kit.page_list import PAGES
from mirage.explorer.kit.sections import KEY
from mirage.store import arena as arenas
from mirage.store import home
from pages import open_page

BUNDLED = sorted(arenas.bundled_arenas())
EXAMPLES = sorted(
    {
        name
        for kind, title, content in BLOCKS
        if kind == "bash" and not title
        for name in re.findall(r"--into (\S+)", content)
    }
)
LANGUAGES = ("ar", "en")
"""Of the arenas without a table."""
UNSHOWN = ("drafts", "passage_checks")
"""Tables that no page reads."""
ARENAS = (
    *BUNDLED,
    *(f"example {name}" for name in EXAMPLES),
    *(f"without {table}" for table in schema.TABLES if table not in UNSHOWN),
)
Find = Callable[[str], Path]


@pytest.fixture(scope="module")
def find(tmp_path_factory: pytest.TempPathFactory) -> Find:
    """Return the folder of an arena by its name in `ARENAS`; each is written once."""
    folder = tmp_path_factory.mktemp("every-section")
    paths: dict[str, Path] = {}

    def examples() -> None:
        here = folder / "docs"
        here.mkdir()
        for name, content in FILES:
            (here / name).parent.mkdir(parents=True, exist_ok=True)
            (here / name).write_text(content, encoding="utf-8")
        before = Path.cwd()
        os.chdir(here)
        try:
            for kind, title, content in BLOCKS:
                if kind == "python" and "save_to_disk" in content:
                    pytest.importorskip("datasets", reason="the extra hub is not installed")
                    exec(compile(content, "docs/data.md", "exec"), {})
                if kind != "bash" or title:
                    continue
                for command in content.splitlines():
                    words = shlex.split(command)[1:]
                    if "--into" in words:
                        done = CliRunner().invoke(cli.app, words)
                        assert done.exit_code == 0, done.output
        finally:
            os.chdir(before)
        paths.update({f"example {name}": here / name for name in EXAMPLES})

    def path(arena: str) -> Path:
        if arena in arenas.bundled_arenas():
            return arenas.bundled_arenas()[arena]
        if arena not in paths:
            if arena.startswith("example "):
                examples()
            else:
                table = arena.removeprefix("without ")
                paths[arena] = rich_arena.write(folder / table / "rich", without=(table,), languages=LANGUAGES).path
        return paths[arena]

    return path


def open_sound_page(name: str, **link: str) -> AppTest:
    """Return a page opened by a link, having checked that nothing went wrong on it."""
    page = open_page(name, **link)
    assert not page.error, (link, [error.value for error in page.error])
    return page


def other_sections(page: AppTest) -> list[str]:
    """Return the sections that a page offers but for the one that is open."""
    pickers = [picker for picker in page.segmented_control if picker.key == KEY]
    return [str(option) for picker in pickers for option in picker.options if option != picker.value]


@pytest.mark.parametrize("arena", ARENAS)
@pytest.mark.parametrize("name", [entry.name for entry in PAGES])
def test_every_section_of_every_page_opens(
    find: Find, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arena: str, name: str
) -> None:
    path = find(arena)
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path))
    monkeypatch.setenv("MIRAGE_ARENAS", str(path))
    names = [name for name, folder in home.all_arenas()[0].items() if folder == path]
    link = {"arena": names[0]}
    for section in other_sections(open_sound_page(name, **link)):
        open_sound_page(name, **link, section=section)
