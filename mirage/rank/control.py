"""Ratings at equal style: length, citations and language of the answers as covariates of every battle.

    found = control(battles, covariates(features, ("length", "citations")))
    found.ranking, found.plain                            # with and without, on the same battles
    found.coefficients["en"]                              # how much the judge gives for each

A judge that likes long answers ranks the talkative. With z the difference of a covariate between the two answers of a
battle, P(i beats j) = 1 / (1 + exp(-(theta_i - theta_j + beta z))): thetas are then what systems are worth when their
answers are alike in style, betas what the style is worth. Both are fitted together, as in the style control of Chatbot
Arena (Li, Angelopoulos and Chiang 2024, "Does style matter?") and the length control of AlpacaEval (Dubois et al. 2024,
arXiv 2404.04475). Unlike there, the query is the unit of every interval, a battle whose covariates are not all known is
left out and counted, and length counts by its logarithm: characters are read by their ratio, not by their number.

This controls for what is measured and for nothing else, and it takes from a system what its style has earned: where
longer answers are longer because they are better, the plain ranking is the one to read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.intervals import bootstrap_tails
from mirage.rank.battles import Battles, codes
from mirage.rank.bootstrap import DRAWS, JOINT, LEVEL, SEED, LanguageRanking, Ranking, query_weights, rate
from mirage.rank.bootstrap import _join as join
from mirage.rank.fit import RIDGE, Array, logistic

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Covariate:
    """What of an answer's style can be controlled for."""

    name: str
    """What it is called."""
    feature: str
    """Feature it is read from, as declared in `mirage.features`."""
    per: str
    """The step that a coefficient is given for, in words."""
    logarithm: bool = False
    """Whether it counts as log2(1 + value)."""


COVARIATES: Mapping[str, Covariate] = {
    one.name: one
    for one in (
        Covariate("length", "length", "each doubling of the length", logarithm=True),
        Covariate("citations", "n_citations", "each citation more"),
        Covariate("language", "target_language", "the language asked for instead of another"),
    )
}
"""Every covariate by name."""

_DEPENDENT = 1e-6
"""Share of a covariate's information that must not follow from the systems and the other covariates."""

_ENDLESS = 20.0
"""Logits per standard deviation above which only the ridge holds a coefficient."""


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
    """Q x S x K, in the unit of the coefficients (length: log2 of characters + 1); NaN where not known."""

    def of(self, battles: Battles) -> Array:
        """Q x S x K values in the order of the systems and queries of the battles; NaN for those not known here."""
        found = np.full((len(battles.queries), len(battles.systems), len(self.names)), np.nan)
        at_query = {name: k for k, name in enumerate(self.queries)}
        at_system = {name: k for k, name in enumerate(self.systems)}
        q = np.array([at_query.get(name, -1) for name in battles.queries])
        s = np.array([at_system.get(name, -1) for name in battles.systems])
        found[np.ix_(q >= 0, s >= 0)] = self.values[np.ix_(q[q >= 0], s[s >= 0])]
        return found


