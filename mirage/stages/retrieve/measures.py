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

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Literal, cast, get_args

import pyarrow as pa
import pyarrow.compute as pc

from mirage import schema
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.schema import QueryKey
from mirage.stages.features.citation import average_precision, recall
from mirage.stages.features.means import means as feature_means
from mirage.stages.features.means import over_languages
from mirage.stages.shown import contexts
from mirage.stats.rows import group, read_rows
from mirage.stats.units import Unit
from mirage.store.arena import Arena

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
    """Queries with a value; an id shared by languages counts once."""
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
    wanted = {name: measure(name) for name in sorted(measures)}
    labels = labels_by_query(grades)
    ordered = retrieved.sort_by([("rank", "ascending"), ("passage_id", "ascending")])
    found = read_rows(ordered, "language", "retriever", "query_id", "passage_id")
    lists = group((row[:3], row[3]) for row in found)
    for (language, retriever, query_id), ids in lists.items():
        passage, n = Counter(ids).most_common(1)[0]
        if n > 1:
            raise BadInput(
                f"{retriever} retrieved the passage {passage} twice",
                where=f"language={language!r}, query_id={query_id!r}",
                do="keep one of its ranks",
            )
    retrievers: dict[str, list[str]] = group(sorted({of[:2] for of in lists}))
    rows: list[tuple[str | float | None, ...]] = []
    for (language, query_id), labelled in sorted(labels.items()):
        for retriever in retrievers.get(language, ()):
            ids = lists.get((language, retriever, query_id), [])
            for name, (kind, cutoff) in wanted.items():
                value = _measure(kind, ids[:cutoff], labelled, cutoff, relevant_from)
                known = not isinstance(value, str)
                rows.append((language, query_id, retriever, name, value if known else None, None if known else value))
    names = (*_QUERY, "retriever", "measure", "value", "reason")
    fields = pa.schema([(name, pa.float64() if name == "value" else pa.string()) for name in names])
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], fields)


def _measure(
    kind: Kind, ids: Sequence[str], labelled: Mapping[str, int], cutoff: int, relevant_from: int
) -> float | str:
    """Return a measure of the first passages of a ranking, or the reason why there is none."""
    if kind == "judged":
        return sum(name in labelled for name in ids) / len(ids) if ids else NOTHING
    relevant = {name for name, grade in labelled.items() if grade >= relevant_from}
    if not relevant:
        return NO_RELEVANT
    if kind == "nDCG":
        best = _gain(sorted(labelled.values(), reverse=True)[:cutoff])
        return _gain([labelled.get(name, 0) for name in ids]) / best if best else 0.0
    if kind == "RR":
        return next((1 / rank for rank, name in enumerate(ids, 1) if name in relevant), 0.0)
    return (recall if kind == "R" else average_precision)(ids, relevant, cutoff)


def _gain(ranked: Iterable[int]) -> float:
    return sum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(ranked, 1))


def means(measured: pa.Table) -> list[RetrievalMean]:
    """Average measures over queries by language and retriever, then over languages with equal weights.

    Args:
        measured: result of `by_query`.
    """
    table = measured.rename_columns({"retriever": "system", "measure": "feature"})
    bounds = dict.fromkeys(table["feature"].unique().to_pylist(), (0.0, 1.0))
    rows = feature_means(table, bounds=bounds)
    every = [*rows, *over_languages(rows, table, bounds=bounds)]
    return [RetrievalMean(*(*of[:8], of[-1])) for of in map(astuple, every)]


def grades(passages: pa.Table, documents: pa.Table | None = None) -> pa.Table:
    """Return the labels of passages as grades.

    Args:
        passages: rows of `schema.Passage`.
        documents: rows of `schema.Document`, whose metadata may have a `grade`, as in imported qrels.

    Returns:
        Columns language, query_id, passage_id and grade (int64; 0 is not relevant), one row per labelled passage: its
        grade, else 1 or 0 for relevant or not. A negative grade (trec_eval's "not judged") is not a label.
    """
    key = schema.key("passages")
    by_key = {tuple(of): int(label) for *of, label in read_rows(passages, *key, "relevant") if label is not None}
    for row in documents.to_pylist() if documents is not None else ():
        grade = json.loads(row["metadata"]).get("grade") if row["metadata"] else None
        if isinstance(grade, int) and not isinstance(grade, bool):
            place = tuple(row[name] for name in key)
            if grade < 0:
                by_key.pop(place, None)
            else:
                by_key[place] = grade
    rows = [dict(zip((*key, "grade"), (*of, grade), strict=True)) for of, grade in by_key.items()]
    return pa.Table.from_pylist(rows, pa.schema([*((name, pa.string()) for name in key), ("grade", pa.int64())]))


def labels_by_query(grades: pa.Table) -> dict[QueryKey, dict[str, int]]:
    """Return the grade of each labelled passage of a query, from the result of `grades`."""
    labels: dict[QueryKey, dict[str, int]] = {}
    for language, query_id, passage_id, grade in read_rows(grades, *_QUERY, "passage_id", "grade"):
        labels.setdefault((language, query_id), {})[passage_id] = grade
    return labels


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
    brought = passages.filter(pc.invert(pc.fill_null(passages["pooled"], False)))
    runs = contexts(brought, arena.read_optional("retrieved", languages=languages))
    if not len(runs):
        raise NotEnoughData("no retriever has results", where=arena.address, do=arena.command("retrieved"))
    return runs.rename_columns({"position": "rank"})


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
            "no passage has a relevance label",
            where=arena.address,
            do="import labels: mirage import QRELS --as trec --into DIR",
        )
    return passages, labels
