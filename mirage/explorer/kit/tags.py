"""The picker of tags in the sidebar, which narrows every page that is about single queries."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import streamlit as st

from mirage import store
from mirage.explorer.kit.pick import check_link, pick_many
from mirage.explorer.kit.text import plain

if TYPE_CHECKING:
    from mirage.store import Arena


def pick_tags(arena: Arena, languages: Collection[str], problems: list[str]) -> Arena:
    """Draw the picker and describe the selection; nothing if the arena has no tags.

    Args:
        arena: the chosen arena.
        languages: selected codes; empty for all.
        problems: list to which problems are added.

    Returns:
        The arena, or the part of it whose queries have the tags.
    """
    if "tags" not in arena.tables:
        return arena
    options = {f"{tag}: {value}": (tag, value) for tag, values in store.tag_values(arena).items() for value in values}
    problems += check_link("tags", "tag", options)
    picked = pick_many(
        "Tags",
        list(options),
        key="tags",
        placeholder=f"All {store.count_queries(arena):,} queries",
        help="Default: all queries. Values of one tag are combined with OR, different tags with AND.",
    )
    if not picked:
        return arena
    part = store.select_tagged(arena, [options[option] for option in picked])
    left = [code for code in part.languages("tags") if not languages or code in languages]
    if not left:
        problems.append(f"No query in these languages has all of these tags: {', '.join(picked)}. Tags ignored.")
        return arena
    st.caption(plain(tags_line(part)))
    return part


def tags_line(part: Arena) -> str:
    """Describe the queries that the tags select: `38 of 76 queries: domain: law`."""
    names = ", ".join(f"{tag}: {value}" for tag, value in part.tags)
    return f"{store.count_queries(part):,} of {store.count_queries(part.whole):,} queries: {names}"
