"""Files of verdicts, in any known format, as table `judgments`."""

from pathlib import Path

import pyarrow as pa

from mirage.errors import BadInput
from mirage.io.formats import run
from mirage.io.options import name_import
from mirage.io.rows import OWN_QUERIES


def read_judgments_file(path: Path) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the verdicts in a file as `mirage import` reads them, and the assumptions made."""
    try:
        tables, summary = run.read(path)
    except BadInput as error:
        name_import(error, path)
        raise
    if "judgments" not in tables:
        what = f"{path} has no verdicts: it is read as {summary.format}"
        raise BadInput(what, do=f"run: mirage import {path} --into my-arena; then rank that")
    notes = [OWN_QUERIES] if "query_id" in summary.guessed else []
    notes += [why for what, why in summary.guessed.items() if what not in ("query_id", "language", "judge")]
    return tables["judgments"], (*notes, *(f"{entry.what} left out: {entry.why}" for entry in summary.left_out))
