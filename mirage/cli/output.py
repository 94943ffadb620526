"""Output of the commands: tables on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from textwrap import wrap
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TextIO

from mirage import schema
from mirage.store.sheets import BOM, csv_text
from mirage.text.numbers import three_digits
from mirage.text.printing import PrintedColumn, terminal_text

if TYPE_CHECKING:
    import pyarrow as pa

Format = Literal["table", "csv", "csv-exact", "json", "latex", "markdown"]
Rows = Sequence[Mapping[str, Any]]

_SHARES = ("coverage", "change", "change_low", "change_high")
"""Shares that are not columns of a record; printed in percent, as those of records."""
_SIGNED = (
    *("rating", "low", "high", "uncorrected", "uncorrected_low", "uncorrected_high"),
    *("difference", "difference_low", "difference_high"),
)
_NUMBER = re.compile(r"[+-]?(\d[\d,.]*%?|∞)")
"""A number already formatted as text."""
_WIDE = 240
"""Width of a table that is not written to a terminal, in characters."""
_NAMES = ("system", "language", "first", "second")
"""Columns that are never dropped from a human-readable table."""
MOST_COLUMNS = 8
"""Maximum columns of a human-readable table; a value with its interval is one."""
_FOLDED = 24
"""Minimum width to which long texts are folded before columns are dropped."""
MOST_ROWS, EDGE_ROWS = 500, 25
"""Maximum rows of a human-readable table; a longer one shows this many of the first and of the last rows."""
EVERY = 10.0
"""Seconds between two lines of progress."""
_MINUTES = 100
"""Remaining seconds from which the time is given in minutes."""
_BETWEEN, _EDGES = 3, 2
"""Characters between two columns, and at both edges of a table."""


def show(
    rows: Iterable[Any] | pa.Table,
    columns: Sequence[str] = (),
    output_format: Format = "table",
    *,
    of: str | type | None = None,
    value: str = "",
    heads: Mapping[str, str] | None = None,
) -> None:
    """Print a table, either rounded for people or exact.

    CSV and JSON hold every digit (the shortest text that round-trips); a null is an empty field in CSV. `csv` prefixes
    texts that look like formulas with a quote, `csv-exact` does not. LaTeX and Markdown hold rounded numbers.

    Args:
        rows: records, mappings or a table.
        columns: those to print; empty for all of `of`.
        output_format: how.
        of: the table of the schema or the dataclass that defines the columns: their heads and formats.
        value: the column whose interval is `low` and `high`, which are printed as its `_low` and `_high`.
        heads: heads of columns that depend on the rows, for people.
    """
    ends = {end: f"{value}_{end}" for end in ("low", "high")} if value else {}
    known = {} if of is None else {ends.get(each.name, each.name): each for each in schema.columns(of)}
    each = rows.to_pylist() if hasattr(rows, "to_pylist") else rows
    records = [row if isinstance(row, Mapping) else asdict(row) for row in each]
    if ends:
        records = [{ends.get(name, name): cell for name, cell in row.items()} for row in records]
    columns = [ends.get(name, name) for name in columns or known]
    if output_format in ("table", "latex", "markdown"):
        shares = [name for name in columns if name in _SHARES or (name in known and known[name].format == "rate")]
        records = [
            {**row, **{name: f"{row[name]:.1%}" for name in shares if isinstance(row[name], float)}} for row in records
        ]
        named = {name: name.replace("_", " ") for name in columns}
        named |= {name: known[name].head for name in columns if name in known and name not in ends.values()}
        named |= {name: head for name, head in (heads or {}).items() if name in named}
        if output_format == "table":
            _for_people(records, named)
        else:
            from mirage.text.printing import latex_table, markdown_table

            write = latex_table if output_format == "latex" else markdown_table
            sys.stdout.write(write(list(_text_columns(records, named, "").values())))
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    if output_format in ("csv", "csv-exact"):
        values = [[_exact(row[name]) for name in columns] for row in records]
        text = csv_text(columns, values, exact=output_format == "csv-exact")
        # A spreadsheet opens files; a program that reads a pipe would take the mark for a part of the first name.
        marked = output_format == "csv" and not text.isascii() and _begins_file(sys.stdout)
        sys.stdout.write(BOM + text if marked else terminal_text(text) if sys.stdout.isatty() else text)
    else:
        text = json.dumps([{name: row[name] for name in columns} for row in records], ensure_ascii=False, indent=1)
        sys.stdout.write(terminal_text(text) + "\n")


def columns_of(of: str | type, *left_out: str) -> tuple[str, ...]:
    """Return the columns of a table or a result's dataclass, without some."""
    return tuple(each.name for each in schema.columns(of) if each.name not in left_out)


def _begins_file(stream: TextIO) -> bool:
    """Return whether a stream writes to a file that is still empty."""
    try:
        file = os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return False
    return stat.S_ISREG(file.st_mode) and not file.st_size


def note(*lines: str) -> None:
    """Print the lines of a message to stderr."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for line in lines:
        console.print(terminal_text(line))


def escape_unencodable() -> None:
    """Write characters that the terminal's encoding lacks as escapes."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


