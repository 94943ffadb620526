"""Ranks by language as a table: a row a system, a column a language, every cell shaded by its rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from mirage.explorer.kit.table import mark_html
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

    def link(page: str, words: str, **params: str) -> str:
        address = f"{page}?{urlencode({**params, 'arena': arena})}"
        return f'<a href="{escape(address)}" target="_self"><bdi>{escape(words)}</bdi></a>'

    def rank(system: str, code: str) -> str:
        cell = by_place.get((system, code))
        if cell is None:
            return "<td>–</td>"
        share = (cell["rank"] - 1) / steps
        style = f"background: {ramp_color(mode, share)}; color: {on_ramp(mode, share)}"
        place = link("answers", str(cell["rank"]), systems=system, languages=code)
        return f'<td style="{style}" title="{escape(", ".join(rank_lines(cell)))}">{place}</td>'

    heads = "".join(f'<th scope="col">{escape(name_of(code))}</th>' for code in codes)
    lines = "".join(
        f'<tr><th scope="row">{mark_html(system, mode)} {link("model", system, system=system)}</th>'
        f"{''.join(rank(system, code) for code in codes)}</tr>"
        for system in systems
    )
    return (
        '<div class="mg-wide" tabindex="0" role="region" aria-label="Rank of every system in every language">'
        f'<table class="mg-table mg-ranks"><thead><tr><th scope="col">System</th>{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )
