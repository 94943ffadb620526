"""Ballots: dealt evenly, blind, voted on in a browser without a network, and taken back whole or not at all."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import browser
import pytest
from ballots_cases import event, given_back
from commands import mirage
from hypothesis import given
from hypothesis import strategies as st
from payloads import HOSTILE

from mirage import schema, store
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.people import votes
from mirage.people.votes import Vote, Votes
from mirage.people.votes.ballot_page import ballot_html, words
from mirage.people.votes.ballots import (
    Ballot,
    assign,
    ballots_left,
    draw_ballots,
    import_ballot,
    is_returned,
    keep,
    read_ballot,
)
from mirage.people.votes.stage import counting

SYSTEMS = ("zq-alpha", "zq-beta", "zq-gamma")
JUDGE = "zq-judge"
LANGUAGES = ("ar", "te")
N = 16


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(votes.URL, raising=False)
    return tmp_path / "home"


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> store.Arena:
    """Hostile texts in two languages, with passages and a judge's verdicts."""
    rows: dict[str, list[Any]] = {"queries": [], "passages": [], "answers": [], "judgments": []}
    for language, k in itertools.product(LANGUAGES, range(N)):
        query, payload = f"zq-query-{k:02d}", HOSTILE[k % len(HOSTILE)]
        rows["queries"].append(schema.Query(language, query, None, f"query {k}? {payload}", None))
        rows["passages"] += [
            schema.Passage(language, query, f"{k}#{p}", p, f"title {payload}", f"passage {payload}", p == 1)
            for p in (1, 2)
        ]
        rows["answers"] += [
            schema.Answer(language, query, system, f"</script>{payload} {'نص' * s} {s}", "ok", None, None, None)
            for s, system in enumerate(SYSTEMS)
        ]
        rows["judgments"] += [
            schema.Judgment(language, query, JUDGE, a, b, "A", "zq-rationale", None, None)
            for a, b in itertools.combinations(SYSTEMS, 2)
        ]
    tables = {name: schema.sort(name, schema.from_rows(name, values)) for name, values in rows.items()}
    return store.write(tmp_path_factory.mktemp("arenas") / "sent", tables, made_by="a test")


@pytest.fixture
def ballot(arena: store.Arena) -> Ballot:
    (drawn,) = draw_ballots(arena, "te", n=6)
    keep([drawn])
    return drawn


# --- drawing and dealing ----------------------------------------------------------------------------------------------


@given(n=st.integers(1, 60), people=st.integers(1, 9), reviews=st.integers(1, 9))
def test_items_are_dealt_evenly_each_to_as_many_different_people(n: int, people: int, reviews: int) -> None:
    if reviews > people:
        with pytest.raises(BadInput):
            assign(n, people, reviews)
        return
    dealt = assign(n, people, reviews)
    assert dealt == assign(n, people, reviews)
    assert all(len(set(own)) == len(own) for own in dealt), "nobody sees an item twice"
    assert Counter(k for own in dealt for k in own) == dict.fromkeys(range(n), reviews)
    sizes = [len(own) for own in dealt]
    assert max(sizes) - min(sizes) <= 1


def test_a_ballot_holds_the_first_of_the_queue_with_their_chances(arena: store.Arena) -> None:
    drawn = draw_ballots(arena, "te", n=12, people=["a", "b", "c"], reviews=2)
    seen = Counter(_as_vote(entry.subject).item for ballot in drawn for entry in ballot.items)
    assert len(seen) == 12
    assert set(seen.values()) == {2}
    assert any(entry.subject.control for ballot in drawn for entry in ballot.items)
    assert all(entry.subject.inclusion for ballot in drawn for entry in ballot.items if entry.subject.why != "filler")
    ids = [entry.item_id for ballot in drawn for entry in ballot.items]
    assert len(set(ids)) == len(ids), "one battle has another id on another ballot"
    sides = {entry.subject.system_a < entry.subject.system_b for ballot in drawn for entry in ballot.items}
    assert sides == {True, False}


def _as_vote(battle: votes.VoteItem) -> Vote:
    return votes.cast(battle, vote="A", vote_id="x", arena="sent", voter="x")


def test_the_same_arguments_give_the_same_bytes_and_others_or_another_secret_do_not(
    arena: store.Arena, home: Path
) -> None:
    (first,), (again,), (other,) = (draw_ballots(arena, "te", n=n) for n in (6, 6, 7))
    assert ballot_html(arena, first) == ballot_html(arena, again)
    assert first.ballot_id != other.ballot_id
    (home / "ballots" / "secret").unlink()
    (foreign,) = draw_ballots(arena, "te", n=6)
    assert not {entry.item_id for entry in first.items} & {entry.item_id for entry in foreign.items}
    assert (home / "ballots" / "secret").stat().st_mode & 0o077 == 0, "nobody else reads the secret"


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        ({"n": 0}, BadInput),
        ({"n": 4, "people": ["a", "a "]}, BadInput),
        ({"n": 4, "people": ["a", " "]}, BadInput),
        ({"n": 4, "people": ["a"], "reviews": 2}, BadInput),
        ({"n": 1, "people": ["a", "b"]}, NotEnoughData),
    ],
)
def test_what_makes_no_assignment_is_refused(arena: store.Arena, arguments: dict[str, Any], refusal: type) -> None:
    with pytest.raises(refusal):
        draw_ballots(arena, "te", **arguments)
    with pytest.raises(UnknownName):
        draw_ballots(arena, "sw", n=1)


