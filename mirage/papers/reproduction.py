"""MIRAGE-Bench's Tables 2 to 5 and Figure 4 on any arena, as published, beside the printed figures."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.battles.judge import verdict_judges
from mirage.battles.verdict_rows import only_judge
from mirage.errors import NotEnoughData
from mirage.papers.printed import MIRAGE_BENCH, Measured, PrintedFigure, set_beside
from mirage.ranking import paper
from mirage.ranking.bootstrap import rate
from mirage.ranking.fit import PairCounts
from mirage.ranking.graph import groups, main_group
from mirage.ranking.judges import Judge, LabelJudge, VerdictJudge
from mirage.ranking.records import JOINT
from mirage.ranking.surrogate.data import FEWEST, Training, averages
from mirage.ranking.surrogate.quality import r2
from mirage.ranking.surrogate.regressors import ESTIMATORS, PUBLISHED, REGRESSORS, fit_and_predict
from mirage.ranking.surrogate.reporting import mean_known
from mirage.ranking.surrogate.training import training
from mirage.stages.stage import Progress
from mirage.stats.kendall import kendall
from mirage.store import arena as arenas
from mirage.store.arena import Arena, open_arena
from mirage.store.cores import on_cores
from mirage.text.data import load_words
from mirage.text.segmentation import count_text

Array = NDArray[np.float64]
Cell = tuple[str, str, str, str, str]
"""Item, metric, setting, system and language of a figure, as in the table `published`."""

FEATURES = (
    *("target_language", "english_language", "citation_MAP@10", "citation_Recall@10", "answer_bleu", "answer_rougeL"),
    *("support_entailment", "support_neutral", "reranker_score", "answer_overlap_score", "fluency_score"),
)
"""The eleven features of the paper."""
GRADES = ("answer_overlap_score", "fluency_score")
"""Features graded by an LLM."""
PRINTED: dict[str, str] = load_words("systems", "mirage.papers")["printed"]
"""Names of the systems in the paper's figures -> in its data sets."""
HELD_OUT = ("google/gemma-1.1-2b-it", "meta-llama/Meta-Llama-3-70B-Instruct")
"""The two systems that the paper holds out."""
SPLIT = 4 / 19
"""Share of the systems held out in each random split of Table 3."""
RETAINED = 7
"""Number of features the paper retains when it drops those of low correlation."""
TAU, R2 = "Kendall's tau of the surrogate ranking against the judge's", "R2"
ALL_FEATURES = "All features (11)"
_UNITS = {TAU: "tau", "rank": "rank"}


@dataclass(frozen=True, slots=True)
class PaperSettings:
    """Extent of a reproduction."""

    languages: Sequence[str] | None = None
    """Codes; None for all that can be ranked."""
    draws: int = paper.TOURNAMENTS
    """Tournaments per language."""
    forest_draws: int = 20
    """Tournaments with a fitted random forest (Table 5); 18 languages take over a second each."""
    splits: int = 20
    """Random splits of the systems (Table 3), each fitted by every regressor."""
    seed: int = 0
    """Seed of all draws and fits."""


@dataclass(frozen=True)
class Reproduction:
    """The reproduced figures, with their data."""

    figures: tuple[PrintedFigure, ...]
    """Every figure of Tables 2 to 5 and Figure 4 on the arena, beside the printed one if the paper has it."""
    material: Material
    """The data they were computed from."""


@dataclass(frozen=True, eq=False)
class PaperLanguage:
    """One language of an arena, prepared for the reproduction."""

    played: paper.Tournaments
    """Its tournaments, among the S systems with features and a bounded rating."""
    values: Array
    """Q x S x F feature values of single answers, NaN if missing."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The S systems, sorted by name."""
        return self.played.systems

    def means(self, times: Array | None = None) -> Array:
        """Return B x S x F means of the features where they exist, over all queries once or `times` (B x Q)."""
        return averages(self.values, np.ones((1, len(self.values))) if times is None else times)


@dataclass(frozen=True, eq=False)
class Material:
    """An arena, prepared for the reproduction."""

    languages: Mapping[str, PaperLanguage]
    """By code."""
    features: tuple[str, ...]
    """The F features, in the order of the paper."""
    holdout: tuple[str, str]
    """The two systems held out."""
    chosen: str
    """Method of choosing the two, in words."""
    missing: Mapping[str, str]
    """Figures that the arena cannot give, with the reason."""


