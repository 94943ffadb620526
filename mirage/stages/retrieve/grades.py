"""Relevance grades of passages from human labels, graded if the source is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

RELEVANT_FROM = 1
"""Lowest grade that counts as relevant, as in trec_eval."""


def grades(passages: pa.Table, documents: pa.Table | None = None) -> pa.Table:
    """Return the labels of passages as grades.

    Args:
        passages: rows of `schema.Passage`.
        documents: rows of `schema.Document`, whose metadata may have a `grade`, as in imported qrels.

    Returns:
        Columns language, query_id, passage_id and grade (int64; 0 is not relevant), one row per labelled passage: its
        grade, else 1 or 0 for relevant or not. A negative grade (trec_eval's "not judged") is no label.
    """
    import json

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
