"""Who decides the battles: human relevance labels, one judge, or several judges together.

    referee = Referee.named("gpt-4o")
    battles = referee.battles(arena.read(referee.table))     # {language: Battles}

Callers ask the referee; they do not compare its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from mirage.battles.counts import RELEVANCE as RELEVANCE
from mirage.battles.counts import Battles, from_outcomes, lacking, pooled
from mirage.battles.verdict_rows import OF_KNOWN, from_judgments, judges_of
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.schema import Parser, Skill

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

POOLED = "pooled"
"""Name of the referee that counts every judge of an arena together."""


@dataclass(frozen=True, slots=True)
class Referee:
    """Who decides the battles, and on which queries."""

    kind: Literal["relevance", "judge", "panel"]
    """`relevance`: the relevance labels, without a model. `judge`: one model. `panel`: several judges, whose verdicts
    count together."""
    name: str
    """The name in tables, files and addresses: `relevance`, the judge's own, or `pooled`."""
    skill: Skill = "both"
    """Which queries count; a judge has only `both`."""
    parser: Parser = "strict"
    """Whose outcomes decide, by relevance labels."""
    judges: tuple[str, ...] = ()
    """The judges of a panel; empty for every judge there is."""

    @classmethod
    def relevance(cls, skill: Skill = "both", *, parser: Parser = "strict") -> Referee:
        """The human relevance labels."""
        return cls("relevance", RELEVANCE, skill, parser)

    @classmethod
    def judge(cls, name: str) -> Referee:
        """One judge."""
        return cls("judge", name, judges=(name,))

    @classmethod
    def panel(cls, judges: Sequence[str] = ()) -> Referee:
        """Several judges together; all there are if none is named."""
        return cls("panel", POOLED, judges=tuple(judges))

    @classmethod
    def named(cls, name: str, *, skill: Skill = "both", parser: Parser = "strict") -> Referee:
        """The referee of a name: `relevance`, `pooled`, or a judge's.

        Raises:
            BadInput: if a skill is asked of a judge, or the name is that of an exam on known-answer pairs.
        """
        if name.startswith(OF_KNOWN):
            judge = name.removeprefix(OF_KNOWN)
            raise BadInput(
                f"{name} are verdicts on pairs chosen by who is right: they examine {judge} and rank nobody",
                do=f"let {judge} judge pairs drawn at random: mirage judge DIR --judge {judge}",
            )
        if name == RELEVANCE:
            return cls.relevance(skill, parser=parser)
        if skill != "both":
            raise BadInput(f"{name} judges answers, not the skill {skill!r}", do="leave the skill out")
        return cls.panel() if name == POOLED else cls.judge(name)

    @property
    def by_labels(self) -> bool:
        """Whether relevance labels decide: no model is asked, and every skill can be ranked."""
        return self.kind == "relevance"

    @property
    def table(self) -> str:
        """The table it decides from."""
        return "outcomes" if self.by_labels else "judgments"

    @property
    def counted(self) -> str:
        """What a reader is told the number of: answers or verdicts."""
        return "answers" if self.by_labels else "verdicts"

    def battles(self, table: pa.Table, *, languages: Sequence[str] | None = None) -> dict[str, Battles]:
        """The battles it decides, by language.

        Args:
            table: `outcomes` or `judgments`, as `table` says.
            languages: codes; None for all that have battles.

        Raises:
            UnknownName: if a language or judge has no battles.
            NotEnoughData: if a chosen language lacks what the skill needs.
        """
        if self.by_labels:
            battles = from_outcomes(table, skill=self.skill, parser=self.parser)
        elif self.kind == "judge":
            battles = from_judgments(table, judge=self.name)
        else:
            battles = self._pooled(table)
        missing = self.lacking(table) if languages else {}
        for code in languages or ():
            if code in missing:
                raise NotEnoughData(f"{code} has {missing[code]}", do=f"leave {code} out, or choose another skill")
            if code not in battles:
                raise UnknownName("language", code, battles, where=f"battles by {self.name}")
        return battles if languages is None else {code: battles[code] for code in languages}

    def _pooled(self, table: pa.Table) -> dict[str, Battles]:
        judges = self.judges or judges_of(table)
        parts: dict[str, list[Battles]] = {}
        for judge in judges:
            for code, battles in from_judgments(table, judge=judge).items():
                parts.setdefault(code, []).append(battles)
        return {code: pooled(parts[code], referee=self.name) for code in sorted(parts)}

    def lacking(self, table: pa.Table) -> dict[str, str]:
        """The languages that cannot be ranked, each with the reason in words."""
        return lacking(table, skill=self.skill) if self.by_labels else {}


def referees(arena: Arena, *, panel: bool = False) -> tuple[str, ...]:
    """The names of the referees of an arena: relevance labels first, then its judges by name.

    Args:
        arena: the arena.
        panel: whether `pooled` comes last where there are several judges.
    """
    names = judges(arena)
    several = panel and len(names) > 1
    return (*((RELEVANCE,) if "outcomes" in arena.tables else ()), *names, *((POOLED,) if several else ()))


@lru_cache(maxsize=64)
def judges(arena: Arena) -> tuple[str, ...]:
    """The judges of an arena that may rank, by name: not what judges gave on known-answer pairs alone."""
    if "judgments" not in arena.tables:
        return ()
    sql = "SELECT DISTINCT judge FROM judgments WHERE NOT starts_with(judge, ?) ORDER BY judge"
    return tuple(arena.sql(sql, [OF_KNOWN])["judge"].to_pylist())


def only_judge(names: Iterable[str], wanted: str | None = None, *, noun: str = "judge") -> str:
    """The judge or other referee that is wanted, or the only one there is.

    Raises:
        UnknownName: if the one that is wanted is not there.
        BadInput: if none is wanted, and there is not exactly one.
    """
    there = sorted(names)
    if wanted is not None and wanted not in there:
        raise UnknownName(noun, wanted, there)
    if wanted is None and len(there) != 1:
        raise BadInput(f"there are {len(there)} {noun}s: {', '.join(there)}", do=f"name the {noun}")
    return wanted or there[0]