def covariates(features: pa.Table, names: Sequence[str]) -> dict[str, Covariates]:
    """Read covariates off the features of the answers.

    Args:
        features: table `features`.
        names: which of `COVARIATES`.

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
    wanted = [one.feature for one in chosen]
    rows = features.filter(pc.is_in(features["feature"], value_set=pa.array(wanted, pa.string())))
    rows = rows.filter(pc.is_valid(rows["value"]))
    at_feature = np.asarray(pc.index_in(rows["feature"], value_set=pa.array(wanted, pa.string())))
    for k, one in enumerate(chosen):
        if not (at_feature == k).any():
            raise NotEnoughData(f"no answer has the feature {one.feature}", do="run: mirage features DIR")
    languages, language = codes(rows["language"])
    found = {}
    for code, name in enumerate(languages):
        here = language == code
        mine = rows.filter(here)
        queries, q = codes(mine["query_id"])
        systems, s = codes(mine["system"])
        values = np.full((len(queries), len(systems), len(chosen)), np.nan)
        values[q, s, at_feature[here]] = mine["value"].to_numpy()
        for k, one in enumerate(chosen):
            if one.logarithm:
                values[:, :, k] = np.log2(1 + values[:, :, k])
        found[name] = Covariates(tuple(one.name for one in chosen), systems, queries, values)
    return found


@dataclass(frozen=True, slots=True)
class Coefficient:
    """What a judge gives for style in one language."""

    language: str
    """Code, or `all`: the mean over the languages that have a value."""
    covariate: str
    """Name of the covariate."""
    per: str
    """The step it is given for."""
    value: float | None
    """Logits by which an answer gains with this step over an answer that differs in nothing else; null where the
    battles do not tell."""
    low: float | None
    """Lower end of the 95% interval of `value`."""
    high: float | None
    """Upper end."""
    spread: float
    """Standard deviation of the covariate's difference between the two answers of a battle, in the same unit; for `all`
    its mean."""
    reason: str | None
    """Why there is no value; null where there is."""


@dataclass(frozen=True, eq=False)
class Controlled:
    """Ratings at equal style, beside those of the same battles without control."""

    names: tuple[str, ...]
    """The covariates."""
    ranking: Ranking
    """With control. Its draws are one Newton step from the estimate for the queries of each draw. It has no tiers."""
    plain: Ranking
    """Without control, from the same battles."""
    coefficients: Mapping[str, tuple[Coefficient, ...]]
    """By language, and `all` where there is more than one, in the order of `names`."""
    n_battles: Mapping[str, int]
    """Battles used, by language."""
    n_missing: Mapping[str, int]
    """Battles left out because a covariate of one of the two answers is not known, by language."""

    @property
    def method(self) -> str:
        """How the numbers came about, in a line."""
        return (
            f"Bradley-Terry at equal {_and(self.names)}, ties "
            f"{'half a win each' if self.ranking.ties == 'half' else 'dropped'}, ridge {self.ranking.ridge:g}; "
            f"{LEVEL:.0%} percentile intervals over {self.ranking.n_draws} draws of queries, one Newton step each, "
            f"seed {self.ranking.seed}"
        )


def control(
    battles: Mapping[str, Battles],
    known: Mapping[str, Covariates],
    *,
    ties: Literal["half", "drop"] = "half",
    draws: int = DRAWS,
    seed: int = SEED,
    ridge: float = RIDGE,
) -> Controlled:
    """Rate the systems at equal style.

    Args:
        battles: battles by language, by judges.
        known: covariates by language (`covariates`).
        ties: how ties count; Davidson's model has no place for covariates here.
        draws: bootstrap draws of queries.
        seed: seed of the draws, which are those of `rate`.
        ridge: weight of the penalty.

    Raises:
        BadInput: if ties are modelled, or the battles are decided by labels, which see no style.
        NotEnoughData: if a language has no battle whose covariates are known.
    """
    if ties not in ("half", "drop"):
        raise BadInput(f"style is not controlled with ties by {ties}", do="count ties half, or drop them")
    if any(len(np.unique(one.strata)) > 1 or one.skill != "both" for one in battles.values()):
        raise BadInput("relevance labels see no style that could be controlled for", do="choose a judge")
    if not battles:
        raise NotEnoughData("no language has battles and the covariates", do="run: mirage features DIR")
    names = next(iter(known.values())).names if known else ()
    kept, missing, found, made = {}, {}, {}, {}
    for code, one in sorted(battles.items()):
        values = known[code].of(one) if code in known else np.full((*one.wins.shape[:2], len(names)), np.nan)
        fought = np.triu(one.wins + one.wins.transpose(0, 2, 1) + one.ties, 1)
        measured = np.all(np.isfinite(values), axis=2)
        there = measured[:, :, None] & measured[:, None, :]
        kept[code] = replace(one, wins=one.wins * there, ties=one.ties * there)
        missing[code] = int((fought * ~there).sum(dtype=np.int64))
        made[code] = values
        if not kept[code].wins.any():
            raise NotEnoughData(
                f"no battle in {code} has a winner and the {_and(names)} of both answers",
                do="measure them (mirage features DIR), or leave the language out",
            )
    plain = rate(kept, draws=draws, seed=seed, ties=ties, ridge=ridge)
    extra = {}
    for code, one in kept.items():
        base = plain.languages[code]
        theta, drawn, extra[code] = _fit(one, made[code], base, names, ties=ties, seed=seed, ridge=ridge)
        found[code] = replace(base, theta=theta, draws=drawn)
    coefficients = {code: _read(code, names, *extra[code], len(kept[code].queries)) for code in kept}
    if JOINT in plain.languages:
        found[JOINT] = join(found, list(plain.languages[JOINT].systems))
        coefficients[JOINT] = _mean(names, coefficients, extra, plain.languages[JOINT].n_queries)
    n = {code: int(plain.languages[code].record.sum()) // 2 for code in kept}
    return Controlled(names, replace(plain, languages=found, battles={}), plain, coefficients, n, missing)


_Extra = tuple[Array, Array, Array, tuple[str | None, ...]]
"""K coefficients, B x K draws of them, K spreads of the differences, K reasons why one cannot be told."""


def _fit(
    battles: Battles,
    values: Array,
    plain: LanguageRanking,
    names: tuple[str, ...],
    *,
    ties: str,
    seed: int,
    ridge: float,
) -> tuple[Array, Array, _Extra]:
    """Thetas and coefficients of one language with their draws."""
    s, k = len(battles.systems), len(names)
    i, j = np.triu_indices(s, 1)
    first, second = battles.wins[:, i, j].astype(float), battles.wins[:, j, i].astype(float)
    if ties == "half":
        first += battles.ties[:, i, j] / 2
        second += battles.ties[:, i, j] / 2
    q, p = np.nonzero(first + second)
    won, lost = first[q, p], second[q, p]
    differences = (values[:, i] - values[:, j])[q, p]
    spread = np.sqrt(np.average(differences**2, axis=0, weights=won + lost))
    z = differences / np.where(spread > 0, spread, 1)
    design = np.zeros((len(i), s))
    design[np.arange(len(i)), i], design[np.arange(len(i)), j] = 1, -1
    starts = np.flatnonzero(np.diff(q, prepend=-1))

    def sums(weights: Array) -> Array:
        return np.bincount(p, weights, minlength=len(i)).astype(float)

    def slopes(x: Array) -> tuple[Array, Array, Array]:
        """What each battle adds to the gradient along its difference, the gradient, and minus the Hessian."""
        up, down = logistic((x[:s] @ design.T)[p] + z @ x[s:])
        left = won * down - lost * up
        c = (won + lost) * up * down
        H = np.empty((s + k, s + k))
        H[:s, :s] = design.T @ (sums(c)[:, None] * design)
        H[:s, s:] = np.column_stack([design.T @ sums(c * z[:, m]) for m in range(k)]) if k else np.empty((s, 0))
        H[s:, :s] = H[:s, s:].T
        H[s:, s:] = (z * c[:, None]).T @ z
        # Definite along the direction (1, ..., 1) that centring removes.
        H[:s, :s] += max(H[:s, :s].max(), ridge) / s
        H[np.arange(s + k), np.arange(s + k)] += ridge
        return left, np.concatenate([design.T @ sums(left), z.T @ left]) - ridge * x, H

    def value(x: Array) -> float:
        d = (x[:s] @ design.T)[p] + z @ x[s:]
        likelihood = -(won * np.logaddexp(0, -d)).sum() - (lost * np.logaddexp(0, d)).sum()
        return float(likelihood - ridge / 2 * (x @ x))

    x = np.concatenate([plain.theta, np.zeros(k)])
    free = _free(slopes(x)[2], s)
    reasons = [
        None if at in free else "it does not vary, or follows from the systems and what else is controlled for"
        for at in range(k)
    ]
    at = np.concatenate([np.arange(s), s + np.array(free, dtype=np.intp)])
    for _ in range(100):
        left, g, H = slopes(x)
        step = np.zeros(s + k)
        step[at] = np.linalg.solve(H[np.ix_(at, at)], g[at])
        if np.abs(step).max() > 0.1:
            here = value(x)
            while value(x + step) < here - 1e-9 * abs(here):
                step /= 2
        x = x + step
        if np.abs(step).max() < 1e-9:
            break
    left, _, H = slopes(x)
    scores = np.zeros((len(battles.queries), s + k))
    by_pair = np.zeros((len(battles.queries), len(i)))
    by_pair[q, p] = left
    scores[:, :s] = by_pair @ design
    scores[q[starts], s:] = np.add.reduceat(left[:, None] * z, starts)
    moves = np.zeros_like(scores)
    moves[:, at] = np.linalg.solve(H[np.ix_(at, at)], scores[:, at].T).T
    weights = query_weights(plain.language, battles, draws=len(plain.draws), seed=seed)
    drawn = x + (weights - 1) @ moves
    for m in np.flatnonzero(np.abs(x[s:]) > _ENDLESS):
        reasons[m] = "it decides every battle in which it differs, so that only the ridge bounds the coefficient"
    scale = np.where(spread > 0, spread, 1)
    theta, all_ = x[:s] - x[:s].mean(), drawn[:, :s] - drawn[:, :s].mean(axis=1, keepdims=True)
    return theta, all_, (x[s:] / scale, drawn[:, s:] / scale, spread, tuple(reasons))


def _free(information: Array, s: int) -> list[int]:
    """The covariates, as places from 0, that add information to the systems and to those before them."""
    free: list[int] = []
    for k in range(s, len(information)):
        before = np.array([*range(s), *(s + at for at in free)])
        mine, shared = information[k, k], information[before, k]
        explained = shared @ np.linalg.solve(information[np.ix_(before, before)], shared)
        if mine - explained > _DEPENDENT * mine and mine > _DEPENDENT:
            free.append(k - s)
    return free


def _read(
    code: str,
    names: tuple[str, ...],
    values: Array,
    drawn: Array,
    spread: Array,
    reasons: Sequence[str | None],
    n: int,
) -> tuple[Coefficient, ...]:
    ends = np.quantile(drawn, bootstrap_tails(LEVEL, n), axis=0, method="weibull")
    rows: list[Coefficient] = []
    for k, (name, reason) in enumerate(zip(names, reasons, strict=True)):
        low, value, high = (None if reason else float(v) for v in (ends[0, k], values[k], ends[1, k]))
        rows.append(Coefficient(code, name, COVARIATES[name].per, value, low, high, float(spread[k]), reason))
    return tuple(rows)


def _mean(
    names: tuple[str, ...], by: Mapping[str, Sequence[Coefficient]], extra: Mapping[str, _Extra], n: int
) -> tuple[Coefficient, ...]:
    rows: list[Coefficient] = []
    for k in range(len(names)):
        told = [extra[code] for code in extra if by[code][k].reason is None]
        parts = told or list(extra.values())
        values, drawn, spread = (
            np.mean([each[..., k : k + 1] for each in column], axis=0)
            for column in zip(*((part[0], part[1], part[2]) for part in parts), strict=True)
        )
        rows += _read(JOINT, (names[k],), values, drawn, spread, (None if told else "no language tells",), n)
    return tuple(rows)


def _and(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1] if names else "style"
