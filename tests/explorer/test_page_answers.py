"""The Answers page: its filters, its links, its missing state, and hostile texts in a real browser."""

import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from nomiracl_cases import row, save
from page_answers_cases import address, open_page
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest
from view_query_cases import NUMBERS, SYSTEMS, build

from mirage.errors import ArenaError
from mirage.io.imports.public import import_outputs
from mirage.store import arena as store_arena
from mirage.store import home
from mirage.store.arena import open_arena
from mirage.store.roles import ROLES
from mirage.text.languages import LANGUAGES
from mirage.views.query import MEASURED
from pages import headings, html, page_text, text


@pytest.fixture(scope="module")
def folder(module_path: Path) -> Path:
    """An arena with texts, and one that has numbers alone under the name of the bundled one."""
    build(module_path, "texts")
    build(module_path, "nomiracl", tables=NUMBERS)
    return module_path


# What is shown


def test_the_page_shows_a_query_its_passages_and_every_answer(arenas: Path) -> None:
    page = open_page(languages="en", query="en:e00")
    assert "30 of 33 queries and 89 of 98 answers match." in page_text(page)
    assert "1 of 30 · English · answerable · id e00" in page_text(page)
    assert "Which river is number 0?" in text(page)
    assert headings(page) == ["3 answers", "3 passages"]
    assert "Order: correct decisions, name." in text(page)
    for part in (*SYSTEMS, "Ganges 100%", "Text of passage 3.", "direct answer"):
        assert part in text(page)


def test_what_decided_and_what_is_cited_is_marked_in_the_text(arenas: Path) -> None:
    markup = html(open_page(query="en:e00"))
    assert "Highlighted</mark>: the words that count as answering" in markup
    assert re.search(r'<mark class="mg-decided" title="Text that[^>]*>Yes, answer is present</mark>', markup)
    assert re.search(r'class="mg-cite mg-relevant" title="[^"]*\[1\] River 1: Text of passage 1[^"]*">1</mark>', markup)
    assert re.search(r'class="mg-cite mg-irrelevant" title="[^"]*\[3\] River 3[^"]*">3</mark>', markup)
    assert re.search(r'class="mg-cite mg-irrelevant" title="[^"]*\[2\] River 2[^"]*">2</mark>', markup)
    assert re.search(r'class="mg-cite mg-unknown" title="[^"]*not in the list">9</mark>', markup)


def test_an_outcome_is_a_word_and_a_sign_and_says_whether_it_is_right(arenas: Path) -> None:
    markup = html(open_page(query="en:e01"))
    assert '<span class="mg-sign mg-sign-abstained"></span>abstained, as it should</span>' in markup
    assert '<span class="mg-sign mg-sign-wrong"></span>wrong decision</span>' in markup
    assert '<span class="mg-sign mg-sign-missing"></span>missing</span>' in markup
    assert MEASURED in markup, "what a decision is correct by is said"
    style = re.sub(r"\s+", " ", markup)
    signs = [re.search(rf"\.mg-sign-{name} {{[^}}]*}}", style) for name in ("answered", "abstained", "wrong")]
    assert len({sign.group().split("{")[1] for sign in signs if sign}) == 3
    assert "mg-sign-right" not in re.sub(r"<style>.*?</style>", "", markup, flags=re.S), "a tick would read as true"


def test_an_answer_that_is_not_there_says_why(arenas: Path) -> None:
    assert "No answer by this system to this query." in text(open_page(query="en:e01"))
    assert "The answer is empty." in text(open_page(query="en:e02"))


def test_a_query_that_was_not_published_says_so(arenas: Path) -> None:
    page = open_page(query="en:e05")
    assert "Query e05" in re.sub(r"\s+", " ", text(page))
    assert "No text: the prompt was not published." in text(page)


def test_measures_carry_their_meaning_and_those_without_a_value_the_reason(arenas: Path) -> None:
    markup = html(open_page(query="en:e01"))
    assert re.search(r"Length\u00a013\b", markup)
    assert re.search(r"<li><b>Length</b>: Characters \(Unicode code points\)[^<]* Unit: characters\.</li>", markup)
    assert re.search(r'<span class="mg-help" title="No value: no answer \(missing\)\.">Length</span>\u00a0–', markup)
    assert "no passage is relevant" in markup


# Filters and links


def test_a_filter_says_what_it_leaves_and_shows_the_answers_looked_for_first(arenas: Path) -> None:
    page = open_page(languages="en", systems="llama-2-7b", outcome="answered", subset="non_relevant")
    assert page.multiselect(key="systems").value == ["llama-2-7b"]
    assert "15 of 33 queries and 15 of 98 answers match." in page_text(page)
    assert headings(page)[:2] == ["1 of 3 answers match", "The other 2"]
    hits = re.findall(r'<article class="mg-answer mg-hit">.*?<span class="mg-name">([^<]*)', html(page))
    assert hits == ["llama-2-7b"]
    page.multiselect(key="outcome").set_value(["abstained"]).run()
    assert "0 of 33 queries and 0 of 98 answers match." in page_text(page)
    assert "No query matches these filters." in page_text(page)
    page.button[0].click().run()
    assert not page.exception
    assert "33 of 33 queries" in page_text(page)


@pytest.mark.parametrize(("locale", "code"), [(None, "en"), ("ja-JP", "ja"), ("te-IN", "en")])
def test_the_page_opens_in_the_readers_language(
    arenas: Path, monkeypatch: pytest.MonkeyPatch, locale: str | None, code: str
) -> None:
    monkeypatch.setattr(ContextProxy, "locale", property(lambda self: locale))
    assert address(open_page()).split(":")[0] == code
    assert address(open_page(languages="de")).split(":")[0] == "de", "a choice of languages comes first"


