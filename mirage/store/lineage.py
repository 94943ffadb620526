"""Lineage of the tables: the inputs of each, and what a change of rows invalidates.

Rows about an answer are removed when their answer changes (`ABOUT`). A table that is derived as a whole is removed when
any of its sources changes (`derived_tables`). Features computed from nuggets, assignments and grades are removed query
by query (`Lineage.features`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mirage import schema

QUERY = ("language", "query_id")
"""Columns that identify a query."""
SYSTEMS = ("system", "system_a", "system_b")
"""Columns that name a system."""
_NUGGET_SCORES = ("nugget_all", "nugget_all_strict", "nugget_vital", "nugget_vital_strict")


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


_JUDGED = ("answers", "outcomes", "judgments")
LINEAGE: dict[str, Lineage] = {
    "queries": Lineage(columns=("text", "subset")),
    "passages": Lineage(columns=("text", "relevant")),
    "retrieved": Lineage("queries", ("passages", "retrieved"), columns=("rank", "title", "text")),
    "nuggets": Lineage(uses=("queries", "passages"), columns=("text", "importance"), features=_NUGGET_SCORES),
    "references": Lineage(columns=("text",), features=("answer_bleu", "answer_rougeL")),
    "answers": Lineage(uses=("queries", "passages", "retrieved"), columns=("text", "status", "retriever", "depth")),
    "samples": Lineage("answers", ("queries", "passages", "retrieved")),
    "nugget_assignments": Lineage(
        "nuggets", ("answers", "queries"), columns=("assignment",), features=_NUGGET_SCORES, maker="assigner"
    ),
    "support_grades": Lineage(
        "answers",
        ("queries", "passages", "retrieved"),
        columns=("grade",),
        features=("citation_precision", "citation_recall"),
        maker="grader",
    ),
    "scores": Lineage(uses=("answers",)),
    "outcomes": Lineage("answers", ("queries",), derived=True),
    "features": Lineage(
        "answers",
        ("queries", "passages", "retrieved", "references", "nuggets", "nugget_assignments", "support_grades"),
        derived=True,
    ),
    "judgments": Lineage(uses=("queries", "passages", "answers", "features", "scores")),
    "ratings": Lineage(uses=_JUDGED, derived=True),
    "tournaments": Lineage(uses=_JUDGED, derived=True),
    "predictions": Lineage("features", _JUDGED, derived=True),
    "importances": Lineage("features", _JUDGED, derived=True),
}
"""Every table that is made from others or that others are made from, in pipeline order."""

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
