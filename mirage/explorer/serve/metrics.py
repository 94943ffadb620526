"""Metrics of an explorer for Prometheus (extra `ops`) and the log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Literal
from weakref import WeakSet

from mirage.errors import MirageError
from mirage.explorer.serve import logs
from mirage.store.extras import extra

Counted = Literal["requests", "errors", "votes"]
"""Names of the metrics."""


class Waiting:
    """A vote waiting for the database, stored in its session: it stops counting when the session ends."""


_waiting: WeakSet[Waiting] = WeakSet()


def waiting() -> Waiting:
    """Count a vote as waiting while the result is referenced."""
    mark = Waiting()
    _waiting.add(mark)
    return mark


@contextmanager
def rerun(page: str) -> Iterator[None]:
    """Time a run of a page, even if it fails."""
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds = time.perf_counter() - began
        if has_prometheus():
            from mirage.explorer.serve import counts

            counts.RERUNS.labels(page).observe(seconds)
        logs.event("rerun", page=page, ms=round(1000 * seconds, 1))


def error(page: str, problem: BaseException) -> None:
    """Count an error shown on a page, without its text, which can contain data."""
    kind = type(problem).__name__
    _count("errors", page, kind)
    logs.event("error", page=page, kind=kind, expected=isinstance(problem, MirageError))


def vote(result: Literal["kept", "waiting", "refused"]) -> None:
    """Count the result of submitting a vote."""
    _count("votes", result)


def request(method: str, path: str, status: int, began: float) -> None:
    """Count a request.

    Args:
        method: its method, such as `GET`.
        path: the kind of its path; full paths contain names of files and people.
        status: HTTP status; 101 for a closed WebSocket.
        began: `time.perf_counter()` when it came.
    """
    _count("requests", method, path, str(status))
    logs.event("request", method=method, path=path, status=status, ms=round(1000 * (time.perf_counter() - began), 1))


def count_reader(change: Literal[1, -1]) -> None:
    """Count a connected or disconnected reader."""
    if has_prometheus():
        from mirage.explorer.serve import counts

        counts.SESSIONS.inc(change)


def page() -> tuple[bytes, str]:
    """Return all metrics in Prometheus' text format, and its media type.

    Raises:
        BadInput: if the extra is not installed.
    """
    with extra("ops", "/metrics"):
        from mirage.explorer.serve import counts
    return counts.page(len(_waiting)), counts.KIND


@cache
def has_prometheus() -> bool:
    """Return whether the client for Prometheus, the extra `ops`, is installed."""
    return find_spec("prometheus_client") is not None


def _count(counter: Counted, *labels: str) -> None:
    if has_prometheus():
        from mirage.explorer.serve import counts

        counts.COUNTERS[counter].labels(*labels).inc()
