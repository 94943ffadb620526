"""Ratings with their uncertainty: draws over queries, percentile intervals of ratings and ranks, the joint row.

**The draws** are a posterior bootstrap (Fong, Lyddon and Holmes 2019, "Scalable nonparametric sampling from multimodal
posteriors with the posterior bootstrap"): every query gets an exponential weight (the Bayesian bootstrap of Rubin,
Annals of Statistics 9(1), 1981), the points of Jeffreys' prior (`jeffreys.py`) get gamma weights, and the likelihood of
what comes out is maximised. With independent battles of two systems a draw is one from the posterior under Jeffreys'
prior, whose intervals cover well also where one side hardly wins (Brown, Cai and DasGupta, Statistical Science 16(2),
2001); with many battles on a query it is the bootstrap with the query as the unit.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mirage import schema
from mirage.battles.counts import Battles
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.intervals import need_draws
from mirage.languages import refuse_name_of_all
from mirage.rank.by_query import ByQuery, by_query
from mirage.rank.fit import RIDGE, Array, Counts, Fit, PairCounts, Penalty, fit
from mirage.rank.graph import groups, unbounded
from mirage.rank.joint import joint_row
from mirage.rank.records import JOINT, LEVEL, Difference, LanguageRanking, widened
from mirage.rank.threads import one_thread
from mirage.schema import Ties
from mirage.units import Unit, Units, around, name_unit

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.rank.tiers import Tiers

__all__ = [
    "DRAWS",
    "JOINT",
    "LEVEL",
    "SEED",
    "Difference",
    "LanguageRanking",
    "Ranking",
    "join_rankings",
    "query_weights",
    "rate",
]

DRAWS, SEED = 1000, 0
"""Bootstrap draws and their seed unless told otherwise. With 1,000 an end of an interval moves from seed to seed by 4%
of the half-width, with 200 by 10%."""

SHOWN = 20
"""Languages that a ranking names as text."""

CLOSE = 1e-10
"""The ratings of a draw are found to some ten times this, in logits: whatever processor adds up, interval ends agree to
1e-9."""

_CELLS = 4_000_000
"""Draws x pairs held in memory at a time."""

_SPARSE = 0.05
"""Where a smaller share of pairs battles on a query, the others are not gone through."""

DRAWN = 200
"""With more systems than this in a language, a maximum for every draw would take a minute: draws are then normal, with
the covariance that clusters by query."""


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Ratings of systems by language and for all languages together, with the method, seed and number of draws."""

    referee: str
    """What decided the battles."""
    skill: schema.Skill
    """Which queries count."""
    ties: Ties
    """How ties were counted."""
    n_draws: int
    """Bootstrap draws."""
    seed: int
    """Seed of the draws."""
    penalty: Penalty
    """What the likelihood is multiplied by."""
    ridge: float
    """Weight of the penalty that holds parts in place which never met."""
    languages: Mapping[str, LanguageRanking]
    """By language code, and `all` where there is more than one language."""
    left_out: tuple[str, ...]
    """Systems without battles in some language, hence not in the joint row."""
    battles: Mapping[str, Battles] = field(default_factory=dict)
    """What was rated, by language code; empty where style is controlled for, so that battles alone do not tell: such
    a ranking has no tiers."""
    parts: tuple[Ranking, ...] = ()
    """The rankings that it was joined from (`join_rankings`): what these know of a language is not computed again."""
    intervals: tuple[Literal["draws", "sandwich"], ...] = ("draws",)
    """Where the draws come from: of the posterior bootstrap, or normal with the covariance that clusters by query
    (`streamed.py`); both where languages differ in that."""
    tested: Mapping[str, Tiers] = field(default_factory=dict)
    """By language: the tests of a ranking that does not hold its battles, where they were done with it."""
    unit: Unit = "query"
    """What is drawn together: `query shared by languages` where query ids stand in several languages."""
    layouts: Mapping[str, ByQuery] = field(default_factory=dict)
    """The battles laid out by query, by language code, where they were when they were rated (`by_query`)."""

    def __repr__(self) -> str:
        rows = "\n".join(f"  {row!r}" for row in [*self.languages.values()][:SHOWN])
        more = f"\n  ... {len(self.languages) - SHOWN} more" if len(self.languages) > SHOWN else ""
        return f"Ranking by {self.referee}: {self.method}\n{rows}{more}"

    @cached_property
    def by_query(self) -> Mapping[str, ByQuery]:
        """The battles laid out by query, by language code: what tests and analytic intervals start from.

        Raises:
            NotEnoughData: if the ranking does not hold its battles.
        """
        if not self.battles:
            raise NotEnoughData("the ranking does not hold its battles", do="make it with rate()")
        known = self.layouts or {code: layout for part in self.parts for code, layout in part.by_query.items()}
        ordered = sorted(self.battles.items())
        ties, penalty, ridge = self.ties, self.penalty, self.ridge
        return known or {code: by_query(battles, ties=ties, penalty=penalty, ridge=ridge) for code, battles in ordered}

    @cached_property
    def tiers(self) -> Mapping[str, Tiers]:
        """By language, and `all`: the tests between all systems at the 5% level, and their tiers; without battles, of
        the languages that were tested with the ranking.
        """
        from mirage.rank.tiers import separate

        if self.tested and not self.battles:
            return self.tested
        known = {code: tiers for part in self.parts for code, tiers in part.tiers.items()}
        return separate(self, known={**known, **self.tested})

    def difference(self, first: str, second: str, *, language: str | None = None) -> Difference:
        """By how much one system is rated above another.

        Args:
            first: the system that is compared.
            second: the system it is compared with.
            language: code, or `all`; None for the last row there is, which is `all` where there are several languages.

        Raises:
            UnknownName: if a system or the language is not ranked here.
        """
        code = list(self.languages)[-1] if language is None else language
        if code not in self.languages:
            raise UnknownName("language", code, self.languages)
        row = self.languages[code]
        if first not in row.systems:
            raise UnknownName("system", first, row.systems, where=f"the ranking of {code}")
        value, *ends = row.differences(second)[:, row.systems.index(first)].tolist()
        low, high = (end if np.isfinite(end) else None for end in ends)
        return Difference(first, second, code, value, low, high, row.n_queries, self.n_draws, self.seed)

    @property
    def method(self) -> str:
        """How the numbers came about, in a line."""
        ties = {"half": "ties half a win each", "davidson": "ties by Davidson's model", "drop": "ties dropped"}
        penalty = {"jeffreys": "Jeffreys' prior (bias-reduced)", "none": "maximum likelihood"}
        kinds = {"draws": "draws", "sandwich": "normal draws by the sandwich"}
        drawn = " or ".join(kinds[way] for way in self.intervals)
        return (
            f"Bradley-Terry, {penalty[self.penalty]}, {ties[self.ties]}; {LEVEL:.0%} percentile intervals over "
            f"{self.n_draws:,} {drawn} with the {name_unit(self.unit)} as the unit, seed {self.seed}"
        )

    def table(self) -> pa.Table:
        """The ranking as table `ratings`, one row a language and system."""
        data: dict[str, list[Any]] = {column.name: [] for column in schema.columns("ratings")}
        tiers = self.tiers if self.battles or self.tested else {}
        for row in self.languages.values():
            low, high = row.interval()
            rank_low, rank_high = row.rank_interval()
            tier = tiers[row.language].tier if row.language in tiers else {}
            bounded = set(row.bounded)
            n = len(row.systems)
            data["language"] += [row.language] * n
            data["referee"] += [self.referee] * n
            data["skill"] += [self.skill] * n
            data["system"] += row.systems
            data["rating"] += row.theta.tolist()
            data["low"] += [end if np.isfinite(end) else None for end in low.tolist()]
            data["high"] += [end if np.isfinite(end) else None for end in high.tolist()]
            data["rank"] += row.ranks().tolist()
            data["rank_low"] += rank_low.tolist()
            data["rank_high"] += rank_high.tolist()
            data["tier"] += [tier.get(system) for system in row.systems]
            for k, name in enumerate(("wins", "ties", "losses")):
                data[name] += row.record[:, k].tolist()
            data["battles"] += row.record.sum(axis=1).tolist()
            data["bounded"] += [system in bounded for system in row.systems]
        return schema.from_columns("ratings", data)


