"""Fragility of a ranking: the fewest battles, queries or voters whose removal changes the first place or first tier.

The influence of a unit on the difference of two ratings is its score times the inverse Hessian, the first-order effect
of leaving it out (the maximum influence perturbation of Broderick, Giordano and Meager, "An automatic finite-sample
robustness metric", 2020; for Bradley-Terry: Huang, Shen, Wei and Broderick, "Dropping just a handful of preferences can
change top large language model rankings", arXiv 2508.11847). It only ranks the units; every reported set was confirmed
by refitting without it. Departures: units are removed in steps, with influences recomputed at each refit; the set is
then shortened while it still changes the result; and units can be queries or voters. Its size is an upper bound: a
smaller set could exist.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mirage.battles.counts import Battles
from mirage.battles.decision import FIRST, SECOND, TIE, UNPARSED, VERDICTS
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.ranking.bootstrap import JOINT, RankingReport, rate
from mirage.ranking.by_query import ByQuery, by_query
from mirage.ranking.fit import Array, logistic
from mirage.ranking.threads import one_thread
from mirage.ranking.tiers import Tiers, in_rank_order
from mirage.text.segmentation import count_text

if TYPE_CHECKING:
    import pyarrow as pa

FragileUnit = Literal["battle", "query", "voter"]
FragileChange = Literal["first place", "first tier"]
_RIVALS = 3
"""Number of rivals of the first system to try, the nearest by the approximation."""
_LEVEL = 1e-6
"""Minimum lead of the other system in logits; smaller leads are rounding errors."""
_TRIED = {1: 40, 2: 12}
"""Number of most influential units whose sets of one and two are all refitted, if the set found has at most five."""
_FEW = 5
_REFITS = 60
"""Maximum refits for one rival."""
_SHARE = 0.5
"""Maximum share of the units to remove."""
_FURTHER = re.compile(r"~\d+$")
"""Suffix of the voter's name for another verdict on the same battle."""

Voters = Mapping[tuple[str, str, str, str], Mapping[str, tuple[float, float]]]
"""By language, query and the two systems in order of name: each voter's points for the first and for the second."""


Days = Mapping[tuple[str, str, str, str], Sequence[str]]
"""Days of the verdicts, by the same keys."""


@dataclass(frozen=True, slots=True)
class RemovedUnit:
    """A battle, a query or a voter of the set."""

    language: str | None
    """Language of the battle or query; null for a voter."""
    query_id: str | None
    """The query; null for a voter."""
    first: str | None
    """The system of the battle that is first by name; null for a query or a voter."""
    second: str | None
    """The other system."""
    voter: str | None
    """The voter; null for a battle or a query."""


@dataclass(frozen=True, slots=True)
class SharedOrigin:
    """A query, voter or day shared by several battles of a set, tested against chance."""

    kind: str
    """`query`, `voter` or `day`."""
    name: str
    """The query, with its language, the voter, or the day."""
    units: int
    """Units of the set from it."""
    of: int
    """Battles from it among all battles of the pairs of systems in the set."""
    p: float
    """Hypergeometric p-value, given the set's number of battles of each pair of systems; Bonferroni-corrected over the
    origins in the set.
    """


@dataclass(frozen=True)
class Fragility:
    """The smallest set found whose removal changes a result of the ranking."""

    language: str
    """Code of the language, or `all`."""
    referee: str
    """Referee of the battles."""
    change: FragileChange
    """The result: the first place, or the first tier."""
    unit: FragileUnit
    """Unit of removal."""
    system: str
    """The leading system: the first, or the last of the first tier."""
    other: str | None
    """The system that overtakes it, or joins the first tier; null if nothing was found."""
    needed: int | None
    """Units in the smallest set found, whose removal was refitted; null if there is none."""
    approximate: int | None
    """First-order estimate of the units needed for another first place; null for tiers, which depend on tests."""
    n: int
    """Total number of units."""
    n_queries: int
    """Queries of the ranking."""
    removed: tuple[RemovedUnit, ...]
    """The set, most influential first."""
    shared: tuple[SharedOrigin, ...]
    """Origins shared by several units of the set, least likely first."""
    reason: str | None
    """Why no set was found."""

    @property
    def sentence(self) -> str:
        """The result in words."""
        of = count_text(self.n, self.unit)
        if self.needed is None or self.other is None:
            return f"No other {self.change} was found by removing some of {of}: {self.reason}."
        what = (
            f"puts {self.other} before {self.system}"
            if self.change == "first place"
            else f"brings {self.other} into the first tier"
        )
        return f"Removing {self.needed:,} of {of} ({self.needed / self.n:.2%}) {what}."


