"""Levels corrected by people's labels: how often 95% intervals hold, how wide they are beside labels alone, and how
often the test between languages finds a judge that differs.

Labels and judges are simulated, so that the truth is known; the widths on real data need files that are not part of the
project. Several intervals are compared on the same estimates; each row says the number of simulations and two standard
errors of a coverage of 95%.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri, stdtrit

from benchmarks.harness import Row
from mirage.stats.homogeneity import homogeneity
from mirage.stats.powered_mean import PoweredMean, borrowed_mean, fit_predictions, powered_difference, powered_mean

Array = NDArray[np.float64]
Places = NDArray[np.intp]
DATA = Path(os.environ.get("MIRAGE_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))

SEED = 20261126
SIMULATIONS = 1000


@dataclass(frozen=True)
class Design:
    """An arena of one system, with labels on some of its answers."""

    languages: int
    queries: int
    """Queries of a language."""
    labels: int
    """Labels of a language."""
    rates: tuple[float, ...]
    """Share of ones, in turn by language."""
    judges: tuple[tuple[tuple[float, ...], float], ...]
    """By judge: its sensitivity, in turn by language, and its specificity."""
    shared: float = 0.0
    """Correlation of parallel queries over languages; 0 if the languages have their own queries."""
    smooth: bool = False
    """Whether values are fractions near 1 rather than 0 or 1."""

    @property
    def truth(self) -> float:
        """The mean over languages."""
        if self.smooth:
            return 1 - 0.03 - 0.97 * 0.4 * 0.1 * (2 / np.pi) ** 0.5
        return float(np.mean([self.rates[k % len(self.rates)] for k in range(self.languages)]))


GOOD, FAIR, NOISE = ((0.9,), 0.9), ((0.8,), 0.95), ((0.5,), 0.5)
DESIGNS: dict[str, Design] = {
    "20 labels, 2 languages, truly 0.30, a good judge": Design(2, 150, 10, (0.3,), (GOOD,)),
    "20 labels, 2 languages, truly 0.02, a fair judge": Design(2, 150, 10, (0.02,), (FAIR,)),
    "50 labels, 2 languages, truly 0.98, a biased judge": Design(2, 200, 25, (0.98,), (((0.7,), 0.9),)),
    "60 labels, 3 languages, truly 0.10, an adversarial judge": Design(3, 200, 20, (0.1,), (((0.1,), 0.2),)),
    "40 labels, 1 language, truly 0.30, a judge of pure noise": Design(1, 400, 40, (0.3,), (NOISE,)),
    "100 labels, 5 languages with parallel queries, 0.2 to 0.4, two judges": Design(
        5, 150, 20, (0.2, 0.4), (GOOD, ((0.8,), 0.7)), shared=0.6
    ),
    "200 labels, 8 languages, truly 0.05, a very good judge": Design(8, 150, 25, (0.05,), (((0.95,), 0.99),)),
    "180 labels, 18 languages, 0.3 to 0.5, a bias by language": Design(
        18, 100, 10, (0.5, 0.3), (((0.9, 0.6, 0.75), 0.8),)
    ),
    "500 labels, 18 languages, truly 0.02, a fair judge": Design(18, 100, 28, (0.02,), (FAIR,)),
    "500 labels, 2 languages, truly 0.30, an excellent judge": Design(2, 1500, 250, (0.3,), (((0.97,), 0.97),)),
    "100 labels, 1 language, truly 0.10, a judge that misses two in five": Design(
        1, 800, 100, (0.1,), (((0.6,), 1.0),)
    ),
    "60 labels, 1 language, truly 0.05, a perfect judge": Design(1, 400, 60, (0.05,), (((1.0,), 1.0),)),
    "60 labels, 2 languages, fractions near 0.94, a noisy judge": Design(2, 200, 30, (), (GOOD,), smooth=True),
}


def draw(rng: np.random.Generator, design: Design) -> tuple[Array, Array, Places, Places]:
    """Draw labels (NaN without one), judges, units and languages of an arena."""
    hard = rng.standard_normal(design.queries)
    labels, judges, units, strata = [], [], [], []
    for k in range(design.languages):
        own = rng.standard_normal(design.queries)
        latent = design.shared**0.5 * hard + (1 - design.shared) ** 0.5 * own
        if design.smooth:
            y = np.where(rng.random(len(own)) < 0.4, 1 - np.minimum(np.abs(own) * 0.1, 1), 1.0)
            y = np.where(rng.random(len(own)) < 0.03, 0.0, y)
            said = np.clip(y + rng.normal(0, 0.1, (1, len(y))), 0, 1).T
        else:
            y = (latent < ndtri(design.rates[k % len(design.rates)])).astype(float)
            chances = [np.where(y == 1, of[k % len(of)], 1 - specific) for of, specific in design.judges]
            said = np.column_stack([rng.random(len(y)) < chance for chance in chances]).astype(float)
        given = np.full(len(y), np.nan)
        picked = rng.choice(len(y), design.labels, replace=False)
        given[picked] = y[picked]
        labels.append(given)
        judges.append(said)
        units.append(np.arange(len(y)) + (0 if design.shared else k * len(y)))
        strata.append(np.full(len(y), k))
    return np.concatenate(labels), np.concatenate(judges), np.concatenate(units), np.concatenate(strata)


# --- intervals to choose from -----------------------------------------------------------------------------------------


def normal(mean: PoweredMean, _rng: np.random.Generator) -> tuple[float, float]:
    """Return the interval of the papers: 1.96 standard errors."""
    half = 1.96 * float(np.sqrt(mean.moves @ mean.moves))
    return mean.value - half, mean.value + half


def logit(mean: PoweredMean, _rng: np.random.Generator) -> tuple[float, float]:
    """Return the delta method on logits, with Student's t."""
    p = min(max(mean.value, 1e-9), 1 - 1e-9)
    error = float(np.sqrt(mean.moves @ mean.moves)) / (p * (1 - p)) * float(stdtrit(mean.df, 0.975))
    centre = np.log(p / (1 - p))
    return tuple(float(1 / (1 + np.exp(-(centre + side * error)))) for side in (-1, 1))  # type: ignore[return-value]


