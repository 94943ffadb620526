"""The format that a file of no known format comes nearest to, with the options that make it fit."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import rag
from mirage.io.formats.build import Builder, read_items
from mirage.io.formats.fields import is_measure
from mirage.io.formats.registry import format_named
from mirage.io.formats.spec import Record, Sample
from mirage.io.options import Options

_DEEPEST = 4
"""Number of names in the path of a field that is considered."""
_TEXTS = ("question", "prompt", "answer", "text", "response_a", "response_b")
_ABOUT = ("_id", "_ids", "_score", "_type", "_time", "_date", "_url", "_path", "_file", "_lang", "_language")
"""Ends of names that are about one of our fields, and not its value."""
_MANY = 5
"""Records from which systems are fewer than records."""
_ENDS = ".!?。！？؟।"
_ASKING = ("?", "？", "؟", "՞", ";")
"""Ends of questions."""
_FORMATS: dict[str, tuple[tuple[str, ...], dict[str, Sequence[str]]]] = {
    "lmsys": (
        ("model_a", "model_b", "prompt", "response_a", "response_b", "winner"),
        {
            "model_a": ("model_a", "model_1", "system_a", "left_model", "first_model"),
            "model_b": ("model_b", "model_2", "system_b", "right_model", "second_model"),
            "prompt": ("prompt", "question", "query", "instruction"),
            "response_a": ("response_a", "answer_a", "output_a", "response_1", "answer_1", "left_answer"),
            "response_b": ("response_b", "answer_b", "output_b", "response_2", "answer_2", "right_answer"),
            "winner": ("winner", "preference", "choice", "verdict", "vote"),
            "id": ("id", "question_id"),
            "language": rag.FIELDS["language"],
        },
    ),
    "rag": (
        ("question", "answer"),
        {
            name: rag.FIELDS[name]
            for name in ("question", "answer", "contexts", "system", "id", "language", "reference")
        },
    ),
    "answers": (
        ("query_id", "system", "text"),
        {
            "query_id": ("query_id", "qid", "question_id", "topic_id"),
            "system": rag.FIELDS["system"],
            "text": ("text", *rag.FIELDS["answer"]),
            "language": rag.FIELDS["language"],
        },
    ),
}
"""Formats of flat records, the most demanding first: the fields that they need, and the further names of each field."""


def suggest_command(sample: Sample) -> str | None:
    """Return the command that reads a file in the nearest format, checked on its first records.

    None if no format comes near, or two fields may be the same one of its fields.
    """
    fields = _fields(sample.records)
    for name, (needed, aliases) in _FORMATS.items():
        if (names := _match(needed, aliases, fields)) is None:
            continue
        renamed = {theirs: ours for ours, theirs in names.items() if theirs != ours}
        options = Options(renamed, {"system": "NAME"} if name == "rag" and "system" not in names else {})
        if _takes(name, replace(sample, records=tuple(options.apply(record) for record in sample.records))):
            parts = ["mirage", "import", str(sample.path), "--as", name]
            parts += [part for pair in renamed.items() for part in ("--map", "=".join(pair))]
            parts += [part for pair in options.values.items() for part in ("--set", "=".join(pair))]
            return shlex.join(parts)
    return None


def _takes(name: str, sample: Sample) -> bool:
    """Return whether a format recognises and reads all of some records, with their fields already named."""
    entry = format_named(name)
    try:
        builder = Builder()
        for item in read_items(entry, (Record(record, str(sample.path)) for record in sample.records), builder):
            builder.take(item, entry.further)
    except BadInput:
        return False
    return entry.recognise(sample) is not None


def _match(
    needed: Sequence[str], aliases: Mapping[str, Sequence[str]], fields: Mapping[str, list[Any]]
) -> dict[str, str] | None:
    """Return the file's field for each of ours; None if a needed one is missing, or two may be the answer."""
    names: dict[str, str] = {}
    exact = {theirs: ours for ours, known in aliases.items() for theirs in fields if _words(theirs) in known}
    for ours, known in aliases.items():
        free = {
            theirs: likeness
            for theirs, values in fields.items()
            if theirs not in names.values()
            and exact.get(theirs, ours) == ours
            and (likeness := _similarity(ours, theirs, known, values))
        }
        if ours in ("answer", "text") and len(free) > 1:
            return None
        if free:
            names[ours] = max(free, key=lambda theirs: free[theirs])
        elif ours in needed:
            return None
    return names


def _words(theirs: str) -> str:
    """Return the last name of a field's path in lower case with `_` between words: `model_answer` of `ModelAnswer`."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|[\s.:-]+", "_", theirs.rpartition(".")[2])
    return name.casefold()


def _similarity(ours: str, theirs: str, aliases: Sequence[str], values: Sequence[Any]) -> int:
    """Return how likely a field is one of ours if its values may be such: 2 by its name, 1 by a word of its name, or
    for questions by their ends; else 0.
    """
    if not _FITS.get(ours, bool)(values):
        return 0
    name = _words(theirs)
    if name in aliases:
        return 2
    if ours in _TEXTS and name.endswith(_ABOUT):
        return 0
    asked = ours in ("question", "prompt") and all(map(_asks, values))
    return int(asked or not set(name.split("_")).isdisjoint(aliases))


def _asks(value: Any) -> bool:
    return isinstance(value, str) and value.rstrip().endswith(_ASKING)


def _are_texts(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(value, str) and not is_measure(value) for value in values)


def _are_answers(values: Sequence[Any]) -> bool:
    """Return whether values may be answers: texts or numbers, few of them questions."""
    return any(isinstance(value, str) for value in values) and 2 * sum(map(_asks, values)) < len(values)


def _are_names(values: Sequence[Any]) -> bool:
    """Return whether values may be names of systems: short texts that are no sentences, and few of them."""
    named = _are_texts(values) and all(len(v) <= 80 and len(v.split()) <= 6 and v[-1] not in _ENDS for v in values)
    return named and (len(values) < _MANY or 2 * len(set(values)) <= len(values))


_FITS: Mapping[str, Callable[[Sequence[Any]], bool]] = {
    **dict.fromkeys(("question", "prompt"), _are_texts),
    **dict.fromkeys(("answer", "text", "response_a", "response_b"), _are_answers),
    **dict.fromkeys(("system", "model_a", "model_b"), _are_names),
    "language": lambda values: _are_texts(values) and max(map(len, values)) <= 24,
}
"""Whether values may be those of one of our fields; any values of the others."""


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
