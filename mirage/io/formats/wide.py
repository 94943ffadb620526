"""Wide tables: a row a question, a column of answers a system: `gpt_answer`, `answer_gpt`, `output: gpt`, `gpt-4`."""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import pairs, rag
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import FIELDS, is_measure, plain
from mirage.io.formats.spec import ABSENT, GivenVerdict, Item, Record, Sample
from mirage.io.formats.status import status_fields
from mirage.io.values import with_point
from mirage.text.languages import base, known_code, language
from mirage.text.makers import OTHER, maker

_HEADS = {
    "answer": "answers?|responses?|outputs?|predictions?|generations?|completions?|repl(?:y|ies)",
    "contexts": "contexts?|passages?|documents?",
}
_GAP = r"[\s_.:/|-]+"
_PATTERNS = [
    (field, re.compile(form, re.IGNORECASE))
    for field, words in _HEADS.items()
    for form in (rf"(?:{words}){_GAP}(?P<system>.+)", rf"(?P<system>.+?){_GAP}(?:{words})")
]
_GOLD = re.compile(
    r"(?:gold|golden|gt|ground_?truth|correct|right|ideal|true|target|expected|reference)", re.IGNORECASE
)
_ABOUT = re.compile(
    r"(?:.*_)?(?:relevanc[ey]|correctness|similarity|faithfulness|quality|len(?:gth)?|scores?|ratings?|grades?|verdicts?|"
    r"labels?|ids?|types?|formats?|tokens|times?|latency|costs?|count|start|end|status|language|lang|retrieved|generated|"
    r"final|raw|parsed|actual|user|model|system|precision|recall|notes?|comments?|explanation|rationale|reasons?)",
    re.IGNORECASE,
)
"""Names of columns that belong to no system, or are about an answer."""
_SYSTEMS, _ASKED = frozenset(FIELDS["system"]), frozenset((*FIELDS["question"], *FIELDS["id"]))


_QUALITIES = re.compile(
    r"(?:best|worst|good|bad|poor|short|long|brief|detailed|concise|full|partial|complete|incorrect|wrong|false|simple|other"
    r"|extracted|majority|alternative|possible|additional|multiple_choice|yes_no|original|edited|revised|initial|first"
    r"|draft|improved|plain|formatted|clean|normali[sz]ed|main|sub|all|sample|example|summary|title|body|direct|free|text"
    r"|chosen|rejected|preferred|accepted|winning|losing|[a-e]|one|two|three|left|right|second|third|\d+)(?:st|nd|rd|th)?",
    re.IGNORECASE,
)
"""Words for a place, a quality or a part of an answer, which name no system."""


@lru_cache(4096)
def _column(name: str) -> tuple[str, str]:
    """Return the field of `rag` that a column is, and the system; empty for what all systems share."""
    if (known := plain(name)) in rag.KNOWN:
        return known, ""
    for field, pattern in _PATTERNS:
        if match := pattern.fullmatch(name.strip()):
            system = match["system"].strip()
            if _GOLD.fullmatch(plain(system)):
                return "reference", ""
            return (name, "") if _ABOUT.fullmatch(plain(system)) else (field, system)
    return (name, "") if maker(name) == OTHER or _ABOUT.fullmatch(known) else ("answer", name)