def likelihood(mean: PoweredMean, _rng: np.random.Generator) -> tuple[float, float]:
    """Return the empirical likelihood interval of the mean of the units' pseudo-values."""
    n = len(mean.moves)
    values, limit = mean.value + n * mean.moves, float(chdtri(1, 0.05))
    if np.ptp(values) < 1e-12:
        return mean.value, mean.value
    ends = []
    for end in (values.min(), values.max()):
        inside, outside = mean.value, float(end)
        for _ in range(30):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if _deviance(values - middle) < limit else (inside, middle)
        ends.append(inside)
    return ends[0], ends[1]


def _deviance(z: Array) -> float:
    """Return minus twice the empirical log-likelihood ratio of a mean of 0."""
    low, high = -1 / z.max() + 1e-12, -1 / z.min() - 1e-12
    for _ in range(60):
        tilt = (low + high) / 2
        low, high = (tilt, high) if (z / (1 + tilt * z)).sum() > 0 else (low, tilt)
    return float(2 * np.log1p(tilt * z).sum())


def bootstrap(mean: PoweredMean, rng: np.random.Generator) -> tuple[float, float]:
    """Return the bootstrap-t interval over units."""
    n, moves = len(mean.moves), mean.moves
    error = float(np.sqrt(moves @ moves))
    if error < 1e-12:
        return mean.value, mean.value
    counts = rng.multinomial(n, np.full(n, 1 / n), 200).astype(float)
    sums = counts @ moves
    errors = np.sqrt(np.maximum(counts @ moves**2 - sums**2 / n, 1e-18))
    low, high = np.quantile(sums / errors, [0.025, 0.975])
    return mean.value - float(high) * error, mean.value - float(low) * error


OTHERS: Mapping[str, Callable[[PoweredMean, np.random.Generator], tuple[float, float]]] = {
    "1.96 se": normal,
    "logit t": logit,
    "emp. likelihood": likelihood,
    "bootstrap-t": bootstrap,
}


def noise(n: int, share: float = 0.95) -> str:
    """Return two standard errors of a share of n simulations."""
    return f"{2 * np.sqrt(share * (1 - share) / n):.1%}"


def coverage(name: str, *, simulations: int = SIMULATIONS) -> Row:
    """Simulate a design: coverage of every interval, and the width beside labels alone."""
    design = DESIGNS[name]
    rng = np.random.default_rng([SEED, *name.encode()])
    held: dict[str, list[bool]] = {"": [], "alone": [], **{other: [] for other in OTHERS}}
    widths, alone_widths = [], []
    for _ in range(simulations):
        labels, judges, unit, stratum = draw(rng, design)
        mean = powered_mean(labels, fit_predictions(judges, labels, unit), unit, stratum)
        alone = powered_mean(labels, np.zeros(len(labels)), unit, stratum, lam=0.0)
        ends = {"": (mean.low, mean.high), "alone": (alone.low, alone.high)}
        ends |= {other: interval(mean, rng) for other, interval in OTHERS.items()}
        for kind, (low, high) in ends.items():
            held[kind].append(low - 1e-9 <= design.truth <= high + 1e-9)
        widths.append(mean.high - mean.low)
        alone_widths.append(alone.high - alone.low)
    shares = {kind: float(np.mean(of)) for kind, of in held.items()}
    return Row(
        f"corrected level, {name}: 95% intervals hold",
        f"{shares['']:.1%}; width {np.mean(widths):.3f}",
        f"labels alone {shares['alone']:.1%}; " + ", ".join(f"{kind} {shares[kind]:.1%}" for kind in OTHERS),
        f"{np.mean(widths) / np.mean(alone_widths):.2f} of the width of labels alone; {simulations:,} simulations, "
        f"+-{noise(simulations)}",
        "93 to 97%, more at the edges; at most 1.05 of the width",
    )


