"""CSV that a spreadsheet may open: no text in it is a formula, and what was done about that can be undone.

A text that a spreadsheet would compute (`=1+1`, `@name`, `-x`) gets a single quote before it, which makes it a text
there. Where this was done, a last column `_quoted` names, row by row, the columns with such a quote; `unquoted` takes
them away again, so that a file comes back as it was. Numbers and JSON are left alone.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

QUOTED = "_quoted"
"""Name of the column that says which texts of a row have a quote before them."""
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]\s*\S|[\t\r\n]")
"""How a text begins that spreadsheets compute, or that hides such a beginning from them; a dash alone is a text."""


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, exact: bool = False) -> str:
    """Rows as CSV with a header, lines ending in a line feed.

    Args:
        columns: their names.
        rows: values in the order of the columns; None is an empty field.
        exact: write every text as it is, also one that a spreadsheet would compute.
    """
    values = [list(row) for row in rows]
    quoted = [] if exact else [[i for i, value in enumerate(row) if _computed(value)] for row in values]
    header = [*columns, QUOTED] if any(quoted) else list(columns)
    for row, places in zip(values, quoted if any(quoted) else [], strict=False):
        for i in places:
            row[i] = f"'{row[i]}"
        row.append(" ".join(columns[i] for i in places))
    return "".join(_line(row) for row in (header, *values))


def _line(row: Sequence[Any]) -> str:
    out = io.StringIO()
    # This line end makes the writer put fields with either of its characters into quotes.
    csv.writer(out, lineterminator="\r\n").writerow(row)
    return out.getvalue().removesuffix("\r\n") + "\n"


def unquoted(row: Mapping[str, str]) -> dict[str, str]:
    """A row of a CSV file without the quotes that `csv_text` put before its texts."""
    values = dict(row)
    for name in values.pop(QUOTED, "").split():
        if name in values:
            values[name] = values[name].removeprefix("'")
    return values


def _computed(value: Any) -> bool:
    return isinstance(value, str) and _FORMULA.match(value) is not None
