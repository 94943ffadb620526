"""Static HTML table, for few rows without sorting or selection.

It renders faster than a sortable table, prints well, and works with screen readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import streamlit as st

from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.limits import ROWS
from mirage.explorer.kit.table import interval_images, language_names, mark_html, mode, span_texts, table
from mirage.publish.charts.palette import FORMATS, Mode, span

if TYPE_CHECKING:
    import pyarrow as pa

_NO_VALUE = "–"
_AT_START = ("system", "text", "language", "interval")
"""Left-aligned kinds; all others are numbers."""


def plain_table(rows: pa.Table, columns: Sequence[Col], *, key: str) -> None:
    """Show rows as a static table.

    Args:
        rows: Arrow table; a null shows as a dash.
        columns: what to show, in order, as for `table`.
        key: unique on the page.
    """
    if len(rows) > ROWS:
        table(rows, columns, key=key)
        return
    st.html(table_html(rows, columns=tuple(columns), mode=mode(), arena=st.session_state.get("arena", "")))


def table_html(rows: pa.Table, columns: Sequence[Col], mode: Mode, arena: str = "") -> str:
    """Return the table as HTML; all cell texts are escaped.

    Args:
        rows: as for `plain_table`.
        columns: as for `plain_table`.
        mode: light or dark.
        arena: arena of the systems, to link their names to their pages; empty for no links.
    """
    heads = "".join(map(_head, columns))
    cells = zip(*(_cells(rows, col, mode, arena) for col in columns), strict=True)
    lines = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return wide_table(heads, lines)


def wide_table(heads: str, lines: str, *, classes: str = "mg-table", label: str = "Table") -> str:
    """Return a table in a box of its own, which scrolls sideways and takes the keyboard's focus.

    Args:
        heads: HTML of the heads of the columns.
        lines: HTML of the rows.
        classes: the table's classes in the stylesheet.
        label: what a screen reader calls the box.
    """
    return (
        f'<div class="mg-wide" tabindex="0" role="region" aria-label="{escape(label)}">'
        f'<table class="{classes}"><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'
    )


def _head(col: Col) -> str:
    about = f' title="{escape(col.meaning)}"' if col.meaning else ""
    least = f' style="min-width: {col.pixels}px"' if col.pixels else ""
    return f'<th scope="col"{_side(col)}{about}{least}>{escape(col.label)}</th>'


def _side(col: Col) -> str:
    return "" if col.kind in _AT_START and not col.right else ' class="mg-number"'


def _cells(rows: pa.Table, col: Col, mode: Mode, arena: str) -> list[str]:
    """Return the cells of a column."""
    values: list[Any] = rows[col.name].to_pylist()
    if col.kind == "interval":
        images = interval_images(rows, col, mode)
        ends = zip(rows[col.low].to_pylist(), rows[col.high].to_pylist(), strict=True)
        alts = [span(low, high, "value") for low, high in ends]
        return [_picture(image, alt) for image, alt in zip(images, alts, strict=True)]
    if col.kind == "system":
        return [system_head(name, mode, arena) for name in values]
    if col.kind == "span":
        texts = [text or _NO_VALUE for text in span_texts(rows, col)]
    elif col.kind == "language":
        texts = [name or _NO_VALUE for name in language_names(rows, col)]
    elif col.kind == "text":
        texts = [_NO_VALUE if value is None else str(value) for value in values]
    else:
        texts = [FORMATS[col.kind].write(value) for value in values]
    return [f"<td{_side(col)}><bdi>{escape(text)}</bdi></td>" for text in texts]


def system_head(system: str, mode: Mode, arena: str) -> str:
    """Return the head of a system's row: its mark, and its name as a link to its page (`page_link`)."""
    return (
        f'<th scope="row">{mark_html(system, mode)} {page_link("leaderboard", system, arena=arena, system=system)}</th>'
    )


def page_link(page: str, words: str, *, arena: str, **params: str) -> str:
    """Return plain words as a link to a page of an arena, in HTML; without a link if the arena is empty."""
    text = f"<bdi>{escape(words)}</bdi>"
    address = escape(f"{page}?{urlencode({**params, 'arena': arena})}")
    return f'<a href="{address}" target="_self">{text}</a>' if arena else text


def _picture(image: str | None, alt: str) -> str:
    return f"<td>{_NO_VALUE}</td>" if image is None else f'<td><img src="{escape(image)}" alt="{escape(alt)}"></td>'
