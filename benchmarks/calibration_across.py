"""Calibration of language preferences: rows of `calibration`.

Queries have three relevant passages in three languages; each place of the retriever's list is taken in the query's
language with a planted probability, otherwise as the relevant passages are distributed. Parallel queries share their
relevant passages over three languages; in `two of three` each query lacks one of them, in `own ids` queries share none.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Row
from mirage.stages.across.preference import OWN, ShareOfQuery, preferences

LANGUAGES = ("ar", "de", "en")
SETTINGS = ((3, 0.0), (10, 0.0), (3, 0.1), (10, 0.5), (3, 0.9))
"""Depth, and planted probability of a passage in the query's language."""
DESIGNS = ("parallel", "two of three", "own ids")


def draw(rng: np.random.Generator, *, n: int, depth: int, strength: float, design: str) -> Iterator[ShareOfQuery]:
    """Draw the shares of languages of one retriever for n queries."""
    for unit in range(n):
        relevant = rng.multinomial(3, rng.dirichlet(np.full(3, 2.0))) / 3
        for place, code in enumerate(LANGUAGES):
            if design == "two of three" and unit % 3 == place:
                continue
            if design == "own ids":
                relevant = rng.multinomial(3, rng.dirichlet(np.full(3, 2.0))) / 3
            chances = (1 - strength) * relevant
            chances[place] += strength
            name = f"{code}-{unit}" if design == "own ids" else str(unit)
            shares = rng.multinomial(depth, chances) / depth
            for other, share, expected in zip(LANGUAGES, shares, relevant, strict=True):
                yield ShareOfQuery("r", code, name, other, float(share), float(expected))


def simulate(*, n: int, depth: int, strength: float, design: str, draws: int, seed: int) -> tuple[float, float, float]:
    """Return the coverage of the preference for the query's language, that of Arabic queries for it, and the share of
    draws in which any preference is claimed.
    """
    rng, truth = np.random.default_rng(seed), strength * 2 / 3
    found = np.zeros(3)
    for _ in range(draws):
        rows = preferences(draw(rng, n=n, depth=depth, strength=strength, design=design))
        (own,) = (row for row in rows if row.passage_language == OWN)
        (one,) = (row for row in rows if (row.query_language, row.passage_language) == ("ar", "ar"))
        covers = [row.low is not None and row.high is not None and row.low <= truth <= row.high for row in (own, one)]
        found += [*covers, any(row.significant for row in rows)]
    return tuple(found / draws)  # type: ignore[return-value]


def rows(draws: int = 400) -> list[Row]:
    """Return one row per design, over numbers of queries, depths and planted preferences."""
    found = []
    for design in DESIGNS:
        settings = [(n, *setting) for n in (12, 30, 100) for setting in SETTINGS]
        results = [
            (strength, *simulate(n=n, depth=depth, strength=strength, design=design, draws=draws, seed=1))
            for n, depth, strength in settings
        ]
        all_, one = (np.array([result[k] for result in results]) for k in (1, 2))
        claimed = [result[3] for result in results if not result[0]]
        found.append(
            Row(
                f"language preferences, {design}, 12 to 100 queries: 95% intervals hold the truth",
                f"{all_.mean():.1%} ({all_.min():.1%} to {all_.max():.1%})",
                f"of one language of queries: {one.mean():.1%} ({one.min():.1%} to {one.max():.1%})",
                f"claimed for a fair retriever: {np.mean(claimed):.1%}, at most {max(claimed):.1%}; "
                f"{draws} simulations of each of {len(settings)} designs, +-2.2%",
                "93 to 97%, at most 5%",
            )
        )
    return found
