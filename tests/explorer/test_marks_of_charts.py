"""The marks that charts share: what they hold, and that charts do not write them again."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from typing import Literal

import pytest
from conftest import ROOT

from mirage.publish.charts import primitives
from mirage.publish.charts.palette import ink

CHARTS = sorted(
    {*(ROOT / "mirage" / "publish" / "charts").glob("*.py"), *(ROOT / "mirage" / "explorer").rglob("*chart*.py")}
)
OWN = {"published.py": 1, "reproduce.py": 1}
"""Traces that a chart writes itself: an entry of a legend without a mark, and a line whose template has the values."""


def test_dots_have_a_hover_text_each_and_nothing_else_on_hover() -> None:
    trace = primitives.dots(range(2), [0.5, None], ["a", "b"], {"size": 8}, name="n")
    assert trace == {
        "type": "scatter",
        "mode": "markers",
        "x": [0, 1],
        "y": [0.5, None],
        "text": ["a", "b"],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"size": 8},
        "name": "n",
    }


@pytest.mark.parametrize(("marker", "opacity"), [({}, 1), ({"opacity": 0.2}, 0.2)])
def test_a_click_on_a_dot_leaves_the_others_as_they_are(marker: dict[str, float], opacity: float) -> None:
    trace = primitives.dots([1], [2], ["a"], marker, clicks=[("x", "de")])
    assert trace["customdata"] == [["x", "de"]]
    assert trace["unselected"] == {"marker": {"opacity": opacity}}


def test_segments_are_apart() -> None:
    trace = primitives.segments([((0, 1), (2, 3)), ((4, 5), (6, 7))], {"width": 1}, showlegend=False)
    assert trace["x"] == [0, 2, None, 4, 6, None]
    assert trace["y"] == [1, 3, None, 5, 7, None]
    assert (trace["mode"], trace["hoverinfo"], trace["showlegend"]) == ("lines", "skip", False)
    assert primitives.segments([], {})["x"] == []


def test_whiskers_reach_from_the_value_to_the_ends_and_nowhere_without_an_end() -> None:
    rows = [{"v": 2.0, "l": 1.5, "h": 4.0}, {"v": 1.0, "l": None, "h": 1.25}, {"v": 1.0, "l": 0.5, "h": None}]
    reach = primitives.reaches(rows, "v", "l", "h")
    assert reach == [(0.5, 2.0), (0, 0.25), (0.5, 0)]
    trace = primitives.whiskers(iter(reach), "#123456")
    assert (trace["arrayminus"], trace["array"]) == ([0.5, 0, 0.5], [2.0, 0.25, 0])
    assert trace["type"] == "data"
    assert trace["symmetric"] is False


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_cells_are_on_the_ramp_or_hollow_and_can_be_clicked(mode: Literal["light", "dark"]) -> None:
    def squares(shade: list[float] | None) -> primitives.Trace:
        return primitives.cells(
            [(0, 0), (1, 0)],
            ["1", "2"],
            ["a", "b"],
            clicks=[["x"], ["y"]],
            shade=shade,
            mode=mode,
            size=20,
            text_size=10,
        )

    full, hollow = squares([0.0, 1.0]), squares(None)
    assert full["mode"] == hollow["mode"] == "markers+text"
    assert full["marker"]["color"] == [0.0, 1.0]
    assert full["marker"]["line"]["width"] == 0
    assert len(set(full["textfont"]["color"])) == 2, "the text reads on both ends of the ramp"
    assert hollow["marker"]["color"] == ink(mode).ground
    assert hollow["marker"]["line"]["width"] == 1
    for trace in (full, hollow):
        assert (trace["text"], trace["hovertext"]) == (["1", "2"], ["a", "b"])
        assert trace["hovertemplate"] == "%{hovertext}<extra></extra>"
        assert trace["customdata"] == [["x"], ["y"]]
        assert trace["selected"]["marker"]["color"] == ink(mode).chosen
        json.dumps(trace)


def test_bars_draw_their_hover_text_nowhere_else() -> None:
    quiet = primitives.bars([1.0], [0], ["a"], {"color": "#123456"})
    assert (quiet["text"], quiet["textposition"]) == (["a"], "none")
    written = primitives.bars([1.0], [0], ["a"], {}, field="hovertext", text=["1"], textposition="inside")
    assert (written["text"], written["textposition"], written["hovertext"]) == (["1"], "inside", ["a"])
    assert quiet["orientation"] == written["orientation"] == "h"
    assert primitives.bars([1.0], [0], ["a"], {}, clicks=[["x"]])["unselected"] == {"marker": {"opacity": 1}}


def test_charts_write_no_trace_that_is_there_already() -> None:
    written: dict[str, int] = {}
    for path in CHARTS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Dict) and path.name != "primitives.py":
                fields = [
                    (key.value, value.value)
                    for key, value in zip(node.keys, node.values, strict=True)
                    if isinstance(key, ast.Constant) and isinstance(value, ast.Constant)
                ]
                if {("type", "scatter"), ("type", "bar"), ("type", "data")} & set(fields):
                    written[path.name] = written.get(path.name, 0) + 1
    assert written == OWN


def test_charts_are_imported_without_plotly_and_streamlit() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in CHARTS
        if "publish" in path.parts
    ]
    code = f"import sys\nfor name in {modules!r}: __import__(name)\n"
    code += "print([name for name in ('plotly', 'streamlit') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
