"""Keys of widgets and links: a key that several pages use means the same on each."""

from collections import defaultdict
from pathlib import Path

import pytest
import small_arena

from pages import open_page, uses


def test_a_key_of_several_pages_means_the_same_on_each() -> None:
    meanings = defaultdict(lambda: defaultdict(set))
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
def folder(module_path: Path) -> Path:
    small_arena.write(module_path, tables=("outcomes", "judgments"))
    return module_path


@pytest.mark.usefixtures("arenas")
@pytest.mark.parametrize("key", ["section", "skill", "scale"])
def test_a_control_that_a_link_leaves_without_a_choice_has_its_first(key: str) -> None:
    page = open_page("leaderboard", arena="small", **{key: "9" * 5000})
    page.session_state[key] = None
    assert not page.run().exception


def test_a_link_names_what_was_a_default_when_it_is_one_no_longer() -> None:
    page = open_page("leaderboard", arena="sample", languages="sw")
    assert page.segmented_control(key="section").value == "Wins"
    assert "section" not in page.query_params
    page.multiselect(key="languages").set_value(["sw", "te"]).run()
    assert page.segmented_control(key="section").options[0] == "Ranks"
    assert page.segmented_control(key="section").value == "Wins", "the page stays as it was"
    assert page.query_params["section"] == "Wins", "for whoever opens the link too"
