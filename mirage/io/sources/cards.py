"""Facts about systems: from a file of the user's, or those of the published systems that come with the program.

    gpt-4o-rag:                      # system card by name; or a list of them with a field `system`
      open_weights: false
      price_in: 2.5                  # US dollars a million tokens
      retriever: bm25

The fields are the columns of `schema.SystemCard`. JSON Lines, CSV and Parquet have them as columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.errors import BadInput, UnknownName
from mirage.io import values
from mirage.io.options import Options, Refused
from mirage.store import records
from mirage.store.arena import Arena
from mirage.store.yaml_files import ENDINGS, yaml_records
from mirage.text.content import whole
from mirage.text.dates import is_date
from mirage.text.names import need_visible

if TYPE_CHECKING:
    import pyarrow as pa

ALIASES = {"license": "licence", "name": "system", "model": "system", "size": "parameters", "link": "url"}
"""Other names of fields."""
_COLUMNS = tuple(column.name for column in schema.columns("systems"))


@dataclass(frozen=True)
class CardFile:
    """Content of a file of system cards."""

    table: pa.Table
    """Table `systems`."""
    ignored: tuple[str, ...]
    """One clause per ignored field of the file, with the nearest name if there is one."""


def read_cards(path: Path, options: Options | None = None) -> CardFile:
    """Read system cards; one wrong record refuses the whole file.

    Args:
        path: `.yaml`, `.yml`, `.jsonl`, `.csv` or `.parquet`, the last three also with `.gz` after them.
        options: how its fields are named.

    Raises:
        Refused: listing every wrong record.
        BadInput: if the file cannot be read at all, or holds no record.
        UnknownName: if a field is to be a column that there is not.
    """
    options = options or Options()
    for name in (*options.names.values(), *options.values):
        if name not in _COLUMNS:
            raise UnknownName("systems column", name, _COLUMNS, where="--map, --set")
    errors: list[BadInput] = []
    cards: dict[str, schema.SystemCard] = {}
    places: dict[str, str] = {}
    fields: dict[str, None] = {}
    for record, where in _records(path, options):
        fields |= dict.fromkeys(record)
        try:
            card = _card(record, where)
            if card.system in places:
                raise BadInput(f"this repeats {places[card.system]}: {card.system}", where=where)
        except BadInput as error:
            errors.append(error)
            continue
        cards[card.system], places[card.system] = card, where
    if errors:
        raise Refused(errors, len(cards) + len(errors))
    if not cards:
        raise BadInput(
            "this file holds no system", where=str(path), do="give a record a system: " + ", ".join(_COLUMNS)
        )
    unknown = [UnknownName("field", name, _COLUMNS) for name in fields if name not in _COLUMNS]
    ignored = tuple(f"{error.what}{f', {error.do}' if error.nearest else ''}" for error in unknown)
    return CardFile(schema.from_rows("systems", [cards[name] for name in sorted(cards)]), ignored)


@lru_cache(maxsize=32)
def cards_of(arena: Arena) -> Mapping[str, schema.SystemCard]:
    """Return the cards of an arena's systems by name: its own, and the program's for published systems without one."""
    own = arena.read("systems").to_pylist() if "systems" in arena.tables else []
    return {**published_cards(), **{row["system"]: schema.SystemCard(**row) for row in own}}


@cache
def published_cards() -> Mapping[str, schema.SystemCard]:
    """Return the cards of the systems with answers or ranks published by NoMIRACL and MIRAGE-Bench, by name, with
    sources.
    """
    rows = read_cards(Path(__file__).with_name("published_cards.yaml")).table.to_pylist()
    return {row["system"]: schema.SystemCard(**row) for row in rows}


def _records(path: Path, options: Options) -> Iterator[tuple[dict[str, Any], str]]:
    lines = yaml_records(path, named="system") if path.suffix in ENDINGS else records.records(path)
    for line in lines:
        if not isinstance(line.value, Mapping):
            raise BadInput("this is not a record of fields", where=line.where, do="give one record a system")
        record = options.apply(dict(line.value))
        for theirs, ours in ALIASES.items():
            if theirs in record and ours not in record:
                record[ours] = record.pop(theirs)
        yield record, line.where


def _card(record: Mapping[str, Any], where: str) -> schema.SystemCard:
    trimmed = {name: value.strip() if isinstance(value, str) else value for name, value in record.items()}
    card = schema.SystemCard(**{column.name: _value(column, trimmed, where) for column in schema.columns("systems")})
    if card.released is not None and not is_date(card.released):
        raise BadInput(f"released is {card.released!r}, not a date such as 2024, 2024-05 or 2024-05-13", where=where)
    return card


def _value(column: schema.Column, record: Mapping[str, Any], where: str) -> Any:
    """Return the value of a column, with its type and in its range; None if an optional one has none.

    Raises:
        BadInput: if it is invalid.
    """
    name, value = column.name, record.get(column.name)
    if column.nullable and value in (None, ""):
        return None
    if name not in record:
        raise values.missing(name, record, where)
    if column.kind == "flag":
        return values.flag(value, name, where)
    if column.kind == "text":
        value = values.identifier(value, name, where) if name in ("system", "released") else value
        if not isinstance(value, str) or not value:
            raise BadInput(f"{name} is {value!r}, not a text", where=where)
        whole(value, name, where)
        if name == "system":
            need_visible(value, name, where)
        return value
    number = values.number(value, name, where)
    if number is None or number < 0 or (column.kind == "count" and not (number.is_integer() and number < 2**31)):
        kind = "whole number" if column.kind == "count" else "number"
        raise BadInput(f"{name} is {value!r}, not a {kind} from 0", where=where)
    return int(number) if column.kind == "count" else number
