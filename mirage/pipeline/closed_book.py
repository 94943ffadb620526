"""Questions that systems answer without passages.

closed_book(arena, ["gpt-4 without passages"])
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mirage import store
from mirage.errors import UnknownName
from mirage.schema import CodeOrAll, Count, Share
from mirage.stats.intervals import wilson
from mirage.text.languages import in_order


@dataclass(frozen=True, slots=True)
class ClosedBook:
    """Questions that a system answers without passages."""

    key = ("system", "language")

    system: str
    """The system, asked without passages."""
    language: CodeOrAll
    """Language of the queries; `all`: every language pooled."""
    n: Count
    """Answerable queries with a decided answer of the system."""
    answered: Count
    """Queries that it answers."""
    rate: Share | None
    """answered / n; null if n is 0."""
    rate_low: Share | None
    """Lower end of the 95% interval (Wilson's)."""
    rate_high: Share | None
    """Upper end."""
    checked: Count
    """Answerable queries with vital nuggets assigned to the system's answer."""
    known: Count
    """Queries whose answer states all vital nuggets: the system knows the answer without passages."""
    known_rate: Share | None
    """known / checked; null if none is checked."""
    known_low: Share | None
    """Lower end of its 95% interval (Wilson's)."""
    known_high: Share | None
    """Upper end."""


def closed_book(arena: store.Arena, systems: Sequence[str]) -> list[ClosedBook]:
    """Count the questions that systems answer without passages.

    Args:
        arena: with outcomes of the systems; with nuggets and assignments, known answers are counted too.
        systems: systems that were asked without passages.

    Raises:
        TableMissing: if the arena has no outcomes.
        UnknownName: if a system has no outcome.
    """
    arena.need("outcomes")
    table = arena.sql(
        "SELECT system, language, query_id, outcome FROM outcomes "
        "WHERE parser = 'strict' AND subset = 'relevant' AND outcome IN ('answered', 'abstained')"
    )
    present = sorted(set(arena.sql("SELECT DISTINCT system FROM outcomes")["system"].to_pylist()))
    for system in systems:
        if system not in present:
            raise UnknownName("system", system, present, where=f"{arena.address} (outcomes)")
    answers: dict[str, dict[tuple[str, str], bool]] = defaultdict(dict)
    for row in table.to_pylist():
        answers[row["system"]][row["language"], row["query_id"]] = row["outcome"] == "answered"
    known = _known_answers(arena)
    rows = []
    for system in dict.fromkeys(systems):
        codes = in_order({language for language, _ in answers[system]})
        for language in codes if len(codes) == 1 else (*codes, "all"):
            own = {key: value for key, value in answers[system].items() if language in (key[0], "all")}
            stated = [known[system][key] for key in own if key in known.get(system, {})]
            rows.append(
                ClosedBook(
                    system,
                    language,
                    len(own),
                    sum(own.values()),
                    *_share(sum(own.values()), len(own)),
                    len(stated),
                    sum(stated),
                    *_share(sum(stated), len(stated)),
                )
            )
    return rows


def _known_answers(arena: store.Arena) -> Mapping[str, Mapping[tuple[str, str], bool]]:
    """Return by system and query whether the answer states every vital nugget, by the assigner with the most rows."""
    found: dict[str, dict[tuple[str, str], bool]] = defaultdict(dict)
    if not {"nuggets", "nugget_assignments"} <= set(arena.tables):
        return found
    rows = arena.sql(
        "WITH best AS (SELECT assigner FROM nugget_assignments GROUP BY ALL ORDER BY count(*) DESC, assigner LIMIT 1) "
        "SELECT a.system, a.language, a.query_id, bool_and(coalesce(a.assignment = 'support', false)) AS known "
        "FROM nugget_assignments a JOIN nuggets n USING (language, query_id, nugget_id) "
        "WHERE n.importance = 'vital' AND a.assigner IN (SELECT assigner FROM best) GROUP BY ALL"
    )
    for row in rows.to_pylist():
        found[row["system"]][row["language"], row["query_id"]] = row["known"]
    return found


def _share(k: int, n: int) -> tuple[float | None, float | None, float | None]:
    return (k / n, *wilson(k, n)) if n else (None, None, None)
