"""Rankings under other settings: other judges, a subset of the verdicts, equal style; and the ranks that change.

    from mirage.battles.verdict_rows import verdicts

    by_judge = {judge: verdicts(judgments, judge=judge) for judge in judges}
    usual, other = recompute(by_judge, RankSettings()), recompute(by_judge, RankSettings(consistent=True))
    compare(usual.ranking, other.ranking).moves

Everything starts from the coded verdicts (`battles.verdict_rows`), which are read once: counting, pooling judges and
rating then take milliseconds per language. Each language is counted and rated separately (`count_verdicts`), so a
caller that caches these results only computes the joint row (`rate_counted`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from mirage.battles.counts import Battles, pool_battles
from mirage.battles.judge import POOLED
from mirage.battles.verdict_rows import Verdicts
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.bootstrap import RankingReport, join_rankings, rate
from mirage.ranking.control import Covariates, StyleControl, control_style
from mirage.ranking.pair_tests import rank_ranges
from mirage.ranking.records import rank_draws
from mirage.ranking.settings import RankSettings

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class CountedVerdicts:
    """The verdicts of one language that the settings select, counted."""

    language: str
    """Code."""
    battles: Battles | None
    """The battles that count; None if there are none."""
    n_verdicts: Mapping[str, int]
    """Number of parsed verdicts that count, by judge."""
    left_out: Mapping[str, int]
    """Number of excluded verdicts, by reason."""
    voted: int
    """Number of verdicts replaced by people's votes."""
    settings: RankSettings
    """Settings they were counted with."""

    @cached_property
    def ranking(self) -> RankingReport:
        """The ranking of these battles.

        Raises:
            NotEnoughData: if there are none.
        """
        battles = {} if self.battles is None else {self.language: self.battles}
        settings = self.settings
        return rate(battles, draws=settings.draws, seed=settings.seed, ties=settings.ties)


@dataclass(frozen=True, eq=False)
class WhatIfResult:
    """A ranking by one judge or several, with the counts of included and excluded verdicts."""

    ranking: RankingReport
    """The ranking; its judge is the one judge, or `pooled`."""
    settings: RankSettings
    """Settings of the ranking."""
    n_verdicts: Mapping[str, int]
    """Number of parsed verdicts that count, by judge; each verdict has equal weight."""
    left_out: Mapping[str, int]
    """Number of excluded verdicts, by reason."""
    voted: int
    """Number of verdicts replaced by people's votes."""
    lacking: Mapping[str, str]
    """Languages without anything left to rate, with the reason."""
    controlled: StyleControl | None
    """The style control, with its coefficients; None without one."""

    @property
    def method(self) -> str:
        """The method in one line."""
        return self.controlled.method if self.controlled else self.ranking.method


def recompute(
    verdicts_by_judge: Mapping[str, Mapping[str, Verdicts]],
    settings: RankSettings,
    *,
    style: Mapping[str, Covariates] | None = None,
    votes: pa.Table | None = None,
) -> WhatIfResult:
    """Rank the systems by the verdicts that the settings select.

    The steps are in this order: votes replace verdicts and always count; verdicts on systems of the judge's own maker
    are excluded; battles whose two orders disagree are excluded; several judges are pooled (`battles.pool_battles`).

    Args:
        verdicts_by_judge: verdicts by judge and language.
        settings: the settings; the bias reduction is always by Jeffreys' prior.
        style: covariates by language, exactly those in `settings.control`.
        votes: people's verdicts (`Verdicts.override`), with a column `language`; they replace those of judges.

    Raises:
        UnknownName: if no judge is of the maker to exclude, or no judge judged a language.
        NotEnoughData: if no battle is left.
        BadInput: if covariates to hold equal are not given, or ties are modelled along with them.
    """
    languages: Sequence[str] | None = settings.languages
    if languages is None:
        languages = [code for judge in _judges(tuple(verdicts_by_judge), settings) for code in verdicts_by_judge[judge]]
    parts = [count_verdicts(verdicts_by_judge, settings, code, votes=votes) for code in sorted(set(languages))]
    return rate_counted(parts, settings, style=style)


