"""What the Spot check page shows: results after the vote, citations one at a time, votes as other pages read them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from golden.cases import read_table
from view_battle_cases import A, B, judged

from mirage.errors import NotEnoughData, Unreachable
from mirage.explorer.kit import votes as people
from mirage.people.votes.belonging import votes_on
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Evidence, Vote
from mirage.people.votes.rows import cast, now, shown_digest, token, valid_votes
from mirage.stages.features.spec import MeasuredAnswer
from mirage.stages.features.support import cited_places, cited_sentences
from mirage.store.arena import Arena
from mirage.text.answers import citations
from mirage.views import spot_check as views
from mirage.views.votes import agreement_view, corrected_view

LABELS = "relevance labels"


@pytest.fixture(scope="module")
def arena(module_path: Path) -> Arena:
    return judged(module_path)


def vote(query: str, choice: Any, a: str = A, b: str = B, **more: Any) -> Vote:
    about = {"voter": "amina", "control": True, "why": "random", "note": None, "undoes": None}
    rest = {"seconds": None, "session": None, "shown": None, "vote_id": token(), "time": now()}
    return Vote(
        **about | rest | {"arena": "judged", "language": "en", "query_id": query} | more,
        system_a=a,
        system_b=b,
        vote=choice,
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(*read_table("vote_results"))
def test_the_result_says_what_each_judge_said_and_whether_the_vote_says_the_same(
    arena: Arena, query: str, choice: str, a: str, winner: str | None, by: dict[str, Any]
) -> None:
    result = views.vote_result(arena, vote(query, choice, a, B if a == A else A))
    assert result.winner == winner
    said = {verdict.judge: [verdict.winner, verdict.flipped, verdict.agrees] for verdict in result.verdicts}
    assert list(said.items()) == list(by.items()), "the default judge first; none without a verdict"


def test_how_often_somebody_agrees_counts_the_votes_that_a_judge_decides(arena: Arena) -> None:
    votes = [vote("e00", "A"), vote("e01", "tie"), vote("e02", "A"), vote("e04", "skip")]
    assert views.count_agreeing(arena, votes) == {"zeta": (2, 2), "eta": (0, 2), LABELS: (1, 2)}
    assert views.count_agreeing(arena, ()) == {}


def test_a_citation_belongs_to_its_sentence_and_the_place_is_that_of_the_raw_text() -> None:
    text = "##Reason: It rose. [1] Then it fell [2, 3]. No source. ##Answer: It fell [1]."
    answer = MeasuredAnswer("en", text, "vanilla", ("p1", "p2", "p3"), (None,) * 3)
    places = cited_places(answer)
    assert [(place.number, place.words, place.passage_ids) for place in places] == [
        (0, "It rose.", ("p1",)),
        (1, "Then it fell.", ("p2", "p3")),
    ]
    assert [text[place.start : place.end].strip().split()[0] for place in places] == ["It", "Then"]
    assert cited_sentences(answer) == [(place.words, place.passage_ids) for place in places]


def test_citations_come_one_at_a_time_each_once_and_a_new_text_comes_again(arena: Arena) -> None:
    seen: list[Evidence] = []
    passages = {
        passage["passage_id"]: passage["text"] for passage in arena.read("passages", languages=["en"]).to_pylist()
    }
    while (pair := views.next_pair(arena, "en", seen)) is not None:
        assert passages[pair.passage_id]
        seen.append(cast(pair, vote="no", vote_id=token(), arena="judged", voter="amina", seconds=1.0))
    # e05 has no passages' texts; gpt-4 cites two on relevant queries, llama-2-7b one on every query with texts.
    texts = [row for row in arena.read("answers", languages=["en"]).to_pylist() if row["query_id"] != "e05"]
    by = {system: sum(row.system == system for row in seen) for system in ("gpt-4", "llama-2-7b", "aya-101")}
    ids = ["x.1", "x.2", "x.3"]
    n = {
        system: sum(
            sum(citation.known for citation in citations(row["text"] or "", ids, numbered=True))
            for row in texts
            if row["system"] == system
        )
        for system in by
    }
    assert by == n
    assert len({row.item for row in seen}) == len(seen)
    assert votes_on(arena, seen).counting == valid_votes(seen)
    old = replace(seen[0], shown=shown_digest(["another query"], ["another text"]))
    repeat = views.next_pair(arena, "en", votes_on(arena, [old, *seen[1:]]).counting)
    assert (repeat.query_id, repeat.passage_id) == (old.query_id, old.passage_id)


def test_a_vote_on_another_page_is_there_as_soon_as_it_is_kept(arena: Arena, home: Path) -> None:
    assert people.battle_votes(arena, "en", "e00", (A, B)) == []
    with pytest.raises(NotEnoughData):
        agreement_view(arena, people.votes_at(arena))
    stored_vote = people.database().submit(vote("e00", "A"))
    assert people.battle_votes(arena, "en", "e00", (B, A)) == [stored_vote]
    by = agreement_view(arena, people.votes_at(arena)).joint_row("zeta")
    assert (by.raw, by.n, by.enough) == (1.0, 1, False)
    with pytest.raises(NotEnoughData, match="30"):
        corrected_view(arena, "zeta", people.votes_at(arena), ("en",))
    people.database().undo(Vote, stored_vote.vote_id, voter="amina")
    assert people.battle_votes(arena, "en", "e00", (A, B)) == []


def test_pages_that_only_read_do_not_wait_twice_for_a_database_that_is_away(
    arena: Arena, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def away(self: Votes) -> tuple[int, int]:
        calls.append(1)
        raise Unreachable("the votes cannot be reached")

    with monkeypatch.context() as patch:
        patch.setattr(Votes, "version", away)
        for _ in range(3):
            with pytest.raises(Unreachable):
                people.log(arena)
    assert len(calls) == 1
    monkeypatch.setattr(people, "PAUSE", 0.0)
    assert people.log(arena) == ()