def rate(
    battles: Mapping[str, Battles],
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    ties: Ties = "half",
    penalty: Penalty = "jeffreys",
    ridge: float = RIDGE,
) -> Ranking:
    """Rate the systems of each language, and over all languages together.

    A draw weighs the queries at random within each stratum. The joint rating is the mean of the languages' ratings, so
    every language counts the same, and draw b of the joint row is the mean of the draws b. A language's draws do not
    depend on which other languages are rated beside it, unless these share its query ids: such queries are one unit,
    and weigh the same in all languages of a draw.

    Args:
        battles: battles by language, of one referee and skill.
        draws: bootstrap draws; more make the intervals steadier, not narrower.
        seed: seed of the draws; the same seed gives the same numbers, to 1e-9 of a logit on any processor.
        ties: how ties count.
        penalty: `jeffreys`, or `none` for the maximum of the likelihood.
        ridge: weight of the penalty that holds parts in place which never met.

    Raises:
        NotEnoughData: if a language has no battle to rate.
        BadInput: if the battles are not of one referee and skill, or an option is out of range.
    """
    if not battles:
        raise NotEnoughData("there are no battles to rate", do="choose at least one language that has some")
    need_draws(draws)
    refuse_name_of_all(battles)
    if ties not in ("half", "davidson", "drop"):
        raise BadInput(f"ties cannot be {ties!r}", do="use half, davidson or drop")
    kinds = {(b.referee, b.skill) for b in battles.values()}
    if len(kinds) > 1:
        raise BadInput(f"these battles come from several referees: {sorted(kinds)}", do="rate one referee at a time")
    ((referee, skill),) = kinds
    shared = units_of(battles).shared
    with one_thread():
        layouts = {
            code: by_query(language_battles, ties=ties, penalty=penalty, ridge=ridge)
            for code, language_battles in sorted(battles.items())
        }
        languages = {
            code: _rate_one(code, battles[code], layout, draws=draws, seed=seed, ridge=ridge, shared=shared)
            for code, layout in layouts.items()
        }
    ranking = Ranking(referee, skill, ties, draws, seed, penalty, ridge, languages, (), battles)
    return combined(replace(ranking, intervals=_ways(battles), layouts=layouts))


