"""CPU of commands with nothing stored, beside that of a bare Streamlit app from its start to its first page."""

from __future__ import annotations

import asyncio
import compileall
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import bare
from benchmarks.harness import Row
from benchmarks.load import HOME
from benchmarks.ranking import judgments
from benchmarks.readers import cpu, opened
from mirage.store.export import export_rows
from mirage.text.languages import LANGUAGES

RUNS, SYSTEMS, QUERIES = 3, 19, 49
"""Runs, of which the worst counts; systems and queries a language of the file that is ranked: 150,822 battles."""


def used(arguments: Sequence[str], home: Path) -> float:
    """CPU seconds of a command, its children included, with this program compiled as pip leaves it."""
    env = os.environ | {"MIRAGE_HOME": str(home)}
    process = subprocess.Popen([sys.executable, "-m", "mirage", *arguments], env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"mirage {' '.join(arguments)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def run() -> list[Row]:
    """Run each command in a new data folder, and a bare app beside it."""
    rows = []
    compileall.compile_dir("mirage", quiet=1)
    with TemporaryDirectory() as folder:
        path = Path(folder, "battles.jsonl")
        rows_of_file = judgments(list(LANGUAGES), SYSTEMS, QUERIES)
        export_rows(rows_of_file, path)
        commands = {
            f"rank FILE of {len(rows_of_file):,} battles": (["rank", str(path)], "under 4 s"),
            "rank surrogate sample": (["rank", "surrogate", "sample"], "under 5 s"),
            "rank nomiracl --languages sw": (["rank", "nomiracl", "--languages", "sw"], "under 2 s"),
        }
        for what, (arguments, target) in commands.items():
            runs = []
            for k in range(RUNS):
                with bare.served(bare.page(Path(folder))) as (url, process):
                    asyncio.run(opened(url, process, [(HOME, "")]))
                    plain = cpu(process)
                runs.append((used(arguments, Path(folder, f"{target}-{k}")), plain))
            ours, plain = max(runs)
            against = f"bare app {plain:.1f} s"
            rows.append(
                Row(f"CPU of `{what}`, worst of {RUNS}", f"{ours:.1f} s", against, f"{ours / plain:.1f} times", target)
            )
    return rows
