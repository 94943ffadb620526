"""The explorer in a real browser: every page by its link and by the sidebar, on wide and narrow screens, by keyboard.

Whether hostile texts show as text is tested with the Answers page.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import browser
import pytest
import small_arena
from browser import Opened, show
from view_query_cases import build

from mirage.explorer.kit.page_list import PAGES

pytestmark = pytest.mark.browser

Start = Callable[..., Opened]
THERE = [entry for entry in PAGES if entry.file.is_file()]
JUDGED = ("outcomes", "judgments")
"""Tables of the arena `judged`."""
OFFERED = [entry for entry in THERE if not entry.needs or set(entry.needs) & set(JUDGED)]
TITLES = [entry.title for entry in OFFERED]
QUIET: tuple[list[str], ...] = ([], [], [])
MAIN = "[data-testid=stMain]"


@pytest.fixture(scope="module")
def arenas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`judged` has outcomes and verdicts, `asked` has texts, `nomiracl` and `published` are the bundled ones."""
    folder = tmp_path_factory.mktemp("arenas")
    small_arena.write(folder, "judged", tables=JUDGED)
    build(folder, "asked")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def url(arenas: Path, home: str) -> Iterator[str]:
    with browser.server(arenas, MIRAGE_HOME=home) as url:
        yield url


@contextmanager
def quiet(start: Start, **options: Any) -> Iterator[Opened]:
    """A page in a profile of its own, which must have been quiet when it is done."""
    opened = start(**options)
    try:
        yield opened
        assert opened.heard == QUIET
    finally:
        opened.page.close()


@pytest.fixture
def opened(start: Start) -> Iterator[Opened]:
    with quiet(start) as opened:
        yield opened


def arrived(opened: Opened, title: str) -> None:
    opened.page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
    opened.settle()


def state(page: Any) -> dict[str, Any]:
    """What the pickers stand at, by their labels: of the sidebar and of the page."""
    out = {}
    for group in page.get_by_role("radiogroup").all():
        out[group.get_attribute("aria-label")] = group.locator("[aria-checked=true]").inner_text()
    for picker in page.get_by_role("combobox").all():
        tags = picker.locator("xpath=ancestor::*[@data-testid='stMultiSelect']").locator("[data-tag], [role=option]")
        out[picker.get_attribute("aria-label")] = tags.all_inner_texts() or picker.input_value()
    return out


