"""Votes belong to the texts they were given on, not to the name of a folder: on both databases."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from arena_writer import write_arena
from commands import mirage
from votes_cases import every_store_is_closed, evidence, postgres, url, vote  # noqa: F401  # fixtures

from mirage import schema
from mirage.people.votes.belonging import votes_on
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Vote
from mirage.people.votes.rows import shown_digest
from mirage.people.votes.stage import export_votes, votes_that_count
from mirage.store.arena import open_arena

QUERIES = {"1": "Mlima mrefu zaidi ni upi?", "2": "Ziwa kubwa zaidi ni lipi?"}
ANSWERS = {
    ("1", "a"): "Kilimanjaro.",
    ("1", "b"): "Sijui.",
    ("2", "a"): "Victoria.",
    ("2", "b"): "Sijui.",
}
Texts = dict[tuple[str, str], str]


def make(path: Path, queries: dict[str, str] = QUERIES, answers: Texts = ANSWERS, passage: str = "Ni mlima.") -> Path:
    """An arena of some texts; a file that is imported again makes the same tables."""
    nothing = [None] * 3
    tables = {
        "queries": [schema.Query("sw", name, None, text, None) for name, text in queries.items()],
        "passages": [schema.Passage("sw", name, "p", 1, None, passage, None, None) for name in queries],
        "answers": [schema.Answer("sw", q, system, text, "ok", *nothing) for (q, system), text in answers.items()],
        "nuggets": [schema.Nugget("sw", name, "n", "Ni mrefu.", "vital", None, "x") for name in queries],
    }
    rows = {name: schema.sort(name, schema.from_rows(name, list(values))) for name, values in tables.items()}
    return write_arena(path, rows, title=path.name).path


def shown(query: str, *systems: str, queries: dict[str, str] = QUERIES, answers: Texts = ANSWERS) -> str:
    return shown_digest([queries[query]], [answers[query, system] for system in systems])


def cast(query: str = "1", first: str = "a", second: str = "b", **changed: Any) -> Vote:
    about = {"arena": "mine", "system_a": first, "system_b": second, "shown": shown(query, first, second)}
    return vote(query_id=query, **about | changed)


def counted(path: Path, log: list[Vote]) -> list[Vote]:
    return votes_that_count(open_arena(path), log)


def renamed(path: Path) -> Path:
    return path.rename(path.with_name("other"))


def copied(path: Path) -> Path:
    return Path(shutil.copytree(path, path.parent / "deep" / "copy"))


def made_again(path: Path) -> Path:
    shutil.rmtree(path)
    return make(path.with_name("again"))


@pytest.mark.parametrize("move", [renamed, copied, made_again])
def test_votes_stay_with_an_arena_that_is_renamed_copied_or_made_again(
    tmp_path: Path,
    url: str,
    move: Callable[[Path], Path],
) -> None:
    path = make(tmp_path / "mine")
    with Votes(url) as database:
        log = [database.submit(cast("1")), database.submit(cast("2", "b", "a"))]
        gone = database.submit(cast("1", voter="juma"))
        database.undo(Vote, gone.vote_id, voter="juma")
        assert counted(path, database.rows(Vote)) == log
        assert counted(move(path), database.rows(Vote)) == log


def test_another_arena_of_the_same_name_and_answers_inherits_no_vote(
    tmp_path: Path,
    url: str,
) -> None:
    """Two machines share a database; each has a folder of the name, with the same ids, systems and short answers."""
    other = {"1": "Nani rais?", "2": "Nani mfalme?"}
    paths = make(tmp_path / "one" / "mine"), make(tmp_path / "two" / "mine", other, dict.fromkeys(ANSWERS, "Sijui."))
    with Votes(url) as database:
        here = database.submit(cast("1"))
        there = database.submit(cast("1", shown=shown_digest([other["1"]], ["Sijui.", "Sijui."])))
        assert [counted(path, database.rows(Vote)) for path in paths] == [[here], [there]]
        assert [votes_on(open_arena(path), database.rows(Vote)).notes() for path in paths] == [[], []]


def test_votes_on_other_pairs_stay_when_a_system_comes_and_when_an_answer_changes(tmp_path: Path) -> None:
    path = make(tmp_path / "mine")
    log = [cast("1"), cast("2")]
    grown = ANSWERS | {("1", "c"): "Meru.", ("2", "c"): "Nyasa."}
    assert counted(make(tmp_path / "grown", answers=grown), log) == log
    changed = open_arena(make(tmp_path / "changed", answers=grown | {("1", "a"): "Meru."}))
    sorted_out = votes_on(changed, log)
    assert (sorted_out.counting, sorted_out.changed) == (log[1:], log[:1])
    assert "1 vote" in " ".join(sorted_out.notes()), "what is left out is said"
    again = cast("1", shown=shown_digest([QUERIES["1"]], ["Meru.", "Sijui."]))
    assert votes_on(changed, [*log, again]).changed == [], "the voter has voted on the new text"
    assert set(counted(path, [*log, again])) == set(log), "a later vote on another text takes no place of an earlier"


def test_a_system_that_goes_takes_its_votes_along_without_a_word(tmp_path: Path) -> None:
    left = open_arena(make(tmp_path / "mine", answers={k: v for k, v in ANSWERS.items() if k[1] == "a"}))
    sorted_out = votes_on(left, [cast("1")])
    assert (sorted_out.counting, sorted_out.notes()) == ([], [])


def test_one_voter_counts_once_on_a_battle_whatever_the_folder_was_called(tmp_path: Path) -> None:
    early = cast(time="2026-01-01T00:00:00.000000Z")
    late = cast("1", "b", "a", time="2026-01-02T00:00:00.000000Z", arena="renamed", vote="tie")
    assert counted(make(tmp_path / "mine"), [late, early]) == [late]


def test_votes_without_a_digest_count_for_the_name_and_that_is_said_once(
    tmp_path: Path,
    url: str,
) -> None:
    path = make(tmp_path / "mine")
    with Votes(url) as database:
        old = [
            database.submit(cast("1", shown=None)),
            database.submit(cast("2", shown=None, voter="juma")),
        ]
        new = database.submit(cast("1", voter="ravi"))
        log = database.rows(Vote)
    sorted_out = votes_on(open_arena(path), log)
    assert set(sorted_out.counting) == {*old, new}
    assert sorted_out.changed == []
    assert sum("2 votes" in line for line in sorted_out.notes()) == 1
    another = make(tmp_path / "elsewhere" / "mine", {"9": "Nani?"}, {("9", "a"): "Mimi.", ("9", "b"): "Sijui."})
    assert counted(another, log) == [], "another arena of the name has not these answers"
    assert counted(renamed(path), log) == [new]


@pytest.mark.parametrize("change", ["nothing", "query", "passage", "answer", "name"])
def test_votes_on_citations_are_on_texts_too(tmp_path: Path, change: str) -> None:
    path = make(
        tmp_path / ("other" if change == "name" else "mine"),
        QUERIES | ({"1": "Nani rais?"} if change == "query" else {}),
        ANSWERS | ({("1", "a"): "Meru."} if change == "answer" else {}),
        "Ni ziwa." if change == "passage" else "Ni mlima.",
    )
    about = {"arena": "mine", "query_id": "1", "system": "a"}
    context = [QUERIES["1"], "Ni mlima."]
    cited = evidence(passage_id="p", shown=shown_digest(context, ["Kilimanjaro."]), **about)
    arena = open_arena(path)
    citations = votes_on(arena, [cited])
    assert bool(citations.counting) is (change in ("nothing", "name"))
    assert bool(citations.changed) is (change == "answer")


@pytest.mark.usefixtures("home")
def test_an_export_holds_the_arenas_votes_under_any_name_and_their_retractions(tmp_path: Path) -> None:
    path = renamed(make(tmp_path / "mine"))
    with Votes() as database:
        first = database.submit(cast("1"))
        database.undo(Vote, first.vote_id, voter=first.voter)
        database.submit(cast("2", shown=shown("2", "a", "b", queries={"2": "Nani mfalme?"})))
        assert export_votes(database, Vote, tmp_path / "v.jsonl", arena=open_arena(path)) == 2
    assert "2 rows" in mirage("votes", "export", tmp_path / "w.jsonl", "--arena", path).stderr
    assert (tmp_path / "w.jsonl").read_bytes() == (tmp_path / "v.jsonl").read_bytes()