def reproduce(
    arena: Arena,
    judge: Judge,
    settings: PaperSettings = PaperSettings(),
    *,
    progress: Progress | None = None,
    processes: int = 1,
) -> Reproduction:
    """Compute Tables 2 to 5 and Figure 4 of MIRAGE-Bench on an arena, and set them beside the printed figures.

    Table 2 and 4: Kendall's tau of a random forest trained on all but two systems against the mean rating over
    tournaments. Table 3: R2 of the five regressors over random splits of the systems. Table 5: mean R2 over tournaments
    with distances to the 2.5 and 97.5 percentiles; not an interval of the data.

    Args:
        arena: with features, and outcomes (judge by relevance labels) or judgments.
        judge: relevance labels, or a judge.
        settings: the extent.
        progress: called with the number of tournaments, then of fitted languages, and its total.
        processes: number of processes, each for one language at a time.

    Raises:
        TableMissing: if the arena lacks features or verdicts.
        NotEnoughData: if no language has five systems with features and bounded ratings.
    """
    material = gather_material(arena, judge, settings, progress=progress)
    compute = partial(
        _figures,
        holdout=material.holdout,
        subsets=_subsets(material),
        splits=random_splits(material, settings),
        settings=settings,
    )
    cells: dict[Cell, Measured] = {}
    languages = material.languages
    with on_cores(min(processes, len(languages))) as apply:
        for done, figures in enumerate(apply(compute, languages, languages.values()), 1):
            cells |= figures
            if progress is not None:
                progress(done, len(languages))
    cells |= _means(cells)
    return Reproduction(tuple(_compare_with_print(cells)), material)


def default_judge(arena: Arena) -> Judge:
    """Return the only judge of an arena, or `relevance` if it has none.

    Raises:
        TableMissing: if it has neither judgments nor outcomes.
        BadInput: if it has several judges.
    """
    if "judgments" not in arena.tables:
        arena.need("outcomes")
        return LabelJudge()
    return VerdictJudge(only_judge(verdict_judges(arena)))


def _figures(
    code: str,
    language: PaperLanguage,
    *,
    holdout: Sequence[str],
    subsets: Mapping[str, Sequence[int]],
    splits: Sequence[Sequence[str]],
    settings: PaperSettings,
) -> dict[Cell, Measured]:
    """Compute the figures of one language, in any process."""
    means, truth = language.means(), language.played.mean()[None]
    figures: dict[Cell, Measured] = {}

    def put(item: str, metric: str, setting: str, value: float | None, *, system: str = "", remark: str = "") -> None:
        figures[item, metric, setting, system, code] = Measured(value, n=len(language.systems), remark=remark)

    train = _train(language, holdout)
    rated = _rated_remark(language.played.rated)
    for setting, columns in subsets.items():
        predicted = _predict(PUBLISHED, means[:, :, columns], truth, train, settings)[0]
        known = bool(np.isfinite(predicted).all())
        tau = float(kendall(predicted, truth[0])) if known else float("nan")
        remark = rated if known else "the arena has none of these features"
        value = tau if np.isfinite(tau) else None
        put("Table 4", TAU, setting, value, remark=remark)
        if setting == ALL_FEATURES:
            put("Table 2", TAU, "", value, remark=remark)
            ranks = {"judge: GPT-4o, pairwise": truth[0]} | ({"surrogate: random forest": predicted} if known else {})
            for source, theta in ranks.items():
                ahead = (theta[None, :] > theta[:, None] + 1e-9).sum(axis=1)
                for system, n_ahead in zip(language.systems, ahead, strict=True):
                    put("Figure 4", "rank", source, 1 + int(n_ahead), system=system, remark=rated)
    trains = [_train(language, out) for out in splits]
    for name in ESTIMATORS:
        rows = [(_predict(name, means, truth, split, settings)[0], split) for split in trains]
        for part in ("train", "holdout"):
            scores = [_r2(predicted, truth[0], split if part == "train" else ~split) for predicted, split in rows]
            put("Table 3", R2, f"{part}, {REGRESSORS[name].published}", mean_known(scores), remark=rated)
    n = min(settings.forest_draws, settings.draws)
    theta = language.played.theta[:n]
    drawn = _predict(PUBLISHED, language.means(language.played.times()[:n]), theta, train, settings)
    over = [score for p, y in zip(drawn, theta, strict=True) if (score := _r2(p, y, ~train)) is not None]
    remark = _rated_remark(len(over) / n)
    put("Table 5", "R2 over bootstraps: mean_r2", "", mean_known(over), remark=remark)
    enough = len(over) >= paper.FEWEST_RATED * n
    for metric, percentile in (("ci95_minus", 2.5), ("ci95_plus", 97.5)):
        distance = float(np.percentile(over, percentile) - np.mean(over)) if enough else None
        put("Table 5", f"R2 over bootstraps: {metric}", "", distance, remark=remark)
    return figures