def query(page: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def grid(page: Any) -> list[tuple[str, str]]:
    """System and rank of every row of the leaderboard's table, as a screen reader finds them in the drawn table."""
    heads, *rows = page.locator("canvas table").first.evaluate(
        "table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return [(row[heads.index("System")], row[heads.index("Rank")]) for row in rows]


# Every page, by its link and by the sidebar

LINKS = {
    "leaderboard": (
        "?arena=judged&languages=fi&languages=sw&skill=abstain&system=aya-101",
        {"Queries": "unanswerable"},
    ),
    "hallucination": (
        ("hallucination?arena=judged&languages=fi&languages=sw&definition=count&systems=aya-101&confusion=fi"),
        {"Section": "Errors"},
    ),
    "battle": (
        "battle?arena=judged&languages=fi&languages=sw&judge=judge-x&a=aya-101&b=gpt-4&verdict=first&order=other",
        {"Judge": "judge-x", "First system": "aya-101", "Second system": "gpt-4", "Verdict": "first", "Order": "other"},
    ),
    "compare": (
        "compare?arena=judged&languages=fi&languages=sw&by=rate&a=aya-101&b=llama-2-7b&margin=0.1",
        {"Measure": "rate", "First system": "aya-101", "Second system": "llama-2-7b"},
    ),
    "answers": (
        "answers?arena=judged&languages=fi&languages=sw&subset=non_relevant&systems=gpt-4&parser=published",
        {"Subset": "unanswerable", "Parser": "published"},
    ),
    "features": ("features?arena=judged&languages=fi&languages=sw", {}),
    "judges": ("judges?arena=judged&languages=fi&languages=sw&measure=tie", {}),
    "spot_check": ("spot_check?arena=judged&languages=fi&languages=sw", {}),
    "surrogate": ("surrogate?arena=judged&languages=fi&languages=sw", {}),
    "your_model": ("your_model?arena=judged&languages=fi&languages=sw", {}),
    "methods": ("methods?arena=judged&languages=fi&languages=sw&search=judge", {}),
}
"""A link to every page, and what its pickers must stand at."""


@pytest.fixture
def first(request: pytest.FixtureRequest, arenas: Path, home: str, url: str) -> Iterator[str]:
    """A server that nobody has asked for anything, or the one that all tests share."""
    if not request.param:
        yield url
        return
    with browser.server(arenas, MIRAGE_HOME=home) as fresh:
        yield fresh


@pytest.mark.parametrize(
    ("entry", "first"),
    [(entry, entry.name in ("leaderboard", "spot_check", "methods")) for entry in THERE],
    ids=[entry.name for entry in THERE],
    indirect=["first"],
)
def test_a_link_with_state_as_the_very_first_request_of_a_session(start: Start, first: str, entry: Any) -> None:
    """Of a server too, for a page that ranks, one that writes and one that reads nothing."""
    link, pickers = LINKS[entry.name]
    with quiet(start) as opened:
        page = show(opened, f"{first}/{link}")
        assert page.locator("h1").all_inner_texts() == [entry.title]
        assert page.get_by_text(entry.question).is_visible()
        assert re.fullmatch(rf"{entry.title}(: .+)? · mirage", page.title())
        assert page.locator("[data-testid=stSidebarNav] a").all_inner_texts() == TITLES
        for folded in page.get_by_role("button", name=re.compile(r": \d+ set")).all():
            folded.click()
            opened.settle()
        values = state(page)
        assert values["Arena"] == "judged"
        assert page.locator("[data-testid=stSidebar]").get_by_text("Swahili · Kiswahili (sw)").first.is_visible()
        assert {name: values[name] for name in pickers} == pickers
        assert query(page).items() >= parse_qs(link.partition("?")[2]).items(), "the address keeps its state"


def test_the_sidebar_leads_through_every_page_and_keeps_what_is_shared(opened: Opened, url: str) -> None:
    page = show(opened, f"{url}/?arena=judged&languages=fi")
    for entry in (*OFFERED[1:], OFFERED[0]):
        page.locator("[data-testid=stSidebarNav]").get_by_role("link", name=entry.title, exact=True).click()
        arrived(opened, entry.title)
        assert page.get_by_text(entry.question).is_visible()
        assert (query(page)["arena"], query(page)["languages"]) == (["judged"], ["fi"])


# Links and files


def test_copy_link_gives_a_link_that_shows_the_same(opened: Opened, start: Start, url: str) -> None:
    page = show(opened, f"{url}/?arena=judged")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("radio", name="unanswerable").click()
    page.wait_for_url("**skill=abstain**")
    page.get_by_role("combobox", name="Languages").click()
    page.get_by_role("option", name="sw").click()
    page.wait_for_url("**languages=sw**")
    page.keyboard.press("Escape")
    opened.settle()
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Link copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(url)
    page.keyboard.press("Escape")
    with quiet(start) as other:
        linked_page = show(other, link)
        assert state(linked_page) == state(page)
        assert "12 of 60 queries in Swahili" in linked_page.locator(MAIN).inner_text()
        linked_page.locator("canvas table").first.wait_for(state="attached")
        assert linked_page.locator("canvas table").all_inner_texts() == page.locator("canvas table").all_inner_texts()


def test_downloads_hold_the_rows_that_are_shown(opened: Opened, url: str) -> None:
    page = show(opened, f"{url}/?arena=judged&languages=fi&languages=en&skill=answer")
    systems = [system for system, _ in grid(page)]
    page.get_by_role("button", name="Share").click()
    files = {}
    for kind in ("CSV", "JSON"):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=kind, exact=True).click()
        assert waiting.value.suggested_filename == f"judged-leaderboard.{kind.lower()}"
        files[kind] = Path(waiting.value.path()).read_text(encoding="utf-8")
    rows = list(csv.DictReader(files["CSV"].splitlines()))
    exact = json.loads(files["JSON"])
    assert [row["system"] for row in rows if row["language"] == "all"] == systems
    assert len(systems) == 4
    assert {row["language"] for row in rows} == {"all", "en", "fi"}
    assert (exact["about"]["arena"], exact["about"]["skill"], exact["about"]["languages"]) == (
        "judged",
        "answer",
        ["en", "fi"],
    )
    assert [(row["language"], row["system"], row["rating"]) for row in exact["rows"]] == [
        (row["language"], row["system"], float(row["rating"])) for row in rows
    ]


# From a number to what is behind it


def test_a_rank_leads_to_the_answers_behind_it(opened: Opened, url: str) -> None:
    page = show(opened, f"{url}/?arena=judged")
    systems = [system for system, _ in grid(page)]
    ranks = page.locator(".mg-ranks td")
    assert ranks.count() == len(systems) * 2
    about = ranks.last.get_attribute("title") or ""
    assert "win rate" in about, about
    assert "n =" in about, about
    ranks.last.get_by_role("link").click()
    arrived(opened, "Answers")
    parameters = query(page)
    assert parameters["arena"] == ["judged"]
    assert parameters["systems"][0] in systems
    assert parameters["languages"] in (["en"], ["fi"])
    assert page.locator(".mg-hit .mg-name").all_inner_texts() == parameters["systems"]


@pytest.mark.parametrize("keyboard", [False, True], ids=["mouse", "keyboard"])
def test_a_row_of_the_table_leads_on(opened: Opened, url: str, keyboard: bool) -> None:
    page = show(opened, f"{url}/?arena=asked")
    system = grid(page)[0][0]
    if keyboard:
        page.get_by_role("button", name="Fullscreen").first.focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+Space")
    else:
        page.locator("[data-testid=stDataFrame]").first.click(position={"x": 16, "y": 48})
    link = page.get_by_role("link", name="Read its answers")
    link.wait_for()
    assert page.locator("strong").get_by_text(system, exact=True).is_visible()
    link.press("Enter") if keyboard else link.click()
    arrived(opened, "Answers")
    assert query(page)["systems"] == [system]
    assert page.locator(".mg-hit .mg-name").all_inner_texts() == [system]


# Light and dark, narrow and wide


@pytest.mark.parametrize(
    ("name", "element", "look"),
    [
        ("hallucination?section=Errors", ".ytick text", "fill"),
        ("leaderboard?section=Chart", ".ytick text", "fill"),
        ("leaderboard?section=Ranks", ".mg-ranks td", "backgroundColor"),
    ],
)
def test_charts_follow_a_change_of_light_and_dark(opened: Opened, url: str, name: str, element: str, look: str) -> None:
    page = show(opened, f"{url}/{name}&arena=judged")
    # The chart is drawn anew: for a moment there is none.
    ink = f"() => [...document.querySelectorAll('{element}')].map((e) => getComputedStyle(e).{look})[0] ?? null"
    page.wait_for_function(ink)
    before = page.evaluate(ink)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"was => ![null, was].includes(({ink})())", arg=before)


# Text in its own direction


# Keyboard


# What the tests above rest on


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_a_browser_tests_skip_with_a_reason_and_fail_in_ci(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setattr(browser, "CHROMIUM", None)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="no chromium"), browser.chromium():
        pass
