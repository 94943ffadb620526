"""What a ranking would be otherwise: other judges, other verdicts, equal style; and which ranks that moves.

    said = {judge: verdicts(judgments, judge=judge) for judge in judges}
    usual, other = recompute(said, Choice()), recompute(said, Choice(consistent=True))
    compare(usual.ranking, other.ranking).moves

Everything starts from the coded verdicts (`verdicts.py`), which are read once: counting them, adding judges up and
rating takes milliseconds a language. Each language is counted and rated by itself (`count`), so that whoever keeps what
was counted pays for the joint row alone (`rated`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.makers import BY_NAME, Makers
from mirage.rank.battles import Battles, pooled
from mirage.rank.bootstrap import DRAWS, LEVEL, SEED, LanguageRanking, Ranking, rate, together
from mirage.rank.control import Controlled, Covariates, control
from mirage.rank.verdicts import Verdicts
from mirage.schema import Ties

if TYPE_CHECKING:
    import pyarrow as pa

POOLED = "pooled"
"""Referee whose battles are those of several judges together."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What counts in a ranking by judges; by default everything, as it is."""

    ties: Ties = "half"
    """How ties count."""
    without: str | None = None
    """Maker whose judges are left out; None for no one's."""
    own: bool = True
    """Whether a judge's verdicts on systems of its own maker count."""
    consistent: bool = False
    """Whether only battles count whose two orders were judged and agree."""
    control: tuple[str, ...] = ()
    """Covariates that are held equal (`control.COVARIATES`)."""
    makers: Makers = BY_NAME
    """Who made which judge and system."""


@dataclass(frozen=True, eq=False)
class Counted:
    """What a choice leaves of the verdicts of one judge or several in one language."""

    language: str
    """Code."""
    battles: Battles | None
    """The battles that count; None where none is left."""
    said: Mapping[str, int]
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
class Recomputed:
    """A ranking by one judge or several, and what was counted for it."""

    ranking: Ranking
    """The ranking; its referee is the one judge, or `pooled`."""
    choice: Choice
    """What was asked for."""
    said: Mapping[str, int]
    """By judge, the readable verdicts that count: a judge that gave twice as many has twice the say."""
    left_out: Mapping[str, int]
    """Verdicts left out, by the reason in words."""
    voted: int
    """Verdicts that people's votes stand in for."""
    lacking: Mapping[str, str]
    """Languages in which nothing is left to rate, with the reason."""
    controlled: Controlled | None
    """The style control, with its coefficients; None without one."""

    @property
    def method(self) -> str:
        """How the numbers came about, in a line."""
        return self.controlled.method if self.controlled else self.ranking.method


