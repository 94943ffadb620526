"""What a ranking would be otherwise: other judges, other verdicts, equal style; and which ranks that moves.

    by_judge = {judge: verdicts(judgments, judge=judge) for judge in judges}
    usual, other = recompute(by_judge, Choice()), recompute(by_judge, Choice(consistent=True))
    compare(usual.ranking, other.ranking).moves

Everything starts from the coded verdicts (`battles.verdict_rows`), which are read once: counting them, adding judges up
and rating takes milliseconds a language. Each language is counted and rated by itself (`count_verdicts`), so that
whoever keeps what was counted pays for the joint row alone (`rate_counted`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from mirage.battles.counts import Battles, pooled
from mirage.battles.referee import POOLED
from mirage.battles.verdict_rows import Verdicts
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.makers import BY_NAME, Makers
from mirage.rank.bootstrap import DRAWS, LEVEL, SEED, LanguageRanking, Ranking, join_rankings, rate
from mirage.rank.control import Covariates, StyleControl, control_style
from mirage.schema import Ties

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class RankOptions:
    """Which verdicts count in a ranking by judges, and how; by default every verdict, unchanged."""

    ties: Ties = "half"
    """How ties count."""
    without: str | None = None
    """Maker whose judges are left out; None for no one's."""
    own: bool = True
    """Whether a judge's verdicts on systems of its own maker count."""
    consistent: bool = False
    """Whether only battles count whose two orders were judged and agree."""
    control: tuple[str, ...] = ()
    """Covariates that are held equal (`control_style.COVARIATES`)."""
    makers: Makers = BY_NAME
    """Who made which judge and system."""


@dataclass(frozen=True, eq=False)
class CountedVerdicts:
    """What a choice leaves of the verdicts of one judge or several in one language."""

    language: str
    """Code."""
    battles: Battles | None
    """The battles that count; None where none is left."""
    n_verdicts: Mapping[str, int]
    """By judge, the readable verdicts that count."""
    left_out: Mapping[str, int]
    """Verdicts left out, by the reason in words."""
    voted: int
    """Verdicts that people's votes stand in for."""
    ties: Ties
    """How ties count."""
    draws: int
    """Bootstrap draws of the ranking."""
    seed: int
    """Their seed."""

    @cached_property
    def ranking(self) -> Ranking:
        """The ranking of these battles.

        Raises:
            NotEnoughData: if none is left.
        """
        battles = {} if self.battles is None else {self.language: self.battles}
        return rate(battles, draws=self.draws, seed=self.seed, ties=self.ties)


@dataclass(frozen=True, eq=False)
class WhatIfResult:
    """A ranking by one judge or several, and what was counted for it."""

    ranking: Ranking
    """The ranking; its referee is the one judge, or `pooled`."""
    choice: RankOptions
    """What was asked for."""
    n_verdicts: Mapping[str, int]
    """By judge, the readable verdicts that count: a judge that gave twice as many has twice the say."""
    left_out: Mapping[str, int]
    """Verdicts left out, by the reason in words."""
    voted: int
    """Verdicts that people's votes stand in for."""
    lacking: Mapping[str, str]
    """Languages in which nothing is left to rate, with the reason."""
    controlled: StyleControl | None
    """The style control, with its coefficients; None without one."""

    @property
    def method(self) -> str:
        """How the numbers came about, in a line."""
        return self.controlled.method if self.controlled else self.ranking.method


