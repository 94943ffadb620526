"""The paper's method against ours: effect of each correction on this arena."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mirage.battles.verdict_rows import from_judgments
from mirage.papers.material import Array, Material, pair_counts
from mirage.papers.tables import ALL, PaperItem, holdout_places, mean, tau_left_out
from mirage.ranking import paper
from mirage.ranking.bootstrap import LanguageRanking, rate
from mirage.ranking.fit import PairCounts, fit
from mirage.stats.kendall import kendall

MATCHES = (25, 50, 100, 200, 400)
"""Numbers of drawn queries per tournament whose intervals are compared."""
TOURNAMENTS = 100
"""Maximum number of tournaments for each of these."""

_COLUMNS = ("correction", "pitfall", "language", "paper", "ours", "measure", "effect", "unit", "n", "reason")


def corrections(material: Material) -> PaperItem:
    """Return one row per correction and language, and the mean over languages."""
    ranked = rate(material.battles, draws=material.settings.draws, seed=material.settings.seed)
    dropped = rate(material.battles, draws=material.settings.draws, seed=material.settings.seed, ties="drop")
    rows: list[dict[str, Any]] = []
    for code in material.battles:
        rows += _ties(code, ranked.languages[code], dropped.languages[code])
        rows += _resampling(material, code, dropped.languages[code])
        rows += _width(material, code, dropped.languages[code])
    if not any(row["pitfall"] == 35 and row["measure"] for row in rows):
        rows += _absent(
            "the width is no option", 35, "too few tournaments have a rating, however many queries are drawn"
        )
    rows += _missing(material)
    rows += _held_out(material)
    rows += _orders(material)
    rows += _takeover(material)
    return PaperItem(
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


def _compare_ratings(corrected: Array, published: Array) -> Iterator[tuple[str, Any, str]]:
    yield "agreement of the two rankings", float(kendall(corrected, published)), "tau"
    a, b = (1 + (t[None, :] > t[:, None] + 1e-9).sum(axis=1) for t in (corrected, published))
    yield "largest move of a system", int(np.abs(a - b).max()), "ranks"
    yield "spread of the ratings, ours by the paper's", float(corrected.std() / published.std()), "ratio"


def _ties(code: str, corrected: LanguageRanking, published: LanguageRanking) -> list[Any]:
    ways = ("ties dropped", "a tie is half a win for each")
    n = f"{corrected.record[:, 1].sum() // 2:,} ties of {corrected.record.sum() // 2:,} battles"
    return [
        _row("ties count", 6, code, ways, effect, n) for effect in _compare_ratings(corrected.theta, published.theta)
    ]


def _resampling(material: Material, code: str, corrected: LanguageRanking) -> list[Any]:
    """Compare with resampling single battles: their cells are a multinomial."""
    pairs = pair_counts(material.battles[code])
    cells = np.concatenate([pairs.first[0], pairs.second[0]])
    total = int(cells.sum())
    rng = np.random.default_rng([material.settings.seed, zlib.crc32(code.encode())])
    drawn = rng.multinomial(total, cells / total, size=material.settings.draws).astype(np.float64)
    first, second = np.split(drawn, 2, axis=1)
    published = fit(PairCounts(first, second, None, pairs.systems), start=fit(pairs)).theta
    effect = "width of the 95% intervals, ours by theirs", _ratio(_wide(corrected.draws), _wide(published)), "ratio"
    ways = ("battles drawn one by one", "queries drawn, with all their battles")
    return [
        _row("queries are resampled", 36, code, ways, effect, f"{total:,} battles, {corrected.n_queries:,} queries")
    ]


def _width(material: Material, code: str, corrected: LanguageRanking) -> list[Any]:
    rows = []
    battles = {code: material.battles[code]}
    for matches in MATCHES:
        n = min(TOURNAMENTS, material.settings.draws)
        played = paper.play(battles, tournaments=n, matches=matches, seed=material.settings.seed).languages[code]
        if played.lacking:
            rows += [
                row | {"language": code}
                for row in _absent("the width is no option", 35, f"{matches}: {played.lacking}")
            ]
            continue
        ways = (f"{matches} queries drawn", f"as many as there are: {corrected.n_queries:,}")
        low, high = played.interval()
        ends = corrected.interval()
        bounded = np.isfinite(ends).all(axis=0)
        ratio = _ratio((ends[1] - ends[0])[bounded], (high - low)[bounded]) if bounded.any() else None
        effect = "width of the 95% intervals, ours by theirs", ratio, "ratio"
        rows.append(_row("the width is no option", 35, code, ways, effect, f"{played.fitted} tournaments"))
    return rows


def _wide(draws: Array) -> Array:
    low, high = np.percentile(draws, [2.5, 97.5], axis=0)
    return np.asarray(high - low)


def _ratio(corrected: Array, published: Array) -> float | None:
    return float(corrected.mean() / published.mean()) if published.mean() > 0 else None


def _missing(material: Material) -> list[Any]:
    """Compare with a forest on means in which a missing feature counts as 0."""
    whole = {code: material.whole(code) for code in material.battles}
    zeros, gaps = {}, {}
    for code, draws in whole.items():
        coverage = np.isfinite(material.values[code]).mean(axis=0)
        zeros[code] = replace(draws, means=np.nan_to_num(draws.means) * coverage)
        gaps[code] = int((coverage < 1).any(axis=0).sum())
    if not any(gaps.values()):
        return _absent("a missing feature is null", 19, "no feature is missing anywhere")
    corrected = material.forest
    published = material.predict(zeros, "forest")
    rows = []
    for code in corrected:
        ways = ("a missing feature counts as 0", "the mean is over the answers that have it")
        n = f"{gaps[code]} of {len(material.features)} features have gaps"
        judged = whole[code].theta[0]
        gain = float(kendall(corrected[code], judged) - kendall(published[code][0], judged))
        effects = (
            ("agreement of the two surrogate rankings", float(kendall(corrected[code], published[code][0])), "tau"),
            ("agreement with the judge, ours less theirs", gain, "tau"),
        )
        rows += [_row("a missing feature is null", 19, code, ways, effect, n) for effect in effects]
    return rows


def _held_out(material: Material) -> list[Any]:
    seen, unseen = material.forest, material.forest_left_out
    rows = []
    for code in sorted(set(seen) & set(unseen)):
        truth = material.played[code].mean()
        train, _ = holdout_places(material, code)
        n = f"{len(truth)} systems, {len(train)} of them trained on"
        ways = ("systems trained on are ranked too", "every two systems predicted by a fit without them")
        tau = tau_left_out(unseen[code], truth)
        drop = None if tau is None else tau - float(kendall(seen[code], truth))
        # Of a difference of two systems, so that it does not matter on whom a fit is centred.
        true = truth[:, None] - truth[None, :]
        corrected, published = unseen[code] - unseen[code].T, seen[code][:, None] - seen[code][None, :]
        apart = ~np.eye(len(truth), dtype=bool)
        errors = (np.sqrt(((predictions - true)[apart] ** 2).mean()) for predictions in (corrected, published))
        times = float(np.divide(*errors))
        effects = (
            ("agreement with the judge, ours less theirs", drop, "tau"),
            ("error of differences in logits, ours by theirs", times, "ratio"),
        )
        rows += [_row("held-out error is shown", 41, code, ways, effect, n) for effect in effects]
    return rows


def _orders(material: Material) -> list[Any]:
    """Compare one randomly drawn order of every pair with both orders."""
    import pyarrow as pa
    import pyarrow.compute as pc

    name = "both orders are judged"
    if material.judge.by_labels:
        return _absent(name, 7, "labels know no order")
    table = material.verdicts.filter(pc.equal(material.verdicts["judge"], material.judge.name))
    a, b = table["system_a"].to_numpy(zero_copy_only=False), table["system_b"].to_numpy(zero_copy_only=False)
    forward = a < b
    keys = zip(
        table["language"].to_pylist(),
        table["query_id"].to_pylist(),
        np.where(forward, a, b).tolist(),
        np.where(forward, b, a).tolist(),
        strict=True,
    )
    rows_by_pair: dict[Any, list[int]] = {}
    for row, key in enumerate(keys):
        rows_by_pair.setdefault(key, []).append(row)
    both = [key for key in rows_by_pair if len(rows_by_pair[key]) == 2]
    if not both:
        return _absent(name, 7, "every pair was judged in one order")
    rng = np.random.default_rng(material.settings.seed)
    turned = rng.random(len(rows_by_pair)) < 0.5
    keep = np.zeros(len(table), dtype=bool)
    for key, second in zip(sorted(rows_by_pair), turned, strict=True):
        rows = rows_by_pair[key]
        keep[rows[-1] if second else rows[0]] = True
    single = from_judgments(table.filter(pa.array(keep)), judge=material.judge.name)
    result_rows = []
    for code, battles in material.battles.items():
        if code not in single or not set(battles.systems) <= set(single[code].systems):
            continue
        halved = {code: single[code].subset(battles.systems)}
        options: dict[str, Any] = {"draws": material.settings.draws, "seed": material.settings.seed}
        published = rate(halved, **options).languages[code]
        corrected = rate({code: battles}, **options).languages[code]
        ways = ("one order of each pair, by chance", "both orders")
        n = f"{sum(key[0] == code for key in both):,} pairs judged in both orders"
        width = (
            "width of the 95% intervals, ours by theirs",
            _ratio(_wide(corrected.draws), _wide(published.draws)),
            "ratio",
        )
        effects = [*_compare_ratings(corrected.theta, published.theta), width]
        result_rows += [_row(name, 7, code, ways, effect, n) for effect in effects]
    return result_rows or _absent(name, 7, "no language has all systems in each order")


def _takeover(material: Material) -> list[Any]:
    """Count the tournaments without a maximum, for which the published program uses another estimator."""
    ways = ("another estimator, with a penalty, takes over unsaid", "the tournament is null, with the reason")
    return [
        _row(
            "a tournament without a maximum is said",
            34,
            code,
            ways,
            ("tournaments without a rating", len(tournaments.failed) / len(tournaments.theta), "share"),
            f"{len(tournaments.failed)} of {len(tournaments.theta)} tournaments",
        )
        for code, tournaments in material.played.items()
    ]


def _means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kinds: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["measure"] is not None:
            paper_way = row["paper"]
            kinds.setdefault((row["pitfall"], paper_way, row["measure"]), []).append(row)
    means = []
    for group in kinds.values():
        our_way = group[0]["ours"] if len({row["ours"] for row in group}) == 1 else group[0]["ours"].split(":")[0]
        value = mean(row["effect"] for row in group)
        means.append({**group[0], "language": ALL, "ours": our_way, "effect": value, "n": f"{len(group)} languages"})
    return means
