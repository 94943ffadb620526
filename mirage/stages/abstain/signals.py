"""Signals and losses of an arena's answers, and selective answering of its systems by a signal."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mirage.errors import BadInput, UnknownName
from mirage.schema import Parser
from mirage.stages.abstain.curve import curve
from mirage.stages.abstain.promise import promise
from mirage.stages.abstain.records import Tradeoff
from mirage.stages.abstain.settings import AbstainSettings
from mirage.stages.features import FEATURES
from mirage.stages.outcomes import RIGHT
from mirage.stats.sampling import sample
from mirage.stats.units import Unit, shared_ids
from mirage.store import Arena

if TYPE_CHECKING:
    import pyarrow as pa

LOSSES = {
    "hallucination": "of the answers that say or give an answer, those to queries that no passage answers",
    "wrong": "of the answers that answer or abstain, the wrong decisions",
}
"""What counts as wrong, from the table `outcomes`. A measure of the table `scores` is a loss too: how far an answer is
from the best of the scale."""
ALL = "all"
"""Language of the rows over all languages."""
_KEY = ["language", "system", "query_id"]
_Values = dict[tuple[str, str], dict[str, float]]


def signals(arena: Arena) -> tuple[str, ...]:
    """Return the names of an arena's signals: its features, then the measures of its scores."""
    out: dict[str, None] = {}
    for table, column in (("features", "feature"), ("scores", "measure")):
        if table in arena.tables:
            out |= dict.fromkeys(sorted(arena.read(table, columns=[column])[column].unique().to_pylist()))
    return tuple(out)


