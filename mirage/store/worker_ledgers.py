"""Local ledgers of workers, so that a run whose driver is lost pays for no call twice.

They are in the user's folder, under the name of the run, and are deleted when the run succeeds.
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
    """Return the name of the runs that fill a ledger, a hash of its path."""
    return hashlib.sha256(str(ledger.absolute()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def worker_ledger(run: str, worker: str) -> Ledger:
    """Open the ledger of a run's worker on this machine.

    Raises:
        ArenaError: if it cannot be opened or written.
    """
    return Ledger(_folder(run) / f"{worker}.sqlite")


def worker_replies(run: str, keys: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the replies left on this machine by workers of earlier runs, by key.

    Args:
        run: the run's name.
        keys: keys to look up.
    """
    replies: dict[str, dict[str, Any]] = {}
    for file in sorted(_folder(run).glob("*.sqlite")):
        with Ledger(file, read_only=True) as ledger:
            for key in sorted(ledger.have(set(keys) - replies.keys())):
                replies[key] = ledger.get(key) or {}
    return replies


def drop_worker_ledgers(run: str) -> None:
    """Delete the ledgers of a run's workers on this machine, once merged into the arena's ledger."""
    shutil.rmtree(_folder(run), ignore_errors=True)


def _folder(run: str) -> Path:
    return home_folder() / "workers" / run