def difference(rate: float, labels: int, *, apart: float = 0.0, simulations: int = SIMULATIONS) -> Row:
    """Simulate two systems that answer the same queries, half of the difficulty shared."""
    rng, truth = np.random.default_rng([SEED, labels, int(rate * 100)]), apart
    held, decided, widths, alone_widths = [], [], [], []
    for _ in range(simulations):
        hard = rng.standard_normal(400)
        means: list[PoweredMean] = []
        alone: list[PoweredMean] = []
        picked = rng.choice(400, labels, replace=False)
        for share in (rate + apart, rate):
            y = (0.7 * hard + 0.51**0.5 * rng.standard_normal(400) < ndtri(share)).astype(float)
            said = (rng.random(400) < np.where(y == 1, 0.85, 0.1)).astype(float)[:, None]
            given = np.full(400, np.nan)
            given[picked] = y[picked]
            unit, stratum = np.arange(400), np.zeros(400, dtype=np.intp)
            means.append(powered_mean(given, fit_predictions(said, given, unit), unit, stratum))
            alone.append(powered_mean(given, np.zeros(400), unit, stratum, lam=0.0))
        gap, plain = powered_difference(*means), powered_difference(*alone)
        held.append(gap.low <= truth <= gap.high)
        decided.append(gap.low > 0 or gap.high < 0)
        widths.append(gap.high - gap.low)
        alone_widths.append(plain.high - plain.low)
    return Row(
        f"corrected difference, truly {apart:.2f}, rates near {rate:.2f}, {labels} labelled queries: intervals hold",
        f"{np.mean(held):.1%}; width {np.mean(widths):.3f}",
        f"0 is outside in {np.mean(decided):.1%}",
        f"{np.mean(widths) / np.mean(alone_widths):.2f} of the width of labels alone; {simulations:,} simulations, "
        f"+-{noise(simulations)}",
        "93 to 97%, more at the edges; at most 1.05 of the width",
    )


def transport(apart: float, *, wrong: float = 0.05, labels: int = 60, simulations: int = SIMULATIONS) -> Row:
    """Simulate the test between eight languages: a judge with an error that differs in one of them."""
    languages = 8
    rng, found, able = np.random.default_rng([SEED, labels, int(1000 * wrong), int(apart * 100)]), [], []
    unit = np.arange(labels * languages)
    group = unit // labels
    for _ in range(simulations):
        y = rng.random(len(unit)) < 0.3
        # In the first language the judge misses so many more that the mean error moves by `apart`.
        misses = np.where((group == 0) & y, wrong + apart / 0.3, wrong)
        said = np.where(rng.random(len(unit)) < misses, ~y, y).astype(float)
        fitted = fit_predictions(said[:, None], y.astype(float), unit)
        seed = int(rng.integers(1 << 30))
        test = homogeneity(y - fitted, fitted, unit, group, margin=max(apart, 0.1), seed=seed)
        found.append(test.p <= 0.05)
        able.append(test.power)
    return Row(
        f"a judge wrong in {wrong:.0%}, 8 languages, {labels} labels each, error moved by {apart:.2f} in one: found",
        f"{np.mean(found):.1%}",
        f"power stated {np.mean(able):.0%} for {max(apart, 0.1):.2f}",
        f"{simulations:,} simulations, +-{noise(simulations, max(float(np.mean(found)), 0.05))}",
        "at most 5%" if apart == 0 else "at least 80%" if apart >= 0.15 else "",
    )


def borrowed(rate: float, labels: int, *, simulations: int = SIMULATIONS) -> Row:
    """Simulate a language without labels, with the error of four others where labels are."""
    rng, held, widths = np.random.default_rng([SEED, labels, int(100 * rate)]), [], []
    group = np.repeat(np.arange(5), 200)
    unit = np.arange(len(group))
    for _ in range(simulations):
        y = (rng.random(len(unit)) < rate).astype(float)
        said = np.where(rng.random(len(unit)) < 0.1, 1 - y, y)
        given = np.where((group < 4) & (unit % 200 < labels), y, np.nan)
        fitted = fit_predictions(said[:, None], given, unit)
        known = ~np.isnan(given)
        mean = borrowed_mean((given - fitted)[known], fitted[group == 4], unit[known], unit[group == 4])
        held.append(mean.low <= rate <= mean.high)
        widths.append(mean.high - mean.low)
    return Row(
        f"corrected level, borrowed from 4 languages with {labels} labels each, truly {rate:.2f}: 95% intervals hold",
        f"{np.mean(held):.1%}; width {np.mean(widths):.3f}",
        "labels alone none; no labels in this language",
        f"- of the width of labels alone; {simulations:,} simulations, +-{noise(simulations)}",
        "93 to 97%, more at the edges",
    )


