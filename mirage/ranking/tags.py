"""Rankings by the values of a query tag, and systems that are unusually strong or weak on some of them.

    split = rank_by_tag(outcomes, tags, "domain", Judge.relevance())  # a ranking of each value, a test of each system

A value is compared with the queries that do not have it, within each language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mirage import schema
from mirage.battles.judge import Judge
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.bootstrap import JOINT, LEVEL, LanguageRanking, RankingReport, rank_battles
from mirage.ranking.settings import RankSettings
from mirage.stats.holm import holm

if TYPE_CHECKING:
    import pyarrow as pa

_KEYS = ["language", "query_id"]


@dataclass(frozen=True, slots=True)
class TagEffect:
    """The difference in a system's rating between the queries with a value and the others, with a test."""

    system: str
    """The system."""
    value: str
    """The value of the tag."""
    estimate: float
    """Mean over languages of the rating on the queries with the value minus that on the others, in logits; above 0 is
    stronger on them.
    """
    low: float | None
    """Lower end of the 95% interval of the estimate, not adjusted for the number of tests; null without a test."""
    high: float | None
    """Upper end."""
    p: float | None
    """Two-sided p-value of no difference; null without a test."""
    p_holm: float | None
    """The same after Holm's correction over all tests of the tag."""
    n_queries: int
    """Number of queries with the value, in the languages compared."""
    n_elsewhere: int
    """Number of other queries in these languages."""
    reason: str | None
    """Reason why there is no test; null where there is one."""


@dataclass(frozen=True)
class TagSplit:
    """Rankings of the queries by the values of a tag, with tests of the differences."""

    tag: str
    """The tag."""
    rankings: Mapping[str, RankingReport]
    """By value: the ranking over the queries that have it."""
    lacking: Mapping[str, str]
    """Values whose queries cannot be ranked, with the reason."""
    effects: tuple[TagEffect, ...]
    """One row per value and system, by value, then system. Of two values that partition the queries only the rarer is
    included, since the other's effects have the opposite sign.
    """

    @property
    def tested(self) -> int:
        """Number of tests, over which Holm's correction is applied."""
        return sum(effect.p is not None for effect in self.effects)

    def significant(self) -> tuple[TagEffect, ...]:
        """Return the effects that are significant after the correction, at a family-wise error of 5%, the smallest
        p-value first.
        """
        sure = [effect for effect in self.effects if effect.p_holm is not None and effect.p_holm <= 1 - LEVEL]
        return tuple(sorted(sure, key=lambda effect: (effect.p, effect.value, effect.system)))

    def lines(self) -> list[str]:
        """Return the remarks a reader needs besides the rankings, one sentence each."""
        lines = [f"not ranked: {value} ({reason})" for value, reason in self.lacking.items()]
        for effect in self.significant():
            word = "stronger" if effect.estimate > 0 else "weaker"
            lines.append(
                f"{effect.system} is {word} where {self.tag} is {effect.value}: {effect.estimate:+.2f} "
                f"[{effect.low:+.2f}, {effect.high:+.2f}] logits against the other queries, p = {effect.p_holm:.3f} "
                f"after Holm's correction, n = {effect.n_queries:,} and {effect.n_elsewhere:,} queries"
            )
        if not self.tested:
            lines.append(f"no value of {self.tag} can be compared with the other queries")
        elif not self.significant():
            lines.append(f"no system is significantly stronger or weaker on any value of {self.tag}")
        lines.append(
            f"{self.tested:,} tests of a system on a value against the other queries of the same languages, Welch's t, "
            "Holm's correction; a query with several values counts for each"
        )
        return lines


