"""Bradley-Terry with a query bootstrap, from rows to ratings: against choix on an arena of the published size, and
by the number of battles and systems.
"""

from __future__ import annotations

import functools
from typing import Any

import choix
import numpy as np
import pyarrow as pa

from benchmarks.harness import Row, in_fresh_process, seconds
from mirage.battles.counts import Battles
from mirage.battles.verdict_rows import from_judgments
from mirage.ranking.bootstrap import RankingReport, rate
from mirage.text.languages import LANGUAGES

SYSTEMS, QUERIES, DRAWS, SEED = 19, 100, 200, 2024
ARENA = "18 languages x 19 systems x 100 queries, 200 query bootstraps, from 307,800 rows"


def judgments(languages: list[str], systems: int, queries: int) -> pa.Table:
    """Simulated verdicts: every pair of systems on every query, one in ten a tie."""
    rng = np.random.default_rng(SEED)
    theta = np.linspace(1.5, -1.5, systems)
    i, j = np.triu_indices(systems, 1)
    names = [f"system-{k:03}" for k in range(systems)]
    tables = []
    for code in languages:
        quality = theta + rng.normal(0, 0.6, (queries, systems))
        p = 1 / (1 + np.exp(quality[:, j] - quality[:, i]))
        verdict = np.where(rng.random(p.shape) < 0.1, 2, np.where(rng.random(p.shape) < p, 0, 1)).ravel()
        ids = [f"{code}-{q:05}" for q in range(queries)]
        columns = {
            "language": (np.zeros(len(verdict)), [code]),
            "query_id": (np.repeat(np.arange(queries), len(i)), ids),
            "judge": (np.zeros(len(verdict)), ["judge"]),
            "system_a": (np.tile(i, queries), names),
            "system_b": (np.tile(j, queries), names),
            "verdict": (verdict, ["A", "B", "tie"]),
        }
        tables.append(pa.table({name: _strings(*column) for name, column in columns.items()}))
    return pa.concat_tables(tables)


def _strings(codes: Any, values: list[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(values)).cast(pa.string())


@functools.cache
def published_size() -> pa.Table:
    """307,800 verdicts: every pair of 19 systems on 100 queries in 18 languages."""
    return judgments(list(LANGUAGES), SYSTEMS, QUERIES)


def ours() -> RankingReport:
    """From rows to a ranking with its draws."""
    return rate(from_judgments(published_size(), judge="judge"), draws=DRAWS, seed=SEED)


def choix_dense(battles: dict[str, Battles], draws: int) -> None:
    """Resample queries and fit choix's dense solver, draw by draw, on win matrices that are already counted."""
    rng = np.random.default_rng(SEED)
    for language_battles in battles.values():
        points = language_battles.wins + language_battles.ties / 2
        for _ in range(draws):
            picked = points[rng.integers(QUERIES, size=QUERIES)].sum(axis=0)
            choix.ilsr_pairwise_dense(picked, alpha=0.0)


def furthest_from_choix() -> float:
    """The largest difference in a rating between our maximum of the likelihood and choix's."""
    battles = from_judgments(published_size(), judge="judge")
    ranking = rate(battles, draws=1, seed=SEED, penalty="none")
    far = 0.0
    for code, language_battles in battles.items():
        points = (language_battles.wins + language_battles.ties / 2).sum(axis=0)
        theta = choix.ilsr_pairwise_dense(points, alpha=0.0, tol=1e-12)
        far = max(far, float(np.abs(ranking.languages[code].theta - (theta - theta.mean())).max()))
    return far


def thousand() -> list[Row]:
    """1,000 draws with Jeffreys' prior beside 200 of the maximum of the likelihood, and one language of it alone."""
    battles = from_judgments(published_size(), judge="judge")
    many, few, alone = seconds(
        lambda: rate(battles, seed=SEED),
        lambda: rate(battles, draws=200, seed=SEED, penalty="none"),
        lambda: rate({"en": battles["en"]}, seed=SEED),
        rounds=7,
    )
    return [
        Row(
            "18 languages x 19 systems x 100 queries, 1,000 draws, bias-reduced, from counts",
            f"{1000 * many:.0f} ms",
            f"200 draws of the maximum likelihood: {1000 * few:.0f} ms",
            f"{many / few:.1f} times",
            "at most 4 times",
        ),
        Row("one language of it", f"{1000 * alone:.0f} ms", "", "", "under 50 ms"),
    ]


_MANY = """
import time
from benchmarks.ranking import judgments
from mirage.battles.verdict_rows import from_judgments
from mirage.ranking.bootstrap import rate
rows = judgments(["en"], {systems}, {queries})
rate(from_judgments(judgments(["en"], 3, 5), judge="judge"), draws=5)
start = time.perf_counter()
battles = from_judgments(rows, judge="judge")
counted = time.perf_counter()
rate(battles, draws={draws})
print("battles=" + str(len(rows)))
print("counting=" + str(counted - start))
print("rating=" + str(time.perf_counter() - counted))
"""


def run() -> list[Row]:
    """Time ours against the others; the slow ones on fewer languages and draws, scaled linearly (said so)."""
    battles = from_judgments(published_size(), judge="judge")
    two, draws = {code: battles[code] for code in ("ar", "zh")}, 20
    mirage_seconds, dense = seconds(ours, lambda: choix_dense(two, draws))
    scaled = dense * len(LANGUAGES) * DRAWS / (len(two) * draws)
    rows = [
        Row(
            ARENA,
            f"{1000 * mirage_seconds:.0f} ms",
            f"choix.ilsr_pairwise_dense on counted battles: {scaled:,.1f} s (scaled from {len(two)} x {draws} fits)",
            f"{scaled / mirage_seconds:,.0f} times",
            "at least 15 times",
        ),
        Row(
            "the same ratings as choix, with `--penalty none`",
            f"{furthest_from_choix():.1e} logits at most",
            "",
            "",
            "1e-7",
        ),
        *thousand(),
    ]
    many, peak = in_fresh_process(_MANY.format(systems=200, queries=151, draws=1000))
    whole = many["counting"] + many["rating"]
    rows.append(
        Row(
            f"{many['battles']:,.0f} battles of 200 systems, 1,000 draws, from rows",
            f"{whole:.1f} s, {peak:,.0f} MB at its peak",
            f"of that counting the rows: {many['counting']:.1f} s",
            "",
            "under 5 s and 1 GB",
        )
    )
    sizes = [in_fresh_process(_MANY.format(systems=SYSTEMS, queries=q, draws=DRAWS))[0] for q in (18, 175, 1754, 17544)]
    milliseconds = [1000 * (size["counting"] + size["rating"]) for size in sizes]
    rows.append(
        Row(
            "19 systems, 200 draws, from rows: " + ", ".join(f"{size['battles']:,.0f}" for size in sizes) + " battles",
            ", ".join(f"{ms:,.0f}" for ms in milliseconds) + " ms",
            "",
            f"{(milliseconds[-1] / milliseconds[0]) / (sizes[-1]['battles'] / sizes[0]['battles']):.2f} of what a line "
            "through the smallest would give",
            "at most 1",
        )
    )
    return rows
