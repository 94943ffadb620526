"""Prometheus metrics of an explorer (extra `ops`), incremented by `metrics`. Each process has its own. They contain no
names of people, texts of arenas, or URL parameters.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from mirage.errors import MirageError
from mirage.store import ledger

BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""Histogram buckets, in seconds."""
_CACHED = "mirage.explorer."
"""Modules whose caches are counted."""
KIND = CONTENT_TYPE_LATEST
"""Media type of `page`."""

REGISTRY = CollectorRegistry()
"""Registry of these metrics, without the libraries' own."""
RERUNS = Histogram(
    "mirage_rerun_seconds", "Duration of page runs in seconds.", ("page",), buckets=BUCKETS, registry=REGISTRY
)
WAITING = Gauge("mirage_votes_waiting", "Votes waiting for the database.", registry=REGISTRY)
SESSIONS = Gauge("mirage_sessions", "Open connections.", registry=REGISTRY)
COUNTERS: dict[str, Counter] = {
    "requests": Counter(
        "mirage_requests",
        "Requests by method, kind of path and status.",
        ("method", "path", "status"),
        registry=REGISTRY,
    ),
    "errors": Counter("mirage_errors", "Errors shown on pages, by class.", ("page", "kind"), registry=REGISTRY),
    "votes": Counter(
        "mirage_votes",
        "Votes by result: stored, waiting for the database, or rejected.",
        ("result",),
        registry=REGISTRY,
    ),
}
"""Counters and histograms by name."""


class _Now:
    """Metrics collected on request."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics, as Prometheus' client expects."""
        hits = CounterMetricFamily("mirage_cache", "Cache look-ups of the explorer.", labels=("cache", "result"))
        held = GaugeMetricFamily("mirage_cache_entries", "Cache entries of the explorer.", labels=("cache",))
        for name, module in sorted(sys.modules.items()):
            if not name.startswith(_CACHED):
                continue
            for cached in vars(module).values():
                if getattr(cached, "__module__", "") == name and hasattr(cached, "cache_info"):
                    info, label = cached.cache_info(), f"{name.removeprefix(_CACHED)}.{cached.__name__}"
                    hits.add_metric((label, "hit"), info.hits)
                    hits.add_metric((label, "miss"), info.misses)
                    held.add_metric((label,), info.currsize)
        yield hits
        yield held
        yield from _calls()


def _calls() -> Iterator[Metric]:
    """Model calls and their cost, from the arenas' ledgers."""
    from mirage.store import home

    calls = GaugeMetricFamily("mirage_calls", "Model replies cached per arena.", labels=("arena",))
    tokens = GaugeMetricFamily("mirage_tokens", "Tokens of these calls.", labels=("arena", "direction"))
    for name, path in home.all_arenas()[0].items():
        try:
            totals = _totals(path, _stamp(path))
        except MirageError:
            continue  # `mirage check` reports the error
        if totals is not None:
            calls.add_metric((name,), totals[0])
            tokens.add_metric((name, "in"), totals[1])
            tokens.add_metric((name, "out"), totals[2])
    yield calls
    yield tokens


def _stamp(arena: Path) -> tuple[int, ...]:
    """Return a stamp that changes with every reply in an arena's ledger."""
    file = ledger.ledger_path(arena)
    parts = (file, file.with_name(f"{file.name}-wal"))
    return tuple(number for part in parts if part.exists() for number in (part.stat().st_mtime_ns, part.stat().st_size))


@lru_cache(maxsize=64)
def _totals(arena: Path, _stamp: tuple[int, ...]) -> tuple[int, int, int] | None:
    with ledger.kept_ledger(arena) as kept:
        return None if kept is None else kept.totals()


REGISTRY.register(_Now())


def page(waiting: int) -> bytes:
    """Return all metrics in Prometheus' text format.

    Args:
        waiting: number of votes waiting now.
    """
    WAITING.set(waiting)
    return generate_latest(REGISTRY)
