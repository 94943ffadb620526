"""Votes in SQL: kept once, kept for good, by many at once, on both databases."""

import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from commands import refuses, run_python
from conftest import ROOT
from golden.cases import read_table
from hypothesis import given
from hypothesis import strategies as st
from postgres import Server
from votes_cases import every_store_is_closed, evidence, postgres, url, vote  # noqa: F401  # fixtures

from mirage.battles.decision import UNPARSED, VERDICTS
from mirage.errors import ArenaError, BadInput, UnknownName, Unreachable
from mirage.people.votes import database as votes_database
from mirage.people.votes.database import URL, Votes
from mirage.people.votes.kinds import Evidence, Row, Vote
from mirage.people.votes.rows import imported_votes, label, now, valid_votes, validate_row
from mirage.store import home


@pytest.fixture
def db(url: str) -> Votes:
    return Votes(url)


# --- kept, once -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [vote(note="ni sawa · 良い · 👍", seconds=0.1), evidence(sentence=3, vote="unclear")])
def test_what_is_submitted_is_what_is_read_by_another_program(url: str, row: Row) -> None:
    assert Votes(url).submit(row) == row
    assert Votes(url).rows(type(row)) == [row]
    assert Votes(url).rows(Evidence if isinstance(row, Vote) else Vote) == []


def test_a_vote_sent_again_is_kept_once_and_as_it_was_first(db: Votes) -> None:
    first = vote(vote="A")
    assert db.submit(first) == db.submit(first) == first
    assert db.submit(dataclasses.replace(first, vote="B", time=now())) == first, "two keys pressed at once"
    assert db.rows(Vote) == [first]


def test_an_id_of_another_vote_is_refused(db: Votes) -> None:
    first = db.submit(vote())
    for other in ({"voter": "juma"}, {"query_id": "8"}, {"arena": "other"}):
        with pytest.raises(BadInput, match="another vote"):
            db.submit(dataclasses.replace(first, **other))
    assert db.rows(Vote) == [first]


def test_undo_adds_a_row_that_points_at_the_vote_and_twice_is_once(db: Votes) -> None:
    first, second = db.submit(vote()), db.submit(vote(query_id="8"))
    db.append([vote(vote_id=f"undo-{first.vote_id}", vote="skip", query_id="8", proof="none")], signatures=[None])
    back = db.undo(Vote, first.vote_id, voter="amina")
    assert (back.vote, back.undoes, back.item) == ("undo", first.vote_id, first.item)
    assert db.undo(Vote, first.vote_id, voter="amina") == back
    log = [row for row in db.rows(Vote) if row.proof != "none"]
    assert sorted(log, key=lambda r: r.vote_id) == sorted([first, second, back], key=lambda r: r.vote_id)
    assert valid_votes(log) == [second]
    again = db.submit(vote(vote="B"))
    assert [row for row in valid_votes(db.rows(Vote)) if row.proof != "none"] == [second, again]


def test_only_ones_own_vote_can_be_taken_back(db: Votes) -> None:
    first = db.submit(vote())
    back = db.undo(Vote, first.vote_id, voter="amina")
    for name, voter in ((first.vote_id, "juma"), ("nothing", "amina"), (back.vote_id, "amina")):
        with pytest.raises(BadInput):
            db.undo(Vote, name, voter=voter)
    assert len(db.rows(Vote)) == 2


def test_parts_of_the_log_and_the_key_for_caches(db: Votes) -> None:
    rows = [db.submit(vote(arena=a, language=c, voter=v)) for a in ("x", "y") for c in ("sw", "te") for v in ("p", "q")]
    assert db.rows(Vote, language="te") == [row for row in rows if row.language == "te"]
    assert db.rows(Vote, language="te", voter="q") == [rows[3], rows[7]]
    assert tuple(db.version().values()) == (8, 0, 0, 0)
    db.submit(evidence(arena="x"))
    db.undo(Vote, rows[0].vote_id, voter="p")
    assert tuple(db.version().values()) == (9, 1, 0, 0)


