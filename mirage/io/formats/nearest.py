"""Describe a file of no known format: what it holds, and the options that read it, checked on its first records."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Any, get_args

from mirage import schema
from mirage.errors import BadInput
from mirage.io import values
from mirage.io.formats import own, pairs, rag, wide
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
    for ours in (*FIELDS, *FOUND)
}
"""Folded names by our field; all but those of names and ids count as words of a name too (`bot_reply`)."""
_WHOLE = ("id", "judge", "language", "system")
_REPEATED = re.compile(
    r"(?:epoch|run|seed|trial|repeat|repetition|iteration|attempt|sample|rep|round|fold)s?(?:_?(?:id|idx|index|no|nr|number))?"
)
"""Names of numbers of repeated runs."""
_NUMBERED = re.compile(r"(?:.*_)?(?:ids?|idx|index|no|nr|number|turn|row|line|time|timestamp|date|at|message)")
"""Names of numbers that may tell records apart."""
_OPEN = "VERDICT"
"""Placeholder for an unknown verdict."""
_TEXTS = ("question", "answer", "reference", "contexts")
_PLACE = re.compile(r"(?P<of>.+)_(?:[ab12]|one|two|left|right|first|second)")
_PLACES, _ANSWERS = ("system_a", "system_b"), ("answer_a", "answer_b")
_ASKING = ("?", "？", "؟", "՞")

_MAPPED = (
    "name its fields: --as rag --map THEIRS=question,THEIRS=answer,THEIRS=system; or, with a column "
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
    verdict: str = ""
    """Their field with the verdicts."""

    @property
    def options(self) -> str:
        """The options of a command that reads the file so."""
        renamed = [f"{theirs}={ours}" for theirs, ours in self.names.items() if theirs != ours]
        parts = ["--as", self.format.name]
        parts += [part for pair in renamed for part in ("--map", pair)]
        column = self.names.get(self.verdict, "verdict")
        parts += [part for word, ours in self.meanings.items() for part in ("--value", f"{column}:{word}={ours}")]
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
    """Return the problem of a file of an unknown format, and what to do."""
    fields = _fields(sample.records)
    there = ", ".join(sorted(sample.fields)[:12])
    if (reading := _find_verdicts(fields)) is not None:
        missing = "" if reading.values.get("system_a") != "NAME" else ", but no field names the two systems"
        missing += (
            ", and not all are known: write A, B or tie for VERDICT" if _OPEN in reading.meanings.values() else ""
        )
        what = f"unknown format; {reading.verdict} holds verdicts{missing}; the records have {there}"
        return what, f"add {reading.options}"
    if inner := _find_lists(sample.records):
        path, (first, *_) = next(iter(inner.items()))
        what = f"unknown format; the records are in {' and '.join(inner)}, with {', '.join(list(first)[:12])}"
        return what, f"write each list as a file: jq -c '.{path}[]' {sample.path.name} > NAME.jsonl; then give that"
    asked = (theirs for theirs, values in fields.items() if values and all(map(_asks, values)))
    if (question := _find(fields, "question") or _only_name(asked)) is not None:
        reading = _find_answers(fields, question)
        answer = next((theirs for theirs, ours in reading.names.items() if ours == "answer"), None)
        if answer is None and (by_system := _find_columns(fields, question)) and by_system.reads(sample):
            answer, reading = [*by_system.names][-1].rpartition(".")[0], by_system
        if answer is not None and reading.reads(sample):
            return f"unknown format; {answer} holds answers; the records have {there}", f"add {reading.options}"
        if answer is None:
            reading = _Reading(own.QUERIES, {question: "text"})
            reading.add(fields, "id")
            what = f"unknown format; {question} holds questions, no field is known as answers; the records have {there}"
            return what, f"give the file with the answers; as questions alone: {reading.options}"
    if not any(map(_is_text, chain.from_iterable(fields.values()))):
        what = f"unknown format; no field is known to hold answers or verdicts; the records have {there}"
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
    turns, runs, systems = [], [], []
    for name in dict.fromkeys(name for pair in rows for value in pair for name in value if name not in rag.KNOWN):
        held = [value.get(name) for value in found.values()]
        differs = [first.get(name) != second.get(name) for first, second in rows]
        counts = any(number(value) is not None for value in held)
        small = all(0 <= (number(value) or 0) <= values.MOST_REPEATS for value in held)
        if all(differs) and small and _REPEATED.fullmatch(plain(name)):
            runs.append(name)
            continue
        if not any(differs) or not all(map(_is_short, held)):
            continue
        if all(differs) and len(set(held)) == len(held) and name not in shared:
            turns += [name] if not counts or _NUMBERED.fullmatch(plain(name)) else []
        elif not counts:
            systems.append(name)
    told = [f"if each is another run: --map {runs[0]}=sample"] if runs else []
    told += [f"if each is another turn: --map {turns[0]}=id"] if turns and not runs else []
    if systems and not runs:
        one = f"--map {systems[0]}=system" if len(systems) == 1 else "join these in one column"
        told.append(f"if they are of several systems, which differ in {' and '.join(systems)}: {one}")
    for error in errors:
        error.do = "; ".join([*told, error.do])


def _is_short(value: Any) -> bool:
    return isinstance(value, str | int | float) and len(str(value)) <= _SHORT


def _find_lists(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the lists of objects in a document of several, by path; empty for a file of records."""
    if len(records) != 1:
        return {}
    lists = {path: value for path, value in _paths(records[0], ()) if isinstance(value, list)}
    return {path: value for path, value in lists.items() if all(isinstance(each, Mapping) for each in value)}


