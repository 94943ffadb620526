"""Data of the section Risk-coverage: risk against coverage of a signal, and the threshold for a target error."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.stages import abstain as abstention
from mirage.stages.abstain import ALL, Tradeoff
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

_DRAWS = 300


@lru_cache(maxsize=16)
def signals(arena: Arena) -> tuple[str, ...]:
    """Return the names of an arena's signals; none without outcomes."""
    return abstention.signals(arena) if "outcomes" in arena.tables else ()


@lru_cache(maxsize=32)
def tradeoffs(
    arena: Arena, signal: str, loss: str, error: float, parser: str, languages: tuple[str, ...]
) -> tuple[Tradeoff, ...]:
    """Compute the curves of every system in each language and over all of them; empty languages for all.

    Raises:
        MirageError: as `abstention.tradeoffs` does.
    """
    settings = abstention.AbstainSettings(
        loss=loss,
        error=error,
        parser=parser,  # type: ignore[arg-type]  # a parser of the arena
        languages=languages or None,
        draws=_DRAWS,
    )
    return tuple(abstention.tradeoffs(arena, signal, settings))


def scopes(rows: tuple[Tradeoff, ...]) -> list[str]:
    """Return the languages that have a row, `all` first."""
    codes = {row.language for row in rows}
    return [*([ALL] if ALL in codes else []), *in_order(codes - {ALL})]


@lru_cache(maxsize=32)
def table(rows: tuple[Tradeoff, ...], language: str) -> pa.Table:
    """Return the systems of a language by increasing area; those without a curve last."""
    import pyarrow as pa

    records = [
        row.flat() | {"reason": row.curve.reason or row.promise.reason} for row in rows if row.language == language
    ]
    records.sort(key=lambda row: (row["area"] is None, row["area"] or 0.0, row["system"]))
    names = ("system", "reason")
    numbers = ("area", "area_low", "area_high", "risk", "threshold", "coverage", "test_risk", "risk_low", "risk_high")
    fields = [(name, pa.string()) for name in names] + [(name, pa.float64()) for name in numbers]
    return pa.Table.from_pylist(
        [{name: row[name] for name, _ in [*fields, ("n", None)]} for row in records],
        schema=pa.schema([*fields, ("n", pa.int64())]),
    )


@lru_cache(maxsize=32)
def curves(rows: tuple[Tradeoff, ...], language: str, systems: tuple[str, ...]) -> dict[str, list[dict[str, Any]]]:
    """Return the points of the curves of some systems in a language, in order; systems without a curve are skipped."""
    drawn = {row.system: row.curve for row in rows if row.language == language and row.curve.points}
    return {
        system: [asdict(point) | {"n": drawn[system].n} for point in drawn[system].points]
        for system in systems
        if system in drawn
    }
