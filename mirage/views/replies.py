"""All replies of an arena as numbers, so that any filter of a page is a few masks, however many there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.store.search import placed_keys
from mirage.views.keys import Key, Keys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mirage.store import Arena

COLUMNS = ("language", "system", "parser", "subset", "outcome")
"""What can be filtered by."""


@dataclass(frozen=True, eq=False)
class Replies:
    """One entry a reply, and parser where outcomes are there; sorted by question."""

    questions: Keys
    """The Q questions."""
    question: NDArray[np.intp]
    """Number of the question of each reply, from 0."""
    place: NDArray[np.int64]
    """Where its text is among the answers (`store.search`); -1 where it has none."""
    there: NDArray[np.bool_]
    """Whether there is a reply: its outcome is not `missing`."""
    codes: Mapping[str, NDArray[np.int32]]
    """For each of `COLUMNS` the number of its value; -1 for null."""
    values: Mapping[str, tuple[str, ...]]
    """For each of `COLUMNS` the values by their number."""

    def among(self, column: str, chosen: Collection[str]) -> NDArray[np.bool_]:
        """Which replies have one of the values."""
        import numpy as np

        # One more for null, which -1 finds.
        selection = np.array([*(value in chosen for value in self.values[column]), False])
        return np.asarray(selection[self.codes[column]])

    def questions_of(self, mask: NDArray[np.bool_]) -> tuple[tuple[Key, ...], int]:
        """The questions of some replies, and how many of these replies are there."""
        import numpy as np

        n = np.bincount(self.question[mask], minlength=len(self.questions.keys)).tolist()
        keys = tuple(key for key, count in zip(self.questions.keys, n, strict=True) if count)
        return keys, int((mask & self.there).sum())


@lru_cache(maxsize=8)
def arena_replies(arena: Arena) -> Replies:
    """All replies of an arena.

    Raises:
        TableMissing: if it has neither outcomes nor answers.
    """
    import numpy as np

    source, tables = "SELECT *, -1 AS place FROM base", {}
    if "answers" in arena.tables:
        source, tables = "FROM base LEFT JOIN placed USING (language, query_id, system)", {"placed": placed_keys(arena)}
    order = "ORDER BY language, query_id, system, parser"
    rows = arena.sql(f"WITH base AS ({base(arena)}) {source} {order}", given=tables)
    codes, values = {}, {}
    for column in (*COLUMNS, "query_id"):
        codes[column], values[column] = _encoded(rows[column])
    new = np.ones(len(rows), dtype=bool)
    new[1:] = np.diff(codes["language"]).astype(bool) | np.diff(codes["query_id"]).astype(bool)
    ids = values.pop("query_id")
    id_codes = codes.pop("query_id")
    first = np.flatnonzero(new)
    keys = [
        (values["language"][code], ids[k])
        for code, k in zip(codes["language"][first].tolist(), id_codes[first].tolist(), strict=True)
    ]
    missing = values["outcome"].index("missing") if "missing" in values["outcome"] else -2
    return Replies(
        questions=Keys(tuple(keys)),
        question=np.cumsum(new) - 1,
        place=rows["place"].fill_null(-1).to_numpy().astype(np.int64),
        there=codes["outcome"] != missing,
        codes=codes,
        values=values,
    )


def base(arena: Arena) -> str:
    """SQL of all replies: from the outcomes, or from the answers where there are none.

    Raises:
        TableMissing: if the arena has neither, or answers without queries.
    """
    if "outcomes" in arena.tables:
        return "SELECT language, query_id, system, parser, subset, outcome FROM outcomes"
    if "answers" not in arena.tables:
        arena.need("outcomes")
    if "queries" not in arena.tables:
        arena.need("queries")
    return (
        "SELECT language, query_id, system, NULL::VARCHAR AS parser, subset, "
        "CASE status WHEN 'missing' THEN status END AS outcome "
        "FROM answers LEFT JOIN queries USING (language, query_id)"
    )


def _encoded(column: Any) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """The number of each value, -1 for null, and the values."""
    import numpy as np

    encoding = column.combine_chunks().dictionary_encode()
    return encoding.indices.fill_null(-1).to_numpy().astype(np.int32), tuple(encoding.dictionary.to_pylist())
