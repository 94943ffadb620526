"""Measures of retrieval, by the names of ir_measures, for each query and as means with an interval.

nDCG@k   discounted cumulative gain with the grade as the gain, over that of the best order (Järvelin and Kekäläinen,
         ACM TOIS 20 (2002), as trec_eval computes it: gain / log2(rank + 1))
R@k      share of the relevant passages among the first k
RR@k     one over the rank of the first relevant passage, 0 without one among the first k
AP@k     mean over the relevant passages of the precision at their ranks, 0 for those not among the first k
judged@k labelled share of the first k, or of as many as there are

Unlabelled passages count as not relevant, as in trec_eval; judged@k measures how many are labelled. A query without a
relevant passage only has judged@k, while trec_eval gives it 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput, UnknownName
from mirage.stages.features.means import means as feature_means
from mirage.stages.features.means import over_languages
from mirage.stages.retrieve.grades import RELEVANT_FROM
from mirage.stats.units import Unit

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Kind = Literal["nDCG", "R", "RR", "AP", "judged"]
MEASURES = ("nDCG@10", "R@10", "R@100", "RR@10", "AP@100", "judged@10")
"""Default measures."""
NO_RELEVANT = "no passage of this query is labelled relevant"
"""Reason of a missing value."""
NOTHING = "nothing was retrieved"
"""Reason of a missing judged@k."""

_QUERY = ("language", "query_id")
_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RetrievalMean:
    """One retriever's mean of one measure in one language."""

    language: str
    """Language of the queries; `all` for the mean over languages, equally weighted."""
    retriever: str
    """The retriever."""
    measure: str
    """Name of the measure, in [0, 1]."""
    mean: float | None
    """Mean over the queries with a value; null if there are none."""
    low: float | None
    """Lower end of the 95% interval over queries (`mirage.stats.bounded`); null with fewer than two queries."""
    high: float | None
    """Upper end."""
    n: int
    """Queries with a value."""
    total: int
    """Queries in all."""
    unit: Unit = "query"
    """Unit of the interval: for the mean over languages that share queries, the query across languages."""


def measure(name: str) -> tuple[Kind, int]:
    """Split a measure's name, such as `nDCG@10`, into kind and cutoff.

    Raises:
        UnknownName: if there is no such kind.
        BadInput: if the cutoff is not a positive integer.
    """
    kind, _, cutoff = name.partition("@")
    if kind not in get_args(Kind):
        raise UnknownName("measure of retrieval", name, MEASURES)
    if not re.fullmatch(r"[1-9][0-9]{0,5}", cutoff):
        raise BadInput(f"the measure {name} has no cutoff", do="add one, as in nDCG@10")
    return cast("Kind", kind), int(cutoff)


def by_query(
    retrieved: pa.Table,
    grades: pa.Table,
    *,
    measures: Sequence[str] = MEASURES,
    relevant_from: int = RELEVANT_FROM,
) -> pa.Table:
    """Evaluate the retrieved passages of each labelled query.

    Args:
        retrieved: columns language, query_id, retriever, passage_id and rank; ties are ordered by id. Only the order of
            ranks counts.
        grades: `grades.grades`.
        measures: names of measures.
        relevant_from: lowest grade that counts as relevant; nDCG uses every grade.

    Returns:
        Columns language, query_id, retriever, measure, value and reason, sorted by these: a row per measure, retriever
        and labelled query of a language in which it retrieved anything. A query without results counts as 0.

    Raises:
        UnknownName: if there is no such measure.
        BadInput: if a cutoff is not a number, or a retriever has a duplicate passage for a query.
    """
    import pandas as pd
    import pyarrow as pa

    wanted = {name: measure(name) for name in measures}
    labels = grades.to_pandas()
    runs = retrieved.select([*_QUERY, "retriever", "passage_id", "rank"]).to_pandas()
    _refuse_repeated(runs)
    queries = labels[list(_QUERY)].drop_duplicates().sort_values(list(_QUERY), ignore_index=True)
    queries["query"] = np.arange(len(queries))
    labels = labels.merge(queries, on=list(_QUERY))
    cells = runs[["language", "retriever"]].drop_duplicates().merge(queries, on="language")
    cells = cells.sort_values([*_QUERY, "retriever"], ignore_index=True)
    cells["cell"] = np.arange(len(cells))
    rows = runs.merge(cells, on=[*_QUERY, "retriever"]).merge(
        labels[["query", "passage_id", "grade"]], on=["query", "passage_id"], how="left"
    )
    rows = rows.sort_values(["cell", "rank", "passage_id"], ignore_index=True)
    scorer = _Scorer(
        cell=rows["cell"].to_numpy(),
        grade=rows["grade"].to_numpy(dtype=float),
        n_cells=len(cells),
        query_of_cell=cells["query"].to_numpy(),
        label_query=labels["query"].to_numpy(),
        label_grade=labels["grade"].to_numpy(dtype=float),
        relevant_from=relevant_from,
    )
    parts = []
    for name, (kind, cutoff) in wanted.items():
        values, known = scorer.values(kind, cutoff)
        reason = NOTHING if kind == "judged" else NO_RELEVANT
        part = cells[[*_QUERY, "retriever"]].assign(
            measure=name, value=np.where(known, values, np.nan), reason=[None if valued else reason for valued in known]
        )
        parts.append(part)
    table = pd.concat(parts, ignore_index=True).sort_values([*_QUERY, "retriever", "measure"], ignore_index=True)
    kinds = {"value": pa.float64()}
    fields = [pa.field(name, kinds.get(name, pa.string())) for name in table.columns]
    return pa.Table.from_pandas(table, pa.schema(fields), preserve_index=False).replace_schema_metadata(None)


