"""The format that a file of no known format comes nearest to, with the options that make it fit."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mirage.io.formats import rag
from mirage.io.formats.registry import format_named
from mirage.io.formats.spec import Sample
from mirage.io.sources.files import Options

_DEEPEST = 4
"""Number of names in the path of a field that is considered."""
_LEAST = 0.6
"""Minimum similarity of a field's name to ours."""
_ASKING = ("?", "？", "؟", "՞", ";")
"""Ends of questions."""
_PAIR = {
    "model_a": ("model_a", "model_1", "system_a", "left_model", "first_model"),
    "model_b": ("model_b", "model_2", "system_b", "right_model", "second_model"),
}
_JOINED = {"query_id": ("query_id", "qid", "question_id", "topic_id")}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Fields of a format: those that it needs, and others that it reads; each with further names for it."""

    needed: Mapping[str, Sequence[str]]
    more: Mapping[str, Sequence[str]]


_FORMATS = {
    "lmsys": _Wanted(
        {
            **_PAIR,
            "prompt": ("prompt", "question", "query", "instruction"),
            "response_a": ("response_a", "answer_a", "output_a", "response_1", "answer_1", "left_answer"),
            "response_b": ("response_b", "answer_b", "output_b", "response_2", "answer_2", "right_answer"),
            "winner": ("winner", "preference", "choice", "verdict", "vote"),
        },
        {"id": ("id", "question_id"), "language": ("language", "lang")},
    ),
    "rag": _Wanted(
        {name: rag.FIELDS[name] for name in ("question", "answer")},
        {name: rag.FIELDS[name] for name in ("contexts", "system", "id", "language", "reference")},
    ),
    "lmarena": _Wanted({**_PAIR, "winner": ("winner", "preference", "choice", "vote")}, {}),
    "judgments": _Wanted(
        {
            **_JOINED,
            "judge": ("judge", "annotator", "rater", "evaluator"),
            "system_a": _PAIR["model_a"],
            "system_b": _PAIR["model_b"],
        },
        {"verdict": ("verdict", "winner", "choice", "preference")},
    ),
    "answers": _Wanted(
        {**_JOINED, "system": rag.FIELDS["system"], "text": ("text", *rag.FIELDS["answer"])},
        {"language": ("language", "lang")},
    ),
    "queries": _Wanted({**_JOINED, "text": ("text", *rag.FIELDS["question"])}, {"language": ("language", "lang")}),
}
"""Formats of flat records that fields can be mapped to, the most demanding first."""


def suggest_command(sample: Sample) -> str | None:
    """Return the command that reads a file in the nearest format, checked on its first records.

    None if no format comes near.
    """
    fields = _fields(sample.records)
    found = ((name, match) for name, wanted in _FORMATS.items() if (match := _match(wanted, fields)) is not None)
    for name, (names, _) in sorted(found, key=lambda entry: -entry[1][1]):
        options = Options({theirs: ours for ours, theirs in names.items() if theirs != ours})
        mapped = replace(sample, records=tuple(options.apply(record) for record in sample.records))
        if format_named(name).recognise(mapped):
            parts = ["mirage", "import", name, str(sample.path)]
            parts += [part for pair in options.names.items() for part in ("--map", "=".join(pair))]
            if name == "rag" and "system" not in names:
                parts += ["--set", "system=NAME"]
            return shlex.join(parts)
    return None


def _match(wanted: _Wanted, fields: Mapping[str, list[Any]]) -> tuple[dict[str, str], float] | None:
    """Return the file's field for each of ours, and the similarity of the required fields; None if one is missing."""
    names: dict[str, str] = {}
    total = 0.0
    for ours, aliases in {**wanted.needed, **wanted.more}.items():
        left = ((theirs, _similarity(ours, theirs, aliases, values)) for theirs, values in fields.items())
        free = [entry for entry in left if entry[0] not in names.values() and entry[1] >= _LEAST]
        if free:
            names[ours], similarity = max(free, key=lambda entry: entry[1])
            total += similarity * (ours in wanted.needed)
        elif ours in wanted.needed:
            return None
    # Of two formats that fit alike, the one with more fields says more.
    return names, total / len(wanted.needed) + 0.02 * len(wanted.needed)


def _similarity(ours: str, theirs: str, aliases: Sequence[str], values: Sequence[Any]) -> float:
    """Return how likely a field is one of ours, in [0, 1.1]: by its name, and for questions by their ends."""
    name = theirs.rpartition(".")[2].casefold()
    if name in aliases:
        likeness = 1.0
    elif any(alias in name.replace("-", "_").split("_") for alias in aliases):
        likeness = 0.9
    else:
        likeness = max(difflib.SequenceMatcher(None, name, alias).ratio() for alias in aliases)
    if ours in ("question", "prompt") and values:
        asking = sum(isinstance(value, str) and value.rstrip().endswith(_ASKING) for value in values) / len(values)
        likeness = max(likeness, 0.7 * asking) + 0.1 * asking
    if ours in ("question", "prompt", "answer", "text", "system") and not any(isinstance(v, str) for v in values):
        return 0.0
    return likeness


def _fields(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the values of the fields of records by path, also within objects."""
    fields: dict[str, list[Any]] = {}
    for record in records:
        for path, value in _paths(record, ()):
            fields.setdefault(path, []).append(value)
    return fields


def _paths(value: Mapping[str, Any], outer: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        path = (*outer, str(name))
        if isinstance(inner, Mapping) and len(path) < _DEEPEST:
            yield from _paths(inner, path)
        elif inner not in (None, "", []):
            yield ".".join(path), inner
