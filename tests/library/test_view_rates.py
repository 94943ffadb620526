"""Rates by every door, on outcomes counted by hand and on the bundled arenas."""

import csv
import json
import math
import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import pytest
import small_arena
from arena_writer import write_arena
from commands import mirage
from conftest import ROOT
from golden.cases import read_golden

from mirage import open_arena, schema
from mirage import rates as rates_of_api
from mirage.errors import NotEnoughData
from mirage.explorer.kit.table import Col, prepare_table
from mirage.io.sources.nomiracl.origin import SYSTEM_NAMES
from mirage.publish.html_report import write_report
from mirage.schema import Parser
from mirage.stages.outcomes.rates import Rate
from mirage.stats.intervals import wilson
from mirage.stats.label_errors import QueryLabels
from mirage.store import arena as arenas
from mirage.store.arena import Arena
from mirage.store.labels import has_automatic_labels
from mirage.text.numbers import FORMATS
from mirage.views import rates as views
from mirage.views.printed import opening_table, paper_tables, printed_beside_ours
from mirage.views.rates import Definition, RateChoice, RatesView, rates_view
from pages import conclusion, open_page, page_text

DEFINITIONS: tuple[Definition, ...] = get_args(Definition)
Counts = Mapping[tuple[str, str, str], Mapping[str, int]]
"""How many answers of each outcome, by language, subset and system."""

BASIC: Counts = {tuple(key): counts for *key, counts in map(dict.values, read_golden("outcome_counts"))}


def write(folder: Path, counts: Counts, name: str = "counted") -> Arena:
    rows = []
    for (code, subset, system), outcome_counts in counts.items():
        right = "answered" if subset == "relevant" else "abstained"
        answers = [outcome for outcome, n in outcome_counts.items() for _ in range(n)]
        for i, outcome in enumerate(answers):
            correct = outcome == right if outcome in ("answered", "abstained") else None
            key = (code, f"{subset[0]}{i}", system)
            rows += [
                schema.OutcomeRow(*key, parser, subset, outcome, "made up", None, None, correct)  # type: ignore[arg-type]
                for parser in ("strict", "published")
            ]
    table = schema.from_rows("outcomes", rows)
    return write_arena(folder / name, {"outcomes": table}, title=name, label="simulated")


def figures(folder: Path, printed: Mapping[tuple[str, str, str], float]) -> Arena:
    """An arena with printed rates in percent, by metric, system as printed and language."""
    rows = [
        schema.Published("NoMIRACL", "Baselines", f"{metric} rate", "", system, code, value, None, "%", "a page")
        for (metric, system, code), value in printed.items()
    ]
    table = schema.from_rows("published", rows)
    return write_arena(folder / "print", {"published": table}, title="print", label="published figures")


def cell(rates: RatesView, metric: str, system: str, language: str) -> dict[str, Any]:
    key = {"metric": metric, "system": system, "language": language}
    return next(record for record in rates.everything.to_pylist() if key.items() <= record.items())


def row(rates: RatesView, system: str) -> dict[str, Any]:
    return next(record for record in rates.systems.to_pylist() if record["system"] == system)


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    return write(tmp_path, BASIC)


def test_pitfall_32_both_definitions_and_the_unclassified_share_are_shown(arena: Arena) -> None:
    decided = cell(rates_view(arena), "hallucination", "aya-101", "en")
    assert (decided["value"], decided["unclassified"]) == (0.75, 0.2)
    assert (decided["low"], decided["high"]) == wilson(6, 8)
    published = cell(rates_view(arena, RateChoice(definition="count")), "hallucination", "aya-101", "en")
    assert (published["value"], published["unclassified"]) == (pytest.approx(0.8), 0.2)
    assert (published["low"], published["high"]) == pytest.approx(wilson(8, 10))
    for record, n in ((decided, 8), (published, 10)):
        assert (record["rate"], record["rate_as_published"]) == (0.75, pytest.approx(0.8))
        assert (record["answers"], record["n"]) == (10, n)


