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

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.stages.features.means import means as feature_means
from mirage.stages.features.means import over_languages
from mirage.stages.shown import contexts
from mirage.stats.units import Unit
from mirage.store import Arena

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

RELEVANT_FROM = 1
"""Lowest grade that counts as relevant, as in trec_eval."""

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
        grades: result of `grades`.
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
    repeated = runs.duplicated([*_QUERY, "retriever", "passage_id"])
    if repeated.any():
        row = runs[repeated].iloc[0]
        raise BadInput(
            f"{row['retriever']} retrieved the passage {row['passage_id']} twice",
            where=f"language={row['language']!r}, query_id={row['query_id']!r}",
            do="keep one of its ranks",
        )
    queries = labels[list(_QUERY)].drop_duplicates().sort_values(list(_QUERY), ignore_index=True)
    queries["query"] = np.arange(len(queries))
    labels = labels.merge(queries, on=list(_QUERY)).sort_values(["query", "grade"], ascending=[True, False])
    cells = runs[["language", "retriever"]].drop_duplicates().merge(queries, on="language")
    cells = cells.sort_values([*_QUERY, "retriever"], ignore_index=True)
    cells["cell"] = np.arange(len(cells))
    rows = runs.merge(cells, on=[*_QUERY, "retriever"]).merge(
        labels[["query", "passage_id", "grade"]], on=["query", "passage_id"], how="left"
    )
    rows = rows.sort_values(["cell", "rank", "passage_id"], ignore_index=True)
    rows["place"] = rows.groupby("cell").cumcount() + 1
    labels["place"] = labels.groupby("query").cumcount() + 1
    parts = []
    for name, (kind, cutoff) in wanted.items():
        values, known = _values(kind, cells, rows[rows["place"] <= cutoff], labels, cutoff, relevant_from)
        reason = NOTHING if kind == "judged" else NO_RELEVANT
        part = cells[[*_QUERY, "retriever"]].assign(
            measure=name, value=np.where(known, values, np.nan), reason=[None if valued else reason for valued in known]
        )
        parts.append(part)
    table = pd.concat(parts, ignore_index=True).sort_values([*_QUERY, "retriever", "measure"], ignore_index=True)
    kinds = {"value": pa.float64()}
    fields = [pa.field(name, kinds.get(name, pa.string())) for name in table.columns]
    return pa.Table.from_pandas(table, pa.schema(fields), preserve_index=False).replace_schema_metadata(None)


def _values(
    kind: Kind, cells: pd.DataFrame, rows: pd.DataFrame, labels: pd.DataFrame, cutoff: int, relevant_from: int
) -> tuple[_Array, NDArray[np.bool_]]:
    """Return a measure of each cell (query and retriever), and a mask of the cells with a value.

    Args:
        kind: the measure.
        cells: the query of each cell.
        rows: cell, grade (NaN if unlabelled) and place of the retrieved passages up to the cutoff, in order.
        labels: query, grade and place by decreasing grade of the labelled passages.
        cutoff: number of first passages that count.
        relevant_from: lowest grade of a relevant passage.
    """
    grade, place = rows["grade"].to_numpy(dtype=float), rows["place"].to_numpy()

    def total(values: NDArray[np.generic]) -> _Array:
        """Sum values of the rows by cell."""
        return np.asarray(np.bincount(rows["cell"], values.astype(float), len(cells)), float)

    def ideal(values: NDArray[np.generic]) -> _Array:
        """Sum values of the labels by query, for each cell."""
        return np.asarray(np.bincount(labels["query"], values.astype(float), len(labels))[cells["query"]], float)

    if kind == "judged":
        size = total(np.ones(len(rows)))
        return total(~np.isnan(grade)) / np.maximum(size, 1), size > 0
    label_grade, label_place = labels["grade"].to_numpy(dtype=float), labels["place"].to_numpy()
    n_relevant = ideal(label_grade >= relevant_from)
    hits = grade >= relevant_from
    if kind == "nDCG":
        gain = total(np.maximum(np.nan_to_num(grade), 0) / np.log2(place + 1))
        best = ideal(np.where(label_place <= cutoff, np.maximum(label_grade, 0), 0) / np.log2(label_place + 1))
        return gain / np.where(best > 0, best, 1), n_relevant > 0
    so_far = rows.assign(hit=hits).groupby("cell")["hit"].cumsum().to_numpy(dtype=float)
    if kind == "RR":
        return total(np.where(hits & (so_far == 1), 1 / place, 0)), n_relevant > 0
    found = total(hits if kind == "R" else np.where(hits, so_far / place, 0))
    return found / np.maximum(n_relevant, 1), n_relevant > 0


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
        RetrievalMean(row.language, row.system, row.feature, row.mean, row.low, row.high, row.n, row.total, row.unit)
        for row in every
    ]


