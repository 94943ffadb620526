"""`make bench`: run the benchmarks, or those named, and print their tables; `--write` also puts them into README.md."""

from __future__ import annotations

import argparse
import importlib
import sys

from rich.console import Console
from rich.table import Table

from benchmarks import page
from benchmarks.harness import Row


def main(arguments: list[str]) -> None:
    """Run benchmarks by name (all by default)."""
    known = page.modules()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; all unless named")
    parser.add_argument("--write", action="store_true", help="write the tables into benchmarks/README.md")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in known:
            parser.error(f"no benchmark is called {name!r}; there are {', '.join(known)}")
    console = Console(width=None if sys.stdout.isatty() else 160)
    for name in options.names or known:
        console.print(f"running {name} ...", style="dim")
        machine = page.machine()
        rows: list[Row] = importlib.import_module(f"benchmarks.{name}").run()
        table = Table(title=f"{name}: {machine}", show_lines=True)
        for head in page.HEADS:
            table.add_column(head)
        for row in rows:
            table.add_row(*page.cells(row))
        console.print(table)
        if options.write:
            page.write(name, rows, machine)


if __name__ == "__main__":
    main(sys.argv[1:])
