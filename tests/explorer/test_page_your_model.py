"""The page Your system: a file in, read and refused as the command does, then where its systems stand."""

import json
import re
from pathlib import Path

import pytest
from commands import mirage
from conftest import ROOT
from own_system import read_system
from streamlit.testing.v1 import AppTest

import pages
from mirage.errors import BadInput
from mirage.io.imports.formats import read_file
from mirage.pipeline import adding
from mirage.store.arena import Arena, open_arena
from mirage.views import features as views
from mirage.views.standing import standing_view

SAMPLE = ROOT / "data" / "sample"


def lines(like: str, *languages: str) -> str:
    """A file with the texts of a system's answers."""
    rows = open_arena(SAMPLE).read("answers", languages=languages).to_pylist()
    keys = ("language", "query_id", "text")
    return "".join(json.dumps({k: r[k] for k in keys}) + "\n" for r in rows if r["system"] == like)


@pytest.fixture(scope="module")
def own(module_path: Path) -> Arena:
    """The sample with a twin of a baseline in two languages."""
    file = module_path / "answers.jsonl"
    file.write_text(lines("baseline/bm25-3", "sw", "te"), "utf-8")
    arena = open_arena(SAMPLE)
    return adding.add_systems(arena, read_system(arena, file, system="mine"), module_path / "arenas" / "sample-own")


def opened(monkeypatch: pytest.MonkeyPatch, arenas: Path, **params: str) -> AppTest:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arenas))
    return pages.open_page("your_model", **params)


def test_a_system_has_its_row_what_it_ties_with_and_its_worst_answers(
    own: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(monkeypatch, own.path.parent, arena="sample-own")
    view = standing_view(own, "mine")
    assert pages.conclusion(app) == view.conclusion
    assert set(view.rows["language"].to_pylist()) == {"all"}
    assert {"mine", "baseline/bm25-3"} <= set(view.rows["system"].to_pylist()), "tied with its twin"
    (board,) = (frame.value for frame in app.dataframe)
    assert len(board) == len(view.rows)
    assert {row.language for row in view.lost} <= {"sw", "te"}
    for row in view.lost:
        texts = own.read("answers", languages=[row.language]).to_pylist()
        shown = [r["text"] for r in texts if r["query_id"] == row.query_id and r["system"] in ("mine", row.better)]
        assert len(shown) == 2
        assert all(len(re.findall(re.escape(name), pages.html(app))) for name in ("mine", row.better))
    assert str(own.path) not in " ".join([*(code.value for code in app.code), pages.html(app)])


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


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("maswali.csv", "mirage evaluate maswali.csv"),
        ("answers.jsonl", "mirage arena copy sample my-arena && mirage evaluate answers.jsonl"),
    ],
)
def test_a_file_is_read_as_evaluate_does_and_its_systems_are_ranked(
    file: str, command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path
) -> None:
    rows = [
        f"Swali la {k}: mji mkuu wa Kenya ni upi?,Nairobi ni mji mkuu wa Kenya.,{answer},{system},{k % 2 == 0}\n"
        for k in range(12)
        for system, answer in (("a", "Nairobi ni mji mkuu." if k % 2 == 0 else "Sijui."), ("b", "Nairobi [1]."))
    ]
    table = "question,context,answer,model,answerable\n" + "".join(rows)
    text = table if file.endswith("csv") else lines("fluent", "sw")
    app = opened(monkeypatch, SAMPLE, arena="sample")
    app.file_uploader[0].set_value((file, text.encode(), "text/plain")).run()
    assert not app.exception
    if file.endswith("jsonl"):
        told = " ".join(error.value for error in app.error).replace("\\", "")
        assert "system is missing" in told
        assert "the field System" in told
        assert "--" not in told
        app.text_input[0].set_value("mine").run()
    assert any("imported" in markdown.value for markdown in app.markdown)
    assert app.code[0].value.startswith(command)
    app.button(key="evaluate_upload").click().run()
    assert not app.exception
    assert not app.error
    system = app.session_state["your_system"]
    assert system in pages.conclusion(app)
    assert str(tmp_path) not in " ".join([*(code.value for code in app.code), pages.html(app)])


def test_a_wrong_file_is_refused_with_the_words_of_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: Path
) -> None:
    app = opened(monkeypatch, SAMPLE, arena="sample")
    odd = "kerdes,valasz\nMi a főváros?,Budapest\n"
    app.file_uploader[0].set_value(("furcsa.csv", odd.encode(), "text/csv")).run()
    (error,) = (re.sub(r"\\(.)", r"\1", error.value) for error in app.error)
    (tmp_path / "furcsa.csv").write_text(odd, "utf-8")
    with pytest.raises(BadInput) as refused:
        read_file(tmp_path / "furcsa.csv")
    assert refused.value.what in error.replace("\u2060", "").replace(error[0], refused.value.what[0], 1)
    assert str(tmp_path) not in error
    assert "the format queries" in error, "not an option of the command"


@pytest.mark.parametrize(
    ("answers", "labelled", "reason"),
    [
        ({"long": "Aneto ez, beste mendi bat da.", "terse": "Testuetan ez dago erantzunik."}, True, "Basque"),
        ({"long": "Aneto ez, beste mendi bat da."}, False, "needs two systems"),
    ],
)
def test_systems_that_nothing_ranks_are_described_on_both_pages_that_rank(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answers: dict[str, str], labelled: bool, reason: str
) -> None:
    rows = [
        {"question": f"Noiz sortu zen Bilboko {k}. kirol elkartea?", "system": system, "answer": answer}
        | {"language": "eu"}
        | ({"answerable": k % 2 == 0} if labelled else {})
        for system, answer in answers.items()
        for k in range(8)
    ]
    (tmp_path / "own.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    mirage("evaluate", tmp_path / "own.jsonl", "--into", tmp_path / "arenas" / "own")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path / "arenas"))
    for page in ("leaderboard", "your_model"):
        app = pages.open_page(page, arena="own")
        assert list(app.dataframe[0].value["system"]) == list(answers)
        assert reason in (app.info[0].value if labelled else pages.conclusion(app))
        assert not app.code, "no command lets relevance labels judge"
    assert not pages.open_page("hallucination", arena="own").dataframe, "a table of no rate"
