"""Measurements in the format `tot` of TREC AutoJudge: all systems in one file.

    my-model	error_rate	all	0.125              system, measure, topic and value

The tracks on generation publish their results so (autojudge-evaluate 0.2: `eval_results/io.py`). It is split at white
space by its readers, so white space in a name is written `%20`, as in URLs, and `%` itself `%25`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from urllib.parse import quote

from mirage.errors import NotEnoughData
from mirage.ranking.records import JOINT
from mirage.store.arena import Arena
from mirage.store.export import write_whole

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
_BREAKS = re.compile(r"[\s%\x00-\x20\x7f-\x9f]")


def export_trec(arena: Arena, out: Path, *, queries: bool = False) -> int:
    """Write the measurements of each system, and of its answers with `queries`, into one file.

    `hallucination_rate` and `error_rate` are by the strict parser, 1 for a wrong answer, missing if the outcome is
    undecided; features are under their names, imported scores as `MEASURE/RATER`, stored ratings over all languages as
    `rating/JUDGE/SKILL`. The topic `all` is the mean over topics by language, then over languages with equal weights.
    Other topics are the query's id if there is one language, else `LANGUAGE:ID`.

    Returns:
        Number of systems.

    Raises:
        NotEnoughData: if there are no measurements.
        BadInput: if the file cannot be written.
    """
    query = " UNION ALL ".join(text for table, text in _VALUES.items() if table in arena.tables)
    topics: dict[tuple[str, str], dict[tuple[str, str], float]] = defaultdict(dict)
    if query:
        rows = arena.sql(f"SELECT * FROM ({query}) ORDER BY system, measure, language, query_id")  # noqa: S608  # fixed
        for row in rows.to_pylist():
            topics[row["system"], row["measure"]][row["language"], row["query_id"]] = row["value"]
    whole = {key: _over(values) for key, values in topics.items()}
    if "ratings" in arena.tables:
        whole |= {(row["system"], row["measure"]): row["rating"] for row in arena.sql(_RATINGS, [JOINT]).to_pylist()}
    if not whole:
        arena.need("features")
        raise NotEnoughData("there are no measurements", where=arena.address)
    several = len({code for values in topics.values() for code, _ in values}) > 1
    lines = []
    for system, measure in sorted(whole):
        name = f"{token(system)}\t{token(measure)}"
        for topic, value in topics.get((system, measure), {}).items() if queries else ():
            lines.append(f"{name}\t{token(':'.join(topic) if several else topic[1])}\t{value!r}\n")
        lines.append(f"{name}\t{JOINT}\t{whole[system, measure]!r}\n")
    write_whole(out, "".join(lines).encode("utf-8"))
    return len({system for system, _ in whole})


def token(name: str) -> str:
    """Encode a name without whitespace or control characters, reversibly by percent-decoding."""
    return _BREAKS.sub(lambda match: quote(match.group()), name)


def _over(values: Mapping[tuple[str, str], float]) -> float:
    """Return the mean over queries by language, then over languages."""
    parts: dict[str, list[float]] = defaultdict(list)
    for (code, _), value in values.items():
        parts[code].append(value)
    return fmean(map(fmean, parts.values()))
