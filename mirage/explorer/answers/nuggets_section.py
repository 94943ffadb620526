"""Matrix of a query's nuggets by systems, as an escaped table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape

import streamlit as st

from mirage.explorer.answers.answer_card import inks
from mirage.explorer.kit.query_keys import Key
from mirage.explorer.kit.table import mark_html, mode
from mirage.explorer.kit.text import Markup, direction, plain, text_html
from mirage.schema import Nugget, NuggetAssignment
from mirage.stages.features.assessed import decider
from mirage.stages.nuggets import TERMS
from mirage.store import Arena
from mirage.store.query_rows import of_query
from mirage.text.segmentation import count_text

_MARKS = {
    "support": ("●", "full support"),
    "partial_support": ("◐", "partial support"),
    "not_support": ("○", "no support"),
}
"""Mark and meaning of each assignment; marks differ by shape, not only by colour."""


@dataclass(frozen=True, slots=True)
class NuggetRow:
    """One nugget with its assignment to each answer."""

    nugget: Nugget
    """The fact."""
    assignments: Mapping[str, NuggetAssignment]
    """Assignments by system; undecided systems are missing."""


@dataclass(frozen=True, slots=True)
class NuggetMatrix:
    """The nuggets of one query with the assignments of some systems."""

    rows: tuple[NuggetRow, ...]
    """The nuggets, vital nuggets first."""
    systems: tuple[str, ...]
    """Systems by name; empty without assignments."""
    assigner: str | None
    """Assigner; null without assignments."""


@lru_cache(maxsize=32)
def assigner_of(arena: Arena) -> str | None:
    """Return the assigner with the most assignments; the term matcher only if there is no other."""
    if "nugget_assignments" not in arena.tables:
        return None
    return decider(arena.read("nugget_assignments", columns=["assigner"]), "assigner")


def matrix(arena: Arena, key: Key, systems: Collection[str] = ()) -> NuggetMatrix | None:
    """Return the nuggets of a query against its systems.

    Args:
        arena: the arena.
        key: language and id of the query.
        systems: systems to include; empty for all.

    Returns:
        None if the query has no nuggets.
    """
    nuggets = _bank(arena, key)
    if not nuggets:
        return None
    assigner = assigner_of(arena)
    by_nugget: dict[str, dict[str, NuggetAssignment]] = {}
    for row in _assignments(arena, key):
        if row.assigner == assigner and (not systems or row.system in systems):
            by_nugget.setdefault(row.nugget_id, {})[row.system] = row
    rows = tuple(NuggetRow(nugget, by_nugget.get(nugget.nugget_id, {})) for nugget in nuggets)
    return NuggetMatrix(rows, tuple(sorted({system for row in rows for system in row.assignments})), assigner)


@lru_cache(maxsize=256)
def _bank(arena: Arena, key: Key) -> tuple[Nugget, ...]:
    """Return the nuggets of a query, vital nuggets first."""
    rows = [Nugget(**row) for row in of_query(arena, "nuggets", key)]
    return tuple(sorted(rows, key=lambda nugget: (nugget.importance != "vital", nugget.nugget_id)))


@lru_cache(maxsize=256)
def _assignments(arena: Arena, key: Key) -> tuple[NuggetAssignment, ...]:
    """Return the assignments of a query's nuggets by all assigners."""
    return tuple(NuggetAssignment(**row) for row in of_query(arena, "nugget_assignments", key))


def show_nuggets(arena: Arena, key: Key, systems: Collection[str] = ()) -> None:
    """Show which answers to a query state which of its nuggets, if it has any.

    Args:
        arena: the arena.
        key: language and id of the query.
        systems: systems to include; empty for all.
    """
    shown = matrix(arena, key, systems)
    if shown is None:
        return
    vital = sum(row.nugget.importance == "vital" for row in shown.rows)
    st.header(f"{count_text(len(shown.rows), 'nugget')}, {vital} vital", anchor=False)
    floor = ", by shared words without a model: a lower bound" if shown.assigner == TERMS else ""
    assigned = f"Assignments: {shown.assigner}{floor}." if shown.assigner else "Not assigned yet."
    st.caption(plain(f"{assigned} ● full support, ◐ partial, ○ none, – undecided. Hover for the text."))
    # With many systems it scrolls sideways, also with the arrow keys.
    region = 'tabindex="0" role="region" aria-label="Nuggets, and the answers that state them"'
    st.html(Markup(f'<div class="mg-wide" {region} style="{inks()}">{_table(shown, key[0])}</div>'))
    if not shown.assigner:
        st.code(arena.command("nugget_assignments"), language=None)


def _table(shown: NuggetMatrix, language: str) -> str:
    heads = "".join(map(_head, shown.systems))
    rows = "".join(_row(row, shown.systems, language) for row in shown.rows)
    head = f'<tr><th scope="col">Nugget</th>{heads}</tr>'
    return f'<table class="mg-nuggets"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def _head(system: str) -> str:
    mark = mark_html(system, mode())
    return f'<th scope="col"><span class="mg-upright">{mark}<bdi>{escape(system)}</bdi></span></th>'


def _row(row: NuggetRow, systems: Collection[str], language: str) -> str:
    origin = (
        f"from {row.nugget.passage_id}, by {row.nugget.author}" if row.nugget.passage_id else f"by {row.nugget.author}"
    )
    text = text_html(row.nugget.text, language=language)
    way = direction(row.nugget.text, language)
    tag = f'<span class="mg-tag">{row.nugget.importance}</span>'
    head = f'<th scope="row" dir="{way}" title="{escape(origin)}">{tag}{text}</th>'
    return f"<tr>{head}{''.join(_cell(row.assignments.get(system)) for system in systems)}</tr>"


def _cell(entry: NuggetAssignment | None) -> str:
    if entry is None or entry.assignment is None:
        reason = "undecided" if entry is None else entry.reason or "undecided"
        return f'<td title="{escape(reason)}">–</td>'
    mark, meaning = _MARKS[entry.assignment]
    words = f"{meaning}: {entry.quote}" if entry.quote else meaning
    return f'<td class="mg-{entry.assignment}" title="{escape(words)}"><span aria-label="{meaning}">{mark}</span></td>'
