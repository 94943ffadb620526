"""View of the measurements by topic, for exports: every value of every system on each query, and over all."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from mirage.errors import NotEnoughData
from mirage.ranking.records import JOINT
from mirage.store.arena import Arena
from mirage.views.query_keys import Key

Measured = tuple[str, str]
"""A system and a measure."""
_VALUES = {
    "outcomes": """
        SELECT language, query_id, system, CASE subset WHEN 'relevant' THEN 'error_rate' ELSE 'hallucination_rate' END
            AS measure, 1.0 - correct::INT AS value
        FROM outcomes WHERE parser = 'strict' AND correct IS NOT NULL""",
    "features": "SELECT language, query_id, system, feature AS measure, value FROM features WHERE value IS NOT NULL",
    "scores": """
        SELECT language, query_id, system, measure || '/' || rater AS measure, value
        FROM scores WHERE value IS NOT NULL""",
}
"""Query for the values of an answer's measures, by table."""
_RATINGS = """
    SELECT system, 'rating/' || judge || '/' || skill AS measure, rating FROM ratings
    QUALIFY language = ? OR count(DISTINCT language) OVER (PARTITION BY judge, skill) = 1"""
"""Query for the ratings over all languages, or in the only one."""


@dataclass(frozen=True, eq=False)
class TopicsView:
    """The measurements of every system."""

    topics: Mapping[Measured, Mapping[Key, float]]
    """By query."""
    whole: Mapping[Measured, float]
    """Over all: the mean over queries by language, then over languages; of stored ratings those over all languages."""
    several: bool
    """Whether the queries are in several languages."""


def topics_view(arena: Arena) -> TopicsView:
    """Read the measurements of an arena.

    Raises:
        NotEnoughData: if there are none.
    """
    query = " UNION ALL ".join(text for table, text in _VALUES.items() if table in arena.tables)
    topics: dict[Measured, dict[Key, float]] = defaultdict(dict)
    if query:
        rows = arena.sql(f"SELECT * FROM ({query}) ORDER BY system, measure, language, query_id")  # noqa: S608  # fixed
        for row in rows.to_pylist():
            topics[row["system"], row["measure"]][row["language"], row["query_id"]] = row["value"]
    whole = {key: _mean_over_languages(values) for key, values in topics.items()}
    if "ratings" in arena.tables:
        whole |= {(row["system"], row["measure"]): row["rating"] for row in arena.sql(_RATINGS, [JOINT]).to_pylist()}
    if not whole:
        arena.need("features")
        raise NotEnoughData("there are no measurements", where=arena.address)
    return TopicsView(topics, whole, len({code for values in topics.values() for code, _ in values}) > 1)


def _mean_over_languages(values: Mapping[tuple[str, str], float]) -> float:
    """Return the mean over queries by language, then over languages."""
    parts: dict[str, list[float]] = defaultdict(list)
    for (code, _), value in values.items():
        parts[code].append(value)
    return fmean(map(fmean, parts.values()))
