"""The view of a comparison: page, command, its files and the Python API say the same of two systems."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from arena_writer import write_arena
from commands import CliRunner
from conftest import ROOT
from golden.cases import read_table

import mirage
import pages
from benchmarks.simulated import simulate_arena
from mirage import open_arena
from mirage.cli import app
from mirage.ranking.scale import win_rate
from mirage.ranking.settings import CompareSettings
from mirage.text.numbers import FORMATS
from mirage.views.comparison import ComparisonView, compared_measures, comparison_view, systems_in_rank_order
from pages import conclusion, page_text, read_tables

NUMBERS = ("difference", "low", "high", "p", "detectable", "queries_needed", "board")


@pytest.fixture(scope="module")
def own(module_path: Path) -> Path:
    tables = simulate_arena(systems=5, queries=25, languages=["en", "sw"], seed=4).tables
    return write_arena(module_path / "judged", tables).path


def compare(arena: str, pair: tuple[str, str], *options: str) -> tuple[Any, str, int]:
    """Return rows, remarks and exit code of `mirage compare`."""
    done = CliRunner().invoke(app, ["compare", arena, *pair, *options, "--format", "json"])
    return json.loads(done.stdout), " ".join(done.stderr.split()), done.exit_code


def check_command(view: ComparisonView, arena: str, tmp_path: Path, *options: str) -> None:
    """Expect the view's rows, order, sentences and exit code from the command and the files it writes."""
    junit, summary = tmp_path / "gate.xml", tmp_path / "gate.md"
    files = ("--junit", str(junit), "--markdown", str(summary))
    rows, remarks, code = compare(arena, (view.first, view.second), *options, *files)
    assert [(row["language"], row["verdict"], row["n_queries"]) for row in rows] == [
        (row.language, row.verdict, row.n_queries) for row in view.rows
    ]
    for ours, theirs in zip(rows, view.table.to_pylist(), strict=True):
        assert [ours[name] for name in NUMBERS] == [theirs[name] for name in NUMBERS]
    assert view.conclusion in remarks
    assert " ".join(view.evidence.split()) in remarks
    assert code == view.exit_code()
    results = [result for case in ElementTree.parse(junit).getroot()[0] for result in case]
    for row, result in zip(view.rows, results, strict=True):
        assert view.row_sentence(row) in (result.get("message") or result.text or "")
    assert view.overall.verdict in summary.read_text("utf-8")
    assert summary.read_text("utf-8") == mirage_comparison(arena, view, *options).to_markdown()


def mirage_comparison(arena: str, view: ComparisonView, *options: str) -> Any:
    """Return what the Python API says of the same comparison."""
    where = open_arena(Path(arena)) if Path(arena).exists() else mirage.open_arena(arena)
    judge = options[options.index("--judge") + 1] if "--judge" in options else None
    measure = options[options.index("--measure") + 1] if "--measure" in options else "rating"
    compared = mirage.compare(where, view.first, view.second, measure=measure, judge=judge)
    assert (compared.conclusion, compared.evidence) == (view.conclusion, view.evidence)
    assert compared.to_pandas()["verdict"].tolist() == [row.verdict for row in view.rows]
    assert view.conclusion in repr(compared)
    return compared


def check_page(view: ComparisonView, arena: str, **choice: str) -> None:
    """Expect the view's sentences and numbers on the page."""
    page = pages.open_page("compare", arena=arena, a=view.first, b=view.second, **choice)
    assert conclusion(page) == view.conclusion
    assert view.evidence in page_text(page)
    ordered = sorted(view.rows, key=lambda row: row.language != "all")
    shown = read_tables(page)[0]
    rating = view.measure == "rating"
    column, kind = ("Win rate", "rate") if rating else ("Difference", "difference")
    values = [view.rate(row.difference) if rating else row.difference for row in ordered]
    written = ["–" if value is None else FORMATS[kind].write(value) for value in values]
    expected = {column: written, "Verdict": [row.verdict for row in ordered]}
    expected["Queries"] = [f"{row.n_queries:,}" for row in ordered]
    for head, cells in expected.items():
        if head in shown[0]:
            assert [row[head] for row in shown] == cells
        else:  # what every row says stands in the line
            assert set(cells) == {cells[0]}
            assert f"{head.lower()} {cells[0]}" in page_text(page)


@pytest.mark.parametrize(*read_table("compared_doors"))
def test_every_door_says_the_same(
    name: str, pair: tuple[str, str], measure: str, judge: str | None, tmp_path: Path
) -> None:
    arena = open_arena(ROOT / "data" / name)
    assert measure in compared_measures(arena)
    first, second = pair
    view = comparison_view(arena, first, second, CompareSettings(measure, judge))
    options = ("--measure", measure, *(("--judge", judge) if judge else ()))
    check_command(view, name, tmp_path, *options)
    check_page(view, name, by=measure, **({"judge": judge} if judge else {}))


def test_an_own_arena_says_the_same(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arena = open_arena(own)
    first, _, second, *_ = systems_in_rank_order(arena, None)
    view = comparison_view(arena, first, second)
    check_command(view, str(own), tmp_path)
    monkeypatch.setenv("MIRAGE_ARENAS", str(own.parent))
    check_page(view, "judged", by="rating")


def test_what_is_inconclusive_says_what_would_decide_in_the_unit_of_the_measure() -> None:
    arena = open_arena("sample")
    for measure, judge in (("rating", "heuristic"), ("rate", None)):
        view = comparison_view(arena, "half", "padded", CompareSettings(measure, judge))
        least = view.overall.detectable
        assert view.overall.verdict == "inconclusive"
        assert least is not None
        written = f"win rate: {FORMATS['rate'].write(view.rate(least))}" if judge else f"difference: {least:.3f}"
        assert f"Minimum detectable {written}" in view.evidence
        assert "logit" not in view.evidence


def test_a_decided_row_asks_for_no_more_queries() -> None:
    arena = open_arena("nomiracl")
    view = comparison_view(arena, "gpt-4-azure", "aya-101", CompareSettings("rate"))
    decided = [row for row in view.rows if row.verdict != "inconclusive"]
    assert decided
    assert not any("queries needed" in view.row_sentence(row).lower() for row in decided)


def test_a_win_rate_that_differs_from_the_boards_says_the_boards(own: Path) -> None:
    arena = open_arena(own)
    first, second, *_ = systems_in_rank_order(arena, None)
    view = comparison_view(arena, first, second, CompareSettings())
    assert view.overall.board is not None
    by_all = FORMATS["rate"].write(win_rate(view.overall.board))
    assert f"{by_all}." in view.evidence
    assert FORMATS["rate"].write(view.rate(view.overall.difference)) in view.evidence
