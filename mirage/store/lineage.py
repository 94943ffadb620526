"""Lineage of the tables: the inputs of each, and what a change of rows invalidates.

Rows about an answer are removed when their answer changes (`ABOUT`). A table that is derived as a whole is removed when
any of its sources changes (`derived_tables`). Features computed from nuggets, assignments and grades are removed query
by query (`Lineage.features`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mirage import schema
from mirage.text.data import load_words

QUERY = ("language", "query_id")
"""Columns that identify a query."""
SYSTEMS = ("system", "system_a", "system_b")
"""Columns that name a system."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """Origin of one table, and the parts of it on which others depend."""

    needs: str | None = None
    """The source that the command creating the table cannot do without."""
    uses: tuple[str, ...] = ()
    """Other sources, each optional or an alternative."""
    derived: bool = False
    """Whether the table is removed when a source changes; otherwise only rows about a changed answer are."""
    columns: tuple[str, ...] = ()
    """Columns whose change invalidates rows made from the table's rows."""
    features: tuple[str, ...] = ()
    """Features computed from the table's rows on a query."""
    maker: str | None = None
    """Column of the assigner or grader, in a table whose rows are about one answer."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Every table that this one is made from."""
        return self.uses if self.needs is None else (self.needs, *self.uses)


def _read(about: Mapping[str, Any]) -> Lineage:
    lists = {name: tuple(about.get(name, "").split()) for name in ("uses", "columns", "features")}
    return Lineage(**{**about, **lists})


LINEAGE = {table: _read(about) for table, about in load_words("lineage", "mirage.store").items()}
"""Every table that is made from others or that others are made from, in pipeline order (`lineage.toml`)."""

ABOUT: dict[str, tuple[str, ...]] = {
    table: tuple(name for name in schema.key(table) if name in SYSTEMS)
    for table in LINEAGE
    if table != "answers" and "query_id" in schema.key(table) and {*SYSTEMS} & {*schema.key(table)}
}
"""Tables whose rows are about answers, with the columns that name the systems."""


def derived_tables(tables: Iterable[str]) -> tuple[str, ...]:
    """Return the tables derived, directly or indirectly, from any of these, without these themselves."""
    originals = set(tables)
    reached = set(originals)
    for table, lineage in LINEAGE.items():
        # Features are removed row by row with nuggets, assignments and grades.
        if lineage.derived and any(name in reached for name in lineage.sources if not LINEAGE[name].features):
            reached.add(table)
    return tuple(name for name in schema.TABLES if name in reached - originals)
