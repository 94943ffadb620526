"""Predictions of RGB, the benchmark of retrieval-augmented generation with noise."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from mirage.io.formats.fields import answer_text, need, number, text
from mirage.io.formats.logs import Answers, read_passages
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenScore, Record, Sample

_FIELDS = ("query", "ans", "prediction", "docs")
_FILE = re.compile(r"prediction_(\w+?)_(.+?)_temp[\d.]+_noise")
_RATER = "rgb"
_SETTINGS = ("noise_rate",)


def recognise(sample: Sample) -> str | None:
    """Detect a query with answers, a prediction and documents."""
    return f"has {', '.join(_FIELDS)}, as RGB" if sample.fields >= set(_FIELDS) else None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each prediction as an answer; whether it holds the right answers is the score `correct`."""
    answers = Answers(builder)
    for record in records:
        value = record.value
        file = _FILE.search(PurePath(record.where.rpartition(":")[0]).name)
        system = text(record, "system", "model") or (file[2] if file else None)
        if system is None:
            system = PurePath(record.where.rpartition(":")[0]).name.split(".")[0] or "system"
            builder.note_guess("system", f"named {system} after the file; change it with --set system=NAME")
        tags = {name: str(value[name]) for name in _SETTINGS if value.get(name) is not None}
        noise = value.get("noise_rate")
        query = builder.query(
            need(record, "query"),
            where=record.where,
            query_id=_query_id(record, noise),
            language=text(record, "language") or (file[1].partition("_")[0] if file else None),
            reference=_reference(value.get("ans")),
            tags=tags or None,
        )
        shown = builder.passages(query, read_passages(value.get("docs"), record.where), where=record.where)
        if answers.add(query, GivenAnswer(system, answer_text(record, "prediction"), shown=shown), where=record.where):
            correct, reason = _correct(value.get("label"))
            score = GivenScore(system, "correct", _RATER, correct, person=False, low=0, high=1, reason=reason)
            answers.score(query, score, where=record.where)


def _query_id(record: Record, noise: Any) -> str | None:
    """Return the id with the share of noise, as the passages of a query differ by it."""
    query_id = text(record, "id")
    return query_id if query_id is None or noise in (None, 0) else f"{query_id} noise {noise}"


def _reference(given: Any) -> str | None:
    """Return the right answer; of several wordings the first, of several parts all."""
    parts = [
        part[0] if isinstance(part, list) and part else part for part in (given if isinstance(given, list) else [given])
    ]
    return ", ".join(str(part) for part in parts if part not in (None, "", [])) or None


def _correct(label: Any) -> tuple[float | None, str | None]:
    """Return 1 if every part of the answer was found, 0 if not, and none if the system declined."""
    labels = [number(entry) for entry in (label if isinstance(label, list) else [label])]
    if not labels or None in labels:
        return None, "the file has no label"
    if -1 in labels:
        return None, "the system said that its passages are insufficient"
    return float(0 not in labels), None


FORMAT = Format(
    name="rgb",
    title="RGB: predictions with noisy passages",
    source="chen700564/RGB, evalue.py at 65ec39e (id, query, ans, label, prediction, docs, noise_rate, factlabel; a "
    "label is 1 for each part of the answer that the prediction holds, -1 if it says that information is insufficient)",
    gives=("queries", "tags", "references", "passages", "answers", "samples", "scores"),
    recognise=recognise,
    read=read,
)
