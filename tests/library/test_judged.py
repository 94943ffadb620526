"""Real battles of LMArena, judged by people and by three models: what the data's own README says must come out."""

from __future__ import annotations

import csv
import gzip

import pytest
from conftest import DATA, PATIENCE, ROOT
from sklearn.metrics import cohen_kappa_score, recall_score
from streamlit.testing.v1 import AppTest

from mirage import store
from mirage.explorer.judges.data import between
from mirage.io.imports.formats import FileImport, import_file
from mirage.people.exam import exam
from mirage.people.votes.stage import vote_agreement
from mirage.stages.judge.stage import judge_statistics
from pages import page_text

FILE = DATA / "judged" / "chatbot_arena_verdicts.csv.gz"
GPT4, CLAUDE, GPT35 = "gpt-4-0125-preview", "claude-3-opus-20240229", "gpt-3.5-turbo"

pytestmark = pytest.mark.skipif(not FILE.exists(), reason="the judged battles are not beside the checkout")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> FileImport:
    return import_file(FILE, tmp_path_factory.mktemp("judged") / "arena")


def test_every_verdict_is_kept(imported: FileImport) -> None:
    """No row is dropped: 26,919 rows of four judges, also the 36 verdicts that repeat a battle."""
    assert imported.summary.format == "lmarena"
    assert imported.arena.rows("judgments") == 4 * 26_919
    repeated = imported.arena.sql("SELECT count(*) AS n FROM judgments WHERE voter LIKE '%~2'")["n"].to_pylist()
    assert repeated == [36]
    assert "36 verdicts" in imported.summary.guessed["repeated battles"]
    both_bad = imported.arena.sql("SELECT judge, count(*) AS n FROM judgments WHERE verdict = 'both_bad' GROUP BY 1")
    assert both_bad.to_pylist() == [{"judge": "human", "n": 5_132}]


def test_people_are_votes_and_models_are_judges(imported: FileImport) -> None:
    """Exact agreement 55%, 48% and 40%, kappa 0.33, 0.21 and 0.08, with people's verdicts as votes."""
    rows = {row.judge: row for row in vote_agreement(imported.arena, [])}
    assert set(rows) == {GPT4, CLAUDE, GPT35, "people"}
    assert [round(rows[name].raw or 0, 2) for name in (GPT4, CLAUDE, GPT35)] == [0.55, 0.48, 0.40]
    assert [round(rows[name].kappa or 0, 2) for name in (GPT4, CLAUDE, GPT35)] == [0.33, 0.21, 0.08]
    assert all((rows[name].n, rows[name].both_bad) == (26_919, 5_132) for name in (GPT4, CLAUDE, GPT35))


def test_who_is_shown_first_wins(imported: FileImport) -> None:
    """The first position wins 55%, 40% and 86% by the models, and 50.3% by people."""
    first = {row.judge: row.first_rate or 0 for row in judge_statistics(imported.arena.path)}
    assert [round(first[name], 2) for name in (GPT4, CLAUDE, GPT35)] == [0.55, 0.40, 0.86]
    assert round(first["human"], 3) == 0.503


def test_people_are_not_compared_as_a_judge(imported: FileImport) -> None:
    pairs = {(judge, row.judge) for judge, row in between(imported.arena, ("en",))}
    assert pairs == {(CLAUDE, GPT35), (CLAUDE, GPT4), (GPT35, GPT4)}


def test_the_same_file_twice_changes_nothing(imported: FileImport) -> None:
    before = [store.content(imported.arena, table) for table in ("queries", "judgments")]
    twice = import_file(FILE, imported.arena.path).arena
    assert [store.content(twice, table) for table in ("queries", "judgments")] == before


def test_the_judges_page_shows_it(imported: FileImport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(imported.arena.path.parent))
    monkeypatch.setattr(store, "bundled_arenas", dict)
    app = AppTest.from_file(ROOT / "pages" / "judges.py", default_timeout=PATIENCE)
    app.query_params["arena"] = imported.arena.name
    app.run()
    assert not app.exception
    (table,) = (frame.value for frame in app.dataframe)
    assert list(table["judge"]) == [CLAUDE, GPT35, GPT4, "people"]
    assert f"{GPT4} agrees with people in 55." in page_text(app)


def test_the_exam_is_that_of_scikit_learn(imported: FileImport) -> None:
    """On all 26,919 battles, each seen from both sides; what position gains is above people's own on the same."""
    rows = {row.judge: row.measures for row in exam(imported.arena).exams}
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    words = {"model_a": "A", "model_b": "B"}
    turned = {"A": "B", "B": "A", "tie": "tie"}
    people = [words.get(line["human"], "tie") for line in lines]
    both = people + [turned[word] for word in people]
    for judge in (GPT4, CLAUDE, GPT35):
        verdicts = [words.get(line[judge], "tie") for line in lines]
        seen = verdicts + [turned[word] for word in verdicts]
        marks = rows[judge]
        # The nine battles that repeat are decided once.
        assert marks["kappa"].value == pytest.approx(cohen_kappa_score(both, seen), abs=5e-4)
        assert marks["sensitivity"].value == pytest.approx(
            recall_score(both, seen, labels=["A"], average="macro"), abs=5e-4
        )
        assert marks["tie_sensitivity"].value == pytest.approx(
            recall_score(people, verdicts, labels=["tie"], average="macro"), abs=5e-4
        )
        give = {"A": 1.0, "B": 0.0, "tie": 0.5}
        gains = [give[a] - give[b] for a, b in zip(verdicts, people, strict=True)]
        assert marks["first"].value == pytest.approx(sum(gains) / len(gains), abs=5e-4)
