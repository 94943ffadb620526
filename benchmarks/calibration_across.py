"""Simulate the coverage of intervals of language preferences, and how often one is claimed for a fair retriever.

    python benchmarks/calibration_across.py --draws 1000

Queries have three relevant passages in three languages; each place of the retriever's list is taken in the query's
language with a planted probability, otherwise as the relevant passages are distributed. Parallel queries share their
relevant passages over three languages; `two of three` lacks one language of each query, `own ids` shares none.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from mirage.stages.across.preference import OWN, ShareOfQuery, preferences

LANGUAGES = ("ar", "de", "en")
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


def main() -> None:
    """Print one line per design."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("design        queries depth strength  covers all  covers ar  claims any")
    for design in DESIGNS:
        for n in (12, 30, 100):
            for depth, strength in ((3, 0.0), (10, 0.0), (3, 0.1), (10, 0.5), (3, 0.9)):
                found = simulate(n=n, depth=depth, strength=strength, design=design, draws=given.draws, seed=given.seed)
                print(
                    f"{design:13} {n:7} {depth:5} {strength:8} {found[0]:11.1%} {found[1]:10.1%} {found[2]:11.1%}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