def tradeoffs(arena: Arena, signal: str, settings: AbstainSettings = AbstainSettings()) -> list[Tradeoff]:
    """Return the risk-coverage trade-off and the threshold of every system in every language, and over all.

    Half of the queries of a language choose the thresholds and the other half test them, the same for every system; a
    query that several languages share is on the same side in all of them. Over all languages (`all`) there is one
    threshold, and every query has equal weight: its guarantee is for queries with the same mix of languages.

    Args:
        arena: with the signal, and outcomes or scores for the loss.
        signal: a feature, or a measure of `scores`, whose mean over the raters counts.
        settings: the settings.

    Raises:
        TableMissing: if the arena lacks the table of the signal or of the loss.
        UnknownName: if there is no such signal, loss, language or system.
        BadInput: if the error or the confidence is out of range, or a scale is unknown.
    """
    import numpy as np

    loss, seed = settings.loss, settings.seed
    wanted = None if settings.languages is None else list(settings.languages)
    measured, losses = _signal(arena, signal, wanted), _losses(arena, loss, wanted, settings.parser)
    chosen = _systems(losses, settings.systems)
    up = _higher(signal) if settings.higher is None else settings.higher
    sign = 1.0 if up else -1.0
    queries: dict[str, set[str]] = {}
    for (language, _), values in losses.items():
        queries.setdefault(language, set()).update(values)
    shared = shared_ids({language: sorted(ids) for language, ids in queries.items()})
    first_shared = set(sample(sorted(shared), len(shared) // 2, seed, "abstention"))
    first = {(language, query) for language, known in queries.items() for query in known & first_shared}
    for language, known in queries.items():
        own = sorted(known - shared)
        first |= {(language, query) for query in sample(own, len(own) // 2, seed, f"abstention {language}")}
    out = []
    for language, system, parts in _cells(losses, chosen):
        lost = {(code, query): value for code in parts for query, value in losses[code, system].items()}
        strength = {(code, query): value for code in parts for query, value in measured.get((code, system), {}).items()}
        ids = sorted(lost.keys() & strength.keys())
        x = sign * np.array([strength[query] for query in ids], dtype=float)
        y = np.array([lost[query] for query in ids], dtype=float)
        calibration = np.array([query in first for query in ids], dtype=bool)
        number: dict[tuple[str, str], int] = {}
        keys = (("", query) if query in shared else (code, query) for code, query in ids)
        units = np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.intp)
        held = promise(
            x,
            y,
            calibration,
            error=settings.error,
            method=settings.method,
            confidence=settings.confidence,
            seed=seed,
            units=units,
        )
        if not up and held.threshold is not None:
            held = dataclasses.replace(held, threshold=-held.threshold)
        drawn = curve(x, y, draws=settings.draws, seed=seed, units=units)
        unit: Unit = "query shared by languages" if len(number) < len(ids) else "query"
        out.append(Tradeoff(language, system, signal, loss, up, len(lost) - len(ids), drawn, held, unit))
    return out


def _cells(losses: _Values, systems: set[str]) -> list[tuple[str, str, list[str]]]:
    """Return language, system and its languages for each language, then `all` for systems of several."""
    by_system: dict[str, list[str]] = {}
    for language, system in sorted(losses):
        if system in systems:
            by_system.setdefault(system, []).append(language)
    cells = sorted((code, system, [code]) for system, codes in by_system.items() for code in codes)
    return cells + [(ALL, system, codes) for system, codes in sorted(by_system.items()) if len(codes) > 1]


def _higher(signal: str) -> bool:
    return signal not in FEATURES or FEATURES[signal].direction != "lower"


def _systems(losses: _Values, systems: Iterable[str] | None) -> set[str]:
    present = {system for _, system in losses}
    if systems is None:
        return present
    names = list(systems)
    for name in names:
        if name not in present:
            raise UnknownName("system", name, present)
    return set(names)


def _signal(arena: Arena, name: str, languages: list[str] | None) -> _Values:
    """Return the values of a signal by language and system, then query."""
    for table, column in (("features", "feature"), ("scores", "measure")):
        if table in arena.tables:
            rows = _of(arena.read(table, columns=[*_KEY, column, "value"], languages=languages), column, name)
            if len(rows):
                return _means(rows)
    known = signals(arena)
    if not known:
        arena.need("features")
    if name in known:
        return {}
    raise UnknownName("signal", name, known, where=arena.address)


def _losses(arena: Arena, name: str, languages: list[str] | None, parser: Parser) -> _Values:
    """Return losses in [0, 1] by language and system, then query."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if name in LOSSES:
        rows = arena.read("outcomes", columns=[*_KEY, "parser", "subset", "outcome", "correct"], languages=languages)
        rows = rows.filter(pc.equal(rows["parser"], parser))
        if name == "hallucination":
            rows = rows.filter(pc.equal(rows["outcome"], "answered"))
            value = pc.not_equal(rows["subset"], next(s for s, right in RIGHT.items() if right == "answered"))
        else:
            rows = rows.filter(pc.is_valid(rows["correct"]))
            value = pc.invert(rows["correct"])
        return _means(rows.select(_KEY).append_column("value", pc.cast(value, pa.float64())))
    measures = arena.read("scores", columns=["measure"])["measure"].unique().to_pylist() if _has_scores(arena) else []
    if name not in measures:
        raise UnknownName("loss", name, [*LOSSES, *measures], where=arena.address)
    rows = _of(
        arena.read("scores", columns=[*_KEY, "measure", "value", "low", "high"], languages=languages), "measure", name
    )
    if rows["low"].null_count or rows["high"].null_count:
        raise BadInput(
            f"the scale of {name} is unknown", where=arena.address, do="import it with its minimum and maximum"
        )
    lost = pc.divide(pc.subtract(rows["high"], rows["value"]), pc.subtract(rows["high"], rows["low"]))
    return _means(rows.select(_KEY).append_column("value", lost))


def _has_scores(arena: Arena) -> bool:
    return "scores" in arena.tables


def _of(rows: pa.Table, column: str, name: str) -> pa.Table:
    import pyarrow.compute as pc

    return rows.filter(pc.equal(rows[column], name))


def _means(rows: pa.Table) -> _Values:
    """Return the mean value of each answer, over raters if there are several."""
    import pyarrow.compute as pc

    rows = rows.filter(pc.is_valid(rows["value"])).group_by(_KEY).aggregate([("value", "mean")])
    out: _Values = {}
    columns = (rows[name].to_pylist() for name in (*_KEY, "value_mean"))
    for language, system, query, value in zip(*columns, strict=True):
        out.setdefault((language, system), {})[query] = value
    return out