# --- the file that is sent --------------------------------------------------------------------------------------------


def test_the_file_names_no_system_judge_or_query_and_requests_nothing(
    arena: store.Arena, ballot: Ballot, home: Path
) -> None:
    page = ballot_html(arena, ballot)
    secrets = (*SYSTEMS, JUDGE, "zq-query", "zq-rationale", "control", "inclusion", "system_a", "verdict")
    assert [word for word in secrets if word in page] == []
    assert (home / "ballots" / "secret").read_bytes().hex() not in page
    assert "default-src 'none'" in page
    assert re.findall(r"<(?:link|img|iframe|object|script src)", page.partition('id="data"')[0]) == []
    assert page.count("</script>") == 2, "no text ends the element it stands in"


def test_the_words_are_whole_in_every_language() -> None:
    for code, texts in words().items():
        assert texts.keys() == words()["en"].keys(), code
        for name, text in texts.items():
            assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", words()["en"][name])), (code, name)


def test_an_answer_that_changed_since_is_not_sent(arena: store.Arena, ballot: Ballot, tmp_path: Path) -> None:
    answers = arena.read("answers").to_pylist()
    rows = schema.from_rows("answers", [schema.Answer(**row | {"text": row["text"] + "!"}) for row in answers])
    tables = {"answers": rows} | {name: arena.read(name) for name in ("queries", "passages", "judgments")}
    with pytest.raises(NotEnoughData):
        ballot_html(store.write(tmp_path / "sent", tables, made_by="a test"), ballot)


# --- what comes back --------------------------------------------------------------------------------------------------


def test_votes_come_back_as_those_of_the_queue_and_twice_is_as_good_as_once(
    arena: store.Arena, ballot: Ballot, tmp_path: Path
) -> None:
    events = [event(ballot, 0, "B", note="why"), event(ballot, 1), event(ballot, 2, "skip")]
    events += [{"vote": "undo", "undoes": 1, "time": "2026-11-23T10:00:04.000000Z"}]
    path = tmp_path / "back.jsonl"
    path.write_text(given_back(ballot, events[:2]), encoding="utf-8")
    with Votes() as database:
        assert import_ballot(database, path) == (2, 2)
        assert import_ballot(database, path) == (2, 0)
        path.write_bytes(given_back(ballot, events).encode().replace(b"\n", b"\r\n"))
        assert import_ballot(database, path) == (4, 2), "a later file adds what is new; mail changes line ends"
        log = database.rows(Vote)
    standing = counting(arena, log)
    assert [(vote.vote, vote.voter, vote.note) for vote in standing] == [("B", "amina", "why"), ("skip", "amina", None)]
    battle = ballot.items[0].subject
    assert (standing[0].system_a, standing[0].control, standing[0].inclusion) == (
        battle.system_a,
        battle.control,
        battle.inclusion,
    )
    (row,) = ballots_left(arena, log)
    assert (row.ballot, row.voter, row.items, row.voted, row.left) == (ballot.ballot_id, "amina", 6, 2, 4)


@pytest.mark.parametrize(
    "tamper",
    [
        lambda text: text.replace('"vote": "A"', '"vote": "B"'),
        lambda text: text.replace("amina", "ravi"),
        lambda text: "\n".join(text.splitlines()[:-1]),
        lambda text: "\n".join([*text.splitlines()[:1], *text.splitlines()[2:]]),
        lambda text: text.replace('"signature": "', '"signature": "0'),
        lambda text: text + text,
        lambda text: text.replace("}", "", 1),
        lambda text: re.sub(r'"ballot": "\w+"', '"ballot": "0123456789abcdef"', text),
    ],
)
def test_a_file_that_was_changed_is_refused_whole(ballot: Ballot, tamper: Any, tmp_path: Path) -> None:
    path = tmp_path / "back.jsonl"
    path.write_text(tamper(given_back(ballot, [event(ballot, 0), event(ballot, 1)])), encoding="utf-8")
    assert is_returned(path)
    with Votes() as database:
        with pytest.raises(BadInput) as caught:
            import_ballot(database, path)
        assert caught.value.do
        assert database.rows(Vote) == []