# --- what is not taken ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"language": "xx"},
        {"vote": "C"},
        {"vote": "undo"},
        {"undoes": "other"},
        {"voter": "  "},
        {"voter": "x" * 401},
        {"note": "x" * 4_001},
        {"query_id": "a\0b"},
        {"arena": "\ud800"},
        {"system_b": "mine"},
        {"seconds": -1.0},
        {"seconds": float("nan")},
        {"seconds": True},
        {"control": 1},
        {"time": "yesterday"},
        {"time": "9999-12-31T23:59:59.000000Z"},
        {"time": "1999-12-31T23:59:59.000000Z"},
        {"time": "2026-02-30T12:00:00.000000Z"},
        {"time": "2026-11-21T05:13:28.250000"},
        {"time": "2126-11-29T00:00:00.000000Z"},
        {"voter": "ami\u200bna"},
        {"voter": "ami\u202ena"},
        {"voter": "ami\x1bna"},
        {"system_a": "mi\u2066ne"},
        {"query_id": 7},
        {"query_id": None},
        {"inclusion": 0.0},
        {"inclusion": 1.5},
    ],
    ids=str,
)
def test_a_vote_that_is_not_sound_is_refused_before_anything_is_opened(tmp_path: Path, wrong: dict[str, Any]) -> None:
    file = tmp_path / "none.sqlite"
    with pytest.raises(BadInput):
        Votes(f"sqlite:///{file}").submit(vote(**wrong))
    assert not file.exists()


def test_an_unknown_choice_names_the_valid_ones() -> None:
    with pytest.raises(UnknownName, match="vote 'both bad'") as caught:
        validate_row(vote(vote="both bad"))
    assert "both_bad" in str(caught.value)


def test_a_note_keeps_what_a_database_can_keep(db: Votes) -> None:
    stored = db.submit(vote(note=" a\0b\ud800 <script>$1%s'; DROP TABLE mirage_vote --\u202e "))
    assert stored.note == "a\N{REPLACEMENT CHARACTER}b? <script>$1%s'; DROP TABLE mirage_vote --\u202e"
    assert db.rows(Vote) == [stored]


@given(note=st.text(max_size=200), voter=st.text(min_size=1, max_size=100))
def test_a_row_once_checked_is_sound_or_refused(note: str, voter: str) -> None:
    try:
        row = validate_row(vote(note=note, voter=voter))
    except BadInput:
        return
    assert validate_row(row) == row
    (row.note or "").encode()
    assert "\0" not in row.voter + (row.note or "")


@pytest.mark.parametrize("address", ["nonsense", "mysql://h/d", "sqlite://", "sqlite:///:memory:", "http://[::1"])
def test_an_address_that_keeps_no_votes_is_refused_with_an_example(address: str) -> None:
    with refuses(BadInput, r"cannot be stored|not a database URL", do="postgresql://"):
        Votes(address)


def test_the_environment_names_the_database_else_it_is_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "new" / "home"))
    monkeypatch.delenv(URL, raising=False)
    Votes().submit(vote())
    assert home.votes_file() == tmp_path / "new" / "home" / "votes.sqlite"
    beside = list(home.votes_file().parent.glob("votes.sqlite*"))
    assert {file.stat().st_mode & 0o777 for file in beside} == {0o600}, "nobody else on the machine reads them"
    assert len(Votes(f"sqlite:///{home.votes_file()}").rows(Vote)) == 1
    monkeypatch.setenv(URL, f"sqlite:///{tmp_path / 'other.sqlite'}")
    assert Votes().rows(Vote) == []
    assert (tmp_path / "other.sqlite").stat().st_mode & 0o777 == 0o600, "the key is in it"


def test_a_password_is_never_shown(postgres: Server) -> None:
    store = Votes(postgres.url("nowhere"))
    with pytest.raises(Unreachable) as caught:
        store.rows(Vote)
    assert "secret" not in str(caught.value)
    assert "nowhere" in caught.value.where


# --- export and import ------------------------------------------------------------------------------------------------


def test_a_log_that_is_appended_elsewhere_is_the_same_log_and_twice_is_once(db: Votes, tmp_path: Path) -> None:
    first = db.submit(vote())
    db.submit(vote(query_id="8"))
    db.undo(Vote, first.vote_id, voter="amina")
    log = db.rows(Vote)
    other = Votes(f"sqlite:///{tmp_path / 'other.sqlite'}")
    assert other.append(log) == 3
    assert other.append(log) == 0
    assert other.rows(Vote) == log
    assert db.append(list(reversed(log))) == 0


