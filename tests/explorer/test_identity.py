"""Who votes: a verified name where a deployment asks for one, undo by whoever gave the vote, and known hosts only."""

import base64
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import browser
import pytest
from conftest import PATIENCE
from golden.cases import read_table
from page_spot_check_cases import folder, key, log_in, open_page, rows  # noqa: F401  # a fixture
from streamlit.testing.v1 import AppTest

from mirage.errors import BadInput
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.identity import LOGIN, claimed_name
from mirage.people.votes.kinds import Vote
from mirage.people.votes.rows import valid_votes
from pages import html, page_text


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


# Who may vote


def test_without_a_login_nobody_votes_where_a_login_is_required(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOGIN, "required")
    page = open_page(voter="")
    assert not page.text_input
    assert 'mg-sides mg-blind"' not in html(page)
    assert "Log in to vote" in page_text(page)
    log_in(monkeypatch, "amina")
    page = open_page(voter="")
    key(page, "1").click().run()
    assert [row.voter for row in rows()] == ["amina"]


def test_a_setting_that_is_not_understood_lets_nobody_vote(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LOGIN, "yes")
    page = open_page(voter="")
    assert 'mg-sides mg-blind"' not in html(page)
    assert LOGIN in page_text(page)
    assert not page.text_input


EMAIL = "zoe@example.org"
ISSUER = "https://login.example.org"


@pytest.mark.parametrize(*read_table("login_claims"))
def test_pitfall_237_no_id_of_a_provider_equals_an_address(claims: dict[str, Any], name: str) -> None:
    assert claimed_name({"iss": ISSUER} | claims) == name


# Who may take a vote back


def test_a_typed_name_does_not_take_back_the_votes_of_another_session(arenas: Path) -> None:
    first = open_page()
    key(first, "1").click().run()
    (stored_vote,) = rows()
    assert stored_vote.session
    other = open_page()
    assert "1 of 4 battles" in other.get("progress")[0].proto.text
    assert "Undo" not in labels(other)
    key(other, "2").click().run()
    key(other, "u").click().run()
    assert "Undo" not in labels(other), "only what the session itself gave"
    assert [row.vote_id for row in valid_votes(rows())] == [stored_vote.vote_id]
    with pytest.raises(BadInput, match="another session"):
        people.database().undo(Vote, stored_vote.vote_id, voter="amina", session=rows()[1].session)
    key(first, "u").click().run()
    assert not first.exception
    assert valid_votes(rows()) == []


def test_a_verified_name_takes_back_its_votes_from_any_session(arenas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log_in(monkeypatch, "amina")
    key(open_page(voter=""), "1").click().run()
    page = open_page(voter="")
    key(page, "u").click().run()
    assert not page.exception
    assert valid_votes(rows()) == []


# A real server, and requests byte by byte


def upgraded(url: str, host: str, origin: str | None) -> int:
    """The status with which the server answers a request for a WebSocket under a host's name."""
    parts = urlsplit(url)
    nonce = base64.b64encode(os.urandom(16)).decode()
    head = [
        "GET /_stcore/stream HTTP/1.1",
        f"Host: {host}",
        *([f"Origin: {origin}"] if origin else []),
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {nonce}",
        "Sec-WebSocket-Protocol: streamlit",
    ]
    assert parts.hostname
    assert parts.port
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as link:
        link.sendall("\r\n".join([*head, "", ""]).encode())
        answer = b""
        while b"\r\n" not in answer:
            part = link.recv(4096)
            assert part, "the server said nothing"
            answer += part
    return int(answer.split()[1])


@pytest.fixture(scope="module")
def explorer(module_path: Path) -> Iterator[tuple[str, Path]]:
    with browser.server(MIRAGE_HOME=str(module_path), MIRAGE_LOGIN="required") as url:
        yield url, module_path


def test_only_this_machines_own_names_open_a_page_unless_a_setting_names_others(explorer: tuple[str, Path]) -> None:
    url, _ = explorer
    port = urlsplit(url).port
    for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"LOCALHOST:{port}"):
        assert upgraded(url, host, f"http://{host}") == 101
    foreign = (
        "evil.example",
        f"evil.example:{port}",
        f"127.0.0.1.evil.example:{port}",
        f"localhost@evil.example:{port}",
    )
    for host in foreign:
        assert upgraded(url, host, f"http://{host}") == 403, host
        assert upgraded(url, host, None) == 403, host


def test_a_deployment_names_its_hosts(tmp_path: Path) -> None:
    hosts = "mirage.example.org other.example.org"
    with browser.server(MIRAGE_HOME=str(tmp_path), STREAMLIT_SERVER_ALLOWED_HOSTS=hosts) as url:
        for host in hosts.split():
            assert upgraded(url, host, f"https://{host}") == 101
        for host in ("evil.example", "mirage.example.org.evil.example", urlsplit(url).netloc):
            assert upgraded(url, host, f"http://{host}") == 403, host
