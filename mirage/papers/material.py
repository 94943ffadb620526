"""Input of the paper's tables and figures: one arena's battles, features and tournaments, joined."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mirage import store
from mirage.battles.counts import Battles
from mirage.battles.judge import Judge, verdict_judges
from mirage.battles.verdict_rows import only_judge
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking import paper, surrogate
from mirage.ranking.bootstrap import rate
from mirage.ranking.fit import PairCounts
from mirage.ranking.graph import groups, main_group
from mirage.ranking.records import JOINT
from mirage.ranking.surrogate.draws import LINEAR
from mirage.ranking.surrogate.training import training
from mirage.stages.stage import Progress
from mirage.store.cores import Map
from mirage.text.data import load_words

if TYPE_CHECKING:
    import pyarrow as pa

Array = NDArray[np.float64]

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


@dataclass(frozen=True, slots=True)
class PaperSettings:
    """Extent of a reproduction."""

    languages: Sequence[str] | None = None
    """Codes; None for all that can be ranked."""
    holdout: Sequence[str] = ()
    """Two systems to hold out; if empty, the paper's two if present, else the systems a quarter from the bottom and
    from the top of the ranking.
    """
    draws: int = paper.TOURNAMENTS
    """Tournaments per language, and bootstrap draws."""
    forest_draws: int = 20
    """Tournaments with a fitted random forest (Table 5); 18 languages take over a second each."""
    splits: int = 20
    """Random splits of the systems (Table 3), each fitted by every regressor."""
    seed: int = 0
    """Seed of all draws and fits."""


Fit = tuple[Mapping[str, surrogate.Draws], str, Sequence[str], int]
"""Arguments of `predict_draws`."""


@dataclass(frozen=True, slots=True)
class Fits:
    """Runs independent fits of regressors, in this process or several."""

    apply: Map = map
    """Applies a function to each fit, in order."""
    tell: Progress | None = None
    """Called with the number of finished fits of a table and their total."""

    def run(self, fits: Sequence[Fit]) -> Iterator[dict[str, Array]]:
        """Yield the predictions of each fit (`predict_draws`), in order."""
        for done, predictions in enumerate(self.apply(_predict, fits), 1):
            if self.tell is not None:
                self.tell(done, len(fits))
            yield predictions


@dataclass(frozen=True, eq=False)
class Material:
    """One arena, prepared for the reproduction."""

    judge: Judge
    """The judge that decided the battles."""
    battles: Mapping[str, Battles]
    """Battles by language, among the systems with features and a bounded rating."""
    played: Mapping[str, paper.Tournaments]
    """Tournaments by language."""
    values: Mapping[str, Array]
    """Q x S x F feature values of single answers by language, NaN if missing."""
    features: tuple[str, ...]
    """The F features, in the order of the paper."""
    training: surrogate.Training
    """The same as training data for surrogates on all queries."""
    holdout: tuple[str, str]
    """The two systems held out."""
    chosen: str
    """How the two were chosen, in words."""
    settings: PaperSettings
    """Numbers of draws and splits, and the seed."""
    verdicts: pa.Table = field(repr=False)
    """Table `outcomes` or `judgments`."""
    published: Sequence[Mapping[str, Any]] = field(repr=False)
    """The paper's printed figures (`schema.Published`), of MIRAGE-Bench."""
    missing: Mapping[str, str]
    """Items this arena cannot give, with the reason."""
    fits: Fits = field(default_factory=Fits, repr=False)
    """Runs the fits."""

    def systems(self, code: str) -> tuple[str, ...]:
        """Return the systems of a language."""
        return self.battles[code].systems

    def means(self, code: str) -> Array:
        """Return the mean of each feature over all queries where it exists, with equal weights as published (S x F)."""
        return np.asarray(surrogate.averages(self.values[code], np.ones((1, len(self.values[code]))))[0])

    def whole(self, code: str, theta: Array | None = None) -> surrogate.Draws:
        """Return one language as one draw: features over all queries, the mean rating over tournaments or another."""
        rating = self.played[code].mean() if theta is None else theta
        return surrogate.Draws(self.systems(code), self.features, self.means(code)[None], rating[None])

    def first_tournaments(self, code: str, n: int) -> surrogate.Draws:
        """Return the first n tournaments: features and ratings of each over its drawn queries."""
        tournaments = self.played[code]
        means = surrogate.averages(self.values[code], tournaments.times()[:n])
        return surrogate.Draws(self.systems(code), self.features, means, tournaments.theta[:n])

    def predict(self, draws: Mapping[str, surrogate.Draws], name: str) -> dict[str, Array]:
        """Return the predictions by language (B x S) of a regressor trained on all but the two systems held out."""
        # Only the pooled regressor learns from other languages.
        parts = [draws] if name == LINEAR else [{code: own} for code, own in draws.items()]
        predictions: dict[str, Array] = {}
        for own in self.fits.run([(part, name, self.holdout, self.settings.seed) for part in parts]):
            predictions |= own
        return predictions

    @cached_property
    def forest(self) -> dict[str, Array]:
        """Ratings by language (S) by the published forest, trained on all but the two systems held out."""
        whole = {code: self.whole(code) for code in self.battles}
        return {code: predictions[0] for code, predictions in self.predict(whole, "forest").items()}

    @cached_property
    def forest_left_out(self) -> dict[str, Array]:
        """Ratings by language (S x S) of the row's system, each by a forest without it and the column's system."""
        whole = {code: self.whole(code) for code in self.battles}
        return leave_two_out(whole, "forest", self.settings.seed, fits=self.fits)

    def print_of(self, item: str, *, language: str, setting: str = "", system: str = "", metric: str = "") -> Any:
        """Return the figure printed in the paper, or None, for an item and prefixes of setting and metric."""
        for row in self.published:
            if (
                row["item"] == item
                and row["language"] == language
                and row["setting"].startswith(setting)
                and row["metric"].endswith(metric)
                and (not system or PRINTED.get(row["system"], row["system"]) == system or row["system"] == system)
            ):
                return row["value"]
        return None