def means(measured: pa.Table) -> list[RetrievalMean]:
    """Average measures over queries by language and retriever, then over languages with equal weights.

    Args:
        measured: result of `by_query`.
    """
    table = measured.select(["language", "query_id", "retriever", "measure", "value"]).rename_columns(
        ["language", "query_id", "system", "feature", "value"]
    )
    bounds = dict.fromkeys(table["feature"].unique().to_pylist(), (0.0, 1.0))
    rows = feature_means(table, bounds=bounds)
    every = [*rows, *over_languages(rows, table, bounds=bounds)]
    return [
        RetrievalMean(
            row.language,
            row.system,
            row.feature,
            row.mean,
            row.low,
            row.high,
            row.n,
            row.total,
            row.unit,
        )
        for row in every
    ]


def _refuse_repeated(runs: pd.DataFrame) -> None:
    repeated = runs.duplicated([*_QUERY, "retriever", "passage_id"])
    if repeated.any():
        row = runs[repeated].iloc[0]
        raise BadInput(
            f"{row['retriever']} retrieved the passage {row['passage_id']} twice",
            where=f"language={row['language']!r}, query_id={row['query_id']!r}",
            do="keep one of its ranks",
        )


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Rows of all runs, sorted by cell (query and retriever) and rank, with all labels."""

    cell: NDArray[np.int64]
    """N: the cell of each row."""
    grade: _Array
    """N: its grade; NaN if unlabelled."""
    n_cells: int
    """C: number of cells."""
    query_of_cell: NDArray[np.int64]
    """C: the query of each cell."""
    label_query: NDArray[np.int64]
    """L: the query of each label."""
    label_grade: _Array
    """L: its grade."""
    relevant_from: int
    """Lowest grade of a relevant passage."""

    def values(self, kind: Kind, cutoff: int) -> tuple[_Array, NDArray[np.bool_]]:
        """Return for the C cells the measure, and a mask of those with a value."""
        within = self._place() <= cutoff
        if kind == "judged":
            n = self._sum(within)
            judged = self._sum(within & ~np.isnan(self.grade))
            return np.divide(judged, n, out=np.zeros_like(n), where=n > 0), n > 0
        relevant_of_query = np.bincount(
            self.label_query, self.label_grade >= self.relevant_from, int(self.query_of_cell.max(initial=-1)) + 1
        )
        n_relevant = relevant_of_query[self.query_of_cell]
        known = n_relevant > 0
        n_relevant = np.maximum(n_relevant, 1)
        hits = within & (self.grade >= self.relevant_from)
        if kind == "nDCG":
            gain = np.where(within, np.maximum(np.nan_to_num(self.grade), 0), 0) / np.log2(self._place() + 1)
            ideal = self._ideal(cutoff)[self.query_of_cell]
            return self._sum(gain) / np.where(ideal > 0, ideal, 1), known
        if kind == "R":
            return self._sum(hits) / n_relevant, known
        if kind == "AP":
            return self._sum(np.where(hits, self._relevant_so_far(hits) / self._place(), 0)) / n_relevant, known
        first = hits & (self._relevant_so_far(hits) == 1)
        return self._sum(np.where(first, 1 / self._place(), 0)), known

    def _sum(self, values: NDArray[np.generic]) -> _Array:
        return np.bincount(self.cell, values.astype(float), self.n_cells).astype(float)

    def _place(self) -> _Array:
        """Return for the N rows the rank in their cell, from 1."""
        return _places(self.cell)

    def _relevant_so_far(self, hits: NDArray[np.bool_]) -> _Array:
        """Return for the N rows the number of relevant rows of their cell up to them."""
        total = np.cumsum(hits)
        before: NDArray[np.int64] = total - hits
        starts = np.flatnonzero(np.r_[True, self.cell[1:] != self.cell[:-1]]) if len(self.cell) else np.zeros(0, int)
        sizes = np.diff(np.r_[starts, len(self.cell)])
        return np.asarray(total - np.repeat(before[starts], sizes), dtype=float)

    def _ideal(self, cutoff: int) -> _Array:
        """Return for the Q queries the discounted gain of the best order of their labels."""
        order = np.lexsort((-self.label_grade, self.label_query))
        query, grade = self.label_query[order], np.maximum(self.label_grade[order], 0)
        place = _places(query)
        gain = np.where(place <= cutoff, grade, 0) / np.log2(place + 1)
        return np.bincount(query, gain, int(self.query_of_cell.max(initial=-1)) + 1).astype(float)


def _places(group: NDArray[np.int64]) -> _Array:
    """Return the position of each row in its group, from 1; groups are contiguous."""
    if not len(group):
        return np.zeros(0)
    starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    sizes = np.diff(np.r_[starts, len(group)])
    return np.asarray(np.arange(len(group)) - np.repeat(starts, sizes) + 1, dtype=float)
