"""A judge's ranking corrected by people's votes (`powered.py` has the method and its sources).

The votes used are those on battles with a known inclusion probability (`Vote.inclusion`), weighted by its inverse, and
those on battles sampled plainly at random before probabilities were stored. If they are too few, or leave a system
unconnected, there is no corrected ranking but a reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from mirage import schema
from mirage.battles.decision import Battle, Decision, points
from mirage.errors import BadInput, NotEnoughData
from mirage.people.votes.kinds import Vote
from mirage.people.votes.powered import Ballots, Data, judge_residuals, powered_estimate
from mirage.people.votes.rows import battle, is_named, label
from mirage.ranking.pair_tests import rank_ranges
from mirage.ranking.records import best_three
from mirage.schema import CodeOrAll, Count, Range, Rank
from mirage.stats.arrays import Array, Integers
from mirage.stats.encoding import place_names
from mirage.stats.holm import holm
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


LEVEL = 0.95
LEAST_QUERIES = 30
"""Minimum number of queries with votes for a correction: errors are estimated between them."""
LEAST_EACH = 5
"""Minimum number of votes per system."""
LEAST_VOTERS = 10
"""Minimum number of people for intervals: each favours some systems, so that few say little about all people."""


@dataclass(frozen=True, slots=True)
class CorrectedRating:
    """Corrected rating of one system: a judge's ranking corrected by votes."""

    key = ("language", "judge", "system")

    language: CodeOrAll
    """Language of the battles; `all`: the mean over the languages that could be corrected, with equal weights."""
    judge: str
    """The corrected judge."""
    system: str
    """The system rated."""
    rating: float
    """Corrected Bradley-Terry strength in logits, centred on 0 over the systems."""
    low: float | None
    """Lower end of the 95% interval of `rating`, over queries and people; null with fewer than 10 people."""
    high: float | None
    """Upper end."""
    rank: Rank
    """Rank by the judge, corrected by people's votes; 1 is best. Equal ratings share the best rank."""
    rank_low: Rank | None
    """Best end of the 95% interval of the rank; null with fewer than 10 people."""
    rank_high: Rank | None
    """Worst end."""
    votes: Count
    """Counting votes on battles of this system."""
    battles: Count
    """Battles of this system decided by the judge."""
    lam: Annotated[float, Range(0, 1)]
    """Weight of the judge, lambda: 0 is votes alone. Of `all`: its mean over the languages."""
    n_votes: Count
    """Counting votes on the battles of all systems."""
    n_battles: Count
    """Battles decided by the judge; both orders of a pair are one battle."""
    width: Annotated[float, Range(0, None)] | None = None
    """Width of the interval relative to that of the votes alone, by the same method: near 1 the judge adds nothing.
    Null if votes alone give no rating.
    """
    uncorrected: float | None = None
    """Rating by the judge's verdicts alone; null if not requested."""
    uncorrected_low: float | None = None
    """Lower end of its 95% interval, which ignores the judge's errors."""
    uncorrected_high: float | None = None
    """Upper end."""
    uncorrected_rank: Rank | None = None
    """Rank by the judge's verdicts alone."""


