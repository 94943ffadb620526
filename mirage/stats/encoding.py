"""Integer encoding of text columns, for groups, filters and joins of many rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from mirage.stats.arrays import Integers, Places


def encode(*columns: Any) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Dictionary-encode one or more text columns with a shared dictionary.

    Args:
        columns: Arrow arrays, chunked or not, of text or of dictionaries of text.

    Returns:
        The V distinct values, unordered, including unused values of dictionaries; and the index of each row's value,
        from 0, column after column; -1 for null.
    """
    import numpy as np
    import pyarrow as pa

    encoded = [column if pa.types.is_dictionary(column.type) else column.dictionary_encode() for column in columns]
    parts = [chunk for column in encoded for chunk in ([column] if isinstance(column, pa.Array) else column.chunks)]
    if not parts:
        return (), np.zeros(0, dtype=np.int32)
    chunks = parts if len(parts) == 1 else pa.chunked_array(parts).unify_dictionaries().chunks
    places = pa.chunked_array([chunk.indices for chunk in chunks], pa.int32()).fill_null(-1)
    return tuple(chunks[0].dictionary.to_pylist()), places.to_numpy()


def place_names(names: Iterable[str], among: Sequence[str]) -> Places:
    """Return the index of each name among others; -1 if absent."""
    import numpy as np

    place = {name: k for k, name in enumerate(among)}
    return np.array([place.get(name, -1) for name in names], dtype=np.intp)


def positions(rows: pa.Table, among: pa.Table, key: Sequence[str]) -> Integers:
    """Return the index of each row of a table in another table, matched by text columns; -1 if it is not there.

    The columns are joined to one text, since Acero's joins do not preserve order and Arrow cannot look up tuples.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    def join_columns(table: pa.Table) -> pa.ChunkedArray:
        return pc.binary_join_element_wise(*(table[name].cast(pa.string()) for name in key), "\x1f")

    places = pc.index_in(join_columns(rows), value_set=join_columns(among).combine_chunks())
    return np.asarray(places.fill_null(-1).to_numpy(), dtype=np.int64)
