"""The paper's Tables 2 to 5 on one arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mirage import surrogate
from mirage.errors import NotEnoughData
from mirage.pipeline.reproduce.material import GRADES, Array, Material, leave_each_out, predicted
from mirage.rank.languages import kendall
from mirage.surrogate.draws import LINEAR
from mirage.surrogate.regressors import ESTIMATORS

ALL = "all"
"""Language of a mean over languages."""
KEPT = 7
"""Features that the paper keeps where it drops those of low correlation."""


@dataclass(frozen=True)
class Item:
    """One table or figure, as rows."""

    name: str
    """Name of its file: `table2`."""
    item: str
    """Name in the paper: `Table 2`; empty where the paper has none."""
    title: str
    """What it shows."""
    columns: tuple[str, ...]
    """Its columns."""
    rows: tuple[Mapping[str, Any], ...]
    """Its rows; a value that could not be had is null, with `reason` beside it where the table has one."""
    method: str
    """How it was made."""
    note: str = ""
    """What a reader must know of it."""


def r2(predictions: Array, truth: Array, at: Sequence[int]) -> float | None:
    """R2 over some systems; None where it is not defined."""
    try:
        return float(surrogate.r2(predictions[list(at)], truth[list(at)]))
    except NotEnoughData:
        return None


def split(material: Material, code: str) -> tuple[list[int], list[int]]:
    """Places of the systems trained on, and of those held out."""
    systems = material.systems(code)
    held = [systems.index(s) for s in material.holdout]
    return [k for k in range(len(systems)) if k not in held], held


def table2(material: Material) -> Item:
    """Kendall's tau of the surrogate's ranking against the judge's."""
    whole = {code: material.whole(code) for code in material.battles}
    forest = material.forest
    left_out = {
        "published": material.forest_left_out,
        "ours": leave_each_out(whole, LINEAR, material.seed),
    }
    rows: list[dict[str, Any]] = []
    for code, one in whole.items():
        truth = one.theta[0]
        row: dict[str, Any] = {
            "language": code,
            "published": material.print_of("Table 2", language=code),
            "tau": _tau(forest[code], truth) if code in forest else None,
        }
        for way, made in left_out.items():
            row[f"tau_left_out_{way}"] = _tau(made[code], truth) if code in made else None
        rows.append(row | {"n_systems": len(truth)})
    rows.append(
        {"language": ALL, "published": material.print_of("Table 2", language=ALL)}
        | {key: mean(row[key] for row in rows) for key in ("tau", "tau_left_out_published", "tau_left_out_ours")}
        | {"n_systems": len({s for one in whole.values() for s in one.systems})}
    )
    return Item(
        "table2",
        "Table 2",
        "Kendall's tau of the surrogate ranking against the judge's",
        ("language", "published", "tau", "tau_left_out_published", "tau_left_out_ours", "n_systems"),
        tuple(rows),
        f"tau: random forest on all systems but {' and '.join(material.holdout)}, then all systems ranked, as "
        "published: most of them were trained on. tau_left_out: each system predicted by a fit that did not see it, "
        f"by the forest and by {LINEAR} ridge.",
    )


def table3(material: Material) -> Item:
    """R2 of the five regressors, and of ours, on the systems trained on and on those held out."""
    whole = {code: material.whole(code) for code in material.battles}
    rows = []
    for name in (*ESTIMATORS, LINEAR):
        made = predicted(whole, name, material.holdout, material.seed)
        printed = surrogate.REGRESSORS[name].published
        for part in ("train", "holdout"):
            own = []
            for code, one in whole.items():
                at = split(material, code)[part == "holdout"]
                value = r2(made[code][0], one.theta[0], at) if code in made else None
                setting = f"{part}, {printed}"
                published = material.print_of("Table 3", language=code, setting=setting) if printed else None
                own.append(_row(code, name, part, published, value, len(at)))
            rows += [*own, _row(ALL, name, part, None, mean(r["r2"] for r in own), min(r["n_systems"] for r in own))]
    return Item(
        "table3",
        "Table 3",
        "R2 of the regressors, on the systems trained on and on those held out",
        ("language", "regressor", "part", "published", "r2", "n_systems"),
        tuple(rows),
        "feature means over all questions against the mean rating over tournaments; held out: "
        + " and ".join(material.holdout),
        "boosting stands for XGBoost (XGB Regressor). R2 of two systems says little: it is here because it is printed.",
    )


def _row(language: str, regressor: str, part: str, published: Any, value: float | None, n: int) -> dict[str, Any]:
    return {
        "language": language,
        "regressor": regressor,
        "part": part,
        "published": published,
        "r2": value,
        "n_systems": n,
    }


