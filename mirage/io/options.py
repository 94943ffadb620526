"""Names of a file's fields, and the error that lists all its invalid records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mirage.errors import BadInput, UnknownName

_INDEX = re.compile(r"\[(\d+)\]")
_HELPS = 3
"""Maximum number of different suggestions in the text of an error."""
SHOWN = 10
"""Maximum number of invalid lines listed in the text of an error; the others are counted."""


@dataclass(frozen=True)
class Options:
    """Column names and default values of a file."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Our column by the file's, with dots into objects: `{"answer": "text"}`, `{"output.content": "text"}`."""
    values: Mapping[str, str] = field(default_factory=dict)
    """By our column, the value for every record without one: `{"language": "sw", "system": "mine"}`."""
    meanings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By our column, the meaning of its values: `{"verdict": {"model_a": "A"}}`; other values are unchanged."""
    spelling: Mapping[str, str] = field(default_factory=dict)
    """Known names of fields by the file's spelling, not the user's choice: `{"Ground Truth": "ground_truth"}`."""

    @classmethod
    def parse(cls, names: Iterable[str] = (), values: Iterable[str] = (), meanings: Iterable[str] = ()) -> Options:
        """Parse options written as `theirs=ours`, also several with commas, `ours=value` and `ours:theirs=our value`.

        Raises:
            BadInput: if one lacks the sign or a side of it, or a name is given twice.
        """
        by_column: dict[str, dict[str, str]] = {}
        for field_name, meaning in _pairs(meanings, "--value", "COLUMN:THEIRS=OURS").items():
            column_name, sign, theirs = field_name.partition(":")
            if not sign:
                raise BadInput(f"--value {field_name!r} names no column", do="write --value COLUMN:THEIRS=OURS")
            by_column.setdefault(column_name, {})[theirs] = meaning
        return cls(
            _pairs(_split(names), "--map", "THEIRS=OURS, as answer=text"),
            _pairs(values, "--set", "COLUMN=VALUE"),
            by_column,
        )

    @staticmethod
    def find(value: Mapping[str, Any], path: str) -> Any:
        """Return the value at a path such as `hits.text`, `hits[*].text` or `hits[0].text`; None if there is none."""
        content = inner(value, _INDEX.sub(r".\1", path.replace("[*]", "")).split("."))
        return None if isinstance(content, list) and content and not any(map(_is_there, content)) else content

    def apply(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record under our names, completed with the default values."""
        record = {self.spelling.get(name, name): given for name, given in value.items() if name not in self.names}
        for field_name, column_name in self.names.items():
            content = value[field_name] if field_name in value else self.find(value, field_name)
            if content is not None or field_name in value:
                record[column_name] = content
        record |= {name: content for name, content in self.values.items() if record.get(name) in (None, "")}
        for name, meanings in self.meanings.items():
            if name in record:
                record[name] = _translate_value(record[name], meanings)
        return record


def _split(texts: Iterable[str]) -> list[str]:
    """Return the pairs of `a=b,c=d`; a comma within a name splits nothing."""
    pairs = []
    for text in texts:
        parts = text.split(",")
        pairs += parts if all("=" in part for part in parts) else [text]
    return pairs


def inner(value: Any, path: Sequence[str]) -> Any:
    """Return the value at a path of names in nested objects; None if there is none.

    In a list, a number is an index from 0, and a name is looked up in each object.
    """
    for depth, name in enumerate(path):
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit():
            value = value[int(name)] if int(name) < len(value) else None
        elif isinstance(value, list):
            return [inner(entry, path[depth:]) for entry in value]
        else:
            return None
    return value


def _is_there(value: Any) -> bool:
    return any(map(_is_there, value)) if isinstance(value, list) else value is not None


def _translate_value(value: Any, meanings: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_translate_value(entry, meanings) for entry in value]
    shown = str(value).lower() if isinstance(value, bool) else str(value).strip()
    return meanings.get(shown, value)


def _pairs(texts: Iterable[str], option: str, form: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        left, sign, right = text.partition("=")
        if not (left and sign and right):
            raise BadInput(f"{option} {text!r} does not say what is what", do=f"write {option} {form}")
        if left in pairs:
            raise BadInput(f"{option} names {left!r} twice", do="give it once")
        pairs[left] = right
    return pairs


def _places(alike: list[BadInput]) -> str:
    """Return the place of the first of some errors, how many more there are, and the names of their other files."""
    first, *others = (str(error.where) for error in alike)
    files = dict.fromkeys(Path(re.sub(r":\d+( .*)?$", "", where)).name for where in (first, *others))
    names = [*files][1:]
    more = f" and {len(others):,} more" if others else ""
    return first + more + (f", in {', '.join(names[:SHOWN])}{' ...' * (len(names) > SHOWN)}" if names else "")


def name_import(error: BadInput, path: Path) -> None:
    """Say of the options in a remedy that they are those of `mirage import`, for a command without them."""
    if "--" in error.do:
        error.do += f"; those are options of: mirage import {path} --into DIR"


def count_places(errors: Iterable[BadInput]) -> int:
    """Return the number of invalid records; an error of two that contradict each other is of the later."""
    return len({str(error.where).rpartition(" and ")[2] for error in errors})


class Refused(BadInput):
    """A file that is refused whole.

    Args:
        errors: the errors of its records, in their order.
        n: number of its records.
    """

    def __init__(self, errors: list[BadInput], n: int) -> None:
        self.wrong, self.n = tuple(errors), n
        if len(errors) == 1:
            message, where = errors[0].what, errors[0].where
            super().__init__(message, where=where, do=errors[0].do or "correct the line; nothing was imported")
            return
        alike: dict[tuple[str, str], list[BadInput]] = {}
        for error in errors:
            alike.setdefault((error.what, error.do), []).append(error)
        lines = [
            f"{_places(same)}: {what}" + (f" ({do})" if isinstance(same[0], UnknownName) else "")
            for (what, do), same in list(alike.items())[:SHOWN]
        ]
        if len(alike) > SHOWN:
            rest = sum(map(len, list(alike.values())[SHOWN:]))
            lines.append(f"... and {rest:,} more; mirage check lists them all")
        helps = dict.fromkeys(do for (_, do), same in alike.items() if do and not isinstance(same[0], UnknownName))
        super().__init__(
            f"{count_places(errors):,} of {n:,} records cannot be taken",
            where="\n         ".join(lines),
            do="; ".join([*list(helps)[:_HELPS], *([] if helps else ["correct these lines"]), "nothing was imported"]),
        )
