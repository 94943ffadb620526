"""View of the figures that the papers print, beside what an arena gives."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mirage.io.sources.nomiracl.origin import BASELINES
from mirage.papers import printed as papers
from mirage.text.languages import in_order
from mirage.views.cache import cached_view
from mirage.views.rates import SOURCE

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store.arena import Arena


@dataclass(frozen=True, slots=True)
class PrintedChoice:
    """Choices of the printed figures."""

    source: str | None = None
    """The paper; None for both."""
    item: str | None = None
    """The table or figure, as `Table 3`; None for all."""
    names: tuple[tuple[str, str], ...] = ()
    """A system as printed and that of the arena, where the names do not match."""


EVERYTHING = PrintedChoice()
"""All figures of both papers."""
OPENING = "Table 3"
"""The table that a page opens with where an arena has none of the figures: rates by prompt."""


@lru_cache(maxsize=8)
def paper_tables(figures: Arena) -> tuple[str, ...]:
    """Return NoMIRACL's tables among the printed figures, except the rates, which have their own page."""
    rows = figures.read("published", columns=("source", "item")).to_pylist()
    return tuple(sorted({row["item"] for row in rows if row["source"] == SOURCE} - {BASELINES}))


@lru_cache(maxsize=8)
def opening_table(figures: Arena, arena: Arena | None) -> str:
    """Return the table that a page opens with: that with the most figures of the arena, else `OPENING`."""
    beside = figures_view(figures, arena, PrintedChoice(SOURCE)) if arena is not None else ()
    counts = Counter(figure.item for figure in beside if figure.ours is not None)
    return max(paper_tables(figures), key=lambda item: (counts[item], item == OPENING))


@lru_cache(maxsize=8)
def table_languages(figures: Arena, item: str) -> tuple[str, ...]:
    """Return the languages of a table; `all` is first if the paper prints a mean or total."""
    rows = figures.read("published", columns=("source", "item", "language")).to_pylist()
    codes = in_order({row["language"] for row in rows if (row["source"], row["item"]) == (SOURCE, item)})
    return tuple(sorted(codes, key=lambda code: code != "all"))


@lru_cache(maxsize=32)
def printed_beside_ours(figures: Arena, arena: Arena | None, item: str, language: str) -> pa.Table:
    """Return the figures of one table in one language with the arena's own: rows of `reproduce.printed.PrintedFigure`,
    those without a figure of the arena last.
    """
    import pyarrow as pa

    table_figures = figures_view(figures, arena, PrintedChoice(SOURCE, item))
    rows = [asdict(figure) for figure in table_figures if figure.language == language]
    for row in rows:
        row["metric"] = row["metric"].removeprefix("share of replies: ")
    rows.sort(key=lambda row: row["ours"] is None)
    names = ("printed", "ours", "difference", "ours_low", "ours_high")
    kinds = dict.fromkeys(names, pa.float64()) | {"n": pa.int64()}
    fields = [pa.field(name, kinds.get(name, pa.string())) for name in rows[0]]
    return pa.Table.from_pylist(rows, schema=pa.schema(fields))


@cached_view
def figures_view(
    figures: Arena, arena: Arena | None = None, choice: PrintedChoice = EVERYTHING
) -> tuple[papers.PrintedFigure, ...]:
    """Return printed figures, each with the arena's value, as the command and the page show them.

    Raises:
        UnknownName: if there is no such paper, item, language, or system of the arena.
    """
    names = dict(choice.names)
    return tuple(
        papers.printed_figures(figures.read("published"), arena, source=choice.source, item=choice.item, names=names)
    )
