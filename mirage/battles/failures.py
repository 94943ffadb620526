"""Failed answers: empty, an error of the service or pipeline, or missing among the queries that the system was asked.

A failed answer loses to any answer that is not wrong and ties a wrong one; two failures tie. A battle with a failed
answer needs no verdict. No row at all means that the system was not asked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import add
from typing import TYPE_CHECKING, Any

from mirage.battles.verdict_rows import OF_KNOWN
from mirage.schema import FAILED
from mirage.text.segmentation import join_first

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store.arena import Arena

SENTENCE = (
    "failures count as wrong; shared failures pull the failing systems together and say nothing about their answers"
)
"""Remark on failures that count."""
DROPPED = "failures are left out"
"""Remark on failures that do not count."""
MOST = 0.9
"""Share of the queries answered by two systems on which a judge of all of them has verdicts; with fewer, it judged a
sample, in which all failures would weigh too much.
"""
Key = tuple[str, str, str]
"""Language, query_id and system."""
_KEY = ["language", "query_id", "system"]
FailureCounts = Mapping[str, Mapping[str, tuple[int, int, int]]]
"""By language and system: its failed answers, all that it was asked for, and queries of others without a row of it."""


@dataclass(frozen=True, slots=True)
class Failures:
    """The answers of systems that were asked, and those that failed."""

    asked: frozenset[Key]
    """Every answer with a row, failed or not."""
    failed: frozenset[Key]
    """Those that failed, of systems with another answer in the language: one without any is not ranked there."""


NONE = Failures(frozenset(), frozenset())
"""No failure is known."""


def find_failures(answers: pa.Table) -> Failures:
    """Return the failures among rows of table `answers`: failed calls, and empty texts that are not refusals."""
    return _collect(_mark_answers(answers))


@lru_cache(maxsize=16)
def failures_of(arena: Arena) -> Failures:
    """Return the failures of an arena: by its answers, or by outcomes where it has no answers."""
    rows = _mark_arena(arena)
    return NONE if rows is None else _collect(rows)


@lru_cache(maxsize=16)
def count_failures(arena: Arena) -> FailureCounts:
    """Return by language and system how many answers failed, for how many it was asked, and on how many queries of
    others it has no row. A system without any answer in a language is not ranked there: its failures do not count.
    """
    counts: dict[str, dict[str, tuple[int, int, int]]] = {}
    for (language, system), (n, asked, missing) in _count_rows(arena).items():
        counts.setdefault(language, {})[system] = 0 if n == asked else n, asked, missing
    return counts


def find_answering(arena: Arena) -> dict[tuple[str, str], bool]:
    """Return whether each system has an answer in each language in which it was asked."""
    return {key: n < asked for key, (n, asked, _) in _count_rows(arena).items()}


@lru_cache(maxsize=16)
def _count_rows(arena: Arena) -> dict[tuple[str, str], tuple[int, int, int]]:
    """Return by language and system the failed answers, all of them, and the queries of others without a row."""
    rows = _mark_arena(arena)
    if rows is None:
        return {}
    queries = rows.group_by("language").aggregate([("query_id", "count_distinct")]).to_pylist()
    expected = {row["language"]: row["query_id_count_distinct"] for row in queries}
    groups = rows.group_by(["language", "system"]).aggregate([("failed", "sum"), ("failed", "count")])
    return {
        (row["language"], row["system"]): (
            row["failed_sum"],
            row["failed_count"],
            expected[row["language"]] - row["failed_count"],
        )
        for row in groups.sort_by([("language", "ascending"), ("system", "ascending")]).to_pylist()
    }


def failure_lines(counts: FailureCounts, ranked: Mapping[str, Collection[str]], *, drop: bool = False) -> list[str]:
    """Return how many answers of each system failed, and how they count; nothing if none did.

    Args:
        counts: as counted.
        ranked: by language, the ranked systems.
        drop: whether failed answers are left out.
    """
    listed = [f"{system} {n:,} of {asked:,} failed" for system, (n, asked, _) in _sum(counts, ranked).items() if n]
    return [f"{join_first(listed)}: {DROPPED if drop else SENTENCE}"] if listed else []


def missing_lines(counts: FailureCounts, ranked: Mapping[str, Collection[str]]) -> list[str]:
    """Return on how many queries of others each ranked system has no row; nothing if all have the same queries."""
    sums = _sum(counts, ranked).items()
    listed = [f"{system} on {n:,} of {n + asked:,} queries" for system, (_, asked, n) in sums if n]
    return [f"no row of {join_first(listed)}: not asked, so unpaired, neither won nor lost"] if listed else []


def _sum(counts: FailureCounts, ranked: Mapping[str, Collection[str]]) -> dict[str, tuple[int, ...]]:
    """Return the counts of each system, over the languages in which it is ranked."""
    sums: dict[str, tuple[int, ...]] = {}
    for language, systems in counts.items():
        for system in systems.keys() & set(ranked.get(language, ())):
            sums[system] = tuple(map(add, sums.get(system, (0, 0, 0)), systems[system]))
    return dict(sorted(sums.items()))


@dataclass(frozen=True, slots=True)
class Queries:
    """Language and query_id of the answers of one system."""

    asked: frozenset[tuple[str, str]] = frozenset()
    """Those with a row, failed or not."""
    failed: frozenset[tuple[str, str]] = frozenset()
    """Those that failed, in the languages in which it has another answer."""


def queries_of(arena: Arena, system: str) -> Queries:
    """Return the queries that a system was asked, and those that it failed."""
    import pyarrow.compute as pc

    rows = _mark_arena(arena)
    if rows is None:
        return Queries()
    own = rows.filter(pc.equal(rows["system"], system)).to_pylist()
    answering = {row["language"] for row in own if not row["failed"]}
    keys = {(row["language"], row["query_id"]): row["failed"] and row["language"] in answering for row in own}
    return Queries(frozenset(keys), frozenset(key for key, failed in keys.items() if failed))


@lru_cache(maxsize=4)
def _mark_arena(arena: Arena) -> pa.Table | None:
    """Return the key of every answer of an arena, and whether it failed; None without answers and outcomes."""
    import pyarrow.compute as pc

    if "answers" in arena.tables:
        return _mark_answers(arena.read("answers", columns=[*_KEY, "status", "text"]))
    if "outcomes" not in arena.tables:
        return None
    outcomes = arena.read("outcomes", columns=[*_KEY, "parser", "outcome"])
    rows = outcomes.filter(pc.equal(outcomes["parser"], "strict"))
    return rows.select(_KEY).append_column("failed", pc.is_in(rows["outcome"], _strings(FAILED)))


def _mark_answers(answers: pa.Table) -> pa.Table:
    """Return the key of every answer, and whether it failed."""
    import pyarrow.compute as pc

    empty = pc.and_(
        pc.equal(pc.utf8_trim_whitespace(pc.fill_null(answers["text"], "")), ""),
        pc.not_equal(answers["status"], "refused"),
    )
    failed = pc.or_(empty, pc.is_in(answers["status"], _strings(FAILED)))
    return answers.select(_KEY).append_column("failed", failed)


def _collect(rows: pa.Table) -> Failures:
    """Return the failures among answers that are marked."""
    import pyarrow.compute as pc

    if not pc.any(rows["failed"]).as_py():
        return NONE
    asked, without = _keys(rows), _keys(rows.filter(rows["failed"]))
    answering = {(language, system) for language, _, system in asked - without}
    return Failures(asked, frozenset(key for key in without if (key[0], key[2]) in answering))


def _keys(rows: pa.Table) -> frozenset[Key]:
    return frozenset(zip(*(rows[name].to_pylist() for name in _KEY), strict=True))


def decide_failures(judgments: pa.Table, failures: Failures, *, drop: bool = False) -> pa.Table:
    """Decide the battles with a failed answer, whatever was said of them: between every two systems that a judge
    compares in the language, on each query that both were asked if it judged `MOST` of those that both answered, else
    on each query that it judged.

    Args:
        judgments: verdicts, with the columns of `verdict_rows.COLUMNS`.
        failures: the failed answers.
        drop: whether these battles are left out instead.
    """
    import pyarrow as pa

    if not failures.failed:
        return judgments
    names = ("language", "query_id", "judge", "system_a", "system_b")
    rows = list(zip(*(judgments[name].to_pylist() for name in names), strict=True))
    counted = [
        judge.startswith(OF_KNOWN) or failures.failed.isdisjoint(((language, query, a), (language, query, b)))
        for language, query, judge, a, b in rows
    ]
    kept = judgments if all(counted) else judgments.filter(pa.array(counted))
    if drop:
        return kept
    judged: dict[tuple[str, str], dict[tuple[str, str], set[str]]] = {}
    shown: dict[tuple[str, str], set[tuple[str, str, str]]] = {}
    for language, query, judge, a, b in rows:
        if not judge.startswith(OF_KNOWN):
            judged.setdefault((language, judge), {}).setdefault((min(a, b), max(a, b)), set()).add(query)
            shown.setdefault((language, judge), set()).add((query, a, b))
    asked, failed = _by_system(failures.asked), _by_system(failures.failed)
    nothing: set[str] = set()
    added = []
    for (language, judge), of_judge in sorted(judged.items()):
        seen, battles = nothing.union(*of_judge.values()), shown[language, judge]
        # A judge of both orders has two battles on a query.
        orders = (True, False) if any((query, b, a) in battles for query, a, b in battles) else (True,)
        for pair, queries in sorted(of_judge.items()):
            both = set.intersection(*(asked.get((language, system), nothing) for system in pair))
            fails = [failed.get((language, system), nothing) & both for system in pair]
            either = fails[0] | fails[1]
            if len(queries & both - either) < MOST * len(both - either):
                either &= seen
            for query in sorted(either):
                lost = [query in of_system for of_system in fails]
                added += [_decide(language, query, judge, pair, lost, forward=order) for order in orders]
    return pa.concat_tables([kept, pa.Table.from_pylist(added, schema=kept.schema)]) if added else kept


def _by_system(keys: Collection[Key]) -> dict[tuple[str, str], set[str]]:
    """Return queries by language and system."""
    queries: dict[tuple[str, str], set[str]] = {}
    for language, query, system in keys:
        queries.setdefault((language, system), set()).add(query)
    return queries


def score_failures(scores: pa.Table, failures: Failures, worst: float, *, drop: bool = False) -> pa.Table:
    """Give failed answers the worst score on queries where another answer has one; with `drop`, no score.

    Args:
        scores: columns `language, query_id, system, value`.
        failures: the failed answers.
        worst: the worst score.
        drop: whether failed answers are left out instead.
    """
    import pyarrow as pa

    if not failures.failed:
        return scores
    keys = list(zip(*(scores[name].to_pylist() for name in _KEY), strict=True))
    values = [
        None if key in failures.failed else value for key, value in zip(keys, scores["value"].to_pylist(), strict=True)
    ]
    if not drop:
        scored = {key[:2] for key, value in zip(keys, values, strict=True) if value is not None}
        values = [
            worst if key in failures.failed and key[:2] in scored else value
            for key, value in zip(keys, values, strict=True)
        ]
    place = scores.column_names.index("value")
    return scores.set_column(place, scores.schema.field(place), pa.array(values, scores.schema.field(place).type))


def _decide(
    language: str, query: str, judge: str, pair: tuple[str, str], fails: list[bool], *, forward: bool
) -> dict[str, Any]:
    """Return the verdict on a battle with a failed answer, in one order."""
    (a, b), (fails_a, fails_b) = (pair, fails) if forward else (pair[::-1], fails[::-1])
    verdict = "tie" if fails_a and fails_b else "B" if fails_a else "A"
    row = {"language": language, "query_id": query, "judge": judge, "system_a": a, "system_b": b, "verdict": verdict}
    return row | {"points": None}


def _strings(values: Any) -> Any:
    import pyarrow as pa

    return pa.array(list(values), pa.string())
