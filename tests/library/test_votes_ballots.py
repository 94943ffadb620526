"""Ballots of battles: sheets that name no system, filled in anywhere, and imported whole or not at all."""

import itertools
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from arena_writer import add_rows, make_answer, make_judgment, make_query, write_arena
from commands import write_jsonl
from payloads import HOSTILE

from mirage import schema
from mirage.errors import BadInput
from mirage.people.votes.ballots import BallotRow, ballot, battle_ballot, import_ballot
from mirage.people.votes.belonging import votes_on
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import LabelVote, Vote
from mirage.people.votes.labels import AuditItem
from mirage.people.votes.queue import VoteItem, next_items
from mirage.people.votes.stage import vote_pool, votes_that_count
from mirage.store import records
from mirage.store.arena import Arena
from mirage.store.export import export_rows

SYSTEMS = ("zq-alpha", "zq-beta", "zq-gamma")


@pytest.fixture
def arena(tmp_path: Path, home: Path) -> Arena:
    """Hostile texts with passages, and a judge whose winner sometimes depends on the order."""
    rows = {"queries": [], "passages": [], "answers": [], "judgments": []}
    for k in range(16):
        query, payload = f"q{k:02d}", HOSTILE[k % len(HOSTILE)]
        rows["queries"].append(make_query("te", query, None, f"query {k}? {payload}"))
        rows["passages"].append(schema.Passage("te", query, f"{k}#1", 1, f"title {payload}", f"=1+{k}", True))
        rows["answers"] += [
            make_answer("te", query, system, f"=cmd {payload} {'نص' * s} {s}") for s, system in enumerate(SYSTEMS)
        ]
        rows["judgments"] += [
            make_judgment("te", query, "zq-judge", *pair, "A" if pair == (a, b) or k % 2 else "B")
            for a, b in itertools.combinations(SYSTEMS, 2)
            for pair in ((a, b), (b, a))
        ]
    return write_arena(tmp_path / "sent", rows)


def sheet(arena: Arena, path: Path, words: str = "A,B,tie,both_bad,skip", **options: object) -> Path:
    """Write a ballot, filled in with these words in turn."""
    given = words.split(",")
    rows = battle_ballot(Votes(), arena, "te", **{"voter": "amina", "n": 5} | options).to_pylist()  # type: ignore[arg-type]
    for row, word in zip(rows, given, strict=False):
        row["vote"] = word or None
    export_rows(schema.from_rows(BallotRow, [BallotRow(**row) for row in rows]), path)
    return path


@pytest.mark.parametrize("name", ["b.csv", "b.jsonl", "b.parquet"])
def test_votes_come_back_as_those_of_the_queue_and_twice_is_once(arena: Arena, tmp_path: Path, name: str) -> None:
    items = next_items(vote_pool(arena, "te"), voter="amina", n=5)
    path = sheet(arena, tmp_path / name)
    assert b"zq-" not in path.read_bytes()
    with Votes() as database:
        assert import_ballot(database, path, arena)[:2] == (5, 5)
        assert import_ballot(database, path, arena)[:2] == (5, 0)
        found = votes_on(arena, database.rows(Vote))
    assert [row.vote for row in found.counting] == ["A", "B", "tie", "both_bad", "skip"]
    facts = ("query_id", "system_a", "system_b", "control", "why", "inclusion")
    assert [[getattr(row, fact) for fact in facts] for row in found.counting] == [
        [asdict(item)[fact] for fact in facts] for item in items
    ]
    assert not found.notes()
    following = battle_ballot(Votes(), arena, "te", voter="amina", n=5).to_pylist()
    assert {row["item"] for row in following}.isdisjoint(line.value["item"] for line in records.records(path))


def test_copies_are_of_whoever_writes_a_name_and_empty_rows_are_left_out(arena: Arena, tmp_path: Path) -> None:
    with Votes() as database:
        for voter in ("amina", "ravi"):
            rows = battle_ballot(Votes(), arena, "te", voter=None, n=5).to_pylist()
            assert {row["voter"] for row in rows} == {None}
            rows[0] |= {"vote": "A", "voter": voter}
            path = tmp_path / f"{voter}.jsonl"
            export_rows(schema.from_rows(BallotRow, [BallotRow(**row) for row in rows]), path)
            assert import_ballot(database, path, arena)[:2] == (1, 1)
        first, second = votes_on(arena, database.rows(Vote)).counting
    assert first.item == second.item
    assert {first.voter, second.voter} == {"amina", "ravi"}


