"""The format that a file of no known format comes nearest to, with the options that make it fit."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
_LEAST = 0.6
"""Minimum similarity of a field's name to ours."""
_SURE = 0.9
"""Similarity of a name that has one of ours as a word."""
_TEXTS = ("question", "prompt", "answer", "text")
_ABOUT = ("_id", "_ids", "_score", "_type", "_time", "_date", "_url", "_path", "_file", "_lang", "_language")
"""Ends of names that are about one of our fields, and not its value."""
_MANY = 5
"""Records from which systems are fewer than records."""
_ENDS = ".!?。！？؟।"
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

    None if no format comes near, or two fields may be the same one of its fields.
    """
    fields = _fields(sample.records)
    found = ((name, match) for name, wanted in _FORMATS.items() if (match := _match(wanted, fields)) is not None)
    for name, (names, _) in sorted(found, key=lambda entry: -entry[1][1]):
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


def _match(wanted: _Wanted, fields: Mapping[str, list[Any]]) -> tuple[dict[str, str], float] | None:
    """Return the file's field for each of ours, and the similarity of the required fields.

    None if one is missing, or two of the file's fields may be the answer.
    """
    names: dict[str, str] = {}
    total = 0.0
    every = {**wanted.needed, **wanted.more}
    exact = {theirs: ours for ours, aliases in every.items() for theirs in fields if _words(theirs) in aliases}
    for ours, aliases in every.items():
        least = _LEAST if ours in wanted.needed else _SURE
        free = {
            theirs: likeness
            for theirs, values in fields.items()
            if theirs not in names.values()
            and exact.get(theirs, ours) == ours
            and (likeness := _similarity(ours, theirs, aliases, values)) >= least
        }
        if ours in ("answer", "text") and sum(likeness >= _SURE for likeness in free.values()) > 1:
            return None
        if free:
            names[ours] = max(free, key=lambda theirs: free[theirs])
            total += free[names[ours]] * (ours in wanted.needed)
        elif ours in wanted.needed:
            return None
    # Of two formats that fit alike, the one with more fields says more.
    return names, total / len(wanted.needed) + 0.02 * len(wanted.needed)


def _words(theirs: str) -> str:
    """Return the last name of a field's path in lower case with `_` between words: `model_answer` of `ModelAnswer`."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|[\s.:-]+", "_", theirs.rpartition(".")[2])
    return name.casefold()


def _similarity(ours: str, theirs: str, aliases: Sequence[str], values: Sequence[Any]) -> float:
    """Return how likely a field is one of ours, in [0, 1.1]: by its name, if its values may be such; and for questions
    by their ends.
    """
    if not _FITS.get(ours, _any)(values):
        return 0.0
    name = _words(theirs)
    if name in aliases:
        likeness = 1.0
    elif ours in _TEXTS and name.endswith(_ABOUT):
        return 0.0
    elif any(alias in name.split("_") for alias in aliases):
        likeness = _SURE
    else:
        likeness = max(difflib.SequenceMatcher(None, name, alias).ratio() for alias in aliases)
    if ours in ("question", "prompt"):
        asking = sum(value.rstrip().endswith(_ASKING) for value in values) / len(values)
        likeness = max(likeness, 0.7 * asking) + 0.1 * asking
    return likeness


def _any(values: Sequence[Any]) -> bool:
    return bool(values)


def _are_texts(values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(value, str) and not is_measure(value) for value in values)


def _are_answers(values: Sequence[Any]) -> bool:
    """Return whether values may be answers: texts or numbers, few of them questions."""
    asking = sum(isinstance(value, str) and value.rstrip().endswith(_ASKING) for value in values)
    return any(isinstance(value, str) for value in values) and 2 * asking < len(values)


def _are_names(values: Sequence[Any]) -> bool:
    """Return whether values may be names of systems: short texts that are no sentences, and few of them."""
    named = _are_texts(values) and all(len(v) <= 80 and len(v.split()) <= 6 and v[-1] not in _ENDS for v in values)
    return named and (len(values) < _MANY or 2 * len(set(values)) <= len(values))


_FITS: Mapping[str, Callable[[Sequence[Any]], bool]] = {
    **dict.fromkeys(("question", "prompt"), _are_texts),
    **dict.fromkeys(("answer", "text", "response_a", "response_b"), _are_answers),
    **dict.fromkeys(("system", "model_a", "model_b", "system_a", "system_b", "judge"), _are_names),
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
