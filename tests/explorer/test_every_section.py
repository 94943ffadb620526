"""Every section of every page opens: on the examples of docs/data.md, with every table that comes with a file, and
without any one table of the sample, which has none of those. `test_charts_browser` opens those of the bundled arenas.
"""

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import rich_arena
from commands import mirage
from docs_data_cases import BLOCKS, FILES
from streamlit.testing.v1 import AppTest

from mirage import open_arena
from mirage.explorer.kit.page_list import PAGES
from mirage.explorer.kit.pick import SECTION as KEY
from mirage.store import home
from pages import open_page

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
ARENAS = (
    *(f"example {name}" for name in EXAMPLES),
    "with every table",
    *(f"without {table}" for table in open_arena("sample").tables),
)
Find = Callable[[str], Path]


@pytest.fixture(scope="module")
def find(module_path: Path) -> Find:
    """Return the folder of an arena by its name in `ARENAS`; each is written once."""
    paths: dict[str, Path] = {}

    def examples() -> None:
        here = module_path / "docs"
        here.mkdir()
        for name, content in FILES:
            (here / name).parent.mkdir(parents=True, exist_ok=True)
            (here / name).write_text(content, "utf-8")
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
                        mirage(*words)
        finally:
            os.chdir(before)
        paths.update({f"example {name}": here / name for name in EXAMPLES})

    def path(arena: str) -> Path:
        if arena not in paths:
            if arena.startswith("example "):
                examples()
            else:
                without = (arena.removeprefix("without "),)
                paths[arena] = rich_arena.write(module_path / arena / "rich", without=without, languages=LANGUAGES).path
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
def test_every_section_of_every_page_opens(find: Find, monkeypatch: pytest.MonkeyPatch, arena: str, name: str) -> None:
    path = find(arena)
    monkeypatch.setenv("MIRAGE_ARENAS", str(path))
    names = [name for name, folder in home.all_arenas()[0].items() if folder == path]
    link = {"arena": names[0]}
    for section in other_sections(open_sound_page(name, **link)):
        open_sound_page(name, **link, section=section)
