"""Parsing of values: ids, texts, flags, numbers and lists, as written by various programs."""

import ast
import difflib
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

from mirage.errors import BadInput
from mirage.text.dates import utc_day
from mirage.text.names import normalise_name

_SHARED = frozenset({"system", "judge", "language", "model", "run_id", "assigner"})
"""Fields that may be common to all records of a file."""
MOST_REPEATS = 9_999
"""Highest number of a sample or repeat."""
_INCLUSION = re.compile(r"\s*inclusion([\W_]*(p|prob|probability|weight))?\s*", re.IGNORECASE)
_COMMA = re.compile(r"\s*[+-]?(?:0,\d+|\d+,(?!\d{3}\s*$)\d+)\s*")
"""Numbers with a decimal comma; `1,234` may be a thousand."""
_TRUE, _FALSE = frozenset({"true", "1", "yes", "y"}), frozenset({"false", "0", "no", "n", "-1"})


def first(value: Mapping[str, Any], *names: str) -> tuple[str, Any]:
    """Return the first of some fields with a value in a record, and the value; the first name and None if there is
    none.
    """
    for name in names:
        content = value.get(name)
        if content is not None and content != "":
            return name, content
    return names[0], None


def identifier(value: Any, name: str, where: str) -> str | None:
    """Return a normalised id; an integer is its digits. None if missing.

    Raises:
        BadInput: if it is not an id.
    """
    if type(value) is str:
        return normalise_name(value) or None
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a data frame with a gap in a column writes its whole numbers so
    if isinstance(value, bool) or not isinstance(value, str | int):
        if isinstance(value, float) and math.isnan(value):
            return None
        raise BadInput(f"{name} is {shorten(value)}, not an id", where=where, do="use a text or an integer")
    return str(value)


def flag(value: Any, name: str, where: str) -> bool | None:
    """Return a boolean from a flag, a number (true if positive) or a word; None if missing.

    Raises:
        BadInput: if it is none of these.
    """
    if value is None or value == "" or isinstance(value, bool):
        return value if isinstance(value, bool) else None
    if isinstance(value, int | float):
        return value > 0 if value == value else None  # NaN; an integer may be too large for a float
    word = str(value).strip().casefold()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise BadInput(
        f"{name} is {shorten(value)}, not true or false",
        where=where,
        do=f"map it: --value {name}:{value}=true",
    )


def day(value: Any, where: str) -> str | None:
    """Return the day of a run in UTC; None if missing.

    Raises:
        BadInput: if it is not a date, a time, or seconds since 1970.
    """
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    return utc_day(value, where=where)


def with_point(value: Any) -> Any:
    """Return a value, or a text that is a number with a decimal comma with a point."""
    return value.replace(",", ".") if isinstance(value, str) and _COMMA.fullmatch(value) else value


def number(value: Any, name: str, where: str) -> float | None:
    """Return a number; None if missing or NaN.

    Raises:
        BadInput: if it is not a finite number.
    """
    if value is None or value == "":
        return None
    try:
        result = math.inf if isinstance(value, bool) else float(with_point(value))
    except (TypeError, ValueError, OverflowError):
        result = math.inf
    if math.isinf(result):
        raise BadInput(f"{name} is {shorten(value)}, not a number", where=where, do=f"--value {name}:THEIRS=NUMBER")
    return None if math.isnan(result) else result


def repeat(value: Mapping[str, Any], name: str, where: str) -> int:
    """Return the number of a sample or repeat in a field of a record; 0 if it has none.

    Raises:
        BadInput: if it is not a whole number from 0.
    """
    found = number(value.get(name), name, where) or 0
    if found != int(found) or not 0 <= found <= MOST_REPEATS:
        raise BadInput(f"{name} is {found:g}", where=where, do=f"number them from 0, at most {MOST_REPEATS:,}")
    return int(found)


def as_list(value: Any, where: str = "") -> list[Any]:
    """Return a value as a list.

    Lists serialised by JSON, Python or numpy (`["a", "b"]`, `['a' 'b']`) are parsed, a single value is wrapped, a
    missing one is empty.

    Raises:
        BadInput: if a text looks like a list of texts, but cannot be parsed.
    """
    if value is None or (isinstance(value, str) and not value):
        return []
    if isinstance(value, str) and _LISTED.match(value):
        for parse in (json.loads, lambda written: ast.literal_eval(_with_commas(written))):
            try:
                parsed = parse(value.strip())
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            return list(parsed) if isinstance(parsed, list | tuple) else [parsed]
        if _OF_TEXTS.match(value):
            raise BadInput(
                f"{shorten(value)} is not a readable list",
                where=where,
                do='write it as JSON: ["one", "two"]',
            )
    return list(value) if isinstance(value, list | tuple) else [value]