def join_rankings(rankings: Sequence[Ranking]) -> Ranking:
    """Rankings of one language each as one, with its joint row: what `rate` makes of all their battles at once.

    Raises:
        NotEnoughData: if there are none.
        BadInput: if they are not of one referee and skill, made in one way, of a language each.
    """
    if not rankings:
        raise NotEnoughData("there are no rankings to put together", do="choose at least one language that has one")
    settings = {
        (ranking.referee, ranking.skill, ranking.ties, ranking.n_draws, ranking.seed, ranking.penalty, ranking.ridge)
        for ranking in rankings
    }
    codes = [code for ranking in rankings for code in ranking.languages]
    if len(settings) > 1 or len(codes) > len(rankings) or len(set(codes)) < len(codes):
        raise BadInput("these rankings do not go together", do="rate each language once, all in the same way")
    if len(rankings) == 1:
        return rankings[0]
    ordered = sorted(rankings, key=lambda ranking: list(ranking.languages))
    languages = {code: row for ranking in ordered for code, row in ranking.languages.items()}
    battles = {code: row for ranking in ordered for code, row in ranking.battles.items()}
    known, shared = ordered[0], units_of(battles).shared
    if shared:
        # What was drawn a language at a time does not go together.
        with one_thread():
            languages = {
                code: _rate_one(
                    code, battles[code], layout, draws=known.n_draws, seed=known.seed, ridge=known.ridge, shared=shared
                )
                for part in ordered
                for code, layout in part.by_query.items()
            }
    ways = _ways(battles)
    return combined(
        replace(known, languages=languages, battles=battles, parts=tuple(ordered), intervals=ways, layouts={})
    )


