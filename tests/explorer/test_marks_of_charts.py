"""The marks that charts share: what they hold, and that charts do not write them again."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from conftest import ROOT

from mirage.publish.charts import primitives

CHARTS = sorted(
    {*(ROOT / "mirage" / "publish" / "charts").glob("*.py"), *(ROOT / "mirage" / "explorer").rglob("*chart*.py")}
)
OWN = {"figures.py": 1}
"""Traces that a chart writes itself: the only bars."""


@pytest.mark.parametrize(("marker", "opacity"), [({}, 1), ({"opacity": 0.2}, 0.2)])
def test_a_click_on_a_dot_leaves_the_others_as_they_are(marker: dict[str, float], opacity: float) -> None:
    trace = primitives.dots([1], [2], ["a"], marker, clicks=[("x", "de")])
    assert trace["customdata"] == [["x", "de"]]
    assert trace["unselected"] == {"marker": {"opacity": opacity}}


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
