"""What readers bring goes into copies of their own: bounded, shown to nobody else, deleted on request."""

import json
import os
from pathlib import Path

import pytest
from arena_writer import read_rows
from commands import refuses
from conftest import ROOT
from own_system import read_system
from page_spot_check_cases import log_in
from streamlit.testing.v1 import AppTest

from mirage import open_arena
from mirage.errors import ArenaError, BadInput
from mirage.pipeline import adding
from mirage.store import arena as arenas
from mirage.store import copies, home, owned, writing
from mirage.store.arena import Arena, is_arena
from mirage.store.writing import Provenance

PAGE = ROOT / "pages" / "your_model.py"
ANNA, SESSION = "login:Ánna/..", "session:0a1b"


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def arena(tmp_path: Path) -> Arena:
    """An arena that somebody else made of their own data: its label invites no writing."""
    copy = copies.copy(open_arena("sample"), tmp_path / "given" / "theirs")
    made_by = Provenance("a test", settings={"baseline/bm25": owned.ADDED})
    return writing.write(copy.path, {"answers": copy.read("answers")}, label=adding.OWN, made_by=made_by)


def everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def bring(arena: Arena, owner: str, folder: Path, *, text: str = "An answer.") -> Path:
    """Do what the page does with an upload."""
    file = folder / "answers.jsonl"
    file.write_text(json.dumps({"language": "sw", "query_id": "sw-01", "text": text}) + "\n", "utf-8")
    into = owned.owner_folder(owner) / f"{arena.name}-own"
    base = open_arena(into) if is_arena(into) else arena
    owned.need_room(owner, base.size)
    return adding.add_systems(base, read_system(base, file, system="mine"), into).path


def test_an_upload_leaves_the_given_arena_as_it_was_whatever_its_label(tmp_path: Path, arena: Arena) -> None:
    before = everything(arena.path)
    first, second = (bring(arena, owner, tmp_path, text=owner) for owner in (ANNA, SESSION))
    assert everything(arena.path) == before
    assert first != second
    texts = {
        owner: [row["text"] for row in read_rows(path, "answers") if row["system"] == "mine"]
        for owner, path in ((ANNA, first), (SESSION, second))
    }
    assert texts == {ANNA: [ANNA], SESSION: [SESSION]}


def test_a_copy_is_its_owners_alone(tmp_path: Path, arena: Arena) -> None:
    path = bring(arena, ANNA, tmp_path)
    assert owned.owned_arenas(ANNA) == {"theirs-own": path}
    assert owned.owned_arenas(SESSION) == {}
    assert path.is_relative_to(home.home_folder() / "own")
    assert home.home_arenas() == {}
    with pytest.raises(ArenaError, match="not one of your copies"):
        owned.delete(SESSION, path)
    with pytest.raises(ArenaError, match="not one of your copies"):
        owned.delete(ANNA, arena.path)
    owned.delete(ANNA, path)
    assert owned.owned_arenas(ANNA) == {}
    assert not path.exists()
    arenas.check(arena)


def test_no_name_leads_out_of_the_folder_and_a_session_is_no_login() -> None:
    names = ("login:../../etc", "login:", "login:a\0b", "login:\ud800", "session:x", "login:" + "x" * 10_000, "x")
    folders = [owned.owner_folder(name) for name in names]
    assert len(set(folders)) == len(names)
    assert {folder.parent for folder in folders} == {home.home_folder() / "own"}
    assert owned.owner_folder("session:anna") != owned.owner_folder("login:anna")


def test_more_than_the_quota_is_refused_and_says_so(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_UPLOAD_MB", "1")
    with refuses(ArenaError, "1 MB", do="MIRAGE_UPLOAD_MB"):
        owned.need_room(ANNA, 1_000_001)
    owned.need_room(ANNA, 999_999)
    owned.owner_folder(ANNA).mkdir(parents=True)
    (owned.owner_folder(ANNA) / "file").write_bytes(b"x" * 600_000)
    with pytest.raises(ArenaError, match="1 MB"):
        owned.need_room(ANNA, 600_000)
    owned.need_room(SESSION, 600_000)


def test_all_copies_together_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRAGE_UPLOAD_MB", "1")
    monkeypatch.setattr(owned, "_OWNERS", 2)
    for number in range(2):
        folder = owned.owner_folder(f"session:{number}")
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"x" * 900_000)
    with pytest.raises(ArenaError, match="all readers"):
        owned.need_room("session:3", 900_000)


@pytest.mark.parametrize("setting", ["0", "-1", "many", "1.5", "1e9"])
def test_a_quota_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setenv("MIRAGE_UPLOAD_MB", setting)
    with pytest.raises(BadInput, match="MIRAGE_UPLOAD_MB"):
        owned.quota()


def test_what_a_session_left_behind_goes_and_what_a_login_keeps_stays(tmp_path: Path, arena: Arena) -> None:
    login_copy, session_copy = bring(arena, ANNA, tmp_path), bring(arena, SESSION, tmp_path)
    modified = max(path.stat().st_mtime for path in session_copy.rglob("*"))
    owned.expire(now=modified + 3600)
    assert session_copy.is_dir()
    for path in (
        *login_copy.rglob("*"),
        *session_copy.rglob("*"),
        owned.owner_folder(SESSION),
        owned.owner_folder(ANNA),
        session_copy,
        login_copy,
    ):
        os.utime(path, (modified, modified))
    owned.expire(now=modified + owned.KEPT_HOURS * 3600 + 60)
    assert not session_copy.exists()
    assert login_copy.is_dir()


def test_the_page_says_where_an_upload_goes_how_long_and_how_much(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.path))
    monkeypatch.setenv("MIRAGE_UPLOAD_MB", "37")
    page = AppTest.from_file(PAGE, default_timeout=60)
    page.query_params["arena"] = "theirs"
    page.run()
    assert not page.exception
    captions = " ".join(caption.value for caption in page.caption)
    assert "37 MB" in captions
    assert f"{owned.KEPT_HOURS} hours" in captions
    assert not [button for button in page.button if button.key == "delete_own"], "what is given cannot be deleted"


def test_a_login_finds_its_copy_again_and_can_delete_it(
    tmp_path: Path, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_in(monkeypatch, "anna")
    monkeypatch.setenv("MIRAGE_ARENAS", str(arena.path))
    path = bring(arena, "login:anna", tmp_path)
    page = AppTest.from_file(PAGE, default_timeout=120)
    page.query_params["arena"] = "theirs-own"
    page.run()
    assert not page.exception
    assert page.selectbox(key="arena").value == "theirs-own"
    page.button(key="delete_own").click().run()
    assert not page.exception
    assert not path.exists()
    assert page.selectbox(key="arena").value != "theirs-own"
    log_in(monkeypatch, "bob")
    bring(arena, "login:anna", tmp_path)
    other = AppTest.from_file(PAGE, default_timeout=120).run()
    assert "theirs-own" not in other.selectbox(key="arena").options
