"""Judges: who decides battles. Four objects answer the same questions, and callers never ask which one they have.

    judge = Judge.from_name("gpt-4o")                    # also relevance, pooled, nuggets
    battles = judge.battles(judge.read(arena))           # {language: Battles}
    judge.options, judge.phrase(arena), judge.maker(arena)

A verdict on a battle and the points that one judge gives single answers are both verdicts. Nugget scores have no stored
verdicts: they are computed from the nuggets that the answers state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from mirage import schema
from mirage.battles import verdict_rows
from mirage.battles.counts import (
    CLASSIFIED,
    RELEVANCE,
    Battles,
    Unranked,
    find_unranked,
    from_outcomes,
    pool_battles,
    remedy,
    unranked_lines,
)
from mirage.battles.decision import UNPARSED
from mirage.battles.failures import decide_failures, failures_of
from mirage.battles.judge import ALONE, HEURISTIC, NUGGETS, POOLED, people_judges, verdict_judges
from mirage.battles.verdict_rows import (
    COLUMNS,
    OF_KNOWN,
    OF_PROGRAMS,
    OF_SCORES,
    REPEATED,
    Verdicts,
    VerdictsByJudge,
    from_judgments,
    judges_of,
)
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.settings import RankSettings
from mirage.schema import FAILED, UNDECIDED, Failures, Parser, Skill
from mirage.stats.arrays import Integers
from mirage.store.labels import label_maker, label_phrase, label_sources
from mirage.text.languages import name_of
from mirage.text.segmentation import join_first

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.ranking.nugget_battles import NuggetBattles
    from mirage.store.arena import Arena

Counted = Literal["answers", "verdicts", "battles"]
"""Rows that a judge counts."""
PairCounts = Mapping[tuple[str, str], tuple[int, int, int, int]]
"""For two systems in order of name: wins of the first, wins of the second, ties, unparsed."""

MOST_UNDECIDED = 0.1
"""Share of undecided battles beyond which the heuristic judge does not rank."""
_OUTCOMES = ("language", "query_id", "system", "parser", "subset", "outcome", "correct")
"""Columns of `outcomes` that decide battles."""
_RIGHT = (
    "rows AS (SELECT *, count(*) FILTER (NOT list_contains($failed, outcome)) OVER of AS made, "  # noqa: S608  # constants alone
    f"count(*) FILTER (outcome IN {CLASSIFIED}) OVER of AS classified FROM outcomes "
    "WHERE parser = 'strict' WINDOW of AS (PARTITION BY language, system)), "
    "shown AS (SELECT language, query_id, system, coalesce(correct, false) AS ok FROM rows "
    "WHERE made > 0 AND 2 * classified >= made AND (NOT list_contains($failed, outcome) OR $count))"
)
"""SQL of the answers in battles by labels: whether each is a correct decision, of systems of whose answers in the
language half are classified, as in `battles.from_outcomes`.
"""
_SELECTION = frozenset(("without", "exclude_own", "consistent", "votes"))
"""Settings that select verdicts; `votes` are people's in place of the judge's."""
_APPLIES = {
    **dict.fromkeys(_SELECTION, "a choice of verdicts (makers, both orders, votes) applies to judges with verdicts"),
    "pooled": "only judges with verdicts can be pooled",
    "control": "style control applies to verdicts and nugget scores",
    "skill": "a skill applies to relevance labels: a judge compares answers to all queries",
    "parser": "a parser of answers applies to relevance labels",
    "assigner": "an assigner of nuggets applies to nugget scores",
    "nugget_margin": "a margin of nugget scores applies to nugget scores",
}
"""By setting that does not apply to every judge, the judges that it applies to."""


@dataclass(frozen=True, slots=True)
class Judge(ABC):
    """The decider of battles."""

    name: str
    """The name in tables, files and URLs: `relevance`, the judge's name, `pooled`, or `nuggets`."""
    skill: Skill = "both"
    """Skill whose queries count; only relevance labels have others than `both`."""
    failures: Failures = "count"
    """Treatment of failed answers: counted as wrong, or left out."""

    table: ClassVar[str]
    """Name of the table that the judge decides from."""
    counted: ClassVar[Counted]
    """Noun for the rows that the judge counts."""
    options: ClassVar[frozenset[str]]
    """Those of `_APPLIES` that apply."""
    sides: ClassVar[tuple[str, ...]] = ("system_a", "system_b")
    """Columns of the systems in what `read` returns."""
    skills: ClassVar[tuple[Skill, ...]] = ("both",)
    """Skills that the judge can rank."""
    rests_on_labels: ClassVar[bool] = False
    """Whether the labels of the queries decide, so that their errors are errors of the ranking."""
    asked: ClassVar[bool] = True
    """Whether each verdict takes a call or a person: a prediction saves these."""
    rule: ClassVar[str] = ""
    """Why an answer wins, if a fixed rule decides."""

    @staticmethod
    def from_name(
        name: str, *, skill: Skill = "both", parser: Parser = "strict", failures: Failures = "count"
    ) -> Judge:
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
            return LabelJudge(skill=skill, parser=parser, failures=failures)
        own: dict[str, type[Judge]] = {NUGGETS: NuggetJudge, POOLED: PanelJudge, HEURISTIC: HeuristicJudge}
        found = own.get(name, VerdictJudge)(name, failures=failures)
        found.refuse_options(RankSettings(skill=skill, parser=parser).changed)
        return found

    @staticmethod
    def from_names(
        names: Sequence[str], *, skill: Skill = "both", parser: Parser = "strict", failures: Failures = "count"
    ) -> Judge:
        """Return the judge with a name, or one that pools several judges (`pooled` for all).

        Raises:
            BadInput: as for `from_name`, or if relevance labels or nuggets are among several judges.
        """
        for name in names if len(names) > 1 else ():
            if name in ALONE:
                Judge.from_name(name).refuse_options(("pooled",))
        if POOLED in names or len(set(names)) == 1:
            name = POOLED if POOLED in names else names[0]
            return Judge.from_name(name, skill=skill, parser=parser, failures=failures)
        panel = PanelJudge(judges=tuple(dict.fromkeys(names)), failures=failures)
        panel.refuse_options(RankSettings(skill=skill, parser=parser).changed)
        return panel

    def refuse_options(self, given: Collection[str]) -> None:
        """Refuse settings that cannot apply: names of fields of `RankSettings`, `votes` or `pooled`.

        Raises:
            BadInput: naming the first, the judges that it applies to, and what to do.
        """
        for name in sorted(set(given) & _APPLIES.keys() - self.options):
            do = f"omit the option {name.replace('_', ' ')}, or choose such a judge"
            raise BadInput(f"{_APPLIES[name]}, not to {self.name}", do=do)

    def phrase(self, arena: Arena) -> str:
        """Return the judge's name in a sentence about an arena."""
        return self.name

    @abstractmethod
    def maker(self, arena: Arena) -> schema.Maker:
        """Return the kind of decider in an arena: people, a model (or program), the author of the data, or unknown."""

    @abstractmethod
    def basis(self, arena: Arena) -> str:
        """Return the basis of decisions in an arena: one or two sentences to follow "Decided by"."""

    def members(self, arena: Arena) -> tuple[str, ...]:
        """Return the judges whose verdicts count; none if no verdicts do."""
        return ()

    @abstractmethod
    def read(self, arena: Arena, settings: RankSettings = RankSettings()) -> pa.Table:
        """Read the columns that battles are counted from: of outcomes, of judgments, or verdicts by nugget scores.

        Raises:
            TableMissing: if the arena lacks the table.
            UnknownName: if there is no such assigner of nuggets.
            NotEnoughData: if nugget scores decide no battle.
        """

    def notes(self, arena: Arena, settings: RankSettings = RankSettings()) -> list[str]:
        """Return remarks on the battles that a ranking is computed from."""
        return []

    def battles(self, table: pa.Table, *, languages: Sequence[str] | None = None) -> dict[str, Battles]:
        """Return the battles that the judge decides, by language.

        Args:
            table: the table named by `table`, or what `read` returns.
            languages: codes; None for all that have battles.

        Raises:
            UnknownName: if a language or judge has no battles.
            NotEnoughData: if a chosen language lacks a subset the skill needs.
        """
        battles = self._count(table)
        if languages is None:
            return battles
        missing = any(code not in battles for code in languages)
        self.need_languages(languages, battles, self.find_unranked(table, languages) if missing else {})
        return {code: battles[code] for code in languages}

    def _count(self, table: pa.Table) -> dict[str, Battles]:
        """Count the battles of a table by language."""
        return from_judgments(table, judge=self.name)

    def verdicts(self, arena: Arena, settings: RankSettings = RankSettings()) -> VerdictsByJudge | None:
        """Return the verdicts of each judge that counts, by language; None if labels decide without verdicts."""
        return {name: verdicts_of(arena, name, self.failures) for name in self.members(arena)}

    def find_unranked(self, table: pa.Table, languages: Sequence[str] | None = None) -> Unranked:
        """Return by language, of these or all, the systems that the judge cannot rank, each with the reason as text."""
        return {}

    def unranked_systems(self, arena: Arena, languages: Sequence[str] = ()) -> Unranked:
        """Return the result of `find_unranked` for an arena, of these languages or all if empty."""
        return {}

    def check_languages(self, arena: Arena, languages: Sequence[str]) -> None:
        """Require every language to have battles in an arena; raises as `need_languages` does."""
        self.need_languages(languages, size(arena, self).languages)

    def need_languages(
        self,
        languages: Iterable[str],
        there: Collection[str],
        without: Unranked = MappingProxyType({}),
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

    @abstractmethod
    def count_rows(self, arena: Arena) -> pa.Table:
        """Return the numbers of rows behind the ratings (`tallies`)."""

    @abstractmethod
    def count_queries(self, arena: Arena) -> int:
        """Return the number of queries with battles."""

    @abstractmethod
    def count_pairs(self, arena: Arena, languages: Collection[str] = ()) -> PairCounts:
        """Count the decisions on the battles of every two systems, in these languages or all if empty."""

    @abstractmethod
    def read_pair(self, arena: Arena, first: str, second: str) -> pa.Table:
        """Return the verdicts on the battles of two systems, with the columns that `decisions` reads."""


@dataclass(frozen=True, slots=True)
class LabelJudge(Judge):
    """Relevance labels: a correct decision to answer or to abstain beats a wrong one. No model is called."""

    name: str = RELEVANCE
    parser: Parser = "strict"
    """Parser whose outcomes decide."""

    table: ClassVar[str] = "outcomes"
    counted: ClassVar[Counted] = "answers"
    options: ClassVar[frozenset[str]] = frozenset(("skill", "parser"))
    sides: ClassVar[tuple[str, ...]] = ("system",)
    skills: ClassVar[tuple[Skill, ...]] = get_args(Skill)
    rests_on_labels: ClassVar[bool] = True
    asked: ClassVar[bool] = False
    rule: ClassVar[str] = "its decision to answer or to abstain is correct"

    def phrase(self, arena: Arena) -> str:
        return label_phrase(arena)

    def maker(self, arena: Arena) -> schema.Maker:
        return label_maker(arena)

    def basis(self, arena: Arena) -> str:
        rule = "if a passage has the answer, and abstains if none has"
        if label_sources(arena) == {"reference"}:
            rule = "where the reference answer does, and abstains where that does"
        elif label_sources(arena) == {"field"}:
            rule = "an answerable query, and abstains from others"
        return f"{self.phrase(arena)}: whether a system answers {rule}. Whether the answer is true is not measured."

    def read(self, arena: Arena, settings: RankSettings = RankSettings()) -> pa.Table:
        return arena.read("outcomes", columns=_OUTCOMES)

    def _count(self, table: pa.Table) -> dict[str, Battles]:
        return from_outcomes(table, skill=self.skill, parser=self.parser, failures=self.failures)

    def verdicts(self, arena: Arena, settings: RankSettings = RankSettings()) -> None:
        return None

    def find_unranked(self, table: pa.Table, languages: Sequence[str] | None = None) -> Unranked:
        reasons = find_unranked(table, skill=self.skill, parser=self.parser)
        return {code: row for code, row in reasons.items() if languages is None or code in languages}

    def unranked_systems(self, arena: Arena, languages: Sequence[str] = ()) -> Unranked:
        return {code: row for code, row in _label_unranked(arena, self).items() if not languages or code in languages}

    def check_languages(self, arena: Arena, languages: Sequence[str]) -> None:
        self.need_languages(languages, battles_of(arena, self), self.unranked_systems(arena, languages))

    def count_rows(self, arena: Arena) -> pa.Table:
        return arena.sql(
            "SELECT language, subset, system, count(*) FILTER (outcome <> 'missing') AS answers, "
            "count(*) FILTER (list_contains(?, outcome)) AS undecided "
            "FROM outcomes WHERE parser = 'strict' GROUP BY ALL ORDER BY ALL",
            [list(UNDECIDED)],
        )

    def count_queries(self, arena: Arena) -> int:
        sql = "SELECT count(DISTINCT (language, query_id)) AS n FROM outcomes WHERE parser = 'strict'"
        return int(arena.sql(sql)["n"][0].as_py())

    @property
    def _failing(self) -> dict[str, Any]:
        return {"failed": list(FAILED), "count": self.failures == "count"}

    def count_pairs(self, arena: Arena, languages: Collection[str] = ()) -> PairCounts:
        rows = arena.sql(
            f"WITH {_RIGHT}, decided AS (SELECT x.system AS x, y.system AS y, x.ok AS ok, y.ok AS other "  # noqa: S608  # constants alone
            "FROM shown x JOIN shown y USING (language, query_id) "
            "WHERE x.system < y.system AND (len($languages) = 0 OR list_contains($languages, language))) "
            "SELECT x, y, count(*) FILTER (ok AND NOT other), count(*) FILTER (other AND NOT ok), "
            "count(*) FILTER (ok = other) FROM decided GROUP BY x, y",
            {"languages": list(languages), **self._failing},
        )
        columns = (column.to_pylist() for column in rows.columns)
        return {(x, y): (wins, losses, ties, 0) for x, y, wins, losses, ties in zip(*columns, strict=True)}

    def read_pair(self, arena: Arena, first: str, second: str) -> pa.Table:
        return arena.sql(
            f"WITH {_RIGHT} SELECT $judge AS judge, language, query_id, x.system AS system_a, "  # noqa: S608  # constants alone
            "y.system AS system_b, CASE WHEN x.ok = y.ok THEN 'tie' WHEN x.ok THEN 'A' ELSE 'B' END AS verdict "
            "FROM shown x JOIN shown y USING (language, query_id) WHERE x.system = $first AND y.system = $second",
            {"judge": self.name, "first": first, "second": second, **self._failing},
        )


@dataclass(frozen=True, slots=True)
class VerdictJudge(Judge):
    """One judge with stored verdicts: a model, a program or people."""

    table: ClassVar[str] = "judgments"
    counted: ClassVar[Counted] = "verdicts"
    options: ClassVar[frozenset[str]] = _SELECTION | {"control", "pooled"}

    def maker(self, arena: Arena) -> schema.Maker:
        return "people" if set(self.members(arena)) <= people_judges(arena) else "model"

    def basis(self, arena: Arena) -> str:
        if self.name.startswith((OF_SCORES, OF_PROGRAMS)):
            who, measure = self.name.split(": ", 1)
            people = who == OF_SCORES[:-2]
            by = "people's scores" if people else "scores"
            said = f"{by} of {measure}: of two answers to a query the one with the better score wins."
            others = [name for name in _scored_measures(arena, people=people) if name != measure]
            rule = "unless one is named, the measure with the most scores decides, of equals the first by name"
            named = f" Not used: {join_first(others)} (mirage votes scores DIR --verdicts-from MEASURE); {rule}."
            return said + named if others else said
        return f"the verdicts of {self.phrase(arena)}; check it by hand on the page Spot check."

    def members(self, arena: Arena) -> tuple[str, ...]:
        return (self.name,)

    def read(self, arena: Arena, settings: RankSettings = RankSettings()) -> pa.Table:
        return read_verdicts(arena, self.failures)

    def notes(self, arena: Arena, settings: RankSettings = RankSettings()) -> list[str]:
        return _note_people(arena, self.name)

    def count_rows(self, arena: Arena) -> pa.Table:
        return arena.sql(
            "WITH shown AS (SELECT language, unnest([system_a, system_b]) AS system, verdict FROM judgments "
            "WHERE list_contains(?, judge)) SELECT language, '' AS subset, system, count(*) AS answers, "
            "count(*) FILTER (verdict = 'unparsed') AS undecided FROM shown GROUP BY ALL ORDER BY ALL",
            [list(self.members(arena))],
        )

    def count_queries(self, arena: Arena) -> int:
        sql = "SELECT count(DISTINCT (language, query_id)) AS n FROM judgments WHERE list_contains(?, judge)"
        return int(arena.sql(sql, [list(self.members(arena))])["n"][0].as_py())

    def count_pairs(self, arena: Arena, languages: Collection[str] = ()) -> PairCounts:
        try:
            verdicts = verdicts_of(arena, self.name, self.failures)
        except NotEnoughData:
            verdicts = verdict_rows.verdicts(self.read(arena), judge=self.name, unread=True)
        return _count_decisions(verdicts, languages)

    def read_pair(self, arena: Arena, first: str, second: str) -> pa.Table:
        return arena.sql(
            "SELECT judge, language, query_id, system_a, system_b, verdict, points FROM judgments "
            "WHERE list_contains($judges, judge) AND "
            "(system_a = $first AND system_b = $second OR system_a = $second AND system_b = $first)",
            {"judges": list(self.members(arena)), "first": first, "second": second},
        )


@dataclass(frozen=True, slots=True)
class HeuristicJudge(VerdictJudge):
    """The heuristic judge, which ranks no language in which it leaves more than a tenth of the battles undecided."""

    name: str = HEURISTIC

    def basis(self, arena: Arena) -> str:
        return "the heuristic judge, a weighted sum of features: a baseline for a model as judge."

    def notes(self, arena: Arena, settings: RankSettings = RankSettings()) -> list[str]:
        undecided = self._undecided_languages(_heuristic_verdicts(arena, self.failures))
        return [f"not ranked: {line}" for line in undecided.values()]

    def verdicts(self, arena: Arena, settings: RankSettings = RankSettings()) -> VerdictsByJudge:
        return {self.name: self._rankable_verdicts(_heuristic_verdicts(arena, self.failures))}

    def _count(self, table: pa.Table) -> dict[str, Battles]:
        every = verdict_rows.verdicts(table, judge=self.name, unread=True)
        return {code: verdicts.battles() for code, verdicts in self._rankable_verdicts(every).items()}

    def _undecided_languages(self, every: Mapping[str, Verdicts]) -> dict[str, str]:
        """Return the languages with too many undecided battles, each with their number in words."""
        counts = {code: (int((of.verdict == UNPARSED).sum()), len(of.verdict)) for code, of in every.items()}
        return {
            code: f"{name_of(code)}, {undecided:,} of {n:,} verdicts undecided"
            for code, (undecided, n) in counts.items()
            if undecided > MOST_UNDECIDED * n
        }

    def _rankable_verdicts(self, every: Mapping[str, Verdicts]) -> dict[str, Verdicts]:
        """Return the verdicts of the languages that can be ranked.

        Raises:
            NotEnoughData: if there are none.
        """
        undecided = self._undecided_languages(every)
        if len(undecided) == len(every):
            raise NotEnoughData(
                f"the heuristic judge leaves too many battles undecided: {join_first(list(undecided.values()))}",
                do="let a model judge: mirage evaluate DIR --judge MODEL --base-url URL --dry-run",
            )
        return {code: verdicts for code, verdicts in every.items() if code not in undecided}


@dataclass(frozen=True, slots=True)
class PanelJudge(VerdictJudge):
    """Several judges with their verdicts pooled, each with equal weight."""

    name: str = POOLED
    judges: tuple[str, ...] = ()
    """The judges; empty for all of the arena."""

    def phrase(self, arena: Arena) -> str:
        return " and ".join(self.judges) or "all judges"

    def members(self, arena: Arena) -> tuple[str, ...]:
        return self.judges or verdict_judges(arena)

    def notes(self, arena: Arena, settings: RankSettings = RankSettings()) -> list[str]:
        return []

    def _count(self, table: pa.Table) -> dict[str, Battles]:
        parts: dict[str, list[Battles]] = {}
        for judge in self.judges or judges_of(table):
            for code, battles in from_judgments(table, judge=judge).items():
                parts.setdefault(code, []).append(battles)
        return {code: pool_battles(parts[code], judge=self.name) for code in sorted(parts)}


@dataclass(frozen=True, slots=True)
class NuggetJudge(Judge):
    """Nugget scores: the answer that states more of the vital nuggets in full wins."""

    name: str = NUGGETS

    table: ClassVar[str] = "nugget_assignments"
    counted: ClassVar[Counted] = "battles"
    options: ClassVar[frozenset[str]] = frozenset(("control", "assigner", "nugget_margin"))
    asked: ClassVar[bool] = False
    rule: ClassVar[str] = "it states more of the vital nuggets in full"

    def maker(self, arena: Arena) -> schema.Maker:
        return "model"

    def basis(self, arena: Arena) -> str:
        return f"nuggets: an answer wins if {self.rule}."

    def read(self, arena: Arena, settings: RankSettings = RankSettings()) -> pa.Table:
        return nuggets_of(arena, settings.of_nuggets).verdicts

    def notes(self, arena: Arena, settings: RankSettings = RankSettings()) -> list[str]:
        return nuggets_of(arena, settings.of_nuggets).lines

    def verdicts(self, arena: Arena, settings: RankSettings = RankSettings()) -> VerdictsByJudge | None:
        return {self.name: _nugget_verdicts(arena, replace(settings.of_nuggets, languages=None))}

    def check_languages(self, arena: Arena, languages: Sequence[str]) -> None:
        arena.known_languages("answers", languages)

    def count_rows(self, arena: Arena) -> pa.Table:
        import pyarrow as pa

        rows = []
        for code, verdicts in _nugget_verdicts(arena).items():
            met = verdicts.decision_counts().sum(axis=2)
            rows += [
                {"language": code, "subset": "", "system": system, "answers": n, "undecided": 0}
                for system, n in zip(verdicts.systems, (met.sum(axis=0) + met.sum(axis=1)).tolist(), strict=True)
            ]
        return pa.Table.from_pylist(rows)

    def count_queries(self, arena: Arena) -> int:
        return sum(len(verdicts.queries) for verdicts in _nugget_verdicts(arena).values())

    def count_pairs(self, arena: Arena, languages: Collection[str] = ()) -> PairCounts:
        return _count_decisions(_nugget_verdicts(arena), languages)

    def read_pair(self, arena: Arena, first: str, second: str) -> pa.Table:
        import pyarrow as pa
        import pyarrow.compute as pc

        rows, both = self.read(arena), pa.array([first, second])
        return rows.filter(pc.and_(*(pc.is_in(rows[name], both) for name in self.sides)))


def _count_decisions(by_language: Mapping[str, Verdicts], languages: Collection[str]) -> PairCounts:
    """Count the decisions on the battles of every two systems, in some languages or all if empty."""
    sums: dict[tuple[str, str], Integers] = {}
    for code, verdicts in by_language.items():
        if not languages or code in languages:
            decided = verdicts.decision_counts()
            for i, j in np.argwhere(decided.any(axis=2)).tolist():
                pair = verdicts.systems[i], verdicts.systems[j]
                sums[pair] = sums.get(pair, 0) + decided[i, j]
    return {pair: tuple(total.tolist()) for pair, total in sums.items()}


def read_verdicts(arena: Arena, failures: Failures = "count") -> pa.Table:
    """Return the stored verdicts, and those that failed answers decide, with the columns `COLUMNS`.

    Raises:
        BadInput: if they were stored with probabilities of their own.
    """
    if arena.stores_column("judgments", "inclusion"):
        raise BadInput(
            "its verdicts claim the probabilities with which their battles were drawn (the column inclusion)",
            where=arena.address,
            do="import the verdicts again without that column: every verdict counts the same",
        )
    found = failures_of(arena)
    table = arena.read("judgments", columns=COLUMNS, encoded=() if found.failed else REPEATED)
    return decide_failures(table, found, drop=failures == "drop")


@lru_cache(maxsize=16)
def verdicts_of(arena: Arena, judge: str, failures: Failures = "count") -> dict[str, Verdicts]:
    """Return the verdicts of a judge by language, with those that failed answers decide."""
    return verdict_rows.verdicts(read_verdicts(arena, failures), judge=judge)


@lru_cache(maxsize=4)
def _heuristic_verdicts(arena: Arena, failures: Failures) -> dict[str, Verdicts]:
    """Return the verdicts of the heuristic judge by language, also where it decides nothing."""
    return verdict_rows.verdicts(read_verdicts(arena, failures), judge=HEURISTIC, unread=True)


@lru_cache(maxsize=16)
def nuggets_of(arena: Arena, settings: RankSettings = RankSettings()) -> NuggetBattles:
    """Return the battles by nugget scores; settings as for `nugget_battles`."""
    # Deferred: the feature modules are a third of the first page's imports.
    from mirage.ranking.nugget_battles import nugget_battles

    return nugget_battles(arena, settings)


@lru_cache(maxsize=16)
def _nugget_verdicts(arena: Arena, settings: RankSettings = RankSettings()) -> dict[str, Verdicts]:
    return verdict_rows.verdicts(nuggets_of(arena, settings).verdicts, judge=NUGGETS)


@lru_cache(maxsize=16)
def battles_of(arena: Arena, judge: Judge, settings: RankSettings = RankSettings()) -> dict[str, Battles]:
    """Return all battles of a judge by language; settings as for `read`."""
    return judge.battles(judge.read(arena, settings))


@lru_cache(maxsize=16)
def _label_unranked(arena: Arena, judge: LabelJudge) -> Unranked:
    return judge.find_unranked(judge.read(arena))


@lru_cache(maxsize=64)
def _scored_measures(arena: Arena, *, people: bool) -> tuple[str, ...]:
    """Return the measures with scores of people or of programs, by name."""
    if "scores" not in arena.tables:
        return ()
    sql = "SELECT DISTINCT measure FROM scores WHERE person = ? AND value IS NOT NULL ORDER BY measure"
    return tuple(arena.sql(sql, [people])["measure"].to_pylist())


@lru_cache(maxsize=64)
def _note_people(arena: Arena, judge: str) -> list[str]:
    """Return a remark if a judge is unnamed people, whose votes cannot be clustered."""
    if "judgments" not in arena.tables:
        return []
    sql = "SELECT bool_or(person) AS person, count(DISTINCT voter) AS n FROM judgments WHERE judge = ?"
    found = arena.sql(sql, [judge]).to_pylist()[0]
    if not found["person"] or found["n"]:
        return []
    return ["verdicts of unnamed people: intervals and tests hold for other queries, not for other people"]


@lru_cache(maxsize=64)
def tallies(arena: Arena, judge: Judge) -> pa.Table:
    """Return the numbers of answers and undecided answers by language, subset and system; for a judge with verdicts,
    verdicts and unparsed verdicts, and for nuggets battles, with an empty subset.
    """
    return judge.count_rows(arena)


@dataclass(frozen=True)
class Size:
    """Size of an arena."""

    answers: int
    """Number of the rows that the judge counts: answers, verdicts or battles."""
    queries: int
    systems: tuple[str, ...]
    languages: tuple[str, ...]


@lru_cache(maxsize=64)
def size(arena: Arena, judge: Judge) -> Size:
    """Return the amount of data behind a judge in the whole arena.

    Raises:
        TableMissing: if the arena lacks what the judge decides by.
    """
    arena.need(judge.table)
    counts = tallies(arena, judge)
    systems, languages = (tuple(sorted(set(counts[name].to_pylist()))) for name in ("system", "language"))
    answers = sum(counts["answers"].to_pylist()) // len(judge.sides)
    return Size(answers, judge.count_queries(arena), systems, languages)
