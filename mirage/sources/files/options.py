"""How the columns of a file are named, and what every record of it has in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mirage import schema
from mirage.errors import BadInput, UnknownName

PASSAGES = "passages"
"""The field of a question that holds its passages."""
_INNER = f"{PASSAGES}."


@dataclass(frozen=True)
class Options:
    """What a file calls the columns, and what it does not say because all its records share it."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Our column by the file's: `{"answer": "text"}`. Those of passages begin with `passages.`, at least in the file's:
    `{"passages.body": "text"}`."""
    values: Mapping[str, str] = field(default_factory=dict)
    """By our column, the value of every record that has none there: `{"language": "sw", "system": "mine"}`."""

    @classmethod
    def parse(cls, names: Iterable[str] = (), values: Iterable[str] = ()) -> Options:
        """Options written as `theirs=ours` and `ours=value`.

        Raises:
            BadInput: if one lacks the sign or a side of it, or a name is given twice.
        """
        return cls(_pairs(names, "--map", "THEIRS=OURS, as answer=text"), _pairs(values, "--set", "COLUMN=VALUE"))

    def check(self, table: str) -> None:
        """Refuse names that are no columns of a table, or of passages where its records hold them.

        Raises:
            UnknownName: naming the nearest columns.
            BadInput: if two columns of the file are to be one of ours.
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
        """The options for the records themselves."""
        return Options(
            {
                field_name: column_name
                for field_name, column_name in self.names.items()
                if not field_name.startswith(_INNER)
            },
            self.values,
        )

    def of_passages(self) -> Options:
        """The options for the records of passages."""
        inner = {
            field_name.removeprefix(_INNER): column_name.removeprefix(_INNER)
            for field_name, column_name in self.names.items()
            if field_name.startswith(_INNER)
        }
        return Options(inner, {name: value for name, value in self.values.items() if name == "language"})

    def apply(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """A record under our names, with the values it lacks."""
        record = {name: content for name, content in value.items() if name not in self.names}
        record |= {
            column_name: value[field_name] for field_name, column_name in self.names.items() if field_name in value
        }
        record |= {name: content for name, content in self.values.items() if record.get(name) in (None, "")}
        return record


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
