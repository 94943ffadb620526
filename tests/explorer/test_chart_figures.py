"""The figures of the pages: where marks and whiskers are, how they look, and that names are text."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Any
from unittest.mock import Mock

import pytest
from charts_hallucination_cases import cell, joint, rates_of
from hypothesis import given
from hypothesis import strategies as st

from mirage.explorer.features import charts as features
from mirage.explorer.hallucination import charts as hallucination
from mirage.explorer.judges.charts import measure_figure
from mirage.explorer.surrogate import chart as surrogate
from mirage.people.exam import MEASURES_ALONE
from mirage.publish.charts.palette import family, ink, label_text
from mirage.schema import Prediction
from mirage.stages.features.means import FeatureMean
from mirage.stages.features.relations import Relation
from mirage.stats.jackknife import Estimate
from mirage.views.exam import JudgeRow

NAME = "<b>x</b> & <script>y</script>"
LANGUAGES = ("ar", "en", "te")
OURS = re.compile(r"</?(?:b|i)>|<br>|<span style=\"color:#[0-9a-f]{3,6}\">|</span>|<extra></extra>")
"""The markup that figures use; every other `<` would be a name's."""


def mean(system: str, language: str, value: float | None) -> FeatureMean:
    return FeatureMean(language, system, "length", value, None, None, 10, 10)


def strings(part: Any) -> Iterator[str]:
    """Every text of a figure but what clicks yield."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for name, value in part.items():
            if name != "customdata":
                yield from strings(value)
    elif isinstance(part, (list, tuple)):
        for value in part:
            yield from strings(value)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_small_differences_do_not_fill_a_panel(values: list[float]) -> None:
    low, high = features.value_range("support_entailment", values)
    assert high - low >= 0.1, "a tenth of a range from 0 to 1"
    assert 0 <= low <= min(values) <= max(values) <= high <= 1


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_the_values_of_an_open_feature_lie_within_its_axis(values: list[float]) -> None:
    low, high = features.value_range("not a declared feature", values)
    assert low <= min(values) <= max(values) <= high
    assert high - low >= 0.1 * max(map(abs, values)) * (1 - 1e-9)
    assert high > low


def judged_figure(second: str = "b", **unsure: Any) -> dict[str, Any]:
    marks = [Estimate(0.5, low, 0.6, 9, None, None) for low in (0.4, None, 0.4)]
    marks[0] = replace(marks[0], **unsure)
    rows = [
        JudgeRow(judge, code, 9, 0, {"first": mark})
        for judge, code, mark in zip(("a", "a", second), ("en", "sw", "en"), marks, strict=True)
    ]
    return measure_figure(Mock(rows=rows, languages=("en", "sw")), MEASURES_ALONE["first"], "light")


def test_a_judges_mark_is_its_own_and_hollow_where_too_little_is_known() -> None:
    figure = judged_figure()
    assert [set(trace["marker"]["symbol"]) for trace in figure["data"]] == [{family("a").symbol}, {family("b").symbol}]
    colors, known = ink(), family("a").color
    marker = figure["data"][0]["marker"]
    assert marker["color"] == [known, colors.ground]
    assert marker["line"]["color"] == [known, known]
    few = judged_figure(low=None, high=None, reason="9 queries are too few")["data"][0]
    assert few["marker"]["color"] == [colors.ground] * 2
    assert "no interval: 9 queries are too few" in json.dumps(few)
    (fair,) = figure["layout"]["shapes"]
    assert fair["x0"] == fair["x1"] == 0.5
    axis = figure["layout"]["xaxis"]
    assert 0.5 in axis["tickvals"], "the line of a fair judge lies on the grid"
    assert "50%" in axis["ticktext"]


def predicted(system: str, rating: float, judged: float | None) -> Prediction:
    return Prediction(
        judge="judge",
        language="en",
        system=system,
        regressor="ridge",
        rating=rating,
        low=rating - 0.5,
        high=rating + 0.5,
        judged=judged,
        rank=1,
        skill="both",
        outside=None,
        default=True,
    )


def test_every_value_and_interval_of_the_ratings_is_within_the_axis() -> None:
    points = [predicted("a", 3.0, -4.0), predicted("b", -0.2, None)]
    axis = surrogate.ratings(points, {"a": (-6.0, None)}, judge="judge")["layout"]["xaxis"]
    low, high = axis["range"]
    assert low < -6.0
    assert high > 3.5
    assert all(low <= value <= high for value in axis["tickvals"])
    assert 0 in axis["tickvals"]


@given(st.text("<>/b &;\"'amplt", max_size=30))
def test_every_label_is_free_of_markup_and_keeps_its_text(text: str) -> None:
    """Also markup that is not closed, closed twice or crossed."""
    assert "<" not in label_text(text)
    assert unescape(label_text(text)) == text


def hostile_figures() -> Iterator[dict[str, Any]]:
    rows = (mean(NAME, "en", 1.0), mean("b", "ar", 2.0))
    yield features.panels(Mock(by_feature={NAME: rows}, languages=LANGUAGES), (NAME,), (NAME,), "light")
    relations = (Relation(NAME, "en", 0.5, None, None, 5, 1, NAME),)
    yield features.relation_map(relations, features=(NAME,), languages=("en",))
    yield surrogate.ratings([predicted(NAME, 0.5, -1.0)], {}, judge=NAME)
    yield judged_figure(NAME)
    cells = [cell(NAME, "all", metric, 3, 7) for metric in ("hallucination", "error")]
    yield hallucination.trade_off(rates_of(cells, joint(NAME, 0.3, 0.1)), (), "light")
    cells = [cell(NAME, code, "error", 3, 7) for code in ("en", "all")]
    yield hallucination.rate_map(rates_of(cells), (NAME,), ("en",), "error", "light")


@pytest.mark.parametrize("figure", list(hostile_figures()))
def test_pitfall_45_names_are_text_whatever_they_hold(figure: dict[str, Any]) -> None:
    """Plotly takes the texts of a figure for HTML, in hovers too."""
    texts = list(strings(figure))
    assert any(NAME in unescape(OURS.sub("", text)) for text in texts)
    assert not [text for text in texts if "<" in OURS.sub("", text)]
    assert not [text for text in texts if NAME in text]
