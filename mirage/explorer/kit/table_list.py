"""Tables of the chosen arena, present and missing, in the sidebar."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from mirage import schema
from mirage.publish.charts.palette import FORMATS

if TYPE_CHECKING:
    from mirage.store import Arena


def contents(arena: Arena) -> None:
    """Show an expander with all tables: rows and languages, or the command that creates a missing table."""
    missing = sum(table not in arena.tables for table in _tables(arena))
    label = f"{len(arena.tables)} of {len(arena.tables) + missing} tables" if missing else "All tables"
    panel = st.popover(label, width="stretch", key="frame_contents", on_change="rerun")
    if panel.open:
        panel.html(_tables_html(arena))


def _tables(arena: Arena) -> tuple[str, ...]:
    """Return the tables to list; optional tables only if present, and printed figures by themselves."""
    printed = ("published",)
    if arena.tables == printed:
        return printed
    return tuple(name for name in schema.TABLES if name in arena.tables or name not in schema.OPTIONAL | set(printed))


@lru_cache(maxsize=32)
def _tables_html(arena: Arena) -> str:
    """Return the list with the arena's description, source and licence as escaped HTML."""
    count = FORMATS["count"].write
    rows = []
    for table in _tables(arena):
        if table in arena.tables:
            languages = len(set(arena.languages(table)) - {"all"})
            over = f", {languages} languages" if languages > 1 else ""
            description = f"{count(arena.rows(table))} rows{over}"
        else:
            description = f"missing; create it with<br><code>{escape(arena.command(table))}</code>"
        rows.append(f"<dt>{escape(table)}</dt><dd>{description}</dd>")
    version = _origin_html(arena)
    version += f"<p>Version <code>{escape(arena.version)}</code>, in <code>{escape(arena.address)}</code></p>"
    return f'<dl class="mg-contents">{"".join(rows)}</dl>{version}'


def _origin_html(arena: Arena) -> str:
    """Return the arena's description, the sources of its tables and its licence; empty if it has none."""
    about, licence = (str(arena.manifest.get(name) or "") for name in ("about", "licence"))
    made = arena.manifest.get("made", {}).values()
    sources = dict.fromkeys(source["name"] for origin in made for source in origin.get("from", ()) if "url" in source)
    lines = [about, *(f"Source: {name}." for name in sources), *([f"Licence: {licence}."] if licence else [])]
    return "".join(f"<p>{escape(line)}</p>" for line in lines if line)