def recompute(
    verdicts_by_judge: Mapping[str, Mapping[str, Verdicts]],
    choice: RankOptions,
    *,
    languages: Sequence[str] | None = None,
    style: Mapping[str, Covariates] | None = None,
    votes: pa.Table | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> WhatIfResult:
    """Rate the systems by what a choice leaves of the verdicts of some judges.

    Votes come first and stay; then what a judge said of its own maker's systems goes, then what its two orders do not
    agree on. What is left of several judges is counted together (`battles.pooled`).

    Args:
        verdicts_by_judge: verdicts by judge and language.
        choice: what counts.
        languages: codes; None for all.
        style: covariates by language, with exactly those that the choice holds equal.
        votes: people's verdicts (`Verdicts.override`), with a column `language`; they replace the judges' ones.
        draws: bootstrap draws.
        seed: seed of the draws.

    Raises:
        UnknownName: if no judge is of the maker that is to be left out, or no judge judged a language.
        NotEnoughData: if no battle is left.
        BadInput: if the choice holds covariates equal that are not given, or models ties then.
    """
    if languages is None:
        languages = [code for judge in _judges(tuple(verdicts_by_judge), choice) for code in verdicts_by_judge[judge]]
    parts = [
        count_verdicts(verdicts_by_judge, choice, code, votes=votes, draws=draws, seed=seed)
        for code in sorted(set(languages))
    ]
    return rate_counted(parts, choice, style=style)


def count_verdicts(
    verdicts_by_judge: Mapping[str, Mapping[str, Verdicts]],
    choice: RankOptions,
    code: str,
    *,
    votes: pa.Table | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> CountedVerdicts:
    """Count what a choice leaves of the verdicts in one language; the arguments are those of `recompute`.

    Raises:
        UnknownName: if no judge is of the maker that is to be left out, or no judge judged the language.
        NotEnoughData: if every judge is of that maker.
    """
    judges = _judges(tuple(verdicts_by_judge), choice)
    by_judge = {judge: verdicts_by_judge[judge][code] for judge in judges if code in verdicts_by_judge[judge]}
    if not by_judge:
        codes = sorted({code for judge in judges for code in verdicts_by_judge[judge]})
        raise UnknownName("language", code, codes, where=f"battles by {', '.join(judges)}")
    parts: list[Battles] = []
    counted, left_out, voted = dict.fromkeys(judges, 0), dict[str, int](), 0
    for judge, verdicts in by_judge.items():
        selection = _counting(verdicts, choice, code, votes)
        for reason, n in selection.left_out.items():
            left_out[reason] = left_out.get(reason, 0) + n
        part = selection.battles()
        counted[judge] += int(part.wins.sum(dtype=np.int64) + part.ties.sum(dtype=np.int64) // 2)
        voted += int(selection.voted.sum())
        parts.append(part)
    whole = pooled(parts, referee=judges[0] if len(verdicts_by_judge) == 1 else POOLED)
    any_left = whole.wins.any() or (choice.ties != "drop" and whole.ties.any())
    return CountedVerdicts(code, whole if any_left else None, counted, left_out, voted, choice.ties, draws, seed)


def rate_counted(
    parts: Sequence[CountedVerdicts], choice: RankOptions, *, style: Mapping[str, Covariates] | None = None
) -> WhatIfResult:
    """Rate the systems by what was counted in some languages.

    Args:
        parts: what the choice leaves, by language, counted with the same draws and seed.
        choice: what was counted.
        style: as in `recompute`.

    Raises:
        NotEnoughData: if no battle is left.
        BadInput: as in `recompute`.
    """
    counts, left_out, lacking = dict[str, int](), dict[str, int](), dict[str, str]()
    for part in parts:
        for numbers, totals in ((part.n_verdicts, counts), (part.left_out, left_out)):
            for name, n in numbers.items():
                totals[name] = totals.get(name, 0) + n
        if part.battles is None:
            lacking[part.language] = "no battle is left"
    nonempty = [part for part in parts if part.battles is not None]
    if not nonempty:
        raise NotEnoughData(
            "no battle is left to rate: " + "; ".join(f"{n:,} left out, {reason}" for reason, n in left_out.items()),
            do="leave fewer verdicts out" + (", or judge both orders of each pair" if choice.consistent else ""),
        )
    controlled = None
    if not choice.control:
        ranking = join_rankings([part.ranking for part in nonempty])
    else:
        if style is None or any(set(covariates.names) != set(choice.control) for covariates in style.values()):
            raise BadInput("the covariates that are held equal are not given", do="read them with covariates()")
        ties = cast(Literal["half", "drop"], choice.ties)
        battles = {
            part.language: part.battles for part in nonempty if part.battles is not None and part.language in style
        }
        lacking |= {
            part.language: f"no {' or '.join(choice.control)} of its answers is known"
            for part in nonempty
            if part.language not in style
        }
        controlled = control_style(battles, style, ties=ties, draws=nonempty[0].draws, seed=nonempty[0].seed)
        ranking = controlled.ranking
    return WhatIfResult(ranking, choice, counts, left_out, sum(part.voted for part in parts), lacking, controlled)


def _judges(judges: tuple[str, ...], choice: RankOptions) -> tuple[str, ...]:
    """The judges that are not of the maker left out."""
    without = choice.without
    if without is None:
        return judges
    makers = sorted({choice.makers.of(judge) for judge in judges})
    if without not in makers:
        raise UnknownName("maker of a judge", without, makers)
    left = tuple(judge for judge in judges if choice.makers.of(judge) != without)
    if not left:
        raise NotEnoughData(f"every judge is by {without}", do="add judges of other makers, or leave them in")
    return left


def _counting(verdicts: Verdicts, choice: RankOptions, code: str, votes: pa.Table | None) -> Verdicts:
    """The verdicts of one judge in one language that count."""
    import pyarrow.compute as pc

    if votes is not None:
        verdicts = verdicts.override(votes.filter(pc.equal(votes["language"], code)))
    if not choice.own:
        verdicts = verdicts.without_own(choice.makers)
    return verdicts.consistent() if choice.consistent else verdicts


@dataclass(frozen=True, slots=True)
class RankChange:
    """A system whose rank differs between two rankings."""

    language: str
    """Code, or `all`."""
    system: str
    """The system."""
    before: int
    """Its rank in the one ranking, among the systems that both have."""
    after: int
    """Its rank in the other."""
    low: int
    """Best end of the 95% interval of `before`."""
    high: int
    """Worst end."""

    @property
    def within(self) -> bool:
        """Whether the new rank is one that the interval held already."""
        return self.low <= self.after <= self.high


@dataclass(frozen=True, slots=True)
class RankComparison:
    """What differs between two rankings."""

    moves: tuple[RankChange, ...]
    """Ranks that moved, the largest move of each language first."""
    gone: Mapping[str, tuple[str, ...]]
    """By language, the systems that the other ranking does not have."""
    apart: Mapping[str, tuple[tuple[str, ...], ...]]
    """By language whose comparison graph is in more parts in the other ranking: these parts, the largest first."""

    def of(self, language: str) -> tuple[RankChange, ...]:
        """The moves in one language."""
        return tuple(move for move in self.moves if move.language == language)


def compare(base: Ranking, other: Ranking) -> RankComparison:
    """Which ranks move from one ranking to another, in the languages that both have."""
    moves: list[RankChange] = []
    missing, apart = {}, {}
    for code, row in base.languages.items():
        if code not in other.languages:
            continue
        other_row = other.languages[code]
        both = [system for system in row.systems if system in other_row.systems]
        lost = tuple(system for system in row.systems if system not in other_row.systems)
        if lost:
            missing[code] = lost
        if len(other_row.groups) > len([group for group in row.groups if set(group) & set(both)]):
            apart[code] = other_row.groups
        before, after = _among(row, both), _among(other_row, both)
        ranks, new = before.ranks().tolist(), after.ranks().tolist()
        low, high = before.rank_interval(LEVEL).tolist()
        language_moves = [
            RankChange(code, *entry) for entry in zip(both, ranks, new, low, high, strict=True) if entry[1] != entry[2]
        ]
        moves += sorted(language_moves, key=lambda move: (-abs(move.after - move.before), move.before, move.system))
    return RankComparison(tuple(moves), missing, apart)


def _among(row: LanguageRanking, systems: Sequence[str]) -> LanguageRanking:
    """A ranking with some of its systems alone: enough of one to read ranks off."""
    indices = [row.systems.index(system) for system in systems]
    return replace(
        row,
        systems=tuple(systems),
        theta=row.theta[indices],
        draws=row.draws[:, indices],
        queries_by_system=row.queries_by_system[indices],
    )
