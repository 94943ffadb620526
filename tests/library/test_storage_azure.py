"""An arena on Azure's protocol: azurite, Microsoft's own emulator, on this machine (npm's package of that name)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path

import pytest
import small_arena

from mirage import schema, store
from mirage.store import remote

ACCOUNT = "devstoreaccount1"
# The emulator's own key, which its documentation prints; it opens nothing else.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
VERSION = "2021-08-06"
ADDRESS = f"abfs://arenas@{ACCOUNT}.dfs.core.windows.net/team/arena"
START = 60.0
"""Seconds that the emulator gets to start."""


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an emulator with an empty container."""
    pytest.importorskip("obstore", reason="arenas on object storage need the extra storage")
    program = shutil.which("azurite-blob")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("azurite is not installed: .ci/run installs it")
        pytest.skip("azurite is not installed: npm install --global azurite")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    flags = ["--silent", "--skipApiVersionCheck", "--disableTelemetry"]
    folder = tmp_path_factory.mktemp("azurite")
    server = subprocess.Popen(
        [program, *flags, "--location", str(folder), "--blobHost", "127.0.0.1", "--blobPort", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + START
        while not make_container(url):
            assert server.poll() is None, "azurite did not start"
            assert time.monotonic() < end, "azurite does not answer"
            time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait()


def make_container(url: str) -> bool:
    """Make the container; returns whether the emulator answers. The request is signed with the account's key."""
    when = formatdate(usegmt=True)
    path = f"/{ACCOUNT}/arenas"
    signed = [*["PUT", *[""] * 11], f"x-ms-date:{when}", f"x-ms-version:{VERSION}"]
    text = "\n".join([*signed, f"/{ACCOUNT}{path}", "restype:container"])
    signature = base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), hashlib.sha256)).decode()
    headers = {
        "x-ms-date": when,
        "x-ms-version": VERSION,
        "Authorization": f"SharedKey {ACCOUNT}:{signature}",
        "Content-Length": "0",
    }
    request = urllib.request.Request(f"{url}{path}?restype=container", method="PUT", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=5):
            return True
    except urllib.error.HTTPError as error:
        raise AssertionError(f"the container cannot be made: {error.status} {error.read()[:300]!r}") from None
    except OSError:
        return False


@pytest.fixture
def address(emulator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What stands for an address of the emulator, as the environment names it."""
    for name, value in {
        "AZURE_STORAGE_USE_EMULATOR": "true",
        "AZURITE_BLOB_STORAGE_URL": emulator,
        "AZURE_STORAGE_ACCOUNT_KEY": KEY,
        "MIRAGE_HOME": str(tmp_path / "home"),
        "MIRAGE_CACHE": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    remote._remote.cache_clear()
    yield store.locate(f"{ADDRESS}/{tmp_path.name}")
    remote._remote.cache_clear()


@pytest.fixture
def arena(tmp_path: Path) -> store.Arena:
    tables = {"judgments": small_arena.judgments(languages=("en", "fi"))}
    return store.write(tmp_path / "arena", tables, title="A title", made_by="a test")


def answer(system: str) -> store.NewRows:
    row = schema.Answer("en", "q0", system, f"A text of {system}.", "ok", None, None, None)
    return store.by_key("answers", schema.from_rows("answers", [row]))


def test_an_arena_is_copied_to_azure_and_back(address: Path, arena: store.Arena, tmp_path: Path) -> None:
    there = store.copy(arena, address)
    assert there.manifest["tables"] == arena.manifest["tables"]
    back = store.copy(store.open_arena(address), tmp_path / "back")
    assert back.manifest["tables"] == arena.manifest["tables"]
    assert back.read("judgments").equals(arena.read("judgments"))


def test_of_writers_at_once_on_azure_no_row_is_lost(address: Path, arena: store.Arena) -> None:
    store.copy(arena, address)
    systems = [f"s{number}" for number in range(4)]
    writers = [
        threading.Thread(target=store.upsert, args=(address, {"answers": answer(system)}), kwargs={"made_by": "a test"})
        for system in systems
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert set(store.open_arena(address).read("answers")["system"].to_pylist()) == set(systems)


def test_azure_s_conditions_keep_an_object_that_another_has_replaced(address: Path, arena: store.Arena) -> None:
    from mirage.store.objects import Overtaken, objects

    place = objects(f"{ADDRESS}/conditions")
    place.need_conditions()
    first = place.replace("x", b"1", None)
    with pytest.raises(Overtaken):
        place.replace("x", b"2", None)
    place.replace("x", b"3", first)
    with pytest.raises(Overtaken):
        place.replace("x", b"4", first)
    assert place.get("x").data == b"3"
