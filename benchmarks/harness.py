"""Side-by-side timing: both programs in turn, in one process, medians over the rounds."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("MIRAGE_TEST_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
"""Folder of the published data."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report."""

    what: str
    """What was timed."""
    value: str
    """Our figure, with its unit."""
    against: str
    """What it is compared with, and that figure."""
    ratio: str
    """How many times better, or the bound it has to keep."""
    target: str
    """What it has to reach; empty where it is only reported."""


def seconds(*programs: Callable[[], Any], rounds: int = 5) -> list[float]:
    """Median seconds of each program, run in turn so that a busy machine slows them alike; one round to warm up."""
    taken: list[list[float]] = [[] for _ in programs]
    for number in range(rounds + 1):
        for program, times in zip(programs, taken, strict=True):
            start = time.perf_counter()
            program()
            if number:
                times.append(time.perf_counter() - start)
    return [statistics.median(times) for times in taken]


def in_fresh_process(code: str) -> tuple[dict[str, float], float]:
    """Run code that prints `name=value` lines in a new interpreter; returns these and its peak memory in MB."""
    report = "\nfrom benchmarks.harness import peak_mb; print('peak=' + str(peak_mb()))"
    done = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    values = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    numbers = {name: float(value) for name, value in values.items()}
    return numbers, numbers.pop("peak")


def peak_mb() -> float:
    """Peak memory of this process in MB; `ru_maxrss` would count that of the process that started it, too."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
