"""An arena that never was: answers' features and judges' verdicts drawn from a known truth, to try a method on.

    made = simulate(systems=19, queries=100, languages=["en", "sw"], seed=7)
    made.tables["judgments"], made.tables["features"]
    made.theta["en"]                                     # what a ranking should find

A system has one quality everywhere and a deviation in each language; on a query it is better or worse than that.
Verdicts follow the difference in quality on the query, features follow it loosely: each has its own loading, and
each system its own way with each feature. By default it is of the size of the MIRAGE-Bench arena.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mirage import schema
from mirage.text.languages import LANGUAGES

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[np.float64]

QUALITY = 1.2
"""Spread (standard deviation) of the systems' quality over all languages, in logits."""
BY_LANGUAGE = 0.35
"""Spread of a system's deviation in a language."""
BY_QUERY = 0.6
"""Spread of a system's deviation on a query, the same for every judge."""
OWN_WAY = 0.5
"""Spread of what a system's feature has that its quality does not tell, in standard deviations of the feature."""


@dataclass(frozen=True, slots=True)
class Loading:
    """Dependence of a simulated feature on the quality of an answer."""

    feature: str
    """Name of the feature."""
    loading: float
    """Standard deviations of the feature for one logit of quality."""
    scale: Literal["share", "grade", "logit"]
    """What it is turned into: a number in [0, 1], a whole grade from 1 to 5, or a logit."""
    absent: float = 0.0
    """Share of the answers without a value."""


LOADINGS = (
    Loading("target_language", 0.5, "share"),
    Loading("english_language", -0.3, "share"),
    Loading("citation_MAP@10", 0.7, "share"),
    Loading("citation_Recall@10", 0.6, "share"),
    Loading("support_entailment", 0.4, "share", absent=0.05),
    Loading("support_neutral", -0.2, "share", absent=0.05),
    Loading("reranker_score", 0.3, "logit", absent=0.05),
    Loading("answer_bleu", 0.5, "share"),
    Loading("answer_rougeL", 0.6, "share"),
    Loading("answer_overlap_score", 0.9, "grade"),
    Loading("fluency_score", 0.7, "grade"),
)
"""The eleven features of MIRAGE-Bench, with loadings made up for the purpose."""


@dataclass(frozen=True, eq=False)
class SimulatedArena:
    """Tables drawn from a model with known ratings, and these ratings."""

    tables: Mapping[str, pa.Table]
    """Tables `queries`, `features` and `judgments`."""
    theta: Mapping[str, Mapping[str, float]]
    """By language and system: its quality there, in logits of a verdict on a query of average difficulty. A
    Bradley-Terry fit finds these values shrunk by a common factor, since quality varies between queries."""
    seed: int


def simulate_arena(
    *,
    systems: int = 19,
    queries: int = 100,
    languages: Sequence[str] | None = None,
    seed: int,
    judges: Sequence[str] = ("judge",),
    tie: float = 0.1,
    share: float = 1.0,
    orders: Literal[1, 2] = 1,
    first: float = 0.0,
) -> SimulatedArena:
    """Draw an arena.

    Args:
        systems: how many systems, named `sim-01` and so on; their order by name says nothing of their quality.
        queries: queries in each language.
        languages: codes; None for all 18. A language's rows do not depend on which others are drawn beside it.
        seed: seed of everything.
        judges: names of the judges. Each has leanings of its own towards single systems, but for the first.
        tie: probability of a tie in each battle.
        share: share of the pairs of systems that battle on each query.
        orders: 1 for each pair in a random order, 2 for both orders.
        first: logits that the answer shown first is preferred by.
    """
    codes = list(LANGUAGES if languages is None else languages)
    rng = np.random.default_rng([seed, 0])
    names = np.array([f"sim-{k + 1:02}" for k in range(systems)], dtype=object)
    quality = _spread(rng, systems)
    ways = rng.normal(0, OWN_WAY, (systems, len(LOADINGS)))
    leanings = rng.normal(0, 0.3, (len(judges), systems))
    leanings[0] = 0
    parts: dict[str, list[dict[str, Any]]] = {"queries": [], "features": [], "judgments": []}
    truth = {}
    for code in codes:
        rng = np.random.default_rng([seed, zlib.crc32(code.encode())])
        theta = quality + rng.normal(0, BY_LANGUAGE, systems)
        theta -= theta.mean()
        truth[code] = {str(name): float(t) for name, t in zip(names, theta, strict=True)}
        ids = np.array([f"{code}-{q + 1:04}" for q in range(queries)], dtype=object)
        strengths = theta + rng.normal(0, BY_QUERY, (queries, systems))
        parts["queries"].append({"language": [code] * queries, "query_id": ids})
        parts["features"].append(_features(rng, code, ids, names, strengths, ways))
        for judge, leaning in zip(judges, leanings, strict=True):
            parts["judgments"].append(
                _judgments(
                    rng, code, ids, names, strengths + leaning, judge, tie=tie, share=share, orders=orders, first=first
                )
            )
    tables = {name: _table(name, columns) for name, columns in parts.items()}
    return SimulatedArena(tables, truth, seed)


