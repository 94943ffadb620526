"""The ledger of replies: nothing that was paid for is lost, and it is never in the way of the arena beside it."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from arena_writer import make_query, write_arena
from commands import refuses

from mirage.errors import ArenaError
from mirage.store import arena as arenas
from mirage.store.ledger import NAME as LEDGER
from mirage.store.ledger import Ledger, ledger_key

REQUEST = {"model": "tiny", "messages": [{"role": "user", "content": "Où est l'Ätna? 火山 🌋"}]}
REPLY = {"text": "En Sicile.\n\u2028", "status": "ok", "reason": None}


def test_what_is_put_is_found_again_by_any_reader(tmp_path: Path) -> None:
    key = ledger_key(REQUEST)
    with Ledger(tmp_path / LEDGER) as ledger:
        assert ledger.get(key) is None
        assert ledger.put(key, REQUEST, REPLY)
        assert not ledger.put(key, REQUEST, {"text": "another"}), "the first reply stays"
        with Ledger(tmp_path / LEDGER, read_only=True) as reader:
            assert reader.get(key) == REPLY
            assert reader.request(key) == REQUEST
            with pytest.raises(ArenaError, match="readonly"):
                reader.put("other", REQUEST, REPLY)
    with Ledger(tmp_path / LEDGER, read_only=True) as reader:
        assert reader.get(key) == REPLY


def test_many_keys_are_looked_up_at_once(tmp_path: Path) -> None:
    with Ledger(tmp_path / LEDGER) as ledger:
        for i in range(0, 1_203, 3):
            ledger.put(f"k{i}", REQUEST, REPLY)
        assert ledger.have(f"k{i}" for i in range(1_203)) == {f"k{i}" for i in range(0, 1_203, 3)}
        assert ledger.have([]) == set()


def test_the_order_of_a_request_does_not_change_its_key() -> None:
    assert ledger_key({"a": 1, "b": [1, 2]}) == ledger_key({"b": [1, 2], "a": 1})
    assert ledger_key({"a": 1, "b": [1, 2]}) != ledger_key({"a": 1, "b": [2, 1]})


def test_pitfall_9_a_reply_outlives_the_program_that_is_killed_right_after_it(tmp_path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from mirage.store.ledger import Ledger
ledger = Ledger(Path({str(tmp_path / LEDGER)!r}))
for i in range(100):
    ledger.put(f"k{{i}}", {{}}, {{"text": str(i)}})
os.kill(os.getpid(), signal.SIGKILL)
"""
    result = subprocess.run([sys.executable, "-c", code], check=False)
    assert result.returncode == -signal.SIGKILL
    with Ledger(tmp_path / LEDGER) as ledger:
        assert len(ledger.have(f"k{i}" for i in range(100))) == 100
        assert ledger.get("k99") == {"text": "99"}


def test_two_programs_write_into_one_ledger(tmp_path: Path) -> None:
    with Ledger(tmp_path / LEDGER) as first, Ledger(tmp_path / LEDGER) as second:
        for i in range(50):
            assert first.put(f"a{i}", REQUEST, REPLY)
            assert second.put(f"b{i}", REQUEST, REPLY)
        assert first.get("b49") == second.get("a49") == REPLY


def test_a_full_disk_gives_a_clear_error_and_keeps_what_was_there(tmp_path: Path) -> None:
    with Ledger(tmp_path / LEDGER) as ledger:
        ledger.put("before", REQUEST, REPLY)
        ledger._db.execute("PRAGMA max_page_count = 3")
        with pytest.raises(ArenaError, match="full") as caught:
            ledger.put("after", REQUEST, {"text": "x" * 100_000})
        assert ledger.get("before") == REPLY
        assert ledger.get("after") is None
    assert "free space" in caught.value.do
    assert str(tmp_path / LEDGER) in str(caught.value)


def test_a_folder_that_may_not_be_written_gives_a_clear_error(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        target = Path("/proc/arena")  # where even root may not write
    else:
        tmp_path.chmod(0o500)
        target = tmp_path / "a"
    with refuses(ArenaError, "cannot be used", do="permissions"):
        Ledger(target / LEDGER)


def test_a_ledger_that_is_absent_is_not_made_by_a_reader(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="cannot be used"):
        Ledger(tmp_path / LEDGER, read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_ledger_or_of_another_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a shopping list, long enough to be taken for something else " * 20, "utf-8")
    with refuses(ArenaError, "not a database", do="move the file away"):
        Ledger(tmp_path / "text")
    for name, statements in {
        "foreign": ["CREATE TABLE songs (title TEXT)"],
        "later": ["CREATE TABLE calls (key TEXT)", "PRAGMA user_version = 2"],
    }.items():
        db = sqlite3.connect(tmp_path / name)
        for statement in statements:
            db.execute(statement)
        db.close()
        with pytest.raises(ArenaError, match="the ledger has format"):
            Ledger(tmp_path / name)
        db = sqlite3.connect(tmp_path / name)
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master")]
        db.close()
        assert len(tables) == 1


def test_a_ledger_does_not_make_its_folder_foreign_to_the_arena(tmp_path: Path) -> None:
    tables = {"queries": [make_query("en", "q0", None, "Why?")]}
    with Ledger(tmp_path / "a" / LEDGER) as ledger:
        ledger.put("k", REQUEST, REPLY)
        # The journal files lie beside it now, as after a kill.
        assert len(list((tmp_path / "a").iterdir())) == 3
        assert arenas.check(write_arena(tmp_path / "a", tables))
        write_arena(tmp_path / "a", tables)
        assert ledger.get("k") == REPLY
    with Ledger(tmp_path / "a" / LEDGER, read_only=True) as reader:
        assert reader.get("k") == REPLY
