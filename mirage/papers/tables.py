"""The paper's Tables 2 to 5 on one arena."""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mirage.errors import NotEnoughData
from mirage.papers.material import GRADES, Array, Material, leave_two_out
from mirage.ranking import paper, surrogate
from mirage.ranking.surrogate.data import FEWEST
from mirage.ranking.surrogate.draws import LINEAR
from mirage.ranking.surrogate.regressors import ESTIMATORS
from mirage.stats.kendall import kendall

ALL = "all"
"""Language of a mean over languages."""
KEPT = 7
"""Number of features the paper retains when it drops those of low correlation."""
FEW = "Without low-correlation"
"""Name of this feature set."""
HELD_OUT = 4
"""Number of systems held out in each random split of Table 3, of 19."""


@dataclass(frozen=True)
class PaperItem:
    """One table or figure, as rows."""

    name: str
    """Base name of its file: `table2`."""
    item: str
    """Name in the paper: `Table 2`; empty if the paper has none."""
    title: str
    """What it shows."""
    columns: tuple[str, ...]
    """Its columns."""
    rows: tuple[Mapping[str, Any], ...]
    """Rows; unavailable values are null, with `reason` if the table has that column."""
    method: str
    """Method."""
    note: str = ""
    """Note to the reader."""


def paper_item(name: str, title: str, rows: Sequence[Mapping[str, Any]], method: str, note: str = "") -> PaperItem:
    """Return a table or figure of the paper by the base name of its file; its columns are those of the first row."""
    return PaperItem(name, f"{name[:-1].capitalize()} {name[-1]}", title, (*rows[0],), (*rows,), method, note)


def mean_row(rows: Sequence[Mapping[str, Any]], *names: str) -> dict[str, Any]:
    """Return the row `all` of the languages' rows: the means of some columns, nothing printed, the rest as in the
    first.
    """
    printed = dict.fromkeys(name for name in rows[0] if name.startswith("published"))
    return {**rows[0], "language": ALL, **printed, **{name: mean(row[name] for row in rows) for name in names}}


def r2_or_none(predictions: Array, truth: Array, positions: Sequence[int]) -> float | None:
    """Return R2 over some systems; None if undefined."""
    try:
        return float(surrogate.r2(predictions[list(positions)], truth[list(positions)]))
    except NotEnoughData:
        return None


def holdout_places(material: Material, code: str) -> tuple[list[int], list[int]]:
    """Return the indices of the training systems, and of those held out."""
    systems = material.systems(code)
    held_out = [systems.index(s) for s in material.holdout]
    return [k for k in range(len(systems)) if k not in held_out], held_out


def table2(material: Material) -> PaperItem:
    """Return Kendall's tau of the surrogate's ranking against the judge's."""
    whole = {code: material.whole(code) for code in material.battles}
    forest = material.forest
    left_out = {
        "published": material.forest_left_out,
        "ours": leave_two_out(whole, LINEAR, material.settings.seed, fits=material.fits),
    }
    rows: list[dict[str, Any]] = []
    for code, draws in whole.items():
        truth = draws.theta[0]
        row: dict[str, Any] = {
            "language": code,
            "published": material.print_of("Table 2", language=code),
            "tau": _tau(forest[code], truth) if code in forest else None,
        }
        for way, predictions in left_out.items():
            row[f"tau_left_out_{way}"] = tau_left_out(predictions[code], truth) if code in predictions else None
        rows.append(row | {"n_systems": len(truth), "rated": material.played[code].rated})
    joint = mean_row(rows, "tau", "tau_left_out_published", "tau_left_out_ours", "rated")
    joint["published"] = material.print_of("Table 2", language=ALL)
    joint["n_systems"] = len({s for draws in whole.values() for s in draws.systems})
    return paper_item(
        "table2",
        "Kendall's tau of the surrogate ranking against the judge's",
        [*rows, joint],
        f"tau: random forest on all systems but {' and '.join(material.holdout)}, then all systems ranked, as "
        "published: most of them were trained on. tau_left_out: over pairs of systems, each predicted by a fit that "
        f"saw neither of the two, by the forest and by {LINEAR} ridge. rated: share of the tournaments that have a "
        "rating, over which the judge's is the mean.",
    )