@pytest.mark.parametrize(
    ("changed", "events"),
    [
        ({"answers": "0" * 16}, [0]),
        ({"arena": "other"}, [0]),
        ({"language": "ar"}, [0]),
        ({"voter": " "}, [0]),
        ({"voter": None}, [0]),
        ({}, []),
        ({}, [{"item": "0" * 32}]),
        ({}, [{"vote": "undo", "undoes": 0}]),
        ({}, [{"vote": "everything"}]),
        ({}, [{"time": "yesterday"}]),
        ({}, [{"note": 7}]),
        ({}, [{"seconds": -1}]),
    ],
)
def test_a_signed_file_that_is_not_of_the_ballot_is_refused(
    ballot: Ballot, changed: dict[str, Any], events: list[Any], tmp_path: Path
) -> None:
    path = tmp_path / "back.jsonl"
    lines = [event(ballot, 0, **(more or {})) for more in events]
    path.write_text(given_back(ballot, lines, **changed), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read_ballot(path)
    assert caught.value.do


def test_a_ballot_is_of_one_voter_and_of_one_browser(arena: store.Arena, ballot: Ballot, tmp_path: Path) -> None:
    path = tmp_path / "back.jsonl"
    (named,) = draw_ballots(arena, "te", n=3, people=["lakshmi"])
    keep([named])
    with Votes() as database:
        path.write_text(given_back(ballot, [event(ballot, 0)]), encoding="utf-8")
        import_ballot(database, path)
        for text in (
            given_back(ballot, [event(ballot, 0)], voter="ravi"),
            given_back(ballot, [event(ballot, 1)]),
            given_back(named, [event(named, 0)], voter="ravi"),
        ):
            path.write_text(text, encoding="utf-8")
            with pytest.raises(BadInput):
                import_ballot(database, path)
        assert len(database.rows(Vote)) == 1


# --- commands and the browser -----------------------------------------------------------------------------------------


def test_the_commands_write_a_ballot_each_and_say_what_is_left(arena: store.Arena, tmp_path: Path) -> None:
    out = tmp_path / "ballot.html"
    options = ("--language", "te", "--n", 9, "--out", out)
    mirage("votes", "ballot", arena.path, *options, "--voters", "a,b", "--reviews", 2)
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["ballot-1.html", "ballot-2.html"]
    assert [(row.voter, row.items, row.left) for row in left(arena)] == [("a", 9, 9), ("b", 9, 9)]
    assert mirage("votes", "left", arena.path).stdout.count(" 9 ") >= 2
    mirage("votes", "ballot", arena.path, *options)
    assert out.exists()
    mirage("votes", "ballot", arena.path, *options, "--out", "x.txt", code=2)


def left(arena: store.Arena) -> list[Any]:
    """What each voter's ballots still ask for."""
    with Votes() as database:
        return list(ballots_left(arena, database.rows(Vote)))


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_ballot_is_voted_on_by_keys_without_a_network_and_imported(
    arena: store.Arena, language: str, tmp_path: Path
) -> None:
    out = tmp_path / "ballot.html"
    mirage("votes", "ballot", arena.path, "--language", language, "--n", 4, "--out", out)
    with browser.chromium() as start:
        opened = start(width=390, height=844, scheme="dark")
        page = opened.page
        page.context.set_offline(True)
        page.goto(out.as_uri())
        assert page.get_attribute("html", "dir") == ("rtl" if language == "ar" else "ltr")
        page.keyboard.press("1")
        assert page.evaluate("state.events.length") == 0, "no vote without a name"
        page.fill("#voter", "amina")
        page.keyboard.press("1")
        page.fill("#voter", "amina")
        page.keyboard.press("Enter")
        assert page.locator(".label").count() == 0
        hostile = page.evaluate("data.items[0].answers[0]")
        shown = page.evaluate(
            "(document.querySelector('#first .raw .text') ?? document.getElementById('first')).textContent"
        )
        assert shown == hostile
        assert page.locator("#item :is(img, iframe, svg, script, style, details:not(.raw))").count() == 0
        for key in ("1", "u", "2", "3"):
            page.keyboard.press(key)
        page.fill("#note", "too long")
        page.keyboard.press("Escape")
        page.keyboard.press("4")
        page.keyboard.press("ArrowLeft")
        assert page.locator(".label").count() == 2, "labels are shown after the vote"
        # What a browser that has just started may do to what it was told to store.
        page.evaluate("localStorage.clear()")
        page.reload()
        assert page.evaluate("standing().size") == 3, "the tab remembers, too"
        page.keyboard.press("ArrowRight")
        page.keyboard.press("s")
        assert page.is_visible("#done")
        page.locator("#languages button").first.click()
        assert page.get_attribute("html", "lang") == "en"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        with page.expect_download() as download:
            page.click("#save")
        download.value.save_as(tmp_path / "back.jsonl")
        assert opened.errors == []
        assert [link for link in opened.outside if not link.startswith("file:")] == []
        assert opened.dialogs == []
    mirage("votes", "import", tmp_path / "back.jsonl")
    mirage("votes", "import", tmp_path / "back.jsonl")
    with Votes() as database:
        log = database.rows(Vote)
    assert len(log) == 6
    standing = counting(arena, log)
    assert [(vote.vote, vote.note) for vote in standing] == [
        ("B", None),
        ("tie", None),
        ("both_bad", "too long"),
        ("skip", None),
    ]
    assert {vote.voter for vote in standing} == {"amina"}
    (row,) = left(arena)
    assert (row.voted, row.left) == (4, 0)