def _predict(name: str, means: Array, theta: Array, train: NDArray[np.bool_], settings: PaperSettings) -> Array:
    """Fit a regressor for each of B draws (B x S x F, B x S), and predict all systems (B x S); NaN where a training
    system has no rating, or no feature exists for all systems in all draws.
    """
    usable = np.isfinite(means).all(axis=(0, 1))
    predicted = np.full(theta.shape, np.nan)
    for b, y in enumerate(theta):
        if usable.any() and np.isfinite(y[train]).all():
            X = means[b][:, usable]
            predicted[b] = fit_and_predict(ESTIMATORS[name](settings.seed), X[train], y[train], X)
    return predicted


def _subsets(material: Material) -> dict[str, list[int]]:
    """Return the columns of the features in each row of Table 4."""
    order = features_by_tau(material)
    names = {
        ALL_FEATURES: material.features,
        "Without LLM-as-judge (9)": [name for name in material.features if name not in GRADES],
        f"Without low-correlation ({RETAINED})": order[:RETAINED],
        "Only LLM-as-judge (2)": [name for name in material.features if name in GRADES],
    }
    return {
        setting: [k for k, name in enumerate(material.features) if name in chosen] for setting, chosen in names.items()
    }


def random_splits(material: Material, settings: PaperSettings) -> list[tuple[str, ...]]:
    """Return the held-out systems of each random split of Table 3, the same in all languages.

    With fewer systems than the paper's 19 the same share is held out, at least 2.
    """
    systems = [language.systems for language in material.languages.values()]
    names = sorted({system for own in systems for system in own})
    count = max(2, min(round(len(names) * SPLIT), min(map(len, systems)) - FEWEST))
    rng = np.random.default_rng([settings.seed, zlib.crc32(b"splits")])
    return [tuple(sorted(rng.permutation(names)[:count].tolist())) for _ in range(settings.splits)]


def features_by_tau(material: Material) -> list[str]:
    """Sort features by how well their means rank the systems: absolute tau with the ratings, mean over languages."""
    taus: list[list[float]] = [[] for _ in material.features]
    for language in material.languages.values():
        for own, means in zip(taus, language.means()[0].T, strict=True):
            own.append(abs(float(kendall(means, language.played.mean()))))
    strength = [mean_known([tau for tau in own if np.isfinite(tau)]) or 0.0 for own in taus]
    return [material.features[f] for f in np.argsort([-value for value in strength], kind="stable")]


def _means(cells: Mapping[Cell, Measured]) -> dict[Cell, Measured]:
    """Return the means over languages of Tables 2 to 4."""
    by_subject: dict[tuple[str, str, str, str], list[float]] = {}
    for (item, metric, setting, system, _), measured in cells.items():
        if item in ("Table 2", "Table 3", "Table 4"):
            known = by_subject.setdefault((item, metric, setting, system), [])
            known += [] if measured.value is None else [measured.value]
    return {
        (*subject, "all"): Measured(mean_known(values), remark=f"mean over {count_text(len(values), 'language')}")
        for subject, values in by_subject.items()
    }


def _compare_with_print(cells: Mapping[Cell, Measured]) -> list[PrintedFigure]:
    """Set every computed figure beside the printed one; one that the paper lacks has no print."""
    path = arenas.bundled_arenas().get("published")
    printed = {
        _cell(row): row
        for row in (open_arena(path).read("published").to_pylist() if path else [])
        if row["source"] == MIRAGE_BENCH
    }
    rows: dict[Cell, Mapping[str, Any]] = {}
    for cell in sorted(cells):
        names = dict(zip(("item", "metric", "setting", "system", "language"), cell, strict=True))
        unprinted = {"source": MIRAGE_BENCH, "value": None, "text": None, "unit": _UNITS.get(cell[1], R2)}
        rows[cell] = printed.get(cell, names | unprinted | {"reference": ""})
    return set_beside(list(rows.values()), lambda row: cells[_cell(row)])


def _cell(row: Mapping[str, Any]) -> Cell:
    system = PRINTED.get(row["system"], row["system"])
    return row["item"], row["metric"], row["setting"], system, row["language"]


