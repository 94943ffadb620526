"""Columns of text as numbers: what groups, filters and joins of many rows work on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


def encode(*columns: Any) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The values of one or more columns of text, and which of them each row has, column after column.

    Args:
        columns: Arrow arrays, chunked or not, of text or of dictionaries of text.

    Returns:
        The V values, each once, in no order; of a dictionary also those that no row has. And for each row the place of
        its value among them, from 0; -1 for null.
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


def positions(rows: pa.Table, among: pa.Table, key: Sequence[str]) -> NDArray[np.int64]:
    """Where the rows of one table are in another, by columns of text; -1 where they are not.

    Acero's joins keep no order, and Arrow looks up no pairs: the columns are joined to one text.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    def joined(table: pa.Table) -> pa.ChunkedArray:
        return pc.binary_join_element_wise(*(table[name].cast(pa.string()) for name in key), "\x1f")

    places = pc.index_in(joined(rows), value_set=joined(among).combine_chunks())
    return np.asarray(places.fill_null(-1).to_numpy(), dtype=np.int64)
