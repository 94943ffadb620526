"""Access to the fields of records by the readers of answer formats: names (`fields.toml`), `values`, and errors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from mirage.errors import BadInput
from mirage.io import values
from mirage.io.formats import shapes
from mirage.io.formats.spec import Record, Sample, load_names

if TYPE_CHECKING:
    from mirage.io.formats.build import Builder

FIELDS, FOUND = load_names("read"), load_names("found")
"""Names of the fields of flat records, known and further ones (`fields.toml`), by their name in `--map`."""
SYSTEM = FIELDS["system"]
_SPELLINGS = str.maketrans("kzy", "cci")
_ENDINGS = re.compile(r"(?:\.(?:jsonl?|ndjson|csv|tsv|parquet|eval|gz|zst|lz4|txt))+$", re.IGNORECASE)


def plain(name: str) -> str:
    """Return a name or a word in lower case with `_` between words."""
    return re.sub(r"[\s_.:/|-]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())).casefold()


@lru_cache(4096)
def fold_field(name: str) -> str:
    """Return the form in which the names of a field in related languages, also in the plural, are mostly equal:
    without accents, doubled letters and endings; `Modelle`, `modèle` and `modelos` are `model`.
    """
    letters = re.sub(r"[^\w]", "", unicodedata.normalize("NFKD", plain(name)))
    words = re.sub(r"([a-z])\1", r"\1", letters).translate(_SPELLINGS).split("_")
    return "_".join(re.sub(r"^(.{3,}?)(?:en|[aeios])*$", r"\1", word) for word in words)


def first(value: Mapping[str, Any], *names: str) -> Any:
    """Return the first value that exists under these names; None if there is none."""
    return values.first(value, *names)[1]


def text(record: Record, *names: str) -> str | None:
    """Return the text under the first of these names that has a value, in any shape (`shapes.text`).

    Raises:
        BadInput: if it holds no text.
    """
    name, value = values.first(record.value, *_by_choice(record, names))
    return shapes.text(value, name, record.where)


def _by_choice(record: Record, names: tuple[str, ...]) -> Sequence[str]:
    """Return names of a field, those to which the user mapped another first."""
    return sorted(names, key=lambda name: name not in record.mapped) if record.mapped else names


def answer_text(record: Record, *names: str) -> str | None:
    """Return a text as `text` does, but keep an empty one: the system gave an empty answer.

    Raises:
        BadInput: as `text`.
    """
    name = next((name for name in _by_choice(record, names) if record.value.get(name) is not None), names[0])
    return shapes.text(record.value.get(name), name, record.where)


def need(record: Record, *names: str) -> str:
    """Return the id or name under the first of these names.

    Raises:
        BadInput: if there is none, or it is not an id.
    """
    name, value = values.first(record.value, *_by_choice(record, names))
    content = values.identifier(value, name, record.where)
    if content is None:
        raise values.missing(names[0], record.value, record.where, also=names)
    return content


def list_field(record: Record, *names: str) -> list[Any]:
    """Return the list under the first of these names, also if serialised in a cell; empty if there is none."""
    return values.as_list(first(record.value, *names), record.where)


def number(value: Any) -> float | None:
    """Return a finite number, also from text; None for anything else."""
    try:
        return values.number(value, "", "")
    except BadInput:
        return None


def is_measure(value: Any) -> bool:
    """Return whether a value may be a score: a number, including NaN and infinity, or nothing."""
    if value is None or value == "":
        return True
    given = values.with_point(value)
    try:
        return not isinstance(given, bool) and isinstance(given, int | float | str) and float(given) is not None
    except (ValueError, OverflowError):
        return False


def wrong(record: Record, name: str, expected: str, value: Any) -> BadInput:
    """Return the error for a value of the wrong type."""
    return BadInput(
        f"{name} must be {expected}, not {values.shorten(value)}",
        where=record.where,
        do=f"correct the record, or use another field for {name}: --map THEIRS={name}",
    )


def stem(where: str) -> str:
    """Return the name of a record's file without extensions, from its location."""
    return _ENDINGS.sub("", PurePath(where.rpartition(":")[0]).name) or "system"


def system_of(record: Record, builder: Builder, named: Any = None) -> str:
    """Return the system of a record, else as named elsewhere, else after its file, which the summary reports."""
    values.refuse_misspelt(record.value, record.where, SYSTEM)
    name = text(record, *SYSTEM) or named
    if isinstance(name, str) and name.strip():
        return name
    name = stem(record.where)
    file = PurePath(record.where.rpartition(":")[0]).name
    builder.note_guess("system", f"named {name} after {file}; change it with --set system=NAME")
    return name


def has_fields(*names: str, of: str = "", without: Collection[str] = ()) -> Callable[[Sample], str | None]:
    """Return a detector of records of a program that have all of some fields, and none of others."""

    def recognise(sample: Sample) -> str | None:
        if not sample.fields.issuperset(names) or not sample.fields.isdisjoint(without):
            return None
        return f"has {', '.join(names)}" + (f", as {of}" if of else "")

    return recognise
