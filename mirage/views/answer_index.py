"""All answers of an arena as numbers, so that any filter of a page is a few masks, however many there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
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
class AnswerIndex:
    """One entry an answer, and parser where outcomes are there; sorted by query."""

    queries: Keys
    """The Q queries."""
    query: NDArray[np.intp]
    """Number of the query of each answer, from 0."""
    place: NDArray[np.int64]
    """Where its text is among the answers (`store.search`); -1 where it has none."""
    there: NDArray[np.bool_]
    """Whether there is an answer: its outcome is not `missing`."""
    codes: Mapping[str, NDArray[np.int32]]
    """For each of `COLUMNS` the number of its value; -1 for null."""
    values: Mapping[str, tuple[str, ...]]
    """For each of `COLUMNS` the values by their number."""

    def among(self, column: str, chosen: Collection[str]) -> NDArray[np.bool_]:
        """Which answers have one of the values."""
        import numpy as np

        # One more for null, which -1 finds.
        selection = np.array([*(value in chosen for value in self.values[column]), False])
        return np.asarray(selection[self.codes[column]])

    def queries_of(self, mask: NDArray[np.bool_]) -> tuple[tuple[Key, ...], int]:
        """The queries of some answers, and how many of these answers are there."""
        import numpy as np

        n = np.bincount(self.query[mask], minlength=len(self.queries.keys)).tolist()
        return tuple(compress(self.queries.keys, n)), int((mask & self.there).sum())


@lru_cache(maxsize=8)
def answer_index(arena: Arena) -> AnswerIndex:
    """All answers of an arena.

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
    return AnswerIndex(
        queries=Keys(tuple(keys)),
        query=np.cumsum(new) - 1,
        place=rows["place"].fill_null(-1).to_numpy().astype(np.int64),
        there=codes["outcome"] != missing,
        codes=codes,
        values=values,
    )


def base(arena: Arena) -> str:
    """SQL of all answers: from the outcomes, or from the answers where there are none.

    Raises:
        TableMissing: if the arena has neither.
    """
    if "outcomes" in arena.tables:
        return "SELECT language, query_id, system, parser, subset, outcome FROM outcomes"
    if "answers" not in arena.tables:
        arena.need("outcomes")
    answers = "answers LEFT JOIN queries USING (language, query_id)"
    if "queries" not in arena.tables:
        answers = "(SELECT *, NULL::VARCHAR AS subset FROM answers)"
    columns = "language, query_id, system, NULL::VARCHAR AS parser, subset"
    outcome = "CASE status WHEN 'missing' THEN status END AS outcome"
    return f"SELECT {columns}, {outcome} FROM {answers}"  # noqa: S608  # constants alone


def _encoded(column: Any) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """The number of each value, -1 for null, and the values."""
    import numpy as np

    encoding = column.combine_chunks().dictionary_encode()
    return encoding.indices.fill_null(-1).to_numpy().astype(np.int32), tuple(encoding.dictionary.to_pylist())
