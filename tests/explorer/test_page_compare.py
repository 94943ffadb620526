"""The Compare page: the verdict in words, languages with the margin, the queries that moved and the way to them."""

from functools import partial
from pathlib import Path

import pyarrow.compute as pc
import pytest
import small_arena
from arena_writer import write_arena
from conftest import ROOT

import pages
from mirage import open_arena
from mirage.publish.charts.palette import FORMATS
from mirage.ranking.judges import LabelJudge
from mirage.ranking.settings import CompareSettings
from mirage.views.comparison import compared_measures, compared_systems, comparison_view, systems_in_rank_order
from pages import conclusion, page_text, read_tables


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    small_arena.write(module_path, "judged", tables=("outcomes", "judgments"))
    return module_path


open_page = partial(pages.open_page, "compare", arena="judged")


def test_it_opens_on_the_two_best(arenas: Path) -> None:
    page = open_page(arena="judged", by="rating", judge="relevance")
    ranked = systems_in_rank_order(open_arena(arenas / "judged"), LabelJudge())
    assert (page.selectbox(key="a").value, page.selectbox(key="b").value) == ranked[:2]


def test_every_measure_that_is_offered_can_be_compared(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for measure in compared_measures(open_arena(ROOT / "data" / "sample")):
        monkeypatch.setenv("MIRAGE_ARENAS", str(ROOT / "data"))
        page = open_page(arena="sample", by=measure, a="thorough", b="concise", languages=["en", "te"])
        assert not page.exception, measure
        assert conclusion(page), (measure, page_text(page))


def test_the_second_system_may_be_in_another_arena(
    arenas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Yesterday and today: the same system of two arenas, by key, as the command compares them."""
    folder = tmp_path / "both"
    small_arena.write(folder, "judged", tables=("outcomes", "judgments"))
    today = open_arena(folder / "judged")
    outcomes = today.read("outcomes")
    turned = pc.invert(outcomes["correct"])
    place = outcomes.column_names.index("correct")
    tables = {"outcomes": outcomes.set_column(place, outcomes.schema.field("correct"), turned)}
    yesterday = write_arena(folder / "yesterday", tables, title="Yesterday", label="own data")
    monkeypatch.setenv("MIRAGE_ARENAS", str(folder))
    system = compared_systems(today, "rate", None)[0]
    expected = comparison_view(today, system, settings=CompareSettings("rate"), against=yesterday)
    app = open_page(by="rate", a=system, compare_against="yesterday", b=system)
    assert conclusion(app) == expected.conclusion
    assert conclusion(app).endswith(f"{system} (yesterday).")
    assert read_tables(app)[0][0]["Difference"] == FORMATS["difference"].write(expected.overall.difference)
    alone = open_page(by="rate", a=system)
    assert "yesterday" not in conclusion(alone)