def default_judge(arena: store.Arena) -> Judge:
    """Return the only judge of an arena, or `relevance` if it has none.

    Raises:
        TableMissing: if it has neither judgments nor outcomes.
        BadInput: if it has several judges.
    """
    if "judgments" not in arena.tables:
        arena.need("outcomes")
        return Judge.relevance()
    return Judge.single(only_judge(verdict_judges(arena)))


def _usable(
    fought: Mapping[str, Battles], joined: surrogate.Training, names: Sequence[str], missing: dict[str, str]
) -> tuple[dict[str, Battles], dict[str, Any]]:
    """Return by language the battles and feature values of systems that have both; others are added to `missing`."""
    battles, values = {}, {}
    for code, language_battles in fought.items():
        if code not in joined.languages:
            missing[code] = "no features"
            continue
        language = joined.languages[code]
        systems = [system for system in _linked_systems(language_battles) if system in language.systems]
        left_out = [system for system in language_battles.systems if system not in systems]
        if len(systems) < surrogate.data.FEWEST + 2:
            missing[code] = f"{len(systems)} systems have features and a rating that the verdicts bound without ties"
            continue
        if left_out:
            missing[f"{code}: {', '.join(left_out)}"] = "left out: no features, or never beaten or never winning"
        battles[code] = language_battles.subset(systems)
        places = [language.systems.index(system) for system in systems]
        values[code] = language.values[:, places][:, :, [joined.features.index(name) for name in names]]
    return battles, values


def gather_material(
    arena: store.Arena,
    judge: Judge,
    settings: PaperSettings,
    *,
    progress: Progress | None = None,
    fits: Fits = Fits(),
) -> Material:
    """Join the battles, features and tournaments of an arena.

    Raises:
        TableMissing: if it lacks features or the judge's verdicts.
        NotEnoughData: if no language has enough systems with bounded ratings and features.
        BadInput: if the number of held-out systems is not two (R2 of one is undefined), or they are not in all
            languages.
    """
    languages, draws = settings.languages, settings.draws
    verdicts = arena.read(judge.table)
    features = arena.read("features")
    missing: dict[str, str] = {}
    fought = judge.battles(verdicts, languages=languages)
    if judge.by_labels and languages is None:
        without = {code: set(row.values()) for code, row in judge.find_unranked(verdicts).items() if code not in fought}
        missing |= {code: f"not ranked: {'; '.join(sorted(reasons))}" for code, reasons in without.items()}
    joined = training(features, verdicts, judge, languages=sorted(fought))
    names = tuple(name for name in FEATURES if name in joined.features)
    for name in FEATURES:
        if name not in names:
            missing[name] = "the arena has no value of this feature"
    if not names:
        names = joined.features
        missing["features"] = f"none of the paper's; taken instead: {', '.join(names)}"
    battles, values = _usable(fought, joined, names, missing)
    if not battles:
        raise NotEnoughData(
            f"no language has five systems with features and bounded ratings by {judge.name}",
            do="measure features, and judge more battles",
        )
    played = paper.play(battles, tournaments=draws, seed=settings.seed, progress=progress)
    for code, tournaments in played.languages.items():
        if tournaments.failed:
            first = min(tournaments.failed)
            missing[f"{code}: {len(tournaments.failed)} of {draws} tournaments"] = tournaments.failed[first]
        if not tournaments.fitted:
            missing[code] = "no tournament has a rating"
            del battles[code], values[code]
    if not battles:
        raise NotEnoughData("no tournament of any language has a rating", do="judge more battles")
    pair, chosen = _holdout(settings.holdout, battles)
    full = joined.only(features=names, languages=list(battles))
    full = replace(
        full, languages={code: _among(language, battles[code].systems) for code, language in full.languages.items()}
    )
    path = store.bundled_arenas().get("published")
    rows = store.open_arena(path).read("published").to_pylist() if path else []
    return Material(
        judge,
        battles,
        {code: played.languages[code] for code in battles},
        values,
        names,
        full,
        pair,
        chosen,
        replace(settings, forest_draws=min(settings.forest_draws, draws)),
        verdicts,
        [row for row in rows if row["source"] == "MIRAGE-Bench"],
        missing,
        fits,
    )