@contextmanager
def progress(text: str, unit: str = "") -> Iterator[Callable[..., None]]:
    """Show a progress bar on a terminal; elsewhere print a line every 10 seconds.

    Yields a callback for the amount done, the total (None if unknown), and optionally the name of the current step.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        with _progress_lines(text) as update:
            yield update
        return
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    counts = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
    columns = TextColumn("{task.description}", markup=False), BarColumn(), counts, TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task(terminal_text(text), total=None)

        def update(completed: int, total: int | None, name: str = text) -> None:
            bars.update(task, completed=completed, total=total, description=terminal_text(name))

        yield update


@contextmanager
def _progress_lines(text: str) -> Iterator[Callable[..., None]]:
    """Print the progress as a line now and then, also while nothing moves."""
    now, begun = f"{text} ...", (text, 0, monotonic())
    ended = Event()

    def update(completed: int, total: int | None, name: str = text) -> None:
        nonlocal now, begun
        now = f"{name}: {completed:,}" if total is None else f"{name}: {completed:,} of {total:,}"
        if name != begun[0] or completed < begun[1]:
            begun = name, completed, monotonic()
        if total is not None and begun[1] < completed < total:
            left = (monotonic() - begun[2]) * (total - completed) / (completed - begun[1])
            now += f", about {left:,.0f} s left" if left < _MINUTES else f", about {left / 60:,.0f} min left"

    def tell() -> None:
        while not ended.wait(EVERY):
            note(now)

    thread = Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield update
    finally:
        ended.set()
        thread.join()


def _exact(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _for_people(rows: Rows, heads: Mapping[str, str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    left_out = len(rows) - 2 * EDGE_ROWS if len(rows) > MOST_ROWS else 0
    if left_out:
        rows = [*rows[:EDGE_ROWS], *rows[-EDGE_ROWS:]]
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDE
    columns = _join_intervals(_text_columns(rows, heads, "-"))
    least = {name: _least_width(name, column) for name, column in columns.items()}
    widths = {name: max(width, len(columns[name].head)) for name, width in least.items()}
    names = choose_columns(least, console.width)
    if _table_width(widths, names) > console.width:
        widths = least  # wrap heads of several words
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        number, head = columns[name].number, "\n".join(wrap(terminal_text(columns[name].head), widths[name]))
        justify: Literal["left", "right"] = "right" if number else "left"
        table.add_column(head, justify=justify, no_wrap=number or name in _NAMES, overflow="fold")
    for k, cells in enumerate(zip(*(columns[name].cells for name in names), strict=True)):
        if left_out and k == EDGE_ROWS:
            table.add_row(*("⋮" for _ in names))
        table.add_row(*cells)
    console.print(table)
    if left_out:
        note(f"{left_out:,} of {left_out + len(rows):,} rows are not shown: use --format csv for all")
    if absent := [columns[name].head for name in columns if name not in names]:
        note(f"More columns with --format csv: {', '.join(absent)}")


def _text_columns(rows: Rows, heads: Mapping[str, str], absent: str) -> dict[str, PrintedColumn]:
    """Return the columns as texts, with the head of each; a null is `absent`. A column of formatted numbers is one of
    numbers too.
    """
    columns = {}
    for name, head in heads.items():
        values = [row[name] for row in rows]
        number = any(isinstance(value, int | float) or _NUMBER.fullmatch(str(value)) for value in values)
        cells = tuple(absent if value is None else _cell_text(name, value) for value in values)
        columns[name] = PrintedColumn(head, cells, number)
    return columns


def _join_intervals(columns: Mapping[str, PrintedColumn]) -> dict[str, PrintedColumn]:
    """Return the columns with the ends of an interval in the cells of their value: `0.43 (0.41 to 0.45)`."""
    joined = dict(columns)
    for k, name in enumerate(columns):
        base = name.removesuffix("_low") if name.endswith("_low") else list(columns)[k - 1] if name == "low" else name
        ends = (name, f"{name.removesuffix('low')}high")
        if base == name or base not in columns or ends[1] not in columns:
            continue
        value, low, high = (columns[part] for part in (base, *ends))
        cells = zip(value.cells, low.cells, high.cells, strict=True)
        texts = tuple(v if a == b == "-" else f"{v} ({a} to {b})" for v, a, b in cells)
        joined[base] = PrintedColumn(f"{value.head} (95% CI)", texts, number=True)
        for part in ends:
            joined.pop(part)
    return joined


def choose_columns(widths: Mapping[str, int], width: int) -> list[str]:
    """Choose the columns of a table, in order: at most `MOST_COLUMNS` that fit a width, without the last ones; names
    are never left out.

    Args:
        widths: minimum width of each column, the most important first.
        width: characters per line.
    """
    chosen = list(widths)
    for name in reversed(chosen[:]):
        if len(chosen) <= MOST_COLUMNS and _table_width(widths, chosen) <= width:
            break
        if name not in _NAMES and len(chosen) > 1:
            chosen.remove(name)
    return chosen


def _table_width(widths: Mapping[str, int], names: Sequence[str]) -> int:
    return sum(widths[name] for name in names) + _BETWEEN * (len(names) - 1) + _EDGES


def _least_width(name: str, column: PrintedColumn) -> int:
    """Return the minimum width of a column: full for a number or name, the longest word of the head, part of a text."""
    from rich.cells import cell_len

    most = _WIDE // 6 if name in _NAMES else _WIDE if column.number else _FOLDED
    return max(min(max(map(cell_len, column.cells), default=0), most), *map(len, column.head.split()))


def _cell_text(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return terminal_text(str(value))
    if isinstance(value, int):
        return f"{value:,}"
    # Adding 0 turns what rounds to -0.00 into +0.00.
    return f"{round(value, 2) + 0.0:+.2f}" if name in _SIGNED else three_digits(value)
