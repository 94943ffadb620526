"""The look: families and their marks, colours that stay apart, number formats; and the Leaderboard's figures."""

import itertools
import json
import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from golden.cases import read_table

from mirage import open_arena
from mirage.publish.charts import leaderboard as charts
from mirage.publish.charts import palette
from mirage.publish.charts.palette import FAMILIES, FORMATS, family, ink

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def linear(color: str) -> np.ndarray:
    c = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    t = np.clip(to_xyz @ rgb, 0, None) / np.array([0.9505, 1, 1.089])
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(color: str, other: str) -> float:
    a, b = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ linear(c)) for c in (color, other))
    return (b + 0.05) / (a + 0.05)


@pytest.mark.parametrize("vision", VISION)
def test_family_colours_stay_apart_for_every_kind_of_colour_vision(mode: Any, vision: str) -> None:
    makers = [maker for maker in FAMILIES if maker.name not in ("baseline", "other")]
    for maker, other in itertools.combinations(makers, 2):
        seen = [lab(np.clip(VISION[vision] @ linear(m.color), 0, 1)) for m in (maker, other)]
        # CIE76: about 2 is just noticeable side by side; marks lie apart and are small.
        assert math.dist(*seen) > 15, f"{maker.name} and {other.name} under {vision} in {mode}"


def test_marks_and_texts_have_the_contrast_that_wcag_asks_for(mode: Any) -> None:
    ground = ink().ground
    for maker in FAMILIES:
        assert contrast(maker.color, ground) >= 2.9, maker.name
    assert contrast(ink().text, ground) >= 7
    assert contrast(ink().muted, ground) >= 4.5
    for fill in (ink().chosen, ink().muted, *(palette.ramp_color(share / 20) for share in range(21))):
        inks = (palette.ink_on(fill), "#ffffff", palette.LIGHT.text)
        assert contrast(inks[0], fill) == max(contrast(one, fill) for one in inks) >= 4.2, fill


def test_systems_of_a_known_maker_share_its_colour_and_have_marks_of_their_own() -> None:
    outcomes = open_arena("nomiracl").read("outcomes", columns=["system"])
    figures = open_arena("published").sql(
        "SELECT DISTINCT system FROM published WHERE source = 'MIRAGE-Bench' AND system <> ''"
    )
    for systems in (set(outcomes["system"].to_pylist()), set(figures["system"].to_pylist())):
        assert len(systems) > 10
        assert len({(family(system).symbol, family(system).light) for system in systems}) == len(systems)
    makers = {maker.name: maker for maker in FAMILIES}
    for system in ("gpt-4", "gpt-3.5", "Mixtral (8x7B)"):
        look = family(system)
        assert (look.light, look.dark) == (makers[look.name].light, makers[look.name].dark)


def test_a_zero_has_no_minus() -> None:
    for kind in ("difference", "rating", "points"):
        form = FORMATS[kind]
        assert form.write(-0.00001) == form.write(0.0) == form.write(0.00001)
        assert not set(form.write(-0.00001)) & set("+-−")
        assert form.table_value(-0.00001) == 0
        assert form.table_value(-2.5) == -2.5 * form.scale
        assert form.table_value(None) is None


@pytest.mark.parametrize(*read_table("number_formats"))
def test_one_format_for_each_kind_of_number(kind: Any, value: float | None, text: str) -> None:
    assert FORMATS[kind].write(value) == text


ROWS = [
    {
        "system": system,
        "rating": rating,
        "low": rating - 0.2,
        "high": rating + 0.1,
        "rank": i + 1,
        "rank_low": 1,
        "rank_high": 2,
        "battles": 1234,
        "bounded": i != 1,
    }
    for i, (system, rating) in enumerate([("gpt-4", 0.5), ("aya-101", 0.0), ("Mistral-7B", -0.5)])
]


def test_whiskers_say_value_interval_and_n(mode: Any) -> None:
    figure = charts.whiskers(ROWS)
    go.Figure(figure)  # refuses a property that Plotly does not know
    json.dumps(figure)
    assert figure["layout"]["yaxis"]["ticktext"] == ["gpt-4", "aya-101", "Mistral-7B"]
    top, bottom = figure["layout"]["yaxis"]["range"]
    assert top > bottom, "the first row is on top"
    assert "higher is better" in figure["layout"]["xaxis"]["title"]["text"]
    marks = {trace["customdata"][0][0]: trace for trace in figure["data"]}
    best = marks["gpt-4"]
    assert best["error_x"]["array"] == [pytest.approx(0.1)]
    assert best["error_x"]["arrayminus"] == [pytest.approx(0.2)]
    for part in ("+0.50", "+0.30", "+0.60", "1 to 2", "n = 1,234 battles"):
        assert part in best["text"][0]
    assert best["marker"]["color"] == [family("gpt-4").color]
    assert marks["aya-101"]["marker"]["color"] == [ink().ground], "an unbounded rating is hollow"
    assert "depends on the prior" in marks["aya-101"]["text"][0]


def test_a_systems_name_in_a_hover_is_not_markup() -> None:
    rows = [{**ROWS[0], "system": "<b onmouseover=alert(1)>x</b>"}]
    (trace,) = charts.whiskers(rows)["data"]
    assert "<b onmouseover" not in trace["text"][0]


@pytest.mark.parametrize("names", [[f"gpt-4-{k}" for k in range(24)], [f"system {k}" for k in range(24)]])
def test_no_two_systems_of_an_arena_look_alike(names: list[str]) -> None:
    given = palette.distinct_looks(tuple(names))
    assert len({(look.light, look.symbol) for look in given.values()}) == len(names)
    assert given == palette.distinct_looks(tuple(reversed(names)))


def test_a_system_keeps_the_look_of_its_name_unless_another_has_it() -> None:
    names = [f"gpt-4-{k}" for k in range(8)]
    by_name = {name: palette.family(name) for name in names}
    with palette.arena_looks(tuple(names)):
        inside = {name: palette.family(name) for name in names}
    assert len({look.symbol for look in inside.values()}) == len(names)
    assert len({look.light for look in inside.values()}) == 3, "shades of the maker's colour"
    kept = [name for name in names if inside[name].symbol == by_name[name].symbol]
    assert len(kept) == len({look.symbol for look in by_name.values()})
    assert {name: palette.family(name) for name in names} == by_name
