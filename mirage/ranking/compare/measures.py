"""Measures to compare systems by: each system's value on each query."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from mirage import schema
from mirage.errors import UnknownName
from mirage.stages.features.families import FEATURES
from mirage.stages.features.nuggets import MAIN_SCORE
from mirage.stages.features.stage import nugget_table
from mirage.store.arena import Arena

RATING, RATE, NUGGETS, OF_FEATURE = "rating", "rate", "nuggets", "feature:"
"""Names of measures; the last is a prefix of a feature's name."""
_TABLES = {RATE: "outcomes", NUGGETS: "nugget_assignments"}
"""Source table of each measure; others are read from `features`."""


@dataclass(frozen=True, slots=True)
class QueryMeasure:
    """A measure with a value for each query."""

    name: str
    """Name as the user gives it: `rate`, `nuggets` or `feature:NAME`."""
    title: str
    """Description with its direction."""
    unit: str
    """Unit of the value; empty for a dimensionless number."""
    sign: int
    """1 if higher is better or neither is; -1 if lower is better."""
    reach: float | None
    """The largest possible difference of two values; null if unbounded."""
    directed: bool = True
    """Whether higher or lower values are better."""
    worst: float | None = None
    """The value of a failed answer; null where no value is the worst, and failed answers are left out."""


@dataclass(frozen=True, slots=True)
class QueryValue:
    """A system's value on one query."""

    value: float
    """In the unit of the measure."""
    stratum: str
    """Stratum of the query; strata have equal weights. Empty if there are none."""


QueryKey = tuple[str, str]
"""Language and query_id."""
QueryValues = Mapping[QueryKey, QueryValue]
"""Values by query; queries without a value are omitted."""


def query_measure(name: str) -> QueryMeasure:
    """Return the measure with a name.

    Raises:
        UnknownName: if there is none.
    """
    if name == RATE:
        title = (
            "share of correct decisions, the mean of answerable and unanswerable queries (1 - rate); higher is better"
        )
        return QueryMeasure(name, title, "", 1, 1.0, worst=0.0)
    feature = MAIN_SCORE if name == NUGGETS else name.removeprefix(OF_FEATURE)
    if name != NUGGETS and not name.startswith(OF_FEATURE):
        raise UnknownName("measure", name, (RATING, RATE, NUGGETS, OF_FEATURE + "NAME"))
    if feature not in FEATURES:
        raise UnknownName("feature", feature, FEATURES)
    spec = FEATURES[feature]
    sides = {"higher": "higher is better", "lower": "lower is better, so a difference above 0 is a lower value"}
    side = sides.get(spec.direction, "neither direction is better")
    reach = None if spec.low is None or spec.high is None else spec.high - spec.low
    sign = -1 if spec.direction == "lower" else 1
    directed, worst = spec.direction in sides, spec.low if sign == 1 else spec.high
    worst = worst if directed and reach is not None else None
    return QueryMeasure(name, f"{spec.title}; {side}", spec.unit, sign, reach, directed, worst)


def measured_systems(arena: Arena, measure: str) -> tuple[str, ...]:
    """Return the systems that have values of a per-query measure, sorted by name.

    Raises:
        TableMissing: if the arena lacks the table.
    """
    table = _TABLES.get(measure, "features")
    arena.need(table)
    of_feature = table == "features"
    where = " WHERE feature = $1 AND value IS NOT NULL" if of_feature else ""
    sql = f"SELECT DISTINCT system FROM {table}{where} ORDER BY system"  # noqa: S608  # constants alone
    return tuple(arena.sql(sql, [measure.removeprefix(OF_FEATURE)] if of_feature else [])["system"].to_pylist())


def query_values(
    arena: Arena,
    systems: Sequence[str],
    measure: QueryMeasure,
    *,
    languages: Sequence[str] | None = None,
    parser: schema.Parser = "strict",
    assigner: str | None = None,
) -> list[QueryValues]:
    """Return a measure's values for some systems.

    Args:
        arena: with the table `outcomes` for `rate`; `features`; `answers`, `nuggets` and `nugget_assignments`.
        systems: their names.
        measure: the measure.
        languages: codes; None for all.
        parser: parser whose outcomes count, for `rate`.
        assigner: model whose assignments count, for `nuggets`; None for the default.

    Raises:
        TableMissing: if the arena lacks the table.
        UnknownName: if a language, system, parser, assigner or feature has no row.
    """
    stratum: str | None
    if measure.name == RATE:
        table = _rows_with_value(arena.read("outcomes", languages=languages), "parser", parser, arena)
        value, stratum = "correct", "subset"
    else:
        feature = MAIN_SCORE if measure.name == NUGGETS else measure.name.removeprefix(OF_FEATURE)
        if measure.name == NUGGETS:
            _, table = nugget_table(arena, assigner=assigner, languages=languages)
        else:
            table = arena.read("features", languages=languages)
        table = _rows_with_value(table, "feature", feature, arena)
        value, stratum = "value", None
    return [_by_query(_rows_with_value(table, "system", system, arena), value, stratum) for system in systems]


def fill_failed(values: QueryValues, other: QueryValues, failed: Collection[QueryKey], worst: float) -> QueryValues:
    """Return a system's values with the worst one where its answer failed and another system has a value.

    Args:
        values: the system's values.
        other: the other system's.
        failed: queries that the system failed.
        worst: the worst value.
    """
    filled = {key: QueryValue(worst, other[key].stratum) for key in failed if key in other and key not in values}
    return {**values, **filled}


def _rows_with_value(table: pa.Table, column: str, name: str, arena: Arena) -> pa.Table:
    """Return the rows with a value in a column.

    Raises:
        UnknownName: if there are none.
    """
    import pyarrow.compute as pc

    rows = table.filter(pc.equal(table[column], name))
    if not len(rows):
        raise UnknownName(column, name, pc.unique(table[column]).to_pylist(), where=arena.address)
    return rows


def _by_query(table: pa.Table, value: str, stratum: str | None) -> QueryValues:
    given = (table[name].to_pylist() for name in ("language", "query_id", value))
    strata = [""] * len(table) if stratum is None else table[stratum].to_pylist()
    return {
        (language, query_id): QueryValue(float(number), part)
        for language, query_id, number, part in zip(*given, strata, strict=True)
        if number is not None
    }