def test_a_page_of_the_list_can_be_linked_to(arenas: Path) -> None:
    page = open_page(page="3")
    assert "25 of 33" in page_text(page)
    assert address(page) == "en:e24", "the reader's language is listed first"
    assert "page" not in page.query_params
    assert address(open_page(page="99")) == "en:e01", "the first on which systems differ"


def test_a_linked_query_is_shown_even_where_the_filters_leave_it_out(arenas: Path) -> None:
    page = open_page(query="en:e01", subset="relevant")
    assert "does not match the filters · English" in page_text(page)
    page.button(key="answers_right").click().run()
    assert "1 of 17" in page_text(page)


def test_pitfall_44_a_link_to_an_unknown_query_names_the_nearest(arenas: Path) -> None:
    page = open_page(query="en:e3O")
    assert "there is no query 'en:e3O'; did you mean: en:e" in page_text(page)
    assert address(page) == "en:e01"
    page.run()
    assert "there is no query" in page_text(page), "the answer stays until another query is chosen"
    page.button(key="answers_right").click().run()
    assert "there is no query" not in page_text(page)


# Without texts, and the button that brings them


def test_without_texts_the_numbers_are_shown_and_what_brings_the_texts(arenas: Path) -> None:
    page = open_page(arena="nomiracl", query="en:e00")
    assert "Query e00" in re.sub(r"\s+", " ", text(page))
    assert "answer is present" in text(page), "the rule is told"
    assert "75 MB" in bring(page).label
    assert not page.text_input, "there is no text to search in"
    page.button(key="open_other").click().run()
    assert page.selectbox(key="arena").value == "texts", "the arena that has the same query"
    assert "Which river is number 0?" in text(page)


def published(folder: Path) -> Path:
    """Files in the published layout: two queries a file."""
    for code in LANGUAGES:
        for subset in ("relevant", "non_relevant"):
            rows = [
                row(f"{subset[0]}{i}", results={"alpha": "Yes, answer is present in [1].", "beta": "No"})
                for i in (1, 2)
            ]
            save(folder / subset / f"{code}.test.vanilla_prompt.jsonl", rows)
    return folder


class Handler(SimpleHTTPRequestHandler):
    """The files of a folder; what is in `refused` is refused."""

    refused: set[str]
    requests: list[str]

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is the base class's
        pass

    def do_GET(self) -> None:
        self.requests.append(self.path)
        if self.path in self.refused:
            self.send_error(403)
        else:
            super().do_GET()


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Handler]]:
    """A loopback stand-in for the public repository."""
    handler = type("Published", (Handler,), {"refused": set(), "requests": []})
    files = published(tmp_path / "published")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(files))) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("MIRAGE_NOMIRACL_URL", f"http://127.0.0.1:{server.server_port}")
        yield handler
        server.shutdown()


def bring(page: AppTest) -> Any:
    return page.button(key="texts_pull")


def test_the_button_brings_the_texts_once_it_can_and_opens_them_at_the_same_place(
    arenas: Path, tmp_path: Path, origin: type[Handler]
) -> None:
    (tmp_path / "published" / "relevant" / "th.test.vanilla_prompt.jsonl").unlink()
    origin.refused = {"/relevant/en.test.vanilla_prompt.jsonl", "/non_relevant/en.test.vanilla_prompt.jsonl"}
    page = open_page(arena="nomiracl", languages="en")
    bring(page).click().run()
    assert not page.exception
    (error,) = [re.sub(r"\\(.)", r"\1", message.value) for message in page.error]
    assert "refused with 403" in error
    assert "To do: the files are public" in error
    assert home.TEXTS not in home.home_arenas()
    assert not list(home.home_folder().rglob("*.part"))
    before = len(origin.requests)
    origin.refused = set()
    bring(page).click().run()
    assert not page.exception
    assert not page.error
    assert len(origin.requests) == before + 36 - (before - 1), "what had come is not asked for again"
    arena = open_arena(home.home_arenas()[home.TEXTS])
    assert {"queries", "passages", "answers", "outcomes", "features"} <= set(arena.tables)
    note = "not at the source: relevant/th.test.vanilla_prompt.jsonl"
    assert arena.manifest["made"]["queries"]["notes"] == [note], "the others come"
    assert store_arena.check(arena)
    assert page.selectbox(key="arena").value == home.TEXTS
    assert page.multiselect(key="languages").value == ["en"]
    assert "4 of 70 queries" in page_text(page)
    assert "What is n1?" in text(page)


def test_a_reader_of_a_deployment_is_led_to_texts_but_downloads_none(
    arenas: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "roles.toml").write_text('default = "voter"', "utf-8")
    monkeypatch.setenv(ROLES, str(tmp_path / "roles.toml"))
    keys = {button.key for button in open_page(arena="nomiracl").button}
    assert "open_other" in keys
    assert "texts_pull" not in keys


def test_one_session_at_a_time_brings_the_texts(tmp_path: Path) -> None:
    with (
        home.lock_folder(tmp_path / "h"),
        pytest.raises(ArenaError, match="another session"),
        home.lock_folder(tmp_path / "h"),
    ):
        pass


def test_an_unfinished_arena_is_brought_to_its_end(arenas: Path, origin: type[Handler]) -> None:
    # As if stopped between the import and the measuring of features.
    import_outputs(published(home.home_folder() / "nomiracl"), home.home_folder() / "arenas" / home.TEXTS)
    page = open_page(arena="nomiracl")
    bring(page).click().run()
    assert not page.error
    assert "features" in open_arena(home.home_arenas()[home.TEXTS]).tables
    assert origin.requests == []
