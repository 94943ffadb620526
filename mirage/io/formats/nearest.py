"""Describe a file of no known format: what it holds, and the command that reads it, checked on its first records."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, get_args

from mirage import schema
from mirage.errors import BadInput
from mirage.io.formats import own, pairs, rag
from mirage.io.formats.build import Builder, Format, read_items
from mirage.io.formats.fields import is_measure
from mirage.io.formats.spec import Record, Sample
from mirage.io.options import Options

_DEEPEST = 3
"""Number of names in the path of a field that is considered."""
_FEW = 8
"""Different values up to which a field may hold verdicts."""
_NAMES: dict[str, str] = {
    "verdict": "verdict winner preference preferred choice judgment judgement decision better vote label won outcome",
    "question": "question query prompt instruction input user_input utterance ask frage pregunta q",
    "answer": "answer response output prediction completion generation reply generated antwort respuesta réponse",
    "system": "system model model_name engine bot llm generator agent retriever pipeline variant method run run_id",
    "query_id": "query_id question_id qid id",
    "judge": "judge judge_model judge_name annotator rater",
    "language": "language lang",
    "contexts": "contexts context passages documents docs chunks",
    "reference": "reference ground_truth gold expected expected_answer target",
}
"""Names by our field; all but those of ids and languages count as words of a name too (`bot_reply`)."""
_WHOLE = ("query_id", "judge", "language", "system")
_ASKING = ("?", "？", "؟", "՞")

_MAPPED = (
    "name its fields: mirage import FILE --as rag --map THEIRS=question,THEIRS=answer,THEIRS=system; or, with a column "
    "of answers for each system: --as wide --map THEIRS=question,COLUMN=answer_SYSTEM; or for verdicts: --as judgments "
    "--map THEIRS=system_a,THEIRS=system_b,THEIRS=verdict; mirage import --formats lists all formats"
)


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
    if (verdicts := _verdicts(fields)) is not None:
        name = next(theirs for theirs, ours in verdicts.names.items() if ours == "verdict")
        missing = "" if "system_a" not in verdicts.values else ", but no field names the two systems"
        return f"unknown format; {name} holds verdicts{missing}; the records have {there}", verdicts.command(sample)
    question, answer = (_find(fields, ours) for ours in ("question", "answer"))
    if question is None:
        asked = [theirs for theirs, values in fields.items() if values and all(map(_asks, values))]
        question = asked[0] if len(asked) == 1 else None
    if answer is not None and answer != question:
        reading = _answers(fields, question, answer)
        if question is not None and reading.reads(sample):
            return f"unknown format; {answer} holds answers; the records have {there}", reading.command(sample)
    if question is not None and answer in (None, question):
        named = _find(fields, "query_id")
        reading = _Reading(own.QUERIES, {question: "text"} | ({named: "query_id"} if named else {}))
        what = f"unknown format; this file has no answers and no verdicts, but questions; the records have {there}"
        return what, f"give the file with the answers; as questions alone: {reading.command(sample)}"
    if not any(isinstance(value, str) and len(value.split()) > 3 for values in fields.values() for value in values):
        what = f"unknown format; this file has no answers and no verdicts; the records have {there}"
        return what, f"give the file with the answers themselves; or {_MAPPED}"
    return f"unknown format; the records have {there}", _MAPPED


def _verdicts(fields: Mapping[str, list[Any]]) -> _Reading | None:
    """Return how to read the verdicts of a file that has no answers; None if it has none."""
    verdict = _find(fields, "verdict")
    if verdict is None or _find(fields, "answer") not in (None, verdict):
        return None
    if (reading := _winners(fields, verdict)) is not None:
        return reading
    words = sorted({str(value).strip() for value in fields[verdict]})
    systems = {ours: theirs for theirs in fields if (ours := pairs.column(_last(theirs))) in ("system_a", "system_b")}
    names_ = {str(value) for theirs in systems.values() for value in fields[theirs]}
    if len(words) > _FEW and not names_.issuperset(words):
        return None
    known = {word: pairs.read_verdict(word) for word in words}
    if not any(known.values()):
        return None
    reading = _Reading(own.JUDGMENTS, {verdict: "verdict"})
    for ours in ("query_id", "judge", "language"):
        if (theirs := _find(fields, ours)) is not None:
            reading.names[theirs] = ours
    for ours in ("system_a", "system_b"):
        if ours in systems:
            reading.names[systems[ours]] = ours
        else:
            reading.values[ours] = "NAME"
    plain = {name.casefold() for name in (*get_args(schema.Verdict), *schema.VERDICT_WORDS)}
    reading.meanings = {word: known[word] or "tie" for word in words if word.casefold() not in plain}
    return reading


def _winners(fields: Mapping[str, list[Any]], verdict: str) -> _Reading | None:
    """Return how to read verdicts that name the better of two systems, which two other fields name."""
    words = fields[verdict]
    others = sorted(theirs for theirs, values in fields.items() if theirs != verdict and len(values) == len(words))
    for first, second in combinations(others, 2):
        rows = list(zip(words, fields[first], fields[second], strict=True))
        named = all(a != b and (word in (a, b) or pairs.read_verdict(word) == "tie") for word, a, b in rows)
        if named and any(word == a for word, a, _ in rows) and any(word == b for word, _, b in rows):
            reading = _Reading(pairs.FORMAT, {first: "system_a", second: "system_b", verdict: "verdict"})
            for ours in ("question", "query_id", "judge", "language"):
                if (theirs := _find(fields, ours)) is not None and theirs not in reading.names:
                    reading.names[theirs] = "id" if ours == "query_id" else ours
            return reading
    return None


def _answers(fields: Mapping[str, list[Any]], question: str | None, answer: str) -> _Reading:
    """Return how to read the answers of a file as flat records."""
    reading = _Reading(rag.FORMAT, {question: "question"} if question else {})
    reading.names[answer] = "answer"
    for ours in ("system", "query_id", "language", "contexts", "reference"):
        theirs = _find(fields, ours)
        if theirs is not None and theirs not in reading.names:
            reading.names[theirs] = "id" if ours == "query_id" else ours
    if "system" not in reading.names.values():
        reading.values["system"] = "NAME"
    return reading


def _find(fields: Mapping[str, list[Any]], ours: str) -> str | None:
    """Return the field of a file that is one of ours by its name and its values; None if there is none."""
    names = _NAMES[ours].split()
    fits = [theirs for theirs, values in fields.items() if _fits(ours, values)]
    exact = [theirs for name in names for theirs in fits if pairs.plain(_last(theirs)) == name]
    parts = () if ours in _WHOLE else fits
    return next(iter([*exact, *(theirs for theirs in parts if _is_of(theirs, names))]), None)


def _is_of(theirs: str, names: Sequence[str]) -> bool:
    words = pairs.plain(_last(theirs)).split("_")
    return not set(words).isdisjoint(names) and words[-1] not in ("id", "ids", "type", "score", "url", "time", "length")


def _fits(ours: str, values: Sequence[Any]) -> bool:
    """Return whether values may be those of one of our fields."""
    if ours in ("question", "answer", "reference"):
        texts = [value for value in values if isinstance(value, str) and not is_measure(value)]
        return bool(texts) and (ours != "answer" or 2 * sum(map(_asks, texts)) < len(texts) + 1)
    if ours == "verdict":
        return all(isinstance(value, str | int | float) and len(str(value)) <= 60 for value in values)
    return ours == "contexts" or all(isinstance(value, str | int) and len(str(value)) <= 80 for value in values)


def _asks(value: Any) -> bool:
    return isinstance(value, str) and value.rstrip().endswith(_ASKING)


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
