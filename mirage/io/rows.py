"""Rows as callers hand them over: data frames, records, files; and battles among them as table `judgments`.

judgments, notes = read_judgments(rows)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import BadInput
from mirage.io.formats.spec import REPEATED
from mirage.store import records
from mirage.store.arena import Arena
from mirage.text.languages import UNDETERMINED, fold_codes, is_code
from mirage.text.names import NAMES, Names, normalise_names
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    import pyarrow as pa

_BATTLE = ("system_a", "system_b", "verdict")
OWN_QUERIES = "no query_id: each battle counts as its own query, so intervals assume independent battles"


def read_frame(rows: Any) -> pa.Table:
    """Convert any kind of rows to an Arrow table."""
    import pyarrow as pa

    if isinstance(rows, str | Path):
        path = Path(rows)
        if records.kind(path) != records.PARQUET:
            return make_table([line.value for line in records.records(path)])
        with records.open_parquet(path) as parquet:
            return parquet.read()
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


def make_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows as a table; a name that some rows lack is null there.

    Raises:
        BadInput: if a column mixes kinds of values, such as texts and lists.
    """
    import pyarrow as pa

    columns = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        try:
            columns[name] = pa.array([row.get(name) for row in rows])
        except (pa.ArrowException, OverflowError, UnicodeError) as error:
            raise BadInput(
                f"column {name!r} cannot be read: {error}",
                do="give all its values one kind, such as text",
            ) from None
    return pa.table(columns)


def read_judgments(data: Any) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the verdicts of an arena or in rows as table `judgments`, and the assumptions made."""
    import pyarrow as pa

    from mirage.battles.decision import VERDICTS
    from mirage.io.values import refuse_misspelt

    if isinstance(data, Arena):
        return data.read("judgments"), ()
    rows = read_frame(data)
    notes: tuple[str, ...] = ()
    require_columns(rows, _BATTLE)
    refuse_misspelt(dict.fromkeys(rows.column_names), "the columns", ("query_id",), ("language",), ("judge",))
    refuse_weight_columns(rows)
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
        notes = (OWN_QUERIES,)
    for name, default in (("language", UNDETERMINED), ("judge", "judge")):
        absent = name not in rows.column_names
        columns[name] = pa.repeat(default, n).dictionary_encode() if absent else _encode(rows, name)
    columns["language"], told = _fold_languages(columns["language"])
    notes += told
    columns |= _read_optional(rows)
    battle = ("language", "judge", "query_id", "system_a", "system_b", *(("voter",) if "voter" in columns else ()))
    keys = pa.table({name: columns[name] for name in battle})
    if repeats := n - len(keys.group_by(keys.column_names).aggregate([])):
        notes = (*notes, f"{count_text(repeats, 'verdict')} {REPEATED}")
    return pa.table(columns), notes


def _read_optional(rows: pa.Table) -> dict[str, pa.Array]:
    """Return the points and the voters of battles, where given; a voter without a name is null."""
    import pyarrow as pa

    columns = {}
    if "points" in rows.column_names:
        columns["points"] = rows["points"].cast(pa.float64())
    if "voter" in rows.column_names:
        names = [None if name is None or name != name else str(name) for name in rows["voter"].to_pylist()]
        columns["voter"] = normalise_names(pa.array(names, pa.string()))
        check_voters(columns["voter"].to_pylist())
    return columns


def _fold_languages(column: pa.DictionaryArray) -> tuple[pa.Array, tuple[str, ...]]:
    """Return languages with one code each, and what was said under another code."""
    import pyarrow as pa

    codes = column.dictionary.to_pylist()
    folded = fold_codes([code for code in codes if is_code(code)])
    if not folded:
        return column, ()
    notes = tuple(f"the language {code} is read as {other}" for code, other in folded.items())
    return pa.array([folded.get(code, code) for code in codes]).take(column.indices), notes


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


def check_voters(names: Iterable[str | None]) -> None:
    """Check that no name of a voter hides a character, or differs from another in case, width or spaces only."""
    seen = Names()
    for name in dict.fromkeys(filter(None, names)):
        seen.check(name, "voter", "the column voter")


def refuse_weight_columns(rows: pa.Table) -> None:
    """Refuse rows that claim a probability with which their battle was drawn, naming the first."""
    from mirage.io.values import refuse_weights, weight_fields

    for name in weight_fields(tuple(rows.column_names)):
        for k, content in enumerate(rows[name].to_pylist()):
            refuse_weights({name: content}, f"row {k + 1:,}")


def require_columns(rows: pa.Table, names: Sequence[str]) -> None:
    """Refuse rows that lack one of the columns."""
    missing = [name for name in names if name not in rows.column_names]
    if missing:
        raise BadInput(
            f"missing columns: {', '.join(missing)}; the columns are {', '.join(rows.column_names)}",
            do=f"rename the columns to {', '.join(names)}",
        )


def read_texts(rows: pa.Table, name: str, default: str = "") -> list[str]:
    """Return a column as strings, as `_encode` does; without the column, the default."""
    return _encode(rows, name).to_pylist() if name in rows.column_names else [default] * len(rows)