@dataclass(frozen=True, eq=False)
class _Units:
    """Battles in cells, each belonging to one unit."""

    codes: tuple[str, ...]
    """Languages."""
    language: NDArray[np.intp]
    """N: index in `codes`."""
    query: NDArray[np.intp]
    """N: index of the query in its language."""
    i: NDArray[np.intp]
    """N: index of the first system in its language."""
    j: NDArray[np.intp]
    """N: index of the second."""
    first: Array
    """N: points of the first system."""
    second: Array
    """N: points of the second."""
    unit: NDArray[np.intp]
    """N: the unit of each cell."""
    names: tuple[str, ...]
    """Names of the units, if they are voters."""
    n: int
    """Number of units."""


def fragility(
    ranking: RankingReport,
    *,
    language: str | None = None,
    change: FragileChange = "first place",
    unit: FragileUnit = "battle",
    voters: Voters | None = None,
    days: Days | None = None,
) -> Fragility:
    """Find the fewest units whose removal changes the first place, or the first tier, of one row of a ranking.

    Args:
        ranking: the ranking, with its battles.
        language: code or `all`; None for the last row.
        change: the result to change.
        unit: unit of removal: battles (all verdicts on a query and two systems), whole queries, or voters.
        voters: points by voter, for `voter`, and for the test of shared voters.
        days: days of the verdicts on each battle, for the test of shared days.

    Raises:
        NotEnoughData: if the ranking does not hold its battles or has one system, or the voters are unknown.
        UnknownName: if the language is not ranked.
        BadInput: if ties are modelled by Davidson's model.
    """
    code = list(ranking.languages)[-1] if language is None else language
    if code not in ranking.languages:
        raise UnknownName("language", code, ranking.languages)
    if ranking.ties == "davidson":
        raise BadInput("fragility does not support Davidson's model of ties", do="set ties to half or drop")
    if not ranking.battles:
        raise NotEnoughData("the ranking does not hold its battles", do="rank fewer languages")
    if unit == "voter" and not voters:
        raise NotEnoughData("no verdict has a voter", do="use battles or queries")
    codes = tuple(sorted(ranking.battles)) if code == JOINT else (code,)
    with one_thread():
        origins = {"voter": voters or {}, "day": days or {}}
        search = _Search(ranking, code, codes, _units(ranking, codes, unit, voters), change, origins)
        return search.run(unit)


def _units(ranking: RankingReport, codes: tuple[str, ...], unit: FragileUnit, voters: Voters | None) -> _Units:
    """Return the cells of some languages by unit."""
    columns: list[list[NDArray[Any]]] = [[] for _ in range(6)]
    for k, code in enumerate(codes):
        points = ranking.battles[code].shared(ranking.ties)
        query, i, j = np.nonzero(np.triu(points + points.transpose(0, 2, 1) > 0, 1))
        parts: list[NDArray[Any]] = [np.full(len(query), k), query, i, j, points[query, i, j], points[query, j, i]]
        for column, part in zip(columns, parts, strict=True):
            column.append(part)
    language, query, i, j = (np.concatenate(column).astype(np.intp) for column in columns[:4])
    first, second = (np.concatenate(column).astype(np.float64) for column in columns[4:])
    if unit == "battle":
        return _Units(codes, language, query, i, j, first, second, np.arange(len(query)), (), len(query))
    if unit == "query":
        names = [ranking.battles[codes[k]].queries[q] for k, q in zip(language.tolist(), query.tolist(), strict=True)]
        shared = ranking.unit != "query"
        keys = names if shared else [f"{codes[k]}\0{name}" for k, name in zip(language.tolist(), names, strict=True)]
        ids, of = np.unique(np.array(keys, dtype=object), return_inverse=True)
        return _Units(codes, language, query, i, j, first, second, of.astype(np.intp), (), len(ids))
    return _voter_units(ranking, codes, voters or {})


