"""Copies of arenas between folders and addresses: whole, repeatable after a kill, and never onto something else."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import small_arena

from mirage.errors import ArenaError
from mirage.store import arena as arenas
from mirage.store import home, owned
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.copies import copy_arena
from mirage.store.ledger import Ledger, ledger_path
from mirage.store.makers import makers_of
from mirage.store.upsert import by_key, upsert


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    arena = small_arena.write(tmp_path / "arena")
    (arena.path / "makers.csv").write_text("system,maker\ngpt-4,OpenAI\n", "utf-8")
    with Ledger(ledger_path(arena.path)):
        pass
    return arena


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_copy_is_the_same_arena_without_its_ledger(arena: Arena, tmp_path: Path, scheme: str) -> None:
    target = tmp_path / "there" / "copy"
    copy_arena(f"{scheme}{arena.path}", f"{scheme}{target}")
    copied = open_arena(target)
    arenas.check(copied)
    assert copied.version == arena.version
    assert makers_of(copied) == makers_of(arena)
    assert not ledger_path(target).exists()
    copy_arena(str(arena.path), f"{scheme}{target}")
    assert open_arena(target).version == arena.version


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def replace(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Put another thing in the place of a file."""

    def put(path: Path) -> None:
        path.unlink()
        make(path)

    return put


def bind(path: Path) -> None:
    """Make a socket; its address may be short alone."""
    with pytest.MonkeyPatch.context() as patch, socket.socket(socket.AF_UNIX) as made:
        patch.chdir(path.parent)
        made.bind(path.name)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (flip, "SHA-256"),
        (Path.unlink, "missing"),
        (replace(os.mkfifo), "no regular file"),
        (replace(Path.mkdir), "no regular file"),
        (replace(bind), "no regular file"),
        (replace(lambda path: path.symlink_to("/dev/zero")), "outside"),
        (replace(lambda path: path.symlink_to("/etc/passwd")), "outside"),
    ],
)
def test_pitfall_236_a_file_that_is_damaged_or_none_is_refused_and_nothing_left(
    arena: Arena, tmp_path: Path, harm: Callable[[Path], object], says: str
) -> None:
    harm(arena.path / [*arena.manifest["tables"].values()][-1][-1]["path"])
    with pytest.raises(ArenaError, match=says):
        copy_arena(str(arena.path), str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


def test_a_copy_over_itself_mends_its_files_and_a_damaged_original_harms_none(arena: Arena, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    copy_arena(str(arena.path), str(target))
    file = next(iter(arena.manifest["tables"].values()))[0]["path"]
    flip(target / file)
    copy_arena(str(arena.path), str(target))
    flip(arena.path / file)
    copy_arena(str(arena.path), str(target))
    arenas.check(open_arena(target))


@pytest.mark.parametrize("ours", [True, False])
def test_pitfall_237_others_read_neither_ledger_nor_copies_nor_the_users_folder(
    ours: bool, arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if ours:
        monkeypatch.delenv("MIRAGE_HOME")
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    else:
        monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "data" / "home"))
    before = os.umask(0o022)
    try:
        owner, table = owned.owner_folder("login:amina"), next(iter(arena.tables))
        owner.mkdir(parents=True)  # as earlier versions made it, and a ledger
        ledger_path(arena.path).chmod(0o644)
        copy_arena(str(arena.path), str(owner / "copy"))
        upsert(owner / "copy", {table: by_key(table, arena.read(table).slice(1))}, made_by="a test")
        with Ledger(ledger_path(owner / "copy")), Ledger(ledger_path(arena.path)):
            assert home.home_folder().stat().st_mode & 0o777 == (0o700 if ours else 0o755), "theirs may be anything"
            made = [path for path in home.home_folder().rglob("*") if path.name != ".lock"]
            assert {path.stat().st_mode & 0o777 for path in made if path.is_file()} == {0o600}
            assert {path.stat().st_mode & 0o777 for path in (owner, owner.parent)} == {0o700}
        assert ledger_path(arena.path).stat().st_mode & 0o777 == 0o600
        copy_arena(str(arena.path), str(tmp_path / "copy"))
        assert {path.stat().st_mode & 0o777 for path in (tmp_path / "copy").rglob("*.*")} == {0o600}
    finally:
        os.umask(before)


def test_a_full_disk_leaves_no_arena_and_says_what_to_do(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "touch", full)
    with pytest.raises(ArenaError, match="No space left") as caught:
        copy_arena(str(arena.path), str(tmp_path / "copy"))
    assert caught.value.do
    assert not is_arena(tmp_path / "copy")


def test_another_arena_or_other_files_are_not_written_over(arena: Arena, tmp_path: Path) -> None:
    other = small_arena.write(tmp_path / "other", tables=("judgments",))
    with pytest.raises(ArenaError, match="other files"):
        copy_arena(str(arena.path), str(other.path))
    assert open_arena(other.path).version == other.version
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x", "utf-8")
    with pytest.raises(ArenaError, match="other files"):
        copy_arena(str(arena.path), str(tmp_path / "mine"))
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_what_is_no_arena_is_not_copied(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="no arena"):
        copy_arena(str(tmp_path / "none"), str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()
