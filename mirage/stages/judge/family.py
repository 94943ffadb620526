"""Self-preference of a judge: its verdicts on its own maker's systems against those of other judges on the same
battles.

A judge's own family may simply be better. Judges of other makers on the same battles separate the two: the preference
is the difference in how often the family wins by this judge and by the others.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mirage.battles.decision import read_verdicts
from mirage.schema import CodeOrAll, Count, Range, Share
from mirage.stats.intervals import student_reach
from mirage.text.makers import BASELINE, BY_NAME, OTHER, Makers

Floats = NDArray[np.float64]

_BATTLE = ("language", "query", "first", "second")


@dataclass(frozen=True, slots=True)
class FamilyPreference:
    """Self-preference of a judge: the excess of wins it gives its own maker's systems over judges of other makers."""

    key = ("judge", "language")
    reason_of = "difference"

    judge: str
    """The judge."""
    language: CodeOrAll
    """Language of the queries; `all`: all queries together."""
    maker: str
    """The judge's maker; `other` if unknown."""
    share: Share | None
    """Share of these battles won by the judge's own family according to the judge; a tie is half a win."""
    others: Share | None
    """The same share according to judges of other makers, with equal weights of battles."""
    difference: Annotated[float, Range(-1, 1)] | None
    """`share` - `others`; above 0 the judge prefers its family more than others do. Null if there is nothing to
    compare.
    """
    low: float | None
    """Lower end of the 95% interval of `difference`, with the query as the cluster; null with fewer than two
    queries."""
    high: float | None
    """Upper end."""
    battles: Count
    """Battles compared; both orders of a pair are one."""
    queries: Count
    """Number of queries."""
    reason: str | None
    """Reason why there is no difference; null where there is one."""


def family_preferences(judgments: pa.Table, makers: Makers = BY_NAME) -> list[FamilyPreference]:
    """Compare each judge's preference for its own maker's systems with that of judges of other makers.

    Args:
        judgments: `schema.Judgment` rows; text columns may be dictionary-encoded.
        makers: maker of each judge and system.

    Returns:
        One row per judge and language, and `all`, sorted by judge and language.
    """
    verdicts = read_verdicts(judgments, grades=False)
    judged = sorted(set(zip(verdicts.judge.tolist(), verdicts.language.tolist(), strict=True)))
    verdicts = verdicts.select_parsed()
    decided = verdicts.decide()
    judge_of, *places = (getattr(verdicts, name)[decided.head] for name in ("judge", *_BATTLE))
    language, _, first, second = places
    # Battles and queries as numbers, each the same for all judges.
    battle, cluster = (
        np.unique(np.stack(keys), axis=1, return_inverse=True)[1].ravel() for keys in (places, places[:2])
    )
    of_systems, of_judges = (
        np.array([makers.of(name) for name in names], dtype=object) for names in (verdicts.systems, verdicts.judges)
    )
    preferences: list[FamilyPreference] = []
    for number, (judge, maker) in enumerate(zip(verdicts.judges, of_judges, strict=True)):
        codes = [code for of, code in judged if of == number]
        languages = [verdicts.languages[code] for code in codes] + ["all"] * (len(codes) > 1)
        if maker in (BASELINE, OTHER):
            preferences += _unknown(judge, languages, maker, "the judge's maker is not known")
            continue
        # Only battles between a system of the judge's maker and another maker's are informative.
        ours = of_systems[first] == maker
        between = ours != (of_systems[second] == maker)
        if not between.any():
            preferences += _unknown(judge, languages, maker, f"no system by {maker} battles another maker's")
            continue
        won = np.where(ours, decided.points, 1 - decided.points)
        foreign = between & (of_judges[judge_of] != maker)
        size = battle.max() + 1
        n, sums = (np.bincount(battle[foreign], weights, size) for weights in (None, won[foreign]))
        both = between & (judge_of == number) & (n[battle] > 0)
        for code, name in zip([*codes, None], languages, strict=False):
            rows = np.flatnonzero(both if code is None else both & (language == code))
            if len(rows):
                others = sums[battle[rows]] / n[battle[rows]]
                preferences.append(_preference(judge, name, maker, won[rows], others, cluster[rows]))
            else:
                preferences += _unknown(judge, [name], maker, "no judge of another maker has judged these battles")
    return preferences


def _unknown(judge: str, languages: list[str], maker: str, reason: str) -> list[FamilyPreference]:
    return [FamilyPreference(judge, code, maker, None, None, None, None, None, 0, 0, reason) for code in languages]


def _preference(
    judge: str, language: str, maker: str, won: Floats, others: Floats, query: NDArray[np.intp]
) -> FamilyPreference:
    """Return the difference over some battles; its interval from the sums by query (Liang and Zeger 1986, with the
    factor G / (G - 1) and a t quantile for G queries).

    Args:
        judge: the judge.
        language: the language.
        maker: the judge's maker.
        won: N: share of each battle won by its family, by the judge.
        others: N: the same by judges of other makers.
        query: N: number of each battle's query.
    """
    apart = won - others
    difference, n = float(apart.mean()), len(apart)
    _, numbers = np.unique(query, return_inverse=True)
    sums = np.bincount(numbers, apart - difference)
    clusters = len(sums)
    low = high = None
    if clusters > 1:
        error = float((sums**2).sum() * clusters / (clusters - 1)) ** 0.5 / n
        reach = student_reach(clusters - 1) * error
        low, high = difference - reach, difference + reach
    share, of_others = float(won.mean()), float(others.mean())
    return FamilyPreference(judge, language, maker, share, of_others, difference, low, high, n, clusters, None)
