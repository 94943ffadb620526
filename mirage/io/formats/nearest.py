"""The command that reads a file of no known format as flat RAG records, with the options that make it fit."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import rag
from mirage.io.formats.build import Builder, read_items
from mirage.io.formats.fields import is_measure
from mirage.io.formats.spec import Record, Sample
from mirage.io.options import Options

_DEEPEST = 4
"""Number of names in the path of a field that is considered."""
_ABOUT = ("_id", "_ids", "_score", "_type", "_time", "_date", "_url", "_path", "_file", "_lang", "_language")
"""Ends of names that are about one of our fields, and not its value."""
_MANY = 5
"""Records from which systems are fewer than records."""
_ENDS = ".!?。！？؟।"
_ASKING = ("?", "？", "؟", "՞", ";")
"""Ends of questions."""
_FIELDS = {
    name: rag.FIELDS[name] for name in ("question", "answer", "contexts", "system", "id", "language", "reference")
}


def suggest_command(sample: Sample) -> str | None:
    """Return the command that reads a file as flat RAG records (`rag`), checked on its first records.

    None if it has no question or no answer, or two fields may be the answer.
    """
    names = _match(_fields(sample.records))
    if names is None:
        return None
    renamed = {theirs: ours for ours, theirs in names.items() if theirs != ours}
    options = Options(renamed, {} if "system" in names else {"system": "NAME"})
    builder = Builder()
    try:
        records = (Record(options.apply(record), str(sample.path)) for record in sample.records)
        for item in read_items(rag.FORMAT, records, builder):
            builder.take(item, rag.FORMAT.further)
    except BadInput:
        return None
    parts = ["mirage", "import", str(sample.path), "--as", "rag"]
    parts += [part for pair in renamed.items() for part in ("--map", "=".join(pair))]
    parts += [part for pair in options.values.items() for part in ("--set", "=".join(pair))]
    return shlex.join(parts)


def _match(fields: Mapping[str, list[Any]]) -> dict[str, str] | None:
    """Return the file's field for each of ours; None if it has no question, no answer, or two that may be it."""
    names: dict[str, str] = {}
    exact = {theirs: ours for ours, aliases in _FIELDS.items() for theirs in fields if _words(theirs) in aliases}
    for ours in _FIELDS:
        free = {
            theirs: likeness
            for theirs, values in fields.items()
            if theirs not in names.values()
            and exact.get(theirs, ours) == ours
            and (likeness := _similarity(ours, theirs, values))
        }
        if ours == "answer" and len(free) > 1:
            return None
        if free:
            names[ours] = max(free, key=lambda theirs: free[theirs])
    return names if {"question", "answer"} <= names.keys() else None


def _words(theirs: str) -> str:
    """Return the last name of a field's path in lower case with `_` between words: `model_answer` of `ModelAnswer`."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|[\s.:-]+", "_", theirs.rpartition(".")[2])
    return name.casefold()


def _similarity(ours: str, theirs: str, values: Sequence[Any]) -> int:
    """Return how likely a field is one of ours if its values may be such: 2 by its name, 1 by a word of its name, or
    for questions by their ends; else 0.
    """
    if not _FITS.get(ours, bool)(values):
        return 0
    name, aliases = _words(theirs), _FIELDS[ours]
    if name in aliases:
        return 2
    if ours in ("question", "answer") and name.endswith(_ABOUT):
        return 0
    asked = ours == "question" and all(map(_asks, values))
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
    "question": _are_texts,
    "answer": _are_answers,
    "system": _are_names,
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
