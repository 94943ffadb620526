"""Copies of arenas between folders and addresses: whole, repeatable after a kill, and never onto something else."""

from __future__ import annotations

from pathlib import Path

import pytest
import small_arena
from pyarrow import fs

from mirage.errors import ArenaError, BadInput
from mirage.store import arena as arenas
from mirage.store import folders
from mirage.store.arena import Arena, is_arena, open_arena
from mirage.store.copies import copy_arena
from mirage.store.ledger import Ledger, ledger_path
from mirage.store.makers import makers_of


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    arena = small_arena.write(tmp_path / "arena")
    (arena.path / "makers.csv").write_text("system,maker\ngpt-4,OpenAI\n", encoding="utf-8")
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


def test_a_copy_that_was_killed_is_no_arena_and_is_completed_by_the_next(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, done = tmp_path / "copy", 0
    real = fs.copy_files

    def killed(*args: object, **options: object) -> None:
        nonlocal done
        done += 1
        if done > 2:
            raise KeyboardInterrupt
        real(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(fs, "copy_files", killed)
        with pytest.raises(KeyboardInterrupt):
            copy_arena(str(arena.path), str(target))
    assert not is_arena(target)
    assert any(target.rglob("*.parquet"))
    copy_arena(str(arena.path), str(target))
    arenas.check(open_arena(target))


def test_pitfall_189_a_killed_copy_is_completed_and_cleaned(arena: Arena, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    copy_arena(str(arena.path), str(target))
    (target / "manifest.json").unlink()  # it comes last
    old = next(iter(arena.manifest["tables"].values()))[0]["path"]
    (target / old).rename(target / Path(old).parent / "en-0123456789ab.parquet")
    copy_arena(str(arena.path), str(target))
    arenas.check(open_arena(target))
    assert {path.name for path in target.rglob("*.parquet")} == {path.name for path in arena.path.rglob("*.parquet")}
    (target / "manifest.json").unlink()
    (target / "outcomes" / "mine.parquet").write_bytes(b"x")
    with pytest.raises(ArenaError, match="other files"):
        copy_arena(str(arena.path), str(target))


def test_a_full_disk_leaves_no_arena_and_says_what_to_do(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fs, "copy_files", full)
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
    (tmp_path / "mine" / "thesis.txt").write_text("x", encoding="utf-8")
    with pytest.raises(ArenaError, match="other files"):
        copy_arena(str(arena.path), str(tmp_path / "mine"))
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_what_is_no_arena_is_not_copied(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="no arena"):
        copy_arena(str(tmp_path / "none"), str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


def test_an_address_of_an_unknown_kind_is_refused_without_its_secrets(arena: Arena, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        copy_arena(str(arena.path), "gopher://name:password@host/arena")
    assert "password" not in caught.value.where
    with pytest.raises(BadInput, match="folder on this machine") as refused:
        folders.locate("s3://name:password@bucket/arena")
    assert "password" not in str(refused.value)
