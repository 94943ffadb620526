"""Predictions of RGB, the benchmark of retrieval-augmented generation with noise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import answer_text, has_fields, need, number, system_of, text
from mirage.io.formats.logs import entries, read_passages
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, Record

_FILE = re.compile(r"prediction_(\w+?)_(.+?)_temp[\d.]+_noise")


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read a prediction; whether it holds the right answers is the score `correct`."""
    value = record.value
    file = _FILE.search(PurePath(record.where.rpartition(":")[0]).name)
    system = system_of(record, builder, file[2] if file else None)
    noise, query_id = value.get("noise_rate"), text(record, "id")
    correct, reason = _correct(value.get("label"))
    yield Item(
        need(record, "query"),
        # The passages of a query differ by the share of noise.
        query_id=query_id if query_id is None or noise in (None, 0) else f"{query_id} noise {noise}",
        language=text(record, "language") or (file[1].partition("_")[0] if file else None),
        reference=_reference(value.get("ans")),
        tags={"noise_rate": None if noise is None else str(noise)},
        passages=read_passages(value.get("docs"), record.where),
        answers=[GivenAnswer(system, answer_text(record, "prediction"))],
        scores=[GivenScore(system, "correct", "rgb", correct, low=0, high=1, reason=reason)],
    )


def _reference(given: Any) -> str | None:
    """Return the right answer; of several wordings the first, of several parts all."""
    parts = [part[0] if isinstance(part, list) and part else part for part in entries(given) or [given]]
    return ", ".join(str(part) for part in parts if part not in (None, "", [])) or None


def _correct(label: Any) -> tuple[float | None, str | None]:
    """Return 1 if every part of the answer was found, 0 if not, and none if the system declined."""
    labels = [number(entry) for entry in entries(label) or [label]]
    if None in labels:
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
    recognise=has_fields("query", "ans", "prediction", "docs", of="RGB"),
    items=_items,
    further="texts",
)
