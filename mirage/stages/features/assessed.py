"""Nugget assignments and support grades of answers, as input of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mirage.errors import UnknownName
from mirage.schema import Assignment, NuggetImportance, Support
from mirage.stages.nuggets.terms import TERMS

if TYPE_CHECKING:
    import pyarrow as pa

ASSESSED = ("nuggets", "nugget_assignments", "support_grades")
"""Their tables; a feature that needs one is measured if the arena has it."""
AnswerKey = tuple[str, str, str]
"""Language, query_id and system."""


def decider(table: pa.Table, column: str, name: str | None = None) -> str | None:
    """Return the name given, else the one with the most decisions; the word matcher only if it is the only one.

    Args:
        table: rows of `nugget_assignments` or `support_grades`.
        column: `assigner` or `grader`.
        name: a name; None for the default. Ties are broken by name.

    Returns:
        The name; None if there is no row.

    Raises:
        UnknownName: if there is no such assigner or grader.
    """
    counts = {row["values"]: row["counts"] for row in table[column].value_counts().to_pylist()}
    if name is not None:
        if name not in counts:
            raise UnknownName(column, name, counts)
        return name
    return min(counts, key=lambda known: (known == TERMS, -counts[known], known), default=None)


class Assessments:
    """Nugget assignments and support grades of every answer.

    Args:
        tables: tables by name; of these, those of `ASSESSED` are read.
        assigner: the assigner; None for the default.
        grader: the grader; None for the default.
        part: whether these are rows of a part, which may have no decisions by the chosen ones.

    Raises:
        UnknownName: if there is no such assigner or grader.
    """

    def __init__(
        self, tables: Mapping[str, pa.Table], *, assigner: str | None, grader: str | None, part: bool = False
    ) -> None:
        self._banks: dict[tuple[str, str], list[tuple[str, NuggetImportance]]] = {}
        for row in tables["nuggets"].to_pylist() if "nuggets" in tables else ():
            bank = self._banks.setdefault((row["language"], row["query_id"]), [])
            bank.append((row["nugget_id"], row["importance"]))
        self._assignments: dict[AnswerKey, dict[str, Assignment | None]] = {}
        for row in chosen_rows(tables.get("nugget_assignments"), "assigner", assigner, part=part):
            self._assignments.setdefault(_key(row), {})[row["nugget_id"]] = row["assignment"]
        self._grades: dict[AnswerKey, dict[tuple[int, str], Support | None]] = {}
        for row in chosen_rows(tables.get("support_grades"), "grader", grader, part=part):
            self._grades.setdefault(_key(row), {})[row["sentence"], row["passage_id"]] = row["grade"]

    def nuggets(self, key: AnswerKey) -> tuple[tuple[NuggetImportance, Assignment | None], ...]:
        """Return importance and assignment of each nugget of an answer's query."""
        given = self._assignments.get(key, {})
        return tuple((importance, given.get(name)) for name, importance in self._banks.get(key[:2], ()))

    def grades(self, key: AnswerKey) -> Mapping[tuple[int, str], Support | None]:
        """Return the grades of an answer's citations."""
        return self._grades.get(key, {})


def _key(row: Mapping[str, Any]) -> AnswerKey:
    return row["language"], row["query_id"], row["system"]


def chosen_rows(table: pa.Table | None, column: str, name: str | None, *, part: bool = False) -> list[dict[str, Any]]:
    """Return the rows of the chosen assigner or grader."""
    import pyarrow.compute as pc

    if table is None:
        return []
    chosen = name if part and name is not None else decider(table, column, name)
    return [] if chosen is None else list(table.filter(pc.equal(table[column], chosen)).to_pylist())