# --- real labels ------------------------------------------------------------------------------------------------------


def real(what: str, people: Array, programs: Array, labels: int, *, draws: int = 200) -> Row:
    """Draw labels from real ones: the truth is the mean of all of them."""
    rng = np.random.default_rng([SEED, labels, *what.encode()])
    held, widths, alone_widths, lams = [], [], [], []
    unit, stratum = np.arange(len(people)), np.zeros(len(people), dtype=np.intp)
    for _ in range(draws):
        given = np.full(len(people), np.nan)
        picked = rng.choice(len(people), labels, replace=False)
        given[picked] = people[picked]
        mean = powered_mean(given, fit_predictions(programs, given, unit), unit, stratum)
        alone = powered_mean(given, np.zeros(len(people)), unit, stratum, lam=0.0)
        held.append(mean.low <= people.mean() <= mean.high)
        widths.append(mean.high - mean.low)
        alone_widths.append(alone.high - alone.low)
        lams.append(mean.lam)
    return Row(
        f"{what}: {labels} labels of {len(people):,}",
        f"width {np.mean(widths):.3f} of the range; holds {np.mean(held):.1%}",
        f"labels alone {np.mean(alone_widths):.3f}",
        f"{np.mean(widths) / np.mean(alone_widths):.2f} of the width, lambda {np.mean(lams):.2f}; {draws} draws",
        "at most 1.05 of the width",
    )


def mtrag() -> list[Row]:
    """Ratings of MT-RAG by people, predicted from the scores of its seven programs."""
    file = DATA / "mtrag" / "reference_subset_with_human_evaluations.json.gz"
    if not file.is_file():
        return []
    given = json.loads(gzip.decompress(file.read_bytes()))
    programs = [metric["name"] for metric in given["metrics"] if metric["author"] == "algorithm"]
    rows = []
    for scale in ("faithfulness", "appropriateness", "completeness"):
        for system in ("gpt-4o", "llama-3.1-405b-instruct"):
            of = [entry["annotations"] for entry in given["evaluations"] if entry["model_id"] == system]
            people = np.array([np.mean([float(one["value"]) for one in a[scale].values()]) for a in of])
            said = np.array([[_number(a, name) for name in programs] for a in of])
            rows.append(real(f"MT-RAG, {scale} of {system}", (people - 1) / 3, said, 60))
    return rows


def _number(annotations: Mapping[str, Mapping[str, Mapping[str, float]]], name: str) -> float:
    values = [float(one["value"]) for one in annotations.get(name, {}).values()]
    return float(np.mean(values)) if values else np.nan


def judged() -> list[Row]:
    """Points that people gave systems on Chatbot Arena, predicted from the verdicts of three judges."""
    file = DATA / "judged" / "chatbot_arena_verdicts.csv.gz"
    if not file.is_file():
        return []
    points = {"model_a": 1.0, "model_b": 0.0, "tie": 0.5, "tie (bothbad)": 0.5}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    names = [name for name in rows[0] if rows[0][name] in points]
    out = []
    for system in ("gpt-4", "vicuna-13b", "dolly-v2-12b"):
        battles = [row for row in rows if system in (row["model_a"], row["model_b"])]
        if not battles:
            continue
        said = np.array([[points.get(row[name], np.nan) for name in names] for row in battles])
        second = np.array([row["model_b"] == system for row in battles])
        said[second] = 1 - said[second]
        people = names.index(next(name for name in names if name in ("human", "winner", "people")))
        others = np.delete(said, people, axis=1)
        out += [real(f"Chatbot Arena, points of {system}", said[:, people], others, n, draws=100) for n in (100, 300)]
    return out


def run() -> list[Row]:
    """Simulate every design, and measure widths on real labels."""
    return [
        *(coverage(name) for name in DESIGNS),
        borrowed(0.3, 40),
        borrowed(0.05, 25),
        difference(0.3, 40),
        difference(0.05, 100),
        difference(0.2, 150, apart=0.1),
        transport(0.0),
        transport(0.0, labels=15),
        transport(0.0, wrong=0.15),
        transport(0.1),
        transport(0.15),
        transport(0.15, wrong=0.1),
        *mtrag(),
        *judged(),
    ]