def rank_by_tag(
    table: pa.Table, tags: pa.Table, tag: str, judge: Judge, settings: RankSettings = RankSettings()
) -> TagSplit:
    """Rank the systems on the queries of each value of a tag, and test each value against the other queries.

    The two sets of queries are disjoint, so their sampling variances, from the draws of the two rankings, add up.
    Systems that are not in both rankings of a language are excluded from its comparison, and the ratings centred on the
    others.

    Args:
        table: as `ranking.read_decisions` returns it.
        tags: table `tags`.
        tag: name of the tag.
        judge: the judge, as for `arena.rank_arena`.
        settings: as for `arena.rank_arena`.

    Raises:
        UnknownName: if no query has the tag.
        NotEnoughData: if no value's queries can be ranked.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if tag not in (known := sorted(set(tags["tag"].to_pylist()))):
        raise UnknownName("tag", tag, known)
    name = "outcomes" if "outcome" in table.column_names else "judgments"
    if settings.languages is not None:
        table = table.filter(pc.is_in(table["language"], value_set=pa.array(settings.languages, pa.string())))
        settings = replace(settings, languages=None)  # a value may have no query in some of them
    tags = tags.filter(pc.equal(tags["tag"], tag)).join(table.select(_KEYS), _KEYS, join_type="left semi")
    rankings: dict[str, RankingReport] = {}
    lacking: dict[str, str] = {}
    cells: dict[str, list[TagEffect]] = {}
    sizes: dict[str, int] = {}
    for value in sorted(set(tags["value"].to_pylist())):
        having = tags.filter(pc.equal(tags["value"], value)).select(_KEYS)
        try:
            for side in ("left semi", "left anti"):
                part = schema.sort(name, table.join(having, _KEYS, join_type=side))
                ranking = rank_battles(judge.battles(part), settings)
                if value not in rankings:
                    rankings[value], sizes[value], cells[value] = ranking, len(having), []
                else:
                    cells[value] = list(_effects(value, rankings[value], ranking))
        except (NotEnoughData, UnknownName, BadInput) as error:
            if value not in rankings:
                lacking[value] = error.what
    if not rankings:
        raise NotEnoughData(
            f"the queries of no value of {tag} can be ranked ({'; '.join(lacking.values())})",
            do="rank all queries together, or tag queries that have battles",
        )
    total, tagged = (len(rows.group_by(_KEYS).aggregate([])) for rows in (table, tags))
    if len(sizes) == 2 and sum(sizes.values()) == total == tagged:
        del cells[max(sizes, key=lambda value: (sizes[value], value))]
    effects = [effect for value in cells for effect in cells[value]]
    adjusted = iter(holm([effect.p for effect in effects if effect.p is not None]))
    effects = [effect if effect.p is None else replace(effect, p_holm=next(adjusted)) for effect in effects]
    return TagSplit(tag, rankings, lacking, tuple(effects))


def _effects(value: str, within: RankingReport, elsewhere: RankingReport) -> Iterator[TagEffect]:
    """Yield the tests of a value, one per system that both rankings have in some language."""
    shared = {
        code: (row, elsewhere.languages[code])
        for code, row in within.languages.items()
        if code != JOINT and code in elsewhere.languages
    }
    for system in sorted({name for pair in shared.values() for name in set(pair[0].systems) & set(pair[1].systems)}):
        pairs = {c: pair for c, pair in shared.items() if all(system in row.systems for row in pair)}
        yield _effect(value, system, pairs)


def _effect(value: str, system: str, pairs: Mapping[str, tuple[LanguageRanking, LanguageRanking]]) -> TagEffect:
    from scipy.special import stdtr, stdtrit

    sides = [(row, _centre_rating(row, other, system)) for a, b in pairs.values() for row, other in ((a, b), (b, a))]
    # The variance of a bootstrap of n queries is too small by (n - 1) / n.
    n = np.array([row.n_queries for row, _ in sides], dtype=float)
    thetas = [ratings[0] for _, ratings in sides]
    estimate = float(np.mean(thetas[0::2]) - np.mean(thetas[1::2]))
    loose = sorted(code for code, pair in pairs.items() if any(system not in row.bounded for row in pair))
    low = high = p = reason = None
    if loose:
        reason = f"the data does not bound its rating in {', '.join(loose)}"
    elif n.min() < 2 or min(len(row.draws) for row, _ in sides) < 2:
        reason = "one side has one query or one draw, hence no sampling error"
    else:
        v = np.array([ratings[1:].var(ddof=1) for _, ratings in sides]) * n / (n - 1) / len(pairs) ** 2
        if error := float(np.sqrt(v.sum())):
            df = float(v.sum() ** 2 / (v**2 / (n - 1)).sum())
            p, margin = 2 * float(stdtr(df, -abs(estimate) / error)), float(stdtrit(df, (1 + LEVEL) / 2)) * error
            low, high = estimate - margin, estimate + margin
        else:
            reason = "the draws do not differ"
    return TagEffect(system, value, estimate, low, high, p, None, int(n[0::2].sum()), int(n[1::2].sum()), reason)


def _centre_rating(row: LanguageRanking, other: LanguageRanking, system: str) -> NDArray[np.float64]:
    """Return a system's rating and its draws minus the mean over the systems that two rankings share."""
    common = [row.systems.index(name) for name in row.systems if name in other.systems]
    ratings = np.vstack([row.theta[None, :], row.draws])
    return np.asarray(ratings[:, row.systems.index(system)] - ratings[:, common].mean(axis=1))