def _find_verdicts(fields: _Fields) -> _Reading | None:
    """Return how to read the verdicts of a file that has no answers; None if it has none."""
    named = _find(fields, "verdict")
    told = [named] if named else [theirs for theirs, values in fields.items() if _fits("verdict", values)]
    texts = [theirs for theirs, values in fields.items() if theirs != named and any(map(_is_text, values))]
    pairs_of_texts = (_read_two_answers(fields, two, told, named) for two in combinations(texts, 2))
    if (reading := next(filter(None, pairs_of_texts), None)) is not None:
        return reading
    if _find(fields, "answer") not in (None, named):
        return None
    if (loser := _find(fields, "loser")) and (best := _only_name(set(_find_all(fields, "verdict")) - {loser})):
        return _read_battles(fields, best, {best: "system_a", loser: "system_b"}, {"verdict": "A"})
    winners = (_find_winners(fields, theirs, named=named is not None) for theirs in told)
    return next(filter(None, winners), None) or (_read_places(fields, named) if named else None)


def _read_battles(
    fields: _Fields,
    verdict: str,
    names: dict[str, str],
    values: dict[str, str] | None = None,
    meanings: dict[str, str] | None = None,
    kind: Format = pairs.FORMAT,
) -> _Reading:
    """Return how to read the verdicts of a field, with what else the file has of a battle."""
    reading = _Reading(kind, {verdict: "verdict", **names}, values or {}, meanings or {}, verdict)
    reading.add(fields, "question", "id", "judge", "language")
    return reading


def _read_two_answers(fields: _Fields, two: tuple[str, str], told: list[str], named: str | None) -> _Reading | None:
    """Return how to read two columns of answers whose names differ by a verdict's words or by their places:
    `model_output`, and winner `model`; `opcion_1`, and winner 1.
    """
    answers = dict(zip(two, _ANSWERS, strict=True))
    stems = [_PLACE.fullmatch(plain(_last(theirs))) for theirs in two]
    if len({stem and stem["of"] for stem in stems} - {None}) == 1 and all(stems):
        known = {theirs: _read_words(fields[theirs]) for theirs in told if theirs not in two}
        verdict = _only_name(name for name, of in known.items() if len(of) <= _FEW and _n_unknown(of) < min(2, len(of)))
        if verdict is None:
            return None
        meanings = {word: ours or "tie" for word, ours in known[verdict].items() if ours is None or is_measure(word)}
        return _read_battles(fields, verdict, answers, dict.fromkeys(_PLACES, "NAME"), meanings)
    words = _read_words(fields[named]) if named else {}
    parts = [set(plain(_last(theirs)).split("_")) for theirs in two]
    first, second = (sorted(word for word in words if plain(word) in part) for part in parts)
    rest = words.keys() - {*first, *second}
    if named is None or not (first and second) or parts[0] >= set(map(plain, second)):
        return None
    systems = dict(zip(_PLACES, (first[0], second[0]), strict=True))
    return _read_battles(fields, named, answers, systems) if all(words[word] == "tie" for word in rest) else None


