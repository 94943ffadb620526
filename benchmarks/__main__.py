"""`make bench`: run the benchmarks, or those named, and print their table."""

from __future__ import annotations

import importlib
import platform
import sys

from rich.console import Console
from rich.table import Table

ALL = ("ranking", "ingest", "pages", "llm", "features")


def main(names: list[str]) -> None:
    """Run benchmarks by name (all by default)."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    table = Table(title=f"Python {platform.python_version()}, {platform.machine()}", show_lines=True)
    for head in ("what", "ours", "against", "ratio", "target"):
        table.add_column(head)
    for name in names or ALL:
        console.print(f"running {name} ...", style="dim")
        for row in importlib.import_module(f"benchmarks.{name}").run():
            table.add_row(row.what, row.value, row.against, row.ratio, row.target)
    console.print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
