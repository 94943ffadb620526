"""Ratings with their uncertainty: draws over queries, percentile intervals of ratings and ranks, the joint row."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirage import schema
from mirage.errors import BadInput, NotEnoughData
from mirage.intervals import bootstrap_tails as _tails
from mirage.rank.battles import Battles
from mirage.rank.fit import RIDGE, Array, Pairs, fit
from mirage.rank.graph import Side, counts, either, groups, main_group, unbounded
from mirage.schema import Ties

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.rank.sandwich import ByQuery
    from mirage.rank.tiers import Tiers

LEVEL = 0.95
"""Nominal coverage of every interval."""

DRAWS, SEED = 200, 0
"""Bootstrap draws and their seed unless told otherwise."""

JOINT = "all"
"""Language of the joint row."""

FEW = 10
"""With fewer queries intervals are flagged: by simulation those of 10 to 100 queries cover 94 to 97%, those of 5
queries 89 to 92%."""

_CELLS = 4_000_000
"""Draws x pairs held in memory at a time."""


@dataclass(frozen=True, eq=False)
class LanguageRanking:
    """The ranking of one language, or of all together."""

    language: str
    """Code, or `all`."""
    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    theta: Array
    """S: ratings in logits, centred on 0."""
    draws: Array
    """B x S: the ratings of each bootstrap draw."""
    record: NDArray[np.int64]
    """S x 3: wins, ties, losses."""
    groups: tuple[tuple[str, ...], ...]
    """Strongly connected groups of the comparison graph, from the largest down; more than one means that the data does
    not bound some ratings."""
    n_queries: int
    """Queries the ratings rest on."""
    unparsed: int
    """Battles left out because their verdict could not be read."""
    unbounded: Mapping[str, Side] = field(default_factory=dict)
    """By system outside `bounded`: on which side nothing but the ridge bounds its rating. `above`: neither it nor a
    system that it lost to, and so on, ever lost to the others."""

    @property
    def few(self) -> bool:
        """Whether the queries are so few that intervals cover less than they say (`FEW`)."""
        return self.n_queries < FEW

    @property
    def connected(self) -> bool:
        """Whether every system can be compared with every other through wins and losses."""
        return len(self.groups) == 1

    @property
    def bounded(self) -> tuple[str, ...]:
        """Systems whose rating the data bounds on both sides: those of the one largest group, none where there is no
        single largest (two systems that never lost to each other bound nothing).
        """
        return main_group(self.groups)

    def interval(self, level: float = LEVEL) -> Array:
        """2 x S: lower and upper end of the interval of each rating.

        Percentiles over the draws, expanded for the number of queries as Hesterberg (2015, The American Statistician
        69(4)) proposes: a bootstrap of n queries is too narrow by sqrt((n - 1) / n) and by the step from
        a normal to a t quantile. The expectation of the k-th of B draws is the k / (B + 1) quantile, hence `weibull`.

        Maximum likelihood puts the best too high and the worst too low, by an amount that the draws repeat: they lie
        as much beyond the ratings as the ratings beyond the truth (Efron and Tibshirani 1993, ch. 10). With few
        queries in each of many languages that is the larger part of the error, so the interval is moved by twice this
        bias, once for the ratings and once for the draws, as far as it still holds the rating.
        """
        ends = np.quantile(self.draws, _tails(level, self.n_queries), axis=0, method="weibull")
        low, high = ends - 2 * (self.draws.mean(axis=0) - self.theta)
        return np.stack([np.minimum(low, self.theta), np.maximum(high, self.theta)])

    def ranks(self) -> NDArray[np.int64]:
        """S: 1 is best; equal ratings share the best rank."""
        return np.asarray(_ranks(self.theta[None])[0])

    def rank_interval(self, level: float = LEVEL) -> NDArray[np.int64]:
        """2 x S: best and worst end of the interval of the rank, percentiles over the draws (as `interval`)."""
        ranks = _ranks(self.draws)
        # A percentile of a few hundred integers is one of them; interpolating would invent fractions of ranks.
        ends = np.quantile(ranks, _tails(level, self.n_queries), axis=0, method="inverted_cdf")
        return np.asarray(ends, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Rankings by language with all that is needed to make them again."""

    referee: str
    """What decided the battles."""
    skill: schema.Skill
    """Which questions count."""
    ties: Ties
    """How ties were counted."""
    n_draws: int
    """Bootstrap draws."""
    seed: int
    """Seed of the draws."""
    ridge: float
    """Weight of the penalty."""
    languages: Mapping[str, LanguageRanking]
    """By language code, and `all` where there is more than one language."""
    left_out: tuple[str, ...]
    """Systems without battles in some language, hence not in the joint row."""
    battles: Mapping[str, Battles] = field(default_factory=dict)
    """What was rated, by language code; empty where style is controlled for, so that battles alone do not tell: such
    a ranking has no tiers."""
    parts: tuple[Ranking, ...] = ()
    """The rankings that it was put together from (`together`): what these know of a language is not computed again."""

    @cached_property
    def by_query(self) -> Mapping[str, ByQuery]:
        """The battles laid out by query, by language code: what tests and analytic intervals start from.

        Raises:
            NotEnoughData: if the ranking does not hold its battles.
        """
        from mirage.rank.sandwich import by_query

        if not self.battles:
            raise NotEnoughData("the ranking does not hold its battles", do="make it with rate()")
        known = {code: one for part in self.parts for code, one in part.by_query.items()}
        of = sorted(self.battles.items())
        return known or {code: by_query(one, ties=self.ties, ridge=self.ridge) for code, one in of}

    @cached_property
    def tiers(self) -> Mapping[str, Tiers]:
        """By language, and `all`: the tests between all systems at the 5% level, and their tiers."""
        from mirage.rank.tiers import separate

        return separate(self, known={code: one for part in self.parts for code, one in part.tiers.items()})

    @property
    def method(self) -> str:
        """How the numbers came about, in a line."""
        ties = {"half": "ties half a win each", "davidson": "ties by Davidson's model", "drop": "ties dropped"}
        return (
            f"Bradley-Terry, {ties[self.ties]}, ridge {self.ridge:g}; {LEVEL:.0%} percentile intervals over "
            f"{self.n_draws} draws of queries, seed {self.seed}, less their bias"
        )

    def table(self) -> pa.Table:
        """The ranking as table `ratings`, one row a language and system."""
        data: dict[str, list[Any]] = {column.name: [] for column in schema.columns("ratings")}
        for one in self.languages.values():
            low, high = one.interval()
            rank_low, rank_high = one.rank_interval()
            tier = self.tiers[one.language].tier if self.battles else {}
            n = len(one.systems)
            data["language"] += [one.language] * n
            data["referee"] += [self.referee] * n
            data["skill"] += [self.skill] * n
            data["system"] += one.systems
            data["rating"] += one.theta.tolist()
            data["low"] += low.tolist()
            data["high"] += high.tolist()
            data["rank"] += one.ranks().tolist()
            data["rank_low"] += rank_low.tolist()
            data["rank_high"] += rank_high.tolist()
            data["tier"] += [tier.get(system) for system in one.systems]
            for k, name in enumerate(("wins", "ties", "losses")):
                data[name] += one.record[:, k].tolist()
            data["battles"] += one.record.sum(axis=1).tolist()
            data["bounded"] += [system in one.bounded for system in one.systems]
        return schema.from_columns("ratings", data)


