"""The explorer in a real browser, on one server of small arenas: links, the sidebar, tables, charts, keys and votes.

Whether hostile texts show as text is tested with the Answers page.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import browser
import pytest
import small_arena
from arena_writer import write_arena
from browser import Opened, show
from many_languages_cases import SIXTY
from view_battle_cases import A, B
from view_battle_cases import judged as write_judged

from benchmarks.simulated import simulate_arena
from mirage.explorer.kit.page_list import PAGES
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Vote
from mirage.people.votes.queue import FLIPPED

pytestmark = pytest.mark.browser

Start = Callable[..., Opened]
THERE = {entry.name: entry for entry in PAGES if entry.file.is_file()}
JUDGED = ("outcomes", "judgments")
"""Tables of the arena `judged`."""
OFFERED = [entry for entry in THERE.values() if not entry.needs or set(entry.needs) & set(JUDGED)]
TITLES = [entry.title for entry in OFFERED]
MAIN = "[data-testid=stMain]"
FRAME = {"navigation", "logo"}
"""Messages that come with every whole run, and with no other."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`asked` has texts and verdicts, `judged` outcomes and verdicts, `replaced` outcomes alone."""
    folder = tmp_path_factory.mktemp("arenas")
    small_arena.write(folder, "judged", tables=JUDGED)
    small_arena.write(folder, "replaced")
    write_judged(folder, "asked")
    sixty = simulate_arena(systems=3, queries=3, languages=SIXTY, seed=3)
    write_arena(folder / "sixty", dict(sixty.tables))
    return folder


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the database of votes."""
    return tmp_path_factory.mktemp("share")


@pytest.fixture(scope="module")
def url(folder: Path, share: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = str(tmp_path_factory.mktemp("home"))
    with browser.server(folder, MIRAGE_HOME=home, MIRAGE_VOTES_URL=database(share)) as url:
        yield url


def database(share: Path) -> str:
    return f"sqlite:///{share / 'votes.sqlite'}"


def votes_of(share: Path, voter: str) -> list[Vote]:
    with Votes(database(share)) as db:
        return db.rows(Vote, voter=voter)


class Ear:
    """What the explorer sent since it was last emptied."""

    def __init__(self, opened: Opened) -> None:
        self.kinds: set[str] = set()
        self.fragments: set[str] = set()
        opened.page.on("websocket", lambda link: link.on("framereceived", self._hear))

    def _hear(self, raw: bytes | str) -> None:
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        if isinstance(raw, bytes):
            message = ForwardMsg.FromString(raw)
            self.kinds.add(str(message.WhichOneof("type")))
            if message.WhichOneof("type") == "delta":
                self.fragments.add(message.delta.fragment_id)

    def empty(self) -> None:
        self.kinds.clear()
        self.fragments.clear()


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


# Links, the sidebar, and what a click sends

LINKS = {
    "leaderboard": (
        "?arena=judged&languages=fi&languages=sw&skill=abstain&system=aya-101",
        {"Queries": "unanswerable"},
    ),
    "battle": (
        "battle?arena=judged&languages=fi&languages=sw&judge=judge-x&a=aya-101&b=gpt-4&verdict=first&order=other",
        {"Judge": "judge-x", "First system": "aya-101", "Second system": "gpt-4", "Verdict": "first", "Order": "other"},
    ),
    "answers": (
        "answers?arena=judged&languages=fi&languages=sw&subset=non_relevant&systems=gpt-4&parser=published",
        {"Subset": "unanswerable", "Parser": "published"},
    ),
}
"""Links to pages with pickers of their own, and what these must stand at."""


@pytest.mark.parametrize("name", LINKS)
def test_a_link_with_state_as_the_very_first_request_of_a_session(opened: Opened, url: str, name: str) -> None:
    (link, pickers), entry = LINKS[name], THERE[name]
    page = show(opened, f"{url}/{link}")
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


def test_a_click_sends_its_page_and_the_sidebar_leads_on_within_one_frame(opened: Opened, url: str) -> None:
    ear = Ear(opened)
    page = show(opened, f"{url}/?arena=judged&languages=fi")
    assert ear.kinds >= FRAME
    summary = page.locator(".mg-summary")
    before = summary.inner_text()
    ear.empty()
    page.get_by_role("radio", name="unanswerable", exact=True).click()
    opened.settle()
    assert not ear.kinds & FRAME
    assert len(ear.fragments - {""}) == len(ear.fragments) == 1
    assert summary.inner_text() != before
    assert query(page)["skill"] == ["abstain"]
    # Not Share: where a page comes in several pieces, as on a busy machine, a popover may be mounted again.
    kept = ".st-key-frame_head, .st-key-frame_watch, [data-testid=stSidebar] .st-key-arena"
    mark = "nodes => nodes.map(node => { node.dataset.seen = 'yes' }).length"
    marked = page.locator(kept).evaluate_all(mark)
    assert marked >= 3
    style = page.locator("style:not([data-emotion])")
    assert style.evaluate_all(f"nodes => ({mark})(nodes.filter(n => n.textContent.includes('.mg-page')))")
    ear.empty()
    for entry in (*OFFERED[1:], OFFERED[0]):
        opened.follow(entry.title)
        assert page.get_by_text(entry.question).is_visible()
        assert (query(page)["arena"], query(page)["languages"]) == (["judged"], ["fi"])
        assert page.locator(f":is({kept})[data-seen]").count() == marked
        assert page.locator("style[data-seen]").count() == 1
        assert page.locator(".st-key-frame_head .mg-page").count() == 1
    assert ear.kinds >= FRAME


def test_a_click_finds_an_arena_that_was_replaced(opened: Opened, url: str, folder: Path) -> None:
    ear = Ear(opened)
    page = show(opened, f"{url}/?arena=replaced")
    tables = page.locator(".st-key-frame_contents")
    before = tables.inner_text()
    small_arena.write(folder, "replaced", tables=JUDGED, seed=9)
    ear.empty()
    page.get_by_role("radio", name="unanswerable", exact=True).click()
    page.wait_for_function("was => document.querySelector('.st-key-frame_contents')?.innerText !== was", arg=before)
    opened.settle()
    assert ear.kinds >= FRAME, "all ran again"


def test_a_copied_link_shows_and_downloads_hold_what_clicks_have_left(opened: Opened, start: Start, url: str) -> None:
    page = show(opened, f"{url}/?arena=judged&languages=en&languages=fi")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("radio", name="unanswerable").click()
    page.wait_for_url("**skill=abstain**")
    page.get_by_role("combobox", name="Languages").click()
    page.get_by_role("option", name="sw").click()
    page.wait_for_url("**languages=sw**")
    page.keyboard.press("Escape")
    opened.settle()
    systems = [system for system, _ in grid(page)]
    assert len(systems) == 4
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Copy link").click()
    page.get_by_role("button", name="Link copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(url)
    files = {}
    for kind in ("CSV", "JSON"):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=kind, exact=True).click()
        assert waiting.value.suggested_filename == f"judged-leaderboard.{kind.lower()}"
        files[kind] = Path(waiting.value.path()).read_text("utf-8")
    rows = list(csv.DictReader(files["CSV"].splitlines()))
    assert [row["system"] for row in rows if row["language"] == "all"] == systems
    assert {row["language"] for row in rows} == {"all", "en", "fi", "sw"}
    about, exact = (json.loads(files["JSON"])[part] for part in ("about", "rows"))
    assert (about["arena"], about["skill"], about["languages"]) == ("judged", "abstain", ["en", "fi", "sw"])
    assert [(row["language"], row["system"], row["rating"]) for row in exact] == [
        (row["language"], row["system"], float(row["rating"])) for row in rows
    ]
    page.keyboard.press("Escape")
    with start() as other:
        linked = show(other, link)
        assert state(linked) == state(page)
        assert "36 of 60 queries in English, Finnish, Swahili" in linked.locator(MAIN).inner_text()
        linked.locator("canvas table").first.wait_for(state="attached")
        assert linked.locator("canvas table").all_inner_texts() == page.locator("canvas table").all_inner_texts()


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
    opened.arrive("Answers")
    parameters = query(page)
    assert parameters["arena"] == ["judged"]
    assert parameters["systems"][0] in systems
    assert parameters["languages"] in (["en"], ["fi"])
    assert page.locator(".mg-hit .mg-name").all_inner_texts() == parameters["systems"]


def test_a_row_leads_on_by_keyboard_and_mouse_and_one_press_leads_back(opened: Opened, url: str) -> None:
    page = show(opened, f"{url}/?arena=asked&languages=en")
    (first, _), (second, _), *_ = grid(page)

    def check_arrival(system: str, title: str) -> None:
        opened.arrive(title)
        assert all(len(values) == len(set(values)) for values in query(page).values()), page.url
        assert query(page)["systems"] == [system]

    page.get_by_role("button", name="Fullscreen").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Space")
    page.locator("strong").get_by_text(first, exact=True).wait_for()
    page.get_by_role("link", name="Hallucination and error rates").press("Enter")
    check_arrival(first, "Hallucination")
    page.go_back()
    opened.arrive("Leaderboard")
    page.locator("strong").get_by_text(first, exact=True).wait_for()
    page.locator("[data-testid=stDataFrame]").first.click(position={"x": 16, "y": 83})
    page.locator("strong").get_by_text(second, exact=True).wait_for()
    page.get_by_text("Read its answers").first.click()
    check_arrival(second, "Answers")
    assert page.locator(".mg-hit .mg-name").all_inner_texts() == [second]
    page.go_back()
    opened.arrive("Leaderboard")
    page.locator("strong").get_by_text(second, exact=True).wait_for()


def test_a_dot_of_a_chart_is_told_selected_and_leads_on(opened: Opened, url: str) -> None:
    page = show(opened, f"{url}/features?arena=asked&features=length&languages=en&section=By+language")
    page.locator(f".st-key-panels {browser.MARKS}").last.wait_for()
    places = browser.mark_places(page, "panels")
    assert len(places) == 2 + 1, "two systems in focus, and the mean of all"
    legend = page.locator(".mg-mark")
    assert legend.count() == 2
    assert legend.first.evaluate("e => getComputedStyle(e).clipPath") != "none", "what cleans HTML has left the mark"
    page.mouse.move(*places[-1])
    hover = page.locator(".st-key-panels .hoverlayer .hovertext")
    hover.wait_for()
    system, value, n = hover.locator("tspan.line").all_text_contents()[:3]
    assert system in (A, B, "llama-2-7b")
    assert value.startswith("English: ")
    assert n.endswith("of 30 queries")
    marks = page.locator(f".st-key-panels {browser.MARKS}")
    before = marks.last.bounding_box()
    page.mouse.click(*places[-1])
    onward = page.get_by_role("button", name="Read these answers")
    onward.wait_for()
    opened.settle()
    assert marks.last.bounding_box()["width"] > before["width"], "the mark that is selected stands out"
    onward.click()
    opened.arrive("Answers")
    assert (query(page)["systems"], query(page)["languages"]) == ([system], ["en"])


# Keys


def go_on_and_back(opened: Opened, link: str, first: str, second: str) -> Any:
    """Open a link, go to the next item and back by the arrow keys, each named by a text, and return the page."""
    page = opened.page
    page.goto(link)
    page.wait_for_selector(f"text={first}")
    opened.press("ArrowRight")
    page.wait_for_selector(f"text={second}")
    opened.press("ArrowLeft")
    page.wait_for_selector(f"text={first}")
    return page


def test_the_list_and_the_keys_move_from_query_to_query(opened: Opened, url: str) -> None:
    link = f"{url}/answers?arena=asked&languages=en&systems=gpt-4&query=en:e00"
    page = go_on_and_back(opened, link, "1 of 30", "2 of 30")
    page.get_by_role("button", name="Which river is number 7?").click()
    page.wait_for_selector("text=8 of 30")
    assert "query=en%3Ae07" in page.url
    field = page.get_by_label("Search", exact=True)
    field.fill("number 1")
    field.press("Enter")
    page.wait_for_selector("text=1 of 11")
    field.press("ArrowLeft")
    opened.settle()
    assert page.locator("text=1 of 11").count() == 1, "in a text field the arrows move the cursor"


def test_the_keys_and_citations_of_a_battle(opened: Opened, url: str) -> None:
    link = f"{url}/battle?arena=asked&judge=zeta&a={A}&b={B}"
    page = go_on_and_back(opened, link, "1 of 5 · English", "2 of 5 · English")
    opened.settle()
    first, second = (box.bounding_box() for box in page.locator(".mg-answer").all())
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] < second["x"], "side by side"
    page.locator(".mg-answer a[href='#passage-1']").click()
    page.wait_for_function("() => document.querySelector('.mg-fold:target')?.id === 'passage-1'")
    assert page.locator("text=1 of 5 · English").count() == 1, "the page stays where it is"


def test_a_note_is_saved_by_the_keyboard(opened: Opened, url: str) -> None:
    page = show(opened, f"{url}/answers?arena=asked&query=en:e00")
    page.get_by_text("Write a note", exact=True).click()
    opened.settle()
    page.get_by_role("combobox", name="Categories").fill("padded")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.get_by_role("textbox", name="Your name").fill("amina")
    page.get_by_role("textbox", name="Note", exact=True).fill("Too long.")
    page.keyboard.press("Control+Enter")
    page.get_by_role("heading", name="1 note").wait_for()
    opened.settle()
    assert page.get_by_text("Too long.").first.is_visible()
    assert page.get_by_role("button", name="Save note").is_visible(), "the fold stays open for the next"


# Votes


def enter(opened: Opened, address: str, voter: str) -> None:
    """Open the Spot check page and give a name."""
    page = opened.page
    page.goto(address)
    page.wait_for_selector(".mg-blind")
    opened.settle()
    page.get_by_role("button", name="Options").click()
    name = page.get_by_label("Your name", exact=True)
    name.fill(voter)
    name.press("Enter")
    page.get_by_role("button", name=f"Voting as {voter}").wait_for()
    opened.settle()
    page.keyboard.press("Escape")


def press(opened: Opened, shortcut: str) -> None:
    """Press a key and wait until the item it is about has given way."""
    page = opened.page
    opened.settle()
    was = page.locator(".st-key-spot_bar").evaluate("e => e.innerHTML")
    page.keyboard.press(shortcut)
    page.wait_for_function("was => document.querySelector('.st-key-spot_bar')?.innerHTML !== was", arg=was)
    opened.settle()


def test_votes_by_key_undo_and_reload(opened: Opened, url: str, share: Path) -> None:
    page, link = opened.page, f"{url}/spot_check?arena=sample&language=en"
    enter(opened, link, "amina")
    content = page.content() + page.url
    assert not [name for name in ("baseline/", "bm25", "heuristic", FLIPPED) if name in content]
    items = []
    for shortcut in "1234s":
        items.append(page.locator(".mg-blind").inner_text())
        press(opened, shortcut)
    page.locator(".mg-was", has_text="Your last vote: skipped").wait_for()
    assert len(set(items)) == 5
    press(opened, "u")
    page.locator(".mg-blind", has_text=items[-1].splitlines()[-1]).wait_for()
    assert page.locator(".mg-blind").inner_text() == items[-1]
    page.get_by_text("Add a note").click()
    note = page.get_by_label("Note", exact=True)
    note.fill("1 2 3")
    note.press("Tab")
    press(opened, "2")
    page.get_by_text(re.compile(r"\b5 of \d")).wait_for()
    page.reload()
    enter(opened, link, "amina")
    page.get_by_text(re.compile(r"\b5 of \d")).wait_for()
    page.locator(".mg-was", has_text="Your last vote: B wins").wait_for()
    page.get_by_role("button", name="Open this battle").click()
    page.wait_for_selector("h2:has-text('Votes')")
    page.locator("section:has-text('amina')").last.wait_for()
    log = votes_of(share, "amina")
    assert [row.vote for row in log] == ["A", "B", "tie", "both_bad", "skip", "undo", "B"]
    assert [row.note for row in log if row.note] == ["1 2 3"]


def test_a_first_vote_on_a_phone_by_key(start: Start, url: str, share: Path) -> None:
    height = 844
    with start(width=390, height=height) as opened:
        page = opened.page

        def bar() -> float:
            box = page.locator(".st-key-spot_bar").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 390
            return float(box["height"])

        page.goto(f"{url}/spot_check?arena=asked")
        page.wait_for_selector(".mg-blind")
        opened.settle()
        # The answers of two battles may read the same, their queries do not.
        item = page.locator(".st-key-spot_body").inner_text()
        assert bar() < height / 10
        press(opened, "2")
        assert bar() < height / 10, "with the field for the name"
        page.keyboard.type("juma")
        page.keyboard.press("Enter")
        page.wait_for_selector(".mg-was")
        opened.settle()
        assert bar() < height / 10, "with the button that takes the vote back"
        assert page.locator(".st-key-spot_body").inner_text() != item
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") == 390
    assert [row.vote for row in votes_of(share, "juma")] == ["B"]


def test_a_database_that_goes_away_comes_back_and_gets_the_vote_without_another_key(
    opened: Opened, url: str, share: Path
) -> None:
    page = opened.page
    enter(opened, f"{url}/spot_check?arena=asked", "zoe")
    press(opened, "1")
    away = share.rename(share.with_name("elsewhere"))
    item = page.locator(".mg-blind").inner_text()
    press(opened, "3")
    page.wait_for_selector("text=Your vote is saved here until the database responds.")
    assert page.locator(".mg-blind").inner_text() == item
    away.rename(share)
    page.wait_for_selector("text=2 of 4 battles")
    page.wait_for_selector("text=Your vote is saved here", state="detached")
    assert [row.vote for row in votes_of(share, "zoe")] == ["A", "tie"]


# Light and dark, wide tables


def test_charts_follow_a_change_of_light_and_dark(opened: Opened, url: str) -> None:
    page = show(opened, f"{url}/leaderboard?section=Chart&arena=judged")
    for scheme, element, look in (("dark", ".ytick text", "fill"), ("light", ".mg-ranks td", "backgroundColor")):
        # The chart is drawn anew: for a moment there is none.
        ink = f"() => [...document.querySelectorAll('{element}')].map((e) => getComputedStyle(e).{look})[0] ?? null"
        page.wait_for_function(ink)
        before = page.evaluate(ink)
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"was => ![null, was].includes(({ink})())", arg=before)
        opened.settle()
        page.get_by_role("radio", name="Ranks", exact=True).click()
        opened.settle()


def test_sixty_columns_keep_their_width(opened: Opened, url: str) -> None:
    page = show(opened, f"{url}/leaderboard?arena=sixty")
    ranks = page.locator(".mg-ranks").first
    ranks.wait_for(state="visible")
    assert ranks.bounding_box()["width"] > 20 * len(SIXTY)
    assert not page.evaluate("() => document.documentElement.scrollWidth > window.innerWidth")


# What the tests above rest on


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_a_browser_tests_skip_with_a_reason_and_fail_in_ci(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setattr(browser, "CHROMIUM", None)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="no chromium"), browser.chromium():
        pass
