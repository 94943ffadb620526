"""Pairs: a row a question, two answers in places (`response_a`, `answer_2`, `chosen`), and which of them is better.

Places are not systems: a file that does not name the two systems needs `--set system_a=NAME --set system_b=NAME`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePath
from typing import Any, get_args

from mirage import schema
from mirage.errors import BadInput
from mirage.io import values
from mirage.io.formats import rag, shapes
from mirage.io.formats.battles import by_people, hold_texts
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import FIELDS, first, number, plain
from mirage.io.formats.spec import ABSENT, ALONE, GivenAnswer, GivenVerdict, Item, Record, Sample, load_names
from mirage.io.values import unpack

_A, _B = "a|1|one|left|first|chosen|preferred|accepted|winning", "b|2|two|right|second|rejected|dispreferred|losing"
_ANSWER = "answer|response|output|completion|generation|reply|prediction|candidate|text"
_SYSTEM = "system|model|generator|assistant|agent|bot|llm"
_COLUMN = re.compile(
    rf"(?:(?P<answer>{_ANSWER})|(?P<system>{_SYSTEM})(?:_?name|_?id)?)_?(?P<after>{_A}|{_B}|x|y)"
    rf"(?P<of>_(?:{_ANSWER}))?(?:_name)?"
    rf"|(?P<before>{_A}|{_B}|x|y)_(?:(?P<said>{_ANSWER})|(?:{_SYSTEM})(?:_?name)?)|(?P<bare>chosen|rejected)"
)
_THIRD = re.compile(rf"(?:{_ANSWER})_?(?:c|3|three|third)|(?:c|3|three|third)_(?:{_ANSWER})")
_FIRST = frozenset((*_A.split("|"), "x"))
VERDICTS = load_names("pair")["verdict"]
"""Names of the field that says which answer is better."""
_RATERS = re.compile(r"(?:annotator|rater|judge|voter|expert|human|assessor)_?\d+")
_OF_JUDGE = re.compile(r"(?P<judge>.+)_(?:winner|verdict|preference)")
_LETTERS = re.compile(r".*[xy]", re.IGNORECASE)
"""Names of places only where a field says which answer is better, else those of systems."""
_WORD = re.compile(
    rf"(?:(?:the_)?(?:{_ANSWER}|{_SYSTEM}|option)_?|(?!not?_)[a-z]+_)?(?P<place>{_A}|{_B})(?:_(?:wins|is_better))?"
)
_ORDER = {
    **dict.fromkeys(("a>b", "b<a", "1>2", "win", "wins", "won", "victory"), "A"),
    **dict.fromkeys(("b>a", "a<b", "2>1", "loss", "lose", "loses", "lost", "defeat"), "B"),
    **dict.fromkeys(("a=b", "b=a"), "tie"),
}
_VERSUS = re.compile(
    r"(?:(?P<id>[^:]+):\s*)?(?P<a>.+?)(?:[\s_-]+(?:vs|versus)\.?[\s_-]+|\s*\|\s*|\s+/\s+)(?P<b>.+)", re.IGNORECASE
)
_TIES = frozenset(("tie", "tied", "draw", "equal", "same", "both", "similar", "neither", "none", "both_good"))


@lru_cache(4096)
def column(name: str) -> str | None:
    """Return the field of a pair that a column is: `answer_a`, `system_b`; None for any other."""
    match = _COLUMN.fullmatch(plain(name))
    if match is None:
        return None
    kind = "answer" if match["answer"] or match["said"] or match["bare"] or match["of"] else "system"
    place = match["after"] or match["before"] or match["bare"]
    return f"{kind}_{'a' if place in _FIRST else 'b'}"


@lru_cache(1024)
def columns(names: tuple[str, ...]) -> Mapping[str, str]:
    """Return the columns of a pair by their fields; of several for a field the first."""
    held: dict[str, str] = {}
    for name in names:
        if (field := column(name)) is not None:
            held.setdefault(field, name)
    plainly = {plain(name): name for name in reversed(names)}
    if (verdict := next((plainly[name] for name in VERDICTS if name in plainly), None)) is not None:
        held["verdict"] = verdict
    elif judges := judge_columns(names):
        held["verdict"] = next(iter(judges))
    elif _LETTERS.fullmatch(held.get("answer_a", "")):
        del held["answer_a"]
    return held


def judge_columns(names: tuple[str, ...]) -> dict[str, str]:
    """Return the judges whose verdicts are in columns of their own: `annotator_1`, `human_winner`."""
    numbered = {name: name for name in names if _RATERS.fullmatch(plain(name))}
    if numbered or not {plain(name) for name in names}.isdisjoint(VERDICTS):
        return numbered
    return {name: match["judge"] for name in names if (match := _OF_JUDGE.fullmatch(plain(name)))}


def recognise(sample: Sample) -> str | None:
    """Detect answers in two places, or two systems and a verdict, beside a question or its id."""
    held = columns(tuple(sorted(sample.fields)))
    if not sample.fields & {*FIELDS["question"], *FIELDS["id"]}:
        return None
    lmarena = {held.get("system_a"), held.get("system_b")} == {"model_a", "model_b"}
    if any(_THIRD.fullmatch(plain(name)) for name in sample.fields):
        return None
    if {"answer_a", "answer_b"} <= held.keys():
        # LMArena's own names are read there, with several judges.
        if lmarena and {"prompt", "response_a"} <= sample.fields:
            return None
        return f"has two answers of a pair, {held['answer_a']} and {held['answer_b']}"
    named = {"system_a", "system_b", "verdict"} <= held.keys() and not sample.fields & {"model_a", "system_a"}
    if named and not hold_texts(*sample.columns(held["system_a"], held["system_b"])):
        return f"has {held['system_a']}, {held['system_b']} and {held['verdict']}"
    return None


def items(record: Record, builder: Builder) -> Iterator[Item]:
    """Return the query of a row with two answers, and a verdict of each judge."""
    value, where = _name_systems(record.value), record.where
    held = columns(tuple(value))
    if value.keys().isdisjoint((*FIELDS["question"], *FIELDS["id"])):
        value = {**value, "id": PurePath(where).name}
        builder.note_guess("query_id", ALONE)
    raters = judge_columns(tuple(value))
    about = ("judge", "annotator", "rationale", "explanation", "voter", "points", "system_a", "system_b")
    own = {*held.values(), *raters, *about, "status"}
    (item,) = rag.items(Record({name: value[name] for name in value if name not in own}, where), builder)
    systems = _systems(value, held, where)
    judge = shapes.text(first(value, "judge", "annotator"), "judge", where)
    given: dict[str, str | None] = {**raters}
    if "verdict" in held and (not given or (judge is not None and len(given) == 1)):
        given = {held["verdict"]: judge}
    numbered = "1" in held.get("answer_a", held.get("system_a", ""))
    letters = {"X": "A", "Y": "B"} if _LETTERS.fullmatch(held.get("answer_a", "")) else {}
    words: list[tuple[str | None, str | None, float | None]] = [
        (who, _verdict(letters.get(str(value[name]), value[name]), name, systems, where, numbered=numbered), None)
        for name, who in given.items()
    ]
    if (points := values.number(value.get("points"), "points", where)) is not None:
        words.append((judge, None, points))
    if not given and plain(held.get("answer_a", "")).startswith("chosen"):
        words.append((judge, "A", None))
    if any(who is None for who, _, _ in words):
        builder.note_guess("judge", ABSENT["judge"][1])
    if "answer_a" in held and "answer_b" in held:
        texts = (shapes.answer(value[held[field]], held[field], where).answer for field in ("answer_a", "answer_b"))
        item.answers = [GivenAnswer(system, text) for system, text in zip(systems, texts, strict=True)]
    rationale = shapes.readable_text(first(value, "rationale", "explanation"))
    voter = shapes.text(value.get("voter"), "voter", where)
    asked = str(item.query_id or item.text)
    item.verdicts = [
        GivenVerdict(
            who or ABSENT["judge"][0],
            *systems,
            verdict=verdict,
            points=points,
            rationale=rationale,
            reason="the file has no verdict here",
            person=by_people(who or ""),
            voter=voter,
            repeat=builder.count_repeats((asked, who or "", *systems, voter or "")),
        )
        for who, verdict, points in words
    ]
    yield item


def split_systems(value: Any) -> tuple[str | None, str, str] | None:
    """Return the two systems that one value names, a list or `x vs y`, after the id before a colon, if there is one."""
    match unpack(value):
        case [str(first), str(second)]:
            return None, first, second
        case str(text) if match := _VERSUS.fullmatch(text.strip()):
            return match["id"], match["a"], match["b"]
    return None


def _name_systems(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record with the systems that its field `systems` names."""
    if (found := split_systems(value.get("systems"))) is None:
        return value
    query_id, *systems = found
    texts = unpack(value.get("answers"))
    if isinstance(texts, list) and len(texts) == len(systems):
        value = {**value, "answer_a": texts[0], "answer_b": texts[1]}
    known = {"id": query_id} if query_id and value.keys().isdisjoint(FIELDS["id"]) else {}
    rest = {name: content for name, content in value.items() if name not in ("systems", "answers")}
    return {**dict(zip(("system_a", "system_b"), systems, strict=True)), **known, **rest}


