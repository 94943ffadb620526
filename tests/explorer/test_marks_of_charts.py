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


@pytest.mark.parametrize(("marker", "opacity"), [({}, 1), ({"opacity": 0.2}, 0.2)])
def test_a_click_on_a_dot_leaves_the_others_as_they_are(marker: dict[str, float], opacity: float) -> None:
    trace = primitives.dots([1], [2], ["a"], marker, clicks=[("x", "de")])
    assert trace["customdata"] == [["x", "de"]]
    assert trace["unselected"] == {"marker": {"opacity": opacity}}


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
