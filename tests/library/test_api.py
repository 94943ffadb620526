"""The door for programmers: `import mirage` loads nothing heavy, any kind of rows is taken, results are short."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from commands import run_python
from conftest import ROOT
from golden.cases import read_table

import mirage
from mirage import schema
from mirage.battles.verdict_rows import from_judgments
from mirage.errors import BadInput, UnknownName
from mirage.ranking import bootstrap

SYSTEMS = ("ant", "bee", "cat", "dog")


def battles(n: int = 60, seed: int = 1) -> list[dict[str, Any]]:
    """Battles of four systems on n queries; the strength goes down with the letter. Made without the package."""
    rng = np.random.default_rng(seed)
    strength = dict(zip(SYSTEMS, (1.5, 0.5, -0.5, -1.5), strict=True))
    rows = []
    for query in range(n):
        a, b = rng.choice(SYSTEMS, 2, replace=False).tolist()
        won = rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
        rows.append({"query_id": f"q{query}", "system_a": a, "system_b": b, "verdict": "A" if won else "B"})
    return rows


def test_importing_loads_nothing_heavy_and_names_what_there_is() -> None:
    code = (
        "import sys, mirage\n"
        "heavy = {'numpy', 'pandas', 'pyarrow', 'scipy', 'streamlit', 'plotly', 'duckdb', 'mirage.api'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "assert set(mirage.__all__) <= set(dir(mirage))\n"
        "assert all(getattr(mirage, name).__doc__ for name in mirage.__all__)\n"
        "assert 'streamlit' not in sys.modules"
    )
    run_python(code)


@pytest.mark.parametrize("first", ["mirage.ranking", "mirage.api"])
def test_rank_is_a_function_in_whatever_order_the_modules_are_imported(first: str) -> None:
    code = (
        f"import mirage, importlib, inspect; importlib.import_module({first!r})\n"
        f"print(mirage.rank({battles(12)!r}, draws=20).languages['und'].systems)\n"
        "print(inspect.isfunction(mirage.rank), 'penalty' in inspect.signature(mirage.rank).parameters)"
    )
    assert run_python(code).splitlines() == [str(SYSTEMS), "True True"]


def kinds(rows: list[dict[str, Any]], folder: Path) -> list[Any]:
    frame = pd.DataFrame(rows)
    files = [folder / "rows.csv", folder / "rows.jsonl", folder / "rows.parquet"]
    frame.to_csv(files[0], index=False)
    frame.to_json(files[1], orient="records", lines=True)
    frame.to_parquet(files[2])
    return [rows, iter(rows), frame, pa.table(frame), dict(frame.to_dict("list")), str(files[0]), *files]


def test_every_kind_of_rows_gives_the_same_ranking(tmp_path: Path) -> None:
    texts = [repr(mirage.rank(rows, draws=50)) for rows in kinds(battles(), tmp_path)]
    assert len(texts) == 9
    assert len(set(texts)) == 1


def test_a_ranking_of_a_data_frame_is_that_of_the_same_judgments() -> None:
    rows = [{**row, "language": "sw", "judge": "j"} for row in battles()]
    ranking = mirage.rank(rows, draws=100, seed=3)
    table = schema.from_columns("judgments", {name: [row[name] for row in rows] for name in rows[0]})
    own = bootstrap.rate(from_judgments(table, judge="j"), draws=100, seed=3)
    assert ranking.languages["sw"].theta == pytest.approx(own.languages["sw"].theta)
    assert ranking.table().equals(own.table())
    assert ranking.difference("ant", "dog") == own.difference("ant", "dog")


def test_without_a_query_id_each_battle_is_a_cluster_of_its_own_and_that_is_told() -> None:
    rows = [{name: row[name] for name in ("system_a", "system_b", "verdict")} for row in battles()]
    ranking = mirage.rank(rows, draws=50)
    assert ranking.languages["und"].n_queries == len(rows)
    assert any("no query_id" in remark for remark in ranking.remarks)
    assert "no query_id" in repr(ranking)
    # Ten verdicts on each of a few queries are fewer clusters, hence wider intervals.
    again = [{**row, "query_id": k % 6} for k, row in enumerate(battles())]
    few = mirage.rank(again, draws=200)
    assert few.languages["und"].n_queries == 6
    assert not any("no query_id" in remark for remark in few.remarks)


def test_results_are_short_as_text_and_whole_as_a_data_frame() -> None:
    rows = [
        {"system_a": f"s{a:02}", "system_b": f"s{b:02}", "verdict": "A" if (a + b + k) % 3 else "B", "query_id": k}
        for k in range(12)
        for a in range(30)
        for b in range(a)
    ]
    ranking = mirage.rank(rows, draws=20)
    for text in (repr(ranking), str(ranking.tests), repr(ranking.languages["und"]), repr(ranking.battles["und"])):
        assert len(text.splitlines()) <= 24
        assert len(text) < 4_000
    assert len(ranking.to_pandas()) == 30
    assert list(ranking.to_pandas()["rank"]) == sorted(ranking.to_pandas()["rank"])
    assert "<table>" in ranking._repr_html_()


def test_names_are_escaped_in_a_notebook() -> None:
    rows = [{**row, "system_a": f"<b>{row['system_a']}", "system_b": f"<b>{row['system_b']}"} for row in battles()]
    assert "<b>ant" not in mirage.rank(rows, draws=20)._repr_html_()


def test_a_plot_has_a_mark_and_an_interval_for_every_system() -> None:
    figure = mirage.rank(battles(), draws=50).plot()
    marks = [trace for trace in figure.data if trace.error_x.array is not None]
    assert sum(len(trace.x) for trace in marks) == len(SYSTEMS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [{"a": 1}], "system_a"),
        (lambda rows: [*rows, {**rows[0], "verdict": "C"}], "'C'"),
        (lambda rows: [*rows, {**rows[0], "system_a": None}], "system_a is missing"),
        (lambda rows: [*rows, {**rows[0], "system_b": rows[0]["system_a"]}], "battles itself"),
        (lambda rows: [{**row, "judge": f"j{k % 2}"} for k, row in enumerate(rows)], "2 judges"),
        (lambda rows: 5, "a int"),
        (lambda rows: [*({**row, "language": "en"} for row in rows), {**rows[0], "language": ["en"]}], "'language'"),
        (lambda rows: [rows[0], *({**row, "language": "sw"} for row in rows[1:])], "language is missing"),
    ],
    ids=["columns", "verdict", "null", "itself", "judges", "kind", "a list among texts", "not in the first row"],
)
def test_rows_that_cannot_be_taken_are_refused_with_what_to_do(change: Any, message: str) -> None:
    with pytest.raises(mirage.BadInput, match=message) as caught:
        mirage.rank(change(battles()))
    assert caught.value.do or caught.value.where


def test_an_arena_is_opened_by_name_or_folder() -> None:
    by_name = mirage.open_arena("nomiracl")
    assert by_name.version == mirage.open_arena("nomiracl").version
    with pytest.raises(mirage.UnknownName, match="nomirac"):
        mirage.open_arena("nomirac")


def test_people_and_judges_are_compared_and_judges_corrected() -> None:
    verdicts = [{**row, "judge": "j"} for row in battles(400)]
    rng = np.random.default_rng(5)
    votes = [
        {**row, "verdict": row["verdict"] if rng.random() < 0.8 else "tie", "voter": "v"}
        for row in verdicts
        if rng.random() < 0.5
    ]
    agreed = mirage.agreement(votes, verdicts)
    (row,) = [row for row in agreed if row["judge"] == "j"]
    assert row["n"] == len(votes)
    assert 0.7 < row["raw_low"] < row["raw"] < row["raw_high"] < 0.9
    corrected = mirage.correct(verdicts, pd.DataFrame(votes))
    assert corrected.systems == SYSTEMS
    assert corrected.n_votes == len(votes)
    assert corrected.theta[0] > corrected.theta[-1]
    assert len(repr(corrected).splitlines()) <= 14


def test_a_comparison_of_battles_has_the_difference_of_their_ranking_beside_it() -> None:
    ranking = mirage.rank(battles(), draws=50)
    gap = ranking.difference("ant", "bee")
    for compared in (mirage.compare(ranking, "ant", "bee"), mirage.compare(battles(), "ant", "bee", draws=50)):
        row = compared.overall
        assert (row.language, row.board) == (gap.language, gap.value)
        assert compared.to_pandas()["verdict"].tolist() == [row.verdict for row in compared.rows]
        assert len(repr(compared).splitlines()) <= 16


@pytest.mark.parametrize("file", sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")), ids=lambda file: file.stem)
def test_a_notebook_runs_from_top_to_bottom_and_holds_no_output(file: Path) -> None:
    cells = json.loads(file.read_text("utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(codes) > 5
    assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")
    names: dict[str, Any] = {}
    for code in codes:
        exec(compile(code, str(file), "exec"), names)


def test_a_file_is_ranked_as_it_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"

    def ranked(header: str, *rows: str) -> mirage.Ranking:
        path.write_text("\n".join((header, *rows)), "utf-8")
        return mirage.rank(path, draws=20)

    header = "query_id,language,system_a,system_b,verdict,judge"
    twice = ranked(header, "1,en,x,y,A,j", "1,en,x,y,A,j", "1,en,x,y,B,j", "2,English,x,y,B,j")
    assert twice.to_pandas()["battles"].tolist() == [4, 4]
    assert [*twice.languages] == ["en"]
    assert any("2 verdicts" in remark and "repeat" in remark for remark in twice.remarks)
    frame = [dict(zip(header.split(","), ("1", "en", "x", "y", verdict, "j"), strict=True)) for verdict in "AAB"]
    of_rows = mirage.rank([*frame, frame[2] | {"query_id": "2"}], draws=20)
    assert of_rows.table().equals(twice.table())
    assert set(of_rows.remarks) == set(twice.remarks)
    assert mirage.rank(mirage.import_file(path, tmp_path / "arena"), draws=20).table().equals(twice.table())
    for source in (path, frame, mirage.open_arena(tmp_path / "arena")):
        with pytest.raises(UnknownName, match="'zu'"):
            mirage.rank(source, languages=["zu"])
    assert any("weight" in remark for remark in ranked(f"{header},weight", "1,en,x,y,A,j,3").remarks)
    with pytest.raises(BadInput, match="language is missing"):
        ranked(header.replace("language", "langauge"), "1,en,x,y,A,j")
    with pytest.raises(BadInput, match="name of the arena's own"):
        ranked(header, "1,en,x,y,A,relevance")
    with pytest.raises(BadInput, match="contradicts the points"):
        ranked(f"{header},points", "1,en,x,y,A,j,0.2")
    path.write_text("query_id,language,system,text\n1,en,x,yes\n", "utf-8")
    with pytest.raises(BadInput, match="no verdicts"):
        mirage.rank(path)


@pytest.mark.parametrize(*read_table("wrong_battles"))
def test_rows_are_refused_as_records_of_a_file_are(change: dict[str, Any], message: str) -> None:
    row = {"query_id": 1, "system_a": "ant", "system_b": "bee", "verdict": "A"}
    with pytest.raises(BadInput, match=message):
        mirage.rank([row, row | change])


def test_a_system_is_not_compared_with_itself_in_rows_either() -> None:
    with pytest.raises(BadInput, match="compared with itself"):
        mirage.compare(battles(), "ant", "ant")


def test_a_ranking_without_a_joint_row_says_that_it_has_more_languages() -> None:
    rows = [
        {"language": code, "query_id": k, "system_a": "bee", "system_b": other, "verdict": "AB"[k % 2]}
        for code, other in (("en", "ant"), ("sw", "cat"))
        for k in range(4)
    ]
    assert "in sw, the last of 2 languages" in repr(mirage.rank(rows, draws=20))