def test_fewest_hallucinations_come_first_and_what_has_no_rate_comes_last(tmp_path: Path) -> None:
    silent = {("en", "non_relevant", "broken"): {"unparsed": 4}, ("en", "relevant", "broken"): {"answered": 4}}
    rates = rates_view(write(tmp_path, {**BASIC, **silent}))
    assert rates.systems["system"].to_pylist() == ["aya-101", "gpt-4-azure", "broken"]
    record = cell(rates, "hallucination", "broken", "en")
    assert (record["value"], record["low"], record["high"]) == (None, None, None)
    assert record["reason"] == "only 0 of 4 answers classified"
    assert record["rate_as_published"] == 1


def test_only_the_languages_picked_count(arena: Arena) -> None:
    rates = rates_view(arena, RateChoice(("fi",)))
    assert row(rates, "gpt-4-azure")["hallucination_value"] == 1
    assert row(rates, "gpt-4-azure")["error_value"] is None
    assert rates.lacking == (("fi", "relevant"),)
    assert {record["language"] for record in rates.cells.to_pylist()} == {"fi", "all"}
    with pytest.raises(NotEnoughData, match="none of the chosen languages"):
        rates_view(arena, RateChoice(("zh",)))


def test_a_subset_that_is_missing_is_named_and_its_printed_figure_kept(arena: Arena, tmp_path: Path) -> None:
    printed = figures(
        tmp_path,
        {("error", "GPT-4", "fi"): 12.5, ("hallucination", "GPT-4", "th"): 50.0, ("error", "unheard of", "yo"): 1.0},
    )
    rates = rates_view(arena, figures=printed)
    assert rates.lacking == (("fi", "relevant"), ("th", "non_relevant"), ("th", "relevant"))
    record = cell(rates, "error", "gpt-4-azure", "fi")
    assert (record["answers"], record["value"], record["printed"]) == (0, None, 0.125)
    assert record["reason"] == "no answers in this arena"
    assert rates_view(arena).lacking == (("fi", "relevant"),)


def test_the_printed_figure_stands_beside_ours_with_the_difference_in_points(arena: Arena, tmp_path: Path) -> None:
    printed = figures(
        tmp_path,
        {
            ("hallucination", "aya-101", "en"): 80.05,
            ("hallucination", "aya-101", "fi"): 47.0,
            ("hallucination", "GPT-4", "en"): 30.0,
        },
    )
    rates = rates_view(arena, figures=printed)
    assert rates.reference == "a page"
    record = cell(rates, "hallucination", "aya-101", "en")
    assert record["printed"] == pytest.approx(0.8005)
    assert record["difference"] == 0, "within what rounding twice can do"
    assert cell(rates, "hallucination", "aya-101", "fi")["difference"] == pytest.approx(3.0)
    joint = row(rates, "aya-101")
    assert joint["hallucination_printed"] == pytest.approx((0.8005 + 0.47) / 2)
    assert joint["hallucination_difference"] == pytest.approx(1.5)
    lacking = row(rates, "gpt-4-azure")
    assert lacking["hallucination_printed"] is None, "one of its two languages has no printed figure"
    assert rates_view(arena).reference == ""


@pytest.fixture(scope="module")
def bundled() -> tuple[Arena, Arena]:
    paths = arenas.bundled_arenas()
    return open_arena(paths["nomiracl"]), open_arena(paths["published"])


def test_the_papers_tables_open_on_one_that_has_ours(bundled: tuple[Arena, Arena]) -> None:
    nomiracl, figures = bundled
    rows = printed_beside_ours(figures, nomiracl, opening_table(figures, nomiracl), "en").to_pylist()
    assert any(row["ours"] is not None for row in rows)
    assert opening_table(figures, None) in paper_tables(figures)


