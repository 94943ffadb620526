"""Battles, verdicts and votes as callers hand them over: data frames, records, files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema, store
from mirage.api.results import UNDETERMINED, make_table
from mirage.errors import BadInput
from mirage.store import Arena
from mirage.text.names import NAMES, Names, normalise_names

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.people.votes.kinds import Vote


_BATTLE = ("system_a", "system_b", "verdict")


_OWN_QUERIES = "no query_id: each battle counts as its own query, so intervals assume independent battles"


def read_frame(rows: Any) -> pa.Table:
    """Convert any kind of rows to an Arrow table."""
    import pyarrow as pa

    if isinstance(rows, str | Path):
        path = Path(rows)
        if store.parquet_rows(path):
            return pa.Table.from_batches(store.scan([path], store.columns_of([path])))
        return make_table([line.value for line in store.records(path)])
    if isinstance(rows, pa.Table):
        return rows
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.table(rows)
    if isinstance(rows, Mapping):
        return pa.table(dict(rows))
    if isinstance(rows, Iterable):
        return make_table([dict(row) for row in rows])
    raise BadInput(
        f"cannot read rows from a {type(rows).__name__}",
        do="give a data frame, an Arrow table, a list of mappings, or the path of a .csv, .jsonl or .parquet file",
    )


def read_judgments(data: Any) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the verdicts of an arena, of a file of any format, or of rows as table `judgments`, and the assumptions
    made.
    """
    import pyarrow as pa

    from mirage.battles.decision import VERDICTS
    from mirage.io.values import refuse_misspelt

    if isinstance(data, Arena):
        return data.read("judgments"), ()
    if isinstance(data, str | Path):
        return _judgments_of_file(Path(data))
    rows = read_frame(data)
    notes: tuple[str, ...] = ()
    _require_columns(rows, _BATTLE)
    refuse_misspelt(dict.fromkeys(rows.column_names), "the columns", ("query_id",), ("language",), ("judge",))
    n = len(rows)
    columns = {name: _encode(rows, name) for name in _BATTLE}
    words = [schema.verdict_word(text) for text in columns["verdict"].dictionary.to_pylist()]
    for k, word in enumerate(words):
        if word not in VERDICTS:
            row = columns["verdict"].indices.index(k).as_py()
            raise BadInput(
                f"the verdict {word!r} is not one of {', '.join(VERDICTS)}",
                where=f"row {row + 1:,}",
                do="write A if system_a is better, B if system_b is, tie if neither is",
            )
    columns["verdict"] = pa.array(words, pa.string()).take(columns["verdict"].indices)
    seen = Names()
    for name in _BATTLE[:2]:
        for system in columns[name].dictionary.to_pylist():
            seen.check(system, "system", name)
    if "query_id" in rows.column_names:
        columns["query_id"] = _encode(rows, "query_id")
    else:
        columns["query_id"] = pa.array([f"{k:08}" for k in range(n)], pa.string())
        notes = (_OWN_QUERIES,)
    for name, default in (("language", UNDETERMINED), ("judge", "judge")):
        absent = name not in rows.column_names
        columns[name] = pa.repeat(default, n).dictionary_encode() if absent else _encode(rows, name)
    if "points" in rows.column_names:
        columns["points"] = rows["points"].cast(pa.float64())
    if "inclusion" in rows.column_names:
        notes = (*notes, "the column inclusion is ignored: every verdict counts the same")
    return pa.table(columns), notes


def _judgments_of_file(path: Path) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the verdicts in a file as `mirage import` reads them, and the assumptions made."""
    from mirage.io.imports.formats import read_file

    try:
        tables, summary = read_file(path)
    except BadInput as error:
        if "--" in error.do:
            error.do += f"; those are options of: mirage import {path} --into DIR"
        raise
    if "judgments" not in tables:
        what = f"{path} has no verdicts: it is read as {summary.format}"
        raise BadInput(what, do=f"run: mirage import {path} --into my-arena; then rank that")
    notes = [_OWN_QUERIES] if "query_id" in summary.guessed else []
    notes += [why for what, why in summary.guessed.items() if what not in ("query_id", "language", "judge")]
    return tables["judgments"], (*notes, *(f"{entry.what} left out: {entry.why}" for entry in summary.left_out))


def _encode(rows: pa.Table, name: str) -> pa.DictionaryArray:
    """Return a column as dictionary-encoded text, with numbers written out and names normalised.

    Raises:
        BadInput: if a value is missing, naming the row.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = rows[name].combine_chunks()
    if not (pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)):
        cells = column.to_pylist()
        column = pa.array([None if cell is None or cell != cell else str(cell) for cell in cells], pa.string())
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = encoded.dictionary.cast(pa.string())
    if name in NAMES:
        values = normalise_names(values)
    missing = pc.fill_null(pc.equal(values.take(encoded.indices), ""), True)
    if (row := missing.index(True).as_py()) >= 0:
        raise BadInput(f"{name} is missing", where=f"row {row + 1:,}", do="fill it in, or remove the row")
    if name not in NAMES:
        return pa.DictionaryArray.from_arrays(encoded.indices, values)
    return values.take(encoded.indices).dictionary_encode()


def read_votes(data: Any) -> list[Vote]:
    """Return people's verdicts as votes.

    Raises:
        BadInput: if a column is missing or a value cannot be read, naming the row.
    """
    from mirage.battles.decision import READABLE
    from mirage.people.votes.kinds import UNNAMED, Vote

    rows = read_frame(data)
    verdict = "vote" if "vote" in rows.column_names else "verdict"
    _require_columns(rows, ("query_id", "system_a", "system_b", verdict))
    language, voters = _texts(rows, "language", UNDETERMINED), _texts(rows, "voter", UNNAMED)
    drawn = rows["control"].to_pylist() if "control" in rows.column_names else [True] * len(rows)
    chances = rows["inclusion"].to_pylist() if "inclusion" in rows.column_names else [None] * len(rows)
    names = ("query_id", "system_a", "system_b", verdict)
    log = []
    known = (*READABLE, "skip")
    for k, (query, a, b, told) in enumerate(zip(*(_texts(rows, name) for name in names), strict=True)):
        if (word := schema.verdict_word(told)) not in known:
            raise BadInput(
                f"the vote {told!r} is not one of {', '.join(known)}", where=f"row {k + 1:,}", do="correct it"
            )
        chance = chances[k]
        if chance is not None and not 0 < chance <= 1:
            raise BadInput(
                f"the inclusion probability {chance} is not in (0, 1]",
                where=f"row {k + 1:,}",
                do="use a probability above 0 and at most 1, or leave it empty",
            )
        log.append(
            Vote(
                vote_id=f"{k:08}",
                time="",
                arena="",
                language=language[k],
                query_id=query,
                system_a=a,
                system_b=b,
                voter=voters[k],
                vote=word,  # type: ignore[arg-type]  # it is one of the words known
                control=bool(drawn[k]),
                why="",
                inclusion=chance,
            )
        )
    return log


def _require_columns(rows: pa.Table, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in rows.column_names]
    if missing:
        raise BadInput(
            f"missing columns: {', '.join(missing)}; the columns are {', '.join(rows.column_names)}",
            do=f"rename the columns to {', '.join(names)}",
        )


def _texts(rows: pa.Table, name: str, default: str = "") -> list[str]:
    """Return a column as strings, as `_encode` does; without the column, the default."""
    return _encode(rows, name).to_pylist() if name in rows.column_names else [default] * len(rows)
