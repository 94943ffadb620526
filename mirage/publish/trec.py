"""Measurements in the format `tot` of TREC AutoJudge: all systems in one file.

    my-model	error_rate	all	0.125              system, measure, topic and value

The tracks on generation publish their results so (autojudge-evaluate 0.2: `eval_results/io.py`). It is split at white
space by its readers, so white space in a name is written `%20`, as in URLs, and `%` itself `%25`.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from mirage import store
from mirage.errors import NotEnoughData
from mirage.ranking.records import JOINT
from mirage.store import Arena

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
        columns = ("system", "measure", "language", "query_id", "value")
        rows = arena.sql(f"SELECT * FROM ({query}) ORDER BY system, measure, language, query_id")  # noqa: S608  # fixed
        for system, measure, code, query_id, value in zip(*(rows[name].to_pylist() for name in columns), strict=True):
            topics[system, measure][code, query_id] = value
    whole = {key: _over(values) for key, values in topics.items()} | _ratings(arena)
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
    store.write_whole(out, "".join(lines).encode("utf-8"))
    return len({system for system, _ in whole})


def token(name: str) -> str:
    """Encode a name without whitespace or control characters, reversibly by percent-decoding."""
    return _BREAKS.sub(lambda match: quote(match.group()), name)


def _ratings(arena: Arena) -> dict[tuple[str, str], float]:
    """Return the stored ratings over all languages by system and measure."""
    if "ratings" not in arena.tables:
        return {}
    rows = arena.read("ratings").to_pylist()
    rated: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        rated[row["judge"], row["skill"]].add(row["language"])
    return {
        (row["system"], f"rating/{row['judge']}/{row['skill']}"): row["rating"]
        for row in rows
        if row["language"] == JOINT or len(rated[row["judge"], row["skill"]]) == 1
    }


def _over(values: Mapping[tuple[str, str], float]) -> float:
    """Return the mean over queries by language, then over languages."""
    parts: dict[str, list[float]] = defaultdict(list)
    for (code, _), value in values.items():
        parts[code].append(value)
    return _mean([_mean(part) for part in parts.values()])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