def rate(
    battles: Mapping[str, Battles], *, draws: int = DRAWS, seed: int = SEED, ties: Ties = "half", ridge: float = RIDGE
) -> Ranking:
    """Rate the systems of each language, and over all languages together.

    A draw takes as many queries as there are, with replacement, within each stratum. The joint rating is the mean of
    the languages' ratings, so every language counts the same, and draw b of the joint row is the mean of the draws b. A
    language's draws do not depend on which other languages are rated beside it.

    Args:
        battles: battles by language, of one referee and skill.
        draws: bootstrap draws; more make the intervals steadier, not narrower.
        seed: seed of the draws; the same seed gives the same bytes.
        ties: how ties count.
        ridge: weight of the penalty.

    Raises:
        NotEnoughData: if a language has no battle to rate.
        BadInput: if the battles are not of one referee and skill, or an option is out of range.
    """
    if not battles:
        raise NotEnoughData("there are no battles to rate", do="choose at least one language that has some")
    if draws < 1:
        raise BadInput(f"{draws} draws give no interval", do="ask for at least 1; 200 is the default")
    if ties not in ("half", "davidson", "drop"):
        raise BadInput(f"ties cannot be {ties!r}", do="use half, davidson or drop")
    kinds = {(b.referee, b.skill) for b in battles.values()}
    if len(kinds) > 1:
        raise BadInput(f"these battles come from several referees: {sorted(kinds)}", do="rate one referee at a time")
    ((referee, skill),) = kinds
    with one_thread():
        found = {
            code: _rate_one(code, one, draws=draws, seed=seed, ties=ties, ridge=ridge)
            for code, one in sorted(battles.items())
        }
    return _whole(Ranking(referee, skill, ties, draws, seed, ridge, found, (), battles))


