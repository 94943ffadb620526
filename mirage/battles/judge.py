"""Judges: human relevance labels, one judge, several judges pooled, or nugget scores.

    judge = Judge.from_name("gpt-4o")
    battles = judge.battles(arena.read(judge.table))     # {language: Battles}

Nugget scores have no stored verdicts: `ranking.nugget_battles` makes them.

Callers use the judge's properties instead of comparing its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from mirage.battles.counts import RELEVANCE as RELEVANCE
from mirage.battles.counts import Battles, find_unranked, from_outcomes, pool_battles, remedy, unranked_lines
from mirage.battles.verdict_rows import OF_KNOWN, OF_SCORES, from_judgments, judges_of, only_judge
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.schema import OVERALL, Parser, Skill

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

POOLED = "pooled"
"""Name of the judge that pools all judges of an arena."""

NUGGETS = "nuggets"
"""Name of the judge that decides by nugget scores."""

SIMULATED = "simulated/"
"""Prefix of the names of judges that a program draws, to show how a page works."""

_NUGGET_TABLES = frozenset(("answers", "nuggets", "nugget_assignments"))
"""Tables that nugget scores are computed from."""


_ALONE = {
    RELEVANCE: (
        "relevance labels are not a judge: options for judges (pooling, makers, style control) do not apply",
        "choose judges, or drop the options for judges",
    ),
    NUGGETS: (
        "nuggets are not a judge: options for judges (pooling, makers, both orders, votes) do not apply",
        "rank by nuggets alone, with style control if you like",
    ),
}
"""Judges that cannot be pooled, and whose verdicts cannot be selected: why, and what to do."""


@dataclass(frozen=True, slots=True)
class Judge:
    """The decider of battles, and the queries it decides on."""

    kind: Literal["relevance", "single", "panel", "nuggets"]
    """`relevance`: relevance labels, without a model. `single`: one judge with verdicts. `panel`: several
    judges with their verdicts pooled. `nuggets`: nugget scores.
    """
    name: str
    """The name in tables, files and URLs: `relevance`, the judge's name, `pooled`, or `nuggets`."""
    skill: Skill = "both"
    """Skill whose queries count; a judge has only `both`."""
    parser: Parser = "strict"
    """Parser whose outcomes decide, with relevance labels."""
    judges: tuple[str, ...] = ()
    """The judges of a panel; empty for all judges of the arena."""

    @classmethod
    def relevance(cls, skill: Skill = "both", *, parser: Parser = "strict") -> Judge:
        """Return the judge that decides by human relevance labels."""
        return cls("relevance", RELEVANCE, skill, parser)

    @classmethod
    def single(cls, name: str) -> Judge:
        """Return a single judge as a judge."""
        return cls("single", name, judges=(name,))

    @classmethod
    def panel(cls, judges: Sequence[str] = ()) -> Judge:
        """Return the judge that pools several judges; all of the arena if none is named."""
        return cls("panel", POOLED, judges=tuple(judges))

    @classmethod
    def nuggets(cls) -> Judge:
        """Return the judge that decides by nugget scores."""
        return cls("nuggets", NUGGETS)

    @classmethod
    def from_name(cls, name: str, *, skill: Skill = "both", parser: Parser = "strict") -> Judge:
        """Return the judge with a name: `relevance`, `pooled`, `nuggets`, or a judge's.

        Raises:
            BadInput: if a judge is combined with a skill, or the name is that of an exam on known-answer pairs.
        """
        if name.startswith(OF_KNOWN):
            judge = name.removeprefix(OF_KNOWN)
            raise BadInput(
                f"{name} has verdicts on known-answer pairs: they test {judge} and cannot rank systems",
                do=f"let {judge} judge pairs drawn at random: mirage judge DIR --judge {judge}",
            )
        if name == RELEVANCE:
            return cls.relevance(skill, parser=parser)
        if skill != "both":
            raise BadInput(f"{name} judges answers, not the skill {skill!r}", do="leave the skill out")
        if name == NUGGETS:
            return cls.nuggets()
        return cls.panel() if name == POOLED else cls.single(name)

    @classmethod
    def from_names(cls, names: Sequence[str], *, skill: Skill = "both", parser: Parser = "strict") -> Judge:
        """Return the judge with a name, or one that pools several judges (`pooled` for all).

        Raises:
            BadInput: as for `from_name`, or if relevance labels or nuggets are among several judges.
        """
        for name in names if len(names) > 1 else ():
            if name in _ALONE:
                cls.from_name(name).refuse_options()
        if POOLED in names or len(set(names)) == 1:
            return cls.from_name(POOLED if POOLED in names else names[0], skill=skill, parser=parser)
        return cls.panel(tuple(dict.fromkeys(names)))

    def refuse_options(self) -> None:
        """Refuse to pool labels or nuggets, or to select among their battles.

        Raises:
            BadInput: unless the battles are decided by verdicts.
        """
        if self.name in _ALONE:
            what, do = _ALONE[self.name]
            raise BadInput(what, do=do)

    @property
    def by_labels(self) -> bool:
        """True if relevance labels decide: no model is called, and every skill can be ranked."""
        return self.kind == "relevance"

    @property
    def by_verdicts(self) -> bool:
        """True if verdicts of judges decide: options that select verdicts, and people's votes instead, apply."""
        return self.kind in ("single", "panel")

    @property
    def table(self) -> str:
        """Name of the table the judge decides from."""
        return {"relevance": "outcomes", "nuggets": "nugget_assignments"}.get(self.kind, "judgments")

    @property
    def counted(self) -> str:
        """Noun for the rows the judge counts: answers, verdicts or battles."""
        return {"relevance": "answers", "nuggets": "battles"}.get(self.kind, "verdicts")

    def battles(self, table: pa.Table, *, languages: Sequence[str] | None = None) -> dict[str, Battles]:
        """Return the battles the judge decides, by language.

        Args:
            table: the table named by `table`, `outcomes` or `judgments`; for nuggets their verdicts.
            languages: codes; None for all that have battles.

        Raises:
            UnknownName: if a language or judge has no battles.
            NotEnoughData: if a chosen language lacks a subset the skill needs.
        """
        if self.by_labels:
            battles = from_outcomes(table, skill=self.skill, parser=self.parser)
        elif self.kind != "panel":
            battles = from_judgments(table, judge=self.name)
        else:
            battles = self._pool(table)
        if languages is None:
            return battles
        missing = any(code not in battles for code in languages)
        self.need_languages(languages, battles, self.find_unranked(table, languages) if missing else {})
        return {code: battles[code] for code in languages}

    def need_languages(
        self,
        languages: Iterable[str],
        there: Collection[str],
        without: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        """Require languages to have battles, given those that have and, by language, the systems that cannot be ranked.

        Raises:
            UnknownName: if a language has no battles.
            NotEnoughData: if the judge can rank no system of a language.
        """
        for code in languages:
            if code in there:
                continue
            if code in without:
                raise NotEnoughData(
                    f"{code} cannot be ranked", where="; ".join(unranked_lines(without)), do=remedy(without)
                )
            raise UnknownName("language", code, there, where=f"battles by {self.name}")

    def _pool(self, table: pa.Table) -> dict[str, Battles]:
        judges = self.judges or judges_of(table)
        parts: dict[str, list[Battles]] = {}
        for judge in judges:
            for code, battles in from_judgments(table, judge=judge).items():
                parts.setdefault(code, []).append(battles)
        return {code: pool_battles(parts[code], judge=self.name) for code in sorted(parts)}

    def find_unranked(self, table: pa.Table, languages: Sequence[str] | None = None) -> dict[str, dict[str, str]]:
        """Return by language, of these or all, the systems that the judge cannot rank, each with the reason as text."""
        reasons = find_unranked(table, skill=self.skill, parser=self.parser) if self.by_labels else {}
        return {code: row for code, row in reasons.items() if languages is None or code in languages}


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
        *names,
        *((POOLED,) if several else ()),
        *((NUGGETS,) if set(arena.tables) >= _NUGGET_TABLES and NUGGETS not in names else ()),
    )
    return tuple(sorted(every, key=lambda name: name != arena.judge))


