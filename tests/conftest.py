"""What every test shares: the published outputs where they are at hand, and a network that ends at this machine."""

import os
import signal
import socket
import ssl
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import slow
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("MIRAGE_TEST_DATA", ROOT.parent / "shared" / "data"))

PATIENCE = float(os.environ.get("MIRAGE_TEST_PATIENCE", "300"))
"""Seconds after which a test gives up waiting: far more than the slowest machine takes, so only what hangs meets it."""
# A busy machine draws and checks examples slowly, which says nothing of the code.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="leave out every test of tests/slow.txt: for the inner loop")
    parser.addoption("--all", action="store_true", help="leave out nothing, as CI: see tests/slow.py")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests by the time they take, unless some are asked for by name, and begin with the longest files."""
    leave_out_slow(config, items)
    # A worker runs a whole file: a long one that came last would leave the other workers idle. The order within a file
    # stays random.
    seconds = slow.listed()
    items.sort(key=lambda item: -seconds.get(item.path.name, 0.0))


def leave_out_slow(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the tests that take long from the items, as the options say."""
    if config.getoption("--all") or os.environ.get("CI") or config.option.keyword:
        return
    if any("::" in argument or argument.endswith(".py") for argument in config.args):
        return
    times, seconds = slow.listed(), slow.SLOW if config.getoption("--fast") else slow.LONG
    long = {item for item in items if slow.left_out(item.path.name, item.name.split("[")[0], seconds, times)}
    config.hook.pytest_deselected(items=list(long))
    items[:] = [item for item in items if item not in long]


def pytest_configure() -> None:
    """A shell that starts the tests in the background ignores Ctrl-C for all that they start; some test just that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the published outputs and figures; `make test` of a user without it skips."""
    if not (DATA / "nomiracl").is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"{DATA} is absent, and CI must run the tests on the published outputs")
        pytest.skip(f"the published outputs are not at {DATA}; set MIRAGE_TEST_DATA to their folder")
    return DATA


@pytest.fixture(params=["light", "dark"])
def mode(request: pytest.FixtureRequest) -> Iterator[str]:
    """Draw in each mode."""
    from mirage.publish.charts.palette import arena_looks

    with arena_looks((), request.param):
        yield request.param


@pytest.fixture(scope="session", autouse=True)
def one_scan_for_components() -> Iterator[None]:
    """Look for components of Streamlit in the installed packages once; AppTest does on every run, most of its time."""
    from streamlit.components.v2 import manifest_scanner

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session", autouse=True)
def short_pauses() -> Iterator[None]:
    """Try a call again after a moment and not after a second, unless a test says how long."""
    from mirage.llm.calls import Limits

    # The parameters of `__init__` are the fields, in their order.
    init = Limits.__init__
    given = {field.name: field.default for field in fields(Limits)} | {"backoff": 0.02}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(init, "__defaults__", tuple(given.values())[-len(init.__defaults__) :])
        yield


@pytest.fixture(scope="session", autouse=True)
def no_certificates() -> Iterator[None]:
    """Load no certificates of TLS, which nothing on this machine needs: they take most of the time of a client."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl.SSLContext, "load_verify_locations", lambda *given, **named: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk() -> Iterator[None]:
    """Leave out `os.fsync`: it guards against a loss of power, which no test causes, and takes half of a write."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(autouse=True)
def own_program() -> Iterator[None]:
    """Restore `__main__`: AppTest leaves its page there, and every spawned process would run it."""
    program = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = program


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that leaves this machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        if self.family in (socket.AF_INET, socket.AF_INET6) and host not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to reach {address!r}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def no_arenas_of_the_users_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the explorer from listing what whoever runs the tests has brought into their own folder."""
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path_factory.getbasetemp() / "no-home"))


@pytest.fixture(scope="module")
def module_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the module's own."""
    return tmp_path_factory.mktemp("module")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program's own folder, new and without votes."""
    monkeypatch.setenv("MIRAGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MIRAGE_VOTES_URL", raising=False)
    return tmp_path / "home"


@pytest.fixture
def arenas(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The arenas of the module's own fixture `folder`, and no others: no bundled ones, none of the user's, no votes."""
    from mirage.store import arena

    folder = request.getfixturevalue("folder")
    monkeypatch.setenv("MIRAGE_ARENAS", str(folder))
    monkeypatch.setattr(arena, "bundled_arenas", dict)
    return folder


def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of this run of the tests: one for all workers."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="module")
def start() -> Iterator[Any]:
    """Chromium: each call opens a page of its own (`browser.chromium`)."""
    from browser import chromium

    with chromium() as start:
        yield start


@pytest.fixture
def opened(start: Any) -> Iterator[Any]:
    """A page of Chromium, which must have been quiet when the test is done."""
    with start() as opened:
        yield opened


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The explorer on the arenas of the module's own fixture `folder`, else on the bundled ones, for tests that change
    nothing: what their pages show is computed once and stays in one home.
    """
    from browser import server

    folder = request.getfixturevalue("folder") if hasattr(request.module, "folder") else None
    kept = run_folder(tmp_path_factory) / "home-of-bundled"
    with server(folder, MIRAGE_HOME=str(kept if folder is None else tmp_path_factory.mktemp("home"))) as url:
        yield url
