"""The Spot check page: blind before the vote, one key a vote, and no acknowledged vote that is not there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from payloads import HOSTILE
from streamlit.testing.v1 import AppTest
from test_page_answers import html, said, text
from test_views_answers import NUMBERS, build
from test_views_battle import judged
from test_votes import postgres, url  # noqa: F401  # fixtures

from mirage import store, votes
from mirage.errors import Unreachable
from mirage.languages import LANGUAGES
from mirage.ui import ballot
from mirage.views import people
from mirage.votes import Evidence, Vote, Votes

APP = ROOT / "app.py"
PAGE = ROOT / "pages" / "spot_check.py"
NAMES = ("gpt-4", "aya-101", "llama-2-7b", "OpenAI", "Cohere", "zeta")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Arenas with texts and judges, with texts alone, and with numbers alone."""
    folder = tmp_path_factory.mktemp("arenas")
    judged(folder)
    build(folder, "texts")
    build(folder, "nomiracl", tables=NUMBERS)
    build(folder, "numbers", tables=NUMBERS)
    return folder


@pytest.fixture
def arenas(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_ARENAS", str(folder))
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MIRAGE_VOTES_URL", raising=False)
    monkeypatch.setattr(store, "bundled", dict)
    return folder


def open_page(script: Path = PAGE, *, voter: str = "amina", **params: str | list[str]) -> AppTest:
    at = AppTest.from_file(script, default_timeout=60)
    at.query_params.update({"arena": "judged", **params})
    if script == APP:
        at.switch_page("pages/spot_check.py")
    at.run()
    if voter:
        at.text_input(key="spot_voter").set_value(voter).run()
    return at


def key(at: AppTest, shortcut: str) -> Any:
    """The button that a key presses."""
    (found,) = (one for one in at.button if one.proto.shortcut == shortcut)
    return found


def everything(at: AppTest) -> str:
    """All that the page sends to the browser, and its address."""
    protos = [str(element.proto) for element in at.main] + [str(element.proto) for element in at.sidebar]
    return html(at) + said(at) + "\n".join(protos) + str(dict(at.query_params))


def rows(kind: type[Any] = Vote) -> list[Any]:
    return people.database().rows(kind)


@pytest.mark.parametrize("script", [APP, PAGE], ids=["router", "alone"])
@pytest.mark.parametrize("kind", ["battles", "citations"])
def test_nothing_names_a_system_or_a_verdict_before_the_vote(arenas: Path, script: Path, kind: str) -> None:
    at = open_page(script, ballot=kind)
    assert not at.exception
    assert "Which river is number" in text(at)
    assert "mg-blind" in html(at)
    assert not [name for name in (*NAMES, *votes.REASONS, "flipped") if name in everything(at)]
    assert "Your last vote" not in text(at)
    labels = {one.proto.shortcut: one.label for one in at.button if one.proto.shortcut}
    wanted = ballot.BATTLE | ballot.SKIP if kind == "battles" else ballot.EVIDENCE
    assert labels == {shortcut: label for label, shortcut in wanted.values()}


@pytest.mark.parametrize(
    ("shortcut", "meant"), [("1", "A"), ("2", "B"), ("3", "tie"), ("4", "both_bad"), ("s", "skip")]
)
def test_a_key_is_a_vote_and_then_the_page_says_who_was_who(arenas: Path, shortcut: str, meant: str) -> None:
    at = open_page()
    at.text_input[0].set_value(" **why** ").run()
    before = html(at)
    key(at, shortcut).click().run()
    assert not at.exception
    (row,) = rows()
    assert (row.vote, row.voter, row.arena, row.language, row.note) == (meant, "amina", "judged", "en", "**why**")
    assert 0 <= row.seconds < 60
    answers = store.open_arena(arenas / "judged").read("answers", languages=["en"]).to_pylist()
    shown = {a["system"]: a["text"] for a in answers if a["query_id"] == row.query_id}
    assert row.shown == votes.digest(shown[row.system_a], shown[row.system_b])
    a, b = (
        re.sub(r"<[^>]*>", "", card) for card in re.findall(r'<article class="mg-reply">.*?</article>', before, re.S)
    )
    assert shown[row.system_a].strip()[:8] in a
    assert shown[row.system_b].strip()[:8] in b
    flat = " ".join(text(at).split())
    assert f"A was {row.system_a} , B was {row.system_b} ." in flat
    assert "Judge zeta" in flat
    assert "Chosen because:" in flat
    assert "1 of 4 battles voted" in at.get("progress")[0].proto.text


def test_a_vote_that_is_taken_back_comes_again_and_a_new_one_is_a_new_vote(arenas: Path) -> None:
    at = open_page()
    first = re.search(r"Which river is number \d+", text(at))
    key(at, "1").click().run()
    second = re.search(r"Which river is number \d+", text(at))
    key(at, "u").click().run()
    assert not at.exception
    assert votes.standing(rows()) == []
    assert re.search(r"Which river is number \d+", text(at)) == first or first != second
    key(at, "2").click().run()
    (row,) = votes.standing(rows())
    assert row.vote == "B"
    assert [one.vote for one in rows()] == ["A", "undo", "B"]
    assert rows()[0].query_id == row.query_id


def test_a_reload_keeps_the_votes_and_the_queue_ends(arenas: Path) -> None:
    at = open_page()
    for n in range(4):
        key(at, "3").click().run()
        assert len(rows()) == n + 1
        if n == 2:
            at = open_page()
            assert "3 of 4 battles voted" in at.get("progress")[0].proto.text
    assert not at.exception
    assert "You have voted on all battles of this language." in said(at)
    assert len({votes.item(row) for row in rows()}) == 4
    assert "4 rows" in said(open_page())


def test_citations_are_voted_on_one_sentence_and_passage_at_a_time(arenas: Path) -> None:
    at = open_page(ballot="citations")
    assert "Text of passage" in text(at)
    key(at, "2").click().run()
    key(at, "3").click().run()
    assert not at.exception
    one, two = rows(Evidence)
    assert (one.vote, two.vote) == ("no", "unclear")
    assert votes.item(one) != votes.item(two)
    assert f"The answer was by {two.system} ." in " ".join(text(at).split())
    key(at, "u").click().run()
    assert votes.standing(rows(Evidence)) == [one]


def test_two_people_meet_on_the_same_battle_and_each_draws_an_order(arenas: Path) -> None:
    for voter in ("amina", "bo"):
        at = open_page(voter=voter)
        for _ in range(4):
            key(at, "1").click().run()
    counts: dict[tuple[str, ...], set[str]] = {}
    for row in votes.standing(rows()):
        counts.setdefault(votes.item(row), set()).add(row.voter)
    assert set(map(frozenset, counts.values())) == {frozenset({"amina", "bo"})}
    assert "random vote: 2;" in at.get("progress")[0].proto.text


def test_the_name_of_a_login_is_taken_and_cannot_be_changed(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit.runtime.context import ContextProxy

    monkeypatch.setattr(ContextProxy, "headers", property(lambda self: {"X-Forwarded-User": HOSTILE[0]}))
    at = open_page(voter="")
    assert not [one for one in at.text_input if one.key == "spot_voter"]
    assert at.button(key="spot_who").disabled
    key(at, "1").click().run()
    assert [row.voter for row in rows()] == [HOSTILE[0].strip()]


def test_the_name_is_not_in_the_link_and_without_one_there_is_no_vote(arenas: Path) -> None:
    at = open_page(voter="")
    assert "Give a name or a pseudonym to begin." in said(at)
    assert "mg-blind" not in html(at)
    at.text_input(key="spot_voter").set_value("  ").run()
    assert "Give a name or a pseudonym to begin." in said(at)
    at.text_input(key="spot_voter").set_value("amina").run()
    assert "mg-blind" in html(at)
    assert "amina" not in str(dict(at.query_params))
    at.button(key="spot_who").click().run()
    assert "Give a name or a pseudonym to begin." in said(at)


@pytest.mark.parametrize("acknowledged", [False, True], ids=["not kept", "kept but not acknowledged"])
def test_a_vote_waits_while_the_database_is_away_and_is_kept_once(
    arenas: Path, monkeypatch: pytest.MonkeyPatch, acknowledged: bool
) -> None:
    at = open_page()
    asked = text(at)
    submit = Votes.submit

    def away(self: Votes, row: Any) -> Any:
        if acknowledged:
            submit(self, row)
        raise Unreachable("the votes cannot be reached: gone", where="here", do="try again")

    with monkeypatch.context() as patch:
        patch.setattr(Votes, "submit", away)
        key(at, "2").click().run()
        assert not at.exception
        assert "The votes cannot be reached: gone." in said(at)
        assert "Your vote is kept here until the database answers." in said(at)
        again = key(at, "2")
        assert again.label == "Send again: B is better"
        assert not [one for one in at.button if one.proto.shortcut in ("1", "3", "4", "s")]
        if not acknowledged:
            again.click().run()
            assert "Your vote is kept here until the database answers." in said(at)
            assert asked.split("Which river")[1][:12] in text(at), "the item stays"
    key(at, "2").click().run()
    assert not at.exception
    assert "cannot be reached" not in said(at)
    assert [row.vote for row in rows()] == ["B"]
    key(at, "1").click().run()
    assert [row.vote for row in rows()] == ["B", "A"]


def test_votes_that_cannot_be_read_are_a_message_and_a_way_back(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(self: Votes, *_: Any, **__: Any) -> Any:
        raise Unreachable("the votes cannot be reached: gone", do="look at the server")

    with monkeypatch.context() as patch:
        patch.setattr(Votes, "rows", away)
        at = open_page()
        assert not at.exception
        assert "To do: look at the server" in said(at)
    next(one for one in at.button if one.label == "Try again").click().run()
    assert "mg-blind" in html(at)


def test_what_is_absent_is_said(arenas: Path) -> None:
    at = open_page(arena="nomiracl", voter="")
    assert not at.exception
    assert "The texts are not bundled." in said(at)
    at = open_page(arena="numbers", voter="")
    assert not at.exception
    assert "This arena has no answers table." in said(at)
    at = open_page(arena="texts", language="ar")
    assert not at.exception
    assert "3 battles in Arabic" in said(at)
    key(at, "1").click().run()
    assert "No judge has decided it" in text(at)


def test_the_sample_can_be_voted_on_in_all_languages(
    arenas: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(ROOT / "data" / "sample"))
    at = open_page(arena="sample")
    for code, language in LANGUAGES.items():
        at.selectbox(key="language").set_value(code).run()
        assert not at.exception, code
        assert f"battles in {language.name}" in said(at)
        question = re.search(r'mg-question"><div class="mg-text" lang="(\w+)" dir="(\w+)"', html(at))
        assert question is not None
        assert question.groups() == (code, language.direction)
        assert "baseline/" not in everything(at)