@lru_cache(1024)
def _columns(names: tuple[str, ...]) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Return field and system of each column, and what the columns of answers are that name no system.

    A further column that begins or ends with the name of a system is of that: `gpt_f1`, `error llama`.
    """
    fields = {name: _column(name) for name in names}
    answers = {name: system for name, (field, system) in fields.items() if field == "answer" and system}
    no_systems = {name: system for name, system in answers.items() if _QUALITIES.fullmatch(plain(system))}
    if answers and all(map(_is_language, answers.values())):
        no_systems = answers
    systems = set(answers.values()).difference(no_systems.values())
    for name, (_, system) in fields.items():
        if name in no_systems:
            fields[name] = name, ""
        elif not system or system not in systems:
            for known in systems:
                form = rf"(?:{re.escape(known)}{_GAP}(?P<after>.+)|(?P<before>.+){_GAP}{re.escape(known)})"
                if match := re.fullmatch(form, name, re.IGNORECASE):
                    fields[name] = str(match["after"] or match["before"]), known
    return fields, no_systems


def _is_language(word: str) -> bool:
    """Return whether a word is a code of two letters, also with a region, or the name of a language."""
    code = known_code(word)
    return code is not None and (
        len(base(word.replace("_", "-"))) == 2 or language(code).name.casefold() == word.casefold()
    )


def recognise(sample: Sample) -> str | None:
    """Detect at least two columns of answers beside a question or its id, and none that names the system."""
    columns, no_systems = _columns(tuple(sorted(sample.fields)))
    shared = {field for field, system in columns.values() if not system}
    names = {name: system for name, (field, system) in columns.items() if system and field == "answer"}
    if shared & _SYSTEMS or not shared & _ASKED:
        return None
    if len(no_systems) > 1 and not names and shared.isdisjoint(FIELDS["answer"]):
        return f"has several columns of answers: {', '.join(sorted(no_systems))}"
    if len(names) < 2:
        return None
    held = [[value for value in column if value not in (None, "")] for column in sample.columns(*names)]
    texts = [not all(map(is_measure, column)) for column in held if column]
    if not any(texts) or any(column and all(map(_is_score, column)) for column in held):
        return None
    return f"has a column of answers for each of {', '.join(sorted(names.values()))}"


def _is_score(value: Any) -> bool:
    return is_measure(value) and not 10 < abs(float(with_point(value))) < math.inf


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read a row as one record of `rag` a system."""
    shared: dict[str, Any] = {}
    of_system: dict[str, dict[str, Any]] = {}
    columns, no_systems = _columns(tuple(record.value))
    for name, value in record.value.items():
        field, system = columns[name]
        fields = of_system.setdefault(system, {}) if system else shared
        if system and field == "answer" and field in fields:
            kept, *others = [name for name, of in columns.items() if of == (field, system)]
            what = f"{' and '.join((kept, *others))} are answers of one system, {system}"
            do = f"to read {kept}: {' '.join(f'--map {name}=note_{k}' for k, name in enumerate(others, 1))}"
            raise BadInput(what, where=record.where, do=do)
        fields[field] = value
    if no_systems and not of_system:
        raise _no_systems(no_systems, record.where)
    if "answer" in shared:
        shared.setdefault("reference", shared.pop("answer"))
    for name in [name for name, value in shared.items() if rag.is_own_score(name, value)]:
        del shared[name]
        builder.left_out(name, "it does not say of which system")
    verdicts = _find_verdicts(shared, of_system)
    ended = {name: shared.pop(name) for name in status_fields(tuple(shared))}
    answered = {system: fields for system, fields in of_system.items() if "answer" in fields}
    silent = [system for system, fields in answered.items() if fields["answer"] in (None, "")]
    for system, fields in answered.items():
        answer = None if fields["answer"] == "" else fields["answer"]  # an empty cell is not an answer
        # An error of the row is that of the systems without an answer; if all have one, of all.
        how = ended if system in silent or not silent else {}
        row = Record({**shared, **how, **fields, "answer": answer, "system": system}, record.where)
        for item in rag.items(row, builder):
            item.verdicts = verdicts
            yield item
        # Other columns are left out once a row.
        shared, verdicts = {name: value for name, value in shared.items() if name in rag.KNOWN}, []


def _find_verdicts(shared: dict[str, Any], systems: Collection[str]) -> list[GivenVerdict]:
    """Take the columns from a row that name the best of its systems, and return its verdicts against each other."""
    verdicts = []
    for name in [name for name in shared if plain(name) in pairs.VERDICTS and shared[name] in systems]:
        best = shared.pop(name)
        judge = shared.get("judge") or ABSENT["judge"][0]
        verdicts += [GivenVerdict(str(judge), best, other, verdict="A") for other in systems if other != best]
    return verdicts


def _no_systems(columns: Mapping[str, str], where: str) -> BadInput:
    """Return the error for columns of answers that are in places, of qualities or in languages."""
    name, word = next(iter(columns.items()))
    if all(map(_is_language, columns.values())):
        kind, also = "are one answer in several languages", f" --set language={known_code(word)}"
    else:
        kind, also = "are places or kinds of answers", ""
    return BadInput(
        f"{', '.join(columns)} {kind}, not of several systems",
        where=where,
        do=f"read one: --as rag --map {name}=answer --set system=NAME{also}; or name the system of each: --as wide "
        f"--map {name}=answer_NAME",
    )


FORMAT = Format(*describe("wide"), recognise=recognise, items=_items)
