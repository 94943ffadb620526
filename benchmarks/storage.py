"""The explorer on an arena of full size that is on object storage: moto's S3 over HTTP on this machine.

What the first page asks of a storage that it has never seen, and how long pages take when what they need is kept here,
against the same arena in a folder.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

from benchmarks.full_size import ROOT, full_size
from benchmarks.harness import Row
from mirage import store

PAGES = ("leaderboard", "features")
ROUNDS = 3
REQUESTS, MEGABYTES, RATIO = 20, 20, 1.2
"""What the first page may ask for, and how much longer a warm page may take than from a folder."""


def run() -> list[Row]:
    """Copy the arena to the storage, open its first page, then pages again and again."""
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "fixtures")]
    from objects import storage

    local = full_size()
    with storage() as server, tempfile.TemporaryDirectory() as folder:
        own = {"MIRAGE_HOME": f"{folder}/home", "MIRAGE_CACHE": f"{folder}/cache", **server.environment}
        with mock.patch.dict(os.environ, own), mock.patch.object(store, "bundled", dict):
            address = "s3://bucket/full-size"
            start = time.perf_counter()
            store.copy(local, store.locate(address))
            copied = time.perf_counter() - start
            for kept in (Path(folder) / "cache" / "objects").glob("*"):
                kept.unlink()
            server.requests.clear()
            first = _seconds("leaderboard", address)
            requests, size = len(server.requests), sum(request.sent for request in server.requests) / 1e6
            rows = [
                Row("a copy to the storage", f"{copied:.1f} s", f"{local.size / 1e6:.0f} MB", "", ""),
                Row(
                    "the first page, nothing kept",
                    f"{requests} requests, {size:.1f} MB",
                    f"{first:.1f} s of CPU",
                    f"the arena has {sum(map(len, local.manifest['tables'].values()))} files",
                    f"at most {REQUESTS} requests, {MEGABYTES} MB",
                ),
            ]
            rows += [_warm(page, address, local.path) for page in PAGES]
    return rows


def _warm(page: str, address: str, path: Path) -> Row:
    """A page again and again, from the storage and from a folder in turn, with nothing in memory but what is kept."""
    times: dict[str, list[float]] = {address: [], str(path): []}
    for number in range(ROUNDS + 1):
        for where, taken in times.items():
            seconds = _seconds(page, where)
            if number:
                taken.append(seconds)
    there, here = (statistics.median(taken) for taken in times.values())
    return Row(
        f"{page}, its files kept, {ROUNDS} times in turn",
        f"{there:.2f} s of CPU",
        f"from a folder: {here:.2f} s",
        f"{there / here:.2f}",
        f"at most {RATIO}",
    )


def _seconds(page: str, where: str) -> float:
    """How much CPU a page takes to be drawn anew, in seconds, which a busy machine changes little; what the functions
    of the views remember is forgotten before.
    """
    from streamlit.testing.v1 import AppTest

    _forget()
    with mock.patch.dict(os.environ, {"MIRAGE_ARENAS": where}):
        start = time.process_time()
        app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=300).run()
        taken = time.process_time() - start
    if app.exception:
        raise RuntimeError(app.exception[0].message)
    return taken


def _forget() -> None:
    """Empty the caches of everything that reads an arena."""
    for name, module in list(sys.modules.items()):
        if name.startswith(
            ("mirage.explorer", "mirage.battles", "mirage.ranking", "mirage.store.arena", "mirage.store.search")
        ):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
