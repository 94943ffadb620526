"""Column names of a file, and default values for all its records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mirage import schema
from mirage.errors import BadInput, UnknownName

PASSAGES = "passages"
"""Field of a query with its passages."""
_INNER = f"{PASSAGES}."


@dataclass(frozen=True)
class Options:
    """Column names and default values of a file."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Our column by the file's: `{"answer": "text"}`. Columns of passages start with `passages.`, at least in the file:
    `{"passages.body": "text"}`.
    """
    values: Mapping[str, str] = field(default_factory=dict)
    """By our column, the value for every record without one: `{"language": "sw", "system": "mine"}`."""
    meanings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By our column, the meaning of its values: `{"verdict": {"model_a": "A"}}`; other values are unchanged."""

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

    def check(self, table: str) -> None:
        """Reject names that are not columns of a table, or of passages if its records contain them.

        Raises:
            UnknownName: with the nearest columns.
            BadInput: if two columns of the file map to the same column.
        """
        holds = table == "queries"
        for of, names in ((table, self.own()), (PASSAGES, self.of_passages())):
            valid = [column.name for column in schema.columns(of)] + [PASSAGES] * (holds and of == table)
            sources: dict[str, str] = {}
            for field_name, column_name in names.names.items():
                if column_name not in valid or (of == PASSAGES and not holds):
                    raise UnknownName(f"{of} column", column_name, valid, where="--map")
                if sources.setdefault(column_name, field_name) != field_name:
                    raise BadInput(
                        f"both {sources[column_name]} and {field_name} are to be {column_name}",
                        where="--map",
                        do="choose one",
                    )
        for name in self.values:
            if name not in (valid := [column.name for column in schema.columns(table)]):
                raise UnknownName(f"{table} column", name, valid, where="--set")

    def own(self) -> Options:
        """Return the options for top-level fields, without nested fields."""
        return Options(
            {
                field_name: column_name
                for field_name, column_name in self.names.items()
                if not field_name.startswith(_INNER)
            },
            self.values,
            self.meanings,
        )

    def of_passages(self) -> Options:
        """Return the options for the records of passages."""
        inner = {
            field_name.removeprefix(_INNER): column_name.removeprefix(_INNER)
            for field_name, column_name in self.names.items()
            if field_name.startswith(_INNER)
        }
        return Options(inner, {name: value for name, value in self.values.items() if name == "language"})

    def apply(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record under our names, completed with the default values."""
        record = {name: content for name, content in value.items() if name not in self.names}
        for field_name, column_name in self.names.items():
            content = value[field_name] if field_name in value else inner(value, field_name.split("."))
            if content is not None or field_name in value:
                record[column_name] = content
        record |= {name: content for name, content in self.values.items() if record.get(name) in (None, "")}
        for name, meanings in self.meanings.items():
            if name in record:
                record[name] = _meant(record[name], meanings)
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


def _meant(value: Any, meanings: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_meant(entry, meanings) for entry in value]
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