def combined(ranking: Ranking, battles: Mapping[str, Battles] | None = None) -> Ranking:
    """A ranking of languages with its joint row, where there is one.

    Args:
        ranking: the languages alone.
        battles: what was rated, where the ranking does not hold it.
    """
    languages = dict(ranking.languages)
    rated = ranking.battles if battles is None else battles
    units = units_of(rated)
    systems = set.union(*(set(row.systems) for row in languages.values()))
    left_out = tuple(
        sorted(system for system in systems if not all(system in row.systems for row in languages.values()))
    )
    if len(languages) > 1 and len(systems) - len(left_out) > 1:
        chosen = [system for system in sorted(systems) if system not in left_out]
        languages[JOINT] = joint_row(languages, chosen, units, rated)
    return replace(ranking, languages=languages, left_out=left_out, unit=units.unit)


def units_of(battles: Mapping[str, Battles]) -> Units:
    """The units of the queries on which systems battle, by language code."""
    return Units({code: language_battles.queries for code, language_battles in battles.items()})


def _rate_one(
    code: str,
    battles: Battles,
    layout: ByQuery,
    *,
    draws: int,
    seed: int,
    ridge: float,
    shared: Collection[str],
) -> LanguageRanking:
    whole, s = layout.counted, len(battles.systems)
    if not whole.first.any() and not whole.second.any() and not (whole.ties is not None and whole.ties.any()):
        raise NotEnoughData(
            f"no battle to rate in {code}" + (" once ties are dropped" if battles.ties.any() else ""),
            do="choose other languages, or count ties",
        )
    theta, queries_by_system = layout.point[0, :s], battles.queries_by_system()
    rng = np.random.default_rng([seed, zlib.crc32(code.encode())])
    at_shared = _at_shared(battles.queries, shared)
    if s > DRAWN:
        drawn = theta + _normal(rng, layout.strata, draws=draws, at_shared=at_shared, seed=seed) @ layout.moves
    else:
        weights = _weights(rng, layout.strata, draws=draws, at_shared=at_shared, seed=seed)
        drawn = widened(theta, _fitted_draws(layout, weights, rng, ridge=ridge), queries_by_system)
    parted = groups(battles.systems, whole)
    return LanguageRanking(
        code,
        battles.systems,
        theta,
        drawn,
        battles.record(),
        parted,
        len(battles.queries),
        queries_by_system,
        battles.unparsed,
        unbounded(battles.systems, parted, whole),
    )


def _ways(battles: Mapping[str, Battles]) -> tuple[Literal["draws", "sandwich"], ...]:
    """Where the draws of some languages come from."""
    many = {len(language_battles.systems) > DRAWN for language_battles in battles.values()}
    return tuple("sandwich" if way else "draws" for way in sorted(many))


