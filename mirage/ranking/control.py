"""Ratings at equal style: length, citations and language of the answers as covariates of every battle.

    controlled = control_style(battles, covariates(features, ("length", "citations")))
    controlled.ranking                                    # the ranking with control
    controlled.coefficients["en"]                         # effect of each covariate on the judge

A judge that prefers long answers favours verbose systems. With z the difference of a covariate between the two answers
of a battle, P(i beats j) = 1 / (1 + exp(-(theta_i - theta_j + beta z))): the thetas are the strengths of systems at
equal style, the betas the effect of style. Both are fitted jointly, as in the style control of Chatbot Arena (Li,
Angelopoulos and Chiang 2024, "Does style matter?") and the length control of AlpacaEval (Dubois et al. 2024, arXiv
2404.04475). Unlike there, the query is the unit of every interval, a battle with an unknown covariate is excluded and
counted, and length enters as a logarithm, since readers perceive ratios of lengths. The estimate is bias-reduced like
that of `rate` (`cells.py`).

This controls only for what is measured, and also removes merit that comes with style: where longer answers are longer
because they are better, use the plain ranking. A coefficient is estimated within the usual range of differences, and
extrapolated for a system whose answers are far longer than all others'.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from mirage.battles.counts import Battles, codes
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.bootstrap import JOINT, LEVEL, RankingReport, rate_layouts, units_of
from mirage.ranking.cells import StyledRatings, fit_style
from mirage.ranking.fit import RIDGE
from mirage.ranking.records import mean_over_languages
from mirage.ranking.settings import DRAWS, SEED
from mirage.ranking.threads import one_thread
from mirage.stats.arrays import Array
from mirage.stats.encoding import place_names
from mirage.stats.intervals import bootstrap_tails
from mirage.stats.units import Units, name_unit

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Covariate:
    """A property of an answer's style that can be controlled for."""

    name: str
    """Name of the covariate."""
    feature: str
    """Feature it is computed from, as declared in `mirage.stages.features`."""
    per: str
    """Unit of the coefficient, in words."""
    logarithm: bool = False
    """Whether it is transformed to log2(1 + value)."""


COVARIATES: Mapping[str, Covariate] = {
    covariate.name: covariate
    for covariate in (
        Covariate("length", "length", "each doubling of the length", logarithm=True),
        Covariate("citations", "n_citations", "each citation more"),
        Covariate("language", "target_language", "the language asked for instead of another"),
    )
}
"""All covariates by name."""


@dataclass(frozen=True, eq=False)
class Covariates:
    """Covariates of the answers of one language."""

    names: tuple[str, ...]
    """The K covariates (`COVARIATES`)."""
    systems: tuple[str, ...]
    """The S systems, sorted by name."""
    queries: tuple[str, ...]
    """The Q queries, sorted by id."""
    values: Array
    """Q x S x K, in the unit of the coefficients (length: log2 of characters + 1); NaN where unknown."""

    def of(self, battles: Battles) -> Array:
        """Return the values in the order of the battles' systems and queries (Q x S x K); NaN where unknown."""
        values = np.full((len(battles.queries), len(battles.systems), len(self.names)), np.nan)
        q, s = place_names(battles.queries, self.queries), place_names(battles.systems, self.systems)
        values[np.ix_(q >= 0, s >= 0)] = self.values[np.ix_(q[q >= 0], s[s >= 0])]
        return values

    def cover(self, battles: Battles) -> bool:
        """Return whether a battle has a winner and known covariates of both answers."""
        measured = np.asarray(np.isfinite(self.of(battles)).all(axis=2))
        return bool((battles.wins * (measured[:, :, None] & measured[:, None, :])).any())


