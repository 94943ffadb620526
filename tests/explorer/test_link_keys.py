"""Keys of widgets and links: a key that several pages use means the same on each."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
import small_arena

from pages import open_page, uses


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


@pytest.mark.usefixtures("arenas")
def test_a_link_to_a_section_that_is_not_there_opens_the_first() -> None:
    page = open_page("leaderboard", arena="today", section="9" * 5000)
    # The control is left without a choice where the link names none of its own.
    page.session_state["section"] = None
    assert not page.run().exception


@pytest.mark.usefixtures("arenas")
@pytest.mark.parametrize("key", ["skill", "scale"])
def test_a_control_that_a_link_leaves_without_a_choice_has_its_first(key: str) -> None:
    page = open_page("leaderboard", arena="today", **{key: "9" * 5000})
    page.session_state[key] = None
    assert not page.run().exception