def predict_draws(seen: Mapping[str, surrogate.Draws], name: str, out: Sequence[str], seed: int) -> dict[str, Array]:
    """Return `surrogate.by_draw`, without the languages where no feature exists for all systems."""
    usable = {code: draws for code, draws in seen.items() if np.isfinite(draws.means).all(axis=(0, 1)).any()}
    return surrogate.by_draw(usable, name, out=out, seed=seed) if usable else {}


def _predict(fit: Fit) -> dict[str, Array]:
    """Run one fit, in any process."""
    return predict_draws(*fit)


def leave_two_out(
    seen: Mapping[str, surrogate.Draws],
    name: str,
    seed: int,
    *,
    features: Callable[[Collection[str]], Sequence[str]] | None = None,
    fits: Fits = Fits(),
) -> dict[str, Array]:
    """Return by language S x S predictions from its first draw, of the row's system by a fit without it and the
    column's in every language; NaN on the diagonal.

    Only such pairs can be ordered: a fit without one system is centred on the others, including the system it is
    compared with, and so contains minus the rating to predict. `features`, if given, selects features without the two
    systems.
    """
    predictions = {code: np.full((len(draws.systems),) * 2, np.nan) for code, draws in seen.items()}
    pairs = [*combinations(sorted({s for draws in seen.values() for s in draws.systems}), 2)]
    to_fit: list[Fit] = []
    for out in pairs:
        # Only a pooled regressor uses languages without the two systems.
        training_draws = {
            code: draws for code, draws in seen.items() if name == LINEAR or set(out) <= set(draws.systems)
        }
        if features:
            training_draws = {code: draws.only(features(out)) for code, draws in training_draws.items()}
        to_fit.append((training_draws, name, out, seed))
    for out, predicted in zip(pairs, fits.run(to_fit), strict=True):
        for code, values in predicted.items():
            if set(out) <= set(seen[code].systems):
                i, j = (seen[code].systems.index(s) for s in out)
                predictions[code][i, j], predictions[code][j, i] = values[0, [i, j]]
    return {code: matrix for code, matrix in predictions.items() if np.isfinite(matrix).any()}


def pair_counts(battles: Battles) -> PairCounts:
    """Count all battles of a language by pair, ties dropped."""
    i, j = np.triu_indices(len(battles.systems), 1)
    wins = battles.wins.sum(axis=0, dtype=np.float64)
    return PairCounts(wins[i, j][None], wins[j, i][None], None, len(battles.systems))


def _linked_systems(battles: Battles) -> tuple[str, ...]:
    """Return the systems linked by wins both ways: without ties, as in the paper, only their ratings have a maximum."""
    return main_group(groups(battles.systems, pair_counts(battles)))


def _among(language: surrogate.LanguageData, systems: Sequence[str]) -> surrogate.LanguageData:
    """Restrict a language to some of its systems."""
    positions = [language.systems.index(s) for s in systems]
    removed = frozenset(language.systems) - set(systems)

    def ratings(out: frozenset[str]) -> Array:
        return np.asarray(language.ratings(out | removed)[positions])

    return replace(
        language,
        systems=tuple(systems),
        values=language.values[:, positions],
        points=language.points[:, positions][:, :, positions],
        ratings=ratings,
    )


def _holdout(names: Sequence[str], battles: Mapping[str, Battles]) -> tuple[tuple[str, str], str]:
    everywhere = set.intersection(*(set(language_battles.systems) for language_battles in battles.values()))
    known = set.union(*(set(language_battles.systems) for language_battles in battles.values()))
    for name in names:
        if name not in known:
            raise UnknownName("system", name, known, where="--holdout")
        if name not in everywhere:
            lacking = [code for code, language_battles in battles.items() if name not in language_battles.systems]
            raise BadInput(f"{name} is not in {', '.join(lacking)}", where="--holdout", do="choose others or languages")
    if names and len(set(names)) != 2:
        raise BadInput(
            f"{len(set(names))} system held out: R2 needs more than one rating, and the paper holds out two",
            where="--holdout",
            do="name two systems with a comma between them",
        )
    if names:
        return (names[0], names[1]), "as asked"
    if everywhere.issuperset(HELD_OUT):
        return HELD_OUT, "the two of the paper"
    if len(everywhere) < 2:
        raise NotEnoughData("fewer than two systems are in every language", do="choose fewer languages: --languages")
    theta = rate(
        {code: language_battles.subset(sorted(everywhere)) for code, language_battles in battles.items()},
        ties="drop",
        draws=1,
    )
    joint = theta.languages[JOINT if len(battles) > 1 else next(iter(battles))]
    order = [joint.systems[k] for k in np.argsort(-joint.theta, kind="stable")]
    n = len(order)
    strong, weak = order[(n - 1) // 4], order[n - 1 - (n - 1) // 4]
    return (weak, strong), "a quarter from the bottom and from the top of the ranking, since the paper's two are absent"