def _read_words(values: Iterable[Any]) -> dict[str, str | None]:
    """Return our verdict by the words of a field; None for a word that is none."""
    return {word: pairs.read_verdict(word) for word in sorted({str(value).strip() for value in values})}


def _n_unknown(words: Mapping[str, str | None]) -> int:
    return sum(ours is None for ours in words.values())


def _find_winners(fields: _Fields, verdict: str, *, named: bool) -> _Reading | None:
    """Return how to read verdicts on two systems that two other fields name, or one: a list, or `x vs y`.

    A verdict is the better of the two, or a tie in one word of any language; beside one field that names both, it may
    be a place or `win` too.
    """
    words = fields[verdict]
    others = sorted(theirs for theirs, values in fields.items() if theirs != verdict and len(values) == len(words))
    names = [theirs for theirs in others if not any(map(is_measure, fields[theirs]))]
    numbered = named and {str(word) for word in words} == {"0", "1"}
    for theirs in (*((one,) for one in others), *combinations(names, 2)):
        found = [pairs.split_systems(value) for value in fields[theirs[0]]] if len(theirs) == 1 else []
        systems = (
            [pair[1:] for pair in found if pair] if found else list(zip(*(fields[one] for one in theirs), strict=True))
        )
        if len(systems) < len(words):
            continue
        said = [("A", "B")[int(word)] for word in words] if numbered and found else words
        sides = [
            "A" if word == pair[0] else "B" if word == pair[1] else None
            for word, pair in zip(said, systems, strict=True)
        ]
        rest = _read_words(word for word, side in zip(said, sides, strict=True) if side is None)
        meanings = {"0": "A", "1": "B"} if numbered and found else {}
        if found:
            fits = not _n_unknown(rest) and (named or any(sides))
        else:
            meanings = dict.fromkeys((word for word, ours in rest.items() if ours != "tie"), "tie")
            fits = len(meanings) < 2 and {"A", "B"} <= set(sides) and all(a != b for a, b in systems)
        if fits:
            ours = {theirs[0]: "systems"} if found else dict(zip(theirs, _PLACES, strict=True))
            if "verdict" in pairs.columns((verdict,)):
                ours[verdict] = verdict
            texts = (name for name in others if all(isinstance(value, list) for value in fields[name]))
            if found and (answers := _only_name(name for name in texts if name not in theirs)) is not None:
                ours[answers] = "answers"
            return _read_battles(fields, verdict, ours, meanings=meanings)
    return None