def recompute(
    said: Mapping[str, Mapping[str, Verdicts]],
    choice: Choice,
    *,
    languages: Sequence[str] | None = None,
    style: Mapping[str, Covariates] | None = None,
    votes: pa.Table | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Recomputed:
    """Rate the systems by what a choice leaves of the verdicts of some judges.

    Votes come first and stay; then what a judge said of its own maker's systems goes, then what its two orders do not
    agree on. What is left of several judges is counted together (`battles.pooled`).

    Args:
        said: verdicts by judge and language.
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
        languages = [code for judge in _judges(tuple(said), choice) for code in said[judge]]
    parts = [count(said, choice, code, votes=votes, draws=draws, seed=seed) for code in sorted(set(languages))]
    return rated(parts, choice, style=style)


def count(
    said: Mapping[str, Mapping[str, Verdicts]],
    choice: Choice,
    code: str,
    *,
    votes: pa.Table | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Counted:
    """Count what a choice leaves of the verdicts in one language; the arguments are those of `recompute`.

    Raises:
        UnknownName: if no judge is of the maker that is to be left out, or no judge judged the language.
        NotEnoughData: if every judge is of that maker.
    """
    judges = _judges(tuple(said), choice)
    mine = {judge: said[judge][code] for judge in judges if code in said[judge]}
    if not mine:
        codes = sorted({code for judge in judges for code in said[judge]})
        raise UnknownName("language", code, codes, where=f"battles by {', '.join(judges)}")
    parts: list[Battles] = []
    counted, left_out, voted = dict.fromkeys(judges, 0), dict[str, int](), 0
    for judge, verdicts in mine.items():
        one = _counting(verdicts, choice, code, votes)
        for why, n in one.left_out.items():
            left_out[why] = left_out.get(why, 0) + n
        part = one.battles()
        counted[judge] += int(part.wins.sum(dtype=np.int64) + part.ties.sum(dtype=np.int64) // 2)
        voted += int(one.voted.sum())
        parts.append(part)
    whole = pooled(parts, referee=judges[0] if len(said) == 1 else POOLED)
    any_left = whole.wins.any() or (choice.ties != "drop" and whole.ties.any())
    return Counted(code, whole if any_left else None, counted, left_out, voted, choice.ties, draws, seed)


def rated(parts: Sequence[Counted], choice: Choice, *, style: Mapping[str, Covariates] | None = None) -> Recomputed:
    """Rate the systems by what was counted in some languages.

    Args:
        parts: what the choice leaves, by language, counted with the same draws and seed.
        choice: what was counted.
        style: as in `recompute`.

    Raises:
        NotEnoughData: if no battle is left.
        BadInput: as in `recompute`.
    """
    said, left_out, lacking = dict[str, int](), dict[str, int](), dict[str, str]()
    for one in parts:
        for mine, total in ((one.said, said), (one.left_out, left_out)):
            for name, n in mine.items():
                total[name] = total.get(name, 0) + n
        if one.battles is None:
            lacking[one.language] = "no battle is left"
    there = [one for one in parts if one.battles is not None]
    if not there:
        raise NotEnoughData(
            "no battle is left to rate: " + "; ".join(f"{n:,} left out, {why}" for why, n in left_out.items()),
            do="leave fewer verdicts out" + (", or judge both orders of each pair" if choice.consistent else ""),
        )
    controlled = None
    if not choice.control:
        ranking = together([one.ranking for one in there])
    else:
        if style is None or any(set(one.names) != set(choice.control) for one in style.values()):
            raise BadInput("the covariates that are held equal are not given", do="read them with covariates()")
        ties = cast(Literal["half", "drop"], choice.ties)
        battles = {one.language: one.battles for one in there if one.battles is not None and one.language in style}
        lacking |= {
            one.language: f"no {' or '.join(choice.control)} of its answers is known"
            for one in there
            if one.language not in style
        }
        controlled = control(battles, style, ties=ties, draws=there[0].draws, seed=there[0].seed)
        ranking = controlled.ranking
    return Recomputed(ranking, choice, said, left_out, sum(one.voted for one in parts), lacking, controlled)


def _judges(judges: tuple[str, ...], choice: Choice) -> tuple[str, ...]:
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


def _counting(one: Verdicts, choice: Choice, code: str, votes: pa.Table | None) -> Verdicts:
    """The verdicts of one judge in one language that count."""
    import pyarrow.compute as pc

    if votes is not None:
        one = one.override(votes.filter(pc.equal(votes["language"], code)))
    if not choice.own:
        one = one.without_own(choice.makers)
    return one.consistent() if choice.consistent else one


@dataclass(frozen=True, slots=True)
class Move:
    """A system that stands elsewhere."""

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
class Comparison:
    """What differs between two rankings."""

    moves: tuple[Move, ...]
    """Ranks that moved, the largest move of each language first."""
    gone: Mapping[str, tuple[str, ...]]
    """By language, the systems that the other ranking does not have."""
    apart: Mapping[str, tuple[tuple[str, ...], ...]]
    """By language whose comparison graph is in more parts in the other ranking: these parts, the largest first."""

    def of(self, language: str) -> tuple[Move, ...]:
        """The moves in one language."""
        return tuple(move for move in self.moves if move.language == language)


def compare(base: Ranking, other: Ranking) -> Comparison:
    """Which ranks move from one ranking to another, in the languages that both have."""
    moves: list[Move] = []
    gone, apart = {}, {}
    for code, one in base.languages.items():
        if code not in other.languages:
            continue
        two = other.languages[code]
        both = [system for system in one.systems if system in two.systems]
        lost = tuple(system for system in one.systems if system not in two.systems)
        if lost:
            gone[code] = lost
        if len(two.groups) > len([group for group in one.groups if set(group) & set(both)]):
            apart[code] = two.groups
        before, after = _among(one, both), _among(two, both)
        ranks, new = before.ranks().tolist(), after.ranks().tolist()
        low, high = before.rank_interval(LEVEL).tolist()
        here = [Move(code, *row) for row in zip(both, ranks, new, low, high, strict=True) if row[1] != row[2]]
        moves += sorted(here, key=lambda move: (-abs(move.after - move.before), move.before, move.system))
    return Comparison(tuple(moves), gone, apart)


def _among(one: LanguageRanking, systems: Sequence[str]) -> LanguageRanking:
    """A ranking with some of its systems alone: enough of one to read ranks off."""
    at = [one.systems.index(system) for system in systems]
    return replace(
        one,
        systems=tuple(systems),
        theta=one.theta[at],
        draws=one.draws[:, at],
        questions=one.questions[at],
    )
