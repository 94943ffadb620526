"""All answers of an arena as integer arrays, so that every filter is a few masks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING

from mirage.explorer.kit.query_keys import Key, Keys
from mirage.stats.encoding import encode, positions
from mirage.store.search import placed_keys

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from mirage.store import Arena

COLUMNS = ("language", "system", "parser", "subset", "outcome")
"""Columns to filter by."""
_KEY = ("language", "query_id", "system")


@dataclass(frozen=True, eq=False)
class AnswerIndex:
    """One entry per answer and, if there are outcomes, per parser; sorted by query."""

    queries: Keys
    """The Q queries."""
    query: NDArray[np.intp]
    """Index of each answer's query."""
    place: NDArray[np.int64]
    """Position of its text among the answers (`store.search`); -1 without a text."""
    there: NDArray[np.bool_]
    """Whether there is an answer: its outcome is not `missing`."""
    codes: Mapping[str, NDArray[np.int32]]
    """Value index for each of `COLUMNS`; -1 for null."""
    values: Mapping[str, tuple[str, ...]]
    """Values for each of `COLUMNS`, by index."""

    def among(self, column: str, chosen: Collection[str]) -> NDArray[np.bool_]:
        """Return a mask of the answers that have one of the values."""
        import numpy as np

        # One extra entry, found by index -1, for null.
        selection = np.array([*(value in chosen for value in self.values[column]), False])
        return np.asarray(selection[self.codes[column]])

    def present(self, column: str) -> frozenset[str]:
        """Return the values that at least one answer has."""
        import numpy as np

        return frozenset(self.values[column][code] for code in np.unique(self.codes[column]).tolist() if code >= 0)

    @property
    def answers(self) -> int:
        """Number of existing answers, each counted once, however many parsers classified it."""
        import numpy as np

        if not len(self.query):
            return 0
        system = self.codes["system"]
        first = np.flatnonzero(np.diff(self.query, prepend=-1).astype(bool) | np.diff(system, prepend=-1).astype(bool))
        return int(np.logical_or.reduceat(self.there, first).sum())

    def queries_of(self, mask: NDArray[np.bool_]) -> tuple[tuple[Key, ...], int]:
        """Return the queries of some answers, and the number of these answers."""
        import numpy as np

        n = np.bincount(self.query[mask], minlength=len(self.queries.keys)).tolist()
        return tuple(compress(self.queries.keys, n)), int((mask & self.there).sum())


@lru_cache(maxsize=8)
def answer_index(arena: Arena) -> AnswerIndex:
    """Build the index of all answers of an arena.

    Raises:
        TableMissing: if it has neither outcomes nor answers.
    """
    import numpy as np

    by_outcome = "outcomes" in arena.tables or "answers" not in arena.tables
    columns = (*_KEY, "parser", "subset", "outcome") if by_outcome else (*_KEY, "status")
    rows = arena.read("outcomes" if by_outcome else "answers", columns=columns, encoded=columns)
    encoded = {name: encode(rows[name]) for name in columns}
    (languages, language), (ids, query_id) = encoded["language"], encoded["query_id"]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = np.diff(language).astype(bool) | np.diff(query_id).astype(bool)
    first, query = np.flatnonzero(new), np.cumsum(new) - 1
    keys = tuple(
        (languages[code], ids[k]) for code, k in zip(language[first].tolist(), query_id[first].tolist(), strict=True)
    )
    if not by_outcome:
        statuses, status = encoded.pop("status")
        missing = np.array([*(name == "missing" for name in statuses), False])
        encoded["parser"] = (), np.full(len(rows), -1, dtype=np.int32)
        encoded["outcome"] = ("missing",), np.where(missing[status], 0, -1).astype(np.int32)
        subsets, subset = _subsets(arena, rows.take(first))
        encoded["subset"] = subsets, subset[query]
    outcomes, outcome = encoded["outcome"]
    return AnswerIndex(
        queries=Keys(keys),
        query=query,
        place=_places(arena, rows),
        there=outcome != (outcomes.index("missing") if "missing" in outcomes else -2),
        codes={name: encoded[name][1] for name in COLUMNS},
        values={name: encoded[name][0] for name in COLUMNS},
    )


def _subsets(arena: Arena, queries: pa.Table) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the subsets, and the subset index of each query; -1 without a subset."""
    import numpy as np

    if "queries" not in arena.tables:
        return (), np.full(len(queries), -1, dtype=np.int32)
    rows = arena.read("queries", columns=("language", "query_id", "subset"), encoded=("language", "subset"))
    values, codes = encode(rows["subset"])
    return values, np.append(codes, np.int32(-1))[positions(queries, rows, _KEY[:2])]


def _places(arena: Arena, rows: pa.Table) -> NDArray[np.int64]:
    """Return the positions of answers among all texts; -1 for an answer without text."""
    import numpy as np

    if "answers" not in arena.tables:
        return np.full(len(rows), -1, dtype=np.int64)
    if "outcomes" not in arena.tables and not arena.is_narrowed("answers"):
        return np.arange(len(rows), dtype=np.int64)
    return positions(rows, placed_keys(arena), _KEY)
