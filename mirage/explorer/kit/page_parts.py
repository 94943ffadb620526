"""Charts and tables that a page has drawn in this run, for export."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.explorer.kit.columns import Col


CHART, CARD = "Chart", "Card"
"""Kinds of picture: on the page, or to share."""


@dataclass(frozen=True)
class ChartPart:
    """A chart on the page, or one that the page offers to download."""

    draw: Callable[[], Mapping[str, Any]]
    """Returns the figure; called when a reader asks for it, outside the arena's looks (`palette.arena_looks`)."""
    alt: str
    """Description in a sentence."""
    name: str
    """Stem of its file name."""
    kind: str = CHART


@dataclass(frozen=True)
class TablePart:
    """A table on the page."""

    rows: pa.Table
    columns: tuple[Col, ...]


@dataclass(frozen=True)
class PageParts:
    """The charts and tables of a page by key, in the order of the page."""

    charts: dict[str, ChartPart] = field(default_factory=dict)
    tables: dict[str, TablePart] = field(default_factory=dict)


_parts: ContextVar[PageParts | None] = ContextVar("parts", default=None)


def begin() -> None:
    """Begin a record: drop that of an earlier page or run."""
    _parts.set(PageParts())


def page_parts() -> PageParts:
    """Return the record of this run so far."""
    return _parts.get() or PageParts()


def add_chart(key: str, draw: Callable[[], Mapping[str, Any]], alt: str, name: str, *, kind: str = CHART) -> None:
    """Record a chart of the page, or a card to be shared; `draw` returns its figure."""
    if (parts := _parts.get()) is not None:
        parts.charts[key] = ChartPart(draw, alt, name, kind)


def add_table(key: str, rows: pa.Table, columns: Sequence[Col]) -> None:
    """Record a table of the page."""
    if (parts := _parts.get()) is not None:
        parts.tables[key] = TablePart(rows, tuple(columns))
