"""The paper's Figures 3 to 6 on one arena."""

from __future__ import annotations

import zlib
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.papers.material import Array, Material, pair_counts
from mirage.papers.tables import PaperItem, holdout_places, mean, mean_row, paper_item, r2_or_none
from mirage.ranking import surrogate
from mirage.ranking.fit import Fit, PairCounts, fit
from mirage.ranking.surrogate.draws import LINEAR
from mirage.ranking.surrogate.regressors import ESTIMATORS
from mirage.stats.kendall import kendall

SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
"""Shares of the judged queries, or of the judged pairs, in a subsample."""
SUBSAMPLES = 30
"""Subsamples of each size."""


def figure3(material: Material) -> PaperItem:
    """Return the systems' means of each feature."""
    rows: list[dict[str, Any]] = []
    for code in material.battles:
        means, values = material.means(code), material.values[code]
        coverage = np.isfinite(values).mean(axis=0)
        rows += [
            {
                "language": code,
                "feature": feature,
                "system": system,
                "mean": float(means[s, f]) if np.isfinite(means[s, f]) else None,
                "coverage": float(coverage[s, f]),
                "n_queries": len(values),
            }
            for s, system in enumerate(material.systems(code))
            for f, feature in enumerate(material.features)
        ]
    for feature, system in product(material.features, sorted({row["system"] for row in rows})):
        own = [row for row in rows if (row["feature"], row["system"]) == (feature, system)]
        rows.append(mean_row(own, "mean", "coverage") | {"n_queries": sum(row["n_queries"] for row in own)})
    return paper_item(
        "figure3",
        "Mean of each feature by system",
        rows,
        "mean over the queries where the feature exists, coverage beside it; `all`: mean over languages",
    )


def figure4(material: Material) -> PaperItem:
    """Return ranks by the judge and by the surrogate."""
    predictions = material.forest
    rows = []
    for code, tournaments in material.played.items():
        judge_ranks = _ranks(tournaments.mean())
        surrogate_ranks = _ranks(predictions[code]) if code in predictions else [None] * len(judge_ranks)
        for system, by_judge, by_surrogate in zip(tournaments.systems, judge_ranks, surrogate_ranks, strict=True):
            key = {"language": code, "system": system}
            rows.append(
                key
                | {
                    "judge": by_judge,
                    "surrogate": by_surrogate,
                    "held_out": system in material.holdout,
                    "published_judge": material.print_of("Figure 4", setting="judge", **key),
                    "published_surrogate": material.print_of("Figure 4", setting="surrogate", **key),
                    "n_systems": len(judge_ranks),
                    "rated": tournaments.rated,
                }
            )
    return paper_item(
        "figure4",
        "Ranks by the judge and by the surrogate",
        rows,
        "ranks of the mean rating over tournaments that have one (rated: their share), and of the random forest of "
        "Table 2",
    )


def figure5(material: Material) -> PaperItem:
    """Return feature importances: the forest's impurities as published, and the permutation loss on held-out
    systems.
    """
    shares: dict[str, list[float]] = {name: [] for name in material.features}
    for code in material.battles:
        draws = material.whole(code)
        train, _ = holdout_places(material, code)
        use = np.isfinite(draws.means[0]).all(axis=0)
        if use.any():
            forest = ESTIMATORS["forest"](material.settings.seed).fit(
                draws.means[0][train][:, use], draws.theta[0, train]
            )
            named = [name for name, yes in zip(material.features, use, strict=True) if yes]
            for name, value in zip(named, forest.feature_importances_, strict=True):
                shares[name].append(float(value))
    importances = {
        importance.feature: importance
        for importance in surrogate.importances(material.training, LINEAR, seed=material.settings.seed)
    }
    rows: list[dict[str, Any]] = [
        {
            "feature": name,
            "importance": mean(shares[name]),
            "n_languages": len(shares[name]),
            "rise": importances[name].rise if name in importances else None,
            "rise_low": importances[name].low if name in importances else None,
            "rise_high": importances[name].high if name in importances else None,
            "n_systems": importances[name].systems if name in importances else None,
        }
        for name in material.features
    ]
    rows.sort(key=lambda row: (-(row["importance"] or 0.0), row["feature"]))
    return paper_item(
        "figure5",
        "Feature importances",
        rows,
        "importance: impurities of the random forest of Table 2 on the systems trained on, mean over languages, as "
        f"published; rise: of the squared error of left-out systems by {LINEAR} ridge when the feature is another "
        "system's, with a 95% interval over systems",
    )