def _voter_units(ranking: RankingReport, codes: tuple[str, ...], voters: Voters) -> _Units:
    """Return one cell for each voter's verdicts on a battle."""
    names = sorted({name for points in voters.values() for name in points})
    place = {name: k for k, name in enumerate(names)}
    rows: list[tuple[float, ...]] = []
    for k, code in enumerate(codes):
        battles = ranking.battles[code]
        at_query = {name: q for q, name in enumerate(battles.queries)}
        at_system = {name: s for s, name in enumerate(battles.systems)}
        for (language, query, one, other), points in sorted(voters.items()):
            if language == code and query in at_query and one in at_system and other in at_system:
                where = at_query[query], at_system[one], at_system[other]
                rows += [(k, *where, *points[name], place[name]) for name in sorted(points)]
    if not rows:
        raise NotEnoughData("no counted verdict has a voter", do="use battles or queries")
    table = np.array(rows, dtype=np.float64).T
    language, query, i, j, unit = (table[k].astype(np.intp) for k in (0, 1, 2, 3, 6))
    return _Units(codes, language, query, i, j, table[4], table[5], unit, tuple(names), len(names))


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for a set."""

    ranking: RankingReport
    row: str
    codes: tuple[str, ...]
    units: _Units
    change: FragileChange
    origins: Mapping[str, Mapping[tuple[str, str, str, str], Collection[str]]]
    """Voters and days of each battle."""

    def run(self, unit: FragileUnit) -> Fragility:
        """Return the smallest set found."""
        row = self.ranking.languages[self.row]
        order = [row.systems[k] for k in in_rank_order(row)]
        if len(order) < 2:
            raise NotEnoughData("there is only one system", do="rank at least two")
        pairs, reason = self._pairs(order)
        base = dict(self.ranking.by_query)
        known = []
        for front, rival in pairs:
            influence = self._influence(base, front, rival)
            known.append((self._approximate(influence, self._gap(base, front, rival)), front, rival))
        known.sort(key=lambda each: (each[0] is None, each[0] or 0))
        best: tuple[list[int], str, str] | None = None
        for likely, front, rival in known[:_RIVALS]:
            if best is not None and self.change == "first place" and (likely is None or likely > 2 * len(best[0])):
                continue
            found = self._remove(base, front, rival, limit=None if best is None else len(best[0]))
            if found is not None and (best is None or len(found) < len(best[0])):
                best = found, front, rival
        approximate = known[0][0] if known and self.change == "first place" else None
        result = Fragility(
            self.row,
            self.ranking.referee,
            self.change,
            unit,
            order[0] if not pairs else pairs[0][0],
            None,
            None,
            approximate,
            self.units.n,
            row.n_queries,
            (),
            (),
            reason or f"no set of up to half of the {count_text(self.units.n, unit)} changes it",
        )
        if best is None:
            return result
        removed, front, rival = best
        if self.change == "first tier":
            after, before = _first_tier(self._tiers(removed)), _first_tier(self.ranking.tiers[self.row])
            rival = next((name for name in order if name in after - before), rival)
            front = next(name for name in reversed(order) if name in before)
        return replace(
            result,
            system=front,
            other=rival,
            needed=len(removed),
            removed=tuple(self._name_unit(k, unit) for k in removed),
            shared=self._shared(removed, unit),
            reason=None,
        )

    def _pairs(self, order: Sequence[str]) -> tuple[list[tuple[str, str]], str | None]:
        """Return the pairs of a leading and a trailing system to try, or the reason why there are none."""
        if self.change == "first place":
            return [(order[0], rival) for rival in order[1:]], None
        tiers = self.ranking.tiers.get(self.row)
        first = [] if tiers is None else [name for name in order if tiers.tier[name] == 1]
        behind = [] if tiers is None else [name for name in order if (tiers.tier[name] or 0) > 1]
        if not first or not behind:
            return [], "there is one tier only"
        return [(front, rival) for front in first for rival in behind[:_RIVALS]], None

    def _gap(self, parts: Mapping[str, ByQuery], front: str, rival: str) -> float:
        """Return the lead of the leading system, averaged over the languages."""
        return float(
            np.mean([self._theta(parts[code], front) - self._theta(parts[code], rival) for code in self.codes])
        )

    @staticmethod
    def _theta(part: ByQuery, system: str) -> float:
        return float(part.point[0, part.systems.index(system)])

    def _influence(self, parts: Mapping[str, ByQuery], front: str, rival: str) -> Array:
        """Return each unit's influence on the lead."""
        units, effect = self.units, np.zeros(len(self.units.unit))
        for k, code in enumerate(self.codes):
            part, own = parts[code], units.language == k
            theta, s = part.point[0], len(part.systems)
            inverse = np.linalg.inv(part.whole.slopes(part.point)[1][0])[:s]
            v = inverse[:, part.systems.index(front)] - inverse[:, part.systems.index(rival)]
            i, j = units.i[own], units.j[own]
            win, lose = logistic(theta[i] - theta[j])
            score = units.first[own] * lose - units.second[own] * win
            effect[own] = score * (v[i] - v[j]) * part.weights[units.query[own]] / len(self.codes)
        return np.asarray(np.bincount(units.unit, weights=effect, minlength=units.n), dtype=np.float64)

    def _approximate(self, influence: Array, gap: float) -> int | None:
        """Return the number of units whose influences add up to a gap."""
        total = np.cumsum(np.sort(influence[influence > 0])[::-1])
        k = int(np.searchsorted(total, gap)) + 1
        return k if k <= len(total) else None

    def _remove(self, base: Mapping[str, ByQuery], front: str, rival: str, limit: int | None) -> list[int] | None:
        """Return a set whose removal changes the result, shortened; None if there is none below the limit."""
        most = int(_SHARE * self.units.n) if limit is None else min(limit - 1, int(_SHARE * self.units.n))
        removed: list[int] = []
        parts = base
        for _ in range(_REFITS):
            influence = self._influence(parts, front, rival)
            influence[removed] = -np.inf
            gap = self._gap(parts, front, rival)
            wanted = (self._approximate(influence, gap) or len(influence)) if gap > 0 else 1
            # Remove half of the estimated number, then re-estimate; small sets one by one.
            step = (
                max(1, wanted // 2) if self.change == "first place" else max(1, self.units.n // 200, len(removed) // 4)
            )
            ahead = np.argsort(-influence, kind="stable")[:step]
            ahead = ahead[influence[ahead] > 0]
            if not len(ahead) or len(removed) + len(ahead) > most:
                ahead = ahead[: max(most - len(removed), 0)]
                if not len(ahead):
                    return None
            removed += ahead.tolist()
            refitted = self._refit(base, removed)
            if refitted is None:
                return None
            parts = refitted
            if self._is_changed(parts, removed, front, rival):
                return self._shorten(base, removed, front, rival)
        return None

    def _shorten(self, base: Mapping[str, ByQuery], removed: list[int], front: str, rival: str) -> list[int]:
        """Return the shortest prefix of a set that changes the result, without unnecessary units."""
        low, high = 0, len(removed)
        while high - low > 1:
            middle = (low + high) // 2
            parts = self._refit(base, removed[:middle])
            if parts is not None and self._is_changed(parts, removed[:middle], front, rival):
                high = middle
            else:
                low = middle
        kept = removed[:high]
        for k in list(reversed(kept))[1:21]:
            without = [other for other in kept if other != k]
            parts = self._refit(base, without) if without else None
            if parts is not None and self._is_changed(parts, without, front, rival):
                kept = without
        return self._try_smaller(base, kept, front, rival)

    def _try_smaller(self, base: Mapping[str, ByQuery], kept: list[int], front: str, rival: str) -> list[int]:
        """Return a set of one or two of the most influential units that also changes the result, if there is one."""
        if len(kept) > _FEW:
            return kept
        ahead = np.argsort(-self._influence(base, front, rival), kind="stable")
        for size, tried in _TRIED.items():
            if size >= len(kept):
                break
            for chosen in combinations(ahead[:tried].tolist(), size):
                parts = self._refit(base, chosen)
                if parts is not None and self._is_changed(parts, chosen, front, rival):
                    return list(chosen)
        return kept

    def _is_changed(self, parts: Mapping[str, ByQuery], removed: Sequence[int], front: str, rival: str) -> bool:
        """Return whether the refit changes the result."""
        if self.change == "first place":
            return self._gap(parts, front, rival) < -_LEVEL
        before = self.ranking.tiers[self.row]
        return _first_tier(self._tiers(removed)) != _first_tier(before)

    def _tiers(self, removed: Sequence[int]) -> Tiers:
        """Return the tiers of the row without some units."""
        battles = {code: self._without(code, removed) for code in self.codes}
        left = rate(battles, draws=1, seed=self.ranking.seed, ties=self.ranking.ties, penalty=self.ranking.penalty)
        return left.tiers[self.row]

    def _without(self, code: str, removed: Sequence[int]) -> Battles:
        """Return the battles of a language without some units."""
        battles, units = self.ranking.battles[code], self.units
        own = np.flatnonzero(np.isin(units.unit, np.asarray(removed)) & (units.language == self.codes.index(code)))
        if not len(own):
            return battles
        points = battles.shared(self.ranking.ties).astype(np.float32).copy()
        np.subtract.at(points, (units.query[own], units.i[own], units.j[own]), units.first[own].astype(np.float32))
        np.subtract.at(points, (units.query[own], units.j[own], units.i[own]), units.second[own].astype(np.float32))
        points = np.where(points < 1e-6, np.float32(0), points)
        # If points are given, wins and ties are only used to find which systems met.
        there = np.asarray(points + points.transpose(0, 2, 1) > 0)
        wins, ties = np.where(there, battles.wins, 0), np.where(there, battles.ties, 0)
        if self.ranking.ties == "drop":
            return replace(battles, wins=points.astype(np.uint8), ties=ties)
        met = np.asarray(there.any(axis=(1, 2)))
        return replace(
            battles,
            queries=tuple(name for name, used in zip(battles.queries, met, strict=True) if used),
            wins=wins[met],
            ties=ties[met],
            points=points[met],
            strata=battles.strata[met],
        )

    def _refit(self, base: Mapping[str, ByQuery], removed: Sequence[int]) -> Mapping[str, ByQuery] | None:
        """Return the fits without some units; None if a language has no battle left."""
        units, touched = self.units, set(self.units.language[np.isin(self.units.unit, np.asarray(removed))].tolist())
        parts = dict(base)
        for k in touched:
            code = units.codes[k]
            battles = self._without(code, removed)
            if not battles.shared(self.ranking.ties).any():
                return None
            part = by_query(battles, ties=self.ranking.ties, penalty=self.ranking.penalty, ridge=self.ranking.ridge)
            # Cells index queries in the full ranking.
            weights = np.ones(len(self.ranking.battles[code].queries))
            place = {name: q for q, name in enumerate(self.ranking.battles[code].queries)}
            weights[[place[name] for name in battles.queries]] = part.weights
            parts[code] = replace(part, weights=weights)
        return parts

    def _name_unit(self, k: int, unit: FragileUnit) -> RemovedUnit:
        """Return a unit with its names."""
        if unit == "voter":
            return RemovedUnit(None, None, None, None, self.units.names[k])
        cell = k if unit == "battle" else int(np.flatnonzero(self.units.unit == k)[0])
        code = self.codes[self.units.language[cell]]
        battles = self.ranking.battles[code]
        query = battles.queries[self.units.query[cell]]
        if unit == "query":
            return RemovedUnit(code, query, None, None, None)
        return RemovedUnit(code, query, battles.systems[self.units.i[cell]], battles.systems[self.units.j[cell]], None)

    def _shared(self, removed: Sequence[int], unit: FragileUnit) -> tuple[SharedOrigin, ...]:
        """Return the queries, voters and days shared by several battles of the set."""
        if unit != "battle" or len(removed) < 2:
            return ()
        units = self.units
        strata: dict[tuple[int, int, int], tuple[list[int], int]] = {}
        for (k, i, j), drawn in Counter(
            (int(units.language[n]), int(units.i[n]), int(units.j[n])) for n in removed
        ).items():
            same = np.flatnonzero((units.language == k) & (units.i == i) & (units.j == j))
            strata[k, i, j] = same.tolist(), drawn
        result = []
        for kind in ("query", *(kind for kind, known in self.origins.items() if known)):
            own = Counter(name for n in removed for name in self._origins(n, kind))
            several = {name for name, count in own.items() if count > 1}
            if not several:
                continue
            marked = [Counter(name for n in same for name in self._origins(n, kind)) for same, _ in strata.values()]
            sizes = [(len(same), drawn) for same, drawn in strata.values()]
            for name in several:
                p = _chance(
                    own[name], [(total, drawn, of[name]) for (total, drawn), of in zip(sizes, marked, strict=True)]
                )
                of_all = sum(of[name] for of in marked)
                result.append(SharedOrigin(kind, name, own[name], of_all, min(1.0, p * len(own))))
        return tuple(sorted(result, key=lambda each: (each.p, -each.units, each.name)))

    def _origins(self, k: int, kind: str) -> list[str]:
        """Return the query, the voters or the days of a battle."""
        named = self._name_unit(k, "battle")
        if kind == "query":
            return [f"{named.language} {named.query_id}"]
        key = named.language or "", named.query_id or "", named.first or "", named.second or ""
        return sorted(set(self.origins[kind].get(key, ())))


def _first_tier(tiers: Tiers) -> frozenset[str]:
    return frozenset(name for name, tier in tiers.tier.items() if tier == 1)


def _chance(count: int, strata: Sequence[tuple[int, int, int]]) -> float:
    """Return the probability of at least `count` marked battles in a random set.

    Args:
        count: marked battles of the set.
        strata: by pair of systems: battles, battles of the set, and marked battles. The number of marked battles is a
            sum of independent hypergeometric numbers.
    """
    from scipy.stats import hypergeom

    distribution = np.ones(1)
    for total, drawn, marked in strata:
        if marked:
            distribution = np.convolve(distribution, hypergeom.pmf(np.arange(drawn + 1), total, marked, drawn))
    return float(distribution[count:].sum())


def voters_of(judgments: pa.Table, judge: str) -> dict[tuple[str, str, str, str], dict[str, tuple[float, float]]]:
    """Return the points of each voter on each battle among one judge's verdicts; empty if no verdict has a voter.

    Args:
        judgments: table `judgments`.
        judge: the judge's name.
    """
    import pyarrow.compute as pc

    if "voter" not in judgments.column_names:
        return {}
    rows = judgments.filter(pc.and_(pc.equal(judgments["judge"], judge), pc.is_valid(judgments["voter"])))
    names = ("language", "query_id", "system_a", "system_b", "verdict", "points", "voter")
    voters: dict[tuple[str, str, str, str], dict[str, tuple[float, float]]] = {}
    columns = (rows[name].to_pylist() for name in names)
    for language, query, a, b, verdict, points, voter in zip(*columns, strict=True):
        label = VERDICTS[verdict]
        if label == UNPARSED:
            continue
        share = points if points is not None else {FIRST: 1.0, SECOND: 0.0, TIE: 0.5}[label]
        one, other = (share, 1 - share) if a < b else (1 - share, share)
        voter = _FURTHER.sub("", voter)
        on_battle = voters.setdefault((language, query, min(a, b), max(a, b)), {})
        before = on_battle.get(voter, (0.0, 0.0))
        on_battle[voter] = before[0] + one, before[1] + other
    return voters


def days_of(rows: pa.Table, days: Sequence[str | None]) -> dict[tuple[str, str, str, str], list[str]]:
    """Return the days of the verdicts on each battle.

    Args:
        rows: columns language, query_id, system_a and system_b.
        days: the day or time of each row, in ISO format; null if unknown.
    """
    found: dict[tuple[str, str, str, str], list[str]] = {}
    columns = (rows[name].to_pylist() for name in ("language", "query_id", "system_a", "system_b"))
    for language, query, a, b, day in zip(*columns, days, strict=True):
        if day:
            one, other = sorted((a, b))
            found.setdefault((language, query, one, other), []).append(day[:10])
    return found