def table3(material: Material) -> PaperItem:
    """Return R2 of the paper's five regressors, and of ours, on training and held-out systems, over random splits.

    As in the paper each split trains on a random set of systems and holds out the others: 15 and 4 of its 19. With
    fewer systems the same share is held out, at least 2. A split is the same for all regressors and languages.
    """
    whole = {code: material.whole(code) for code in material.battles}
    splits = random_splits(whole, material.settings.splits, material.settings.seed)
    rows = []
    names = (*ESTIMATORS, LINEAR)
    fitted = material.fits.run([(whole, name, out, material.settings.seed) for name in names for out in splits])
    for name in names:
        printed = surrogate.REGRESSORS[name].published
        predictions = [(out, next(fitted)) for out in splits]
        for part in ("train", "holdout"):
            language_rows = []
            for code, draws in whole.items():
                setting = f"{part}, {printed}"
                published = material.print_of("Table 3", language=code, setting=setting) if printed else None
                scores, sizes = [], []
                for out, values in predictions:
                    positions = [k for k, s in enumerate(draws.systems) if (s in out) == (part == "holdout")]
                    sizes.append(len(positions))
                    if code in values and (value := r2_or_none(values[code][0], draws.theta[0], positions)) is not None:
                        scores.append(value)
                row: dict[str, Any] = {"language": code, "regressor": name, "part": part, "published": published}
                row |= {"r2": mean(scores), "r2_median": float(np.median(scores)) if scores else None}
                row |= {"n_systems": min(sizes), "n_splits": len(scores), "rated": material.played[code].rated}
                language_rows.append(row)
            fewest = {key: min(row[key] for row in language_rows) for key in ("n_systems", "n_splits")}
            rows += [*language_rows, mean_row(language_rows, "r2", "r2_median", "rated") | fewest]
    return paper_item(
        "table3",
        "R2 of the regressors, on the systems trained on and on those held out",
        rows,
        "feature means over all queries against the mean rating over tournaments; over splits in which the systems "
        f"held out are drawn at random ({HELD_OUT} of 19, elsewhere the same share), the mean as published, and the "
        "median",
        "boosting stands for XGBoost (XGB Regressor). R2 of a few systems has no lower bound: a split whose held-out "
        "systems are alike can carry the mean far below zero, as in the printed linear regression.",
    )


def random_splits(whole: Mapping[str, surrogate.Draws], n: int, seed: int) -> list[tuple[str, ...]]:
    """Return the held-out systems of each random split, the same in all languages."""
    systems = sorted({s for draws in whole.values() for s in draws.systems})
    count = max(
        2, min(round(len(systems) * HELD_OUT / 19), min(len(draws.systems) for draws in whole.values()) - FEWEST)
    )
    rng = np.random.default_rng([seed, zlib.crc32(b"splits")])
    return [tuple(sorted(rng.permutation(systems)[:count].tolist())) for _ in range(n)]


def table4(material: Material) -> PaperItem:
    """Return the feature ablation: tau with subsets of the features."""
    whole = {code: material.whole(code) for code in material.battles}
    order = features_by_tau(material.features, whole)
    sets = {
        "All features": list(material.features),
        "Without LLM-as-judge": [f for f in material.features if f not in GRADES],
        FEW: order[:KEPT],
        "Only LLM-as-judge": [f for f in material.features if f in GRADES],
    }
    rows = []
    for setting, names in sets.items():
        selected = {code: draws.only(names) for code, draws in whole.items()} if names else {}
        predictions = material.predict(selected, "forest") if names else {}
        # Features for a left-out pair are selected without it.
        choose = (lambda out: features_by_tau(material.features, whole, out)[:KEPT]) if setting == FEW else None
        left_out = (
            leave_two_out(
                whole if choose else selected, LINEAR, material.settings.seed, features=choose, fits=material.fits
            )
            if names
            else {}
        )
        language_rows = [
            {
                "language": code,
                "features": setting,
                "n_features": len(names),
                "published": material.print_of("Table 4", language=code, setting=setting),
                "tau": _tau(predictions[code][0], draws.theta[0]) if code in predictions else None,
                "tau_left_out_ours": tau_left_out(left_out[code], draws.theta[0]) if code in left_out else None,
                "rated": material.played[code].rated,
                "reason": None if code in predictions else "the arena has none of these features",
            }
            for code, draws in whole.items()
        ]
        rows += [*language_rows, mean_row(language_rows, "tau", "tau_left_out_ours", "rated")]
    return paper_item(
        "table4",
        "Kendall's tau with some of the features",
        rows,
        "random forest as in Table 2; low-correlation: all but the "
        f"{KEPT} features whose means rank the systems most like the ratings do (absolute tau, mean over languages): "
        + ", ".join(order[:KEPT]),
    )