@pytest.mark.parametrize(*read_table("wrong_votes"))
def test_rows_are_appended_all_or_none_and_the_wrong_one_is_named(
    db: Votes, wrong: dict[str, Any], message: str
) -> None:
    db.submit(vote(vote_id="there"))
    rows = [vote(vote_id="first"), vote(**wrong), vote()]
    with refuses(BadInput, message, where="f:2"):
        db.append(rows, ["f:1", "f:2", "f:3"])
    assert [row.vote_id for row in db.rows(Vote)] == ["there"]


# --- many at once, and killed -----------------------------------------------------------------------------------------

VOTERS = """
import dataclasses, itertools, os, sys, time
from mirage import errors
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Vote
from mirage.people.votes.rows import now
about = {"arena": "sample", "language": "sw", "query_id": "", "system_a": "a", "system_b": "b", "voter": ""}
row = Vote(vote_id="", time=now(), vote="A", control=True, why="random", **about)
if "postgresql" in sys.argv[1]:
    import psycopg
warm = Votes("sqlite:///" + sys.argv[2])    # everything is loaded before the voters part
warm.submit(dataclasses.replace(row, vote_id="w", query_id="w", voter="w"))
warm.close()
for n in range(50):
    if os.fork() == 0:
        db = Votes(sys.argv[1])
        for k in itertools.count():
            mine = dataclasses.replace(row, vote_id=f"{n}-{k}", voter=f"v{n}", query_id=str(k))
            while True:
                try:
                    kept = db.submit(mine)
                    break
                except errors.Unreachable:    # waited its turn in vain: as the page does, once more
                    pass
            os.write(1, (kept.vote_id + "\\n").encode())
            time.sleep(0.1)
os.close(1)
while True:
    os.wait()
"""


def test_fifty_voters_at_once_are_killed_and_every_acknowledged_vote_is_there(url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", VOTERS, url, str(tmp_path / "warm.sqlite")]
    program = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert program.stdout is not None
    acknowledged: list[str] = []
    try:
        while len({name.split("-")[0] for name in acknowledged}) < 50 or len(acknowledged) < 300:
            line = program.stdout.readline()
            assert line.endswith("\n"), "the voters ended by themselves"
            acknowledged.append(line.strip())
    finally:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
    acknowledged += [line.strip() for line in program.stdout if line.endswith("\n")]
    program.stdout.close()
    after = Votes(url)
    rows = after.rows(Vote)
    assert set(acknowledged) <= {row.vote_id for row in rows}
    assert len(rows) == len({row.vote_id for row in rows})
    assert len(rows) - len(acknowledged) <= 50, "at most one vote of each was kept and not yet acknowledged"
    assert after.submit(vote()), "no lock is left behind"
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert raw.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
        raw.close()


def test_threads_of_one_server_share_the_store_and_first_use_makes_the_tables_once(db: Votes) -> None:
    with ThreadPoolExecutor(20) as pool:
        stored = list(pool.map(lambda n: db.submit(vote(query_id=str(n), voter=f"v{n % 7}")), range(100)))
    assert sorted(stored, key=lambda r: (r.time, r.vote_id)) == db.rows(Vote)


def test_votes_of_an_earlier_version_stay_and_get_one_key(url: str) -> None:
    from sqlalchemy import text

    with Votes(url) as db:
        rows = [db.submit(vote(proof="voter")), db.submit(evidence())]
        with db._engine.connect().execution_options(mirage_write=True) as raw, raw.begin():
            for table in votes_database.vote_tables().values():
                raw.execute(text(f"ALTER TABLE {table.name} DROP COLUMN proof"))
            raw.execute(text("ALTER TABLE mirage_note DROP COLUMN seconds"))
            raw.execute(text("DROP TABLE mirage_key"))
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda _: tuple(Votes(url).keys()), range(8)))
    assert len(set(keys)) == len(keys[0]) == 1
    with Votes(url) as db:
        assert [*db.rows(Vote), *db.rows(Evidence)] == [dataclasses.replace(row, proof=None) for row in rows]
        assert db.submit(later := vote(query_id="8", proof="draw")) == later


