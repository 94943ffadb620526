"""Tables whose cells are shaded: ranks by language, and every system's wins against every other."""

from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from typing import Any

from mirage.explorer.kit.table import page_link, system_head, wide_table
from mirage.publish.charts.leaderboard import rank_lines
from mirage.publish.charts.palette import FORMATS, Mode, ink_on, ramp_color, span
from mirage.text.languages import in_order, is_code, name_of
from mirage.views.board import BoardView
from mirage.views.cache import memoize
from mirage.views.win_matrix import Matrix


def rank_table(
    cells: Sequence[Mapping[str, Any]],
    systems: Sequence[str],
    *,
    arena: str,
    value: str = "rank",
    unlinked: Collection[str] = (),
) -> str:
    """Return ranks by language as HTML: a rank links to the answers behind it, and says its interval and n on hover.

    Args:
        cells: `language, system`, the rank under `value`, and for the hover `rank_low, rank_high, rating, low, high,
            battles` where known.
        systems: the rows, in order.
        arena: name of the arena, for the links; empty for none.
        value: name of the rank's column.
        unlinked: systems without a page of their own.
    """
    codes = in_order(cell["language"] for cell in cells if is_code(cell["language"]))
    ranked = {(cell["system"], cell["language"]): cell for cell in cells if cell[value] is not None}
    steps = max(max((cell[value] for cell in ranked.values()), default=1) - 1, 1)

    def cell_html(system: str, code: str) -> str:
        cell = ranked.get((system, code))
        if cell is None:
            return "<td>–</td>"
        about = ", ".join([system, name_of(code), *rank_lines(cell, value)])
        place = page_link("answers", str(cell[value]), arena=arena, systems=system, languages=code)
        return _shade(place, (cell[value] - 1) / steps, about)

    heads = {code: escape(name_of(code)) for code in codes}
    return _table(systems, heads, cell_html, arena, "Rank of every system in every language", unlinked)


@memoize
def board_ranks(board: BoardView, systems: tuple[str, ...], arena: str, _mode: Mode) -> str:
    """Return the ranks by language of a board as HTML (`rank_table`)."""
    unlinked = set(systems) - set(board.rows["system"].to_pylist())
    return rank_table(board.rank_cells, systems, arena=arena, unlinked=unlinked)


@memoize
def win_table(
    matrix: Matrix,
    systems: tuple[str, ...],
    _mode: Mode,
    *,
    arena: str,
    judge: str,
    languages: tuple[str, ...] = (),
) -> str:
    """Return each system's (row) share of wins against each other (column) as HTML; a cell links to its battles.

    Args:
        matrix: the pairs.
        systems: rows and columns, in order.
        arena: name of the arena, for the links.
        judge: judge of the battles.
        languages: codes of their languages, for the links; empty for all.
    """
    pairs = {(cell["system"], cell["other"]): cell for cell in matrix.table.to_pylist()}

    def cell_html(system: str, other: str) -> str:
        cell = pairs.get((system, other))
        if cell is None or cell["share"] is None:
            return "<td>–</td>"
        about = (
            f"{system} against {other}: win rate {FORMATS['rate'].write(cell['share'])}, "
            f"95% {span(cell['low'], cell['high'], 'rate')}; {cell['wins']:,} wins, {cell['ties']:,} ties, "
            f"{cell['losses']:,} losses; n = {cell['n']:,} queries"
        )
        words = f"{100 * cell['share']:.0f}"
        place = page_link("battle", words, arena=arena, judge=judge, a=system, b=other, languages=languages)
        # The ramp runs from best to worst.
        return _shade(place, 1 - cell["share"], about)

    heads = {system: f'<div class="mg-upright"><bdi>{escape(system)}</bdi></div>' for system in systems}
    return _table(systems, heads, cell_html, arena, "Win rate of every system against every other")


def _shade(content: str, share: float, about: str) -> str:
    fill = ramp_color(share)
    style = f"background: {fill}; color: {ink_on(fill)}"
    return f'<td style="{style}" title="{escape(about)}">{content}</td>'


def _table(
    systems: Sequence[str],
    heads: Mapping[str, str],
    cell_html: Callable[[str, str], str],
    arena: str,
    label: str,
    unlinked: Collection[str] = (),
) -> str:
    """Return a table with a row a system and a column a key of `heads`."""
    first = "".join(f'<th scope="col">{head}</th>' for head in ("System", *heads.values()))
    starts = {system: system_head(system, "" if system in unlinked else arena) for system in systems}
    lines = "".join(
        f"<tr>{start}{''.join(cell_html(system, key) for key in heads)}</tr>" for system, start in starts.items()
    )
    return wide_table(first, lines, classes="mg-table mg-ranks", label=label)
