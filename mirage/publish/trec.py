"""Measurements in the file formats of TREC's tools.

    runid                 	all	my-model           `trec_eval`: one file a system, measure, topic and value
    error_rate            	all	0.1250
    my-model	error_rate	all	0.125              `tot`: all systems in one file, with the system before

`trec_eval` is what the program of that name prints (usnistgov/trec_eval: `m_runid.c`, `meas_print_single.c`,
`meas_print_final.c`): a name padded to 22 characters, a tab, the topic, a tab, four decimals; with `-q` every topic
before `all`. `tot` is the format of that name in TREC AutoJudge (autojudge-evaluate 0.2: `eval_results/io.py`), as the
tracks on generation publish their results. Both are split at white space by their readers, so white space in a name is
written `%20`, as in URLs, and `%` itself `%25`.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from mirage import store
from mirage.errors import NotEnoughData
from mirage.publish import Lines
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


@dataclass(frozen=True, slots=True)
class MeasuredSystem:
    """All measurements of one system."""

    system: str
    """The system."""
    topics: Mapping[str, Mapping[str, float]]
    """Values of single answers, by measure and topic."""
    whole: Mapping[str, float]
    """Values of the system, by measure. For a measure of answers, the mean over topics by language, and then over
    languages with equal weights; with one language, the mean over topics.
    """
    n_queries: int
    """Queries with a value of any measure."""


def collect_measurements(arena: Arena, *, languages: Sequence[str] | None = None) -> list[MeasuredSystem]:
    """Collect the measurements of each system and of its answers.

    `hallucination_rate` and `error_rate` are by the strict parser, 1 for a wrong answer, missing if the outcome is
    undecided; features are under their names, imported scores as `MEASURE/RATER`, stored ratings as
    `rating/JUDGE/SKILL`, the last only per system.

    Args:
        arena: with at least one of the tables outcomes, features, scores, ratings.
        languages: codes; None for all. A topic is the query's id if there is one language, else `LANGUAGE:ID`.

    Returns:
        One per system, by name.

    Raises:
        NotEnoughData: if there are no measurements.
    """
    query = " UNION ALL ".join(text for table, text in _VALUES.items() if table in arena.tables)
    topics: dict[str, dict[str, dict[tuple[str, str], float]]] = defaultdict(lambda: defaultdict(dict))
    if query:
        columns = ("system", "measure", "language", "query_id", "value")
        rows = arena.sql(f"SELECT * FROM ({query}) ORDER BY system, measure, language, query_id")  # noqa: S608  # fixed
        for system, measure, code, query_id, value in zip(*(rows[name].to_pylist() for name in columns), strict=True):
            if languages is None or code in languages:
                topics[system][measure][code, query_id] = value
    whole = {system: {name: _over(values) for name, values in measures.items()} for system, measures in topics.items()}
    for system, measure, rating in _ratings(arena, languages):
        whole.setdefault(system, {})[measure] = rating
    if not whole:
        raise NotEnoughData("there are no measurements", where=arena.address, do=f"run: {arena.command('features')}")
    codes = {code for measures in topics.values() for values in measures.values() for code, _ in values}
    return [
        MeasuredSystem(
            system,
            {
                name: {_topic(key, codes): value for key, value in topics[system][name].items()}
                for name in topics[system]
            },
            dict(sorted(whole[system].items())),
            len({key for values in topics[system].values() for key in values}),
        )
        for system in sorted(whole)
    ]


def export_trec(
    arena: Arena, out: Path, *, lines: Lines = "tot", queries: bool = False, languages: Sequence[str] | None = None
) -> int:
    """Write measurements in a TREC format.

    Args:
        arena: as for `collect_measurements`.
        out: `tot`: the file. `trec_eval`: a folder, with one file per system, named after it (`file_name`), as readers
            take the run's name from the file name.
        lines: the format.
        queries: whether topics have lines before the system's, as with `trec_eval -q`.
        languages: codes; None for all.

    Returns:
        Number of systems written.

    Raises:
        NotEnoughData: if there are no measurements.
        BadInput: if a file cannot be written.
    """
    systems = collect_measurements(arena, languages=languages)
    if lines == "tot":
        text = "".join(line for system in systems for line in _tot(system, queries=queries))
        store.write_whole(out, text.encode("utf-8"))
    else:
        for system in systems:
            text = "".join(_trec_eval(system, queries=queries))
            store.write_whole(out / file_name(system.system), text.encode("utf-8"))
    return len(systems)


def token(name: str) -> str:
    """Encode a name without whitespace or control characters, reversibly by percent-decoding."""
    return _BREAKS.sub(lambda match: quote(match.group()), name)


def file_name(name: str) -> str:
    """Percent-encode a name as a file name, keeping letters, digits and `_.-~`."""
    return quote(name, safe="").lstrip(".") or "%2E"


def _tot(system: MeasuredSystem, *, queries: bool) -> Iterator[str]:
    run = token(system.system)
    for measure, value in system.whole.items():
        for topic, part in system.topics.get(measure, {}).items() if queries else ():
            yield f"{run}\t{token(measure)}\t{token(topic)}\t{part!r}\n"
        yield f"{run}\t{token(measure)}\t{JOINT}\t{value!r}\n"


def _trec_eval(system: MeasuredSystem, *, queries: bool) -> Iterator[str]:
    if queries:
        topics = sorted({topic for values in system.topics.values() for topic in values})
        for topic in topics:
            for measure, values in system.topics.items():
                if topic in values:
                    yield f"{token(measure):<22}\t{token(topic)}\t{values[topic]:6.4f}\n"
    yield f"{'runid':<22}\t{JOINT}\t{token(system.system)}\n"
    yield f"{'num_q':<22}\t{JOINT}\t{system.n_queries}\n"
    for measure, value in system.whole.items():
        yield f"{token(measure):<22}\t{JOINT}\t{value:6.4f}\n"


def _ratings(arena: Arena, languages: Sequence[str] | None) -> Iterable[tuple[str, str, float]]:
    """Return system, measure and rating of the stored ratings over exactly these languages; None for all."""
    if "ratings" not in arena.tables:
        return
    rows = arena.read("ratings").to_pylist()
    rated: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        rated[row["judge"], row["skill"]].add(row["language"])
    for row in rows:
        codes = rated[row["judge"], row["skill"]] - {JOINT}
        wanted = codes if languages is None else set(languages)
        language = JOINT if len(wanted) > 1 else next(iter(wanted))
        if row["language"] == language and (language != JOINT or wanted == codes):
            yield row["system"], f"rating/{row['judge']}/{row['skill']}", row["rating"]


def _topic(key: tuple[str, str], codes: Collection[str]) -> str:
    return key[1] if len(codes) == 1 else ":".join(key)


def _over(values: Mapping[tuple[str, str], float]) -> float:
    """Return the mean over queries by language, then over languages."""
    parts: dict[str, list[float]] = defaultdict(list)
    for (code, _), value in values.items():
        parts[code].append(value)
    return _mean([_mean(part) for part in parts.values()])


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
