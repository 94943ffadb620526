"""The four things that one does in a sitting, by clicks through the pages: read the leaderboard, open the battle behind
a number, check the judge by hand, bring a model of one's own. Every step is seen in light and in dark.

With MIRAGE_PICTURES=DIR every step leaves a picture in that folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import browser
import pytest
from browser import Opened
from conftest import ROOT

from mirage.explorer.kit.page_list import PAGES
from mirage.store.arena import open_arena
from mirage.text.languages import LANGUAGES

pytestmark = pytest.mark.browser

SAMPLE = ROOT / "data" / "sample"
THERE = {entry.name for entry in PAGES if entry.file.is_file()}
SITTINGS = (("ja", "light"), ("ar", "dark"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def url(home: Path) -> Iterator[str]:
    with browser.server(SAMPLE, program="mirage/explorer/server.py", MIRAGE_HOME=str(home)) as url:
        yield url


def arrived(opened: Opened, title: str) -> None:
    opened.page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
    opened.settle()


def follow(opened: Opened, title: str) -> None:
    """Go to a page by the sidebar."""
    opened.settle()
    opened.page.locator("[data-testid=stSidebarNav]").get_by_role("link", name=title, exact=True).click()
    arrived(opened, title)


def seen(opened: Opened, scheme: str, name: str) -> None:
    """Look at a step: page, text and charts are in the sitting's scheme."""
    opened.settle()
    paper, ink = opened.page.evaluate(COLOURS)
    assert (sum(paper) > 3 * 230) is (scheme == "light"), f"{name} is on {paper} in {scheme}"
    assert all(abs(a - b) > 120 for a, b in zip(paper, ink, strict=True)), f"{name}: {ink} on {paper}"
    for chart in opened.page.evaluate(CHARTS):
        assert (sum(chart) < 3 * 128) is (scheme == "light"), f"{name}: a chart's text is {chart} in {scheme}"
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


def answers(code: str, system: str) -> bytes:
    """A file of answers of a system in a language: those of a baseline."""
    rows = open_arena(SAMPLE).read("answers", languages=[code]).to_pylist()
    keys = ("language", "query_id", "text")
    lines = [
        json.dumps({k: row[k] for k in keys} | {"system": system}) for row in rows if row["system"] == "baseline/bm25-3"
    ]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(("code", "scheme"), SITTINGS)
def test_all_four_things_in_one_sitting(
    start: Callable[..., Opened], url: str, home: Path, code: str, scheme: str
) -> None:
    opened = start(scheme=scheme)
    page: Any = opened.page
    name = f"mine-{code}-{scheme}"
    try:
        # The leaderboard, in one's language.
        page.goto(f"{url}/?arena=sample")
        arrived(opened, "Leaderboard")
        page.get_by_role("combobox", name="Languages").fill(code)  # the list is drawn as far as it is seen
        page.get_by_role("option", name=f"({code})").click()
        page.wait_for_url(f"**languages={code}**")
        page.keyboard.press("Escape")
        opened.settle()
        page.get_by_role("combobox", name="Judge").click()
        page.get_by_role("option", name="heuristic", exact=True).click()
        # Not by the address: Streamlit's browser side now and then has not bound a picker of a fragment to it yet.
        page.get_by_text("verdicts by heuristic").first.wait_for()
        assert page.get_by_text(f"in {LANGUAGES[code].name}").first.is_visible()
        seen(opened, scheme, f"{code}-{scheme}-1-leaderboard")
        # The battle behind a number: a cell of the win matrix.
        page.get_by_role("radio", name="Wins").click()
        page.locator(".mg-ranks td a").first.click()
        page.wait_for_selector(".mg-answer")
        assert f"languages={code}" in page.url
        opened.settle()
        query = page.locator(".mg-query .mg-text")
        assert query.get_attribute("lang") == code
        style = query.evaluate("e => getComputedStyle(e).direction")
        assert style == ("rtl" if code == "ar" else "ltr")
        seen(opened, scheme, f"{code}-{scheme}-2-battle")
        # The judge, checked by hand.
        if "spot_check" in THERE:
            checked(opened, name, code)
            seen(opened, scheme, f"{code}-{scheme}-3-spot-check")
        # A model of one's own.
        follow(opened, "Your system")
        file = {"name": "answers.jsonl", "mimeType": "application/jsonl", "buffer": answers(code, name)}
        page.locator("input[type=file]").set_input_files([file])
        page.get_by_role("button", name="Remove answers.jsonl").wait_for()
        opened.settle()
        page.get_by_role("button", name="Rank them among").click()
        page.wait_for_url("**arena=sample-own**")
        page.get_by_text(f"{name} ranks").first.wait_for()
        opened.settle()
        assert name in page.locator("[data-testid=stMain]").inner_text()
        seen(opened, scheme, f"{code}-{scheme}-4-your-model")
        assert opened.heard == ([], [], [])
    finally:
        page.close()


def checked(opened: Opened, voter: str, code: str) -> None:
    """Vote on two battles in the language picked for all pages, take one back."""
    page = opened.page
    follow(opened, "Spot check")
    page.wait_for_selector(".mg-blind")
    opened.settle()
    page.get_by_role("button", name="Options").click()
    field = page.get_by_role("textbox", name="Your name", exact=True)
    field.fill(voter)
    field.press("Enter")
    page.get_by_text("1 of").or_(page.get_by_text("0 of")).first.wait_for()
    page.get_by_role("button", name=f"Voting as {voter}").wait_for()
    page.keyboard.press("Escape")
    assert page.locator(".mg-query .mg-text").get_attribute("lang") == code
    for n, key in ((1, "1"), (2, "3")):
        opened.press(key)
        page.get_by_text(f"{n} of").first.wait_for()
        page.get_by_role("button", name="Open this battle").wait_for()
    opened.press("u")
    page.get_by_text("1 of").first.wait_for()
    opened.settle()