def choose_judge(arena: Arena, wanted: str | None = None) -> str:
    """Return the requested judge of an arena, else its default, else the only one; nuggets count only by request or
    without another.

    Raises:
        UnknownName: if the arena has no such judge.
        BadInput: if none is requested and there is not exactly one.
    """
    if wanted is not None:
        return only_judge(judges(arena, panel=True), wanted, noun="judge")
    names = judges(arena)
    if arena.judge in names:
        return names[0]
    return only_judge([name for name in names if name != NUGGETS] or names, noun="judge")


def preferred_judge(arena: Arena, wanted: str | None = None, *, last: str) -> str | None:
    """Return the requested judge if the arena has it, else the judge with the most verdicts, else relevance labels,
    else nugget scores, else a simulated judge; None without any. Labels that rank no system come after nuggets.

    Args:
        arena: the arena.
        wanted: the requested judge.
        last: judge to prefer only to none.
    """
    names = judges(arena)
    if wanted in names:
        return wanted
    simulated = [name for name in names if name.startswith(SIMULATED)]
    if others := [name for name in verdict_judges(arena) if name not in (last, *simulated)]:
        counts = arena.sql("SELECT judge, count(*) AS n FROM judgments GROUP BY judge ORDER BY n DESC, judge")
        return str(next(name for name in counts["judge"].to_pylist() if name in others))
    labels = RELEVANCE in names and ranks_by_labels(arena)
    order = (RELEVANCE, NUGGETS) if labels else (NUGGETS, RELEVANCE)
    return next((name for name in (*order, last, *simulated) if name in names), None)


def ranks_by_labels(arena: Arena) -> bool:
    """Return whether relevance labels rank a system of the arena, which has outcomes."""
    try:
        return bool(Judge.relevance().battles(arena.read("outcomes")))
    except NotEnoughData:
        return False


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
