"""Calls to a chat service with 200 ms latency by four workers on a Ray cluster of two nodes, against one worker."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.harness import Row
from benchmarks.llm import LATENCY
from mirage import llm, store
from mirage.llm.engines.calls import complete_on
from mirage.llm.engines.cluster import Cluster

CONCURRENCY, CALLS, WORKERS = 8, 1_200, 4
"""Calls under way at once of each worker, calls of each, and workers."""


def run() -> list[Row]:
    """Time both on one cluster, against one server in a process of its own."""
    # Ray reads these when it is imported: the cluster is to stay on 127.0.0.1.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    import ray
    from ray.cluster_utils import Cluster as Nodes

    command = [sys.executable, "-c", "from benchmarks.llm import serve; serve()"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        os.environ["MIRAGE_HOME"] = folder
        logging.getLogger("ray").setLevel(logging.ERROR)
        node = {"num_cpus": 2, "node_ip_address": "127.0.0.1", "object_store_memory": 80_000_000}
        nodes = Nodes(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        try:
            nodes.add_node(**node)
            assert server.stdout is not None
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
            measure = partial(_calls_a_second, url=url, folder=Path(folder))
            here = measure("here", 1, partial(llm.complete, rng=np.random.default_rng(0)))
            alone, together = (
                measure(name, workers, partial(complete_on, executor=Cluster(workers, nodes.address)))
                for name, workers in (("alone", 1), ("together", WORKERS))
            )
        finally:
            ray.shutdown()
            nodes.shutdown()
            server.terminate()
    what = f"{CALLS:,} chat calls a worker, {CONCURRENCY} at once each, on two Ray nodes with two workers each"
    ideal = CONCURRENCY / LATENCY
    return [
        Row(
            what,
            f"{together:.0f} calls/s",
            f"one worker: {alone:.1f} calls/s (ideal {ideal:.0f})",
            f"{together / alone:.2f} times",
            "at least 1.8 times",
        ),
        Row(
            f"{CALLS:,} chat calls by one worker, {CONCURRENCY} at once",
            f"{1000 * (1 / alone - 1 / here):.1f} ms a call more",
            f"without Ray: {here:.1f} calls/s",
            "",
            "under 5 ms",
        ),
    ]


def _calls_a_second(
    name: str, workers: int, complete: Callable[..., list[llm.Reply | None]], *, url: str, folder: Path
) -> float:
    """Calls a second between a fifth and four fifths of the replies: how long workers take to start is not in it."""
    moments: list[float] = []
    with store.Ledger(folder / name / store.LEDGER) as ledger:
        replies = complete(
            [[{"role": "user", "content": f"{name}, call {number}"}] for number in range(CALLS * workers)],
            llm.ChatModel(llm.Settings("bench"), llm.Limits(concurrency=CONCURRENCY), llm.resolve(base_url=url)),
            ledger=ledger,
            on_reply=lambda *_: moments.append(time.perf_counter()),
        )
    if llm.spent(replies).failed:
        raise RuntimeError("not every call was answered")
    first, last = len(moments) // 5, len(moments) * 4 // 5
    return (last - first) / (moments[last] - moments[first])
