"""The Ask page: blind until the vote, text as text, and a reader who leaves costs no more tokens."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser
import pytest
from commands import mirage
from conftest import PATIENCE, ROOT
from payloads import HOSTILE
from streaming_service import Script, StreamingService
from streamlit.testing.v1 import AppTest
from waiting import until

from mirage import store
from mirage.people.ask import live_folder
from pages import html, page_text, text

PAGE = ROOT / "pages" / "ask.py"
QUESTION = "Where does the River Murray reach the sea?"
ARABIC = "أين يصب نهر النيل؟"
SCRIPTS = {
    "goolwa": Script(("It enters the Southern Ocean ", "near Goolwa ", "[1].")),
    "other": Script((*(f"{payload} " for payload in HOSTILE[:12]), "\u202egnp.exe")),
    "slow": Script(("word ",), endless=True, gap=0.02),
    "stuck": Script(hang=2),
    "denied": Script(raw=b'{"error": {"message": "acme-1 has no credit"}}', kind="application/json", status=402),
    "html": Script(raw=b"<html><title>Sign in</title></html>", kind="text/html"),
}


@pytest.fixture(scope="module")
def service() -> Iterator[StreamingService]:
    with StreamingService(SCRIPTS) as service:
        yield service


def configure(arenas: Path, service: StreamingService, *models: str, more: str = "") -> Path:
    folder = arenas / "board"
    if not folder.exists():
        shutil.copytree(ROOT / "data" / "sample", folder)
    systems = "".join(f"  - {{name: system-{m}, model: {m}, base_url: '{service.url}'}}\n" for m in models)
    text = (
        f"consent: Kept <b>and</b> published.\nprompt: vanilla\nsystems:\n{systems}limits: {{gap_seconds: 1}}\n{more}"
    )
    (folder / "ask.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def board(tmp_path: Path, service: StreamingService, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    return configure(tmp_path, service, "goolwa", "other")


def open_ask(*, agree: bool = True) -> AppTest:
    app = AppTest.from_file(PAGE, default_timeout=PATIENCE)
    app.query_params["arena"] = "board"
    app.run()
    assert not app.exception
    if agree:
        app.checkbox(key="ask_agree").check().run()
    return app


def ask(app: AppTest, question: str = QUESTION) -> AppTest:
    app.text_area(key="ask_question").set_value(question)
    app.button(key="ask_send").click().run()
    assert not app.exception
    return app


def key(app: AppTest, shortcut: str) -> Any:
    (button,) = (button for button in app.button if button.proto.shortcut == shortcut)
    return button


def test_without_a_file_the_page_says_what_turns_it_on(board: Path) -> None:
    (board / "ask.yaml").unlink()
    app = open_ask(agree=False)
    assert "ask.yaml" in page_text(app)
    assert not app.text_area


def test_nobody_asks_before_agreeing_and_names_come_after_the_vote(board: Path) -> None:
    app = open_ask(agree=False)
    assert app.button(key="ask_send").disabled
    app.checkbox(key="ask_agree").check().run()
    ask(app)
    assert "near Goolwa" in text(app)
    assert "system-" not in html(app) + page_text(app)
    assert not store.is_arena(live_folder(board))
    key(app, "1").click().run()
    assert not app.exception
    assert "system-goolwa" in text(app)
    assert "system-other" in text(app)
    rows = store.open_arena(live_folder(board)).read("judgments").to_pylist()
    assert [(row["judge"], row["verdict"]) for row in rows] == [("people", "A")]
    assert not [button for button in app.button if button.proto.shortcut], "a vote is given once"


def test_what_systems_write_is_text(board: Path) -> None:
    app = ask(open_ask())
    source = html(app)
    for payload in ("<script>", "<img", "<iframe", "\u202e"):
        assert payload not in source
    assert 'class="mg-cite mg-cited"' in source, "citations lead to their passage"


def test_a_question_in_arabic_is_searched_and_shown_in_arabic(board: Path) -> None:
    app = ask(open_ask(), ARABIC)
    assert "Arabic" in text(app)
    assert 'lang="ar"' in html(app)
    assert "5 passages" in page_text(app)


@pytest.mark.parametrize(("model", "word"), [("html", "HTML"), ("stuck", "stopped"), ("denied", "402")])
def test_an_answer_that_fails_is_said_beside_what_came_and_has_no_vote(
    board: Path, service: StreamingService, model: str, word: str
) -> None:
    configure(board.parent, service, "goolwa", model)
    app = ask(open_ask())
    assert "near Goolwa" in text(app)
    assert word in text(app)
    assert "acme" not in html(app), "a service's words on its account are the operator's"
    assert not [button for button in app.button if button.proto.shortcut]
    assert not store.is_arena(live_folder(board))


def test_a_wrong_file_and_a_closed_desk_are_said_without_a_path(board: Path, service: StreamingService) -> None:
    configure(board.parent, service, "goolwa")
    assert "system-goolwa" in "".join(error.value for error in open_ask(agree=False).error)
    assert str(board) not in page_text(open_ask(agree=False))
    configure(board.parent, service, "goolwa", "other", more="open: no\n")
    assert "closed" in page_text(open_ask(agree=False))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, service: StreamingService) -> Iterator[tuple[str, Path]]:
    arenas = tmp_path_factory.mktemp("served")
    folder = configure(arenas, service, "goolwa", "other")
    with browser.server(arenas, MIRAGE_HOME=str(tmp_path_factory.mktemp("home"))) as url:
        yield url, folder


def votes_of(folder: Path) -> list[dict[str, Any]]:
    return store.open_arena(live_folder(folder)).read("judgments").to_pylist()


def ask_in_browser(page: Any, question: str = QUESTION) -> None:
    page.get_by_text("I agree").click()
    page.locator("textarea").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()


@pytest.mark.browser
def test_a_question_becomes_a_ranking_and_a_board_that_anybody_verifies(
    served: tuple[str, Path], service: StreamingService, tmp_path: Path
) -> None:
    url, folder = served
    configure(folder.parent, service, "goolwa", "other")
    with browser.chromium() as start:
        opened = start()
        page = browser.show(opened, f"{url}/ask?arena=board")
        page.get_by_role("link", name="Ask", exact=True).wait_for()
        ask_in_browser(page)
        page.get_by_text("near Goolwa").first.wait_for()
        page.get_by_role("button", name="A is better").wait_for()
        opened.press("1")
        page.get_by_text("Your vote").wait_for()
        winner = page.locator(".mg-answer .mg-name").first.inner_text()
        page.get_by_role("button", name="People's ranking").click()
        page.get_by_role("heading", level=1, name="Leaderboard").wait_for()
        opened.settle()
        assert f"{winner} ranks first of 2 systems by people" in page.locator(".mg-conclusion").inner_text()
        assert "arena=board-ask" in page.url
        assert opened.heard == ([], [], [])
        assert len(votes_of(folder)) == 1
        site = tmp_path / "site"
        mirage("publish", live_folder(folder), "--into", site, "--key", tmp_path / "board.pem", "--new-key", "--texts")
        assert "nothing differs" in mirage("verify", site).output
        opened = start()
        opened.page.goto((site / "index.html").as_uri())
        assert f"{winner} ranks first of 2 systems" in opened.page.inner_text("main")
        opened.page.goto((site / "answers.html").as_uri())
        opened.page.locator("ul.pages a").first.click()
        assert "near Goolwa" in opened.page.inner_text("main")
        table = site / "data" / "leaderboard.csv"
        table.write_text(table.read_text(encoding="utf-8").replace(winner, "another"), encoding="utf-8")
        assert "leaderboard" in mirage("verify", site, code=1).output


@pytest.mark.browser
def test_a_closed_tab_stops_both_services(served: tuple[str, Path], service: StreamingService) -> None:
    url, folder = served
    configure(folder.parent, service, "slow", "stuck", more="")
    before = len(service.replies)
    with browser.chromium() as start:
        opened = start()
        page = browser.show(opened, f"{url}/ask?arena=board")
        ask_in_browser(page, "What is a river?")
        page.get_by_text("word word").wait_for()
        page.close()
        (slow,) = (reply for reply in service.replies[before:] if reply.model == "slow")
        until(slow.done.is_set, "the service hears that its reader has gone")
    assert slow.left is not None
    voted = live_folder(folder).exists()
    texts = store.open_arena(live_folder(folder)).read("queries")["text"].to_pylist() if voted else []
    assert "What is a river?" not in texts, "nothing is written"
