"""The rated subset of MTRAG, a real file of InspectorRAGet: one command brings it, and pages show it."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from arena_writer import read_rows
from commands import mirage
from commands import rows as printed
from conftest import DATA, PATIENCE, ROOT
from streamlit.testing.v1 import AppTest

from mirage.people.votes import raters
from mirage.store import arena as store_arena
from mirage.store.arena import open_arena
from pages import page_text

FILE = DATA / "mtrag" / "reference_subset_with_human_evaluations.json.gz"
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not FILE.exists(), reason="the rated subset of MTRAG is not beside the checkout"),
]
SYSTEMS = ("gpt-4o", "llama-3.1-405b-instruct", "reference")


@pytest.fixture(scope="module")
def source() -> dict[str, Any]:
    with gzip.open(FILE, "rt", encoding="utf-8") as stream:
        return json.load(stream)


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Path:
    path = module_path / "mtrag"
    mirage("import", FILE, "--into", path)
    return path


def test_one_command_brings_everything(arena: Path, source: dict[str, Any]) -> None:
    opened = open_arena(arena)
    store_arena.check(opened)
    counts = {name: opened.rows(name) for name in ("queries", "references", "passages", "answers")}
    assert counts == {"queries": 159, "references": 159, "passages": 395, "answers": 477}
    assert opened.rows("turns") == sum(len(task["input"]) - 1 for task in source["tasks"])
    ratings = [row for result in source["evaluations"] for row in result["annotations"].values()]
    assert opened.rows("scores") == sum(map(len, ratings)) == 10_426
    assert opened.languages("queries") == ("en",)
    assert {row["system"] for row in read_rows(opened, "answers")} == set(SYSTEMS)
    people = [row for row in read_rows(opened, "scores") if row["person"]]
    assert len({row["rater"] for row in people}) == 7
    kinds = Counter(row["tag"] for row in read_rows(opened, "tags"))
    assert kinds["Answerability"] == kinds["Turn"] == kinds["Collection"] == 159


def opened_page(name: str, arenas: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arenas))
    monkeypatch.setattr(store_arena, "bundled_arenas", dict)
    app = AppTest.from_file(ROOT / "pages" / f"{name}.py", default_timeout=PATIENCE)
    app.query_params["arena"] = "mtrag"
    app.run()
    assert not app.exception
    return app


def test_the_pages_show_it(arena: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judges = opened_page("judges", arena.parent, monkeypatch)
    assert "Ratings of single answers" in [header.value for header in judges.header]
    answers = opened_page("answers", arena.parent, monkeypatch)
    assert "159 of 159" in page_text(answers)
    opened_page("battle", arena.parent, monkeypatch)
    judge = raters.judge_name(open_arena(arena).read("scores"), "faithfulness")
    mirage("votes", "scores", arena, "--verdicts-from", "faithfulness")
    battle = opened_page("battle", arena.parent, monkeypatch)
    assert "faithfulness" in page_text(battle)
    ranking = printed(mirage("rank", arena, "--judge", judge, "--format", "csv"))
    assert {row["system"] for row in ranking} == set(SYSTEMS)
    assert ranking[0]["system"] == "reference"