@pytest.mark.parametrize("parser", ["strict", "published"])
def test_pitfall_165_as_published_every_cell_agrees_with_the_print(
    parser: Parser, bundled: tuple[Arena, Arena]
) -> None:
    rates = rates_view(bundled[0], RateChoice(parser=parser), figures=bundled[1])
    cells = [record for record in rates.cells.to_pylist() if record["language"] != "all" and record["answers"]]
    assert len(cells) == 363
    assert {record["difference"] for record in cells} == {0.0}
    for joint in rates.systems.to_pylist():
        assert (joint["hallucination_difference"], joint["error_difference"]) == (0.0, 0.0)
    assert rates.lacking == (("bn", "relevant"), ("th", "non_relevant"), ("th", "relevant"))


def test_pitfall_26_published_cells_that_were_printed_as_none_read_one(
    bundled: tuple[Arena, Arena],
) -> None:
    rates = rates_view(bundled[0], RateChoice(parser="published"), figures=bundled[1])
    always = [
        record
        for record in rates.cells.to_pylist()
        if record["language"] != "all" and record["answers"] and record["rate"] == 1
    ]
    assert any(record["answered"] == 250 for record in always)
    assert len([record for record in always if record["rate_as_published"] == 1]) == 24


def test_the_mean_of_the_printed_rates_is_the_average_that_the_paper_prints(bundled: tuple[Arena, Arena]) -> None:
    figures = bundled[1]
    rates = views.printed_view(figures)
    assert rates is not None
    averages = figures.sql(
        "SELECT metric, system, value FROM published WHERE item = 'Baselines' AND language = 'all' AND unit = '%'"
    ).to_pylist()
    assert len(averages) == 22
    for printed in averages:
        system = SYSTEM_NAMES[printed["system"]]
        value = row(rates, system)[f"{printed['metric'].removesuffix(' rate')}_value"]
        assert value * 100 == pytest.approx(printed["value"], abs=0.0501), printed


def test_a_mean_over_fewer_languages_is_marked_wherever_it_stands(tmp_path: Path) -> None:
    arena = write(tmp_path, {**BASIC, ("fi", "non_relevant", "gpt-4-azure"): {"answered": 12, "unparsed": 13}})
    rates = rates_view(arena)
    assert [row(rates, name)["hallucination_fewer"] for name in ("aya-101", "gpt-4-azure")] == [None, "1 of 2"]
    assert row(rates_view(arena, RateChoice(definition="count")), "gpt-4-azure")["hallucination_fewer"] is None
    column = Col("hallucination_value", "Hallucination", "rate", remark="hallucination_fewer")
    assert prepare_table(rates.systems, [column])[0]["hallucination_value"].to_pylist() == [
        "30.0% (1 of 2)",
        "62.5%",
    ]
    printed = csv.DictReader(StringIO(mirage("report", "rates", arena.path, "--format", "csv").stdout))
    joint = {(cell["subset"], cell["system"]): cell["languages"] for cell in printed if cell["language"] == "all"}
    assert [joint["non_relevant", name] for name in ("aya-101", "gpt-4-azure")] == ["2", "1"]
    written = mirage("export", "html", arena.path, "--into", tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8").count("(1 of 2 languages)") == 1, written


def test_the_opening_sentence_counts_what_the_table_shows(bundled: tuple[Arena, Arena]) -> None:
    view = rates_view(bundled[0])
    most = [row for row in view.systems.to_pylist() if row["hallucination_value"] > 0.5]
    assert view.opening.startswith(f"{len(most)} of 11 models")
    assert "(Telugu)" in rates_view(bundled[0], RateChoice(("te",))).opening


# --- every door -------------------------------------------------------------------------------------------------------

OWN = "own"


@pytest.fixture
def opened(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Arena:
    """A bundled arena, or a small one of a user."""
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path if request.param == OWN else ROOT / "data"))
    return small_arena.write(tmp_path, OWN) if request.param == OWN else open_arena(ROOT / "data" / request.param)


def in_words(share: str | float | None) -> str:
    """Return a number of a table as it is shown, without its remark."""
    if isinstance(share, str):
        return share.partition(" (")[0].strip("\u2007")
    return FORMATS["rate"].write(None if share is None or math.isnan(share) else share / 100)


