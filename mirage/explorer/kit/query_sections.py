"""Sections on the judgments and the nuggets of a query, as escaped HTML."""

import re
from collections.abc import Collection, Sequence
from html import escape

import streamlit as st

from mirage import schema
from mirage.battles.judge import HEURISTIC
from mirage.explorer.kit.answer_card import inks
from mirage.explorer.kit.table import column, mark_html, wide_table
from mirage.explorer.kit.text import Markup, direction, heading, note, text_html
from mirage.schema import NuggetAssignment
from mirage.stages.features.families import FEATURES
from mirage.stages.nuggets.terms import TERMS
from mirage.store.arena import Arena
from mirage.text.segmentation import count_text
from mirage.views.query import NuggetRow, QueryView

_WORDS = re.compile(r"\w+(?:@\d+)?")


def show_judgments(judgments: Sequence[schema.Judgment]) -> None:
    """Show the verdicts on the answers to a query, on request; nothing without any."""
    if not judgments:
        return
    judges = count_text(len({judgment.judge for judgment in judgments}), "judge")
    # With many systems all pairs in two orders are larger than the answers.
    fold = st.expander(f"{count_text(len(judgments), 'judgment')} by {judges}", key="judgments_fold", on_change="rerun")
    if fold.open:
        html = ""
        for name in dict.fromkeys(judgment.judge for judgment in judgments):
            battles = "".join(judgment_html(judgment) for judgment in judgments if judgment.judge == name)
            html += f'<div class="mg-judge mg-judge-head">{escape(name)}</div>{battles}'
        fold.html(Markup(html))


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
    if not judgment.rationale:
        return ""
    text = judgment.rationale
    if judgment.judge == HEURISTIC:
        text = _WORDS.sub(lambda word: FEATURES[word[0]].title if word[0] in FEATURES else word[0], text)
    return text_html(text, language="")


_MARKS = {
    "support": ("●", "full support"),
    "partial_support": ("◐", "partial support"),
    "not_support": ("○", "no support"),
}
"""Mark and meaning of each assignment; marks differ by shape, not only by colour."""


def show_nuggets(arena: Arena, query: QueryView) -> None:
    """Show which answers to a query state which of its nuggets, if it has any.

    Args:
        arena: the arena.
        query: the query.
    """
    shown = query.nuggets
    if shown is None:
        return
    heading(f"{count_text(len(shown.rows), 'nugget')}, {shown.vital} vital")
    floor = ", by shared words without a model: a lower bound" if shown.assigner == TERMS else ""
    assigned = f"Assignments: {shown.assigner}{floor}." if shown.assigner else "Not assigned yet."
    note(f"{assigned} ● full support, ◐ partial, ○ none, – undecided. Hover for the text.")
    heads = "".join(
        f'<th scope="col"><span class="mg-upright">{mark_html(name)}<bdi>{escape(name)}</bdi></span></th>'
        for name in shown.systems
    )
    rows = "".join(nugget_row_html(row, shown.systems, query.key[0]) for row in shown.rows)
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