def figure6(material: Material) -> PaperItem:
    """Return the agreement of rankings from fewer judged queries or pairs with the whole ranking."""
    full = {code: fit(pair_counts(battles)) for code, battles in material.battles.items()}
    rows = []
    for unit in ("questions", "pairs"):
        for share in (*SHARES, 1.0):
            language_rows = []
            thetas = {code: _rate_subsamples(material, code, full[code], unit, share) for code in full}
            draws = {
                code: surrogate.Draws(
                    material.systems(code),
                    material.features,
                    np.repeat(material.means(code)[None], len(theta), axis=0),
                    theta,
                )
                for code, theta in thetas.items()
            }
            predicted_ratings = material.predict(draws, LINEAR)
            for code, theta in thetas.items():
                truth = full[code].theta[0]
                _, held_out = holdout_places(material, code)
                taus = kendall(theta, truth)
                predictions = predicted_ratings.get(code)
                language_rows.append(
                    {
                        "language": code,
                        "what": unit,
                        "share": share,
                        "n_judged": _judged(material.battles[code], unit, share),
                        "tau": float(taus.mean()),
                        "low": float(np.percentile(taus, 2.5)),
                        "high": float(np.percentile(taus, 97.5)),
                        "r2": _median(theta, truth, range(len(truth))),
                        "tau_surrogate": None if predictions is None else float(kendall(predictions, truth).mean()),
                        "r2_held_out": None if predictions is None else _median(predictions, truth, held_out),
                        "n_subsamples": len(theta),
                    }
                )
            means = ("n_judged", "tau", "low", "high", "r2", "tau_surrogate", "r2_held_out")
            rows += [*language_rows, mean_row(language_rows, *means)]
    return paper_item(
        "figure6",
        "Agreement with the whole ranking by the share of judged queries or pairs",
        rows,
        f"{SUBSAMPLES} subsamples of each size without replacement, ties dropped, against the ratings of all battles; "
        f"low and high: percentiles over subsamples; the surrogate is {LINEAR} ridge trained on the subsample's "
        "ratings; R2 is the median over subsamples; `all`: mean over languages",
    )


def _rate_subsamples(material: Material, code: str, full: Fit, unit: str, share: float) -> Array:
    """Return the ratings of subsamples (B x S)."""
    battles = material.battles[code]
    if share == 1.0:
        return np.asarray(full.theta)
    rng = np.random.default_rng([material.settings.seed, zlib.crc32(f"{code} {unit}".encode()), round(share * 1000)])
    i, j = np.triu_indices(len(battles.systems), 1)
    first, second = battles.wins[:, i, j].astype(np.float32), battles.wins[:, j, i].astype(np.float32)
    n = _judged(battles, unit, share)
    if unit == "questions":
        place = rng.random((SUBSAMPLES, len(first))).argsort(axis=1).argsort(axis=1)
        masks = [(row < n)[:, None] for row in place]
    else:
        met = np.flatnonzero(_met_pairs(battles))
        chosen = [rng.choice(met, n, replace=False) for _ in range(SUBSAMPLES)]
        masks = [np.isin(np.arange(first.size), cells).reshape(first.shape) for cells in chosen]
    wins, losses = (
        np.array([(side * mask).sum(axis=0) for mask in masks], dtype=np.float64) for side in (first, second)
    )
    return np.asarray(fit(PairCounts(wins, losses, None, len(battles.systems))).theta)


def _met_pairs(battles: Battles) -> NDArray[np.bool_]:
    """Return the pairs that met on a query, including ties (Q x P)."""
    i, j = np.triu_indices(len(battles.systems), 1)
    return np.asarray((battles.wins[:, i, j] + battles.wins[:, j, i] + battles.ties[:, i, j]) > 0)


def _judged(battles: Battles, unit: str, share: float) -> int:
    """Return the number of queries, or of pairs on a query, in a subsample."""
    return max(2, round(share * (len(battles.queries) if unit == "questions" else int(_met_pairs(battles).sum()))))


def _median(values: Array, truth: Array, positions: Any) -> float | None:
    scores = [v for row in values if np.isfinite(row).all() and (v := r2_or_none(row, truth, positions)) is not None]
    return float(np.median(scores)) if scores else None


def _ranks(theta: Array) -> list[int]:
    return [int(r) for r in 1 + (theta[None, :] > theta[:, None] + 1e-9).sum(axis=1)]