def _read_places(fields: _Fields, verdict: str) -> _Reading | None:
    """Return how to read verdicts in words for places, with the two systems or answers in fields of these places."""
    words = _read_words(fields[verdict])
    if words.keys() <= {"True", "False"}:  # a_is_better
        side = {"a": ("A", "B"), "b": ("B", "A")}.get(plain(_last(verdict)).partition("_")[0], (None, None))
        words = {word: side[word == "False"] for word in words}
    if len(words) > _FEW or 2 * _n_unknown(words) > len(words):
        return None
    named = {place: theirs for theirs in fields if (place := pairs.column(_last(theirs))) in _PLACES}
    if not named and (other := _find(fields, "opponent")) and (first := _find(fields, "system")) not in (None, other):
        named = dict(zip(_PLACES, (first, other), strict=True))
    answers = bool(named) and hold_texts(*(fields[theirs] for theirs in named.values()))
    names = {theirs: f"answer{place[-2:]}" if answers else place for place, theirs in named.items()}
    values = {place: "NAME" for place in _PLACES if answers or place not in named}
    if answers or _find(fields, "question"):
        return _read_battles(fields, verdict, names, values)
    known = {name.casefold() for name in (*get_args(schema.Verdict), *schema.VERDICT_WORDS)}
    meanings = {
        word.lower() if word in ("True", "False") else word: ours or _OPEN
        for word, ours in words.items()
        if word.casefold() not in known
    }
    return _read_battles(fields, verdict, names, values, meanings, kind=own.JUDGMENTS)


def _find_answers(fields: _Fields, question: str) -> _Reading:
    """Return how to read a file as flat records; without a name that is known, by the only texts and repeated names."""
    reading = _Reading(rag.FORMAT, {question: "question"})
    reading.add(fields, "answer", "contexts", "reference", "system", "id", "language")
    others = {theirs: values for theirs, values in fields.items() if theirs not in reading.names}
    if "answer" not in reading.names.values():
        texts = (theirs for theirs, values in others.items() if 2 * sum(map(_is_text, values)) > len(values))
        if (answer := _only_name(texts)) is not None:
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
        if (system := _only_name(systems)) is not None:
            reading.names[system] = "system"
        else:
            reading.values["system"] = "NAME"
    return reading


def _find_columns(fields: _Fields, question: str) -> _Reading | None:
    """Return how to read an object of answers by system as a column for each; None if there is none."""
    parts = {theirs: theirs.split(".") for theirs in fields if "." in theirs}
    answers = {
        theirs: f"answer_{path[-1]}" for theirs, path in parts.items() if fold_field(path[-2]) in _NAMES["answer"]
    }
    return _Reading(wide.FORMAT, {question: "question", **answers}) if len(answers) > 1 else None


def _only_name(names: Iterable[str]) -> str | None:
    """Return the name if there is one and no other."""
    every = list(names)
    return every[0] if len(every) == 1 else None


def _find(fields: _Fields, ours: str) -> str | None:
    """Return the field of a file that is most likely one of ours; None if there is none."""
    return next(iter(_find_all(fields, ours)), None)


def _find_all(fields: _Fields, ours: str) -> list[str]:
    """Return the fields of a file that may be one of ours by name and values, the likeliest first."""
    names = _NAMES[ours]
    golden = set(_NAMES["reference"])
    of_gold = {theirs for theirs in fields if not golden.isdisjoint(map(fold_field, theirs.split(".")[:-1]))}
    fits = {
        theirs: names[0] if ours == "reference" and theirs in of_gold else fold_field(_last(theirs))
        for theirs, values in fields.items()
        if _fits(ours, values) and (ours != "answer" or theirs not in of_gold)
    }
    exact = [theirs for name in names for theirs, folded in fits.items() if folded == name]
    if ours not in _WHOLE:
        exact += [theirs for theirs in fits if _is_of(theirs, names)]
    if ours in _TEXTS:  # also pred, ans, ref
        short = {theirs: folded for theirs, folded in fits.items() if len(folded) > 2}
        exact += [theirs for theirs, folded in short.items() if any(name.startswith(folded) for name in names)]
    return exact


def _is_of(theirs: str, names: Sequence[str]) -> bool:
    words = plain(_last(theirs)).split("_")
    known = not set(map(fold_field, words)).isdisjoint(names)
    return known and words[-1] not in ("id", "ids", "type", "score", "url", "time", "length")


def _fits(ours: str, values: Sequence[Any]) -> bool:
    """Return whether values may be those of one of our fields."""
    if ours in _TEXTS[:3]:
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
        elif inner not in (None, "", []) and not re.search("[=,.]" if outer else "[=,]", str(name)):
            yield ".".join(path), inner
