"""Panels of judges: the effective number of independent judges, and the recommended one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations

import numpy as np

from mirage.battles.decided import Places
from mirage.people.exam.items import Items, by_query
from mirage.people.exam.records import JudgeChoice, PanelWorth
from mirage.stats.holm import holm
from mirage.stats.intervals import CONFIDENCE
from mirage.stats.jackknife import Array, Estimate, Spread, estimate, jackknife, p_of_zero
from mirage.text.languages import name_of

_NO_COMMON = "no battle was decided by people and by every judge"


def common(by_judge: Sequence[Items]) -> list[Places]:
    """Return, for each judge, the indices of the battles that every judge decided."""
    shared = reduce(np.intersect1d, [items.battle for items in by_judge])
    return [np.searchsorted(items.battle, shared) for items in by_judge]


def panel_worth(code: str, parts: Sequence[Mapping[str, Items]]) -> PanelWorth:
    """Estimate the effective number of independent judges in a panel.

    An error is the judge's points for a system minus people's. Correlations are taken about 0, since from the other
    system's side every error has the opposite sign.

    Args:
        code: the language, or `all`.
        parts: by judge the battles that it decided, one mapping per language; all of the same judges.
    """
    judges = tuple(sorted(parts[0]))
    j = len(judges)
    moments = [_moments([by_judge[name] for name in judges]) for by_judge in parts]

    def effective(sums: Array) -> Array:
        return np.asarray(j**2 / (_correlation(sums, j) ** 2).sum(axis=(1, 2)) / j)

    spreads = [jackknife(sums, effective, lambda s: s[:, -1]) for sums in moments]
    known = any(spread.n for spread in spreads)
    share = estimate(spreads, none="a judge makes no error" if known else _NO_COMMON, scale="difference")
    # Estimated as a share of the judges, for its bounds. Noise in the correlations only lowers the number, so its lower
    # end is valid and its upper end is not.
    value, low = (None if end is None else max(end * j, 1.0) for end in (share.value, share.low))
    matrices = [_correlation(sums.sum(axis=0, keepdims=True), j)[0] for sums in moments if len(sums)]
    matrix = np.mean(matrices, axis=0) if matrices and share.value is not None else np.zeros((0, 0))
    return PanelWorth(
        code, judges, replace(share, value=value, low=low, high=None), tuple(tuple(map(float, row)) for row in matrix)
    )


def _moments(by_judge: Sequence[Items]) -> Array:
    """Return products of the judges' errors, and the number of battles (Q x (J * J + 1))."""
    places = common(by_judge)
    errors = np.column_stack([items.errors[rows] for items, rows in zip(by_judge, places, strict=True)])
    products = (errors[:, :, None] * errors[:, None, :]).reshape(len(errors), -1)
    return by_query(by_judge[0].query[places[0]], np.column_stack([products, np.ones(len(errors))]))


def _correlation(sums: Array, j: int) -> Array:
    """Return the error correlations (B x J x J); NaN if a judge makes no error."""
    products = sums[:, :-1].reshape(-1, j, j)
    scale = np.sqrt(np.diagonal(products, axis1=1, axis2=2))
    below = scale[:, :, None] * scale[:, None, :]
    return np.asarray(np.divide(products, below, out=np.full(products.shape, np.nan), where=below > 1e-12))