def test_a_commit_is_flushed_to_the_disk(db: Votes) -> None:
    from sqlalchemy import text

    db.rows(Vote)
    ask = "SHOW synchronous_commit" if db._engine.dialect.name == "postgresql" else "PRAGMA synchronous"
    with db._engine.connect() as raw:
        assert raw.execute(text(ask)).scalar_one() in ("on", 2)


def test_postgresql_flushes_also_where_its_settings_say_otherwise(postgres: Server) -> None:
    import psycopg
    from sqlalchemy import text

    url = postgres.create("careless")
    with psycopg.connect(url, autocommit=True) as raw:
        raw.execute("ALTER DATABASE careless SET synchronous_commit = off")
    db = Votes(url)
    with db._engine.connect() as raw_db:
        assert raw_db.execute(text("SHOW synchronous_commit")).scalar_one() == "on"


# --- a database that goes away ----------------------------------------------------------------------------------------


def test_postgresql_that_goes_away_is_said_and_comes_back_without_a_restart(postgres: Server) -> None:
    db = Votes(postgres.create("comes_and_goes"))
    first, second = db.submit(vote()), vote(query_id="8")
    postgres.stop()
    try:
        for _ in range(2):
            with pytest.raises(Unreachable, match="cannot be reached") as caught:
                db.submit(second)
            assert "secret" not in str(caught.value)
            assert "MIRAGE_VOTES_URL" in caught.value.do
    finally:
        postgres.start()
    assert db.submit(second) == second, "the same vote with its id, the same object"
    assert db.rows(Vote) == [first, second]
    postgres.stop()
    postgres.start()
    assert db.submit(third := vote(query_id="9")) == third, "a connection that broke while nobody looked is no error"
    assert db.rows(Vote) == [first, second, third]


def test_a_sqlite_file_that_is_removed_takes_no_vote_into_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "votes.sqlite"
    db = Votes(f"sqlite:///{file}")
    db.submit(vote())
    for path in tmp_path.glob("votes.sqlite*"):
        path.unlink()
    stored = db.submit(vote(query_id="8"))
    assert Votes(f"sqlite:///{file}").rows(Vote) == [stored]


def test_a_folder_that_goes_away_is_said_and_comes_back_without_a_restart(tmp_path: Path) -> None:
    folder = tmp_path / "share"
    folder.mkdir()
    db = Votes(f"sqlite:///{folder / 'votes.sqlite'}")
    first, second = db.submit(vote()), vote(query_id="8")
    folder.rename(tmp_path / "elsewhere")
    with refuses(Unreachable, "unable to open", do="same id"):
        db.submit(second)
    (tmp_path / "elsewhere").rename(folder)
    assert db.submit(second) == second
    assert db.rows(Vote) == [first, second]


def test_a_file_that_another_program_holds_is_waited_for_and_then_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(votes_database, "PATIENCE", 0.2)
    file = tmp_path / "votes.sqlite"
    db, row = Votes(f"sqlite:///{file}"), vote()
    db.rows(Vote)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert db.rows(Vote) == [], "readers do not wait"
    with pytest.raises(Unreachable, match="locked"):
        db.submit(row)
    holder.execute("COMMIT")
    holder.close()
    assert db.submit(row) == row


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "votes.sqlite"
    file.write_bytes(b"a letter to my aunt" * 100)
    with refuses(Unreachable, "not a database", do="move the file away"):
        Votes(f"sqlite:///{file}").submit(vote())
    assert file.read_bytes() == b"a letter to my aunt" * 100


def test_votes_of_a_later_version_are_neither_read_nor_written(db: Votes) -> None:
    from sqlalchemy import text

    db.submit(vote())
    with db._engine.connect().execution_options(mirage_write=True) as raw, raw.begin():
        raw.execute(text("UPDATE mirage_format SET format = 99"))
    later = Votes(db._given)
    for work in (lambda: later.rows(Vote), lambda: later.submit(vote())):
        with pytest.raises(ArenaError, match="format 99"):
            work()


