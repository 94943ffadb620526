"""The Judges page: every measure of every judge with its interval and n, or the reason why there is none."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rich_arena
import small_arena
from arena_writer import make_answer, make_judgment, read_rows, write_arena
from conftest import ROOT
from store_cases import forge
from streamlit.testing.v1 import AppTest

import pages
from benchmarks.simulated import simulate_arena
from mirage import schema
from mirage.battles.decision import decisions
from mirage.battles.judge import people_judges
from mirage.explorer.kit import votes as people
from mirage.people.exam import MEASURES_ALONE
from mirage.people.votes.queue import RANDOM, VoteItem
from mirage.people.votes.rows import cast, token
from mirage.ranking.control import control_style, covariates
from mirage.ranking.judges import VerdictJudge, battles_of
from mirage.schema import PEOPLE
from mirage.stages.judge.faults import ORIGINAL, passport_path
from mirage.store import arena as store_arena
from mirage.store.arena import open_arena
from mirage.text.languages import LANGUAGES
from mirage.views import exam as views
from mirage.views.exam import JudgeRow
from pages import figures, html, notes, page_text


@pytest.fixture
def arenas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two judges of known makers without flips, and lengths."""
    rows = []
    for judge in ("gpt-4o", "command-r"):
        for q in range(6):
            for a, b in (("gpt-4", "aya-101"), ("aya-101", "llama-3"), ("llama-3", "gpt-4")):
                winner = "gpt-4" if "gpt-4" in (a, b) and (judge == "gpt-4o" or q % 2) else "aya-101"
                verdict = "tie" if winner not in (a, b) else "A" if winner == a else "B"
                rows.append(make_judgment("en", f"q{q}", judge, a, b, verdict))
                turned = {"A": "B", "B": "A", "tie": "tie"}[verdict]
                rows.append(make_judgment("en", f"q{q}", judge, b, a, turned))
    features = [
        schema.Feature("en", f"q{q}", system, "length", float(100 * (k + 1) + 7 * q), None)
        for q in range(6)
        for k, system in enumerate(("gpt-4", "aya-101", "llama-3"))
    ]
    tables = {"judgments": rows, "features": features}
    write_arena(tmp_path / "judged", tables, title="Two judges", label="simulated")
    small_arena.write(tmp_path, "unjudged", tables=("outcomes",))
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    monkeypatch.setattr(store_arena, "bundled_arenas", dict)
    return tmp_path


opened = partial(pages.open_page, "judges")


def test_the_measures_are_those_of_the_functions_that_define_them(arenas: Path) -> None:
    arena = open_arena(arenas / "judged")
    rows = {row.judge: row for row in views.exam_view(arena).rows}
    row, marks = rows["gpt-4o"], rows["gpt-4o"].measures
    assert (row.n, marks["flip"].value, marks["flip"].n, marks["first"].value) == (36, 0.0, 18, 0.5)
    # Of the 12 battles of gpt-4 its family wins all by gpt-4o; by command-r the 6 on odd queries, 3 more tie.
    assert (marks["family"].value, marks["family"].n) == (1 - 7.5 / 12, 12)
    assert rows["command-r"].measures["family"].n == 12
    known = covariates(arena.read("features"), ["length"])
    (slope,) = control_style(battles_of(arena, VerdictJudge("gpt-4o")), known).coefficients["en"]
    assert (marks["length"].value, marks["length"].low, marks["length"].high) == (slope.value, slope.low, slope.high)


def test_a_judge_without_lengths_or_a_maker_has_the_reason(arenas: Path) -> None:
    small_arena.write(arenas, "plain", tables=("judgments",))
    for row in views.exam_view(open_arena(arenas / "plain")).rows:
        assert row.measures["length"].value is None
        assert "length" in (row.measures["length"].reason or "")
        assert row.measures["family"].value is None
        assert row.measures["family"].reason


def test_the_cost_of_a_thousand_is_that_of_the_tokens_counted() -> None:
    row = JudgeRow("j", "en", 200, 0, {}, 200, 400_000, 20_000)
    assert row.cost(2.5, 10.0) == pytest.approx((0.4 * 2.5 + 0.02 * 10) / 200 * 1000)
    assert row.cost(None, 10.0) is None
    assert replace(row, tokens_in=None).cost(2.5, 10.0) is None


