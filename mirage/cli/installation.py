"""Checks of the installation: `mirage check` without arguments."""

import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Literal

from mirage import __version__
from mirage.errors import MirageError
from mirage.store.extras import Extra, install_command
from mirage.text.segmentation import count_text

PORT = 8501
"""Default port of the explorer."""

_REINSTALL = "reinstall from the checkout or wheel it came from: pip install --upgrade PATH"

EXTRAS: dict[Extra, tuple[tuple[str, ...], str]] = {
    "documents": (("pypdf", "trafilatura", "lxml_html_clean"), "PDF and HTML files of a corpus"),
    "explorer": (("streamlit",), "mirage app"),
    "models": (("openai",), "calling models: generate, judge, graded features"),
    "hub": (("datasets",), "mirage pull (from the hub)"),
    "local": (("torch", "transformers"), "support and reranker features"),
    "login": (("authlib",), "login with OpenID Connect"),
    "postgres": (("psycopg",), "votes in PostgreSQL"),
    "ray": (("ray",), "--engine ray"),
    "retrieval": (("bm25s",), "mirage generate retrieve, mirage testset"),
    "vllm": (("vllm",), "--engine vllm"),
}
"""Modules and purpose of each extra."""


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check of the installation."""

    what: str
    """Subject of the check."""
    state: Literal["fine", "absent", "wrong"]
    """`fine`; `absent`: missing but optional; `wrong`: something will not work."""
    message: str
    """Finding."""
    do: str
    """Suggested action; empty if none is needed."""


def check_installation() -> list[Check]:
    """Check the extras, the arenas, the votes' database and the explorer's port."""
    return [*_package(), *_extras(), *_arenas(), *_votes(), *_port()]


def _package() -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("mirage", "fine", f"{__version__} in {Path(__file__).resolve().parents[1]}, Python {version}", "")


def _extras() -> Iterator[Check]:
    for name, (modules, purpose) in EXTRAS.items():
        absent = [module for module in modules if util.find_spec(module) is None]
        do = f"{install_command(name)}, for {purpose}" if absent else ""
        message = f"without {', '.join(absent)}" if absent else ", ".join(modules)
        yield Check(f"extra {name}", "absent" if absent else "fine", message, do)


def _arenas() -> Iterator[Check]:
    from mirage.store import home
    from mirage.store.arena import open_arena

    folders, problems = home.all_arenas()
    for problem in problems:
        yield Check("arenas", "wrong", problem, "set MIRAGE_ARENAS to folders of arenas")
    if not folders:
        yield Check("arenas", "wrong", "no arenas", f"{_REINSTALL}; or import one")
    for name, path in folders.items():
        try:
            arena = open_arena(path)
            texts = "with texts" if "answers" in arena.tables else "numbers only"
            yield Check(f"arena {name}", "fine", f"{count_text(len(arena.tables), 'table')}, {texts}", "")
        except MirageError as error:
            yield Check(f"arena {name}", "wrong", error.what, error.do)


def _votes() -> Iterator[Check]:
    from mirage.people.votes.database import URL, Votes
    from mirage.people.votes.kinds import Vote
    from mirage.store import home

    if not os.environ.get(URL) and not home.votes_file().is_file():
        yield Check("votes", "absent", f"no votes yet; they will be stored in {home.votes_file()}", "")
        return
    try:
        with Votes() as database:
            n = len(database.rows(Vote))
        yield Check("votes", "fine", f"{n:,} votes on battles", "")
    except MirageError as error:
        yield Check("votes", "wrong", error.what, error.do)


def _port() -> Iterator[Check]:
    with socket.socket() as probe:
        probe.settimeout(1)
        occupied = probe.connect_ex(("127.0.0.1", PORT)) == 0
    message = f"{PORT} is {'taken' if occupied else 'free'}"
    yield Check("port", "fine", message, f"mirage app --port {PORT + 1}, unless it is the explorer" if occupied else "")