def grades(passages: pa.Table, documents: pa.Table | None = None) -> pa.Table:
    """Return the labels of passages as grades.

    Args:
        passages: rows of `schema.Passage`.
        documents: rows of `schema.Document`, whose metadata may have a `grade`, as in imported qrels.

    Returns:
        Columns language, query_id, passage_id and grade (int64; 0 is not relevant), one row per labelled passage: its
        grade, else 1 or 0 for relevant or not. A negative grade (trec_eval's "not judged") is no label.
    """
    import pyarrow as pa

    key = ("language", "query_id", "passage_id")
    by_key: dict[tuple[str, str, str], int] = {}
    columns = (passages[name].to_pylist() for name in (*key, "relevant"))
    for language, query_id, passage_id, relevant in zip(*columns, strict=True):
        if relevant is not None:
            by_key[language, query_id, passage_id] = int(relevant)
    for row in documents.to_pylist() if documents is not None else ():
        grade = json.loads(row["metadata"]).get("grade") if row["metadata"] else None
        if isinstance(grade, int) and not isinstance(grade, bool):
            place = tuple(row[name] for name in key)
            if grade < 0:
                by_key.pop(place, None)
            else:
                by_key[place] = grade
    keys = list(by_key)
    data = {name: pa.array([entry[k] for entry in keys], pa.string()) for k, name in enumerate(key)}
    return pa.table({**data, "grade": pa.array(list(by_key.values()), pa.int64())})


def measure_retrievers(
    arena: Arena,
    *,
    measures: Sequence[str] = MEASURES,
    languages: Iterable[str] | None = None,
    relevant_from: int = RELEVANT_FROM,
) -> pa.Table:
    """Evaluate every retriever of an arena on its labelled queries.

    The retriever `given` is included, unless its passages were pooled from labels and runs, in no retriever's order.

    Args:
        arena: with passages labelled by people.
        measures: names of measures; judged@k is added for each measure at k.
        languages: codes; None for all.
        relevant_from: lowest grade that counts as relevant.

    Returns:
        As `measures.by_query`.

    Raises:
        NotEnoughData: if no passage has a label, or no retriever has results.
        UnknownName: if there is no such measure or language.
    """
    wanted = list(dict.fromkeys([*measures, *(f"judged@{measure(name)[1]}" for name in measures)]))
    passages, labels = labelled_passages(arena, languages)
    runs = ranked_lists(arena, passages, languages)
    return by_query(runs, labels, measures=wanted, relevant_from=relevant_from)


def ranked_lists(arena: Arena, passages: pa.Table, languages: Iterable[str] | None = None) -> pa.Table:
    """Return the passages of every retriever as `contexts`, with `rank` for the position.

    Those given with the queries are left out if they were pooled.

    Raises:
        NotEnoughData: if no retriever has results.
    """
    import pyarrow.compute as pc

    brought = passages.filter(pc.invert(pc.fill_null(passages["pooled"], False)))
    runs = contexts(brought, arena.read_optional("retrieved", languages=languages))
    if not len(runs):
        raise NotEnoughData("no retriever has results", where=arena.address, do=arena.command("retrieved"))
    rank = runs.column_names.index("position")
    return runs.rename_columns(["rank" if k == rank else name for k, name in enumerate(runs.column_names)])


def labelled_passages(arena: Arena, languages: Iterable[str] | None = None) -> tuple[pa.Table, pa.Table]:
    """Return an arena's passages and their grades.

    Raises:
        NotEnoughData: if no passage has a label.
    """
    codes = None if languages is None else list(languages)
    passages = arena.read("passages", languages=codes)
    labels = grades(passages, arena.read_optional("documents", languages=codes))
    if not len(labels):
        raise NotEnoughData(
            "no passage has a human relevance label",
            where=arena.address,
            do="import labels: mirage import QRELS --as trec --into DIR",
        )
    return passages, labels