def _fitted_draws(layout: ByQuery, weights: Array, rng: np.random.Generator, *, ridge: float) -> Array:
    """B x S: the ratings under each draw's weights of the queries (B x Q), and of the prior's points."""
    per_query, whole, s = layout.each, layout.counted, len(layout.systems)
    columns = [_summing(column) for column in (per_query.first, per_query.second, per_query.ties) if column is not None]
    start = Fit(layout.point[:, :s], layout.point[:, -1] if whole.ties is not None else None, 0)
    at_once = max(1, _CELLS // max(1, whole.first.shape[1]))
    parts = []
    for k in range(0, len(weights), at_once):
        drawn = weights[k : k + at_once]
        first, second, *tied = (total(drawn) for total in columns)
        if layout.prior is not None:
            of_first, of_second = layout.prior.drawn(rng, len(drawn))
            first, second = first + of_first, second + of_second
        pairs = PairCounts(first, second, tied[0] if tied else None, s)
        parts.append(fit(pairs, ridge=ridge, start=start, tolerance=CLOSE).theta)
    return np.concatenate(parts)


def _summing(column: Counts) -> Callable[[Array], Array]:
    """What sums a column (Q x P) over weighted queries: given B x Q weights, B x P sums."""
    if np.count_nonzero(column) > _SPARSE * column.size:
        return lambda weights: np.asarray(weights @ column)
    from scipy.sparse import csr_array

    cells = csr_array(column.T)
    return lambda weights: np.ascontiguousarray((cells @ weights.T).T)


def query_weights(
    code: str, battles: Battles, *, draws: int = DRAWS, seed: int = SEED, shared: Collection[str] = ()
) -> Array:
    """B x Q: what each query weighs in each of the draws that `rate` rates, the strata weighted equally.

    Averages of anything else over the same resamples take these weights.

    Args:
        code: the language.
        battles: its battles.
        draws: B.
        seed: seed of the draws.
        shared: ids of the queries that other languages have too (`units.py`), which weigh the same in all of them.
    """
    strata = [np.flatnonzero(battles.strata == k) for k in np.unique(battles.strata)]
    rng = np.random.default_rng([seed, zlib.crc32(code.encode())])
    return _weights(rng, strata, draws=draws, at_shared=_at_shared(battles.queries, shared), seed=seed)


def _at_shared(queries: Sequence[str], shared: Collection[str]) -> dict[int, str]:
    """The shared ids among some queries, by their place there."""
    return {k: query for k, query in enumerate(queries) if query in shared} if shared else {}


def _weights(
    rng: np.random.Generator,
    strata: Sequence[NDArray[np.intp]],
    *,
    draws: int,
    at_shared: Mapping[int, str],
    seed: int,
) -> Array:
    """B x Q: exponential weights of the queries, each stratum with the same share of their sum, which is Q."""
    n = sum(len(rows) for rows in strata)
    weights = _numbers("standard_exponential", rng, strata, draws=draws, at_shared=at_shared, seed=seed)
    for rows in strata:
        weights[:, rows] *= n / len(strata) / weights[:, rows].sum(axis=1, keepdims=True)
    return weights


def _normal(
    rng: np.random.Generator,
    strata: Sequence[NDArray[np.intp]],
    *,
    draws: int,
    at_shared: Mapping[int, str],
    seed: int,
) -> Array:
    """B x Q: normal numbers whose sums of the queries' moves vary as the ratings do, the query as the cluster."""
    numbers = _numbers("standard_normal", rng, strata, draws=draws, at_shared=at_shared, seed=seed)
    for rows in strata:
        numbers[:, rows] = around(numbers[:, rows].T).T
    return numbers


def _numbers(
    kind: Literal["standard_exponential", "standard_normal"],
    rng: np.random.Generator,
    strata: Sequence[NDArray[np.intp]],
    *,
    draws: int,
    at_shared: Mapping[int, str],
    seed: int,
) -> Array:
    """B x Q random numbers; a query that other languages have too gets the same ones in all of them."""
    numbers = np.empty((draws, sum(len(rows) for rows in strata)))
    for rows in strata:
        numbers[:, rows] = getattr(rng, kind)((draws, len(rows)), dtype=np.float32)
    for k, query in at_shared.items():
        number = int.from_bytes(hashlib.blake2b(query.encode(), digest_size=8).digest(), "big")
        numbers[:, k] = getattr(np.random.default_rng([seed, number]), kind)(draws, dtype=np.float32)
    return numbers
