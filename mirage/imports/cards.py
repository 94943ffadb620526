"""System cards from a file join those that an arena has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mirage import store
from mirage.errors import UnknownName
from mirage.imports.public import prints
from mirage.sources.cards import read_cards
from mirage.sources.files import Options

_SYSTEMS = {
    "answers": "SELECT DISTINCT system FROM answers",
    "outcomes": "SELECT DISTINCT system FROM outcomes",
    "judgments": "SELECT system_a AS system FROM judgments UNION SELECT system_b FROM judgments",
    "scores": "SELECT DISTINCT system FROM scores",
    "features": "SELECT DISTINCT system FROM features",
    "published": "SELECT DISTINCT system FROM published WHERE system <> ''",
}
"""Tables that name systems, and how to read the names."""


@dataclass(frozen=True, slots=True)
class CardImport:
    """What an import of system cards did."""

    arena: store.Arena
    """The arena as it is now."""
    rows: int
    """Cards that were read."""
    replaced: int
    """Cards of the arena that they took the place of."""
    strangers: tuple[str, ...]
    """Systems with a card of which the arena knows nothing, a clause each, with the nearest name where there is one."""
    ignored: tuple[str, ...]
    """Fields of the file that are no facts of a card, a clause each."""


def import_cards(file: Path, into: Path, *, options: Options | None = None) -> CardImport:
    """Read system cards into an arena. A card of a system that the arena does not know is kept: it may come later.

    Args:
        file: as for `sources.cards.read_cards`.
        into: the arena's folder.
        options: how the file's fields are named.

    Raises:
        ArenaError: if there is no arena, or it cannot be written.
        BadInput: listing every wrong record; nothing is then imported.
    """
    store.open_arena(into)
    cards = read_cards(file, options)
    result = store.upsert(
        into,
        {"systems": store.by_key("systems", cards.table)},
        made_by="mirage import systems",
        made_from=prints(file.parent, [file]),
    )
    known = system_names(result.arena)
    unknown = [UnknownName("system", name, known) for name in cards.table["system"].to_pylist() if name not in known]
    strangers = tuple(f"{error.name}{f' ({error.do})' if error.nearest else ''}" for error in unknown)
    replaced = result.replaced.get("systems", 0)
    return CardImport(result.arena, len(cards.table), replaced, strangers, cards.ignored)


def system_names(arena: store.Arena) -> tuple[str, ...]:
    """The systems that an arena knows, in whatever table, sorted."""
    parts = [sql for table, sql in _SYSTEMS.items() if table in arena.tables]
    if not parts:
        return ()
    return tuple(arena.sql(f"{' UNION '.join(parts)} ORDER BY system")["system"].to_pylist())
