"""Data of the section Risk-coverage: risk against coverage of a signal."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.stages import abstain
from mirage.stages.abstain import ALL, RiskCoverage
from mirage.text.languages import in_order

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

_DRAWS = 300


@lru_cache(maxsize=16)
def signals(arena: Arena) -> tuple[str, ...]:
    """Return the names of an arena's signals; none without outcomes."""
    return abstain.signals(arena) if "outcomes" in arena.tables else ()


@lru_cache(maxsize=32)
def risk_coverage(
    arena: Arena, signal: str, loss: str, parser: str, languages: tuple[str, ...]
) -> tuple[RiskCoverage, ...]:
    """Compute the curves of every system in each language and over all of them; empty languages for all.

    Raises:
        MirageError: as `abstain.risk_coverage` does.
    """
    known: Any = parser
    settings = abstain.RiskSettings(loss=loss, parser=known, languages=languages or None, draws=_DRAWS)
    return tuple(abstain.risk_coverage(arena, signal, settings))


def scopes(rows: tuple[RiskCoverage, ...]) -> list[str]:
    """Return the languages that have a row, `all` first."""
    codes = {row.language for row in rows}
    return [*([ALL] if ALL in codes else []), *in_order(codes - {ALL})]


@lru_cache(maxsize=32)
def table(rows: tuple[RiskCoverage, ...], language: str) -> pa.Table:
    """Return the systems of a language by increasing area; those without a curve last."""
    import pyarrow as pa

    records = [row.flat() for row in rows if row.language == language]
    records.sort(key=lambda row: (row["area"] is None, row["area"] or 0.0, row["system"]))
    fields = [(name, pa.string()) for name in ("system", "reason")]
    fields += [(name, pa.float64()) for name in ("area", "area_low", "area_high", "risk")]
    return pa.Table.from_pylist(records, schema=pa.schema([*fields, ("n", pa.int64())]))


@lru_cache(maxsize=32)
def curves(rows: tuple[RiskCoverage, ...], language: str, systems: tuple[str, ...]) -> dict[str, list[dict[str, Any]]]:
    """Return the points of the curves of some systems in a language, in order; systems without a curve are skipped."""
    drawn = {row.system: row.curve for row in rows if row.language == language and row.curve.points}
    return {
        system: [asdict(point) | {"n": drawn[system].n} for point in drawn[system].points]
        for system in systems
        if system in drawn
    }