def test_battles_and_labels_share_a_sheet_in_any_order(arena: Arena, tmp_path: Path) -> None:
    battles, labels = (
        battle_ballot(Votes(), arena, "te", voter="amina", n=3),
        ballot(Votes(), arena, [AuditItem("te", "q00")], "amina"),
    )
    words = zip(battles.to_pylist() + labels.to_pylist(), ("A", "B", "skip", "no"), strict=True)
    rows = [row | {"vote": word} for row, word in words]
    path = tmp_path / "b.jsonl"
    write_jsonl(path, *(dict(reversed(row.items())) for row in reversed(rows)))
    with Votes() as database:
        assert [import_ballot(database, path, arena)[:2] for _ in range(2)] == [(4, 4), (4, 0)]
        assert (len(database.rows(Vote)), len(database.rows(LabelVote))) == (3, 1)


def another_voter(row: dict[str, Any], _: VoteItem, __: Arena) -> None:
    row["voter"] = "ravi"


def no_proof(row: dict[str, Any], _: VoteItem, __: Arena) -> None:
    row["proof"] = None


def garbage(row: dict[str, Any], _: VoteItem, __: Arena) -> None:
    row["proof"] = f"{row['proof']}\u00e9"


def another_draw(row: dict[str, Any], _: VoteItem, arena: Arena) -> None:
    """The proof of another battle, drawn for the same voter."""
    other = battle_ballot(Votes(), arena, "te", voter="amina", n=9).to_pylist()[-1]
    row["proof"] = other["proof"]


def another_key(row: dict[str, Any], item: VoteItem, arena: Arena) -> None:
    """Somebody with the program and the arena, but not the key, draws this very item for this very voter."""
    with Votes(f"sqlite:///{arena.path.parent / 'mine.sqlite'}") as mine:
        (forged,) = ballot(mine, arena, [item], "amina").to_pylist()
    assert row["item"] == forged["item"]
    row["proof"] = forged["proof"]


def changed_item(**changes: Any) -> Callable[[dict[str, Any], VoteItem, Arena], None]:
    def forge(row: dict[str, Any], item: VoteItem, arena: Arena) -> None:
        if changes.get("swapped"):
            other = replace(item, system_a=item.system_b, system_b=item.system_a)
        else:
            other = replace(item, **changes)
        with Votes(f"sqlite:///{arena.path.parent / 'mine.sqlite'}") as mine:
            (forged,) = ballot(mine, arena, [other], "amina").to_pylist()
        assert row["item"] != forged["item"]
        row["item"] = forged["item"]

    return forge


FORGERIES = {
    "another voter": another_voter,
    "no proof, as before ballots had one": no_proof,
    "no text of a proof": garbage,
    "another draw": another_draw,
    "another key": another_key,
    "another probability": changed_item(control=True, why="random", inclusion=0.5),
    "another reason": changed_item(control=False, why="flipped", inclusion=1.0),
    "the other order": changed_item(swapped=True),
    "never drawn": changed_item(control=False, why="filler", inclusion=None),
}


@pytest.mark.parametrize("case", FORGERIES)
def test_pitfall_235_a_row_that_was_not_drawn_for_its_voter_is_an_opinion(
    arena: Arena, tmp_path: Path, case: str
) -> None:
    path = sheet(arena, tmp_path / "b.jsonl", "A,A,A,A,A")
    rows = [line.value for line in records.records(path)]
    items = next_items(vote_pool(arena, "te"), voter="amina", n=5)
    of_random = case in ("another reason", "never drawn")
    place = next(k for k, item in enumerate(items) if (item.why == "random") == of_random)
    FORGERIES[case](rows[place], items[place], arena)
    write_jsonl(path, *rows)
    with Votes() as database:
        assert import_ballot(database, path, arena) == (5, 5, 1, 0, 0)
        assert import_ballot(database, path, arena)[:2] == (5, 0), "a replay adds nothing"
        found = votes_on(arena, database.rows(Vote))
        (opinion,) = found.opinions
        assert (opinion.control, opinion.why, opinion.inclusion) == (False, "opinion", None)
        assert [row.proof for row in found.counting] == ["voter"] * 4
        assert opinion not in votes_that_count(arena, database.rows(Vote))
        assert any("1 opinion" in line for line in found.notes())
        mended = sheet(arena, tmp_path / "c.jsonl", "B,B,B,B,B")
        assert import_ballot(database, mended, arena).opinions == 0
        import_ballot(database, path, arena)
        later = {row.item: row.vote for row in votes_on(arena, database.rows(Vote)).counting}
        assert later[opinion.item] == "B", "no opinion takes the place of a vote"


