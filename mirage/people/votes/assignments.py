"""Agreement of people with nugget assigners: a model, or the word-overlap matcher.

Answers are sampled at random, and people go through all nuggets of one before the next: every vote counts, and the
query is the unit of the intervals, as in `agreement.py`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

import numpy as np

from mirage.people.votes.coefficients import (
    DRAWS,
    ENOUGH,
    LEAST,
    SEED,
    Array,
    Coefficient,
    LanguagePart,
    draw_sums,
    estimate_statistics,
    generator,
    joint_fields,
    ratio,
)
from mirage.people.votes.rows import NuggetVote
from mirage.schema import Assignment, CodeOrAll, Count, Share
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa

_ORDER: dict[str, int] = {name: place for place, name in enumerate(get_args(Assignment))}
"""`support`, `partial_support`, `not_support`: positions on an ordinal scale."""
_APART = np.abs(np.subtract.outer(np.arange(3), np.arange(3))) / 2
"""3 x 3: distance of two assignments, in [0, 1]."""
_STATISTICS = ("raw", "kappa")
_Stated = tuple[str, str, str, str]
"""Language, query, system and nugget."""


@dataclass(frozen=True, slots=True)
class AssignerAgreement:
    """Agreement of people with one nugget assigner in one language."""

    key = ("assigner", "language")

    assigner: str
    """Name of the model or program that assigned."""
    language: CodeOrAll
    """Language of the queries; `all`: the mean over the languages that have an interval, with equal weights."""
    n: Count
    """Votes on nuggets that the assigner also decided; several people on one nugget count separately."""
    queries: Count
    """Number of queries, the units of the intervals."""
    voters: Count
    """People."""
    raw: Share | None
    """Share of the votes equal to the assigner's decision."""
    raw_low: Share | None
    """Lower end of its 95% interval: percentiles over draws of queries; Wilson's where all agree or none."""
    raw_high: Share | None
    """Upper end."""
    kappa: Coefficient | None
    """Cohen's weighted kappa (1968), linear weights: partial support is half way between full and none. 1 is perfect, 0
    is chance.
    """
    kappa_low: Coefficient | None
    """Lower end of its interval."""
    kappa_high: Coefficient | None
    """Upper end."""
    skipped: Count
    """Votes without an opinion, excluded."""
    undecided: Count
    """Votes on nuggets that the assigner has not decided, excluded."""
    enough: bool
    """Whether the figures are reliable (`ENOUGH` queries)."""
    reason: str | None
    """Reason why a value or an interval is null."""
    draws: Count
    """Draws behind the intervals."""
    seed: Count
    """Their seed."""


def assigner_agreement(
    votes: Sequence[NuggetVote], assignments: pa.Table, *, draws: int = DRAWS, seed: int = SEED
) -> list[AssignerAgreement]:
    """Compare people with every assigner, in each language and overall.

    Args:
        votes: those that stand (`standing`), of one arena.
        assignments: `schema.NuggetAssignment` rows.
        draws: bootstrap draws of queries.
        seed: seed of the draws.

    Returns:
        A row for each assigner and language that has a vote, and `all` where there are several; assigners by name,
        languages in the order of their codes.
    """
    by_language: dict[str, list[NuggetVote]] = defaultdict(list)
    for vote in votes:
        by_language[vote.language].append(vote)
    decided: dict[str, dict[_Stated, int]] = {}
    names = ("assigner", "assignment", "language", "query_id", "system", "nugget_id")
    for assigner, given, *about in zip(*(assignments[name].to_pylist() for name in names), strict=True):
        known = decided.setdefault(assigner, {})
        if given is not None:
            language, query_id, system, nugget = about
            known[language, query_id, system, nugget] = _ORDER[given]
    rows = []
    for assigner in sorted(decided):
        parts = [
            _compare(assigner, code, by_language[code], decided[assigner], draws, seed)
            for code in in_order(by_language)
        ]
        rows += [part.row for part in parts]
        if len(parts) > 1:
            rows.append(_joint(parts))
    return rows


def weighted_kappa(tables: Array) -> Array:
    """Return Cohen's weighted kappa with linear weights, of B x 3 x 3 tables of counts; NaN if expected agreement
    is 1.

    Source: Cohen, Psychological Bulletin 70 (1968).
    """
    n = tables.sum(axis=(1, 2))
    by_person, by_assigner = tables.sum(axis=2), tables.sum(axis=1)
    chance = np.einsum("bi,ij,bj->b", by_person, _APART, by_assigner)
    apart = n * (tables * _APART).sum(axis=(1, 2))
    return np.asarray(1 - ratio(apart, chance))


def _compare(
    assigner: str, language: str, votes: Sequence[NuggetVote], decided: dict[_Stated, int], draws: int, seed: int
) -> LanguagePart:
    by_query: dict[str, Array] = defaultdict(lambda: np.zeros((3, 3)))
    opinions = [vote for vote in votes if vote.vote in _ORDER]
    compared = []
    for vote in opinions:
        place = decided.get((vote.language, vote.query_id, vote.system, vote.nugget_id))
        if place is not None:
            by_query[vote.query_id][_ORDER[vote.vote], place] += 1
            compared.append(vote)
    tables = np.array([by_query[query] for query in sorted(by_query)]).reshape(-1, 9)
    n_queries = len(tables)
    drawn_sums = draw_sums(tables, draws, generator(seed, f"{assigner}/{language}"))
    values, drawn = estimate_statistics(
        tables,
        drawn_sums,
        {
            "raw": lambda sums: ratio(np.trace(sums.reshape(-1, 3, 3), axis1=1, axis2=2), sums.sum(axis=1)),
            "kappa": lambda sums: weighted_kappa(sums.reshape(-1, 3, 3)),
        },
    )
    row = AssignerAgreement(
        assigner=assigner,
        language=language,
        n=len(compared),
        queries=n_queries,
        voters=len({vote.voter for vote in compared}),
        **values,
        skipped=len(votes) - len(opinions),
        undecided=len(opinions) - len(compared),
        enough=n_queries >= ENOUGH,
        reason=_reason(n_queries, values),
        draws=draws,
        seed=seed,
    )
    return LanguagePart(row, drawn, frozenset(vote.voter for vote in compared))


def _reason(queries: int, values: Mapping[str, float | None]) -> str | None:
    """Return why there is no value or no interval; None if there are all."""
    if not queries:
        return "no vote on a nugget that this assigner has decided"
    reasons = []
    if queries < LEAST:
        reasons.append(f"votes on {queries} queries are too few for an interval: it takes {LEAST}")
    if values["kappa"] is None:
        reasons.append("no kappa: people and assigner always say the same one thing")
    elif queries >= LEAST and values["kappa_low"] is None:
        reasons.append("no interval of kappa: the draws of queries do not differ, or have no value")
    return "; ".join(reasons) or None


def _joint(parts: Sequence[LanguagePart]) -> AssignerAgreement:
    """Return the row over all languages."""
    fields, left = joint_fields(parts, _STATISTICS, ("n", "queries", "skipped", "undecided"))
    row: AssignerAgreement = parts[0].row
    return replace(row, **fields, reason=f"too few votes for an interval in {', '.join(left)}" if left else None)