def test_the_page_has_a_line_for_each_judge_and_a_column_for_each_measure(arenas: Path) -> None:
    app = opened(arena="judged")
    (table,) = (frame.value for frame in app.dataframe)
    assert list(table["judge"]) == ["command-r", "gpt-4o"]
    measures = {column for column in table.columns if column.endswith("_interval")}
    assert "flip_interval" in measures
    assert len(measures) <= 5, "the table has at most seven columns"
    app = opened(arena="judged", judge_columns=list(MEASURES_ALONE))
    assert {f"{name}_interval" for name in MEASURES_ALONE} <= set(app.dataframe[0].value.columns)
    assert "72 verdicts, 2 judges, 1 language" in page_text(app)


def test_slopes_of_many_verdicts_are_fitted_once_they_are_the_figure(
    arenas: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "FEW", 0)
    app = opened(arena="judged")
    assert "length_interval" not in app.dataframe[0].value.columns
    assert f"Length slope ({views.NOT_FITTED})" in page_text(app)
    app = opened(arena="judged", judge_columns="length")
    assert "length_interval" in app.dataframe[0].value.columns


def test_a_row_leads_to_the_ranking_by_that_judge(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mirage.explorer.kit.table.table", lambda *_, **__: 1)
    app = opened(arena="judged")
    assert "**gpt-4o** in English" in page_text(app)


@pytest.fixture
def partly(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A judge in four languages; `vote` in some of them decides what the page has to say of people."""
    simulation = simulate_arena(
        systems=4, queries=20, languages=["ar", "en", "fi", "sw"], seed=1, judges=("gpt-4o", "zeta")
    )
    write_arena(tmp_path / "sim", simulation.tables, label="simulated")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    monkeypatch.setattr(store_arena, "bundled_arenas", dict)
    return tmp_path / "sim"


def vote(arena: Path, counts: dict[str, int], *, control: bool = True) -> None:
    """Vote as the first judge did, so often in each language."""
    verdicts = decisions(open_arena(arena).read("judgments"))["gpt-4o"]
    log = []
    for code, n in counts.items():
        for language, query, first, second in [battle for battle in verdicts if battle[0] == code][:n]:
            item = VoteItem(language, query, first, second, control, RANDOM if control else "close")
            log.append(cast(item, vote="A", vote_id=token(), arena="sim", voter="amina"))
    people.database().append(log)


def voted_on(app: AppTest) -> set[int]:
    """On how many votes the sentence rests that says which judge agrees most with people."""
    return {int(n) for n in re.findall(r"of votes \(.*?n = (\d+)\)", page_text(app))}


@pytest.mark.parametrize(
    ("counts", "picked", "expected", "none"),
    [
        ({"en": 12}, "", {12}, {"Arabic", "Finnish", "Swahili"}),
        ({"en": 12, "sw": 5}, "", {17}, {"Arabic", "Finnish"}),
        ({"en": 12, "sw": 5}, "ar en", {12}, {"Arabic"}),
        ({"en": 12, "sw": 5}, "en sw", {17}, set()),
        ({"en": 12}, "en", {12}, set()),
    ],
)
def test_agreement_is_shown_by_language_and_languages_without_votes_are_named(
    partly: Path, counts: dict[str, int], picked: str, expected: set[int], none: set[str]
) -> None:
    vote(partly, counts)
    vote(partly, {"fi": 3}, control=False)
    app = opened(arena="sim", languages=picked.split()) if picked else opened(arena="sim")
    assert voted_on(app) == expected
    (note,) = (note for note in notes(app) if "Random votes" in note)
    have, _, lack = note.partition("Random votes")[2].partition("No votes in")
    shown = set(picked.split() or ("ar", "en", "fi", "sw"))
    for code, n in counts.items():
        assert (f"{LANGUAGES[code].name} {n}" in have) is (code in shown)
    assert {name for name in ("Arabic", "English", "Finnish", "Swahili") if name in lack} == none
    assert not none or lack.split()[0] == str(len(none))
    assert app.dataframe[0].value["judge"].iloc[-1] == PEOPLE


def test_with_votes_the_page_begins_with_agreement_by_language_and_people_beside_it(partly: Path) -> None:
    vote(partly, {"en": 12, "sw": 5})
    app = opened(arena="sim")
    ((key, figure),) = figures(app).items()
    assert key == "by_language_agree"
    assert list(figure["layout"]["yaxis"]["ticktext"]) == ["English", "Swahili"], "languages without votes are left out"
    assert {trace["name"] for trace in figure["data"]} >= {"gpt-4o", "zeta"}
    assert not any("--known" in code.value for code in app.code)


def test_without_votes_and_known_pairs_the_page_says_what_brings_them(partly: Path) -> None:
    app = opened(arena="sim")
    assert not {"by_language_agree", "by_language_known"} & set(figures(app))
    assert any(f"mirage judge {partly}" in code.value and "--known" in code.value for code in app.code)
    assert "Spot check" in page_text(app)


def test_known_answers_alone_tell_whether_to_trust_a_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(ROOT / "data" / "sample"))
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path))
    app = opened(arena="sample", languages=["en", "te"])
    ((key, figure),) = figures(app).items()
    assert key == "by_language_known"
    assert figure["layout"]["yaxis"]["ticktext"] == ["English", "Telugu"]
    assert figure["layout"]["shapes"][0]["x0"] == 0.5, "chance"
    assert not any("--known" in code.value for code in app.code)


def test_a_forged_arena_with_repeated_or_no_rows_is_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = rich_arena.write(tmp_path, languages=("en",)).path
    outcomes, predictions = (pq.read_table(next((path / name).glob("en-*"))) for name in ("outcomes", "predictions"))
    forge(path, "outcomes", pa.concat_tables([outcomes, outcomes]))
    for place in range(len(open_arena(path).manifest["tables"]["predictions"])):
        forge(path, "predictions", predictions.slice(0, 0), place)
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    assert figures(pages.open_page("judges", arena=path.name))
    assert "No predictions" in html(pages.open_page("surrogate", arena=path.name))


@pytest.mark.parametrize("name", ["anna", "people: clear"])
def test_people_among_the_judges_come_last_and_are_named_as_such(arenas: Path, name: str) -> None:
    """By a name, or by the scale whose scores their verdicts follow from."""
    rows = [schema.Judgment(**row) for row in read_rows(arenas / "judged", "judgments")]
    human = [replace(row, judge=name, person=True, call=None) for row in rows if row.judge == "gpt-4o"]
    tables = {"judgments": rows + human}
    arena = write_arena(arenas / "with-people", tables, title="People", label="own data")
    assert people_judges(arena) == {name}
    table = views.exam_view(arena).table().to_pylist()
    assert table[-1]["judge"] in (name, PEOPLE)
    app = opened(arena="with-people")
    assert f"2 judges and human annotators ({name})" in page_text(app)


def test_a_passport_is_shown_by_fault(arenas: Path) -> None:
    assert "Passport" not in page_text(opened(arena="judged"))
    answers, verdicts = [], []
    for code, q in ((code, q) for code in ("en", "fi") for q in range(12)):
        answers.append(make_answer(code, f"q{q}", ORIGINAL, "so"))
        answers.append(make_answer(code, f"q{q}", "unsupported", "so it is"))
        answers.append(schema.Answer(code, f"q{q}", "padding", None, "missing", None, "no sentence", None))
        for a, b in ((ORIGINAL, "unsupported"), ("unsupported", ORIGINAL)):
            seen = (a == ORIGINAL) == (code == "en")
            verdicts.append(make_judgment(code, f"q{q}", "j", a, b, "A" if seen else "B"))
    tables = {"answers": answers, "judgments": verdicts}
    write_arena(passport_path(arenas / "judged"), tables)
    app = opened(arena="judged")
    assert "Passport" in page_text(app)
    table = next(element.value for element in app.dataframe if "unmade" in element.value).set_index("fault")
    assert table["n"]["Unsupported"] == 12
    assert table["unmade"]["Padding"] == 12
    rows = views.passport_view(open_arena(arenas / "judged"), "j")
    assert [row.detected for row in rows if row.fault == "unsupported"] == [1.0, 0.0, 0.5]
