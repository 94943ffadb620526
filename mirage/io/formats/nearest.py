"""Describe a file of no known format: what it holds, and the command that reads it, checked on its first records."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any, get_args

from mirage import schema
from mirage.errors import BadInput
from mirage.io import values
from mirage.io.formats import own, pairs, rag
from mirage.io.formats.battles import hold_texts
from mirage.io.formats.build import Builder, Format, TwoAnswers, read_items
from mirage.io.formats.fields import FIELDS, FOUND, fold_field, is_measure, number, plain
from mirage.io.formats.spec import Record, Sample
from mirage.io.options import Options

_DEEPEST = 3
"""Number of names in the path of a field that is considered."""
_FEW = 8
"""Different values up to which a field may hold verdicts."""
_SHORT = 80
"""Characters of a name or an id."""
_NAMES = {
    ours: tuple(dict.fromkeys(map(fold_field, (*FIELDS.get(ours, ()), *FOUND.get(ours, ())))))
    for ours in ("verdict", "question", "answer", "system", "id", "judge", "language", "contexts", "reference")
}
"""Folded names by our field; all but those of names and ids count as words of a name too (`bot_reply`)."""
_WHOLE = ("id", "judge", "language", "system")
_NUMBERED = re.compile(r"(?:.*_)?(?:ids?|idx|index|no|nr|number|turn|row|line|time|timestamp|date|at|message)")
"""Names of numbers that may tell records apart."""
_PLACES = ("system_a", "system_b")
_ASKING = ("?", "？", "؟", "՞")

_MAPPED = (
    "name its fields: mirage import FILE --as rag --map THEIRS=question,THEIRS=answer,THEIRS=system; or, with a column "
    "of answers for each system: --as wide --map THEIRS=question,COLUMN=answer_SYSTEM; or for verdicts: --as judgments "
    "--map THEIRS=system_a,THEIRS=system_b,THEIRS=verdict; mirage import --formats lists all formats"
)
_Fields = Mapping[str, list[Any]]
"""Values of the records by path."""


@dataclass(slots=True)
class _Reading:
    """A way to read a file: a format, and the options that make its fields fit."""

    format: Format
    names: dict[str, str] = field(default_factory=dict)
    """Our field by theirs."""
    values: dict[str, str] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)
    """Our verdict by theirs."""

    def command(self, sample: Sample) -> str:
        renamed = [f"{theirs}={ours}" for theirs, ours in self.names.items() if theirs != ours]
        parts = ["mirage", "import", str(sample.path), "--as", self.format.name]
        parts += [part for pair in renamed for part in ("--map", pair)]
        parts += [part for word, ours in self.meanings.items() for part in ("--value", f"verdict:{word}={ours}")]
        parts += [part for pair in self.values.items() for part in ("--set", "=".join(pair))]
        return shlex.join(parts)

    def add(self, fields: _Fields, *wanted: str) -> None:
        """Add those of our fields that a file has under a name of theirs."""
        of_own = {"id": "query_id"} if self.format in (own.QUERIES, own.JUDGMENTS) else {}
        for ours in wanted:
            if (theirs := _find(fields, ours)) is not None and theirs not in self.names:
                self.names[theirs] = of_own.get(ours, ours)

    def reads(self, sample: Sample) -> bool:
        """Return whether the format reads the first records with these options."""
        renamed = {theirs: ours for theirs, ours in self.names.items() if theirs != ours}
        options, builder = Options(renamed, self.values, {"verdict": self.meanings}), Builder()
        try:
            records = (Record(options.apply(value), str(sample.path)) for value in sample.records)
            for item in read_items(self.format, records, builder):
                item.language = item.language or "en"
                builder.take(item, self.format.further)
        except BadInput:
            return False
        return True


def describe_unknown(sample: Sample) -> tuple[str, str]:
    """Return what is wrong with a file of no known format, and what to do about it."""
    fields = _fields(sample.records)
    there = ", ".join(sorted(sample.fields)[:12])
    if (reading := _find_verdicts(fields)) is not None:
        name = next(theirs for theirs, ours in reading.names.items() if ours == "verdict")
        missing = "" if "system_a" not in reading.values else ", but no field names the two systems"
        return f"unknown format; {name} holds verdicts{missing}; the records have {there}", reading.command(sample)
    asked = (theirs for theirs, values in fields.items() if values and all(map(_asks, values)))
    if (question := _find(fields, "question") or _only(asked)) is not None:
        reading = _find_answers(fields, question)
        answer = next((theirs for theirs, ours in reading.names.items() if ours == "answer"), None)
        if answer is not None and reading.reads(sample):
            return f"unknown format; {answer} holds answers; the records have {there}", reading.command(sample)
        if answer is None:
            reading = _Reading(own.QUERIES, {question: "text"})
            reading.add(fields, "id")
            what = f"unknown format; this file has no answers and no verdicts, but questions; the records have {there}"
            return what, f"give the file with the answers; as questions alone: {reading.command(sample)}"
    if not any(map(_is_text, chain.from_iterable(fields.values()))):
        what = f"unknown format; this file has no answers and no verdicts; the records have {there}"
        return what, f"give the file with the answers themselves; or {_MAPPED}"
    return f"unknown format; the records have {there}", _MAPPED


def tell_apart(errors: Sequence[TwoAnswers], records: Iterable[Record]) -> None:
    """Say of two answers to one question which fields tell their records apart, as turns or as systems."""
    wanted = {place for error in errors for place in error.places}
    found: dict[str, Mapping[str, Any]] = {}
    questions: dict[tuple[str, Any], str] = {}
    shared: set[str] = set()
    """Fields with one value for several questions."""
    for record in records:
        if record.where in wanted:
            found[record.where] = record.value
        question = str(values.first(record.value, *FIELDS["question"])[1])
        for name, value in record.value.items():
            if name not in shared and _is_short(value) and questions.setdefault((name, value), question) != question:
                shared.add(name)
    rows = [[found[place] for place in error.places] for error in errors if found.keys() >= set(error.places)]
    turns, systems = [], []
    for name in dict.fromkeys(name for pair in rows for value in pair for name in value if name not in rag.KNOWN):
        held = [value.get(name) for value in found.values()]
        differs = [first.get(name) != second.get(name) for first, second in rows]
        counts = any(number(value) is not None for value in held)
        if not any(differs) or not all(map(_is_short, held)):
            continue
        if all(differs) and len(set(held)) == len(held) and name not in shared:
            turns += [name] if not counts or _NUMBERED.fullmatch(plain(name)) else []
        elif not counts:
            systems.append(name)
    told = [f"if each is another turn: --map {turns[0]}=id"] if turns else []
    if systems:
        one = f"--map {systems[0]}=system" if len(systems) == 1 else "join these in one column"
        told.append(f"if they are of several systems, which differ in {' and '.join(systems)}: {one}")
    for error in errors:
        error.do = "; ".join([*told, error.do])


def _is_short(value: Any) -> bool:
    return isinstance(value, str | int | float) and len(str(value)) <= _SHORT


def _find_verdicts(fields: _Fields) -> _Reading | None:
    """Return how to read the verdicts of a file that has no answers; None if it has none."""
    verdict = _find(fields, "verdict")
    if _find(fields, "answer") not in (None, verdict):
        return None
    told = [verdict] if verdict else [theirs for theirs, values in fields.items() if _fits("verdict", values)]
    winners = (_find_winners(fields, theirs, named=verdict is not None) for theirs in told)
    if (reading := next(filter(None, winners), None)) is not None or verdict is None:
        return reading
    words = sorted({str(value).strip() for value in fields[verdict]})
    known = {word: pairs.read_verdict(word) for word in words}
    if len(words) > _FEW or not any(known.values()):
        return None
    named = {place: theirs for theirs in fields if (place := pairs.column(_last(theirs))) in _PLACES}
    if named and hold_texts(*(fields[theirs] for theirs in named.values())):
        reading = _Reading(pairs.FORMAT, {theirs: f"answer{place[-2:]}" for place, theirs in named.items()})
        reading.add(fields, "question")
        named = {}
    else:
        reading = _Reading(own.JUDGMENTS)
        ours = {name.casefold() for name in (*get_args(schema.Verdict), *schema.VERDICT_WORDS)}
        reading.meanings = {word: known[word] or "tie" for word in words if word.casefold() not in ours}
    reading.names[verdict] = "verdict"
    reading.add(fields, "id", "judge", "language")
    reading.names |= {theirs: place for place, theirs in named.items()}
    reading.values = {place: "NAME" for place in _PLACES if place not in named}
    return reading


def _find_winners(fields: _Fields, verdict: str, *, named: bool) -> _Reading | None:
    """Return how to read verdicts on two systems that two other fields name, or one: a list, or `x vs y`.

    A verdict is the better of the two, or a tie; beside one field that names both, it may be a place or `win` too.
    """
    words = fields[verdict]
    others = sorted(theirs for theirs, values in fields.items() if theirs != verdict and len(values) == len(words))
    rows: dict[tuple[str, ...], list[tuple[Any, Any]]] = {}
    for one in others:
        if all(found := [pairs.split_systems(value) for value in fields[one]]):
            rows[one,] = [(first, second) for _, first, second in filter(None, found)]
    for two in combinations(others, 2):
        rows[two] = list(zip(*(fields[theirs] for theirs in two), strict=True))
    for theirs, systems in rows.items():
        sides = [_side(word, *pair) for word, pair in zip(words, systems, strict=True)]
        told = [side or pairs.read_verdict(word) for side, word in zip(sides, words, strict=True)]
        if len(theirs) == 1:
            fits = all(told) and (named or any(sides))
        else:
            by_name = all(side is not None or word == "tie" for side, word in zip(sides, told, strict=True))
            fits = by_name and {"A", "B"} <= set(sides) and all(first != second for first, second in systems)
        if fits:
            ours = _PLACES if len(theirs) == 2 else ("systems",)
            reading = _Reading(pairs.FORMAT, {**dict(zip(theirs, ours, strict=True)), verdict: "verdict"})
            reading.add(fields, "question", "id", "judge", "language")
            return reading
    return None


def _side(word: Any, first: Any, second: Any) -> str | None:
    """Return the place of the system that a verdict names; None if it names neither."""
    return "A" if word == first else "B" if word == second else None


def _find_answers(fields: _Fields, question: str) -> _Reading:
    """Return how to read a file as flat records; without a name that is known, by the only texts and repeated names."""
    reading = _Reading(rag.FORMAT, {question: "question"})
    reading.add(fields, "answer", "contexts", "reference", "system", "id", "language")
    others = {theirs: values for theirs, values in fields.items() if theirs not in reading.names}
    if "answer" not in reading.names.values():
        texts = (theirs for theirs, values in others.items() if 2 * sum(map(_is_text, values)) > len(values))
        if (answer := _only(texts)) is not None:
            reading.names[answer] = "answer"
    if "system" not in reading.names.values():
        asked = fields[question]
        systems = (
            theirs
            for theirs, values in others.items()
            if theirs not in reading.names
            and _fits("system", values)
            and not all(map(is_measure, values))
            and len(set(map(str, asked))) < len(asked) == len(values)
            and 1 < len(set(values)) < len(values) == len(set(zip(map(str, asked), values, strict=True)))
        )
        if (system := _only(systems)) is not None:
            reading.names[system] = "system"
        else:
            reading.values["system"] = "NAME"
    return reading


def _only(names: Iterable[str]) -> str | None:
    """Return the name if there is one and no other."""
    every = list(names)
    return every[0] if len(every) == 1 else None


def _find(fields: _Fields, ours: str) -> str | None:
    """Return the field of a file that is one of ours by its name and its values; None if there is none."""
    names = _NAMES[ours]
    fits = {theirs: fold_field(_last(theirs)) for theirs, values in fields.items() if _fits(ours, values)}
    exact = [theirs for name in names for theirs, folded in fits.items() if folded == name]
    parts = () if ours in _WHOLE else fits
    return next(iter([*exact, *(theirs for theirs in parts if _is_of(theirs, names))]), None)


def _is_of(theirs: str, names: Sequence[str]) -> bool:
    words = plain(_last(theirs)).split("_")
    known = not set(map(fold_field, words)).isdisjoint(names)
    return known and words[-1] not in ("id", "ids", "type", "score", "url", "time", "length")


def _fits(ours: str, values: Sequence[Any]) -> bool:
    """Return whether values may be those of one of our fields."""
    if ours in ("question", "answer", "reference"):
        texts = [value for value in values if isinstance(value, str) and not is_measure(value)]
        return bool(texts) and (ours != "answer" or 2 * sum(map(_asks, texts)) < len(texts) + 1)
    if ours == "verdict":
        return all(map(_is_short, values))
    return ours == "contexts" or all(isinstance(value, str | int) and len(str(value)) <= _SHORT for value in values)


def _asks(value: Any) -> bool:
    return isinstance(value, str) and value.rstrip().endswith(_ASKING)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not _asks(value) and (len(value.split()) > 3 or hold_texts([value]))


def _last(path: str) -> str:
    return path.rpartition(".")[2]


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
        elif inner not in (None, "", []) and not re.search(r"[=,.]", str(name)):
            yield ".".join(path), inner
