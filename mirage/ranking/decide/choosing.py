"""Choice of the cheapest system not significantly worse than the best: per language, overall, and by other weights."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from mirage.battles.referee import choose_referee
from mirage.errors import BadInput, NotEnoughData
from mirage.ranking.arena import read_battles
from mirage.ranking.bootstrap import RankingReport, rank_battles
from mirage.ranking.compare.measures import RATING, measured_systems, query_measure, query_values
from mirage.ranking.decide.contest import Contest
from mirage.ranking.decide.facts import system_facts
from mirage.ranking.decide.records import (
    ChoiceReport,
    LanguageChoice,
    SystemFacts,
    SystemOption,
    WeightedChoice,
)
from mirage.ranking.decide.worth import (
    Influence,
    SharedWeights,
    draw_contests,
    mean_contest,
    measure_influence,
    queries_of,
    rating_contest,
    rating_influence,
    weighted_contest,
)
from mirage.ranking.records import JOINT
from mirage.ranking.settings import DecideSettings, Requirements
from mirage.stats.units import Units
from mirage.text.languages import in_order

if TYPE_CHECKING:
    from mirage.ranking.fit import Array
    from mirage.store import Arena

STEPS = 10
"""Number of steps from weight 0 to 1 at which the choice is evaluated."""


@dataclass(frozen=True, eq=False, slots=True)
class _Field:
    """The candidates: every measure in every language, and the eligible systems."""

    ranking: RankingReport | None
    parts: Mapping[str, Mapping[str, Contest]]
    """Contests by language and measure; empty if only ratings count."""
    units: Units
    """Units of their queries."""
    facts: Mapping[str, SystemFacts]
    allowed: frozenset[str]
    """Systems that meet the requirements."""
    margin: float

    def contests(self, weights: Mapping[str, float], scales: Mapping[str, float]) -> dict[str, Contest]:
        """Return the contests among eligible systems, by language, and `all` if there are several."""
        rivals = {}
        if not self.parts and self.ranking is not None:
            rivals = {code: rating_contest(self.ranking, code) for code in self.ranking.languages}
        shares = {name: weight / scales[name] for name, weight in weights.items()}
        for code, parts in self.parts.items():
            contest = weighted_contest(parts, shares)
            if contest is not None:
                rivals[code] = contest
        allowed = {code: contest.of(tuple(self.allowed)) for code, contest in rivals.items()}
        contests = {code: allowed[code] for code in in_order(allowed) if allowed[code].systems}
        if JOINT in contests or not self.parts:
            return contests
        joint = mean_contest(list(contests.values()), self.units.n) if len(contests) == len(rivals) > 1 else None
        return contests if joint is None else {**contests, JOINT: joint}


def choose_systems(
    arena: Arena,
    settings: DecideSettings = DecideSettings(),
    *,
    ranking: RankingReport | None = None,
    corrected: Mapping[str, Mapping[str, Influence]] = MappingProxyType({}),
) -> ChoiceReport:
    """Choose among the systems of an arena.

    Args:
        arena: holds the tables of the measures; cards and the ledger, if present, give price and latency.
        settings: the settings.
        ranking: ratings in these languages, if computed already; None to compute them.
        corrected: by measure and language, levels corrected by people's labels, which replace the arena's.

    Raises:
        BadInput: if a weight is invalid.
        UnknownName: if a measure, judge or language does not exist.
        TableMissing: if the arena lacks a table that a measure needs.
        NotEnoughData: if no language has a system with all measures.
    """
    shares = _shares({RATING: 1.0} if settings.weights is None else settings.weights, corrected)
    wants, margin = settings.requirements, settings.margin
    if RATING in shares:
        if ranking is None:
            referee = settings.ranking.referee(choose_referee(arena, settings.judge))
            battles, _ = read_battles(arena, referee, settings.ranking)
            ranking = rank_battles(battles, settings.ranking)
    elif settings.judge is not None or ranking is not None:
        raise BadInput("a referee applies to ratings only, and no measure is a rating", do="omit the referee")
    parts: Mapping[str, Mapping[str, Contest]] = {}
    units = Units({} if ranking is None else {code: of.queries for code, of in ranking.battles.items()})
    if set(shares) != {RATING}:
        parts, units = _parts(arena, shares, ranking, settings, corrected)
    systems = {system for of in parts.values() for part in of.values() for system in part.systems}
    if ranking is not None and not parts:
        systems = {system for row in ranking.languages.values() for system in row.systems}
    facts = system_facts(arena, systems, tokens_in=settings.tokens_in, tokens_out=settings.tokens_out)
    allowed = frozenset(system for system, known in facts.items() if known.lacking(wants) is None)
    weighed = _Field(ranking, parts, units, facts, allowed, margin)
    scales = _scales(weighed, shares)
    contests = weighed.contests(shares, scales)
    if not contests and allowed:
        raise NotEnoughData(
            "no system has all of these measures", do="choose other measures, or compute the missing measures"
        )
    return ChoiceReport(
        rows=_rows(weighed, contests),
        options=_options(weighed, contests, wants),
        by_weight=_by_weight(weighed, shares, scales) if len(shares) > 1 and contests else (),
        weights=shares,
        scales=scales,
        referee=None if ranking is None else ranking.referee,
        margin=margin,
        unit=units.unit,
        requirements=wants,
        n_draws=settings.draws,
        seed=settings.seed,
    )


def _shares(weights: Mapping[str, float], corrected: Collection[str]) -> dict[str, float]:
    for name, weight in weights.items():
        if not (math.isfinite(weight) and weight > 0):
            raise BadInput(f"the weight of {name} is {weight}", do="give more than 0, or omit the measure")
        if name != RATING and name not in corrected:
            query_measure(name)
    if not weights:
        raise BadInput("there are no weights", do="give a weight to a measure")
    whole = sum(weights.values())
    return {name: weight / whole for name, weight in weights.items()}


def _parts(
    arena: Arena,
    measures: Iterable[str],
    ranking: RankingReport | None,
    settings: DecideSettings,
    corrected: Mapping[str, Mapping[str, Influence]],
) -> tuple[dict[str, dict[str, Contest]], Units]:
    """Return the contests by language and measure, for languages with every measure, and the units of their queries."""
    by_measure: dict[str, Mapping[str, Influence]] = {}
    for name in measures:
        if name in corrected:
            by_measure[name] = corrected[name]
            continue
        if name == RATING and ranking is not None:
            by_measure[name] = {code: rating_influence(ranking, code) for code in ranking.battles}
            continue
        measure, systems = query_measure(name), measured_systems(arena, name)
        values_of = query_values(
            arena,
            systems,
            measure,
            languages=settings.languages,
            parser=settings.parser,
            assigner=settings.assigner,
        )
        values = dict(zip(systems, values_of, strict=True))
        codes = in_order({code for of in values.values() for code, _ in of})
        known = ((code, measure_influence(values, measure, code)) for code in codes)
        by_measure[name] = {code: part for code, part in known if part is not None}
    codes = in_order(set.intersection(*(set(of) for of in by_measure.values())))
    parts = {code: {name: of[code] for name, of in by_measure.items()} for code in codes}
    units = Units({code: queries_of(of) for code, of in parts.items()})
    draws, seed = settings.draws, settings.seed
    shared = SharedWeights.of(units.shared, n_draws=draws, seed=seed)
    contests = {
        code: draw_contests(of, n_draws=draws, seed=seed + _number(code), shared=shared) for code, of in parts.items()
    }
    return contests, units


def _scales(weighed: _Field, weights: Mapping[str, float]) -> dict[str, float]:
    """Return by measure the mean over languages of the range from the worst to the best eligible system."""
    if len(weights) == 1:
        return dict.fromkeys(weights, 1.0)
    scales = {}
    for name in weights:
        spans = []
        for parts in weighed.parts.values():
            part = parts[name]
            worths = part.of(tuple(weighed.allowed)).worth.tolist()
            spans.append(max(worths) - min(worths) if worths else 0.0)
        scales[name] = float(np.mean(spans)) if spans and max(spans) > 0 else 1.0
    return scales


def _choose(weighed: _Field, contest: Contest) -> tuple[str, str | None]:
    """Return the cheapest contender, the best if no price is known, and the reason why price is not decisive."""
    order = np.argsort(-contest.worth, kind="stable")
    able = contest.contenders(weighed.margin)
    names = [contest.systems[k] for k in order if able[k]]
    priced = [
        (price, place, name) for place, name in enumerate(names) if (price := weighed.facts[name].price) is not None
    ]
    if not priced:
        return names[0], "no contender has a known price: the choice has the best estimate"
    unpriced = len(names) - len(priced)
    reason = f"{unpriced} contenders have no known price" if unpriced else None
    return min(priced)[2], reason


def _rows(weighed: _Field, contests: Mapping[str, Contest]) -> tuple[LanguageChoice, ...]:
    if not contests:
        reason = "no system meets the requirements"
        nothing: dict[str, Any] = dict.fromkeys((field.name for field in fields(LanguageChoice)), None)
        return (LanguageChoice(**nothing | {"language": JOINT, "contenders": (), "n_queries": 0, "reason": reason}),)
    last = list(contests)[-1]
    single = _choose(weighed, contests[last])[0] if len(contests) == 1 or last == JOINT else None
    rows = []
    for code, contest in contests.items():
        chosen, why = _choose(weighed, contest)
        endless = [system for system in contest.endless if system != contest.systems[contest.best]]
        if endless:
            nothing_bounds = f"the data puts no upper bound on {', '.join(endless)}, which may be best"
            why = nothing_bounds if why is None else f"{why}; {nothing_bounds}"
        able, regrets = contest.contenders(weighed.margin), contest.regrets()
        order = np.argsort(-contest.worth, kind="stable")
        k = contest.systems.index(chosen)
        regret = dict(zip(("regret", "regret_low", "regret_high"), regrets[:, k].tolist(), strict=True))
        ones: dict[str, float | None] = dict.fromkeys(("one_regret", "one_low", "one_high"))
        if single is not None and single in contest.systems:
            ones = dict(zip(ones, regrets[:, contest.systems.index(single)].tolist(), strict=True))
        rows.append(
            LanguageChoice(
                language=code,
                choice=chosen,
                best=contest.systems[contest.best],
                contenders=tuple(contest.systems[i] for i in order if able[i]),
                p_right=float(contest.p_right(weighed.margin)[k]),
                n_queries=contest.n_queries,
                reason=why,
                **regret,
                **ones,
            )
        )
    return tuple(rows)


def _options(weighed: _Field, contests: Mapping[str, Contest], wants: Requirements) -> tuple[SystemOption, ...]:
    contest = contests[list(contests)[-1]] if contests else None
    values: dict[str, SystemOption] = {}
    if contest is not None:
        p_best, able = contest.p_right(), contest.contenders(weighed.margin)
        ends = np.quantile(contest.draws, [0.025, 0.975], axis=0, method="weibull")
        fronts = _fronts(weighed, contest)
        for k, system in enumerate(contest.systems):
            side = contest.unbounded.get(system)
            low = None if side in ("below", "both") else float(min(ends[0, k], contest.worth[k]))
            high = None if side in ("above", "both") else float(max(ends[1, k], contest.worth[k]))
            numbers = (float(contest.worth[k]), low, high, float(p_best[k]), bool(able[k]))
            values[system] = SystemOption(weighed.facts[system], None, *numbers, *fronts[system])
    for system, facts in weighed.facts.items():
        if system not in values:
            refused = facts.lacking(wants) or "it has no value in some of the languages"
            values[system] = SystemOption(facts, refused, None, None, None, None, False, None, None)
    return tuple(sorted(values.values(), key=lambda o: (o.worth is None, -(o.worth or 0.0), o.facts.system)))


def _fronts(weighed: _Field, contest: Contest) -> dict[str, tuple[bool | None, float | None]]:
    """Return by system whether it is on the Pareto front of worth, price and latency, and in what share of the
    draws.
    """
    priced = contest.of(tuple(s for s in contest.systems if weighed.facts[s].price is not None))
    fronts: dict[str, tuple[bool | None, float | None]] = dict.fromkeys(contest.systems, (None, None))
    if priced.systems:
        known = [(weighed.facts[s].price, weighed.facts[s].seconds) for s in priced.systems]
        costs: Array = np.array([[np.nan if cost is None else cost for cost in pair] for pair in known], dtype=float)
        on_front, shares = priced.on_front(costs)
        for system, is_on, share in zip(priced.systems, on_front.tolist(), shares.tolist(), strict=True):
            fronts[system] = (is_on, share)
    return fronts


def _by_weight(
    weighed: _Field, weights: Mapping[str, float], scales: Mapping[str, float]
) -> tuple[WeightedChoice, ...]:
    out = []
    for name in weights:
        rest = 1 - weights[name]
        for step in range(STEPS + 1):
            weight = step / STEPS
            changed = {n: weight if n == name else (1 - weight) * share / rest for n, share in weights.items()}
            contests = weighed.contests(changed, scales)
            contest = contests[list(contests)[-1]]
            choice = _choose(weighed, contest)[0]
            p_right = float(contest.p_right(weighed.margin)[contest.systems.index(choice)])
            out.append(WeightedChoice(name, weight, choice, p_right))
    return tuple(out)


def _number(code: str) -> int:
    """Return an integer seed for a language, so that languages have independent draws."""
    return int.from_bytes(code.encode(), "big") % 2**31
