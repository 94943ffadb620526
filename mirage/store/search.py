"""Full-text search in answers, by scanning them.

    placed_keys(arena).take(places(arena, "Suomenlinna", languages=["fi"]))    # language, query_id, system, place

Texts are matched literally and case-insensitively, in any script: both are compared after NFC and lower-casing by
DuckDB.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.store.arena import Arena

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_KEY = ["language", "query_id", "system"]
FOLD = "lower(nfc_normalize({}))"
"""SQL for the form of a text in which texts are compared."""


def places(arena: Arena, text: str, *, languages: Collection[str] | None = None) -> NDArray[np.int64]:
    """Return the positions of the answers that contain a text, ascending, as in `placed_keys`.

    Args:
        arena: an arena with answers.
        text: literal text, case-insensitive; every answer contains the empty text.
        languages: codes to search; None or empty for all.

    Raises:
        TableMissing: if the arena has no answers.
    """
    import numpy as np

    arena.need("answers")
    if any("\ud800" <= character <= "\udfff" for character in text):
        return np.zeros(0, dtype=np.int64)  # a lone surrogate, which UTF-8 text cannot contain
    # Pass languages as scalars, so that DuckDB can skip files by their statistics.
    parameters = {f"l{n}": code for n, code in enumerate(languages or ())}
    where = f"contains({FOLD.format('text')}, {FOLD.format('$text')})"
    where += f" AND language IN ({', '.join(f'${name}' for name in parameters)})" if parameters else ""
    rows = arena.sql(
        f"SELECT place FROM answers JOIN placed USING (language, query_id, system) WHERE {where} ORDER BY place",  # noqa: S608  # constants alone
        {"text": text, **parameters},
        given={"placed": placed_keys(arena)},
    )
    return np.asarray(rows["place"].to_numpy(), dtype=np.int64)


@lru_cache(maxsize=4)
def placed_keys(arena: Arena) -> pa.Table:
    """Return the keys of all answers in order, ignoring tags, with `place`, their position from 0."""
    import numpy as np
    import pyarrow as pa

    keys = arena.whole.read("answers", columns=_KEY)
    return keys.append_column("place", pa.array(np.arange(len(keys), dtype=np.int64)))