def together(rankings: Sequence[Ranking]) -> Ranking:
    """Rankings of one language each as one, with its joint row: what `rate` makes of all their battles at once.

    Raises:
        NotEnoughData: if there are none.
        BadInput: if they are not of one referee and skill, made in one way, of a language each.
    """
    if not rankings:
        raise NotEnoughData("there are no rankings to put together", do="choose at least one language that has one")
    made = {(one.referee, one.skill, one.ties, one.n_draws, one.seed, one.ridge) for one in rankings}
    codes = [code for one in rankings for code in one.languages]
    if len(made) > 1 or len(codes) > len(rankings) or len(set(codes)) < len(codes):
        raise BadInput("these rankings do not go together", do="rate each language once, all in the same way")
    if len(rankings) == 1:
        return rankings[0]
    ordered = sorted(rankings, key=lambda one: list(one.languages))
    languages = {code: row for one in ordered for code, row in one.languages.items()}
    battles = {code: row for one in ordered for code, row in one.battles.items()}
    return _whole(replace(ordered[0], languages=languages, battles=battles, parts=tuple(ordered)))


def _whole(ranking: Ranking) -> Ranking:
    """A ranking of languages with its joint row, where there is one."""
    found = dict(ranking.languages)
    everyone = set.union(*(set(one.systems) for one in found.values()))
    left_out = tuple(sorted(s for s in everyone if not all(s in one.systems for one in found.values())))
    if len(found) > 1 and len(everyone) - len(left_out) > 1:
        found[JOINT] = _join(found, [s for s in sorted(everyone) if s not in left_out])
    return replace(ranking, languages=found, left_out=left_out)


