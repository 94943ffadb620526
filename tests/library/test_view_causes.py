"""Where answers are lost: retrieval, causes of errors and languages of passages, the same at every door."""

import json
from pathlib import Path
from typing import Any

import pytest
import whole_systems
from commands import mirage as run

import mirage
from mirage import open_arena
from mirage.store.arena import Arena
from mirage.views.causes import TITLES, CauseChoice, answer_causes, causes_view
from mirage.views.retrieval import SHOWN, retrieval_view
from pages import open_page


@pytest.fixture(scope="module", params=["sample", "sample-across", "own"])
def arena(request: pytest.FixtureRequest, module_path: Path) -> Arena:
    if request.param == "own":
        return whole_systems.write(module_path / "own")[0]
    return open_arena(request.param)


def printed(arena: Arena, *words: str, value: str = "") -> list[dict[str, Any]]:
    rows = json.loads(run("report", words[0], arena.path, *words[1:], "--format", "json").stdout)
    ends = {f"{value}_{end}": end for end in ("low", "high")}
    return [{ends.get(name, name): cell for name, cell in row.items()} for row in rows]


def queries_of(arena: Arena, table: str) -> int:
    return len(set(arena.read(table)["query_id"].to_pylist()))


def test_retrievers_are_measured_alike_at_every_door(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    view = retrieval_view(arena)
    rows = view.means.to_pylist()
    assert list(mirage.retrieval_measures(arena)) == rows
    assert printed(arena, "retrieval", "--by", "language", value="mean") == [
        {name: cell for name, cell in row.items() if name != "unit"} for row in rows
    ]
    joint = {(row["retriever"], row["measure"]): row for row in rows if row["language"] == "all"}
    assert {row["total"] for row in joint.values()} == {queries_of(arena, "passages")}, "an id is one unit"
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.path))
    app = open_page("hallucination", arena=arena.path.name, section="Errors")
    (table,) = (frame.value for frame in app.dataframe if "retriever" in frame.value.columns)
    for row in table.to_dict("records"):
        for measure in SHOWN:
            assert row[measure] == pytest.approx(joint[row["retriever"], measure]["mean"])
        assert row["n"] == joint[row["retriever"], "nDCG@10"]["n"]


def test_causes_are_those_of_the_view_at_every_door(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = causes_view(arena).shares.to_pylist()
    assert list(mirage.attribution(arena)) == rows == printed(arena, "failures", "--by", "language", value="share")
    code = arena.languages("outcomes")[0]
    single = causes_view(arena, CauseChoice((code,))).shares.to_pylist()
    assert list(mirage.attribution(arena, languages=(code,))) == single
    assert printed(arena, "failures", "--by", "language", "--languages", code, value="share") == single
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.path))
    page = open_page("hallucination", arena=arena.path.name, section="Errors", languages=[code])
    (causes,) = (chart for chart in page.get("plotly_chart") if "Causes" in chart.proto.alt)
    assert all(TITLES[row["cause"]] in causes.proto.spec for row in single if row["k"])
    answers = [mirage.attribution(arena, answers=True), printed(arena, "failures", "--answers")]
    assert [list(map(dict, own)) for own in answers] == [answers[1]] * 2
    assert len(answers[1]) == len(answer_causes(arena))
    for row in rows:
        own = {
            (entry.language, entry.query_id)
            for entry in answer_causes(arena)
            if entry.system == row["system"] and entry.cause and row["language"] in ("all", entry.language)
        }
        assert (row["answers"], row["n"]) == (len(own), len({query for _, query in own}))


def test_a_language_that_the_arena_lacks_is_refused() -> None:
    for report in ("retrieval", "failures", "languages"):
        assert "'te'" in run("report", report, "sample-across", "--languages", "te", code=2).stderr
