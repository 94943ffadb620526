"""Categories of notes, from a YAML file that a team edits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mirage.errors import BadInput, UnknownName
from mirage.store import Arena
from mirage.store.folders import home_folder
from mirage.store.user_files import TAXONOMY, file_beside
from mirage.store.yaml_files import yaml_records
from mirage.text.names import normalise_name

BUNDLED = Path(__file__).with_name(TAXONOMY)
"""The file used where a team has none."""
LONGEST_NAME, LONGEST_MEANING = 40, 200
"""Maximum characters of a category's name and meaning."""
MOST = 50
"""Maximum number of categories."""
_FIELDS = ("name", "meaning")


@dataclass(frozen=True, slots=True)
class Category:
    """A category of notes."""

    name: str
    """Short name, as in files and links."""
    meaning: str
    """One line that says when to choose it."""


@dataclass(frozen=True)
class Taxonomy:
    """The categories that notes on an arena may have."""

    categories: tuple[Category, ...]
    """In the order of the file."""
    path: Path
    """The file."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the categories, in the order of the file."""
        return tuple(category.name for category in self.categories)

    def order(self, names: Iterable[str]) -> list[str]:
        """Return distinct names in the order of the file; those that it lacks last, by name."""
        given = set(names)
        return [*(name for name in self.names if name in given), *sorted(given - set(self.names))]

    def check(self, names: Iterable[str], *, where: str = "") -> None:
        """Check that every name is a category.

        Raises:
            UnknownName: for the first that is not; the message lists the nearest.
        """
        for name in names:
            if name not in self.names:
                raise UnknownName("category", name, self.names, where=where)


def load_taxonomy(arena: Arena | None = None) -> Taxonomy:
    """Load the categories of an arena: from `taxonomy.yaml` beside its tables, else in the user's folder, else bundled.

    Args:
        arena: the arena; None for those of arenas without a file.

    Raises:
        BadInput: if the file is not a list of names and meanings, or a name is doubled; with file and line.
    """
    beside = None if arena is None else file_beside(arena, TAXONOMY)
    own = home_folder() / TAXONOMY
    return read_taxonomy(beside or (own if own.is_file() else BUNDLED))


def read_taxonomy(path: Path) -> Taxonomy:
    """Read a file of categories.

    Raises:
        BadInput: as `load_taxonomy` does.
    """
    categories: dict[str, Category] = {}
    line_of: dict[str, str] = {}
    for line in yaml_records(path, named="name"):
        category = _read_category(line.value, line.where)
        folded = category.name.casefold()
        if folded in line_of:
            raise BadInput(
                f"the category {category.name} is there twice",
                where=line.where,
                do=f"remove this one, or the one at {line_of[folded]}",
            )
        line_of[folded], categories[category.name] = line.where, category
    if not 0 < len(categories) <= MOST:
        raise BadInput(f"this file has {len(categories)} categories", where=str(path), do=f"write 1 to {MOST} of them")
    return Taxonomy(tuple(categories.values()), path)


def _read_category(record: dict[str, str | None], where: str) -> Category:
    if unknown := sorted(set(record) - set(_FIELDS)):
        raise BadInput(f"a category has no field {unknown[0]}", where=where, do="write name and meaning")
    values = []
    for field, most in zip(_FIELDS, (LONGEST_NAME, LONGEST_MEANING), strict=True):
        text = normalise_name(" ".join((record.get(field) or "").split()))
        if not text:
            raise BadInput(f"{field} is missing", where=where, do="give every category a name and a meaning")
        if len(text) > most:
            raise BadInput(f"{field} has {len(text)} characters", where=where, do=f"write at most {most}")
        if not text.isprintable():
            raise BadInput(f"{field} holds characters that are not shown", where=where, do="remove them")
        values.append(text)
    if "," in values[0]:
        raise BadInput(f"name is {values[0]!r}, with a comma", where=where, do="commas separate categories: use none")
    return Category(*values)
