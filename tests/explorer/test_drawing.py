"""Figures drawn as SVG without Plotly: where everything lies, that names are text, hovers and clicks in a browser."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

import browser
import pytest
from charts_hallucination_cases import joint
from hypothesis import given
from hypothesis import strategies as st
from many_languages_cases import SIXTY
from page_features_cases import feature_mean

from mirage.explorer.compare import chart as compare
from mirage.explorer.features import chart as features
from mirage.explorer.features.data import Relation
from mirage.explorer.hallucination import chart as hallucination
from mirage.explorer.judges.chart import judge_figure
from mirage.explorer.surrogate import chart as surrogate
from mirage.publish.charts import leaderboard
from mirage.publish.charts.drawing import Drawing, draw, marker_path
from mirage.publish.charts.palette import MARK_SIZE, SHAPES, SPACE, family, ink
from mirage.publish.charts.primitives import ticks
from mirage.schema import Prediction
from mirage.stages.features import FeatureMean

NAME = "<b>x</b> & <script>y</script>"
LANGUAGES = ("ar", "en", "te")
VALUES = st.floats(-1e6, 1e6, allow_nan=False)


def parsed(drawn: Drawing) -> ET.Element:
    """The SVG, which must be well formed."""
    return ET.fromstring(drawn.svg)


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with browser.chromium() as start:
        yield start().page


def outlines(drawn: Drawing) -> list[tuple[float, float, float, str]]:
    """Of every mark its place along x as a share, its upper and lower end in pixels, and its colour."""
    marks = []
    for column in parsed(drawn).iter("svg"):
        if column.get("class") != "marks":
            continue
        for path in column:
            for outline in re.findall("M[^M]*z", path.get("d", "")):
                start, *steps = re.findall(r"([Mlhva])([^Mlhvaz]*)", outline)
                y = [float(start[1].split()[1])]
                for command, numbers in steps:
                    down = [float(number) for number in numbers.split()]
                    y.append(y[-1] + (0 if command in "ha" else down[-1]))
                    if command == "a":
                        y += [y[0] - down[0], y[0] + down[0], y[0]]
                share = float(column.get("x", "").rstrip("%")) / 100
                marks.append((share, min(y), max(y), path.get("fill", "")))
    return marks


def texts(drawn: Drawing) -> list[str]:
    return ["".join(element.itertext()) for element in parsed(drawn).iter("text")]


def mean(system: str, language: str, value: float | None) -> FeatureMean:
    return feature_mean(system, language, value)


def panels(rows: list[FeatureMean], *, chosen: tuple[str, ...] = (), mode: Any = "light") -> dict[str, Any]:
    return features.panels({"length": tuple(rows)}, features=("length",), languages=LANGUAGES, chosen=chosen, mode=mode)


def rank_map(names: list[str], mode: Any = "light") -> dict[str, Any]:
    cells = [{"language": code, "system": name, "rank": k + 1} for code in LANGUAGES for k, name in enumerate(names)]
    return leaderboard.rank_map(cells, systems=names, mode=mode)


def test_marks_lie_where_the_axes_put_their_values() -> None:
    rows = [mean("a", "ar", 1.0), mean("a", "te", 3.0), mean("b", "ar", 2.0), mean("b", "en", None)]
    figure = panels(rows)
    drawn = draw(figure)
    x_range, y_range = (figure["layout"][name]["range"] for name in ("xaxis", "yaxis"))
    assert len(drawn.marks) == 3, "a mean that is missing has no mark"
    for (share, y, _, click), row in zip(drawn.marks, [row for row in rows if row.mean is not None], strict=True):
        place = LANGUAGES.index(row.language)
        assert share == pytest.approx((place - x_range[0]) / (x_range[1] - x_range[0]), abs=1e-4)
        top, bottom = figure["layout"]["margin"]["t"], figure["layout"]["margin"]["t"] + features.PANEL
        assert y == pytest.approx(
            bottom - (row.mean - y_range[0]) / (y_range[1] - y_range[0]) * (bottom - top), abs=0.06
        )
        assert top < y < bottom
        assert list(click or ()) == [row.system, row.language, "length"]
    extents = sorted(outlines(drawn))
    for (x, top, bottom, _), (share, y, *_) in zip(extents, sorted(drawn.marks), strict=True):
        assert x == pytest.approx(share, abs=1e-4)
        assert top <= y <= bottom <= top + 1.4 * drawn.size
    assert (drawn.left, drawn.right) == (figure["layout"]["margin"]["l"], figure["layout"]["margin"]["r"])


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_mark_has_the_colour_and_shape_of_its_system(mode: Any) -> None:
    first, second = "aya-101", "baseline/x"
    drawn = draw(panels([mean(first, "ar", 1.0), mean(second, "ar", 2.0), mean(first, "en", 2.0)], mode=mode))
    colors = [color for *_, color in outlines(drawn)]
    assert colors == [family(system).color(mode) for system in (first, second, first)]


def test_marks_that_look_alike_in_one_place_are_one_path() -> None:
    by_feature = {name: (mean("a", "ar", 1.0), mean("a", "en", 2.0)) for name in ("length", "n_citations")}
    drawn = draw(features.panels(by_feature, features=tuple(by_feature), languages=LANGUAGES, chosen=(), mode="light"))
    assert len(outlines(drawn)) == len(drawn.marks) == 4
    paths = [path for column in parsed(drawn).iter("svg") if column.get("class") == "marks" for path in column]
    assert len(paths) == 2, "one for each language, with a mark in each panel"


@pytest.mark.browser
@pytest.mark.parametrize("symbol", sorted(SHAPES))
def test_a_mark_is_the_shape_that_tables_show(symbol: str, page: Any) -> None:
    bounds = """([drawn, shape]) => [`<path d="${drawn}"/>`, shape].map((markup) => {
      document.body.innerHTML = `<svg>${markup}</svg>`
      const mark = document.querySelector("svg > *")
      const { x, y, width, height } = mark.getBBox()
      return [x, y, width, height, mark.getTotalLength()]
    })"""
    size = 9 if symbol == "square" else 10
    ours, shown = page.evaluate(bounds, [marker_path(symbol, size, 8.0), SHAPES[symbol]])
    assert [ours[0] + 8, *ours[1:4]] == pytest.approx(shown[:4], abs=0.05)
    assert ours[4] == pytest.approx(shown[4], rel=0.03), "browsers measure a circle along a polygon"


def test_names_and_titles_are_text_whatever_they_hold() -> None:
    drawn = draw(rank_map([NAME, "plain"]))
    assert NAME in texts(drawn)
    assert not list(parsed(drawn).iter("script"))
    marked = draw(
        features.panels(
            {NAME: (mean(NAME, "en", 1.0),)}, features=(NAME,), languages=LANGUAGES, chosen=(), mode="light"
        )
    )
    assert any(text.startswith(NAME) for text in texts(marked)), "a feature's name stands above its panel"
    assert "<script>" not in marked.svg


def test_cells_have_their_number_on_their_place_of_the_ramp() -> None:
    names = ["a", "b", "c"]
    drawn = draw(rank_map(names))
    numbers = [text for text in texts(drawn) if text.isdecimal()]
    assert numbers == ["1", "2", "3"] * len(LANGUAGES)
    assert set(texts(drawn)) == {*LANGUAGES, *names, "1", "2", "3"}
    ramp = ink("light").ramp
    fills = [path.get("fill") for path in parsed(drawn).iter("path") if path.get("fill")]
    assert list(dict.fromkeys(fills)) == [color for _, color in ramp], "best, middle and worst of three are its stops"
    assert draw(rank_map(["a", "b", "c", "d"])).svg.count(ramp[1][1]) == 0, "others lie between them"


def test_panels_in_focus_have_a_line_through_their_dots_and_the_others_fade() -> None:
    rows = [mean(system, code, k + 1.0) for k, code in enumerate(LANGUAGES) for system in ("a", "b")]
    root = parsed(draw(panels(rows, chosen=("a",))))
    color = family("a").color("light")
    (group,) = [g for g in root.iter("g") if g.get("stroke") == color]
    assert len(list(group)) == len(LANGUAGES) - 1
    marks = [path for column in root.iter("svg") if column.get("class") == "marks" for path in column]
    assert [float(path.get("opacity", "")) for path in marks] == [pytest.approx(0.22), 1] * len(LANGUAGES)


def test_whiskers_reach_their_ends_and_stop_at_the_edge_without_a_cap() -> None:
    rows = [
        {"where": "all", "verdict": "worse", "difference": -1.0, "low": -1.5, "high": -0.5, "n_queries": 9},
        {"where": "x", "verdict": "inconclusive", "difference": 0.5, "low": None, "high": 1.0, "n_queries": 3},
    ]
    figure = compare.differences(rows, margin=0.25, title="Difference", mode="light")
    root = parsed(draw(figure))
    low, high = figure["layout"]["xaxis"]["range"]

    def place(value: float) -> float:
        return 100 * (value - low) / (high - low)

    (group,) = [g for g in root.iter("g") if g.get("stroke-width") == "1.5" and g.get("class") is None]
    lines = [{name: float(value.rstrip("%")) for name, value in line.attrib.items()} for line in group]
    bars = [line for line in lines if line["y1"] == line["y2"]]
    caps = [line["x1"] for line in lines if line["y1"] != line["y2"]]
    assert [(bar["x1"], bar["x2"]) for bar in bars] == [
        (pytest.approx(place(-1.5), abs=0.01), pytest.approx(place(-0.5), abs=0.01)),
        (0, pytest.approx(place(1.0), abs=0.01)),
    ]
    assert caps == [pytest.approx(place(value), abs=0.01) for value in (-1.5, -0.5, 1.0)]
    (band,) = root.iter("rect")
    assert float(band.get("width", "").rstrip("%")) == pytest.approx(place(0.25) - place(-0.25), abs=0.02)


def test_many_columns_have_the_width_that_they_need() -> None:
    few, many = (
        leaderboard.rank_map(
            [{"language": code, "system": "a", "rank": 1} for code in codes], systems=["a"], mode="light"
        )
        for codes in (["en"], SIXTY)
    )
    assert parsed(draw(few)).get("width") == "100%"
    width = parsed(draw(many)).get("width") or ""
    assert width.endswith("px")
    assert float(width.removesuffix("px")) > 60 * 20


@given(VALUES, VALUES, st.integers(1, 12))
def test_ticks_are_round_values_between_the_ends(low: float, high: float, most: int) -> None:
    low, high = sorted((low, high))
    if high - low < 1e-6 * max(1.0, abs(low), abs(high)):
        return
    values = ticks(low, high, most)
    assert len(values) <= most
    slack = 1e-9 * max(abs(low), abs(high), 1)
    assert all(low - slack <= value <= high + slack for value in values)
    steps = {round((b - a) / (values[1] - values[0]), 6) for a, b in itertools.pairwise(values)}
    assert steps <= {1.0}


def test_ticks_of_known_ranges() -> None:
    assert ticks(0, 1, 4) == [0, 0.5, 1]
    assert ticks(1.1, 4.9, 4) == [2, 3, 4]
    assert ticks(-3, 3, 4) == [-2, 0, 2]
    assert ticks(0, 740, 4) == [0, 200, 400, 600]


def test_values_leave_room_for_half_a_mark() -> None:
    figure = panels([mean("a", "ar", 5.0), mean("b", "ar", 5.0)])
    drawn = draw(figure)
    top = figure["layout"]["margin"]["t"]
    assert all(top + MARK_SIZE / 2 <= mark[1] <= top + features.PANEL - SPACE / 2 for mark in drawn.marks)


def test_a_judges_mark_is_hollow_with_few_data_and_the_fair_line_is_on_the_grid() -> None:
    rows = [
        {
            "judge": judge,
            "language": code,
            "first": 0.5,
            "first_low": 0.4,
            "first_high": 0.6,
            "first_n": 9,
            "enough": sure,
        }
        for judge, code, sure in (("a", "en", True), ("a", "sw", False), ("b", "en", True))
    ]
    figure = judge_figure(
        rows,
        measure="first",
        judges=["a", "b"],
        languages=["en", "sw"],
        title="First",
        unit="rate",
        fair=0.5,
        mode="light",
    )
    assert [trace["marker"]["symbol"] for trace in figure["data"]] == [family("a").symbol, family("b").symbol]
    root = parsed(draw(figure))
    shapes = [path for column in root.iter("svg") if column.get("class") == "marks" for path in column]
    looks = [(path.get("fill"), path.get("stroke")) for path in shapes]
    colors = ink("light")
    known, other = family("a").color("light"), family("b").color("light")
    assert set(looks) == {(known, known), (colors.ground, colors.muted), (other, other)}
    lines = [(line.get("x1"), line.get("stroke-dasharray")) for line in root.iter("line")]
    fair = next(k for k, (_, dashes) in enumerate(lines) if dashes == "2,2")
    assert any(k < fair and x == lines[fair][0] for k, (x, _) in enumerate(lines)), "a line of the grid lies below it"
    assert "50%" in texts(draw(figure))


def placed(drawn: Drawing, css: str) -> list[tuple[float, ET.Element]]:
    """Parts of a drawing that stand in a place of their own, with that place along x in percent."""
    return [
        (float(place.get("x", "").rstrip("%")), part)
        for place in parsed(drawn).findall("svg")
        for part in place
        if part.get("class") == css
    ]


def test_the_plane_has_both_intervals_titles_and_percent_on_its_axes() -> None:
    figure = hallucination.trade_off([joint("gpt-4", 0.3, 0.1)], mode="light")
    drawn = draw(figure)
    low, high = figure["layout"]["xaxis"]["range"]
    margin, height = figure["layout"]["margin"], figure["layout"]["height"]
    room = height - margin["t"] - margin["b"]

    def across(value: float) -> float:
        return 100 * (value - low) / (high - low)

    def down(value: float) -> float:
        return height - margin["b"] - room * (value - low) / (high - low)

    color = family("gpt-4").color("light")
    lines = [line.attrib for group in parsed(drawn).iter("g") if group.get("stroke") == color for line in group]
    level, upright = lines
    assert [float(level[end].rstrip("%")) for end in ("x1", "x2")] == [
        pytest.approx(across(value), abs=0.01) for value in (0.27, 0.32)
    ]
    assert [float(upright[end]) for end in ("y1", "y2")] == [
        pytest.approx(down(value), abs=0.06) for value in (0.07, 0.12)
    ]
    assert upright["x1"] == upright["x2"] == f"{across(0.3):.2f}%"
    shown = texts(drawn)
    assert {"0%", "25%", "50%", "75%", "100%"} <= set(shown)
    titles = [figure["layout"][axis]["title"]["text"] for axis in ("xaxis", "yaxis")]
    assert [title for title in shown if title in titles] == titles
    (turned,) = (text for text in parsed(drawn).iter("text") if text.text == titles[1])
    assert "rotate(-90)" in turned.get("transform", "")


def test_a_label_stands_where_it_was_put_and_a_line_leads_to_it_from_its_mark() -> None:
    crowd = [joint(f"sys-{k}", 0.9, 0.5) for k in range(4)]
    figure = hallucination.trade_off(crowd, mode="light")
    drawn = draw(figure)
    notes = {note["text"]: note for note in figure["layout"]["annotations"]}
    by_text = {"".join(text.itertext()): (x, text) for x, text in placed(drawn, "note")}
    assert {"best corner", *(row["system"] for row in crowd)} <= set(by_text)
    for row in crowd:
        x, text = by_text[row["system"]]
        note = notes[row["system"]]
        assert x == pytest.approx(100 * drawn.marks[0][0], abs=0.01)
        assert (float(text.get("x", "")), float(text.get("y", ""))) == (note["ax"], note["ay"])
        assert text.get("text-anchor") == {"left": "start", "right": "end", "center": "middle"}[note["xanchor"]]
    leaders = [line for place in parsed(drawn).findall("svg") for line in place if line.tag == "line"]
    led = [note for note in notes.values() if note["arrowcolor"] == ink("light").muted]
    assert len(leaders) == len(led) > 0
    ends = {(float(line.get("x2", "")), float(line.get("y2", ""))) for line in leaders}
    assert ends == {(note["ax"], note["ay"]) for note in led}


def test_an_order_has_no_axes_a_line_for_each_system_and_its_names_on_both_sides() -> None:
    rows = [
        {"system": NAME, "decided": 0.1, "as_published": 0.5, "undecided": 0.4, "n": 9, "fall": 1},
        {"system": "b", "decided": 0.2, "as_published": 0.2, "undecided": 0.0, "n": 9, "fall": -1},
    ]
    for place, row in enumerate(rows):
        row |= {"place_decided": place + 1, "place_as_published": 2 - place}
    drawn = draw(hallucination.order(rows, mode="light"))
    root = parsed(drawn)
    assert not [group for group in root.iter("g") if group.get("class") in ("x", "y")]
    assert not list(root.iter("script"))
    beside = {
        "".join(text.itertext()).strip(): (text.get("x"), text.get("text-anchor"), float(text.get("dx", "")))
        for group in root.iter("g")
        for text in group.findall("text")
    }
    name = next(words for words in beside if words.startswith(NAME))
    assert beside[name][:2] == ("0.00%", "end")
    assert beside[name][2] < -MARK_SIZE / 2
    moved = next(words for words in beside if words.endswith("▼ 1 place"))
    assert beside[moved][:2] == ("100.00%", "start")
    colors = [family(row["system"]).color("light") for row in rows]
    crossing = [line for group in root.iter("g") if group.get("stroke") in colors for line in group]
    assert [(line.get("y1") == line.get("y2")) for line in crossing] == [False, False]
    assert {"over decided answers", "as published"} <= set(texts(drawn))


def predicted(system: str, rating: float, judged: float | None) -> Prediction:
    return Prediction(
        referee="judge",
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


def test_the_legend_shows_each_traces_first_mark_above_the_drawing() -> None:
    points = [predicted(NAME, 0.5, -1.0), predicted("b", 0.1, None)]
    figure = surrogate.ratings(points, {}, referee=NAME, mode="light")
    drawn = draw(figure)
    entries = ET.fromstring(f"<div>{drawn.legend}</div>")
    assert [" ".join("".join(entry.itertext()).split()) for entry in entries] == [
        f"rated by {NAME}",
        "predicted, without its battles",
    ]
    (filled,), (hollow,) = (entry.iter("path") for entry in entries)
    color = family(NAME).color("light")
    assert (filled.get("fill"), hollow.get("fill")) == (color, ink("light").ground)
    assert filled.get("stroke") == hollow.get("stroke") == color
    margin = figure["layout"]["margin"]
    assert drawn.height == figure["layout"]["height"] - margin["t"] + SPACE
    assert float(parsed(drawn).get("height", "")) == drawn.height
    rows = sorted({mark[1] for mark in drawn.marks})
    assert SPACE < rows[0] < rows[-1] < drawn.height - margin["b"]
    without = figure | {"layout": figure["layout"] | {"showlegend": False}}
    assert (draw(without).legend, draw(without).height) == ("", figure["layout"]["height"])


def test_every_value_and_interval_of_the_ratings_is_within_the_axis() -> None:
    points = [predicted("a", 3.0, -4.0), predicted("b", -0.2, None)]
    ends = {"a": (-6.0, None)}
    axis = surrogate.ratings(points, ends, referee="judge", mode="light")["layout"]["xaxis"]
    low, high = axis["range"]
    assert low < -6.0
    assert high > 3.5
    assert all(low <= value <= high for value in axis["tickvals"])
    assert 0 in axis["tickvals"]


def test_a_name_of_an_axis_may_be_marked_and_never_leaves_the_drawing() -> None:
    rows = [Relation("length", language, 0.5, 0.1, 0.9, 5, 1, "") for language in ("all", "en")]
    drawn = draw(features.relation_map(rows, features=("length",), languages=("all", "en"), mode="light"))
    assert {"all", "en"} <= set(texts(drawn)), "markup is no part of a name"
    bold = [span.text for span in parsed(drawn).iter("tspan") if span.get("font-weight") == "600"]
    assert "all" in bold


@given(st.text("<>/b &;\"'amplt", max_size=30))
def test_every_text_of_a_figure_leaves_it_well_formed(text: str) -> None:
    """Also markup that is not closed, closed twice or crossed."""
    figure = rank_map(["a"])
    layout = figure["layout"]
    axis = {**layout["yaxis"], "ticktext": [text]}
    title = {**layout["xaxis"], "title": {"text": f"<b>{text}<i>"}}
    note = {"x": 0, "y": 0, "xanchor": "left", "yanchor": "top", "text": f"</b>{text}", "hovertext": text}
    figure = {**figure, "layout": {**layout, "yaxis": axis, "xaxis": title, "annotations": [note]}}
    parsed(draw(figure))
