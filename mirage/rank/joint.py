"""The row `all`: the plain mean over languages, each counting the same, whoever asks for it.

A rating that the data of some language does not bound leaves the mean open on the same side: a system that never lost
in one of 18 languages has a mean without an upper end. The estimate is the mean all the same, of what Jeffreys' prior
makes of that language.

Weighing languages by how well they are known would be another row: being far ahead is known less well than being a
little ahead, so that it would count less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mirage.battles.counts import Battles
from mirage.rank.fit import Array
from mirage.rank.graph import Side, either
from mirage.rank.records import JOINT, LanguageRanking
from mirage.units import Units


def mean_over_languages(values: Sequence[Array], draws: Sequence[Array]) -> tuple[Array, Array]:
    """The mean over languages (S), and its draws (B x S); or of single values and their B draws.

    Each language's draws are moved so that their mean is its value: what the draws of one language are off by is small
    beside their spread, but does not shrink with the number of languages as the spread does.

    Args:
        values: by language, S values.
        draws: by language, B x S draws of them; draw b of all languages goes together.
    """
    total = np.zeros(draws[0].shape)
    for value, drawn in zip(values, draws, strict=True):
        total += drawn - drawn.mean(axis=0) + value
    return np.mean(values, axis=0), total / len(draws)


def open_sides(unbounded: Sequence[Mapping[str, Side]]) -> dict[str, Side]:
    """On which side the mean over languages is not bounded, by system.

    Args:
        unbounded: by language, on which side its data puts no bound on a system's value.
    """
    systems = sorted({system for sides in unbounded for system in sides})
    return {system: either([sides[system] for sides in unbounded if system in sides]) for system in systems}


def joint_row(
    languages: Mapping[str, LanguageRanking], systems: Sequence[str], units: Units, battles: Mapping[str, Battles]
) -> LanguageRanking:
    """The mean over languages, among the systems that all have, re-centred on these.

    Args:
        languages: the rows of several languages.
        systems: the systems that all have, sorted by name.
        units: the units of the languages' queries.
        battles: what was rated; empty where that is not at hand, and no query id is shared.
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
