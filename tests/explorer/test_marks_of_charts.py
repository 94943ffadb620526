"""The marks that charts share, and what charts import."""

import pytest
from commands import run_python
from conftest import ROOT

from mirage.publish.charts import primitives

CHARTS = sorted(
    {*(ROOT / "mirage" / "publish" / "charts").glob("*.py"), *(ROOT / "mirage" / "explorer").rglob("*chart*.py")}
)


@pytest.mark.parametrize(("marker", "opacity"), [({}, 1), ({"opacity": 0.2}, 0.2)])
def test_a_click_on_a_dot_leaves_the_others_as_they_are(marker: dict[str, float], opacity: float) -> None:
    trace = primitives.dots([1], [2], ["a"], marker, clicks=[("x", "de")])
    assert trace["customdata"] == [["x", "de"]]
    assert trace["unselected"] == {"marker": {"opacity": opacity}}


def test_charts_are_imported_without_plotly_and_streamlit() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in CHARTS
        if "publish" in path.parts
    ]
    code = f"import sys\nfor name in {modules!r}: __import__(name)\n"
    code += "print([name for name in ('plotly', 'streamlit') if name in sys.modules])"
    assert run_python(code).strip() == "[]"
