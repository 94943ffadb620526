"""Nugget assignments and support grades of answers, as input of features."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from mirage.errors import UnknownName
from mirage.schema import AnswerKey, Assignment, NuggetImportance, Support, Tables
from mirage.stages.nuggets.terms import TERMS
from mirage.stats.rows import group, read_rows

ASSESSED = ("nuggets", "nugget_assignments", "support_grades")
"""Their tables; a feature that needs one is measured if the arena has it."""
_QUERY = ("language", "query_id")


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
    """

    def __init__(self, tables: Tables, assigner: str | None = None, grader: str | None = None) -> None:
        nuggets = read_rows(tables["nuggets"], *_QUERY, "nugget_id", "importance") if "nuggets" in tables else ()
        self._banks = group((row[:2], row[2:]) for row in nuggets)
        assigned = chosen_rows(tables, "nugget_assignments", "assigner", assigner, "nugget_id", "assignment")
        self._assignments = {row[:4]: row[4] for row in assigned}
        graded = chosen_rows(tables, "support_grades", "grader", grader, "sentence", "passage_id", "grade")
        self._grades = group((row[:3], (row[3:5], row[5])) for row in graded)

    def of(
        self, key: AnswerKey
    ) -> tuple[tuple[tuple[NuggetImportance, Assignment | None], ...], Mapping[tuple[int, str], Support | None]]:
        """Return importance and assignment of each nugget of an answer's query, and the grades of its citations."""
        bank = self._banks.get(key[:2], ())
        nuggets = tuple((importance, self._assignments.get((*key, name))) for name, importance in bank)
        return nuggets, dict(self._grades.get(key, ()))


def chosen_rows(tables: Tables, name: str, column: str, chosen: str | None, *columns: str) -> Iterator[tuple[Any, ...]]:
    """Return key and columns of the rows of an assigner or grader, by default the one of `decider`."""
    if name not in tables:
        return iter(())
    table = tables[name]
    own = table.filter(pc.equal(table[column], chosen or decider(table, column) or ""))
    return read_rows(own, *_QUERY, "system", *columns)