def covariates(features: pa.Table, names: Sequence[str]) -> dict[str, Covariates]:
    """Read covariates from the features of the answers.

    Args:
        features: table `features`.
        names: names from `COVARIATES`.

    Returns:
        Covariates by language.

    Raises:
        UnknownName: if there is no such covariate.
        NotEnoughData: if a feature was not measured for any answer.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    chosen = []
    for name in dict.fromkeys(names):
        if name not in COVARIATES:
            raise UnknownName("covariate", name, COVARIATES)
        chosen.append(COVARIATES[name])
    feature_names = [covariate.feature for covariate in chosen]
    rows = features.filter(pc.is_in(features["feature"], value_set=pa.array(feature_names, pa.string())))
    rows = rows.filter(pc.is_valid(rows["value"]))
    at_feature = np.asarray(pc.index_in(rows["feature"], value_set=pa.array(feature_names, pa.string())))
    for k, covariate in enumerate(chosen):
        if not (at_feature == k).any():
            raise NotEnoughData(f"no answer has the feature {covariate.feature}", do="run: mirage measure features DIR")
    languages, language = codes(rows["language"])
    by_language = {}
    for code, name in enumerate(languages):
        in_language = language == code
        language_rows = rows.filter(in_language)
        queries, q = codes(language_rows["query_id"])
        systems, s = codes(language_rows["system"])
        values = np.full((len(queries), len(systems), len(chosen)), np.nan)
        values[q, s, at_feature[in_language]] = language_rows["value"].to_numpy()
        for k, covariate in enumerate(chosen):
            if covariate.logarithm:
                values[:, :, k] = np.log2(1 + values[:, :, k])
        by_language[name] = Covariates(tuple(covariate.name for covariate in chosen), systems, queries, values)
    return by_language


@dataclass(frozen=True, slots=True)
class Coefficient:
    """The effect of a style covariate on a judge in one language."""

    language: str
    """Code, or `all`: the mean over the languages that have a value."""
    covariate: str
    """Name of the covariate."""
    per: str
    """Unit of the coefficient."""
    value: float | None
    """Gain in logits of an answer per unit over an answer that differs in nothing else; null where not identified."""
    low: float | None
    """Lower end of the 95% interval of `value`."""
    high: float | None
    """Upper end."""
    reason: str | None
    """Reason why there is no value; null where there is."""


@dataclass(frozen=True, eq=False)
class StyleControl:
    """Ratings with answer style (such as length) held equal."""

    names: tuple[str, ...]
    """The covariates."""
    ranking: RankingReport
    """The ranking with control."""
    coefficients: Mapping[str, tuple[Coefficient, ...]]
    """By language, and `all` with several languages, in the order of `names`."""
    n_battles: Mapping[str, int]
    """Number of battles used, by language."""
    n_missing: Mapping[str, int]
    """Battles excluded because a covariate of one of the two answers is unknown, by language."""

    @property
    def method(self) -> str:
        """The method in one line."""
        unit = name_unit(self.ranking.unit)
        return (
            f"Bradley-Terry at equal {_and(self.names)}, Jeffreys' prior (bias-reduced), ties "
            f"{'half a win each' if self.ranking.ties == 'half' else 'dropped'}; {LEVEL:.0%} percentile intervals over "
            f"{self.ranking.n_draws:,} draws with the {unit} as the unit, seed {self.ranking.seed}"
        )


def control_style(
    battles: Mapping[str, Battles],
    known: Mapping[str, Covariates],
    *,
    languages: Collection[str] | None = None,
    ties: Literal["half", "drop"] = "half",
    draws: int = DRAWS,
    seed: int = SEED,
) -> StyleControl:
    """Rate the systems at equal style.

    Args:
        battles: battles by language, decided by judges.
        known: covariates by language (`covariates`).
        languages: codes to rate; None for all.
        ties: treatment of ties; Davidson's model is not supported with covariates.
        draws: bootstrap draws of queries.
        seed: seed of the draws; queries have the same weights as in `rate`.

    Raises:
        BadInput: if ties are modelled, or the battles are decided by relevance labels, which ignore style.
        NotEnoughData: if a language has no battle whose covariates are known.
    """
    if ties not in ("half", "drop"):
        raise BadInput(f"style control does not support ties {ties!r}", do="use half or drop")
    if any(
        len(np.unique(language_battles.strata)) > 1 or language_battles.skill != "both"
        for language_battles in battles.values()
    ):
        raise BadInput("relevance labels ignore style, so there is none to control for", do="choose a judge")
    shared = units_of(battles).shared
    battles = {code: of for code, of in battles.items() if languages is None or code in languages}
    if not battles:
        raise NotEnoughData("no language has both battles and covariates", do="run: mirage measure features DIR")
    names = next(iter(known.values())).names if known else ()
    used, missing, values = {}, {}, {}
    for code, language_battles in sorted(battles.items()):
        measurements = (
            known[code].of(language_battles)
            if code in known
            else np.full((*language_battles.wins.shape[:2], len(names)), np.nan)
        )
        n_battles = language_battles.wins + language_battles.wins.transpose(0, 2, 1) + language_battles.ties
        measured = np.all(np.isfinite(measurements), axis=2)
        both_measured = measured[:, :, None] & measured[:, None, :]
        points = None if language_battles.points is None else language_battles.points * both_measured
        used[code] = replace(
            language_battles,
            wins=language_battles.wins * both_measured,
            ties=language_battles.ties * both_measured,
            points=points,
        )
        missing[code] = int((np.triu(n_battles, 1) * ~both_measured).sum(dtype=np.int64))
        values[code] = np.where((n_battles * both_measured).any(axis=2)[:, :, None], measurements, np.nan)
        share = used[code].shared(ties)
        if (share == share.transpose(0, 2, 1)).all():
            raise NotEnoughData(
                f"no battle in {code} has a winner and known {_and(names)} of both answers",
                do="measure them (mirage measure features DIR), or leave the language out",
            )
    with one_thread():
        fits = {
            code: fit_style(language_battles, values[code], code, ties=ties, draws=draws, seed=seed, shared=shared)
            for code, language_battles in used.items()
        }
    first = next(iter(used.values()))
    ranking = RankingReport(first.judge, first.skill, ties, draws, seed, "jeffreys", RIDGE, {}, ())
    ranking = rate_layouts(ranking, fits, used, lambda _, fit: fit.theta_draws, used)
    coefficients = {
        code: tuple(
            _coefficient(code, name, fit.value[k], fit.value_draws[:, k], used[code].n_queries, fit.reasons[k])
            for k, name in enumerate(names)
        )
        for code, fit in fits.items()
    }
    if JOINT in ranking.languages:
        coefficients[JOINT] = _mean(names, coefficients, fits, units_of(used))
    counted = {code: int(language_battles.record().sum()) // 2 for code, language_battles in used.items()}
    return StyleControl(names, ranking, coefficients, counted, missing)


def _coefficient(
    code: str, name: str, value: float | Array, drawn: Array, n: int, reason: str | None = None
) -> Coefficient:
    """Return a coefficient with its interval by its draws over n queries; without a value if there is a reason."""
    about = code, name, COVARIATES[name].per
    if reason is not None:
        return Coefficient(*about, None, None, None, reason)
    low, high = np.quantile(drawn, bootstrap_tails(LEVEL, n), method="weibull").tolist()
    return Coefficient(*about, float(value), low, high, None)


def _mean(
    names: tuple[str, ...],
    by: Mapping[str, Sequence[Coefficient]],
    fits: Mapping[str, StyledRatings],
    units: Units,
) -> tuple[Coefficient, ...]:
    """Average each coefficient over the languages that identify it."""
    rows: list[Coefficient] = []
    for k, name in enumerate(names):
        informative = [code for code in fits if by[code][k].reason is None]
        if not informative:
            rows.append(_coefficient(JOINT, name, 0.0, np.zeros(1), 1, "not identified in any language"))
            continue
        # Exponential weights of n queries have (n - 1) / (n + 1) of the variance of the estimate: the percentiles of
        # one language correct for that, those over the queries of all languages do not.
        counts = [len(units.queries[code]) for code in informative]
        wider = [((n + 1) / (n - 1)) ** 0.5 if n > 1 else 1.0 for n in counts]
        value, drawn = mean_over_languages(
            [fits[code].value[k] for code in informative],
            [factor * fits[code].value_draws[:, k] for factor, code in zip(wider, informative, strict=True)],
        )
        rows.append(_coefficient(JOINT, name, value, drawn, units.n))
    return tuple(rows)


def _and(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1] if names else "style"