def _rate_one(code: str, battles: Battles, *, draws: int, seed: int, ties: Ties, ridge: float) -> LanguageRanking:
    n_queries, n_systems = len(battles.queries), len(battles.systems)
    strata = [np.flatnonzero(battles.strata == k) for k in np.unique(battles.strata)]
    i, j = np.triu_indices(n_systems, 1)
    first = battles.wins[:, i, j].astype(np.float32)
    second = battles.wins[:, j, i].astype(np.float32)
    tied = battles.ties[:, i, j].astype(np.float32)
    if ties == "half":
        first += tied / 2
        second += tied / 2
    if not first.any() and not second.any() and not (ties == "davidson" and tied.any()):
        raise NotEnoughData(
            f"no battle to rate in {code}" + (" once ties are dropped" if ties == "drop" else ""),
            do="choose other languages, or count ties",
        )
    columns = [first, second, tied] if ties == "davidson" else [first, second]

    def resampled(counts: list[NDArray[np.float32]]) -> Pairs:
        """Pair counts where stratum k's queries occur `counts[k]` (B x Q_k) times, strata weighted equally."""
        sums = [np.zeros((len(counts[0]), len(i))) for _ in columns]
        for rows, times in zip(strata, counts, strict=True):
            weight = n_queries / (len(strata) * len(rows))
            for total, column in zip(sums, columns, strict=True):
                # Exact in single precision: sums of half-integers far below 2^23.
                total += weight * (times @ column[rows])
        return Pairs(sums[0], sums[1], sums[2] if ties == "davidson" else None, n_systems)

    whole = resampled([np.ones((1, len(rows)), dtype=np.float32) for rows in strata])
    point = fit(whole, ridge=ridge)
    times = _drawn(code, strata, draws=draws, seed=seed)
    at_once = max(1, _CELLS // max(1, len(i)))
    parted = groups(battles.systems, whole)
    parts = []
    for k in range(0, draws, at_once):
        pairs = resampled([t[k : k + at_once] for t in times])
        theta = fit(pairs, ridge=ridge, start=point).theta
        loose = _loose(theta, pairs, ridge, len(parted))
        if len(loose):
            theta[loose] = fit(_with_mean_query(pairs, whole, loose, n_queries), ridge=ridge, start=point).theta
        parts.append(theta)
    return LanguageRanking(
        code,
        battles.systems,
        point.theta[0],
        np.concatenate(parts),
        battles.record(),
        parted,
        n_queries,
        battles.unparsed,
        unbounded(battles.systems, parted, whole),
    )


def query_weights(code: str, battles: Battles, *, draws: int = DRAWS, seed: int = SEED) -> NDArray[np.float32]:
    """B x Q: what each query weighs in each of the draws that `rate` rates, the strata weighted equally.

    Averages of anything else over the same resamples take these weights.
    """
    n = len(battles.queries)
    strata = [np.flatnonzero(battles.strata == k) for k in np.unique(battles.strata)]
    weights = np.empty((draws, n), dtype=np.float32)
    for rows, times in zip(strata, _drawn(code, strata, draws=draws, seed=seed), strict=True):
        weights[:, rows] = times * (n / (len(strata) * len(rows)))
    return weights


def _drawn(code: str, strata: list[NDArray[np.intp]], *, draws: int, seed: int) -> list[NDArray[np.float32]]:
    """For each stratum of a language, how often its queries occur in each draw."""
    rng = np.random.default_rng([seed, zlib.crc32(code.encode())])
    return [_times(rng, draws, len(rows)) for rows in strata]


def _times(rng: np.random.Generator, draws: int, n: int) -> NDArray[np.float32]:
    """B x n: how often each of n queries occurs in each draw of n with replacement."""
    picks = rng.integers(n, size=(draws, n))
    picks += np.arange(draws)[:, None] * n
    return np.bincount(picks.ravel(), minlength=draws * n).reshape(draws, n).astype(np.float32)


def _loose(theta: Array, pairs: Pairs, ridge: float, groups: int) -> NDArray[np.intp]:
    """The draws that have no maximum though the whole has one: their comparison graph fell into more groups than the
    whole's, and only the ridge bounds the ratings.
    """
    # Where a graph falls apart, the ridge lets its groups drift to about log(1 / ridge): look at these alone.
    far = np.flatnonzero(np.ptp(theta, axis=1) > -np.log(ridge) / 2)
    return far[counts(pairs, far) > groups] if len(far) else far


def _with_mean_query(pairs: Pairs, whole: Pairs, rows: NDArray[np.intp], n: int) -> Pairs:
    """Some of the draws, each with the mean of the n queries as one query more."""

    def more(draws: Array, everything: Array) -> Array:
        return np.asarray(draws[rows] + everything / n)

    ties = None if pairs.ties is None or whole.ties is None else more(pairs.ties, whole.ties)
    return Pairs(more(pairs.first, whole.first), more(pairs.second, whole.second), ties, pairs.systems)


def _join(found: Mapping[str, LanguageRanking], systems: list[str]) -> LanguageRanking:
    """The mean over languages, among the systems that all have, re-centred on these."""
    at = {code: [one.systems.index(s) for s in systems] for code, one in found.items()}
    theta = np.mean([one.theta[at[code]] for code, one in found.items()], axis=0)
    draws = np.mean([one.draws[:, at[code]] for code, one in found.items()], axis=0)
    loose = {s for code, one in found.items() for s in systems if s not in one.bounded}
    bounded = tuple(s for s in systems if s not in loose)
    return LanguageRanking(
        JOINT,
        tuple(systems),
        theta - theta.mean(),
        draws - draws.mean(axis=1, keepdims=True),
        np.sum([one.record[at[code]] for code, one in found.items()], axis=0),
        tuple(group for group in (bounded, *((s,) for s in sorted(loose))) if group),
        sum(one.n_queries for one in found.values()),
        sum(one.unparsed for one in found.values()),
        {s: either([one.unbounded[s] for one in found.values() if s in one.unbounded]) for s in sorted(loose)},
    )


def _ranks(theta: Array) -> NDArray[np.int64]:
    """B x S ranks of B x S ratings: one more than the number of systems that are clearly better."""
    better = theta[:, None, :] > theta[:, :, None] + 1e-9
    return np.asarray(better.sum(axis=2) + 1)


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> Any:
    """Hold BLAS to one thread: these products are too small to share, and waiting for a second core costs more."""
    return _blas().limit(limits=1, user_api="blas")