def test_rows_may_be_sorted_and_a_ballot_for_anybody_proves_no_person(arena: Arena, tmp_path: Path) -> None:
    path = sheet(arena, tmp_path / "b.jsonl", "A,A,A,A,A", voter=None)
    rows = [line.value | {"voter": "ravi"} for line in records.records(path)]
    write_jsonl(path, *reversed(rows))
    with Votes() as database:
        imported = import_ballot(database, path, arena)
        assert imported == (5, 5, 0, 5, 0)
        assert any("person not proved" in line for line in imported.lines())
        found = votes_on(arena, database.rows(Vote))
    assert len({row.session for row in found.counting}) == 1, "the draw"
    assert any("person not proved" in line for line in found.notes())


def test_an_audit_that_was_not_drawn_corrects_no_label(arena: Arena, tmp_path: Path) -> None:
    with Votes(f"sqlite:///{tmp_path / 'mine.sqlite'}") as mine, Votes() as database:
        forged, drawn = (ballot(db, arena, [AuditItem("te", "q00")], "amina").to_pylist() for db in (mine, database))
        for rows, n in ((forged, 0), (drawn, 1)):
            path = tmp_path / f"{n}.jsonl"
            path.write_text(json.dumps(rows[0] | {"vote": "no"}), "utf-8")
            import_ballot(database, path, arena)
            assert len(votes_on(arena, database.rows(LabelVote)).counting) == n


def test_two_votes_on_one_item_are_refused_and_a_sheet_sent_again_is_told(arena: Arena, tmp_path: Path) -> None:
    path, changed = (sheet(arena, tmp_path / name, words) for name, words in (("a.jsonl", "A,A"), ("b.jsonl", "A,B")))
    rows = [line.value for line in records.records(path)]
    double = tmp_path / "double.jsonl"
    with Votes() as database:
        for more, n in ((rows[1] | {"vote": "B"}, 0), (rows[1], 2)):
            write_jsonl(double, *rows[:2], more)
            if not n:
                with pytest.raises(BadInput, match=r"amina has another vote .*double\.jsonl:2\n.*double\.jsonl:3"):
                    import_ballot(database, double, arena)
            else:
                assert import_ballot(database, double, arena)[:2] == (n, n)
            assert len(database.rows(Vote)) == n
        imported = import_ballot(database, changed, arena)
        assert (imported.new, imported.replaced) == (1, 1)
        assert any("1 vote replaced" in line for line in imported.lines())
        assert import_ballot(database, path, arena).new == 0, "a replay brings no earlier vote back"
        assert [row.vote for row in votes_on(arena, database.rows(Vote)).counting] == ["A", "B"]


def test_an_item_that_is_no_text_rejects_the_ballot(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text(
        r'{"item": "\ud800:1", "language": "en", "passages": "", "vote": "A", "voter": "amina"}', "utf-8"
    )
    with Votes() as database, pytest.raises(BadInput, match=r"b\.jsonl"):
        import_ballot(database, tmp_path / "b.jsonl", arena)


@pytest.mark.parametrize("words", ["A,maybe", "A,undo", ",,,,"])
def test_an_invalid_row_or_no_vote_rejects_the_ballot(arena: Arena, tmp_path: Path, words: str) -> None:
    with Votes() as database:
        with pytest.raises(BadInput, match=r"b\.jsonl"):
            import_ballot(database, sheet(arena, tmp_path / "b.jsonl", words), arena)
        assert database.rows(Vote) == []


def test_an_answer_that_changed_since_rejects_the_ballot(arena: Arena, tmp_path: Path) -> None:
    path = sheet(arena, tmp_path / "b.jsonl")
    answers = arena.read("answers").to_pylist()
    changed = [schema.Answer(**row | {"text": f"{row['text']} Indeed."}) for row in answers]
    with Votes() as database, pytest.raises(BadInput, match="draw it again"):
        import_ballot(database, path, add_rows(arena.path, answers=changed))