def table4(material: Material) -> Item:
    """Feature ablation: tau with some of the features."""
    whole = {code: material.whole(code) for code in material.battles}
    strength = _correlation(material, whole)
    order = sorted(material.features, key=lambda f: (-strength[f], material.features.index(f)))
    sets = {
        "All features": list(material.features),
        "Without LLM-as-judge": [f for f in material.features if f not in GRADES],
        "Without low-correlation": order[:KEPT],
        "Only LLM-as-judge": [f for f in material.features if f in GRADES],
    }
    rows = []
    for setting, names in sets.items():
        some = {code: one.only(names) for code, one in whole.items()} if names else {}
        made = predicted(some, "forest", material.holdout, material.seed) if names else {}
        held = leave_each_out(some, LINEAR, material.seed) if names else {}
        own = [
            {
                "language": code,
                "features": setting,
                "n_features": len(names),
                "published": material.print_of("Table 4", language=code, setting=setting),
                "tau": _tau(made[code][0], one.theta[0]) if code in made else None,
                "tau_left_out_ours": _tau(held[code], one.theta[0]) if code in held else None,
                "reason": None if code in made else "the arena has none of these features",
            }
            for code, one in whole.items()
        ]
        joint = {key: mean(row[key] for row in own) for key in ("tau", "tau_left_out_ours")}
        rows += [*own, {**own[0], "language": ALL, "published": None, **joint}]
    return Item(
        "table4",
        "Table 4",
        "Kendall's tau with some of the features",
        ("language", "features", "n_features", "published", "tau", "tau_left_out_ours", "reason"),
        tuple(rows),
        "random forest as in Table 2; low-correlation: all but the "
        f"{KEPT} features whose means rank the systems most like the ratings do (absolute tau, mean over languages): "
        + ", ".join(order[:KEPT]),
    )


def _correlation(material: Material, whole: Mapping[str, surrogate.Draws]) -> dict[str, float]:
    found = {}
    for f, name in enumerate(material.features):
        each = [abs(float(kendall(one.means[0, :, f], one.theta[0]))) for one in whole.values()]
        each = [value for value in each if np.isfinite(value)]
        found[name] = float(np.mean(each)) if each else 0.0
    return found


def table5(material: Material) -> Item:
    """R2 over tournaments, with the published kind of interval."""
    rows = []
    for name, n in (("forest", material.forest_draws), (LINEAR, material.draws)):
        drawn = {code: material.drawn(code, n) for code in material.battles}
        made = predicted(drawn, name, material.holdout, material.seed)
        for part in ("holdout", "train", "all systems"):
            for code, one in drawn.items():
                train, held = split(material, code)
                at = {"holdout": held, "train": train, "all systems": sorted([*train, *held])}[part]
                told = [
                    value
                    for p, y in zip(made.get(code, ()), one.theta, strict=False)
                    if np.isfinite(y).all() and (value := r2(p, y, at)) is not None
                ]
                row: dict[str, Any] = {"language": code, "regressor": name, "part": part, "published": None}
                row |= {"published_minus": None, "published_plus": None, "r2": None, "minus": None, "plus": None}
                if name == "forest" and part == "holdout":
                    row["published"] = material.print_of("Table 5", language=code, metric="mean_r2")
                    row["published_minus"] = material.print_of("Table 5", language=code, metric="ci95_minus")
                    row["published_plus"] = material.print_of("Table 5", language=code, metric="ci95_plus")
                if told:
                    centre = float(np.mean(told))
                    low, high = np.percentile(told, [2.5, 97.5])
                    row |= {"r2": centre, "minus": float(low - centre), "plus": float(high - centre)}
                rows.append(row | {"n_tournaments": len(told), "n_systems": len(at)})
    return Item(
        "table5",
        "Table 5",
        "R2 over tournaments, mean and distance to the 2.5 and 97.5 percentiles",
        (
            *("language", "regressor", "part", "published", "published_minus", "published_plus"),
            *("r2", "minus", "plus", "n_tournaments", "n_systems"),
        ),
        tuple(rows),
        f"one fit a tournament, trained on its own feature means and ratings; the forest on the first "
        f"{material.forest_draws} tournaments, {LINEAR} ridge on all {material.draws}",
        "Percentiles over tournaments of 100 drawn queries, as published: not an interval of the data.",
    )


def _tau(first: Array, second: Array) -> float | None:
    value = float(kendall(first, second))
    return value if np.isfinite(value) and np.isfinite(first).all() else None


def mean(values: Any) -> float | None:
    """Mean of what is there; None if nothing is."""
    told = [value for value in values if value is not None]
    return float(np.mean(told)) if told else None
