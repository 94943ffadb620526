"""CSV that is safe to open in a spreadsheet: no text is a formula, reversibly.

A text that a spreadsheet would evaluate (`=1+1`, `@name`, `-x`) is prefixed with a single quote. A last column
`_quoted` then lists, row by row, the prefixed columns; `unquote` removes the quotes again, so that a file round-trips.
Numbers and JSON are not changed.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

BOM = "\ufeff"
"""Byte order mark."""
QUOTED = "_quoted"
"""Name of the column that lists the quoted columns of a row."""
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]\s*\S|[\t\r\n]")
"""Start of a text that spreadsheets evaluate, or that hides such a start; a dash alone is not matched."""


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, exact: bool = False) -> str:
    """Return rows as CSV with a header and LF line ends.

    Args:
        columns: their names.
        rows: values in the order of the columns; None is an empty field.
        exact: do not quote texts that look like formulas.
    """
    values = [list(row) for row in rows]
    read = [] if exact else values
    quoted = [[i for i, value in enumerate(row) if isinstance(value, str) and _FORMULA.match(value)] for row in read]
    header = [*columns, QUOTED] if any(quoted) else list(columns)
    for row, places in zip(values, quoted if any(quoted) else [], strict=False):
        for i in places:
            row[i] = f"'{row[i]}"
        row.append(" ".join(columns[i] for i in places))
    return "".join(_line(row) for row in (header, *values))


def _line(row: Sequence[Any]) -> str:
    out = io.StringIO()
    # With CRLF the writer quotes fields that contain either character.
    csv.writer(out, lineterminator="\r\n").writerow(row)
    return out.getvalue().removesuffix("\r\n") + "\n"


def unquote(row: Mapping[str, str]) -> dict[str, str]:
    """Remove the quotes that `csv_text` added to a row."""
    values = dict(row)
    for name in values.pop(QUOTED, "").split():
        if name in values:
            values[name] = values[name].removeprefix("'")
    return values
