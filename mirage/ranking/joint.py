"""The row `all`: the plain mean over languages with equal weights.

A rating that the data of some language does not bound leaves the mean unbounded on the same side: a system that never
lost in one of 18 languages has a mean without an upper bound. The estimate is the mean nevertheless, with the
language's estimate under Jeffreys' prior.

Weights by precision would estimate something else: a large lead is estimated less precisely than a small one, so it
would count less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mirage.battles.counts import Battles
from mirage.ranking.fit import Array
from mirage.ranking.graph import Side, either
from mirage.ranking.records import JOINT, LanguageRanking
from mirage.stats.units import Units


def mean_over_languages(values: Sequence[Array], draws: Sequence[Array]) -> tuple[Array, Array]:
    """Return the mean over languages (S) and its draws (B x S); or those of single values with B draws each.

    Each language's draws are shifted to have the language's value as their mean: their bias is small relative to their
    spread, but unlike the spread it does not shrink with the number of languages.

    Args:
        values: by language, S values.
        draws: by language, B x S draws; draw b of all languages is one joint draw.
    """
    total = np.zeros(draws[0].shape)
    for value, drawn in zip(values, draws, strict=True):
        total += drawn - drawn.mean(axis=0) + value
    return np.mean(values, axis=0), total / len(draws)


def open_sides(unbounded: Sequence[Mapping[str, Side]]) -> dict[str, Side]:
    """Return the side on which the mean over languages is not bounded, by system.

    Args:
        unbounded: by language, the side on which its data does not bound a system's value.
    """
    systems = sorted({system for sides in unbounded for system in sides})
    return {system: either([sides[system] for sides in unbounded if system in sides]) for system in systems}


def joint_row(
    languages: Mapping[str, LanguageRanking], systems: Sequence[str], units: Units, battles: Mapping[str, Battles]
) -> LanguageRanking:
    """Average over languages among the systems that all have, re-centred on these.

    Args:
        languages: the rows of several languages.
        systems: the systems in all languages, sorted by name.
        units: the units of the languages' queries.
        battles: the rated battles; empty if unavailable, when no query id may be shared.
    """
    indices = {code: [row.systems.index(s) for s in systems] for code, row in languages.items()}
    theta, draws = mean_over_languages(
        [row.theta[indices[code]] for code, row in languages.items()],
        [row.draws[:, indices[code]] for code, row in languages.items()],
    )
    loose = open_sides([{s: side for s, side in row.unbounded.items() if s in systems} for row in languages.values()])
    bounded = tuple(s for s in systems if s not in loose)
    n_queries = sum(row.n_queries for row in languages.values())
    queries_by_system = np.sum([row.queries_by_system[indices[code]] for code, row in languages.items()], axis=0)
    if units.shared:
        n_queries = units.n
        met = np.zeros((n_queries, len(systems)), dtype=bool)
        for code, of_language in battles.items():
            place = [of_language.systems.index(s) for s in systems]
            met[units.numbers[code]] |= of_language.met()[:, place]
        queries_by_system = met.sum(axis=0)
    return LanguageRanking(
        JOINT,
        tuple(systems),
        theta - theta.mean(),
        draws - draws.mean(axis=1, keepdims=True),
        np.sum([row.record[indices[code]] for code, row in languages.items()], axis=0),
        tuple(group for group in (bounded, *((s,) for s in loose)) if group),
        n_queries,
        queries_by_system,
        sum(row.unparsed for row in languages.values()),
        loose,
    )
