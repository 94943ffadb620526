"""The page `README.md`: a section for each benchmark, made from the rows of its last run."""

from __future__ import annotations

import ast
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness import Row

HERE = Path(__file__).parent
README = HERE / "README.md"
HEADS = ("what", "ours", "against", "ratio", "target")

_HEAD = """# Benchmarks

What is timed, against what, and what came out. Both programs of a comparison run in turn in one process, so that a
busy machine slows them alike; figures are medians over rounds unless they say otherwise. A slow program is timed on a
part of the work and scaled linearly, and then says so. Ratios hold for one machine; seconds do not carry over to
another. The load is how many processes wanted a core in the minute before: above 0.5 the machine was busy with other
things, and absolute figures are worse than it can do. The commit is that of the program that was run: a section of an
older one may lack rows that the benchmark has now, or have rows of what is gone.

```
make bench                                    # all of them
.venv/bin/python -m benchmarks ranking        # some of them
.venv/bin/python -m benchmarks --write        # and write this page
```

No figure here is typed: `--write` replaces the sections of the benchmarks that were run and leaves the others.
"""


def modules() -> list[str]:
    """Names of the benchmarks: the modules here that have a function `run`."""
    names = []
    for path in sorted(HERE.glob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        if any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in body):
            names.append(path.stem)
    return names


def machine() -> str:
    """The run's surroundings in a line: Python, processor, cores, how busy the machine is, and the commit."""
    info = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.+)", info.read_text(encoding="utf-8")) if info.is_file() else []
    kind = names[0].strip() if names else platform.machine()
    load = f"load {os.getloadavg()[0]:.1f} before"
    return f"Python {platform.python_version()}, {kind}, {os.cpu_count()} cores, {load}, commit {_commit()}"


def _commit() -> str:
    """The commit that is checked out, in short, with `-dirty` if files differ from it; `unknown` outside Git."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def cells(row: Row) -> tuple[str, ...]:
    """A row's cells in the order of `HEADS`."""
    return row.what, row.value, row.against, row.ratio, row.target


def write(name: str, rows: Sequence[Row], on: str) -> None:
    """Put the rows of one benchmark into the page, in place of those of its run before."""
    old = README.read_text(encoding="utf-8") if README.is_file() else ""
    README.write_text(render(old, name, rows, on), encoding="utf-8")


def render(old: str, name: str, rows: Sequence[Row], on: str) -> str:
    """The page with the run of one benchmark replaced or added; runs of benchmarks that are gone go too."""
    runs = dict(re.findall(r"^## (\w+)\n.*?^(Last run: .*?)\s*(?=^## |\Z)", old, flags=re.MULTILINE | re.DOTALL))
    lines = [f"Last run: {on}.", "", _line(HEADS), _line(["---"] * len(HEADS))]
    runs[name] = "\n".join([*lines, *(_line(cells(row)) for row in rows)])
    return _HEAD + "".join(f"\n## {key}\n\n{about(key)}\n\n{runs[key]}\n" for key in modules() if key in runs)


def about(name: str) -> str:
    """The module's own first sentences."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))) or ""
    return text.split("\n\n", 1)[0].strip()


def _line(values: Sequence[str]) -> str:
    return "| " + " | ".join(value.replace("|", r"\|") for value in values) + " |"