def _systems(value: Mapping[str, Any], held: Mapping[str, str], where: str) -> tuple[str, str]:
    """Return the two systems of a pair.

    Raises:
        BadInput: if the record does not name them.
    """
    names = [value.get(field) or value.get(held.get(field, "")) for field in ("system_a", "system_b")]
    systems = [values.identifier(name, "system_a", where) for name in names]
    if systems[0] and systems[1]:
        return systems[0], systems[1]
    places = " and ".join(held.get(f"answer_{side}", f"system_{side}") for side in "ab")
    raise BadInput(
        f"{places} are the two places of a pair, and no field names the systems in them",
        where=where,
        do="name them: --set system_a=NAME --set system_b=NAME, or map their fields: --map THEIRS=system_a and "
        "--map THEIRS=system_b",
    )


def _verdict(given: Any, name: str, systems: tuple[str, str], where: str, *, numbered: bool) -> str:
    """Return the verdict of a word (`read_verdict`), or of a system's name.

    Raises:
        BadInput: if it is none; a number is a place only if the places of the file are numbered.
    """
    if str(given).strip() in ("", "None", "nan", "NaN", "null"):
        return "unparsed"
    if str(given).strip() in systems:
        return "AB"[systems.index(str(given).strip())]
    if number(given) is None or numbered:
        verdict = read_verdict(given)
        if verdict is not None:
            return verdict
    raise BadInput(
        f"{name} is {values.shorten(given)}, which does not say which answer is better",
        where=where,
        do=f"say what it means: --value {name}:{given}=A, or B, or tie",
    )


def read_verdict(given: Any) -> str | None:
    """Return the verdict of a word: a place, an order such as `A>B`, a tie; None for any other."""
    word = plain(re.sub(r"[\[\]().\"'*]", " ", str(given))).strip("_")
    order = re.sub(r"[\s_]|(?:answer|response|model|assistant)", "", re.sub(r"([<>=])\1+", r"\1", word))
    known = schema.verdict_word(word)
    if known in get_args(schema.Verdict):
        return known
    if order in _ORDER or word in _TIES:
        return _ORDER.get(order, "tie")
    value = number(given)
    match = _WORD.fullmatch(word if value is None else f"{value:g}")
    return None if match is None else "A" if match["place"] in _FIRST else "B"


FORMAT = Format(*describe("pairs"), recognise=recognise, items=items)
