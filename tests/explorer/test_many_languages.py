"""Arenas in other languages than the 18: Vietnamese, Greek and Brazilian Portuguese by hand, and 60 at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from arena_writer import write_arena
from commands import mirage
from conftest import ROOT
from golden.cases import read_pairs
from many_languages_cases import SIXTY

from benchmarks.simulated import simulate_arena
from mirage.store.arena import open_arena
from mirage.text.languages import in_order, language, search_name
from pages import html, open_page, page_text

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))

TEXTS = read_pairs("own_languages")
"""Query, passage and answer, with room for the id it cites. Written for this test (CC0)."""
UNKNOWN = {"vi": "Tôi không biết.", "el": "Δεν γνωρίζω.", "pt-BR": "Não sei."}


def records() -> dict[str, list[dict[str, Any]]]:
    queries, answers, judgments = [], [], []
    for code, rows in TEXTS.items():
        # As people write it; stored in its normal form.
        spelled = {"pt-BR": "pt_br"}.get(code, code)
        for k, (query, passage, answer) in enumerate(rows):
            key = {"language": spelled, "query_id": f"q{k}"}
            relevant = k % 3 != 2
            passages = [{"passage_id": f"{code}-p{k}", "text": passage, "relevant": relevant}]
            subset = "relevant" if relevant else "non_relevant"
            queries.append({**key, "text": query, "subset": subset, "passages": passages})
            cited = answer.format(f"{code}-p{k}")
            english = "Yes, answer is present." if relevant else "I don't know."
            for system, text in (("native", cited), ("unsure", UNKNOWN[code]), ("english", english)):
                answers.append({**key, "system": system, "text": text})
            for a, b, verdict in (("native", "unsure", "A"), ("native", "english", "tie"), ("unsure", "english", "B")):
                judgments.append({**key, "judge": "j", "system_a": a, "system_b": b, "verdict": verdict})
    return {"queries": queries, "answers": answers, "judgments": judgments}


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The arena by hand, made by the commands that users have."""
    root = tmp_path_factory.mktemp("three")
    for kind, rows in records().items():
        file = root / f"{kind}.jsonl"
        file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        mirage("import", file, "--as", kind, "--into", root / "arenas" / "three")
    mirage("measure", "outcomes", root / "arenas" / "three")
    mirage("measure", "features", root / "arenas" / "three")
    return root / "arenas"


@pytest.fixture(scope="module")
def sixty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sixty")
    simulation = simulate_arena(systems=4, queries=4, languages=SIXTY, seed=3)
    write_arena(root / "sixty", dict(simulation.tables))
    return root


def test_their_english_is_read_and_what_is_not_understood_is_left_undecided(three: Path) -> None:
    arena = open_arena(three / "three")
    rows = arena.sql("SELECT language, system, outcome, rule FROM outcomes WHERE parser = 'strict'").to_pylist()
    assert {row["outcome"] for row in rows if row["system"] == "english"} == {"answered", "abstained"}
    assert {row["rule"] for row in rows if row["system"] != "english"} == {"language_not_understood"}


def test_their_answers_are_in_their_language_and_their_citations_count(three: Path) -> None:
    arena = open_arena(three / "three")
    means = {
        (row["language"], row["feature"]): row["mean"]
        for row in arena.sql(
            "SELECT language, feature, avg(value) AS mean FROM features WHERE system = 'native' GROUP BY ALL"
        ).to_pylist()
    }
    for code in TEXTS:
        assert means[code, "target_language"] > 0.5
        assert means[code, "n_citations"] == 1


def test_they_are_ranked_and_judged(three: Path) -> None:
    ranking = json.loads(mirage("rank", three / "three", "--judge", "j", "--format", "json").stdout)
    best = {row["language"]: row["system"] for row in ranking if row["rank"] == 1}
    assert set(TEXTS) <= set(best)
    assert "unsure" not in best.values()


@pytest.mark.parametrize(
    ("folder", "page"),
    [*(("three", page) for page in PAGES), *(("sixty", page) for page in ("hallucination", "features", "judges"))],
)
def test_every_page_opens(
    folder: str, page: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(request.getfixturevalue(folder)))
    assert page_text(open_page(page, arena=folder))


def test_many_languages_are_picked_by_name_and_by_family(sixty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(sixty))
    app = open_page("leaderboard", arena="sixty")
    search = app.selectbox(key="language_search")
    slavic = next(label for label in search.options if label.startswith("Slavic"))
    members = [code for code in SIXTY if language(code).family == "Slavic"]
    assert f": {len(members)} languages" in slavic
    app = search.set_value(slavic).run()
    assert app.multiselect(key="languages").value == in_order(members)
    app = app.selectbox(key="language_search").set_value(search_name("vi")).run()
    assert app.multiselect(key="languages").value == in_order([*members, "vi"])
    assert app.selectbox(key="language_search").value is None


def test_a_language_is_found_by_both_names_and_the_link_keeps_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIRAGE_ARENAS", raising=False)
    app = open_page("leaderboard", languages="sw")
    shown = app.multiselect(key="languages_named")
    assert shown.value == ["sw"]
    (telugu,) = [label for label in shown.options if "Telugu" in label]
    assert "తెలుగు" in telugu
    assert "(te)" in telugu
    app = shown.set_value(["te"]).run()
    assert app.multiselect(key="languages").value == ["te"]
    assert "in Telugu" in page_text(app)


def test_few_languages_have_no_search_by_name_and_texts_carry_theirs(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(three))
    assert 'lang="el" dir="ltr"' in html(open_page("answers", languages="el"))
    assert "language_search" not in {box.key for box in open_page("leaderboard").selectbox}
