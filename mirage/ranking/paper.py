"""The tournaments of MIRAGE-Bench, as published, for comparison: choix, ties dropped, a fixed number of resampled
queries.

    played = play(battles, tournaments=200, seed=0)
    played.languages["sw"].interval()                    # percentiles over tournaments, as published
    played.table()                                       # schema.Tournament

A tournament draws `matches` queries with replacement; on each, every judged pair of systems meets, and ties are ignored
(MIRAGE-Bench 5.1 and its program, `leaderboard/bradley_terry.py`). The width of the published interval therefore
depends on the number of drawn queries, an option, and not on the number of available queries; `ranking.rate` has the
interval that depends on the data.

Where choix finds no maximum, the published program falls back to another estimator, with a penalty of 1e-6 that
determines the rating of an unbeaten system. Here such a tournament has no rating but a reason, and is counted.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mirage import schema
from mirage.battles.counts import Battles
from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.bootstrap import need_one_judge
from mirage.stats.arrays import Array, Integers, Places

if TYPE_CHECKING:
    import pyarrow as pa


TOURNAMENTS, MATCHES = 200, 100
"""Number of tournaments, and of drawn queries per tournament, in the paper."""

PUBLISHED_LEVEL = 0.95
"""Nominal coverage of the published interval over tournaments."""

FEWEST_RATED = 0.95
"""Minimum share of rated tournaments for an interval: those without a maximum would have the most extreme ratings, so
the rest is a biased sample.
"""


@dataclass(frozen=True, eq=False)
class Tournaments:
    """The tournaments of one language."""

    language: str
    """Code."""
    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    queries: tuple[str, ...]
    """The Q queries to draw from, sorted by id."""
    drawn: Places
    """T x M: indices in `queries` of the queries of each tournament."""
    theta: Array
    """T x S: ratings in logits, centred on 0; a row of NaN where choix found none."""
    failed: Mapping[int, str]
    """Reason for each tournament without a rating, by number."""

    @property
    def fitted(self) -> int:
        """Number of tournaments with a rating."""
        return len(self.theta) - len(self.failed)

    @property
    def rated(self) -> float:
        """Share of tournaments with a rating, in [0, 1]."""
        return self.fitted / len(self.theta)

    @property
    def lacking(self) -> str | None:
        """Reason why there is no interval; None if there is one."""
        if self.rated >= FEWEST_RATED:
            return None
        reason = self.failed[min(self.failed)]
        return (
            f"{self.fitted} of {len(self.theta)} tournaments have a rating, under {FEWEST_RATED:.0%}; in number "
            f"{min(self.failed)} {reason}"
        )

    def mean(self) -> Array:
        """Return the published rating: the mean over the tournaments with a rating (S).

        Raises:
            NotEnoughData: if no tournament has a rating.
        """
        return np.asarray(self._rated_theta().mean(axis=0))

    def interval(self) -> Array:
        """Return the percentiles of the ratings over tournaments, as published (2 x S).

        The width shrinks with the square root of the number of drawn queries, regardless of the number of queries.

        Raises:
            NotEnoughData: if fewer than `FEWEST_RATED` of the tournaments have a rating.
        """
        if self.lacking:
            raise NotEnoughData(
                f"no interval over tournaments in {self.language}: {self.lacking}",
                do="rank with mirage rank, which bounds every rating",
            )
        return np.quantile(self._rated_theta(), [(1 - PUBLISHED_LEVEL) / 2, (1 + PUBLISHED_LEVEL) / 2], axis=0)

    def ranks(self) -> Integers:
        """Return the ranks of the mean ratings, 1 is best (S)."""
        mean = self.mean()
        return np.asarray(1 + (mean[None, :] > mean[:, None] + 1e-9).sum(axis=1))

    def times(self) -> Array:
        """Return how often each query occurs in each tournament (T x Q)."""
        t, q = len(self.drawn), len(self.queries)
        flat = self.drawn + np.arange(t)[:, None] * q
        return np.bincount(flat.ravel(), minlength=t * q).reshape(t, q).astype(float)

    def _rated_theta(self) -> Array:
        if not self.fitted:
            reason = next(iter(self.failed.values()))
            raise NotEnoughData(
                f"none of {len(self.theta)} tournaments in {self.language} has a rating; in the first {reason}",
                do="rank with mirage rank, which bounds every rating",
            )
        return self.theta[~np.isnan(self.theta[:, 0])]


@dataclass(frozen=True, eq=False)
class TournamentResult:
    """Tournaments by language, with the settings to reproduce them."""

    judge: str
    """Name of the judge that decided the battles."""
    skill: schema.Skill
    """Skill whose queries count."""
    languages: Mapping[str, Tournaments]
    """By language code."""
    tournaments: int
    """Number of tournaments of each language."""
    matches: int
    """Queries drawn for each tournament."""
    seed: int
    """Seed of the draws."""

    @property
    def method(self) -> str:
        """The method in one line."""
        return (
            "as published: choix.ilsr_pairwise (on counted pairs: ilsr_pairwise_dense), ties dropped; mean and "
            f"{PUBLISHED_LEVEL:.0%} percentiles over {self.tournaments} tournaments of {self.matches} drawn queries, "
            f"seed {self.seed}; the width follows the number of drawn queries"
        )

    def remarks(self) -> list[str]:
        """Return one line for each language with unrated tournaments: their number, and the first one's reason."""
        return [
            f"{code}: {len(tournaments.failed)} of {self.tournaments} tournaments have no rating; in number "
            f"{min(tournaments.failed)} {tournaments.failed[min(tournaments.failed)]}"
            for code, tournaments in self.languages.items()
            if tournaments.failed
        ]

    def table(self) -> pa.Table:
        """Return the ratings of every tournament as table `tournaments`; null with a reason where there is none."""
        data: dict[str, list[Any]] = {column.name: [] for column in schema.columns("tournaments")}
        for tournaments in self.languages.values():
            n = len(tournaments.systems)
            for draw, theta in enumerate(tournaments.theta):
                data["draw"] += [draw] * n
                data["system"] += tournaments.systems
                data["rating"] += [None] * n if draw in tournaments.failed else theta.tolist()
                data["reason"] += [tournaments.failed.get(draw)] * n
            data["language"] += [tournaments.language] * n * len(tournaments.theta)
        rows = len(data["draw"])
        data["judge"], data["skill"] = [self.judge] * rows, [self.skill] * rows
        return schema.from_columns("tournaments", data)


