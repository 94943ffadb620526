"""Ledgers of workers: each keeps its replies on its own machine first, so that a run whose driver is lost pays nothing
twice. They lie in the user's folder, under the name of the run, and go when the run has ended well.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

from mirage.store.home import home_folder
from mirage.store.ledger import Ledger


def run_name(ledger: Path) -> str:
    """The name of the runs that fill a ledger: the same for the same file."""
    return hashlib.sha256(str(ledger.absolute()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def worker_ledger(run: str, worker: str) -> Ledger:
    """The ledger of a worker of a run, on the machine where this is called.

    Raises:
        ArenaError: if it cannot be opened or written.
    """
    return Ledger(_folder(run) / f"{worker}.sqlite")


def worker_replies(run: str, keys: Collection[str]) -> dict[str, dict[str, Any]]:
    """The replies that workers of earlier runs have left on this machine, by key.

    Args:
        run: the run's name.
        keys: which are wanted.
    """
    replies: dict[str, dict[str, Any]] = {}
    for file in sorted(_folder(run).glob("*.sqlite")):
        with Ledger(file, read_only=True) as ledger:
            for key in sorted(ledger.have(set(keys) - replies.keys())):
                replies[key] = ledger.get(key) or {}
    return replies


def drop_worker_ledgers(run: str) -> None:
    """Remove what workers of a run have left on this machine, when it is in the arena's ledger."""
    shutil.rmtree(_folder(run), ignore_errors=True)


def _folder(run: str) -> Path:
    return home_folder() / "workers" / run
