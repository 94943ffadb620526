"""Import of system cards."""

from dataclasses import dataclass
from pathlib import Path

from mirage.errors import UnknownName
from mirage.io.imports.public import prints
from mirage.io.options import Options
from mirage.io.sources.cards import read_cards
from mirage.store.arena import Arena, open_arena
from mirage.store.systems import system_names
from mirage.store.upsert import by_key, upsert
from mirage.store.writing import Provenance

_TABLES = ("answers", "outcomes", "judgments", "scores", "features", "published")
"""Tables with other data of systems."""


@dataclass(frozen=True, slots=True)
class CardImport:
    """Result of importing system cards."""

    arena: Arena
    """The arena after the import."""
    rows: int
    """Cards read."""
    replaced: int
    """Cards replaced."""
    strangers: tuple[str, ...]
    """Systems with a card but without other data in the arena, a clause each, with the nearest name if there is one."""
    ignored: tuple[str, ...]
    """Unknown fields of the file, a clause each."""


def import_cards(file: Path, into: Path, *, options: Options | None = None) -> CardImport:
    """Import system cards. Cards of systems unknown to the arena are stored, as their data may follow.

    Args:
        file: as for `sources.cards.read_cards`.
        into: the arena's folder.
        options: names of the file's fields.

    Raises:
        ArenaError: if there is no arena, or it cannot be written.
        BadInput: listing every invalid record; nothing is then imported.
    """
    open_arena(into)
    cards = read_cards(file, options)
    result = upsert(
        into,
        {"systems": by_key("systems", cards.table)},
        made_by=Provenance("mirage import", sources=prints(file.parent, [file])),
    )
    known = system_names(result.arena, _TABLES)
    unknown = [UnknownName("system", name, known) for name in cards.table["system"].to_pylist() if name not in known]
    strangers = tuple(f"{error.name}{f' ({error.do})' if error.nearest else ''}" for error in unknown)
    replaced = result.replaced.get("systems", 0)
    return CardImport(result.arena, len(cards.table), replaced, strangers, cards.ignored)
