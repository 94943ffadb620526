"""Ratings with uncertainty: posterior bootstrap over queries, intervals of ratings and ranks, joint row of languages.

**The draws** are a posterior bootstrap (Fong, Lyddon and Holmes 2019, "Scalable nonparametric sampling from multimodal
posteriors with the posterior bootstrap"): every query gets an exponential weight (the Bayesian bootstrap of Rubin,
Annals of Statistics 9(1), 1981), the pseudo-points of Jeffreys' prior (`jeffreys.py`) get gamma weights, and the
weighted likelihood is maximised. With independent battles of two systems a draw is a sample from the posterior under
Jeffreys' prior; its intervals have good coverage even if one side rarely wins (Brown, Cai and DasGupta, Statistical
Science 16(2), 2001). With many battles per query it is the bootstrap with the query as the unit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from mirage import schema
from mirage.battles.blocks import BlockedBattles
from mirage.battles.counts import RELEVANCE, Battles, Unranked, remedy, unranked_lines
from mirage.battles.failures import FailureCounts
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.by_query import ByQuery, Layout, by_query
from mirage.ranking.compare.paired import PairedEstimate, estimate_difference, pair_differences
from mirage.ranking.fit import RIDGE, Counts
from mirage.ranking.graph import apart_lines, groups, unbounded_sides
from mirage.ranking.pair_tests import BoardTests, separate_draws, separate_row, separate_two
from mirage.ranking.people import draw_joint_people, draw_people
from mirage.ranking.records import (
    JOINT,
    LEVEL,
    Difference,
    LanguageRanking,
    UnseenQuery,
    mean_over_languages,
    open_sides,
)
from mirage.ranking.resample import PARTS, Resampling, generator
from mirage.ranking.settings import DRAWS, SEED, RankSettings
from mirage.ranking.threads import one_thread
from mirage.schema import Best, Penalty, Skill, Ties
from mirage.stats.arrays import Array, Flags
from mirage.stats.encoding import place_names
from mirage.stats.intervals import agree_with_test, need_draws
from mirage.stats.units import Unit, Units, name_unit
from mirage.text.languages import refuse_name_of_all

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "JOINT",
    "LEVEL",
    "Difference",
    "LanguageRanking",
    "RankingReport",
    "rank_battles",
    "rate",
]

L = TypeVar("L", bound=Layout)
T = TypeVar("T")

SHOWN = 20
"""Languages printed by `repr`."""

_SPARSE = 0.05
"""Share of pairs that battle on a query below which sparse products are used."""

DRAWN = 200
"""Maximum number of systems in a language for the bootstrap; with more, draws are normal with the covariance clustered
by query, since maximising the likelihood for each draw would take a minute.
"""
NORMAL, ENOUGH = 60, 50
"""Number of systems above which draws are also normal if every system won and lost this many battles. In simulations of
5 to 60 queries such intervals then cover 94 to 96%; those of a system with 14 wins 90%, with two wins 53%.
"""


@dataclass(frozen=True, eq=False, repr=False)
class RankingReport:
    """Ratings of systems by language and for all languages together, with the method, seed and number of draws."""

    judge: str
    """Name of the judge that decided the battles."""
    skill: schema.Skill
    """Skill whose queries count."""
    ties: Ties
    """Treatment of ties."""
    n_draws: int
    """Bootstrap draws."""
    seed: int
    """Seed of the draws."""
    penalty: Penalty
    """Factor of the likelihood."""
    ridge: float
    """Weight of the ridge penalty, which determines the ratings of groups of systems that never met."""
    languages: Mapping[str, LanguageRanking]
    """By language code, and `all` where there is more than one language."""
    left_out: tuple[str, ...]
    """Systems without battles in some language, therefore not in the row over all languages."""
    battles: Mapping[str, Battles] = field(default_factory=dict)
    """The rated battles by language code; empty with style control, where battles alone do not determine the ratings:
    the tests are then of fitted differences.
    """
    intervals: tuple[Literal["draws", "sandwich"], ...] = ("draws",)
    """Kind of draws: posterior bootstrap, or normal with the covariance clustered by query (`blocks.py`); both where
    languages differ.
    """
    tested: Mapping[str, BoardTests] = field(default_factory=dict)
    """By language: the tests that were computed with the ranking."""
    unit: Unit = "query"
    """The sampling unit: `query shared by languages` where a query id occurs in several languages."""
    unranked: Unranked = field(default_factory=dict)
    """By language, the systems without evidence for a rating, each with the reason."""
    failed: FailureCounts = field(default_factory=dict)
    """The answers that failed, and those without a row."""
    layouts: Mapping[str, ByQuery] = field(default_factory=dict, compare=False)
    """The battles arranged by query, by language code, if cached from `rate` (`by_query`)."""

    def __repr__(self) -> str:
        rows = "\n".join(f"  {row!r}" for row in [*self.languages.values()][:SHOWN])
        more = f"\n  ... {len(self.languages) - SHOWN} more" if len(self.languages) > SHOWN else ""
        return f"Ranking by {self.judge}: {self.method}\n{rows}{more}"

    @property
    def by_query(self) -> Mapping[str, ByQuery]:
        """The battles arranged by query, by language code, computed on first use for tests and analytic intervals.

        Raises:
            NotEnoughData: if the ranking does not hold its battles.
        """
        if not self.battles:
            raise NotEnoughData("the ranking does not hold its battles", do="make it with rate()")
        return self.layouts or {
            code: by_query(battles, self.ties, self.penalty, self.ridge)
            for code, battles in sorted(self.battles.items())
        }

    @cached_property
    def tests(self) -> Mapping[str, BoardTests]:
        """The test of every two systems at the family-wise 5% level, by language and `all`."""
        if not self.battles:
            return {code: self.tested.get(code) or separate_draws(row) for code, row in self.languages.items()}
        tests = dict(self.tested)
        for code, row in self.languages.items():
            if code in tests:
                continue
            if (two := self.compare_two(code)) is not None:
                tests[code] = separate_two(row, two.value, two.p, two.differing)
            elif row.voters is not None:
                tests[code] = separate_draws(row)
        untested = [code for code in self.languages if code not in tests]
        layouts = self.by_query if untested else {}
        with one_thread():
            for code in untested:
                parts = layouts if code == JOINT else {code: layouts[code]}
                units = units_of({part: self.battles[part] for part in parts})
                tests[code] = separate_row(self.languages[code], parts, units)
        return tests

    def compare_two(self, language: str) -> PairedEstimate | None:
        """Return the difference of the points of the only two systems of a row, as in their comparison; None for
        other rows, and without battles.
        """
        codes = [code for code in self.languages if code != JOINT] if language == JOINT else [language]
        parts = {code: self.battles[code] for code in codes if code in self.battles}
        systems = self.languages[language].systems
        met = pair_differences(parts, *systems) if len(systems) == 2 else {}
        return estimate_difference(met, reach=1.0) if codes and met.keys() == set(codes) else None

    def differences(self, reference: str, language: str, *, system: str | None = None) -> Array:
        """Return every system's rating minus that of a reference, and the ends of its interval (3 x S); infinite if
        unbounded. If draws and test disagree about 0, the test decides (`agree_with_test`); if the two are tied on the
        board, the interval reaches 0.

        Args:
            reference: the system that the others are compared with.
            language: code, or `all`.
            system: the only system to compare (3 x 1); None for all.

        Raises:
            UnknownName: if a system is not ranked in the language.
        """
        row, tests = self.languages[language], self.tests[language]
        value, low, high = row.differences(reference, system=system)
        names = row.systems if system is None else (system,)
        pairs = [tests.systems.index(name) for name in names], tests.systems.index(reference)
        return np.stack([value, *_agree(value, low, high, tests.z[pairs], tests.adjusted[pairs] > tests.level)])

    def difference(self, first: str, second: str, *, language: str | None = None) -> Difference:
        """Return the difference between the ratings of two systems, with its interval.

        Args:
            first: the system to compare.
            second: the reference system.
            language: code, or `all`; None for the last row, which is `all` with several languages.

        Raises:
            UnknownName: if a system or the language is not ranked here.
        """
        code = list(self.languages)[-1] if language is None else language
        if code not in self.languages:
            raise UnknownName("language", code, self.languages)
        row = self.languages[code]
        if first not in row.systems:
            raise UnknownName("system", first, row.systems, where=f"the ranking of {code}")
        value, *ends = self.differences(second, code, system=first)[:, 0].tolist()
        low, high = (end if np.isfinite(end) else None for end in ends)
        return Difference(first, second, code, value, low, high, row.n_queries, self.n_draws, self.seed)

    def narrow(self, languages: Collection[str]) -> RankingReport:
        """Return the ranking of some of its languages; only the row over all of them is recomputed.

        Raises:
            NotEnoughData: if it does not hold its battles, or ranks none of the languages.
        """
        if not self.battles:
            raise NotEnoughData("the ranking does not hold its battles", do="make it with rate()")
        rows = _select(self.languages, languages)
        if not rows:
            raise NotEnoughData("no chosen language is ranked", do="choose other languages")
        battles, _ = _with_evidence(_select(self.battles, languages), {})
        part = replace(
            self,
            languages=rows,
            battles=battles,
            tested=_select(self.tests, languages),
            unranked=_select(self.unranked, languages),
            layouts=_select(self.layouts, languages),
        )
        return _add_joint_row(part, battles)

    @property
    def apart(self) -> list[str]:
        """A line for each language with groups of systems that no battle joins."""
        met = {code: row.wins.any(axis=0) | row.ties.any(axis=0) for code, row in self.battles.items()}
        return apart_lines({code: (row.systems, np.asarray(met[code])) for code, row in self.battles.items()})

    @property
    def weighs_kinds(self) -> bool:
        """True if the ratings weight unanswerable and answerable queries equally, whatever their numbers of battles."""
        return self.judge == RELEVANCE and self.skill == "both"

    @property
    def method(self) -> str:
        """The method in one line."""
        ties = {"half": "ties half a win each", "davidson": "ties by Davidson's model", "drop": "ties dropped"}
        penalty = {"jeffreys": "Jeffreys' prior (bias-reduced)", "none": "maximum likelihood"}
        kinds = {"draws": "draws", "sandwich": "normal draws by the sandwich"}
        drawn = " or ".join(kinds[way] for way in self.intervals)
        weights = ", unanswerable and answerable queries weighing equally" if self.weighs_kinds else ""
        return (
            f"Bradley-Terry, {penalty[self.penalty]}, {ties[self.ties]}{weights}; {LEVEL:.0%} percentile intervals "
            f"over {self.n_draws:,} {drawn} with the {name_unit(self.unit)} as the unit, seed {self.seed}"
        )

    def rows_of(self, language: str | None) -> tuple[LanguageRanking, ...]:
        """Return the row of a language or of `all`; every row if None."""
        return tuple(self.languages.values()) if language is None else (self.languages[language],)

    def table(self, language: str | None = None) -> pa.Table:
        """Return the ranking as table `ratings`, one row per language and system; of one language if given."""
        import pyarrow as pa

        parts = []
        for row in self.rows_of(language):
            low, high = row.interval()
            tests = self.tests[row.language]
            if len(row.systems) == 2:  # each rating is half of the difference
                low, high = _agree(row.theta, low, high, tests.z[0, 1:], tests.adjusted[0, 1:] > tests.level)
            top = int(row.theta.argmax())
            ahead = not tests.tied_with(str(row.systems[top]))
            if ahead and low[top] <= 0:  # ahead of all others is ahead of their mean, by the mean of the leads at least
                low[top] = -self.differences(row.systems[top], row.language)[2].mean()
            rank_low, rank_high = tests.rank_ranges[:, [tests.systems.index(system) for system in row.systems]]
            tied: Best = "best" if ahead else "tied"
            bounded = set(row.bounded)
            n = len(row.systems)
            columns = {
                "language": [row.language] * n,
                "judge": [self.judge] * n,
                "skill": [self.skill] * n,
                "system": row.systems,
                "rating": row.theta,
                "low": [end if np.isfinite(end) else None for end in low.tolist()],
                "high": [end if np.isfinite(end) else None for end in high.tolist()],
                "rank": row.ranks(),
                "rank_low": rank_low,
                "rank_high": rank_high,
                "best": [tied if low == 1 else None for low in rank_low.tolist()],
                **dict(zip(("wins", "ties", "losses"), row.record.T, strict=True)),
                "battles": row.record.sum(axis=1),
                "bounded": [system in bounded for system in row.systems],
            }
            parts.append(schema.from_columns("ratings", columns))
        return pa.concat_tables(parts)


def _agree(value: Array, low: Array, high: Array, z: Array, together: Flags) -> tuple[Array, Array]:
    """Return intervals of differences that agree with the board about 0 (`agree_with_test`): those of two systems that
    are tied on the board reach 0.
    """
    low, high = agree_with_test(value, low, high, z)
    return np.where(together, np.minimum(low, 0), low), np.where(together, np.maximum(high, 0), high)


def need_one_judge(battles: Mapping[str, Battles]) -> tuple[str, Skill]:
    """Return the judge and the skill of the battles of some languages.

    Raises:
        BadInput: if there are several.
    """
    kinds = {(of.judge, of.skill) for of in battles.values()}
    if len(kinds) > 1:
        raise BadInput(f"these battles come from several judges: {sorted(kinds)}", do="rate one judge at a time")
    return kinds.pop()


def rate(
    battles: Mapping[str, Battles],
    *,
    languages: Collection[str] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
    ties: Ties = "half",
    penalty: Penalty = "jeffreys",
    ridge: float = RIDGE,
    unranked: Unranked | None = None,
) -> RankingReport:
    """Rate the systems of each language, and over these languages jointly; systems without a battle are not rated.

    A draw weights the queries at random within each stratum. The joint rating is the mean of the languages' ratings, so
    every language has equal weight; draw b of the joint row is the mean of the languages' draws b. A query id that
    occurs in several languages is one unit, with the same weight in all of them in a draw. Shared ids are those of all
    `battles`, so a language's draws do not depend on `languages`.

    Args:
        battles: battles by language, of one judge and skill.
        languages: codes to rate; those without battles are left out. None for all.
        draws: bootstrap draws; more make the intervals more stable, not narrower.
        seed: seed of the draws; the same seed gives the same numbers, to 1e-9 of a logit on any processor.
        ties: treatment of ties.
        penalty: `jeffreys`, or `none` for maximum likelihood.
        ridge: weight of the ridge penalty, which determines the ratings of groups of systems that never met.
        unranked: by language, the systems that the judge cannot rank, each with the reason (`Judge.find_unranked`).

    Raises:
        NotEnoughData: if no language has a battle, or one has none once ties are dropped.
        BadInput: if the battles are not of one judge and skill, or an option is out of range.
    """
    battles, without = _with_evidence(battles, unranked or {})
    shared = units_of(battles).shared
    if languages is not None:
        battles, without = _select(battles, languages), _select(without, languages)
    if not battles:
        lines = "; ".join(unranked_lines(without))
        do = remedy(without) if without else "choose at least one language with battles"
        raise NotEnoughData("there are no battles to rate", where=lines, do=do)
    need_draws(draws)
    refuse_name_of_all(battles.keys())
    if ties not in ("half", "davidson", "drop"):
        raise BadInput(f"ties cannot be {ties!r}", do="use half, davidson or drop")
    judge, skill = need_one_judge(battles)
    with one_thread():
        layouts = {
            code: by_query(language_battles, ties, penalty, ridge) for code, language_battles in sorted(battles.items())
        }

    def draw(code: str, layout: ByQuery) -> Array:
        drawn = _draw_ratings(code, layout, Resampling(battles[code].queries, layout.strata, shared, draws, seed))
        return drawn + draw_people(layout, battles[code].ballots, generator(f"{code} people", seed), draws)

    ranking = RankingReport(judge, skill, ties, draws, seed, penalty, ridge, {}, (), battles, unranked=without)
    normally = sorted({_draws_normally(layout) for layout in layouts.values()})
    ranking = replace(
        ranking, layouts=layouts, intervals=tuple("sandwich" if normal else "draws" for normal in normally)
    )
    return rate_layouts(ranking, layouts, battles, draw)


def _with_evidence(
    battles: Mapping[str, Battles], unranked: Unranked
) -> tuple[dict[str, Battles], dict[str, dict[str, str]]]:
    """Return the battles of the systems that have any, and by language the other systems with the reasons."""
    rated, without = {}, {code: dict(systems) for code, systems in unranked.items()}
    for code, of_language in battles.items():
        met = list(np.atleast_1d(of_language.participation().any(axis=0)))
        fighting = [system for system, fights in zip(of_language.systems, met, strict=True) if fights]
        if fighting:
            rated[code] = of_language if all(met) else of_language.subset(fighting)
        if not all(met):
            idle = set(of_language.systems) - set(fighting)
            without.setdefault(code, {}).update(dict.fromkeys(sorted(idle), "no battle with a readable verdict"))
    return rated, without


def _select(of_languages: Mapping[str, T], languages: Collection[str]) -> dict[str, T]:
    return {code: value for code, value in of_languages.items() if code in languages}


def rank_battles(
    battles: Mapping[str, Battles],
    settings: RankSettings = RankSettings(),
    *,
    unranked: Unranked | None = None,
) -> RankingReport:
    """Rate the systems by all of their battles, with the languages, ties, estimate and draws of the settings.

    Args:
        battles: battles by language, of one judge and skill: those of all languages, whose queries are the units.
        settings: the settings.
        unranked: by language, the systems that the judge cannot rank, each with the reason.

    Raises:
        NotEnoughData: if there is no battle to rate.
        BadInput: if the settings select verdicts (`board.rank_verdicts`), or the battles are of several judges.
    """
    if settings.selects_verdicts:
        raise BadInput("this ranking counts every verdict", do="omit the settings that select verdicts")
    return rate(
        battles,
        languages=settings.languages,
        draws=settings.draws,
        seed=settings.seed,
        ties=settings.ties,
        penalty=settings.penalty,
        unranked=unranked,
    )


def _add_joint_row(ranking: RankingReport, rated: Mapping[str, Battles]) -> RankingReport:
    """Return a ranking with its row over all languages, if there are several."""
    languages = dict(ranking.languages)
    units = units_of(rated)
    systems = set.union(*(set(row.systems) for row in languages.values()))
    left_out = tuple(
        sorted(system for system in systems if not all(system in row.systems for row in languages.values()))
    )
    if len(languages) > 1 and len(systems) - len(left_out) > 1:
        chosen = [system for system in sorted(systems) if system not in left_out]
        row = _joint_row(languages, chosen, units, rated)
        if row.voters is not None:
            rng = generator(f"{JOINT} people", ranking.seed)
            more = draw_joint_people(ranking.by_query, rated, chosen, units, rng, ranking.n_draws)
            row = replace(row, draws=row.draws + more)
        languages[JOINT] = row
    return replace(ranking, languages=languages, left_out=left_out, unit=units.unit)


def _joint_row(
    languages: Mapping[str, LanguageRanking], systems: Sequence[str], units: Units, battles: Mapping[str, Battles]
) -> LanguageRanking:
    """Average over languages, for the systems that all languages have, recentred on these.

    Args:
        languages: the rows of several languages.
        systems: the systems in all languages, sorted by name.
        units: the units of the languages' queries.
        battles: the rated battles; empty if unavailable, when no query id may be shared.
    """
    parts = [row.among(systems) for row in languages.values()]
    theta, draws = mean_over_languages([part.theta for part in parts], [part.draws for part in parts])
    loose = open_sides([part.unbounded for part in parts])
    bounded = tuple(s for s in systems if s not in loose)
    n_queries = sum(part.n_queries for part in parts)
    queries_by_system = np.sum([part.queries_by_system for part in parts], axis=0)
    if units.shared:
        n_queries = units.n
        met = np.zeros((n_queries, len(systems)), dtype=bool)
        for code, of_language in battles.items():
            met[units.numbers[code]] |= of_language.participation()[:, place_names(systems, of_language.systems)]
        queries_by_system = met.sum(axis=0)
    return LanguageRanking(
        JOINT,
        tuple(systems),
        theta - theta.mean(),
        draws - draws.mean(axis=1, keepdims=True),
        np.sum([part.record for part in parts], axis=0),
        tuple(group for group in (bounded, *((s,) for s in loose)) if group),
        n_queries,
        queries_by_system,
        sum(part.unparsed for part in parts),
        loose,
        _join_unseen([part.unseen for part in parts], units),
        min((part.voters for part in parts if part.voters is not None), default=None),
    )


def _join_unseen(unseen: Sequence[UnseenQuery | None], units: Units) -> UnseenQuery | None:
    """Return the unseen query of the row over all languages: that of the language in which it changes most; None if a
    language has none.
    """
    parts = [part for part in unseen if part is not None]
    if len(parts) < len(unseen):
        return None
    # Of queries that languages share, the same may differ in each.
    add = np.max if units.shared else np.sum
    return UnseenQuery(
        np.min([part.worst for part in parts], axis=0) / len(parts),
        np.max([part.best for part in parts], axis=0) / len(parts),
        np.min([part.pairs for part in parts], axis=0) / len(parts),
        add([part.decided for part in parts], axis=0),
        add([part.differing for part in parts], axis=0),
    )


def units_of(battles: Mapping[str, Battles]) -> Units:
    """Return the sampling units of the queries with battles, by language code."""
    return Units({code: language_battles.queries for code, language_battles in battles.items()})


def rate_layouts(
    ranking: RankingReport,
    layouts: Mapping[str, L],
    battles: Mapping[str, Battles] | Mapping[str, BlockedBattles],
    draw: Callable[[str, L], Array],
    rated: Mapping[str, Battles] | None = None,
) -> RankingReport:
    """Return a ranking with the rows of its languages, and of all of them together.

    Args:
        ranking: the ranking without rows.
        layouts: by language, its battles as one data set, with the fit to it.
        battles: the same battles, with the record of each system.
        draw: returns the ratings of each draw of a language (B x S); called if there is a battle to rate.
        rated: the battles, if the ranking does not hold them.

    Raises:
        NotEnoughData: if a language has none.
    """
    rows = {}
    for code, layout in layouts.items():
        of_language, counted = battles[code], layout.counted
        record = of_language.record()
        if not any(column is not None and column.any() for column in (counted.first, counted.second, counted.ties)):
            raise NotEnoughData(
                f"no battle to rate in {code}" + (" once ties are dropped" if record.any() else ""),
                do="choose other languages, or count ties",
            )
        with one_thread():
            drawn = draw(code, layout)
        parted = groups(layout.systems, counted)
        rows[code] = LanguageRanking(
            code,
            layout.systems,
            layout.theta,
            drawn,
            record,
            parted,
            of_language.n_queries,
            layout.queries_by_system,
            of_language.unparsed,
            unbounded_sides(layout.systems, parted, counted),
            layout.unseen,
            ballots.n_voters if (ballots := of_language.ballots) and ballots.clustered else None,
        )
    return _add_joint_row(replace(ranking, languages=rows), ranking.battles if rated is None else rated)


def _draw_ratings(code: str, layout: ByQuery, resampling: Resampling) -> Array:
    """Return the ratings of each draw of query weights (B x S), or with many systems normal draws."""
    from scipy.sparse import csr_array

    rng = generator(code, resampling.seed)
    if _draws_normally(layout):
        return layout.theta + resampling.normal(rng) @ layout.moves
    weights, each = resampling.exponential(rng), layout.each
    columns: list[Counts | csr_array] = [
        # Where few pairs battle on a query, sparse products are faster.
        csr_array(column.T) if np.count_nonzero(column) <= _SPARSE * column.size else column.T
        for column in (each.first, each.second, each.ties)
        if column is not None
    ]

    def sums(part: slice) -> list[Array]:
        rows = (weights(some).T for some in np.array_split(np.arange(resampling.draws)[part], PARTS))
        by_column = zip(*([(column @ row).T for column in columns] for row in rows), strict=True)
        return [np.vstack(parts) for parts in by_column]

    return layout.fit_draws(sums, rng, resampling.draws)


def _draws_normally(layout: ByQuery) -> bool:
    """Return whether draws of a language are normal."""
    n = len(layout.systems)
    return n > DRAWN or (n > NORMAL and min(float(side.min()) for side in layout.likelihood.points()) >= ENOUGH)