def _spread(rng: np.random.Generator, systems: int) -> Array:
    """Qualities that lie as the quantiles of a normal distribution do, in random order."""
    from scipy.special import ndtri

    return np.asarray(rng.permutation(QUALITY * ndtri((np.arange(systems) + 0.5) / systems)))


def _features(
    rng: np.random.Generator, code: str, ids: NDArray[Any], names: NDArray[Any], strengths: Array, ways: Array
) -> dict[str, Any]:
    """The values of every feature, a row a query, system and feature."""
    shape = (*strengths.shape, len(LOADINGS))
    x = strengths[:, :, None] * [entry.loading for entry in LOADINGS] + ways
    x += rng.normal(0, 0.3, (1, 1, len(LOADINGS))) + rng.normal(0, 0.1, (1, *shape[1:])) + rng.normal(0, 1, shape)
    values = np.empty(shape)
    reasons = np.full(shape, None, dtype=object)
    for f, entry in enumerate(LOADINGS):
        part = 1 / (1 + np.exp(-x[:, :, f]))
        values[:, :, f] = {"share": part, "grade": np.rint(1 + 4 * part), "logit": x[:, :, f]}[entry.scale]
        absent = rng.random(strengths.shape) < entry.absent
        values[:, :, f][absent] = np.nan
        reasons[:, :, f][absent] = "nothing is cited"
    n = int(np.prod(shape))
    return {
        "language": [code] * n,
        "query_id": np.repeat(ids, shape[1] * shape[2]),
        "system": np.tile(np.repeat(names, shape[2]), shape[0]),
        "feature": np.tile([entry.feature for entry in LOADINGS], shape[0] * shape[1]),
        "value": values.ravel(),
        "reason": reasons.ravel(),
    }


def _judgments(
    rng: np.random.Generator,
    code: str,
    ids: NDArray[Any],
    names: NDArray[Any],
    strengths: Array,
    judge: str,
    *,
    tie: float,
    share: float,
    orders: int,
    first: float,
) -> dict[str, Any]:
    """One judge's verdicts in one language."""
    i, j = np.triu_indices(len(names), 1)
    q = np.repeat(np.arange(len(ids)), len(i))
    a, b = np.tile(i, len(ids)), np.tile(j, len(ids))
    fought = rng.random(len(q)) < share
    q, a, b = q[fought], a[fought], b[fought]
    if orders == 2:
        q, a, b = np.tile(q, 2), np.concatenate([a, b]), np.concatenate([b, a])
    else:
        turned = rng.random(len(q)) < 0.5
        a, b = np.where(turned, b, a), np.where(turned, a, b)
    wins = rng.random(len(q)) < 1 / (1 + np.exp(strengths[q, b] - strengths[q, a] - first))
    verdict = np.where(rng.random(len(q)) < tie, "tie", np.where(wins, "A", "B"))
    return {
        "language": [code] * len(q),
        "query_id": ids[q],
        "judge": [judge] * len(q),
        "system_a": names[a],
        "system_b": names[b],
        "verdict": verdict,
    }


def _table(name: str, parts: list[dict[str, Any]]) -> pa.Table:
    """One table of the parts, in the order of its key."""
    import pyarrow as pa

    if name == "queries":
        reason = "the arena is simulated, and has no texts"
        parts = [{**part, "reason": [reason] * len(part["language"])} for part in parts]
    return schema.sort(name, pa.concat_tables([schema.from_columns(name, part) for part in parts]))