def choose_judge(code: str, parts: Sequence[Mapping[str, Items]], people: Estimate | None) -> JudgeChoice:
    """Choose the judges that agree most with people, on the battles that every judge decided.

    Every two judges are compared over the same queries, with Holm's correction over all pairs, and the recommendation
    is the set of judges that no other judge significantly beats, since a single top judge is often just lucky. Judges
    that agree on every query count as equal.

    Args:
        code: the language, or `all`.
        parts: as in `panel_worth`.
        people: agreement of people with each other, if known.
    """
    where = "Over all languages" if code == "all" else f"In {name_of(code)}"
    judges = sorted(parts[0])
    tables = [_agreeing([by_judge[name] for name in judges]) for by_judge in parts]
    if not all(len(table) for table in tables):
        return JudgeChoice(code, (), f"{where} no judge can be named: {_NO_COMMON}.")

    def spreads(weights: Array) -> list[Spread]:
        return [jackknife(table, lambda s: s[:, :-1] @ weights / s[:, -1], lambda s: s[:, -1]) for table in tables]

    own = [estimate(spreads(np.eye(len(judges))[k]), none=_NO_COMMON) for k in range(len(judges))]
    best = max(range(len(judges)), key=lambda k: own[k].value or 0.0)
    apart, near = _sort_out(judges, best, own, spreads)
    share = f"{_percent(own[best])} of {own[best].n:,} votes"
    if len(judges) > 1:
        share += " on battles that every judge decided"
    if len(judges) > 1 and own[best].low is None:
        votes = f"{own[best].n:,} votes on battles that every judge decided"
        return JudgeChoice(code, (), f"{where} no judge can be named yet, on {votes}: {own[best].reason}.")
    if len(judges) == 1:
        sentence = f"{where} {judges[0]} is the only judge examined: it agrees with {share}"
    elif near:
        names = " and ".join([judges[best], *(name for name, _ in near)])
        differences = "; ".join(f"{name} {_points(row)} below" for name, row in near)
        sentence = f"{where} use any of {names}, which do not differ significantly: {judges[best]} agrees with {share}"
        sentence += f", {differences}"
    else:
        name, lead = min(apart, key=lambda each: each[1].value or 0.0)
        sentence = f"{where} take {judges[best]}: it agrees with {share}, {_points(lead)} above {name}, the next"
    if people is not None and people.value is not None:
        sentence += f"; people agree with each other on {_percent(people)}"
    return JudgeChoice(code, (judges[best], *(name for name, _ in near)), f"{sentence}.")


def _sort_out(
    judges: Sequence[str], best: int, own: Sequence[Estimate], spreads: Callable[[Array], list[Spread]]
) -> tuple[list[tuple[str, Estimate]], list[tuple[str, Estimate]]]:
    """Return the other judges that some judge significantly beats, and those that none beats.

    Each comes with its difference from the best, with an interval corrected for all comparisons with the best.
    """
    unit = np.eye(len(judges))
    pairs = list(combinations(range(len(judges)), 2))
    adjusted = holm([p_of_zero(spreads(unit[i] - unit[j])) for i, j in pairs])
    beaten = {
        min(pair, key=lambda k: own[k].value or 0.0)
        for pair, p in zip(pairs, adjusted, strict=True)
        if p <= 1 - CONFIDENCE
    }
    level = 1 - (1 - CONFIDENCE) / max(len(judges) - 1, 1)
    apart: list[tuple[str, Estimate]] = []
    near: list[tuple[str, Estimate]] = []
    for k, name in enumerate(judges):
        if k != best:
            difference = estimate(spreads(unit[best] - unit[k]), none=_NO_COMMON, scale="difference", confidence=level)
            (apart if k in beaten else near).append((name, difference))
    return apart, near


def _agreeing(by_judge: Sequence[Items]) -> Array:
    """Return the votes that agree with each judge, and all votes (Q x (J + 1))."""
    places = common(by_judge)
    columns = [items.agreeing[rows] for items, rows in zip(by_judge, places, strict=True)]
    first, rows = by_judge[0], places[0]
    return by_query(first.query[rows], np.column_stack([*columns, first.opinions.n[first.battle[rows]]]))


def _percent(row: Estimate) -> str:
    ends = "" if row.low is None or row.high is None else f" (95% interval {row.low:.0%} to {row.high:.0%})"
    return f"{row.value or 0:.0%}{ends}"


def _points(row: Estimate) -> str:
    ends = "" if row.low is None or row.high is None else f" ({100 * row.low:.0f} to {100 * row.high:.0f})"
    return f"{100 * (row.value or 0):.0f} points{ends}"