def count_verdicts(
    verdicts_by_judge: Mapping[str, Mapping[str, Verdicts]],
    settings: RankSettings,
    code: str,
    *,
    votes: pa.Table | None = None,
) -> CountedVerdicts:
    """Count the verdicts that the settings select in one language; arguments as for `recompute`.

    Raises:
        UnknownName: if no judge is of the maker to exclude, or no judge judged the language.
        NotEnoughData: if every judge is of that maker.
    """
    judges = _judges(tuple(verdicts_by_judge), settings)
    by_judge = {judge: verdicts_by_judge[judge][code] for judge in judges if code in verdicts_by_judge[judge]}
    if not by_judge:
        codes = sorted({code for judge in judges for code in verdicts_by_judge[judge]})
        raise UnknownName("language", code, codes, where=f"battles by {', '.join(judges)}")
    parts: list[Battles] = []
    counted, left_out, voted = dict.fromkeys(judges, 0), dict[str, int](), 0
    for judge, verdicts in by_judge.items():
        selection = _select_verdicts(verdicts, settings, code, votes)
        for reason, n in selection.left_out.items():
            left_out[reason] = left_out.get(reason, 0) + n
        part = selection.battles()
        counted[judge] += int(part.wins.sum(dtype=np.int64) + part.ties.sum(dtype=np.int64) // 2)
        voted += int(selection.voted.sum())
        parts.append(part)
    whole = parts[0] if len(verdicts_by_judge) == 1 else pool_battles(parts, judge=POOLED)
    any_left = whole.wins.any() or (settings.ties != "drop" and whole.ties.any())
    return CountedVerdicts(code, whole if any_left else None, counted, left_out, voted, settings)


def rate_counted(
    parts: Sequence[CountedVerdicts], settings: RankSettings, *, style: Mapping[str, Covariates] | None = None
) -> WhatIfResult:
    """Rate the systems by the counted verdicts of some languages.

    Args:
        parts: counted verdicts by language.
        settings: the settings they were counted with.
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
            do="exclude fewer verdicts" + (", or judge both orders of each pair" if settings.consistent else ""),
        )
    controlled = None
    if not settings.control:
        ranking = join_rankings([part.ranking for part in nonempty])
    else:
        if style is None or any(set(covariates.names) != set(settings.control) for covariates in style.values()):
            raise BadInput("the covariates to hold equal are missing", do="read them with covariates()")
        ties = cast(Literal["half", "drop"], settings.ties)
        battles = {
            part.language: part.battles for part in nonempty if part.battles is not None and part.language in style
        }
        lacking |= {
            part.language: f"no {' or '.join(settings.control)} of its answers is known"
            for part in nonempty
            if part.language not in style
        }
        controlled = control_style(battles, style, ties=ties, draws=settings.draws, seed=settings.seed)
        ranking = controlled.ranking
    return WhatIfResult(ranking, settings, counts, left_out, sum(part.voted for part in parts), lacking, controlled)


def _judges(judges: tuple[str, ...], settings: RankSettings) -> tuple[str, ...]:
    """Return the judges that are not of the excluded maker."""
    without = settings.without
    if without is None:
        return judges
    makers = sorted({settings.makers.of(judge) for judge in judges})
    if without not in makers:
        raise UnknownName("maker of a judge", without, makers)
    left = tuple(judge for judge in judges if settings.makers.of(judge) != without)
    if not left:
        raise NotEnoughData(f"every judge is by {without}", do="add judges of other makers, or include this maker")
    return left


def _select_verdicts(verdicts: Verdicts, settings: RankSettings, code: str, votes: pa.Table | None) -> Verdicts:
    """Return the verdicts of one judge in one language that count."""
    import pyarrow.compute as pc

    if votes is not None:
        verdicts = verdicts.override(votes.filter(pc.equal(votes["language"], code)))
    if settings.exclude_own:
        verdicts = verdicts.without_own(settings.makers)
    return verdicts.consistent() if settings.consistent else verdicts


@dataclass(frozen=True, slots=True)
class RankChange:
    """A system whose rank differs between two rankings."""

    language: str
    """Code, or `all`."""
    system: str
    """The system."""
    before: int
    """Rank in the first ranking, among the systems that both have."""
    after: int
    """Rank in the other ranking."""
    low: int
    """Best end of the 95% interval of `before`."""
    high: int
    """Worst end."""

    @property
    def within(self) -> bool:
        """True if the new rank is inside the interval of the old one."""
        return self.low <= self.after <= self.high


@dataclass(frozen=True, slots=True)
class RankComparison:
    """The differences between two rankings."""

    moves: tuple[RankChange, ...]
    """Changed ranks, the largest change of each language first."""
    gone: Mapping[str, tuple[str, ...]]
    """By language, the systems missing from the other ranking."""
    apart: Mapping[str, tuple[tuple[str, ...], ...]]
    """By language whose comparison graph has more components in the other ranking: these components, the largest
    first.
    """

    def of(self, language: str) -> tuple[RankChange, ...]:
        """Return the changes in one language."""
        return tuple(move for move in self.moves if move.language == language)


def compare(base: RankingReport, other: RankingReport) -> RankComparison:
    """Return the ranks that change from one ranking to another, in the languages that both have."""
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
        ranks, new = (
            rank_draws(of.theta[None, [of.systems.index(system) for system in both]])[0].tolist()
            for of in (row, other_row)
        )
        tests = base.tests[code]
        place = [tests.systems.index(system) for system in both]
        low, high = rank_ranges(tests.better[np.ix_(place, place)]).tolist()
        language_moves = [
            RankChange(code, *entry) for entry in zip(both, ranks, new, low, high, strict=True) if entry[1] != entry[2]
        ]
        moves += sorted(language_moves, key=lambda move: (-abs(move.after - move.before), move.before, move.system))
    return RankComparison(tuple(moves), missing, apart)