@dataclass(frozen=True, eq=False, repr=False)
class Correction:
    """A judge's ranking corrected by people's votes, in one language or in several together."""

    language: str
    """Code, or `all`."""
    judge: str
    """The corrected judge."""
    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    theta: Array
    """S: ratings in logits, centred on 0."""
    covariance: Array
    """S x S: covariance of `theta`, by the sandwich over queries and voters."""
    df: Array
    """S: degrees of freedom of the intervals: the queries voted on, or the voters if fewer, minus 1; with several
    languages Satterthwaite's."""
    lam: float
    """Weight of the judge."""
    votes: Integers
    """S: votes that count on battles of each system."""
    battles: Integers
    """S: battles of each system that the judge decided."""
    n_votes: int
    """Number of counting votes."""
    voters: tuple[str, ...]
    """Their voters, sorted."""
    n_queries: int
    """Number of queries with votes."""
    n_battles: int
    """Battles that the judge decided."""
    languages: tuple[str, ...] = ()
    """Codes of the joined languages; empty for one language."""
    alone: Array | None = None
    """S x S: covariance of the ratings by the votes alone, by the same method; None if these are unbounded."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Voted languages that are not in the ranking, with the reason."""
    n_people: int | None = None
    """Number of people whose votes count, of several languages the fewest; None if votes do not say who cast them."""

    def __repr__(self) -> str:
        return f"Correction({self.language!r}: {best_three(self.systems, self.theta)}; {self.method})"

    @property
    def method(self) -> str:
        """The method in one line."""
        people = "unnamed people" if self.n_people is None else count_text(len(self.voters), "person")
        return (
            f"Bradley-Terry by prediction-powered inference: {self.n_battles:,} battles judged by {self.judge}, "
            f"{count_text(self.n_votes, 'vote')} of {people} on "
            f"{count_text(self.n_queries, 'query')}, drawn with "
            f"known chances, lambda {self.lam:.2f}; "
            + (
                f"{LEVEL:.0%} intervals by a sandwich over queries{'' if self.n_people is None else ' and people'}, "
                "ranks by t tests of all pairs (Holm)"
                if self.has_intervals
                else f"no intervals: {count_text(self.n_people or 0, 'person')}, {LEAST_VOTERS} needed in a language"
            )
            + (f"; the mean over {len(self.languages)} languages" if self.languages else "")
            + "".join(f"; without {code}: {why}" for code, why in self.left_out.items())
        )

    @property
    def has_intervals(self) -> bool:
        """True if enough people voted in each language for intervals over people."""
        return self.n_people is None or self.n_people >= LEAST_VOTERS

    @property
    def width(self) -> Array | None:
        """S: width of the intervals relative to that of the votes alone; None if these are unbounded."""
        return None if self.alone is None else self.error / np.sqrt(np.diag(self.alone))

    @property
    def error(self) -> Array:
        """S: standard errors of `theta`."""
        return np.sqrt(np.diag(self.covariance))

    def interval(self) -> Array:
        """Return the 95% interval of each rating, lower and upper ends (2 x S); NaN if too few people voted."""
        from scipy.special import stdtrit

        if not self.has_intervals:
            return np.full((2, len(self.systems)), np.nan)
        reach = stdtrit(self.df, (1 + LEVEL) / 2) * self.error
        return np.stack([self.theta - reach, self.theta + reach])

    def ranks(self) -> Integers:
        """Return the ranks (S): 1 is best; equal ratings share the best rank."""
        return np.asarray((self.theta > self.theta[:, None] + 1e-9).sum(axis=1) + 1)

    def rank_interval(self) -> Integers:
        """Return the best and the worst rank that t tests of all differences leave open, with Holm's correction over
        all pairs (2 x S).
        """
        from scipy.special import stdtr

        i, j = np.triu_indices(len(self.systems), 1)
        gap, own = self.theta[i] - self.theta[j], np.diag(self.covariance)
        error = np.sqrt(np.maximum(own[i] + own[j] - 2 * self.covariance[i, j], 1e-300))
        p = 2 * stdtr(np.minimum(self.df[i], self.df[j]), -np.abs(gap / error))
        better, apart = np.zeros(self.covariance.shape, dtype=bool), holm(p) <= 1 - LEVEL
        better[i, j], better[j, i] = apart & (gap > 0), apart & (gap < 0)
        return rank_ranges(better)

    def rows(self) -> list[CorrectedRating]:
        """Return one row per system, sorted by name."""
        columns = {"rating": self.theta, "rank": self.ranks(), "votes": self.votes, "battles": self.battles}
        if self.has_intervals:
            columns["low"], columns["high"] = self.interval()
            columns["rank_low"], columns["rank_high"] = self.rank_interval()
            columns |= {} if self.width is None else {"width": self.width}
        nothing = dict.fromkeys(("low", "high", "rank_low", "rank_high"))
        same = {name: getattr(self, name) for name in ("language", "judge", "lam", "n_votes", "n_battles")}
        return [
            CorrectedRating(system=system, **same | nothing | {name: of[k].item() for name, of in columns.items()})
            for k, system in enumerate(self.systems)
        ]

    def table(self) -> pa.Table:
        """Return the rows as a table."""
        return schema.from_rows(CorrectedRating, self.rows())

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a data frame, best first."""
        frame: pd.DataFrame = self.table().to_pandas()
        return frame.sort_values("rank", ignore_index=True)


def correct(
    votes: Sequence[Vote],
    verdicts: Mapping[Battle, Decision],
    *,
    language: str,
    judge: str,
    lam: float | None = None,
) -> Correction:
    """Correct the ranking of a language by one judge, using people's votes.

    Every battle counts once, its points the mean over a judge's orders, or over the people who voted on it.

    Args:
        votes: the valid ones (`valid_votes`); only those on battles that were drawn with a known chance, or plainly at
            random, are used.
        verdicts: what the judge said of each battle (`verdicts.judged`). Votes on battles that it is silent on count
            too, where it has judged both systems: without them people's ratings would be those of the others.
        language: which language.
        judge: the judge's name.
        lam: weight of the judge, from 0 (votes alone) to 1; None for the one with the least variance.

    Raises:
        NotEnoughData: saying how many votes are lacking, or which systems are not connected by them.
    """
    judged_battles = {key for key, verdict in verdicts.items() if key[0] == language and verdict.n_read}
    if not judged_battles:
        raise NotEnoughData(f"{judge} has judged no battle in {language}", do="choose another judge or language")
    systems = tuple(sorted({name for battle_key in judged_battles for name in battle_key[2:]}))
    opinions: dict[Battle, list[Vote]] = defaultdict(list)
    for vote in votes:
        drawn = vote.language == language and (vote.control or vote.inclusion is not None)
        if drawn and label(vote) is not None and {*vote.systems} <= {*systems}:
            opinions[battle(vote)].append(vote)
    counted = [vote for cast in opinions.values() for vote in cast]
    battles = sorted(judged_battles | opinions.keys())
    data = lay_out(battles, opinions, systems, verdicts)
    _refuse(data, language, systems)
    result = powered_estimate(data, lam)
    return Correction(
        language=language,
        judge=judge,
        systems=systems,
        theta=result.theta,
        covariance=result.covariance,
        df=np.full(len(systems), result.df),
        lam=result.lam,
        votes=_by_system(systems, map(battle, counted)),
        battles=_by_system(systems, judged_battles),
        n_votes=len(counted),
        voters=tuple(sorted({vote.voter for vote in counted})),
        n_queries=data.n_queries_voted,
        n_battles=len(judged_battles),
        alone=_votes_covariance(data),
        n_people=len({vote.voter for vote in counted if is_named(vote)}) or None,
    )


def _votes_covariance(data: Data) -> Array | None:
    """Return the covariance of the ratings by the votes alone (S x S); None if they are unbounded."""
    try:
        return powered_estimate(data, 0.0).covariance
    except NotEnoughData:
        return None


def join_corrections(corrections: Sequence[Correction]) -> Correction:
    """Average the corrected rankings of several languages with equal weights, among the systems that all have. Votes in
    different languages are independent, so the covariances add up.

    Raises:
        NotEnoughData: if there are fewer than two languages, or two systems that all of them have.
        BadInput: if they correct different judges, or one language twice.
    """
    codes = sorted(correction.language for correction in corrections)
    ordered = sorted(corrections, key=lambda correction: correction.language)
    if len({correction.judge for correction in ordered}) > 1 or len(set(codes)) < len(codes):
        raise BadInput("these corrections cannot be joined", do="correct one judge, each language once")
    systems = sorted(set.intersection(*(set(correction.systems) for correction in ordered))) if ordered else []
    if len(ordered) < 2 or len(systems) < 2:
        raise NotEnoughData("it takes two corrected languages that share two systems", do="vote in more languages")
    # Ratings are relative to the mean of the systems that are shown.
    centre = np.eye(len(systems)) - 1 / len(systems)
    places = [place_names(systems, part.systems) for part in ordered]

    def pick(name: str) -> list[Array]:
        return [getattr(part, name)[at] for part, at in zip(ordered, places, strict=True)]

    def spreads(name: str) -> list[Array]:
        return [centre @ own[:, at] @ centre / len(ordered) ** 2 for own, at in zip(pick(name), places, strict=True)]

    parts = spreads("covariance")
    covariance = np.sum(parts, axis=0)
    below = sum(np.diag(own) ** 2 / df for own, df in zip(parts, pick("df"), strict=True))
    counts: dict[str, Any] = {
        name: sum(getattr(part, name) for part in ordered) for name in ("n_votes", "n_queries", "n_battles")
    }
    return replace(
        ordered[0],
        language="all",
        systems=tuple(systems),
        theta=np.mean([centre @ theta for theta in pick("theta")], axis=0),
        covariance=covariance,
        df=np.diag(covariance) ** 2 / below,
        lam=float(np.mean([part.lam for part in ordered])),
        votes=np.sum(pick("votes"), axis=0),
        battles=np.sum(pick("battles"), axis=0),
        voters=tuple(sorted({voter for part in ordered for voter in part.voters})),
        languages=tuple(codes),
        alone=None if any(part.alone is None for part in ordered) else np.sum(spreads("alone"), axis=0),
        n_people=min((part.n_people for part in ordered if part.n_people is not None), default=None),
        **counts,
    )


def correction_needs(n_queries: int) -> str:
    """Return the requirements of a corrected ranking, and whether a language has enough queries.

    Args:
        n_queries: queries of one language that are asked for votes (`Pool.n_queries`).
    """
    needs = f"A corrected ranking takes votes on {LEAST_QUERIES} queries and {LEAST_EACH} on battles of each system"
    if n_queries >= LEAST_QUERIES:
        return f"{needs}."
    return f"{needs}; this language has {n_queries}, so it cannot be corrected. Agreement with judges can be measured."


def _refuse(data: Data, language: str, systems: Sequence[str]) -> None:
    """Raise if the votes give no interval."""
    from scipy.sparse.csgraph import connected_components

    more = f"vote on more battles in {language}; those that the queue draws with a known chance count"
    if data.n_queries_voted < LEAST_QUERIES:
        raise NotEnoughData(f"votes on {data.n_queries_voted} queries in {language}: it takes {LEAST_QUERIES}", do=more)
    pairs = data.means(np.ones(len(data.first)), data.voted.astype(float))
    n, part = connected_components(pairs > 0, directed=False)
    if n > 1:
        alone = [name for name, k in zip(systems, part, strict=True) if k != np.bincount(part).argmax()]
        raise NotEnoughData(f"the votes in {language} do not connect all systems: {', '.join(alone)} apart", do=more)
    counts = ((pairs + pairs.T) * data.voted.sum()).sum(axis=1).round()
    few = [name for name, count in zip(systems, counts, strict=True) if count < LEAST_EACH]
    if few:
        raise NotEnoughData(f"fewer than {LEAST_EACH} votes in {language} on battles of {', '.join(few)}", do=more)


def _by_system(systems: Sequence[str], battles: Iterable[Battle]) -> Integers:
    """Return the number of battles of each system."""
    counts = Counter(name for battle_key in battles for name in battle_key[2:])
    return np.array([counts[name] for name in systems], dtype=np.int64)


def lay_out(
    battles: Sequence[Battle],
    opinions: Mapping[Battle, Sequence[Vote]],
    systems: Sequence[str],
    verdicts: Mapping[Battle, Decision],
) -> Data:
    """Return the arrays of the battles of one language.

    Args:
        battles: those that the judge decided or people voted on, sorted.
        opinions: the votes with an opinion on each that was voted on.
        systems: the systems, in the order of their numbers.
        verdicts: what the judge said.
    """
    queries = sorted({battle[1] for battle in battles})
    first, second = (place_names([battle[k] for battle in battles], systems) for k in (2, 3))
    decided = [verdict if (verdict := verdicts.get(battle)) and verdict.n_read else None for battle in battles]
    points_by_judge = np.array([np.nan if verdict is None else verdict.points for verdict in decided])
    cast = [opinions.get(battle, ()) for battle in battles]
    return Data(
        first,
        second,
        place_names([battle[1] for battle in battles], queries),
        judge_residuals(first, second, len(systems), points_by_judge),
        np.array([_mean(votes) if votes else 0.0 for votes in cast]),
        _weights(cast),
        len(systems),
        len(queries),
        np.isnan(points_by_judge),
        _ballots(cast),
    )


def _ballots(opinions: Sequence[Sequence[Vote]]) -> Ballots | None:
    """Return the single votes; a vote without a name is taken for that of another person."""
    cast = [(k, vote) for k, votes in enumerate(opinions) for vote in votes]
    names = [vote.voter if is_named(vote) else f"\0{n}" for n, (_, vote) in enumerate(cast)]
    if not cast or len(set(names)) == len(names):
        return None
    return Ballots(
        np.array([k for k, _ in cast], dtype=np.intp),
        np.unique(names, return_inverse=True)[1].astype(np.intp),
        np.array([_mean([vote]) for _, vote in cast]),
    )


def _mean(opinions: Sequence[Vote]) -> float:
    """Return the mean points of the first system over people."""
    return float(np.mean([points(outcome) for vote in opinions if (outcome := label(vote)) is not None]))


def _weights(opinions: Sequence[Sequence[Vote]]) -> Array:
    """Return the weight of each battle's votes: the inverse of the battle's inclusion probability.

    Battles whose votes have no probability are a plain random sample, with weights 1. The two samples are combined by
    their effective sizes (Kish 1965). A battle in both counts as one with a probability: membership is not informative,
    so the others stay a random sample.
    """
    chance = np.array([max((vote.inclusion or 0.0 for vote in votes), default=0.0) for votes in opinions])
    plain = np.array([bool(votes) for votes in opinions]) & (chance == 0)
    weights = np.divide(1.0, chance, out=np.zeros(len(chance)), where=chance > 0)
    if plain.any() and weights.any():
        weights *= weights.sum() / (weights**2).sum()
    return np.asarray(weights + plain)
