"""Column names of both generations of the public data sets, and checks of their values."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from mirage.errors import BadInput

FEATURES: dict[str, tuple[str, str]] = {
    "target_language": ("target_language", "language_detection"),
    "english_language": ("english_language", "en_detection"),
    "citation_MAP@10": ("citation_MAP@10", "citation_MAP@10"),
    "citation_Recall@10": ("citation_Recall@10", "citation_Recall@10"),
    "support_entailment": ("support_entailment", "xlni_context_entailment"),
    "support_neutral": ("support_neutral", "xlni_context_neutral"),
    "reranker_score": ("reranker_score", "bge-reranker-v2-m3-score"),
    "answer_bleu": ("answer_bleu", "answer_bleu"),
    "answer_rougeL": ("answer_rougeL", "answer_rougeL"),
    "answer_overlap_score": ("answer_overlap_score", "Meta-Llama-3-8B-Instruct-answer-eval"),
    "fluency_score": ("fluency_score", "Meta-Llama-3-8B-Instruct-fluency"),
}
"""The eleven features: our name, and the columns of `mirage-bench-output` and of the older `mirage-eval-rag-output`."""

QUESTION = ("query_id", "prompt", "positive_ids", "negative_ids")
"""Columns of a query, in both generations."""
ANSWERS = ("query_id", "outputs")
"""Columns of the answers to a query, besides one for each feature."""
JUDGMENT = ("query_id", "judge", "model_A", "model_B", "verdict")
"""Columns of a verdict; `output`, the rationale, is optional."""

VERDICTS = {"a": "A", "b": "B", "tie": "tie", "c": "tie"}
"""Our verdict by theirs in lower case. The prompt uses `C` for a tie."""


def content_kinds(columns: Collection[str], where: str) -> set[str]:
    """Return the content of a file by its columns: `questions`, `answers`, `judgments`; older sets have the first two.

    Raises:
        BadInput: if it has none of these.
    """
    kinds = set()
    if "outputs" in columns:
        kinds.add("answers")
    if "prompt" in columns and not ("outputs" in columns and not {"positive_ids", "negative_ids"} & set(columns)):
        kinds.add("questions")
    if {"verdict", "model_A", "model_B"} & set(columns):
        kinds.add("judgments")
    if not kinds:
        raise BadInput(
            "this is none of the data sets of MIRAGE-Bench: there are " + (", ".join(columns) or "no columns"),
            where=where,
            do="queries have prompt, answers have outputs, judgments have verdict",
        )
    return kinds


def need(row: Mapping[str, Any], names: Collection[str], where: str) -> None:
    """Reject a row that lacks a column.

    Raises:
        BadInput: with the missing column and the existing columns.
    """
    for name in names:
        if name not in row:
            raise BadInput(
                f"the column {name} is missing; there are {', '.join(row)}",
                where=where,
                do=f"such a row needs {', '.join(names)}",
            )


def text(row: Mapping[str, Any], name: str, where: str) -> str:
    """Return a non-empty text, or the digits of a whole number.

    Raises:
        BadInput: if it is something else.
    """
    value = row[name]
    if type(value) is int:
        value = str(value)
    if not isinstance(value, str) or not value:
        raise BadInput(f"{name} is {value!r}, not a text", where=where, do="write it as the published files do")
    return value


def ids(row: Mapping[str, Any], name: str, where: str) -> list[str]:
    """Return a list of passage ids; empty for null.

    Raises:
        BadInput: if it is something else, or has an id twice.
    """
    value = row[name] or []
    if not isinstance(value, list) or not all(isinstance(passage_id, str) and passage_id for passage_id in value):
        raise BadInput(f"{name} is {value!r}, not a list of ids", where=where, do="write it as the published files do")
    if len(set(value)) < len(value):
        raise BadInput(f"{name} names a passage twice", where=where, do="name every passage once")
    return value


def number_or_null(value: Any, name: str, where: str) -> float | None:
    """Return a number; null for null and for values that are not finite.

    Raises:
        BadInput: if it is something else.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{name} is {value!r}, not a number", where=where, do="write null where there is none")
    return float(value) if math.isfinite(value) else None
