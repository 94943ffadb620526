"""Ranks by language as a table: a row a system, a column a language, every cell shaded by its rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from mirage.explorer.kit.table import page_link, system_head, wide_table
from mirage.publish.charts.leaderboard import rank_lines
from mirage.publish.charts.palette import Mode, on_ramp, ramp_color
from mirage.text.languages import in_order, is_code, name_of


def rank_table_html(cells: Sequence[Mapping[str, Any]], systems: Sequence[str], *, arena: str, mode: Mode) -> str:
    """Return the table as HTML: a rank links to the answers behind it, and says its interval and n on hover.

    Args:
        cells: `language, system, rank`, and for the hover `rank_low, rank_high, rating, low, high, battles`.
        systems: the rows, in order.
        arena: name of the arena, for the links.
        mode: light or dark.
    """
    codes = in_order(cell["language"] for cell in cells if is_code(cell["language"]))
    by_place = {(cell["system"], cell["language"]): cell for cell in cells}
    steps = max(max((cell["rank"] for cell in cells), default=1) - 1, 1)

    def rank(system: str, code: str) -> str:
        cell = by_place.get((system, code))
        if cell is None:
            return "<td>–</td>"
        share = (cell["rank"] - 1) / steps
        style = f"background: {ramp_color(mode, share)}; color: {on_ramp(mode, share)}"
        about = escape(", ".join([system, name_of(code), *rank_lines(cell)]))
        place = page_link("answers", str(cell["rank"]), arena=arena, systems=system, languages=code)
        return f'<td style="{style}" title="{about}">{place}</td>'

    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in ("System", *map(name_of, codes)))
    lines = "".join(
        f"<tr>{system_head(system, mode, arena)}{''.join(rank(system, code) for code in codes)}</tr>"
        for system in systems
    )
    return wide_table(heads, lines, classes="mg-table mg-ranks", label="Rank of every system in every language")
