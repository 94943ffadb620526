"""What others decided of answers, as features need it: which nuggets they state, how far passages bear them out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mirage.errors import UnknownName
from mirage.nuggets import TERMS
from mirage.schema import Assignment, NuggetImportance, Support

if TYPE_CHECKING:
    import pyarrow as pa

ASSESSED = ("nuggets", "nugget_assignments", "support_grades")
"""Tables that hold it; a feature that needs one is measured where the arena has it."""
AnswerKey = tuple[str, str, str]
"""Language, query_id and system."""


def decider(table: pa.Table, column: str, name: str | None = None) -> str | None:
    """Whose decisions count: the name given, else who made most, and the matcher of terms only where it is alone.

    Args:
        table: rows of `nugget_assignments` or `support_grades`.
        column: `assigner` or `grader`.
        name: a name; None for the default. Of two who made as many the first by name counts.

    Returns:
        The name; None where there is no row.

    Raises:
        UnknownName: if nobody of the name given decided anything.
    """
    counts = {row["values"]: row["counts"] for row in table[column].value_counts().to_pylist()}
    if name is not None:
        if name not in counts:
            raise UnknownName(column, name, counts)
        return name
    return min(counts, key=lambda known: (known == TERMS, -counts[known], known), default=None)


class Assessments:
    """Nuggets and grades of every answer.

    Args:
        tables: those of `ASSESSED` that there are.
        assigner: whose assignments count; None for the default.
        grader: whose grades count; None for the default.
        part: whether these are the rows of a part, in which whoever counts may have decided nothing.

    Raises:
        UnknownName: if there are no decisions of the assigner or grader named.
    """

    def __init__(
        self, tables: Mapping[str, pa.Table], *, assigner: str | None, grader: str | None, part: bool = False
    ) -> None:
        self._banks: dict[tuple[str, str], list[tuple[str, NuggetImportance]]] = {}
        for row in tables["nuggets"].to_pylist() if "nuggets" in tables else ():
            bank = self._banks.setdefault((row["language"], row["query_id"]), [])
            bank.append((row["nugget_id"], row["importance"]))
        self._assignments: dict[AnswerKey, dict[str, Assignment | None]] = {}
        for row in _decided(tables.get("nugget_assignments"), "assigner", assigner, part=part):
            self._assignments.setdefault(_key(row), {})[row["nugget_id"]] = row["assignment"]
        self._grades: dict[AnswerKey, dict[tuple[int, str], Support | None]] = {}
        for row in _decided(tables.get("support_grades"), "grader", grader, part=part):
            self._grades.setdefault(_key(row), {})[row["sentence"], row["passage_id"]] = row["grade"]

    def nuggets(self, key: AnswerKey) -> tuple[tuple[NuggetImportance, Assignment | None], ...]:
        """Importance and assignment of each nugget of an answer's query."""
        given = self._assignments.get(key, {})
        return tuple((importance, given.get(name)) for name, importance in self._banks.get(key[:2], ()))

    def grades(self, key: AnswerKey) -> Mapping[tuple[int, str], Support | None]:
        """The grades of an answer's citations."""
        return self._grades.get(key, {})


def _key(row: Mapping[str, Any]) -> AnswerKey:
    return row["language"], row["query_id"], row["system"]


def _decided(table: pa.Table | None, column: str, name: str | None, *, part: bool) -> list[dict[str, Any]]:
    """The rows of whoever counts."""
    import pyarrow.compute as pc

    if table is None:
        return []
    chosen = name if part and name is not None else decider(table, column, name)
    return [] if chosen is None else list(table.filter(pc.equal(table[column], chosen)).to_pylist())