def test_a_full_disk_is_an_error_and_no_acknowledgement(tmp_path: Path) -> None:
    from sqlalchemy import event

    db = Votes(f"sqlite:///{tmp_path / 'votes.sqlite'}")
    stored = [db.submit(vote())]
    event.listen(db._engine, "begin", lambda c: c.exec_driver_sql("PRAGMA max_page_count = 20"))
    db.close()
    with refuses(Unreachable, "full", do="free space"):
        stored.extend(db.submit(vote(query_id=str(k), note="x" * 4_000)) for k in range(100))
    assert len(stored) > 1
    assert db.rows(Vote) == stored


def test_a_log_without_an_optional_column_is_read(tmp_path: Path) -> None:
    import csv

    from mirage.people.votes.stage import import_votes

    row = {name: "" if value is None else value for name, value in dataclasses.asdict(vote()).items()}
    del row["inclusion"]
    with (tmp_path / "v.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    with Votes(f"sqlite:///{tmp_path / 'votes.sqlite'}") as database:
        assert import_votes(database, Vote, tmp_path / "v.csv")[:2] == (1, 1)
        assert database.rows(Vote)[0].inclusion is None


# --- a person who leaves ----------------------------------------------------------------------------------------------


def test_who_is_taken_out_leaves_votes_that_count_and_nothing_that_names_them(url: str) -> None:
    with Votes(url) as db, Votes(url) as other:
        for number in range(3):
            db.submit(vote(query_id=str(number), voter="amina", note="I am amina", session="s"))
        kept = db.submit(vote(query_id="1", voter="bob"))
        undone = db.undo(Vote, db.rows(Vote, voter="amina")[0].vote_id, voter="amina")
        before, version = valid_votes(db.rows(Vote)), other.version()
        assert db.forget("amina") == 4
        after = valid_votes(other.rows(Vote))
        assert db.forget("amina") == 0
        assert other.version()["battles"] > version["battles"], "what was read before is read again"
        assert not any("amina" in str(row) for row in other.rows(Vote))
        names = {row.voter for row in after} - {"bob"}
        assert len(names) == 1, "one pseudonym: agreement between people stays"
        assert [(row.vote_id, row.vote) for row in after] == [(row.vote_id, row.vote) for row in before]
        assert undone.vote_id in {row.vote_id for row in db.rows(Vote)}
        assert kept in db.rows(Vote)


# --- before the first vote --------------------------------------------------------------------------------------------


def test_a_reader_without_votes_opens_no_database_and_makes_no_file_pitfall_168(tmp_path: Path) -> None:
    code = """
import sys
from mirage.people.votes.database import Votes
from mirage.people.votes.kinds import Vote
with Votes() as db:
    assert db.rows(Vote) == []
    print(tuple(db.version().values()), "sqlalchemy" in sys.modules, db.where)
"""
    output = run_python(code, MIRAGE_HOME=str(tmp_path), MIRAGE_VOTES_URL="")
    file = tmp_path / home.VOTES
    assert output.split("\n")[0] == f"(0, 0, 0, 0) False sqlite:///{file}"
    assert not file.exists()


@pytest.mark.usefixtures("home")
def test_a_vote_of_another_program_is_seen_by_one_that_saw_no_file() -> None:
    reader, writer = Votes(), Votes()
    assert tuple(reader.version().values()) == (0, 0, 0, 0)
    kept = writer.submit(vote())
    assert tuple(reader.version().values()) == (1, 0, 0, 0)
    assert reader.rows(Vote) == [kept]
    assert reader.where == writer.where


def test_every_verdict_that_decides_something_is_an_opinion_of_people() -> None:
    """A verdict that is added to the table must not become no opinion where people give it."""
    columns = {"language": "en", "query_id": "q", "judge": "human", "system_a": "a", "system_b": "b", "person": True}
    for word, expected in VERDICTS.items():
        rows = pa.Table.from_pylist([columns | {"verdict": word, "voter": "ann"}])
        (vote,) = imported_votes(rows, "arena")
        assert label(vote) == (None if expected == UNPARSED else expected)


@pytest.mark.parametrize("time", ["9999-99-99T99:99:99.000000Z", "2026-02-30T00:00:00.000000Z", "2026-01-01T00:00:00Z"])
def test_a_time_that_is_none_is_refused(time: str) -> None:
    with pytest.raises(BadInput, match="time"):
        validate_row(dataclasses.replace(vote(), time=time))
