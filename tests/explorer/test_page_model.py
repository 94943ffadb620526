"""Page Model: one system's ranks, ratings, opponents, errors and features, each with its n."""

from __future__ import annotations

import pytest

import pages
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
