"""The page Your system: answers in, checked with line numbers, then how a judge ranks the system, and its features."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT
from streamlit.testing.v1 import AppTest

import pages
from mirage.pipeline import adding
from mirage.store.arena import Arena, open_arena
from mirage.views import features as views

SAMPLE = ROOT / "data" / "sample"


def lines(like: str, *languages: str) -> str:
    """A file with the texts of a system's answers."""
    rows = open_arena(SAMPLE).read("answers", languages=languages).to_pylist()
    keys = ("language", "query_id", "text")
    return "".join(json.dumps({k: r[k] for k in keys}) + "\n" for r in rows if r["system"] == like)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """The sample with a twin of a baseline in two languages."""
    folder = tmp_path_factory.mktemp("own")
    file = folder / "answers.jsonl"
    file.write_text(lines("baseline/bm25-3", "sw", "te"), "utf-8")
    arena = open_arena(SAMPLE)
    return adding.add_system(arena, adding.read_system(arena, file, system="mine"), folder / "arenas" / "sample-own")


def opened(monkeypatch: pytest.MonkeyPatch, arenas: Path, **params: str) -> AppTest:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arenas))
    return pages.open_page("your_model", **params)


def test_a_system_in_its_own_languages_is_told_how_a_judge_ranks_it(
    own: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(monkeypatch, own.path.parent, arena="sample-own")
    assert views.languages_with_features(own, "mine") == ("sw", "te")
    (commands,) = (code.value for code in app.code if "mirage judge" in code.value)
    judge, rank = commands.split(" && ")
    assert judge.startswith(f"mirage judge {own.path} --judge ")
    assert rank.startswith(f"mirage rank {own.path} --judge ")
    (features,) = (frame.value for frame in app.dataframe)
    assert len(features) == len(views.compare_features(own, "mine", ("sw", "te")))


def test_its_features_are_compared_in_the_same_languages(own: Arena) -> None:
    rows = {row["feature"]: row for row in views.compare_features(own, "mine", ("sw", "te")).to_pylist()}
    twin = {row["feature"]: row for row in views.compare_features(own, "baseline/bm25-3", ("sw", "te")).to_pylist()}
    # The sample's nuggets are assigned by how its answers were made, which is not known of others.
    assert all(name.startswith("nugget") for name in set(twin) - set(rows))
    # To the last digit but one: Python adds floats another way since 3.12.
    assert {name: row["mean"] for name, row in rows.items()} == pytest.approx(
        {name: twin[name]["mean"] for name in rows}, rel=1e-12
    )
    recall = rows["citation_Recall@10"]
    assert recall["least"] <= recall["others"] <= recall["most"]
    assert recall["place"] == twin["citation_Recall@10"]["place"]
    assert rows["length"]["place"] is None


def test_without_a_system_the_page_says_how_to_bring_one(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(monkeypatch, SAMPLE, arena="sample")
    assert any("mirage generate" in code.value for code in app.code)
    assert [header.value for header in app.header] == ["1. Generate answers", "2. Upload answers"]
