"""What leaves an arena for elsewhere: LaTeX, Markdown, TREC's lines, cards of the Hugging Face Hub. Each is read again
by a reader that is not the writer's: a small one written here, or the library that the format is of.
"""

import re
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq
import pytest
import small_arena
from arena_writer import write_arena
from conftest import ROOT
from exporting_tables_cases import _COMMANDS, printed, read_markdown
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import mirage
from mirage import schema
from mirage.errors import ArenaError, UnknownName
from mirage.publish import hub, leaderboard, trec
from mirage.ranking import board
from mirage.ranking.bootstrap import RankingReport
from mirage.ranking.settings import RankSettings
from mirage.stages.features import means
from mirage.stages.features.means import over_languages
from mirage.stages.outcomes import rates as outcome_rates
from mirage.store import arena as arenas
from mirage.store import writing
from mirage.store.arena import Arena, open_arena
from mirage.store.writing import Provenance
from mirage.text import printing
from mirage.text.names import normalise_name

SAMPLE = ROOT / "data" / "sample"
HOSTILE = (
    r"a&b%c$d#e_f{g}h~i^j\k",
    "line\nbreak\r\tand \x00 a NUL",
    "pipe|`code`**bold** \\| \\\\",
    "</td><script>alert(1)</script>",
    "نموذج \u202eturned",
    "\"quoted\" ''x'' --- ,, ?`",
    "[x](http://example.org) ![i](j) &amp; <!--",
    "1. a list",
    "- 100% & more",
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


def ranked(names: Any, n: int = 12) -> RankingReport:
    """A ranking of systems by these names: of two, the one named first wins three times of four."""
    rows = [
        schema.Judgment(code, f"q{k}", "j", a, b, "A" if k % 4 else "B", "", None, None)
        for code in ("sw", "yo")
        for k in range(n)
        for a, b in combinations(names, 2)
    ]
    return board.rank_table(schema.from_rows("judgments", rows), RankSettings(draws=20)).ranking


# --- LaTeX ------------------------------------------------------------------------------------------------------------


_COMMANDS |= {"textgreater": ">", "textbar": "|", "textasciigrave": "`"}


def latex_rows(latex: str) -> list[list[str]]:
    """The cells of a table's body; fails where braces do not match or a row has another number of columns."""
    depth = 0
    for character in re.sub(r"\\[{}]", "", re.sub(r"^%.*\n", "", latex)):
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    lines = latex[latex.index(r"\toprule") : latex.index(r"\bottomrule")].split("\n    ")[1:]
    rows = [line.strip().removesuffix(r"\\").strip() for line in lines if line.strip() not in ("", r"\midrule")]
    cells = [re.split(r"(?<!\\)&", row) for row in rows]
    assert {len(row) for row in cells} == {len(leaderboard.HEAD)}
    return [[cell.strip() for cell in row] for row in cells[1:]]


@settings(max_examples=15)
@given(st.lists(NAMES.map(normalise_name), min_size=2, max_size=3, unique_by=printing.single_line))
@example(["0", normalise_name("\uf900")])
def test_no_name_breaks_a_table(names: list[str]) -> None:
    ranking = ranked([f"x{name}" for name in names], n=4)
    shown = {printing.single_line(f"x{name}") for name in names}
    cells = [row[1] for row in latex_rows(leaderboard.to_latex(ranking))]
    assert {printed(re.sub(r"^\\textbf\{(.*)\}$", r"\1", cell)) for cell in cells} == shown
    assert {row[1] for row in markdown_rows(leaderboard.to_markdown(ranking))} == shown


def test_the_table_of_a_paper_has_rank_intervals_n_and_says_how_it_was_made() -> None:
    ranking = ranked(("ant", "bee", "cat"), n=60)
    rows, frame = latex_rows(leaderboard.to_latex(ranking)), board.leaderboard(ranking, "all").to_pandas()
    assert [row[0] for row in rows] == frame["rank"].astype(str).tolist()
    assert [row[1].removeprefix(r"\textbf{").rstrip("}") for row in rows] == frame["system"].tolist()
    assert [row[2] for row in rows] == [f"${value:+.2f}$" for value in frame["rating"]]
    assert [row[3] for row in rows] == [
        f"[${low:+.2f}$, ${high:+.2f}$]" for low, high in zip(frame["low"], frame["high"], strict=True)
    ]
    assert {row[6] for row in rows} == {"60"}, "languages share the queries"
    assert [row[7] for row in rows] == frame["battles"].astype(str).tolist()
    best = frame["best"].notna().tolist()
    assert not all(best), "the test needs a system that is not tied with the best"
    assert [row[1].startswith(r"\textbf") for row in rows] == best
    latex = leaderboard.to_latex(ranking)
    for fact in ("3 systems", "60 queries", "2 languages (sw, yo)", "seed 0", "20 draws", "adjusted for all pairs"):
        assert fact in latex
    assert "60 queries" in leaderboard.to_markdown(ranking)
    assert r"60 queries in 1 language (sw)" in leaderboard.to_latex(ranking, "sw")
    with pytest.raises(UnknownName, match="fi"):
        leaderboard.to_latex(ranking, "fi")


def test_an_unbounded_end_is_infinite_and_no_rank_is_bold_where_all_are_tied() -> None:
    rows = [{"query_id": str(k), "system_a": "a", "system_b": "b", "verdict": "A"} for k in range(3)]
    ranking = mirage.rank(rows, draws=20)
    latex = leaderboard.to_latex(ranking)
    assert r"+\infty" in latex
    assert r"-\infty" in latex
    assert r"\textbf" not in latex
    assert "+∞" in ranking.to_markdown()
    assert "1 language" not in latex, "no language was given"


# --- Markdown ---------------------------------------------------------------------------------------------------------


def markdown_rows(text: str) -> list[list[str]]:
    cells = read_markdown(text)
    assert cells.tags <= {"table", "thead", "tbody", "tr", "th", "td", "strong", "p"}
    assert {len(row) for row in cells.rows} == {len(leaderboard.HEAD)}
    return cells.rows[1:]


def test_hostile_names_and_titles_stay_text() -> None:
    ranking = ranked(HOSTILE)
    names = {printing.single_line(name) for name in HOSTILE}
    assert len(names) == len(HOSTILE)
    markdown = leaderboard.to_markdown(ranking, notes=HOSTILE)
    assert {row[1] for row in markdown_rows(markdown)} == names
    assert "\u202e" not in markdown
    assert len(latex_rows(leaderboard.to_latex(ranking, notes=HOSTILE))) == len(HOSTILE)


# --- TREC -------------------------------------------------------------------------------------------------------------


def tot(path: Path) -> dict[tuple[str, str, str], float]:
    """A `tot` file as TREC AutoJudge reads it: four fields between white space."""
    values = {}
    for line in path.read_text("utf-8").strip().split("\n"):
        run, measure, topic, value = line.split()
        values[unquote(run), unquote(measure), unquote(topic)] = float(value)
    return values


def systems_of(arena: Arena) -> set[str]:
    return set(arena.read("answers", columns=["system"])["system"].to_pylist())


def test_tot_has_the_rates_means_and_ratings_that_the_arena_has(tmp_path: Path) -> None:
    arena = open_arena(SAMPLE)
    assert trec.export_trec(arena, tmp_path / "x.tot", queries=True) == len(systems_of(arena))
    values = tot(tmp_path / "x.tot")
    kinds = {"non_relevant": "hallucination_rate", "relevant": "error_rate"}
    rates = outcome_rates.rates(arena.read("outcomes")).to_pylist()
    joint = [row for row in rates if row["language"] == "all" and row["rate"] is not None]
    assert len(joint) > 8
    for row in joint:
        assert values[row["system"], kinds[row["subset"]], "all"] == pytest.approx(row["rate"])
    for mean in over_languages(means.means(arena.read("features")), arena.read("features")):
        if mean.mean is not None:
            assert values[mean.system, mean.feature, "all"] == pytest.approx(mean.mean)
    for row in arena.read("ratings").to_pylist():
        if row["language"] == "all":
            assert values[row["system"], f"rating/{row['judge']}/{row['skill']}", "all"] == row["rating"]
    for row in arena.read("features", languages=["sw"]).to_pylist():
        key = (row["system"], row["feature"], f"sw:{row['query_id']}")
        assert values.get(key) == row["value"]
    trec.export_trec(arena, tmp_path / "again.tot", queries=True)
    assert (tmp_path / "again.tot").read_bytes() == (tmp_path / "x.tot").read_bytes()


@given(NAMES)
def test_a_token_has_no_white_space_and_is_the_name_again(name: str) -> None:
    assert trec.token(name).split() == [trec.token(name)]
    assert unquote(trec.token(name)) == name


NAMED = tuple(name for name in HOSTILE if name.isprintable())
"""Those that may be names in an arena."""


def scored(folder: Path) -> Arena:
    """An arena with scores of a file alone, by names that no tool expects."""
    rows = [
        schema.Score("en", query, system, "is it good?", "a person", True, value, 0, 3, None)
        for system in NAMED
        for query, value in (("q 1", 1.0), ("q%201", 2.0))
    ]
    rows.append(schema.Score("en", "q 1", "none", "is it good?", "a person", True, None, 0, 3, "not read"))
    title = "A title: with\n---\nand |pipes| <b>"
    return write_arena(folder, {"scores": rows}, title=title, licence="Mine, & only mine")


def test_scores_of_hostile_systems_leave_and_a_missing_value_has_no_line(tmp_path: Path) -> None:
    arena = scored(tmp_path / "arena")
    trec.export_trec(arena, tmp_path / "x.tot", queries=True)
    values = tot(tmp_path / "x.tot")
    measure = "is it good?/a person"
    expected = {"q 1": 1.0, "q%201": 2.0, "all": 1.5}
    assert values == {(name, measure, topic): value for name in NAMED for topic, value in expected.items()}


# --- cards of the hub -------------------------------------------------------------------------------------------------


def test_the_data_set_is_loaded_by_the_hub_s_own_library_and_is_the_arena_again(tmp_path: Path) -> None:
    from datasets import get_dataset_config_names, load_dataset
    from huggingface_hub import DatasetCard

    arena, folder = open_arena(SAMPLE), tmp_path / "set"
    card = DatasetCard.load(hub.export_dataset(arena, folder))
    assert card.data.pretty_name == arena.title
    assert card.data.license == "cc0-1.0"
    assert card.data.language == list(arena.languages("queries"))
    assert get_dataset_config_names(str(folder)) == list(arena.tables)
    for table in ("answers", "ratings"):
        rows = load_dataset(str(folder), table, split="test", cache_dir=str(tmp_path / "cache"))
        key = schema.key(table)
        stored = schema.sort(table, arena.read(table))
        empty = set(stored.column_names) - set(rows.column_names)  # a file leaves out what only some arenas have
        assert empty <= {"retriever", "depth", "thoughts", "run_date"}
        assert all(stored[name].null_count == len(stored) for name in empty)
        stored = stored.drop_columns(list(empty)).to_pylist()
        assert sorted(rows.to_list(), key=lambda row: [row[name] for name in key]) == stored
    again = open_arena(folder)
    assert again.version == arena.version
    assert arenas.check(again)
    hub.export_dataset(arena, folder)
    with pytest.raises(ArenaError, match="another"):
        hub.export_dataset(small_arena.write(tmp_path / "other"), folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("do not lose me", "utf-8")
    with pytest.raises(ArenaError, match="other files"):
        hub.export_dataset(arena, tmp_path / "mine")
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_card_says_where_everything_is_from_whatever_it_is_called(tmp_path: Path) -> None:
    from huggingface_hub import DatasetCard

    arena = scored(tmp_path / "arena")
    source = {"name": "</td>|x|", "url": "https://example.org/a_b", "licence": "CC-BY-4.0"}
    scores = arena.read("scores")
    arena = writing.write(
        arena.path,
        {"scores": scores},
        made_by=Provenance("a [test](x)", sources=[source], notes=["# a note"]),
    )
    card = DatasetCard(hub.dataset_card(arena))
    assert card.data.pretty_name == "A title: with --- and |pipes| <b>"
    assert (card.data.license, card.data.license_name) == ("other", "mine-only-mine")
    shown = read_markdown(card.text)
    assert not shown.tags & {"a", "b", "script", "img"}
    text = " ".join(shown.paragraphs)
    assert "Mine, & only mine" in text
    assert "https://example.org/a_b" in MarkdownIt().render(card.text)
    assert pq.read_table(next((arena.path / "scores").glob("*.parquet"))).num_rows == scores.num_rows


def test_the_rates_are_bitwise_equal_in_any_order_of_grouping() -> None:
    rows = open_arena(SAMPLE).read("outcomes")
    turned = rows.take(list(reversed(range(len(rows)))))
    assert outcome_rates.rates(turned) == outcome_rates.rates(rows)
