"""Cheap measures of a reply, one file a family: each declares its features and measures them.

    table = compute(queries, passages, answers)     # schema.Feature: a value or a reason for each reply and feature
    means(table)                                    # a system's value in a language, with interval and coverage

`spec.py` says what a feature is; `length.py` is the shortest example of a family. To add one, write its file and list
it in `families.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.features.families import FAMILIES, FEATURES
from mirage.features.means import FeatureMean, means
from mirage.features.spec import Family, FeatureSpec, Measured, Reply

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FAMILIES", "FEATURES", "FeatureMean", "FeatureSpec", "compute", "means"]

_BLOCK = 1_000


def compute(
    queries: pa.Table,
    passages: pa.Table,
    answers: pa.Table,
    *,
    only: Iterable[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pa.Table:
    """Measure every reply: one row of `schema.Feature` for each reply and feature, sorted by key.

    A feature that cannot be measured is null with a reason. A reply that is missing or empty has no value of any. The
    error text of an API is measured as the text it is: its outcome says what it is.

    Args:
        queries: `schema.Query` rows; every answer's question must be among them.
        passages: `schema.Passage` rows, of as many questions as are known.
        answers: `schema.Answer` rows.
        only: names of the features wanted; all if None.
        progress: called with how many replies are done, and of how many.

    Raises:
        UnknownName: if a wanted feature is not one of `FEATURES`.
        BadInput: if an answer belongs to a question that is not there.
    """
    import numpy as np
    import pyarrow as pa

    wanted = list(FEATURES if only is None else dict.fromkeys(only))
    for name in wanted:
        if name not in FEATURES:
            raise UnknownName("feature", name, FEATURES)
    wanted.sort()
    families = [f for f in FAMILIES if any(s.name in wanted for s in f.specs)]
    measured_names = [s.name for f in families for s in f.specs]
    picked = [measured_names.index(name) for name in wanted]

    answers = schema.sort("answers", answers.select(["language", "query_id", "system", "text", "status", "template"]))
    asked = set(zip(queries["language"].to_pylist(), queries["query_id"].to_pylist(), strict=True))
    shown = _shown(passages)
    values = np.full((len(answers), len(wanted)), np.nan)
    reasons = np.full((len(answers), len(wanted)), -1, dtype=np.int32)
    codes: dict[str, int] = {}
    for start in range(0, len(answers), _BLOCK):
        for row, answer in enumerate(answers.slice(start, _BLOCK).to_pylist(), start=start):
            query = answer["language"], answer["query_id"]
            if query not in asked:
                raise BadInput(
                    f"there is an answer of {answer['system']} to a question that is not among the queries",
                    where=f"language={query[0]!r}, query_id={query[1]!r}",
                    do="import the questions that the answers belong to",
                )
            found = _measure(answer, *shown.get(query, ((), ())), families, len(measured_names))
            for column, at in enumerate(picked):
                one = found[at]
                if isinstance(one, str):
                    reasons[row, column] = codes.setdefault(one, len(codes))
                else:
                    values[row, column] = one
        if progress is not None:
            progress(min(start + _BLOCK, len(answers)), len(answers))

    rows = np.repeat(np.arange(len(answers)), len(wanted))
    flat, why = values.ravel(), reasons.ravel()
    return schema.from_columns(
        "features",
        {
            **{key: answers[key].take(pa.array(rows)) for key in ("language", "query_id", "system")},
            "feature": pa.array(wanted, pa.string()).take(pa.array(np.tile(np.arange(len(wanted)), len(answers)))),
            "value": pa.array(flat, mask=np.isnan(flat)),
            "reason": pa.array(list(codes), pa.string()).take(pa.array(why, mask=why < 0)),
        },
    )


def _measure(
    answer: dict[str, Any],
    passage_ids: tuple[str, ...],
    relevant: tuple[bool | None, ...],
    families: list[Family],
    n: int,
) -> list[Measured]:
    """The values or reasons of one answer, family by family."""
    text = answer["text"]
    if text is None:
        return [f"no reply ({answer['status']})"] * n
    if not text.strip():
        return ["empty reply"] * n
    reply = Reply(answer["language"], text, answer["template"], passage_ids, relevant)
    return [one for family in families for one in family.measure(reply)]


def _shown(passages: pa.Table) -> dict[tuple[str, str], tuple[tuple[str, ...], tuple[bool | None, ...]]]:
    """Ids and labels of the passages of each question, in the order of the prompt."""
    ordered = passages.select(["language", "query_id", "position", "passage_id", "relevant"]).sort_by(
        [("language", "ascending"), ("query_id", "ascending"), ("position", "ascending")]
    )
    columns = [ordered[c].to_pylist() for c in ("language", "query_id", "passage_id", "relevant")]
    shown: dict[tuple[str, str], tuple[list[str], list[bool | None]]] = {}
    for code, query, passage, relevant in zip(*columns, strict=True):
        ids, labels = shown.setdefault((code, query), ([], []))
        ids.append(passage)
        labels.append(relevant)
    return {query: (tuple(ids), tuple(labels)) for query, (ids, labels) in shown.items()}