def play(
    battles: Mapping[str, Battles],
    *,
    tournaments: int = TOURNAMENTS,
    matches: int = MATCHES,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> TournamentResult:
    """Simulate the paper's tournaments in each language.

    Queries are drawn uniformly, regardless of their subset. A language's draws do not depend on the other languages.

    Args:
        battles: battles by language, of one judge and skill.
        tournaments: tournaments per language.
        matches: queries per tournament.
        seed: seed of the draws.
        progress: called with the number of finished tournaments and their total.

    Raises:
        NotEnoughData: if there are no battles.
        BadInput: if the battles are not of one judge and skill, or a number is out of range.
    """
    if not battles:
        raise NotEnoughData("there are no battles to rate", do="choose at least one language with battles")
    if tournaments < 1 or matches < 1:
        raise BadInput(f"cannot play {tournaments} tournaments of {matches} matches", do="use at least 1 of each")
    judge, skill = need_one_judge(battles)
    languages, n_played = {}, 0
    for code, language_battles in sorted(battles.items()):
        rng = np.random.default_rng([seed, zlib.crc32(code.encode())])
        drawn = rng.integers(len(language_battles.queries), size=(tournaments, matches))
        theta = np.full((tournaments, len(language_battles.systems)), np.nan)
        failed = {}
        for t, picks in enumerate(drawn):
            result = _play_one(language_battles, picks)
            if isinstance(result, str):
                failed[t] = result
            else:
                theta[t] = result
            n_played += 1
            if progress:
                progress(n_played, tournaments * len(battles))
        languages[code] = Tournaments(code, language_battles.systems, language_battles.queries, drawn, theta, failed)
    return TournamentResult(judge, skill, languages, tournaments, matches, seed)


def _play_one(battles: Battles, picks: Places) -> Array | str:
    """Return the ratings of one tournament, or the reason why there are none. Counted pairs give the ratings of a list
    of pairs, as published, to 1e-7.
    """
    import choix

    counts = battles.wins[picks].sum(axis=0, dtype=np.int64)
    apart = _explain_no_maximum(battles.systems, counts)
    if apart:
        return apart
    try:
        ratings = choix.ilsr_pairwise_dense(counts.astype(float))
    except (ValueError, RuntimeError) as error:
        return f"choix stopped: {error}"
    return np.asarray(ratings, dtype=float) if np.isfinite(ratings).all() else "choix returned no finite rating"


def _explain_no_maximum(systems: tuple[str, ...], counts: Integers) -> str | None:
    """Return why the likelihood has no maximum, or None: every system must be linked to every other by wins (Ford
    1957).
    """
    from scipy.sparse.csgraph import connected_components

    n, _ = connected_components(counts > 0, directed=True, connection="strong")
    if n == 1:
        return None
    won, lost = counts.sum(axis=1) > 0, counts.sum(axis=0) > 0
    parts = [
        (f"{', '.join(name for name, is_so in zip(systems, which, strict=True) if is_so)} {description}")
        for which, description in (
            (won & ~lost, "never lost"),
            (~won & lost, "never won"),
            (~won & ~lost, "only has ties"),
        )
        if which.any()
    ]
    return "; ".join(parts) or f"the systems fall into {n} groups that are not linked by wins both ways"
