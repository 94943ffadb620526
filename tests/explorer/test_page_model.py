"""Page Model: one system's ranks, ratings, opponents, errors and features, each with its n, and its runs."""

from __future__ import annotations

from pathlib import Path

import pytest
import small_arena

import pages
from mirage import schema, store
from pages import conclusion, page_text, read_tables


def test_it_says_where_a_system_stands_in_every_language() -> None:
    app = pages.open_page("model", arena="nomiracl", system="aya-101")
    assert "aya-101" in conclusion(app)
    assert "Rank 5 of 11 (95% CI 5 to 6)" in page_text(app)
    ratings, opponents, errors, features = read_tables(app)
    assert ratings[0]["Language"] == "All languages"
    assert {row["Language"] for row in ratings} >= {"Arabic", "Telugu"}
    assert all(row["Battles"] != "–" for row in ratings)
    assert len(opponents) == 6
    assert all(int(row["n"].replace(",", "")) > 0 for row in (*opponents, *errors, *features))
    assert len(errors) == 2


def test_languages_narrow_it_and_an_unknown_system_is_named() -> None:
    app = pages.open_page("model", arena="nomiracl", system="aya-101", languages="te")
    assert [row["Language"] for row in read_tables(app)[0]] == ["Telugu"]
    assert "Unknown value in the link" in page_text(pages.open_page("model", arena="nomiracl", system="nobody"))


def test_names_in_tables_lead_to_it() -> None:
    assert "model?system=gpt-4-azure&amp;arena=nomiracl" in pages.html(
        pages.open_page("model", arena="nomiracl", system="aya-101")
    )


@pytest.mark.parametrize("arena", ["published", "sample"])
def test_it_opens_where_there_is_less(arena: str) -> None:
    assert page_text(pages.open_page("model", arena=arena))


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an arena with two runs of a system."""
    path = small_arena.write(tmp_path, "runs").path
    kept = store.keep_run(path, "gpt-4", date="2026-10-01", made_by="a test")
    new = [row for row in small_arena.outcomes(seed=1) if row.system == "gpt-4"]
    rows = store.by_key("outcomes", schema.from_rows("outcomes", new))
    store.upsert(kept.arena.path, {"outcomes": rows}, made_by="a test")
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    return "runs"


@pytest.mark.parametrize("system", ["gpt-4", "gpt-4@2026-10-01"])
def test_runs_of_a_system_are_listed_by_date_with_their_ratings(system: str, runs: str) -> None:
    app = pages.open_page("model", arena=runs, system=system)
    assert not app.exception
    listed = read_tables(app)[-1]
    assert [(row["Date"], row["Run"]) for row in listed] == [
        ("2026-10-01", "gpt-4@2026-10-01"),
        ("unknown", "gpt-4"),
    ]
    assert all(row[name] not in ("", "–") for row in listed for name in ("Rating", "Low", "High", "Battles"))
    labels = [link.proto.label for link in app.get("page_link")]
    assert any("Compare with the run of 2026-10-01" in label for label in labels)


def test_a_single_run_comes_with_the_command_that_keeps_it(runs: str) -> None:
    app = pages.open_page("model", arena=runs, system="aya-101")
    assert "One run" in page_text(app)
    assert any("keep-run" in block.value and "aya-101" in block.value for block in app.code)
