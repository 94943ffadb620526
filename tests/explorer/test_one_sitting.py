"""The four things that one does in a sitting, by clicks through the pages: read the leaderboard, open the battle behind
a number, check the judge by hand, bring a model of one's own. Every step is seen, from right to left and in dark.

With MIRAGE_PICTURES=DIR every step leaves a picture in that folder.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import browser
import pytest
from browser import Opened
from conftest import ROOT

from mirage.store.arena import open_arena
from mirage.text.languages import LANGUAGES

pytestmark = pytest.mark.browser

SAMPLE = ROOT / "data" / "sample"
CODE, MINE = "ar", "mine"


@pytest.fixture(scope="module")
def url(module_path: Path) -> Iterator[str]:
    # What nobody asks for is not computed ahead.
    environment = {"MIRAGE_HOME": str(module_path), "MIRAGE_CACHE_MB": "0"}
    with browser.server(SAMPLE, program="mirage/explorer/server.py", **environment) as url:
        yield url


def seen(opened: Opened, name: str) -> None:
    """Look at a step: page, text and charts are dark."""
    opened.settle()
    paper, ink = opened.page.evaluate(COLOURS)
    assert sum(paper) < 3 * 128, f"{name} is on {paper}"
    assert all(abs(a - b) > 120 for a, b in zip(paper, ink, strict=True)), f"{name}: {ink} on {paper}"
    for chart in opened.page.evaluate(CHARTS):
        assert sum(chart) > 3 * 128, f"{name}: a chart's text is {chart}"
    if folder := os.environ.get("MIRAGE_PICTURES"):
        opened.page.screenshot(path=Path(folder) / f"sitting-{name}.png")


COLOURS = """() => {
  const rgb = words => words.match(/\\d+/g).slice(0, 3).map(Number)
  const paper = getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor
  return [rgb(paper), rgb(getComputedStyle(document.querySelector("h1")).color)]
}"""
CHARTS = """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap(plot =>
  [...plot.querySelectorAll(".xtick text, .ytick text")].slice(0, 1).map(
    text => getComputedStyle(text).fill.match(/\\d+/g).slice(0, 3).map(Number)))"""


def answers() -> bytes:
    """A file of answers of a system in the language: those of a baseline."""
    rows = open_arena(SAMPLE).read("answers", languages=[CODE]).to_pylist()
    keys = ("language", "query_id", "text")
    lines = [
        json.dumps({k: row[k] for k in keys} | {"system": MINE}) for row in rows if row["system"] == "baseline/bm25-3"
    ]
    return "\n".join(lines).encode()


def test_all_four_things_in_one_sitting(start: Callable[..., Opened], url: str) -> None:
    with start(scheme="dark") as opened:
        page = opened.page
        # The leaderboard, in one's language.
        page.goto(f"{url}/?arena=sample")
        opened.arrive("Leaderboard")
        page.get_by_role("combobox", name="Languages").fill(CODE)  # the list is drawn as far as it is seen
        page.get_by_role("option", name=f"({CODE})").click()
        page.wait_for_url(f"**languages={CODE}**")
        page.keyboard.press("Escape")
        opened.settle()
        page.get_by_role("combobox", name="Judge").click()
        page.get_by_role("option", name="heuristic", exact=True).click()
        # Not by the address: Streamlit's browser side now and then has not bound a picker of a fragment to it yet.
        page.get_by_text("verdicts by heuristic").first.wait_for()
        assert page.get_by_text(f"in {LANGUAGES[CODE].name}").first.is_visible()
        seen(opened, "1-leaderboard")
        # The battle behind a number: a cell of the win matrix.
        page.get_by_role("radio", name="Wins").click()
        page.locator(".mg-ranks td a").first.click()
        page.wait_for_selector(".mg-answer")
        assert f"languages={CODE}" in page.url
        opened.settle()
        query = page.locator(".mg-query .mg-text")
        assert query.get_attribute("lang") == CODE
        assert query.evaluate("e => getComputedStyle(e).direction") == "rtl"
        seen(opened, "2-battle")
        # The judge, checked by hand.
        checked(opened)
        seen(opened, "3-spot-check")
        # A model of one's own.
        opened.follow("Your system")
        file = {"name": "answers.jsonl", "mimeType": "application/jsonl", "buffer": answers()}
        page.locator("input[type=file]").set_input_files([file])
        page.get_by_role("button", name="Remove answers.jsonl").wait_for()
        opened.settle()
        page.get_by_role("button", name="Rank them among").click()
        page.wait_for_url("**arena=sample-own**")
        page.get_by_text(f"{MINE} ranks").first.wait_for()
        seen(opened, "4-your-model")


def checked(opened: Opened) -> None:
    """Vote on two battles in the language picked for all pages, take one back."""
    page = opened.page
    opened.follow("Spot check")
    page.wait_for_selector(".mg-blind")
    opened.settle()
    page.get_by_role("button", name="Options").click()
    field = page.get_by_role("textbox", name="Your name", exact=True)
    field.fill(MINE)
    field.press("Enter")
    page.get_by_text("1 of").or_(page.get_by_text("0 of")).first.wait_for()
    page.get_by_role("button", name=f"Voting as {MINE}").wait_for()
    page.keyboard.press("Escape")
    assert page.locator(".mg-query .mg-text").get_attribute("lang") == CODE
    for n, key in ((1, "1"), (2, "3")):
        opened.press(key)
        page.get_by_text(f"{n} of").first.wait_for()
        page.get_by_role("button", name="Open this battle").wait_for()
    opened.press("u")
    page.get_by_text("1 of").first.wait_for()
    opened.settle()
