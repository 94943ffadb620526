"""Keys of widgets and links: a key that several pages use means the same on each; old keys are read once."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import small_arena
from conftest import PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

from pages import page_text

PREFIXED = {"ui.side_by_side"}
"""Functions that put a word of their own before a key."""


def uses() -> Iterator[tuple[str, str, tuple[str, str]]]:
    """Yield key, file and meaning of every widget with a literal key: the function that draws it and what it picks."""
    for path in sorted((*(ROOT / "pages").glob("*.py"), *(ROOT / "mirage" / "ui").glob("*.py"))):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or ast.unparse(call.func) in PREFIXED:
                continue
            named = {keyword.arg: keyword.value for keyword in call.keywords}
            key = named.get("key")
            if isinstance(key, ast.Constant):
                kind = ast.unparse(named["kind"]) if "kind" in named else "".join(map(ast.unparse, call.args[:1]))
                yield key.value, path.name, (ast.unparse(call.func).removeprefix("ui."), kind)


def test_a_key_of_several_pages_means_the_same_on_each() -> None:
    meanings: dict[str, dict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
    for key, file, meaning in uses():
        meanings[key][meaning].add(file)
    assert len(meanings) > 100
    different = {
        key: {meaning: sorted(files) for meaning, files in by_meaning.items()}
        for key, by_meaning in meanings.items()
        if len(by_meaning) > 1 and len({file for files in by_meaning.values() for file in files}) > 1
    }
    assert different == {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two arenas of the same systems."""
    folder = tmp_path_factory.mktemp("arenas")
    for name in ("today", "yesterday"):
        small_arena.write(folder, name, tables=("outcomes", "judgments"))
    return folder


def opened(name: str, **link: str) -> Any:
    page = AppTest.from_file(ROOT / "pages" / f"{name}.py", default_timeout=PATIENCE)
    for key, value in link.items():
        page.query_params[key] = value
    page.run()
    assert not page.exception
    return page


@pytest.mark.usefixtures("arenas")
@pytest.mark.parametrize(
    ("name", "key", "value"),
    [("leaderboard", "leaderboard_against", "gpt-4"), ("compare", "compare_against", "yesterday")],
)
def test_a_link_with_the_old_key_shows_the_same_and_goes_on_with_the_new(name: str, key: str, value: str) -> None:
    old, new = (opened(name, arena="today", **{param: value}) for param in ("against", key))
    assert old.selectbox(key=key).value == new.selectbox(key=key).value == value
    assert page_text(old) == page_text(new)
    assert "against" not in old.query_params
    old.run()
    assert old.selectbox(key=key).value == value


@pytest.mark.usefixtures("arenas")
@pytest.mark.parametrize(("name", "value"), [("leaderboard", "yesterday"), ("compare", "gpt-4")])
def test_a_link_of_the_other_page_is_answered_with_a_notice(name: str, value: str) -> None:
    page = opened(name, arena="today", against=value)
    assert "The link asks for what is not here" in page_text(page)
