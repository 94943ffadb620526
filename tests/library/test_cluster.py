"""A real Ray cluster of two nodes on this machine: workers, nodes and drivers are lost, and nothing else is."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from arena_writer import read_rows
from commands import mirage
from conftest import ROOT
from generating_cases import command, write
from misbehaving import Act, Call, Service, error, reply
from parts_cases import tables
from waiting import until

from mirage.llm.engines.cluster import TURNS

pytestmark = pytest.mark.cluster
LATENCY = 0.5
KILLS = int(os.environ.get("MIRAGE_TEST_KILLS", "3"))
CALLS = int(os.environ.get("MIRAGE_TEST_CALLS", "60"))
"""Calls made while so many workers, nodes and drivers are killed."""
NODE = {"num_cpus": 2, "node_ip_address": "127.0.0.1", "object_store_memory": 80_000_000}


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """A cluster of two nodes with two cores each; everything stays on 127.0.0.1."""
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    # A busy machine starts slowly.
    patch.setenv("RAY_raylet_start_wait_time_s", "120")
    # The default notices the loss of a node after 15 seconds.
    patch.setenv("RAY_health_check_period_ms", "1000")
    # Ray replaces 127.0.0.1 by another address of the machine, but on systems where it stays on one machine. It reads
    # this when it is imported.
    patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "fixtures")]))
    ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        cluster.add_node(**NODE)
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()
        patch.undo()


def flaky(call: Call) -> Act:
    """An answer and a verdict that depend on the prompt alone; one request in five fails, the first time."""
    number = zlib.crc32(call.content.encode())
    if call.number == 1 and number % 5 == 0:
        return error(500)
    return reply(f"##Answer: {number % 97} [q000#1] [[{'ABC'[number % 3]}]]")


def workers_alive(node: Any = None) -> list[int]:
    """Process ids of the workers that are there, of one node if it is given."""
    raylet = None if node is None else node.all_processes["raylet"][0].process.pid
    pids = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if (folder / "cmdline").read_bytes().startswith(b"ray::Worker") and raylet in (None, parent):
                    pids.append(int(folder.name))
    return sorted(pids)


def test_a_run_of_the_sample_on_a_cluster_is_the_bytes_of_one_machine(nodes: Any, tmp_path: Path) -> None:
    counts, ratings, bytes_ = [], [], []
    for name, options in (("here", []), ("there", ["--engine", "ray", "--address", nodes.address, "--workers", "2"])):
        path = tmp_path / name
        shutil.copytree(ROOT / "data" / "sample", path)
        with Service(flaky) as service:
            named = ["--service", "s"]  # by default rows keep the address, whose port differs
            mirage(*command(path, service, system="mine")[:-1], "3", "--limit", "2", *named, *options)
            url = ["--base-url", service.url, *named]
            mirage("judge", path, "--judge", "j", "--model", "m", *url, "--queries", "1", "--pairs", "4", *options)
        ratings.append(mirage("rank", path, "--judge", "j", "--draws", "50", "--format", "csv").stdout)
        counts.append(service.answered)
        bytes_.append(tables(path))
    assert bytes_[0] == bytes_[1]
    assert ratings[0] == ratings[1]
    assert counts[0] == counts[1], "each worker's calls are those of one machine, no more"


def test_random_kills_of_workers_nodes_and_drivers_lose_nothing(nodes: Any, tmp_path: Path) -> None:
    rng = random.Random(5)
    kills = ["worker", "node", "driver"] * (KILLS // 3)
    rng.shuffle(kills)
    concurrency, workers = 2, 3
    targets = sorted(rng.sample(range(CALLS // 20, CALLS * 19 // 20), len(kills)))
    path = write(tmp_path / "a", n=CALLS // 2)
    at_risk = 0
    with Service(flaky, latency=LATENCY) as service:
        arguments = command(path, service, "--engine", "ray", "--address", nodes.address, "--workers", str(workers))
        arguments += ["--concurrency", str(concurrency), "--retries", "3"]
        start = partial(subprocess.Popen, [sys.executable, "-m", "mirage", *arguments], cwd=ROOT)
        driver, more = start(), nodes.add_node(**NODE)
        for target, victim in zip(targets, kills, strict=True):
            until(lambda target=target: len(service.answered) >= target, "calls are made", process=driver)
            if victim == "worker":
                until(workers_alive, "a worker is there", process=driver)
                lost = 1
                os.kill(rng.choice(workers_alive()), signal.SIGKILL)
            elif victim == "node":
                lost = len(workers_alive(more))
                nodes.remove_node(more, allow_graceful=False)
                more = nodes.add_node(**NODE)
            else:
                lost = workers
                driver.kill()
                driver.wait()
                driver = start()
            at_risk += lost * concurrency * TURNS
        assert driver.wait() == 0
        nodes.remove_node(more)
        rows = read_rows(path, "answers")
        assert len(rows) == len({(row["language"], row["query_id"]) for row in rows}) == CALLS
        assert {row["status"] for row in rows} == {"ok"}
        assert len(service.answered) == CALLS
        assert service.answered.total() - len(service.answered) <= at_risk, "answered for nothing"


def test_no_cluster_and_other_versions_are_one_clear_error(
    nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    ray.shutdown()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with Service() as service:
            options = ["--engine", "ray", "--workers", "1", "--address"]
            arguments = command(write(tmp_path / "a", n=1), service, *options)
            result = mirage(*arguments, f"127.0.0.1:{free.getsockname()[1]}", code=2)
            assert "no Ray cluster answers" in result.stderr
            assert "ray start" in result.stderr
            for name, message in (("ray", "another version of Ray"), ("mirage", "has mirage")):
                with monkeypatch.context() as other:
                    other.setattr(f"{name}.__version__", "0.0.0")
                    assert message in mirage(*arguments, nodes.address, code=2).stderr
                ray.shutdown()
            assert service.calls == []
    ray.shutdown()
