"""Paper against ours: how much each correction moves the result on this arena."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import mirage.rank as rank
from mirage.pipeline.reproduce.material import Array, Material, counted, predicted
from mirage.pipeline.reproduce.tables import ALL, Item, mean, split, tau_left_out
from mirage.rank import paper
from mirage.rank.battles import RELEVANCE
from mirage.rank.bootstrap import LanguageRanking
from mirage.rank.fit import Pairs, fit
from mirage.rank.languages import kendall

MATCHES = (25, 50, 100, 200, 400)
"""Drawn queries of a tournament whose interval is shown."""
TOURNAMENTS = 100
"""Tournaments of each of these, at most."""

_COLUMNS = ("correction", "pitfall", "language", "paper", "ours", "measure", "effect", "unit", "n", "reason")


def corrections(material: Material) -> Item:
    """A row a correction and language, and the mean over languages."""
    ranked = rank.rate(material.battles, draws=material.draws, seed=material.seed)
    dropped = rank.rate(material.battles, draws=material.draws, seed=material.seed, ties="drop")
    rows: list[dict[str, Any]] = []
    for code in material.battles:
        rows += _ties(code, ranked.languages[code], dropped.languages[code])
        rows += _resampling(material, code, dropped.languages[code])
        rows += _width(material, code, dropped.languages[code])
    if not any(row["pitfall"] == 35 and row["measure"] for row in rows):
        rows += _absent(
            "the width is no option", 35, "too few tournaments have a rating, however many questions are drawn"
        )
    rows += _missing(material)
    rows += _held_out(material)
    rows += _orders(material)
    rows += _takeover(material)
    return Item(
        "corrections",
        "",
        "Paper and ours: what each correction moves",
        _COLUMNS,
        (*rows, *_means(rows)),
        "effect: ours less the paper's, or ours as a multiple of it, as `unit` says; `all`: mean over languages",
    )


def _row(name: str, pitfall: int, code: str, ways: tuple[str, str], effect: tuple[str, Any, str], n: str) -> Any:
    return {
        "correction": name,
        "pitfall": pitfall,
        "language": code,
        "paper": ways[0],
        "ours": ways[1],
        "measure": effect[0],
        "effect": effect[1],
        "unit": effect[2],
        "n": n,
        "reason": None,
    }


def _absent(name: str, pitfall: int, reason: str) -> list[dict[str, Any]]:
    empty: dict[str, Any] = dict.fromkeys(_COLUMNS)
    return [empty | {"correction": name, "pitfall": pitfall, "language": ALL, "reason": reason}]


def _moved(ours: Array, theirs: Array) -> Iterator[tuple[str, Any, str]]:
    yield "agreement of the two rankings", float(kendall(ours, theirs)), "tau"
    a, b = (1 + (t[None, :] > t[:, None] + 1e-9).sum(axis=1) for t in (ours, theirs))
    yield "largest move of a system", int(np.abs(a - b).max()), "ranks"
    yield "spread of the ratings, ours by the paper's", float(ours.std() / theirs.std()), "ratio"


def _ties(code: str, ours: LanguageRanking, theirs: LanguageRanking) -> list[Any]:
    ways = ("ties dropped", "a tie is half a win for each")
    n = f"{ours.record[:, 1].sum() // 2:,} ties of {ours.record.sum() // 2:,} battles"
    return [_row("ties count", 6, code, ways, effect, n) for effect in _moved(ours.theta, theirs.theta)]


def _resampling(material: Material, code: str, ours: LanguageRanking) -> list[Any]:
    """Battles drawn one by one: their cells are a multinomial."""
    pairs = counted(material.battles[code])
    cells = np.concatenate([pairs.first[0], pairs.second[0]])
    total = int(cells.sum())
    rng = np.random.default_rng([material.seed, zlib.crc32(code.encode())])
    drawn = rng.multinomial(total, cells / total, size=material.draws).astype(np.float64)
    first, second = np.split(drawn, 2, axis=1)
    theirs = fit(Pairs(first, second, None, pairs.systems), start=fit(pairs)).theta
    effect = "width of the 95% intervals, ours by theirs", _ratio(_wide(ours.draws), _wide(theirs)), "ratio"
    ways = ("battles drawn one by one", "questions drawn, with all their battles")
    return [_row("questions are resampled", 36, code, ways, effect, f"{total:,} battles, {ours.n_queries:,} questions")]


def _width(material: Material, code: str, ours: LanguageRanking) -> list[Any]:
    found = []
    battles = {code: material.battles[code]}
    for matches in MATCHES:
        n = min(TOURNAMENTS, material.draws)
        played = paper.play(battles, tournaments=n, matches=matches, seed=material.seed).languages[code]
        if played.lacking:
            found += [
                row | {"language": code}
                for row in _absent("the width is no option", 35, f"{matches}: {played.lacking}")
            ]
            continue
        ways = (f"{matches} questions drawn", f"as many as there are: {ours.n_queries:,}")
        low, high = played.interval()
        ends = ours.interval()
        bounded = np.isfinite(ends).all(axis=0)
        ratio = _ratio((ends[1] - ends[0])[bounded], (high - low)[bounded]) if bounded.any() else None
        effect = "width of the 95% intervals, ours by theirs", ratio, "ratio"
        found.append(_row("the width is no option", 35, code, ways, effect, f"{played.fitted} tournaments"))
    return found


def _wide(draws: Array) -> Array:
    low, high = np.percentile(draws, [2.5, 97.5], axis=0)
    return np.asarray(high - low)


def _ratio(ours: Array, theirs: Array) -> float | None:
    return float(ours.mean() / theirs.mean()) if theirs.mean() > 0 else None


def _missing(material: Material) -> list[Any]:
    """The forest on means where a missing feature counts as 0."""
    whole = {code: material.whole(code) for code in material.battles}
    zeros, gaps = {}, {}
    for code, one in whole.items():
        coverage = np.isfinite(material.values[code]).mean(axis=0)
        zeros[code] = replace(one, means=np.nan_to_num(one.means) * coverage)
        gaps[code] = int((coverage < 1).any(axis=0).sum())
    if not any(gaps.values()):
        return _absent("a missing feature is null", 19, "no feature is missing anywhere")
    ours = material.forest
    theirs = predicted(zeros, "forest", material.holdout, material.seed)
    found = []
    for code in ours:
        ways = ("a missing feature counts as 0", "the mean is over the answers that have it")
        n = f"{gaps[code]} of {len(material.features)} features have gaps"
        judged = whole[code].theta[0]
        gain = float(kendall(ours[code], judged) - kendall(theirs[code][0], judged))
        effects = (
            ("agreement of the two surrogate rankings", float(kendall(ours[code], theirs[code][0])), "tau"),
            ("agreement with the judge, ours less theirs", gain, "tau"),
        )
        found += [_row("a missing feature is null", 19, code, ways, effect, n) for effect in effects]
    return found


def _held_out(material: Material) -> list[Any]:
    seen, unseen = material.forest, material.forest_left_out
    found = []
    for code in sorted(set(seen) & set(unseen)):
        truth = material.played[code].mean()
        train, _ = split(material, code)
        n = f"{len(truth)} systems, {len(train)} of them trained on"
        ways = ("systems trained on are ranked too", "every two systems predicted by a fit without them")
        told = tau_left_out(unseen[code], truth)
        drop = None if told is None else told - float(kendall(seen[code], truth))
        # Of a difference of two systems, so that it does not matter on whom a fit is centred.
        true = truth[:, None] - truth[None, :]
        ours, theirs = unseen[code] - unseen[code].T, seen[code][:, None] - seen[code][None, :]
        apart = ~np.eye(len(truth), dtype=bool)
        errors = (np.sqrt(((made - true)[apart] ** 2).mean()) for made in (ours, theirs))
        times = float(np.divide(*errors))
        effects = (
            ("agreement with the judge, ours less theirs", drop, "tau"),
            ("error of differences in logits, ours by theirs", times, "ratio"),
        )
        found += [_row("held-out error is shown", 41, code, ways, effect, n) for effect in effects]
    return found


def _orders(material: Material) -> list[Any]:
    """One of the two orders of every pair, drawn, against both."""
    import pyarrow as pa
    import pyarrow.compute as pc

    name = "both orders are judged"
    if material.referee == RELEVANCE:
        return _absent(name, 7, "labels know no order")
    table = material.verdicts.filter(pc.equal(material.verdicts["judge"], material.referee))
    a, b = table["system_a"].to_numpy(zero_copy_only=False), table["system_b"].to_numpy(zero_copy_only=False)
    forward = a < b
    keys = zip(
        table["language"].to_pylist(),
        table["query_id"].to_pylist(),
        np.where(forward, a, b).tolist(),
        np.where(forward, b, a).tolist(),
        strict=True,
    )
    met: dict[Any, list[int]] = {}
    for row, key in enumerate(keys):
        met.setdefault(key, []).append(row)
    both = [key for key in met if len(met[key]) == 2]
    if not both:
        return _absent(name, 7, "every pair was judged in one order")
    rng = np.random.default_rng(material.seed)
    turned = rng.random(len(met)) < 0.5
    keep = np.zeros(len(table), dtype=bool)
    for key, second in zip(sorted(met), turned, strict=True):
        rows = met[key]
        keep[rows[-1] if second else rows[0]] = True
    single = rank.from_judgments(table.filter(pa.array(keep)), judge=material.referee)
    found = []
    for code, one in material.battles.items():
        if code not in single or not set(one.systems) <= set(single[code].systems):
            continue
        halved = {code: single[code].subset(one.systems)}
        options: dict[str, Any] = {"draws": material.draws, "seed": material.seed}
        theirs = rank.rate(halved, **options).languages[code]
        ours = rank.rate({code: one}, **options).languages[code]
        ways = ("one order of each pair, by chance", "both orders")
        n = f"{sum(key[0] == code for key in both):,} pairs judged in both orders"
        wide = "width of the 95% intervals, ours by theirs", _ratio(_wide(ours.draws), _wide(theirs.draws)), "ratio"
        effects = [*_moved(ours.theta, theirs.theta), wide]
        found += [_row(name, 7, code, ways, effect, n) for effect in effects]
    return found or _absent(name, 7, "no language has all systems in each order")


def _takeover(material: Material) -> list[Any]:
    """Tournaments without a maximum, where the published program goes over to another estimator."""
    ways = ("another estimator, with a penalty, takes over unsaid", "the tournament is null, with the reason")
    return [
        _row(
            "a tournament without a maximum is said",
            34,
            code,
            ways,
            ("tournaments without a rating", len(one.failed) / len(one.theta), "share"),
            f"{len(one.failed)} of {len(one.theta)} tournaments",
        )
        for code, one in material.played.items()
    ]


def _means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kinds: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["measure"] is not None:
            theirs = row["paper"]
            kinds.setdefault((row["pitfall"], theirs, row["measure"]), []).append(row)
    found = []
    for same in kinds.values():
        ours = same[0]["ours"] if len({row["ours"] for row in same}) == 1 else same[0]["ours"].split(":")[0]
        value = mean(row["effect"] for row in same)
        found.append({**same[0], "language": ALL, "ours": ours, "effect": value, "n": f"{len(same)} languages"})
    return found
