"""The Spot check page: blind before the vote, one key a vote, and no acknowledged vote that is not there."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import waiting
from arena_writer import make_answer, make_query, write_arena
from conftest import PATIENCE, ROOT
from page_spot_check_cases import Session, folder, key, log_in, open_page, rows  # noqa: F401  # fixtures
from payloads import HOSTILE
from streamlit.testing.v1 import AppTest
from votes_cases import postgres, url  # noqa: F401  # fixtures

import pages
from benchmarks.simulated import simulate_arena
from mirage import schema
from mirage.battles.decision import decisions
from mirage.errors import ArenaError, Unreachable
from mirage.explorer.kit import battle_sides
from mirage.explorer.kit import votes as people
from mirage.explorer.spot_check import vote_item
from mirage.people.votes import rows as voted
from mirage.people.votes.belonging import votes_on
from mirage.people.votes.correct import correction_needs
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Evidence, Vote
from mirage.people.votes.queue import FLIPPED, RANDOM, VoteItem
from mirage.ranking.board import rank_arena
from mirage.ranking.judges import VerdictJudge
from mirage.ranking.settings import RankSettings
from mirage.store import arena as store_arena
from mirage.store.arena import Arena, open_arena
from mirage.views import spot_check as views
from mirage.views.votes import corrected_view
from pages import html, notes, page_text, text

NAMES = ("gpt-4", "aya-101", "llama-2-7b", "OpenAI", "Cohere", "zeta")


def everything(app: AppTest) -> str:
    """All that the page sends to the browser, and its address."""
    protos = [str(element.proto) for element in app.main] + [str(element.proto) for element in app.sidebar]
    return html(app) + page_text(app) + "\n".join(protos) + str(dict(app.query_params))


@pytest.mark.parametrize("kind", ["battles", "citations"])
def test_nothing_names_a_system_or_a_verdict_before_the_vote(arenas: Path, kind: str) -> None:
    app = open_page(ballot=kind)
    assert "Which river is number" in text(app)
    assert 'mg-sides mg-blind"' in html(app)
    assert not [name for name in (*NAMES, FLIPPED) if name in everything(app)]
    assert "Your last vote" not in text(app)
    labels = {button.proto.shortcut: button.label for button in app.button if button.proto.shortcut}
    choices = battle_sides.BATTLE | vote_item.SKIP if kind == "battles" else vote_item.EVIDENCE
    assert labels == {shortcut: label for label, shortcut in choices.values()}


def test_which_passages_are_relevant_is_hidden_from_who_votes_unless_they_ask(arenas: Path) -> None:
    app = open_page()
    told = re.compile(r'class="mg-(?:tag|cite) mg-(?:relevant|irrelevant|unlabelled)')
    assert 'class="mg-cite mg-cited"' in html(app), "citations lead to their passages all the same"
    assert not told.search(html(app))
    app.toggle(key="spot_labels").set_value(True).run()
    assert not app.exception
    assert told.search(html(app))


@pytest.mark.parametrize(("shortcut", "vote"), [("2", "B"), ("s", "skip")])
def test_a_key_is_a_vote_and_then_the_page_says_who_was_who(arenas: Path, shortcut: str, vote: str) -> None:
    app = open_page()
    app.text_input[0].set_value(" **why** ").run()
    before = html(app)
    key(app, shortcut).click().run()
    assert not app.exception
    (row,) = rows()
    assert (row.vote, row.voter, row.arena, row.language, row.note) == (vote, "amina", "judged", "en", "**why**")
    assert row.seconds >= 0
    answers = open_arena(arenas / "judged").read("answers", languages=["en"]).to_pylist()
    texts = {a["system"]: a["text"] for a in answers if a["query_id"] == row.query_id}
    assert votes_on(open_arena(arenas / "judged"), [row]).counting == [row]
    a, b = (
        re.sub(r"<[^>]*>", "", card) for card in re.findall(r'<article class="mg-answer">.*?</article>', before, re.S)
    )
    assert texts[row.system_a].strip()[:8] in a
    assert texts[row.system_b].strip()[:8] in b
    flat = " ".join(text(app).split())
    assert f"A was {row.system_a} , B was {row.system_b} ." in flat
    assert "By zeta :" in flat
    agreed = re.search(r"You agree with .*zeta in (\d) of (\d)", flat)
    assert (agreed is None) == (vote == "skip")
    assert agreed is None or agreed[2] == "1"
    said = app.get("progress")[0].proto.text
    assert "1 of 4 battles" in said
    assert re.search(r"Queries voted on: \d of 2\.", said), "no goal out of reach"


def test_pitfall_45_names_that_a_vote_reveals_are_text(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key_, names = ("en", "q"), (HOSTILE[0], HOSTILE[8])
    rows_by_table = {
        "queries": [make_query(*key_, "relevant", "Q")],
        "answers": [make_answer(*key_, name, f"Says {k}.") for k, name in enumerate(names)],
        "judgments": [schema.Judgment(*key_, HOSTILE[1], *names, "A", HOSTILE[2], None, None)],
    }
    write_arena(tmp_path / "hostile", rows_by_table)
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    app = open_page(arena="hostile")
    key(app, "1").click().run()
    assert all(name in text(app) for name in (*names, HOSTILE[1]))
    assert not [payload for payload in HOSTILE[:2] if payload in html(app)]


def test_a_damaged_file_is_told_beside_the_votes(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(arena: Arena, *_: object) -> Any:
        raise ArenaError("a file is damaged", where=f"{arena.path}/answers")

    monkeypatch.setattr("mirage.views.battle.battle_view", read)
    said = page_text(pages.open_page("spot_check", ballot="battles"))
    assert "A file is damaged." in said
    assert str(arenas) not in said


def test_a_reload_keeps_the_votes_and_the_queue_ends(arenas: Path) -> None:
    app = open_page()
    for n in range(4):
        key(app, "3").click().run()
        assert len(rows()) == n + 1
        if n == 2:
            app = open_page()
            assert "3 of 4 battles" in app.get("progress")[0].proto.text
    assert not app.exception
    assert "You have voted on all battles in this language." in page_text(app)
    assert len({row.item for row in rows()}) == 4
    assert "You have voted on all battles in this language." in page_text(open_page())


def test_citations_are_voted_on_one_sentence_and_passage_at_a_time(arenas: Path) -> None:
    app = open_page(ballot="citations")
    assert "Text of passage" in text(app)
    key(app, "2").click().run()
    key(app, "3").click().run()
    assert not app.exception
    first, second = rows(Evidence)
    assert (first.vote, second.vote) == ("no", "unclear")
    assert first.item != second.item
    assert f"The answer was by {second.system} ." in " ".join(text(app).split())
    key(app, "u").click().run()
    assert voted.valid_votes(rows(Evidence)) == [first]


def name_field(app: AppTest) -> Any:
    """The field that asks for a name after the first vote, or None."""
    fields = [field for field in app.text_input if field.label == "Your name" and field.key != "spot_voter"]
    return fields[0] if fields else None


def test_the_first_vote_asks_for_a_name_and_is_stored_under_it(arenas: Path) -> None:
    app = open_page(voter="")
    assert 'mg-sides mg-blind"' in html(app)
    assert name_field(app) is None
    assert not [name for name in (*NAMES, FLIPPED) if name in everything(app)]
    n_queries = views.pool(open_arena(arenas / "judged"), "en").n_queries
    assert correction_needs(n_queries) in notes(app), "what a correction needs is said before the first vote"
    query = re.search(r"Which river is number \d+", text(app))
    assert query is not None
    key(app, "2").click().run()
    assert not app.exception
    assert rows() == [], "a vote without a name is not stored"
    assert not [name for name in (*NAMES, FLIPPED) if name in everything(app)], "still blind"
    assert query.group() in text(app), "the battle stays in sight"
    assert not [button for button in app.button if button.proto.shortcut in ["1", "2", "3", "4", "s"]]
    name_field(app).set_value("  ").run()
    assert rows() == []
    name_field(app).set_value("amina").run()
    assert not app.exception
    (row,) = rows()
    assert (row.vote, row.voter) == ("B", "amina")
    assert row.seconds is not None
    assert f"A was {row.system_a} , B was {row.system_b} ." in " ".join(text(app).split())
    assert "amina" not in str(dict(app.query_params))
    key(app, "1").click().run()
    assert [row.voter for row in rows()] == ["amina", "amina"]
    app.button(key="spot_who").click().run()
    assert 'mg-sides mg-blind"' in html(app), "without a name the battles are still there"


def test_a_first_vote_can_be_changed_before_the_name(arenas: Path) -> None:
    app = open_page(voter="")
    key(app, "1").click().run()
    next(button for button in app.button if button.label == "Change vote").click().run()
    assert name_field(app) is None
    key(app, "3").click().run()
    name_field(app).set_value("amina").run()
    assert [row.vote for row in rows()] == ["tie"]


def test_a_person_who_had_voted_on_the_first_battle_is_not_counted_twice(arenas: Path) -> None:
    app = open_page()
    for _ in range(4):
        key(app, "1").click().run()
    stranger = open_page(voter="")
    key(stranger, "2").click().run()
    name_field(stranger).set_value("amina").run()
    assert not stranger.exception
    assert [row.vote for row in rows()] == ["A"] * 4
    assert "Your earlier vote counts." in page_text(stranger)


@pytest.mark.parametrize("acknowledged", [False, True], ids=["not kept", "kept but not acknowledged"])
def test_a_vote_waits_while_the_database_is_away_and_is_kept_once(
    arenas: Path, monkeypatch: pytest.MonkeyPatch, acknowledged: bool
) -> None:
    app = open_page()
    query = text(app)
    submit = Votes.submit

    def away(self: Votes, row: Any) -> Any:
        if acknowledged:
            submit(self, row)
        raise Unreachable("the votes cannot be reached: gone", where="here", do="try again")

    with monkeypatch.context() as patch:
        patch.setattr(Votes, "submit", away)
        key(app, "2").click().run()
        assert not app.exception
        assert "The votes cannot be reached: gone." in page_text(app)
        assert "Your vote is saved here until the database responds." in page_text(app)
        resend = key(app, "2")
        assert resend.label == "Resend: B is better"
        assert not [button for button in app.button if button.proto.shortcut in ("1", "3", "4", "s")]
        if not acknowledged:
            resend.click().run()
            assert "Your vote is saved here until the database responds." in page_text(app)
            assert query.split("Which river")[1][:12] in text(app), "the item stays"
    key(app, "2").click().run()
    assert not app.exception
    assert "cannot be reached" not in page_text(app)
    assert [row.vote for row in rows()] == ["B"]
    key(app, "1").click().run()
    assert [row.vote for row in rows()] == ["B", "A"]


def test_votes_that_cannot_be_read_are_a_message_and_a_way_back(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(self: Votes, *_: Any, **__: Any) -> Any:
        raise Unreachable("the votes cannot be reached: gone", do="look at the server")

    with monkeypatch.context() as patch:
        patch.setattr(Votes, "rows", away)
        app = open_page()
        assert "To do: look at the server" in page_text(app)
    next(button for button in app.button if button.label == "Try again").click().run()
    assert 'mg-sides mg-blind"' in html(app)


def test_what_is_absent_is_said(arenas: Path) -> None:
    app = open_page(arena="numbers", voter="")
    assert "This arena has no answers table." in page_text(app)
    app = open_page(arena="texts", language="ar")
    assert "3 battles in Arabic" in page_text(app)
    key(app, "1").click().run()
    assert "By relevance labels" in " ".join(text(app).split())


# On the other pages


@pytest.fixture(scope="module")
def sim(module_path: Path) -> Arena:
    """Two judges of four systems."""
    simulation = simulate_arena(systems=4, queries=40, languages=["ar", "en"], seed=1, judges=("gpt-4o", "zeta"))
    path = module_path / "sim"
    return write_arena(path, simulation.tables, title="Simulated", label="simulated")


@pytest.fixture
def simulated(sim: Arena, home: Path, monkeypatch: pytest.MonkeyPatch) -> Arena:
    """Votes at random: many in English, a few in Arabic."""
    monkeypatch.setenv("MIRAGE_ARENAS", str(sim.path.parent))
    monkeypatch.setattr(store_arena, "bundled_arenas", dict)
    arena, rng = sim, np.random.default_rng(2)
    for code, n in (("en", 70), ("ar", 4)):
        agreeing(arena, rng, code, n, voter="amina")
    return arena


def agreeing(arena: Arena, rng: np.random.Generator, code: str, n: int, *, voter: str) -> None:
    """Vote on random battles of a language, mostly as the judge did."""
    verdicts = decisions(arena.read("judgments"))["gpt-4o"]
    battles = [battle for battle in verdicts if battle[0] == code]
    log = []
    for k in rng.choice(len(battles), n, replace=False):
        language, query, first, second = battles[k]
        label = verdicts[battles[k]].label if rng.random() < 0.8 else int(rng.integers(3))
        item = VoteItem(language, query, first, second, True, RANDOM)
        vote_ = ("A", "B", "tie")[label]
        log.append(voted.cast(item, vote=vote_, vote_id=voted.token(), arena="sim", voter=voter, note="**so**"))
    people.database().append(log)


def elsewhere(page: str, **params: str | list[str]) -> AppTest:
    return pages.open_page(page, arena="sim", **params)


def badges(app: AppTest) -> dict[str, str]:
    """Words of the badges about people, and their colour."""
    matches = re.findall(r'<span class="mg-kind mg-kind-(\w+)" title="[^"]*">(People[^<]*)</span>', html(app))
    return {unescape(words): color for color, words in matches}


def test_votes_override_the_verdicts_of_the_leaderboard_when_asked_to(simulated: Arena) -> None:
    beside = elsewhere("leaderboard", judge="gpt-4o", scale="logit")
    over = elsewhere("leaderboard", judge="gpt-4o", scale="logit", votes="override")
    assert not beside.exception
    assert not over.exception
    log = votes_on(simulated, people.database().rows(Vote)).counting
    result = rank_arena(simulated, VerdictJudge("gpt-4o"), RankSettings(), votes=voted.people(log))
    assert result.voted
    captions = "\n".join(caption.value for caption in over.caption)
    assert f"{result.voted:,} verdicts replaced by people's votes" in captions
    assert "replaced by people's votes" not in "\n".join(caption.value for caption in beside.caption)
    ratings = {row["system"]: row["rating"] for row in result.ranking.table().to_pylist() if row["language"] == "all"}
    for app, expected in ((over, ratings), (beside, None)):
        table = next(frame.value for frame in app.dataframe if {"rank", "rating"} <= set(frame.value.columns))
        shown_ratings = dict(zip(table["system"], table["rating"], strict=True))
        assert (shown_ratings == ratings) is (expected is not None)


def test_an_arena_that_nobody_voted_on_offers_no_override(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_arena(tmp_path / "sim", dict(simulate_arena(systems=4, queries=8, languages=["en"], seed=3).tables))
    monkeypatch.setenv("MIRAGE_ARENAS", str(tmp_path))
    app = elsewhere("leaderboard", votes="override")
    assert "Votes" not in [group.label for group in app.get("button_group")]


def test_the_leaderboard_has_the_badge_and_the_corrected_ranking(
    simulated: Arena,
) -> None:
    app = elsewhere("leaderboard", judge="gpt-4o")
    assert [(words.split(":")[0], color) for words, color in badges(app).items()] == [
        ("People agree with gpt-4o", "green")
    ]
    (page_table,) = (frame.value for frame in app.dataframe if "uncorrected_rank" in frame.value.columns)
    table = corrected_view(simulated, "gpt-4o", people.votes_at(simulated), ("en",)).table
    assert page_table["rating"].tolist() == table["rating"].to_pylist()
    assert page_table["uncorrected_rank"].tolist() == table["uncorrected_rank"].to_pylist()
    assert "votes on 4 queries in ar: it takes 30." in page_text(app)
    app = elsewhere("leaderboard", judge="gpt-4o", languages="ar")
    assert set(badges(app).values()) == {"gray"}
    assert "Ranking corrected by people's votes" in [head.value for head in app.header]
    assert not app.error
    assert "Not yet. Votes on 4 queries in ar: it takes 30. Vote on the Spot check page" in page_text(app)


def test_a_battle_shows_its_votes(simulated: Arena) -> None:
    row = people.database().rows(Vote, language="en")[0]
    pair = {"a": row.system_a, "b": row.system_b, "query": f"en:{row.query_id}", "judge": "gpt-4o"}
    app = elsewhere("battle", **pair)
    assert "Votes" in [head.value for head in app.header]
    winner = {"A": row.system_a, "B": row.system_b}.get(row.vote)
    verdict = f"{winner} wins" if winner else "tie"
    assert f"amina : {verdict} (drawn at random, {row.time[:10]})." in " ".join(text(app).split())
    assert "**so**" in text(app)


def test_without_a_database_the_other_pages_go_on(simulated: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(self: Votes) -> Any:
        raise Unreachable("the votes cannot be reached: gone")

    monkeypatch.setattr(Votes, "version", away)
    for page in ("judges", "leaderboard", "battle"):
        app = elsewhere(page, judge="gpt-4o")
        assert "People's votes are unavailable: the votes cannot be reached: gone" in page_text(app)


# Many at once, over Streamlit's own protocol


VOTERS, ENOUGH = 10, 40


async def crowd(address: str, acknowledged: dict[str, str], server: int) -> None:
    """Voters at once; when each has given a vote and all have given enough, the server is killed in the middle of
    others. `acknowledged` is filled with who gave a vote, by its id.
    """
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed

    async def voter(n: int) -> None:
        with suppress(ConnectionClosed, OSError):
            async with connect(f"ws://{address}/_stcore/stream", subprotocols=["streamlit"], max_size=None) as link:
                session = Session(link, f"voter-{n}")
                await session.send()
                await session.send(id=session.fields["Your name"], string_value=session.name)
                while True:
                    label = ("A is better", "B is better", "Tie", "Both bad")[len(acknowledged) % 4]
                    token = await session.vote(label)
                    assert token not in acknowledged
                    acknowledged[token] = session.name

    async def end() -> None:
        while len(acknowledged) < ENOUGH or len(set(acknowledged.values())) < VOTERS:
            await asyncio.sleep(0.01)
        os.kill(server, signal.SIGKILL)

    voters = asyncio.gather(*map(voter, range(VOTERS)))
    killer = asyncio.create_task(end())
    await asyncio.wait_for(voters, PATIENCE)
    assert killer.done(), f"the voters ended by themselves after {len(acknowledged)} votes"


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_ten_voters_at_once_and_after_a_kill_every_acknowledged_vote_is_there(url: str, tmp_path: Path) -> None:
    """On SQLite; the store itself is killed so on both databases (`test_votes`)."""
    environment = {k: v for k, v in os.environ.items() if k != "MIRAGE_ARENAS"}
    environment |= {"MIRAGE_VOTES_URL": url, "MIRAGE_HOME": str(tmp_path / "home")}
    quiet = subprocess.DEVNULL
    acknowledged: dict[str, str] = {}
    with waiting.port() as port:
        command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet)
        try:
            health = f"http://127.0.0.1:{port}/_stcore/health"
            waiting.until(lambda: waiting.answers(health), "the explorer answers", process=process)
            asyncio.run(crowd(f"127.0.0.1:{port}", acknowledged, process.pid))
        finally:
            process.kill()
            process.wait()
    with Votes(url) as database:
        rows = database.rows(Vote)
    assert len(acknowledged) >= ENOUGH
    assert set(acknowledged) <= {row.vote_id for row in rows}
    assert len(rows) <= len(acknowledged) + VOTERS, "at most one vote of each was kept and not yet acknowledged"
    assert {row.voter for row in rows} == {f"voter-{n}" for n in range(VOTERS)}
    assert len({(row.voter, row.item) for row in rows}) == len(rows), "nobody was asked twice"