def unpack(value: Any) -> Any:
    """Parse a list or an object serialised in a cell as JSON or Python; return any other value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        parsed = as_list(value)
    except BadInput:
        return value
    return parsed if value.lstrip()[0] == "[" and parsed != [value] else parsed[0]


_LISTED = re.compile(r"\s*(?:(?:np\.|numpy\.)?array\(\s*)?[\[{]")
_OF_TEXTS = re.compile(
    r"""\s*(?:(?:np\.|numpy\.)?array\(\s*)?(?:\[\s*)+(?:(?:np\.|numpy\.)?(?:str_|array)\()?['\"].*[\])]\s*$""",
    re.DOTALL,
)
_LITERAL = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_DTYPE = re.compile(r",\s*dtype=['\"]?[\w<>=|.]+['\"]?(?=\s*\))")
_CALL = re.compile(r"\b(?:np\.|numpy\.)?(?:array|str_)\(|\)")


def _with_commas(text: str) -> str:
    """Convert a list printed by numpy or pandas to Python syntax, without `array(..., dtype=object)`."""
    parts = _LITERAL.split(_DTYPE.sub("", text))
    for place in range(0, len(parts), 2):
        bare = _CALL.sub("", parts[place])
        if place and place + 1 < len(parts) and not bare.strip():
            bare = ","
        bare = re.sub(r"\](\s*)(?=\[)", r"],\1", bare)
        bare = re.sub(r"(?<=[\w.])\s+(?=[\w.+-])", ", ", bare)
        if place and bare.lstrip().startswith("["):
            bare = "," + bare
        if place + 1 < len(parts) and bare.rstrip().endswith("]"):
            bare += ","
        parts[place] = bare
    return "".join(parts)


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of some names; None if there is none."""
    candidates = {candidate.casefold(): candidate for candidate in names}
    matches = difflib.get_close_matches(name.casefold(), candidates, n=1, cutoff=0.75)
    return candidates[matches[0]] if matches else None


def refuse_weights(value: Mapping[str, Any], where: str) -> None:
    """Check that no field of a record claims a probability with which its battle was drawn.

    Raises:
        BadInput: naming the field; only the program that draws battles knows their probabilities.
    """
    for name in weight_fields(tuple(value)):
        content = value[name]
        if content is not None and content != "" and content == content:  # NaN is a gap
            raise BadInput(
                f"{name} is {shorten(content)}: a file cannot say with which probability a battle was drawn",
                where=where,
                do=f"leave it out (--map {name}=ignored): every verdict counts the same",
            )


@lru_cache(4096)
def weight_fields(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of a probability of being drawn: `inclusion`, `Inclusion probability`."""
    return tuple(name for name in names if _INCLUSION.fullmatch(name))


def refuse_misspelt(value: Mapping[str, Any], where: str, *groups: tuple[str, ...]) -> None:
    """Check that no field of a record is a misspelling of a field that it lacks.

    Args:
        value: the record.
        where: its location.
        groups: names of each field; a record has it under one of them.

    Raises:
        BadInput: naming the misspelt field.
    """
    there = tuple(value)
    for names in groups:
        if _is_misspelt(there, names):
            raise missing(names[0], value, where, also=names)


@lru_cache(4096)
def _is_misspelt(there: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Return whether none of some names is there, but one that differs by a letter or two, or by case."""
    if not set(names).isdisjoint(there):
        return False
    pairs = [(name.casefold(), near) for name in there if (near := nearest_name(name, names))]
    # `answers` is not a misspelling of `answer`: such fields hold other things.
    return any(
        name == near or (_n_edits(name, near) < 3 and name not in near and near not in name) for name, near in pairs
    )


def _n_edits(first: str, second: str) -> int:
    """Return the number of letters that differ between two words."""
    edits = difflib.SequenceMatcher(None, first, second).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in edits if kind != "equal")


def missing(
    name: str, value: Mapping[str, Any], where: str, *, also: Collection[str] = (), near: str | None = None
) -> BadInput:
    """Return the error for a record without a required field, suggesting similar fields.

    Args:
        name: the field.
        value: the record.
        where: its location.
        also: aliases of the field.
        near: a field that may be it, if none is similar.
    """
    names = (name, *also)
    near = next((theirs for theirs in value if theirs not in names and nearest_name(theirs, names)), near)
    there = ", ".join(list(value)[:12]) or "no fields"
    what = f"{name} is missing; there are {there}"
    do = f"{near} may be it: --map {near}={name}" if near else f"say which field it is: --map THEIRS={name}"
    if held := next((field for field in names if field in value), None):
        what, do = f"{name} is missing: {held} is empty", "fill it in (of merged cells only the first holds the value)"
    do += f", or what all records have: --set {name}=NAME" if name in _SHARED else ""
    return BadInput(what, where=where, do=do)


def shorten(value: Any) -> str:
    """Format a value for a message."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