def features_by_tau(
    features: Sequence[str], whole: Mapping[str, surrogate.Draws], out: Collection[str] = ()
) -> list[str]:
    """Sort features by how well their means rank the systems (absolute tau with the ratings, mean over languages),
    optionally excluding some systems.
    """
    strength = {}
    for f, name in enumerate(features):
        taus = []
        for draws in whole.values():
            positions = [k for k, s in enumerate(draws.systems) if s not in out]
            taus.append(abs(float(kendall(draws.means[0, positions, f], draws.theta[0, positions]))))
        finite = [value for value in taus if np.isfinite(value)]
        strength[name] = float(np.mean(finite)) if finite else 0.0
    return sorted(features, key=lambda f: (-strength[f], features.index(f)))


def table5(material: Material) -> PaperItem:
    """Return R2 over tournaments, with the published kind of interval."""
    rows = []
    for name, n in (("forest", material.settings.forest_draws), (LINEAR, material.settings.draws)):
        drawn = {code: material.first_tournaments(code, n) for code in material.battles}
        predictions = material.predict(drawn, name)
        for part in ("holdout", "train", "all systems"):
            for code, draws in drawn.items():
                train, held_out = holdout_places(material, code)
                positions = {"holdout": held_out, "train": train, "all systems": sorted([*train, *held_out])}[part]
                scores = [
                    value
                    for p, y in zip(predictions.get(code, ()), draws.theta, strict=False)
                    if np.isfinite(y).all() and (value := r2_or_none(p, y, positions)) is not None
                ]
                row: dict[str, Any] = {"language": code, "regressor": name, "part": part}
                for end in ("", "_minus", "_plus"):
                    metric = f"ci95{end}" if end else "mean_r2"
                    printed = name == "forest" and part == "holdout"
                    row[f"published{end}"] = (
                        material.print_of("Table 5", language=code, metric=metric) if printed else None
                    )
                row |= {"r2": mean(scores), "minus": None, "plus": None}
                if scores and len(scores) >= paper.FEWEST_RATED * len(draws.theta):
                    low, high = np.percentile(scores, [2.5, 97.5])
                    row |= {"minus": float(low - row["r2"]), "plus": float(high - row["r2"])}
                row |= {"n_tournaments": len(scores), "n_systems": len(positions)}
                rows.append(row | {"rated": len(scores) / len(draws.theta)})
    return paper_item(
        "table5",
        "R2 over tournaments, mean and distance to the 2.5 and 97.5 percentiles",
        rows,
        f"one fit a tournament, trained on its own feature means and ratings; the forest on the first "
        f"{material.settings.forest_draws} tournaments, {LINEAR} ridge on all {material.settings.draws}",
        "Percentiles over tournaments of 100 drawn queries, as published: not an interval of the data. None where "
        f"under {paper.FEWEST_RATED:.0%} of the tournaments have a rating (rated).",
    )


def tau_left_out(predicted: Array, truth: Array) -> float | None:
    """Return Kendall's tau-b of S x S predictions over pairs of systems left out together, and S ratings."""
    tau = float(surrogate.tau_parts(predicted, truth).mean())
    return tau if np.isfinite(tau) else None


def _tau(first: Array, second: Array) -> float | None:
    value = float(kendall(first, second))
    return value if np.isfinite(value) and np.isfinite(first).all() else None


def mean(values: Any) -> float | None:
    """Return the mean of the non-null values; None if there are none."""
    numbers = [value for value in values if value is not None]
    return float(np.mean(numbers)) if numbers else None
