"""The Hallucination page's figures: what they say, and that Plotly knows every property."""

from typing import Any

import pytest
from charts_hallucination_cases import cell, checked, joint, rates_of

from mirage.explorer.hallucination import charts
from mirage.publish.charts.palette import family

SYSTEMS = ("gpt-4", "aya-101", "Mistral-7B")


CELLS = [
    cell("gpt-4", "en", "hallucination", 250, 0),
    cell("gpt-4", "en", "error", 10, 190, printed=0.05, difference=0.0),
    cell("gpt-4", "fi", "hallucination", 5, 95, printed=0.062, difference=-1.2),
    cell("aya-101", "en", "hallucination", 0, 0, 20),
    cell("aya-101", "en", "error", 50, 50, 100),
    cell("Mistral-7B", "en", "error", 0, 0, printed=0.5),
    *[cell(system, "all", metric, 30, 70, 10) for system in SYSTEMS for metric in ("hallucination", "error")],
]


def texts(figure: dict[str, Any]) -> list[str]:
    labels = [text.strip() for trace in figure["data"] if trace.get("mode") == "text" for text in trace["text"]]
    return labels + [note["text"] for note in figure["layout"]["annotations"]]


def clickable(figure: dict[str, Any]) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if "customdata" in trace]


def test_the_trade_off_draws_both_intervals_and_names_every_mark(mode: Any) -> None:
    figure = checked(
        charts.trade_off(rates_of(CELLS, joint("gpt-4", 0.3, 0.1), joint("aya-101", 0.9, None)), (), "light")
    )
    marks = clickable(figure)
    assert [trace["customdata"] for trace in marks] == [[["gpt-4", "", "", ""]]], "aya-101 has only one of the rates"
    assert marks[0]["error_x"]["array"] == [pytest.approx(0.02)]
    assert marks[0]["error_x"]["arrayminus"] == [pytest.approx(0.03)]
    assert marks[0]["marker"]["symbol"] == family("gpt-4").symbol
    assert marks[0]["marker"]["color"] == family("gpt-4").color
    hover = marks[0]["text"][0]
    for part in (
        "hallucination rate 30.0%, 95% interval 27.0% to 37.0%",
        "of classified answers 30.0%, as published 36.4%, unclassified 9.1%",
        "110 answers to unanswerable queries",
        "error rate 30.0%",
    ):
        assert part in hover
    assert "gpt-4" in texts(figure)
    for axis in ("xaxis", "yaxis"):
        assert "(lower is better)" in figure["layout"][axis]["title"]["text"]


def test_without_any_pair_of_rates_the_trade_off_says_so() -> None:
    figure = checked(charts.trade_off(rates_of(CELLS, joint("gpt-4", 0.3, None)), (), "light"))
    assert "<i>no system has both rates</i>" in texts(figure)


def test_pitfall_26_a_cell_of_250_of_250_reads_one_hundred_percent(mode: Any) -> None:
    figure = checked(
        charts.rate_map(
            rates_of(CELLS),
            SYSTEMS,
            (
                "en",
                "fi",
            ),
            "hallucination",
            "light",
        )
    )
    full, hollow = figure["data"]
    texts = dict(zip(map(tuple, full["customdata"]), full["text"], strict=True))
    assert texts == {("gpt-4", "en", "hallucination", ""): "100", ("gpt-4", "fi", "hallucination", ""): "5"}
    assert "hallucination rate 100.0%" in full["hovertext"][0]
    assert "250 answers: 250 answered, 0 abstained, 0 unclassified" in full["hovertext"][0]
    assert len(hollow["x"]) == 4
    assert full["marker"]["symbol"] == "square", "an image could not be clicked"


def test_a_cell_without_a_rate_is_hollow_and_says_why() -> None:
    figure = charts.rate_map(
        rates_of(CELLS),
        SYSTEMS,
        (
            "en",
            "fi",
        ),
        "hallucination",
        "light",
    )
    hollow = {
        tuple(key[:2]): text
        for key, text in zip(figure["data"][1]["customdata"], figure["data"][1]["hovertext"], strict=True)
    }
    assert "no hallucination rate: none of the 20 answers says" in hollow["aya-101", "en"]
    assert "as published 100.0%, unclassified 100.0%" in hollow["aya-101", "en"]
    assert "no answers in this arena" in hollow["Mistral-7B", "fi"]
    assert set(figure["data"][1]["text"]) == {"–"}
    figure = charts.rate_map(rates_of(CELLS), SYSTEMS, ("en",), "error", "light")
    assert "printed in the paper: 50.0%" in figure["data"][1]["hovertext"][0]


def test_a_rate_from_few_answers_is_hollow() -> None:
    cells = [cell("gpt-4", "en", "error", 1, 8), cell("gpt-4", "fi", "error", 1, 9)]
    figure = charts.rate_map(
        rates_of(cells),
        ("gpt-4",),
        (
            "en",
            "fi",
        ),
        "error",
        "light",
    )
    assert [trace["customdata"][0][1] for trace in figure["data"][:2]] == ["fi", "en"]
    assert figure["data"][1]["text"] == ["11"]
