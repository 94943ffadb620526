"""Who may do what: a file of roles, and what the pages then offer."""

from pathlib import Path

import pytest
from page_spot_check_cases import folder, log_in, open_page, rows  # noqa: F401  # a fixture

from mirage.errors import BadInput
from mirage.store.roles import ROLES, roles
from pages import html, page_text

FILE = 'default = "reader"\nvoters = ["amina", "Zoe\\u0308"]\ncurators = ["李小龙"]\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "roles.toml"
    path.write_text(FILE, "utf-8")
    monkeypatch.setenv(ROLES, str(path))
    return path


def test_without_a_file_everybody_may_do_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ROLES, raising=False)
    assert roles().permit("", "curator")


def test_a_role_includes_the_lesser_ones_and_names_are_those_that_were_meant(file: Path) -> None:
    current = roles()
    assert [current.permit("李小龙", role) for role in ("reader", "voter", "curator")] == [True] * 3  # type: ignore[arg-type]
    assert [current.permit("Zoë", role) for role in ("reader", "voter", "curator")] == [True, True, False]  # type: ignore[arg-type]
    assert [current.permit("stranger", role) for role in ("reader", "voter")] == [True, False]  # type: ignore[arg-type]
    assert not current.permit("", "voter"), "nobody is named by no name"


def test_a_change_of_the_file_counts_at_once(file: Path) -> None:
    assert not roles().permit("bob", "voter")
    file.write_text(FILE.replace('"amina"', '"amina", "bob"'), "utf-8")
    assert roles().permit("bob", "voter")


@pytest.mark.parametrize(
    "text",
    ["default =", 'default = "king"', 'voter = ["a"]', 'voters = "a"', 'voters = ["a"]\ncurators = ["a"]', "\xff"],
)
def test_a_file_that_is_not_understood_is_refused_by_its_name(file: Path, text: str) -> None:
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadInput) as caught:
        roles()
    assert str(file) in caught.value.where
    assert caught.value.do


def test_a_file_that_is_gone_lets_nobody_vote(file: Path, arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.unlink()
    log_in(monkeypatch, "amina")
    page = open_page(voter="")
    assert 'mg-sides mg-blind"' not in html(page)


def test_a_voter_votes_and_a_reader_reads(file: Path, arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log_in(monkeypatch, "bob")
    page = open_page(voter="")
    assert 'mg-sides mg-blind"' not in html(page)
    assert "voter role" in page_text(page)
    log_in(monkeypatch, "amina")
    assert 'mg-sides mg-blind"' in html(open_page(voter=""))
    assert rows() == []
