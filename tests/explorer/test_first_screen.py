"""The opening card, and what a reader takes away: a slide, and the one command that brings what an arena lacks."""

import re
import shlex
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from arena_writer import write_arena
from browser import Opened, show
from commands import mirage
from conftest import ROOT
from PIL import Image, ImageChops

from mirage import open_arena
from mirage.explorer.kit.page_list import HOME, PAGES
from mirage.explorer.kit.table import filter_rows
from mirage.store.arena import TEXTS, Arena
from mirage.views.overview import filling_command
from pages import open_page, page_text

Start = Callable[..., Opened]


@pytest.mark.browser
def test_the_program_opens_with_a_question_whose_answer_is_told_after_the_choice(opened: Opened, url: str) -> None:
    page = show(opened, url)
    card = page.locator(".st-key-opening")
    assert "8 of 11 models" in page.locator(".mg-conclusion").inner_text()
    assert "reference" not in card.inner_text()
    page.set_viewport_size({"width": 390, "height": 844})
    opened.settle()
    assert card.evaluate("e => e.getBoundingClientRect().bottom") <= 844, "a phone shows the whole card"
    page.set_viewport_size({"width": 1440, "height": 900})
    card.locator(".mg-answer a[href='#passage-1']").first.click()
    page.wait_for_function("() => document.querySelector('.mg-fold:target')?.id === 'passage-1'")
    opened.press("1")
    card.get_by_text("You chose A").wait_for()
    opened.settle()
    assert "thorough answers although no passage is relevant" in card.inner_text()
    assert card.locator(".mg-wrong").count() == 1
    card.get_by_role("button", name="Close").click()
    card.wait_for(state="detached")
    page.locator(".mg-conclusion", has_text="ranks first").wait_for()
    page.wait_for_function("() => document.title.startsWith('Leaderboard: gpt-4-azure ranks first')")
    page = show(opened, f"{url}/?arena=nomiracl")
    assert page.locator(".st-key-opening").count() == 0, "a link shows what it links to"


def check_slide(page: Any) -> None:
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="PNG for slides").click()
    page.keyboard.press("Escape")
    picture = Image.open(BytesIO(Path(waiting.value.path()).read_bytes())).convert("RGB")
    assert picture.size == (1920, 1080)
    assert len(picture.quantize(64).getcolors() or ()) > 8, "there is more on it than its title"
    blank = Image.new("RGB", (960, 680), picture.getpixel((0, 0)))
    right = picture.crop((960, 320, 1920, 1000))
    assert ImageChops.difference(right, blank).getbbox() is not None, "it fills the slide"


@pytest.mark.browser
def test_a_slide_leaves_as_a_picture(opened: Opened, url: str) -> None:
    check_slide(show(opened, f"{url}/leaderboard?arena=people"))
    check_slide(show(opened, f"{url}/compare?arena=sample"))
    opened.follow("Hallucination")
    check_slide(opened.page)


def test_a_link_to_a_page_that_is_not_offered_says_what_brings_it() -> None:
    words = page_text(open_page("judges", arena="nomiracl"))
    assert "has no judgments" in words
    assert TEXTS in words


TOUR = re.findall(r"\(http://localhost:8501/([^)]*)\)", (ROOT / "docs" / "tour.md").read_text("utf-8"))


@pytest.mark.parametrize("link", TOUR)
def test_every_link_of_the_tour_shows_what_it_says(link: str) -> None:
    address = urlsplit(link)
    parameters = {key: values[-1] for key, values in parse_qs(address.query).items()}
    entry = next(entry for entry in PAGES if entry.name == (address.path or HOME))
    assert entry.is_offered(open_arena(parameters.get("arena", "nomiracl")))
    words = page_text(open_page(entry.name, **parameters))
    assert "Unknown value in the link" not in words
    assert "No data" not in words


def lacking(arena: Arena) -> list[str]:
    return [entry.name for entry in PAGES if not entry.is_offered(arena)]


def test_the_one_command_brings_what_an_arena_with_answers_lacks(tmp_path: Path) -> None:
    sample = open_arena("sample")
    tables = {name: sample.read(name, languages=("en",)) for name in ("queries", "passages", "answers")}
    systems = ["reference", "thorough", "concise", "copier", "fluent", "english"]
    tables["answers"] = filter_rows(tables["answers"], "system", systems)
    arena = write_arena(tmp_path / "asked", tables)
    assert {"judges", "features"} <= set(lacking(arena))
    mirage(*shlex.split(filling_command(arena))[1:])
    arena = open_arena(arena.path)
    assert lacking(arena) == ["judges", "surrogate"], "verdicts are a model's, which nobody asked"
    mirage(*shlex.split(filling_command(arena))[1:])
    assert lacking(open_arena(arena.path)) == ["judges"]
    assert filling_command(open_arena(arena.path)) == ""


@pytest.mark.parametrize(("arena", "command"), [("nomiracl", TEXTS), ("people", ""), ("published", "")])
def test_without_answers_a_command_is_named_only_where_they_are_public(arena: str, command: str) -> None:
    assert filling_command(open_arena(arena)) == command