def gather_material(
    arena: Arena, judge: Judge, settings: PaperSettings, *, progress: Progress | None = None
) -> Material:
    """Join the battles, features and tournaments of an arena.

    Raises:
        TableMissing: if it lacks features or the judge's verdicts.
        NotEnoughData: if no language has enough systems with bounded ratings and features.
    """
    verdicts = arena.read(judge.table)
    features = arena.read("features")
    missing: dict[str, str] = {}
    fought = judge.battles(verdicts, languages=settings.languages)
    if settings.languages is None:
        without = {code: set(row.values()) for code, row in judge.find_unranked(verdicts).items() if code not in fought}
        missing |= {code: f"not ranked: {'; '.join(sorted(reasons))}" for code, reasons in without.items()}
    joined = training(features, verdicts, judge, languages=sorted(fought))
    names = tuple(name for name in FEATURES if name in joined.features)
    missing |= {name: "the arena has no value of this feature" for name in FEATURES if name not in names}
    if not names:
        names = joined.features
        missing["features"] = f"none of the paper's; taken instead: {', '.join(names)}"
    battles, values = _usable_battles(fought, joined, names, missing)
    if not battles:
        raise NotEnoughData(
            f"no language has five systems with features and bounded ratings by {judge.name}",
            do="measure features, and judge more battles",
        )
    played = paper.play(battles, tournaments=settings.draws, seed=settings.seed, progress=progress)
    for code, tournaments in played.languages.items():
        if tournaments.failed:
            first = min(tournaments.failed)
            missing[f"{code}: {len(tournaments.failed)} of {settings.draws} tournaments"] = tournaments.failed[first]
        if not tournaments.fitted:
            missing[code] = "no tournament has a rating"
            del battles[code]
    if not battles:
        raise NotEnoughData("no tournament of any language has a rating", do="judge more battles")
    holdout, chosen = _holdout(battles)
    languages = {code: PaperLanguage(played.languages[code], values[code]) for code in battles}
    return Material(languages, names, holdout, chosen, missing)


def _usable_battles(
    fought: Mapping[str, Battles], joined: Training, names: Sequence[str], missing: dict[str, str]
) -> tuple[dict[str, Battles], dict[str, Array]]:
    """Return by language the battles and feature values of systems that have both; others are added to `missing`."""
    battles, values = {}, {}
    for code, language_battles in fought.items():
        if code not in joined.languages:
            missing[code] = "no features"
            continue
        language = joined.languages[code]
        systems = [system for system in _linked_systems(language_battles) if system in language.systems]
        left_out = [system for system in language_battles.systems if system not in systems]
        if len(systems) < FEWEST + 2:
            missing[code] = f"{len(systems)} systems have features and a rating that the verdicts bound without ties"
            continue
        if left_out:
            missing[f"{code}: {', '.join(left_out)}"] = "left out: no features, or never beaten or never winning"
        battles[code] = language_battles.subset(systems)
        places = [language.systems.index(system) for system in systems]
        values[code] = language.values[:, places][:, :, [joined.features.index(name) for name in names]]
    return battles, values


def _linked_systems(battles: Battles) -> tuple[str, ...]:
    """Return the systems linked by wins both ways: without ties, as in the paper, only their ratings have a maximum."""
    i, j = np.triu_indices(len(battles.systems), 1)
    wins = battles.wins.sum(axis=0, dtype=np.float64)
    pairs = PairCounts(wins[i, j][None], wins[j, i][None], None, len(battles.systems))
    return main_group(groups(battles.systems, pairs))


def _holdout(battles: Mapping[str, Battles]) -> tuple[tuple[str, str], str]:
    """Return the two held-out systems (R2 of one is undefined), and how they were chosen.

    Raises:
        NotEnoughData: if fewer than two systems are in every language.
    """
    everywhere = set.intersection(*(set(language_battles.systems) for language_battles in battles.values()))
    if everywhere.issuperset(HELD_OUT):
        return HELD_OUT, "the two of the paper"
    if len(everywhere) < 2:
        raise NotEnoughData("fewer than two systems are in every language", do="choose fewer languages: --languages")
    common = {code: own.subset(sorted(everywhere)) for code, own in battles.items()}
    theta = rate(common, ties="drop", draws=1)
    joint = theta.languages[JOINT if len(battles) > 1 else next(iter(battles))]
    order = [joint.systems[k] for k in np.argsort(-joint.theta, kind="stable")]
    n = len(order)
    strong, weak = order[(n - 1) // 4], order[n - 1 - (n - 1) // 4]
    return (weak, strong), "a quarter from the bottom and from the top of the ranking, since the paper's two are absent"


def _train(language: PaperLanguage, out: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([system not in out for system in language.systems])


def _rated_remark(share: float) -> str:
    return "" if share == 1 else f"{share:.0%} of the tournaments have a rating"


def _r2(predicted: Array, truth: Array, chosen: NDArray[np.bool_]) -> float | None:
    """Return R2 over some systems; None if undefined."""
    if not np.isfinite(predicted).all():
        return None
    try:
        return float(r2(predicted[chosen], truth[chosen]))
    except NotEnoughData:
        return None
