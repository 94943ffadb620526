"""The judges of an arena: their names, which of them ranks by default, and what their verdicts have in common.

    choose_judge(arena, "gpt-4o")                        # "gpt-4o"; without a name the arena's default

What a judge decides is asked of the object with that name: `mirage.ranking.judges.Judge.from_name`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.battles.counts import RELEVANCE as RELEVANCE
from mirage.battles.counts import from_outcomes
from mirage.battles.verdict_rows import OF_KNOWN, OF_PROGRAMS, OF_SCORES, only_judge
from mirage.errors import NotEnoughData
from mirage.schema import OVERALL
from mirage.store.labels import label_sources

if TYPE_CHECKING:
    from mirage.store.arena import Arena

POOLED = "pooled"
"""Name of the judge that pools all judges of an arena."""

NUGGETS = "nuggets"
"""Name of the judge that decides by nugget scores."""

HEURISTIC = "heuristic"
"""Name of the judge that weighs features, which counts only by request or without another."""

SIMULATED = "simulated/"
"""Prefix of the names of judges that a program draws, to show how a page works."""

ALONE = (RELEVANCE, NUGGETS)
"""Names of judges without stored verdicts, which cannot be pooled."""
RESERVED = (*ALONE, POOLED)
"""Names that no judge with verdicts may have."""

UNORDERED = "single answers were rated, in no order"
"""Reason why a judge among `judges_alone` has no flips and no first position."""

_NUGGET_TABLES = frozenset(("answers", "nuggets", "nugget_assignments"))
"""Tables that nugget scores are computed from."""


def judges(arena: Arena, *, panel: bool = False) -> tuple[str, ...]:
    """Return the names of an arena's judges: its default first, then relevance labels, its judges, and nuggets.

    Args:
        arena: the arena.
        panel: whether to append `pooled` if there are several judges.
    """
    names = verdict_judges(arena)
    several = panel and len(names) > 1
    every = (
        *((RELEVANCE,) if "outcomes" in arena.tables else ()),
        *(name for name in names if name != HEURISTIC),
        *((POOLED,) if several else ()),
        *((NUGGETS,) if set(arena.tables) >= _NUGGET_TABLES and NUGGETS not in names else ()),
        *((HEURISTIC,) if HEURISTIC in names else ()),
    )
    return tuple(sorted(every, key=lambda name: name != arena.judge))


def judges_alone(arena: Arena) -> frozenset[str]:
    """Return the judges whose verdicts come from points or scores of single answers: they see no order of two."""
    made = arena.manifest["made"].get("judgments", {}).get("settings", {})
    points = {name for name, settings in made.items() if "points" in settings}
    return frozenset(points | {name for name in verdict_judges(arena) if name.startswith((OF_SCORES, OF_PROGRAMS))})


def choose_judge(arena: Arena, wanted: str | None = None) -> str:
    """Return the requested judge of an arena, else the first of `judges`, with which the pages open, too.

    Raises:
        UnknownName: if the arena has no such judge.
        BadInput: if it has none.
    """
    names = judges(arena)
    return names[0] if names and wanted is None else only_judge(judges(arena, panel=True), wanted)


def preferred_judge(arena: Arena, wanted: str | None = None) -> str | None:
    """Return the requested judge if the arena has it, else the judge with the most verdicts, else labels, else nugget
    scores, else a simulated judge; None without any. Labels that tell little (`ranks_by_labels`) come after nuggets;
    the heuristic judge counts only by request.
    """
    names = judges(arena)
    if wanted in names:
        return wanted
    simulated = [name for name in names if name.startswith(SIMULATED)]
    if others := [name for name in verdict_judges(arena) if name not in (HEURISTIC, *simulated)]:
        counts = arena.sql("SELECT judge, count(*) AS n FROM judgments GROUP BY judge ORDER BY n DESC, judge")
        return str(next(name for name in counts["judge"].to_pylist() if name in others))
    labels = RELEVANCE in names and ranks_by_labels(arena)
    order = (RELEVANCE, NUGGETS) if labels else (NUGGETS, RELEVANCE)
    return next((name for name in (*order, *simulated) if name in names), None)


def ranks_by_labels(arena: Arena) -> bool:
    """Return whether labels rank a system of the arena, which has outcomes. Those read from references or fields need
    both kinds of queries: where all are answerable, a ranking says only who abstains.
    """
    try:
        battles = from_outcomes(arena.read("outcomes")).values()
    except NotEnoughData:
        return False
    return None in label_sources(arena) or any(len(set(of.strata.tolist())) > 1 for of in battles)


@dataclass(frozen=True, slots=True)
class JudgeFacts:
    """A judge's criterion and number of repeated verdicts."""

    criterion: str
    """The criterion; `overall` where none is stored."""
    repeats: int
    """Maximum number of verdicts on one battle in one order."""

    @property
    def words(self) -> str:
        """The criterion and the repeats, in words; empty for the defaults."""
        parts = [f"criterion {self.criterion}"] if self.criterion != OVERALL else []
        return ", ".join(
            [*parts, *([f"up to {self.repeats} verdicts per battle and order"] if self.repeats > 1 else [])]
        )


@lru_cache(maxsize=64)
def judge_facts(arena: Arena) -> Mapping[str, JudgeFacts]:
    """Return the criterion and the repeats of each judge of an arena, by name; empty without judgments."""
    if "judgments" not in arena.tables:
        return {}
    rows = arena.sql(
        "SELECT judge, coalesce(max(criterion), ?) AS criterion, coalesce(max(repeat), 0) + 1 AS repeats FROM judgments"
        " GROUP BY judge",
        [OVERALL],
    )
    return {row["judge"]: JudgeFacts(row["criterion"], row["repeats"]) for row in rows.to_pylist()}


@lru_cache(maxsize=64)
def verdict_judges(arena: Arena) -> tuple[str, ...]:
    """Return the judges of an arena that can rank, people first, then by name.

    Judges with verdicts on known-answer pairs only are excluded.
    """
    if "judgments" not in arena.tables:
        return ()
    sql = """
        SELECT judge FROM judgments WHERE NOT starts_with(judge, ?) GROUP BY judge
        ORDER BY bool_or(person IS TRUE) DESC, judge
    """
    return tuple(arena.sql(sql, [OF_KNOWN])["judge"].to_pylist())


@lru_cache(maxsize=32)
def people_judges(arena: Arena) -> frozenset[str]:
    """Return the judges under whose name people decided, or whose verdicts are derived from people's scores.

    The arena has judgments.
    """
    rows = arena.sql("SELECT DISTINCT judge FROM judgments WHERE person OR starts_with(judge, ?)", [OF_SCORES])
    return frozenset(rows["judge"].to_pylist())
