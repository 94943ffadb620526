"""The nuggets of a query and their changes, as escaped HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from mirage import schema
from mirage.explorer.kit.text import direction, text_html
from mirage.explorer.nuggets.data import BankEdit
from mirage.text.segmentation import count_text

CHANGES = {
    "reword": "reworded",
    "importance": "changed importance",
    "split": "split",
    "merge": "merged",
    "drop": "dropped",
    "add": "added",
}
"""Action of a change, in words."""


def show_bank(nuggets: Sequence[schema.Nugget], passages: Mapping[str, schema.Passage]) -> None:
    """Show the nuggets of a query: fact, importance, author and source passage.

    Args:
        nuggets: the nuggets, in display order.
        passages: the passages of the query, by id.
    """
    rows = "".join(
        f'<li><div dir="{direction(nugget.text, nugget.language)}">{_nugget(nugget)}</div>'
        f"{_origin(nugget, passages)}</li>"
        for nugget in nuggets
    )
    st.html(f'<ul class="mg-bank">{rows}</ul>')


def show_edits(edits: Sequence[BankEdit]) -> None:
    """Show changes to a bank, each with author, time, and the nuggets before and after."""
    rows = []
    for entry in edits:
        edit = entry.edit
        head = f"<small>{escape(edit.time[:16].replace('T', ' '))} UTC, <bdi>{escape(edit.author)}</bdi> "
        rows.append(f"<li>{head}{CHANGES[edit.change]}</small>{difference(entry)}</li>")
    st.html(f'<ul class="mg-bank">{"".join(rows)}</ul>')


def difference(entry: BankEdit) -> str:
    """Return the nuggets that a change adds and removes, each marked by a word and a sign."""
    gone = "".join(f"<div><small>− before</small> {_nugget(nugget)}</div>" for nugget in entry.before)
    come = "".join(f"<div><small>+ after</small> {_nugget(nugget)}</div>" for nugget in entry.after)
    return gone + come


def _nugget(nugget: schema.Nugget) -> str:
    return f'<span class="mg-tag">{nugget.importance}</span>{text_html(nugget.text, language=nugget.language)}'


def _origin(nugget: schema.Nugget, passages: Mapping[str, schema.Passage]) -> str:
    """Return the author and source passage of a nugget as HTML."""
    author = f"by <bdi>{escape(nugget.author)}</bdi>"
    if nugget.passage_id is None:
        return f"<small>{author}, no source passage</small>"
    origin = f"{author}, from <bdi>{escape(nugget.passage_id)}</bdi>"
    passage = passages.get(nugget.passage_id)
    if passage is None or passage.text is None:
        return f"<small>{origin}, text unavailable</small>"
    title = f"<strong><bdi>{escape(passage.title)}</bdi></strong>" if passage.title else ""
    body = text_html(passage.text, language=nugget.language)
    return f"<details><summary>{origin}</summary>{title}{body}</details>"


def edits_title(edits: Sequence[BankEdit]) -> str:
    """Return the number of changes in words."""
    return count_text(len(edits), "change") if edits else "No changes yet"
