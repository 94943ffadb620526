"""The features stage."""

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from mirage.errors import UnknownName
from mirage.schema import Tables
from mirage.stages.features import nuggets
from mirage.stages.features import table as feature_table
from mirage.stages.features.assessed import decider
from mirage.stages.features.means import FeatureMean, means, over_languages
from mirage.stages.features.spec import Tools
from mirage.stages.features.table import compute, measurable_features
from mirage.stages.stage import Progress, Stage
from mirage.store.arena import Arena
from mirage.store.lineage import LINEAGE


def _features(
    tables: Tables,
    *,
    only: Iterable[str] | None = None,
    tools: Tools | None = None,
    progress: Progress | None = None,
) -> dict[str, pa.Table]:
    given = tables.get("queries"), tables.get("passages"), tables["answers"]
    tools = tools or Tools()
    return {"features": compute(*given, only=only, tools=tools, others=tables, progress=progress)}


FEATURES = Stage(
    "features",
    ("answers",),
    ("features",),
    _features,
    uses=LINEAGE["features"].uses,
    by=("language", "query_id"),
)
"""Optional tables are needed by some features: see `measurable_in`."""


def measurable_in(arena: Arena, tools: Tools) -> tuple[list[str], list[str]]:
    """Return the features measurable in an arena with these tools, and those for which it lacks a table."""
    names = measurable_features(tools, arena.tables)
    present = set(arena.tables) | ({"passages"} if "retrieved" in arena.tables else set())
    lacking = [name for name in names if set(feature_table.tables([name])) - present]
    return [name for name in names if name not in lacking], lacking


def need_system(arena: Arena, name: str | None) -> None:
    """Check that a reference system has answers; None is skipped.

    Raises:
        UnknownName: if it has none.
    """
    if name is None:
        return
    systems = set(arena.read("answers", columns=["system"])["system"].to_pylist())
    if name not in systems:
        raise UnknownName("system", name, systems, where="the reference")


def nugget_means(
    arena: Arena, *, assigner: str | None = None, languages: Sequence[str] | None = None
) -> tuple[str | None, list[FeatureMean]]:
    """Compute the nugget scores of systems by one assigner; nothing is written.

    Args:
        arena: with the tables answers, nuggets and nugget_assignments.
        assigner: the assigner; None for the default (`assessed.decider`).
        languages: codes; None for all.

    Returns:
        The assigner used (None if there are no assignments), and the result of `shown_means`.

    Raises:
        TableMissing: if the arena lacks one of the tables.
        UnknownName: if there is no such assigner.
    """
    chosen, table = nugget_table(arena, assigner=assigner, languages=languages)
    return chosen, shown_means(table, [spec.name for spec in nuggets.FAMILY.specs])


def nugget_table(
    arena: Arena, *, assigner: str | None = None, languages: Sequence[str] | None = None
) -> tuple[str | None, pa.Table]:
    """Compute the nugget scores of answers by one assigner; nothing is written. Args and errors: as for `nugget_means`.

    Returns:
        The assigner used (None if there are no assignments), and `schema.Feature` rows of every answer and score.
    """
    tables = {name: arena.read(name, languages=languages) for name in ("answers", "nuggets", "nugget_assignments")}
    chosen = decider(tables["nugget_assignments"], "assigner", assigner)
    names = [spec.name for spec in nuggets.FAMILY.specs]
    return chosen, FEATURES.run(tables, only=names, tools=Tools(assigner=chosen))["features"]


def shown_means(table: pa.Table, names: Sequence[str]) -> list[FeatureMean]:
    """Return the means of some features by language, and over languages if there are several.

    Args:
        table: `schema.Feature` rows.
        names: the features.
    """
    rows = table.filter(pc.is_in(table["feature"], value_set=pa.array(list(names))))
    by_language = means(rows)
    several = len({row.language for row in by_language}) > 1
    return [*by_language, *(over_languages(by_language, rows) if several else ())]