@pytest.mark.parametrize(
    ("opened", "languages"),
    [(OWN, ()), (OWN, ("fi", "sw")), ("nomiracl", ()), ("nomiracl", ("de",)), ("sample", ()), ("sample-across", ())],
    indirect=["opened"],
)
def test_every_door_shows_the_rates(opened: Arena, languages: tuple[str, ...], tmp_path: Path) -> None:
    labels = QueryLabels(has_automatic_labels(opened))
    view = rates_view(opened, RateChoice(languages), labels, views.published_arena(opened))
    plain = rates_view(opened, RateChoice(languages), labels)
    assert (plain.conclusion, plain.remarks) == (view.conclusion, view.remarks)
    names = [column.name for column in schema.columns(Rate)]
    cells = view.cells.select(names).to_pylist()
    options = ("--languages", ",".join(languages)) if languages else ()
    said = mirage("report", "rates", opened.path, *options, "--format", "json")
    assert json.loads(said.stdout) == json.loads(json.dumps(cells))
    told = " ".join(said.stderr.split())
    assert all(" ".join(sentence.split()) in told for sentence in (view.conclusion, *view.remarks))
    in_csv = list(csv.DictReader(StringIO(mirage("report", "rates", opened.path, *options, "--format", "csv").stdout)))
    assert [[row[name] for name in names] for row in in_csv] == [
        ["" if row[name] is None else str(row[name]) for name in names] for row in cells
    ]
    of_api = rates_of_api(opened, languages=languages or None)
    assert [dict(row) for row in of_api] == cells
    app = open_page("hallucination", arena=opened.path.name, languages=list(languages))
    assert conclusion(app) == view.conclusion
    shown = app.dataframe[0].value
    assert shown["system"].tolist() == view.systems["system"].to_pylist()
    for name in ("hallucination_value", "error_value", "unclassified"):
        written = [FORMATS["rate"].write(share) for share in view.systems[name].to_pylist()]
        if name in shown:
            assert [in_words(share) for share in shown[name]] == written
        else:
            assert f"unclassified {written[0]}" in page_text(app)
            assert len(set(written)) == 1, "only what is the same in every row stands above the table"
    if opened.path.name in (OWN, "sample-across") and not languages:
        write_report(opened, tmp_path / "report.html")
        text = (tmp_path / "report.html").read_text("utf-8")
        figures = json.loads(re.findall(r'id="figures">(.*?)</script>', text, re.DOTALL)[0])
        assert figures["rates"] == {"conclusion": plain.conclusion, "remarks": list(plain.remarks)}
        rows = view.by_system.to_pylist()
        assert figures["tables"]["rates"] == [
            {name: row[name] for name in kept} for row, kept in zip(rows, figures["tables"]["rates"], strict=True)
        ]


def test_one_quantity_has_one_name(bundled: tuple[Arena, Arena]) -> None:
    """Pitfall 244: n, answers, unclassified and as published, by either parser and definition."""
    choices = [RateChoice((), parser, definition) for parser in ("strict", "published") for definition in DEFINITIONS]
    published = set()
    for choice in choices:
        view = rates_view(bundled[0], choice)
        published.add(tuple(view.cells["rate_as_published"].to_pylist()))
        for record in view.cells.to_pylist():
            unclassified = record["answers"] - record["answered"] - record["abstained"]
            assert record["unclassified"] == (unclassified / record["answers"] if record["answers"] else None)
            assert (record["n"] > 0) == (record["value"] is not None)
    assert len(published) == 1
    llama = row(rates_view(bundled[0]), "llama-2-13b-chat")
    assert round(llama["unclassified"], 3) == 0.448, "classified answers count without a rate, too"


def test_a_query_counts_once_however_many_answers_and_languages_it_has() -> None:
    arena = open_arena("sample-across")
    queries = {query["query_id"] for query in arena.read("queries").to_pylist() if query["subset"] == "relevant"}
    joint = [row for row in rates_view(arena).cells.to_pylist() if row["language"] == "all"]
    assert {row["n"] for row in joint if row["subset"] == "relevant"} == {len(queries)}
