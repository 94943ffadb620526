"""What people say of citations: each counts once, intervals know the answer, and where the shares are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import PATIENCE, ROOT
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from votes_cases import evidence

from benchmarks.simulated import simulate_arena
from mirage import schema, store
from mirage.errors import NotEnoughData
from mirage.people import votes
from mirage.people.votes import EVERYBODY, CitationSupport, Votes
from mirage.people.votes.stage import citation_support
from mirage.stats.intervals import clustered_proportion, wilson


def by_key(rows: list[CitationSupport]) -> dict[tuple[str, str], CitationSupport]:
    return {(row.language, row.system): row for row in rows}


def test_a_citation_counts_once_as_what_most_people_say() -> None:
    log = [
        *(evidence(voter=voter, vote=vote) for voter, vote in (("a", "yes"), ("b", "yes"), ("c", "no"))),
        *(evidence(sentence=1, voter=voter, vote=vote) for voter, vote in (("a", "yes"), ("b", "no"))),
        evidence(sentence=2, voter="a", vote="unclear"),
        evidence(query_id="8", voter="a", vote="no"),
        evidence(query_id="8", system="other", voter="a", vote="yes"),
    ]
    results = by_key(votes.support_by_system(log))
    row = results["sw", "mine"]
    assert (row.supported, row.citations, row.unclear, row.answers, row.voters) == (0.5, 2, 2, 2, 3)
    assert results["sw", "other"].reason == "one answer has no interval"
    assert (results["sw", "other"].supported_low, results["sw", "other"].supported) == (None, 1.0)
    everything = results["sw", EVERYBODY]
    assert (everything.citations, everything.answers) == (3, 3)
    assert votes.support_by_system(log[::-1]) == votes.support_by_system(log)


def test_only_unclear_citations_have_no_share() -> None:
    (result, _) = sorted(votes.support_by_system([evidence(vote="unclear")]), key=lambda row: row.system == EVERYBODY)
    assert (result.supported, result.supported_low, result.unclear, result.reason) == (
        None,
        None,
        1,
        "no citation is clear",
    )


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)).map(lambda x: (min(x), x[1])), min_size=2, max_size=30))
def test_the_interval_holds_the_share_and_stays_in_range(cells: list[tuple[int, int]]) -> None:
    share, low, high = clustered_proportion(cells)
    assert 0 <= low <= share <= high <= 1
    assert clustered_proportion(cells[::-1]) == pytest.approx((share, low, high))


def test_one_cluster_has_no_interval() -> None:
    with pytest.raises(NotEnoughData):
        clustered_proportion([(3, 4)])


@pytest.mark.parametrize("share", [0.5, 0.85, 0.95])
@pytest.mark.parametrize("answers", [15, 60])
def test_by_simulation_95_percent_intervals_cover_clustered_shares(share: float, answers: int) -> None:
    """Beta-binomial answers of one to four citations, correlation 0.3 within an answer: 1,500 samples, seed 5."""
    rng = np.random.default_rng(5)
    hits = plain = 0
    for _ in range(1500):
        n = rng.integers(1, 5, answers)
        k = rng.binomial(n, rng.beta(share * 0.7 / 0.3, (1 - share) * 0.7 / 0.3, answers))
        _, low, high = clustered_proportion(list(zip(k.tolist(), n.tolist(), strict=True)))
        hits += low <= share <= high
        low, high = wilson(int(k.sum()), int(n.sum()))
        plain += low <= share <= high
    assert hits / 1500 >= 0.93
    assert hits / 1500 <= 0.985
    assert plain < hits, "an interval that takes citations for independent misses more often"


# --- in an arena ------------------------------------------------------------------------------------------------------


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> store.Arena:
    """An arena with features and answers, and votes on citations of which some are of answers since replaced."""
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path / "arenas"))
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(votes.URL, raising=False)
    simulation = simulate_arena(systems=3, queries=12, languages=["sw"], seed=4)
    keys = simulation.tables["features"].group_by(["language", "query_id", "system"]).aggregate([]).to_pylist()
    answers = [
        schema.Answer(row["language"], row["query_id"], row["system"], answer_text(row["query_id"]), "ok", *[None] * 3)
        for row in keys
    ]
    passages = [
        schema.Passage("sw", query, evidence().passage_id, 1, None, "Ni mlima.", None)
        for query in sorted({row["query_id"] for row in keys})
    ]
    tables = dict(simulation.tables) | {
        "answers": schema.sort("answers", schema.from_rows("answers", answers)),
        "passages": schema.sort("passages", schema.from_rows("passages", passages)),
    }
    arena = store.write(tmp_path / "arenas" / "cited", tables, title="Cited", made_by="a test")
    system = keys[0]["system"]
    queries = sorted({row["query_id"] for row in keys})
    about = {"arena": "cited", "system": system}
    log = [
        evidence(
            query_id=query,
            voter="amina",
            vote="yes" if k % 4 else "no",
            shown=votes.shown_digest(["", "Ni mlima."], [answer_text(query)]),
            **about,
        )
        for k, query in enumerate(queries)
    ]
    before = votes.shown_digest(["", "Ni mlima."], ["what it said before"])
    log.append(evidence(query_id=queries[1], voter="bo", vote="no", shown=before, **about))
    with Votes() as database:
        database.append(log)
    return arena


def answer_text(query: str) -> str:
    return f"So it is [{query}]."


def test_votes_on_replaced_answers_do_not_count(arena: store.Arena) -> None:
    with Votes() as database:
        log = database.rows(votes.Evidence)
    rows = citation_support(arena, log)
    assert [row.system for row in rows] == [EVERYBODY, log[0].system]
    assert (rows[0].citations, rows[0].supported) == (12, 0.75)
    with pytest.raises(NotEnoughData, match="no votes on citations"):
        citation_support(arena, [])


def features(**link: str) -> AppTest:
    app = AppTest.from_file(ROOT / "pages" / "features.py", default_timeout=PATIENCE)
    app.query_params.update({"arena": "cited", **link})
    return app.run()


def tables(app: AppTest) -> list[Any]:
    return [frame.value for frame in app.dataframe if "supported" in frame.value.columns]


def test_the_features_page_shows_them_with_interval_and_n(arena: store.Arena) -> None:
    app = features(section="Means")
    assert not app.exception
    (table,) = tables(app)
    assert table["supported"].tolist() == [75, 75], "in percent"
    assert table["citations"].tolist() == [12, 12]
    assert "Too few answers to be reliable\\: Swahili." in "\n".join(caption.value for caption in app.caption)


def test_without_votes_on_citations_the_features_page_has_no_such_part(
    arena: store.Arena, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "elsewhere"))
    app = features(section="Means")
    assert not app.exception
    assert not tables(app)
