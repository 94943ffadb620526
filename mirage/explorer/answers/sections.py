"""Sections of the Answers page on the judgments and the nuggets of a query, as escaped HTML."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape

import streamlit as st

from mirage import schema
from mirage.explorer.answers.answer_card import inks
from mirage.explorer.answers.data import judgments_on
from mirage.explorer.kit.table import column, mark_html, mode, wide_table
from mirage.explorer.kit.text import Markup, direction, heading, note, text_html
from mirage.schema import Nugget, NuggetAssignment
from mirage.stages.features.assessed import decider
from mirage.stages.features.families import FEATURES
from mirage.stages.judge.heuristic import HEURISTIC
from mirage.stages.nuggets.terms import TERMS
from mirage.store import Arena
from mirage.store.query_rows import of_query
from mirage.text.segmentation import count_text
from mirage.views.query_keys import Key

_WORDS = re.compile(r"\w+(?:@\d+)?")


def show_judgments(arena: Arena, key: tuple[str, str]) -> None:
    """Show every verdict on the answers to a query, on request; nothing without judgments.

    Args:
        arena: the arena.
        key: language and id of the query.
    """
    all_judgments = judgments_on(arena, key) if "judgments" in arena.tables else ()
    if not all_judgments:
        return
    judges = count_text(len({judgment.judge for judgment in all_judgments}), "judge")
    # With many systems all pairs in two orders are larger than the answers.
    fold = st.expander(
        f"{count_text(len(all_judgments), 'judgment')} by {judges}", key="judgments_fold", on_change="rerun"
    )
    if fold.open:
        fold.html(Markup(_judged(all_judgments)))


def _judged(judgments: Sequence[schema.Judgment]) -> str:
    return "".join(_judge(name, judgments) for name in dict.fromkeys(judgment.judge for judgment in judgments))


def _judge(name: str, judgments: Sequence[schema.Judgment]) -> str:
    battles = "".join(judgment_html(judgment) for judgment in judgments if judgment.judge == name)
    return f'<div class="mg-judge mg-judge-head">{escape(name)}</div>{battles}'


def judgment_html(judgment: schema.Judgment) -> str:
    """Return one verdict with the systems in the order shown, and its rationale, as HTML."""
    winner = preferred_system(judgment)
    word = f"{judgment.verdict}: <bdi>{escape(winner)}</bdi> wins" if winner else escape(judgment.verdict)
    if judgment.reason and judgment.reason not in (judgment.rationale or ""):
        word += f" ({escape(judgment.reason)})"
    word += f" · repeat {judgment.repeat}" if judgment.repeat else ""
    systems = "".join(
        f"<span>{letter}, shown {place}: <bdi>{escape(system)}</bdi></span>"
        for letter, place, system in (("A", "first", judgment.system_a), ("B", "second", judgment.system_b))
    )
    meaning = escape(column("judgments", "verdict").help)
    return (
        f'<div class="mg-order"><div class="mg-who">{systems}</div>'
        f'<div class="mg-verdict-word" title="{meaning}">{word}</div>{_rationale(judgment)}</div>'
    )


def preferred_system(judgment: schema.Judgment) -> str | None:
    """Return the system that a verdict prefers; None for ties and unparsed verdicts."""
    return {"A": judgment.system_a, "B": judgment.system_b}.get(judgment.verdict)


def _rationale(judgment: schema.Judgment) -> str:
    if judgment.rationale:
        text = judgment.rationale
        if judgment.judge == HEURISTIC:
            text = _WORDS.sub(lambda word: FEATURES[word[0]].title if word[0] in FEATURES else word[0], text)
        return text_html(text, language="")
    return '<div class="mg-none">No rationale available.</div>'


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
def _assigner(arena: Arena) -> str | None:
    """Return the assigner with the most assignments; the term matcher only if there is no other."""
    if "nugget_assignments" not in arena.tables:
        return None
    return decider(arena.read("nugget_assignments", columns=["assigner"]), "assigner")


@lru_cache(maxsize=256)
def nugget_matrix(arena: Arena, key: Key, systems: tuple[str, ...] = ()) -> NuggetMatrix | None:
    """Return the nuggets of a query against its systems.

    Args:
        arena: the arena.
        key: language and id of the query.
        systems: systems to include; empty for all.

    Returns:
        None if the query has no nuggets.
    """
    nuggets = [Nugget(**row) for row in of_query(arena, "nuggets", key)]
    if not nuggets:
        return None
    assigner = _assigner(arena)
    by_nugget: dict[str, dict[str, NuggetAssignment]] = {nugget.nugget_id: {} for nugget in nuggets}
    for row in (NuggetAssignment(**row) for row in of_query(arena, "nugget_assignments", key)):
        if row.assigner == assigner and row.nugget_id in by_nugget and (not systems or row.system in systems):
            by_nugget[row.nugget_id][row.system] = row
    nuggets.sort(key=lambda nugget: (nugget.importance != "vital", nugget.nugget_id))
    rows = tuple(NuggetRow(nugget, by_nugget[nugget.nugget_id]) for nugget in nuggets)
    return NuggetMatrix(rows, tuple(sorted(set().union(*by_nugget.values()))), assigner)


def show_nuggets(arena: Arena, key: Key, systems: tuple[str, ...] = ()) -> None:
    """Show which answers to a query state which of its nuggets, if it has any.

    Args:
        arena: the arena.
        key: language and id of the query.
        systems: systems to include; empty for all.
    """
    shown = nugget_matrix(arena, key, systems)
    if shown is None:
        return
    vital = sum(row.nugget.importance == "vital" for row in shown.rows)
    heading(f"{count_text(len(shown.rows), 'nugget')}, {vital} vital")
    floor = ", by shared words without a model: a lower bound" if shown.assigner == TERMS else ""
    assigned = f"Assignments: {shown.assigner}{floor}." if shown.assigner else "Not assigned yet."
    note(f"{assigned} ● full support, ◐ partial, ○ none, – undecided. Hover for the text.")
    heads = "".join(
        f'<th scope="col"><span class="mg-upright">{mark_html(name, mode())}<bdi>{escape(name)}</bdi></span></th>'
        for name in shown.systems
    )
    rows = "".join(nugget_row_html(row, shown.systems, key[0]) for row in shown.rows)
    label = "Nuggets, and the answers that state them"
    table = wide_table(f'<th scope="col">Nugget</th>{heads}', rows, classes="mg-nuggets", label=label)
    st.html(Markup(f'<div style="{inks()}">{table}</div>'))
    if not shown.assigner:
        st.code(arena.command("nugget_assignments"), language=None)


def nugget_row_html(row: NuggetRow, systems: Collection[str], language: str) -> str:
    """Return one nugget with the mark of every system as a row of HTML."""
    origin = (
        f"from {row.nugget.passage_id}, by {row.nugget.author}" if row.nugget.passage_id else f"by {row.nugget.author}"
    )
    text = text_html(row.nugget.text, language=language)
    way = direction(row.nugget.text, language)
    tag = f'<span class="mg-tag">{row.nugget.importance}</span>'
    head = f'<th scope="row" dir="{way}" title="{escape(origin)}">{tag}{text}</th>'
    return f"<tr>{head}{''.join(_nugget_cell(row.assignments.get(system)) for system in systems)}</tr>"


def _nugget_cell(entry: NuggetAssignment | None) -> str:
    if entry is None or entry.assignment is None:
        reason = "undecided" if entry is None else entry.reason or "undecided"
        return f'<td title="{escape(reason)}">–</td>'
    mark, meaning = _MARKS[entry.assignment]
    words = f"{meaning}: {entry.quote}" if entry.quote else meaning
    return f'<td class="mg-{entry.assignment}" title="{escape(words)}"><span aria-label="{meaning}">{mark}</span></td>'
