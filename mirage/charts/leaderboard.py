"""Figures of the Leaderboard page: dots with whiskers, and ranks by language and system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.charts.palette import (
    FAMILIES,
    FORMATS,
    MARK_SIZE,
    ROW,
    SPACE,
    Mode,
    axis,
    family,
    ink,
    layout,
)
from mirage.languages import LANGUAGES

HEAD = ROW + 2
"""Height of a table's head in pixels: rows of a chart beside a table line up with its rows."""
FOOT = 52


def whiskers(
    rows: Sequence[Mapping[str, Any]], *, mode: Mode, title: str = "Rating, logits (higher is better)"
) -> dict[str, Any]:
    """Ratings with their intervals, one row a system, in the order of the rows and of their height in a table.

    Args:
        rows: `system, rating, low, high, rank, rank_low, rank_high, battles, bounded`.
        mode: light or dark.
        title: title of the axis.
    """
    data = []
    for one in FAMILIES:
        mine = [(i, row) for i, row in enumerate(rows) if family(row["system"]) is one]
        if not mine:
            continue
        color = one.color(mode)
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": one.name,
                "x": [row["rating"] for _, row in mine],
                "y": [i for i, _ in mine],
                "customdata": [[row["system"]] for _, row in mine],
                "text": [_rating_hover(row, one.name) for _, row in mine],
                "hovertemplate": "%{text}<extra></extra>",
                "marker": {
                    "color": [color if row.get("bounded", True) else ink(mode).ground for _, row in mine],
                    "symbol": one.symbol,
                    "size": MARK_SIZE + 1,
                    "line": {"color": color, "width": 1.5},
                },
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [row["high"] - row["rating"] for _, row in mine],
                    "arrayminus": [row["rating"] - row["low"] for _, row in mine],
                    "color": color,
                    "thickness": 2,
                    "width": 4,
                },
            }
        )
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + ROW * len(rows) + FOOT,
            margin={"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": FOOT},
            xaxis=axis(mode, title=title, zeroline=True, tickformat="+.1f"),
            yaxis=axis(
                mode,
                tickvals=list(range(len(rows))),
                ticktext=[row["system"] for row in rows],
                range=[len(rows) - 0.5, -0.5],
                zeroline=False,
                ticklabelstandoff=SPACE,
            ),
        ),
    }


def rank_map(
    cells: Sequence[Mapping[str, Any]], *, systems: Sequence[str], mode: Mode, value: str = "rank"
) -> dict[str, Any]:
    """Ranks by language (columns) and system (rows) as square marks, which, unlike an image, can be clicked.

    Args:
        cells: `language, system`, the rank under `value`, and for the hover `rating, low, high, rank_low, rank_high,
            battles` where known.
        systems: the order of the rows, that of the table.
        mode: light or dark.
        value: name of the rank's column.
    """
    codes = [code for code in LANGUAGES if any(c["language"] == code for c in cells)]
    at = {system: i for i, system in enumerate(systems)}
    shown = [c for c in cells if c["system"] in at and c[value] is not None]
    worst = max((c[value] for c in shown), default=1)
    colors = ink(mode)
    share = [(c[value] - 1) / max(worst - 1, 1) for c in shown]
    data = [
        {
            "type": "scatter",
            "mode": "markers+text",
            "x": [codes.index(c["language"]) for c in shown],
            "y": [at[c["system"]] for c in shown],
            "text": [str(c[value]) for c in shown],
            "textfont": {"color": [_on(mode, s) for s in share], "size": 12},
            "customdata": [[c["system"], c["language"]] for c in shown],
            "hovertext": [_rank_hover(c, value) for c in shown],
            "hovertemplate": "%{hovertext}<extra></extra>",
            "marker": {
                "symbol": "square",
                "size": ROW - 4,
                "color": share,
                "cmin": 0,
                "cmax": 1,
                "colorscale": [list(stop) for stop in colors.ramp],
                "line": {"width": 0},
            },
        }
    ]
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + ROW * len(systems) + SPACE,
            margin={"l": SPACE, "r": SPACE, "t": HEAD, "b": SPACE},
            xaxis=axis(
                mode,
                side="top",
                tickvals=list(range(len(codes))),
                ticktext=codes,
                range=[-0.6, len(codes) - 0.4],
                showgrid=False,
                zeroline=False,
            ),
            yaxis=axis(
                mode,
                tickvals=list(range(len(systems))),
                ticktext=list(systems),
                range=[len(systems) - 0.5, -0.5],
                showgrid=False,
                zeroline=False,
                ticklabelstandoff=SPACE,
            ),
        ),
    }


def _rating_hover(row: Mapping[str, Any], maker: str) -> str:
    rating, count = FORMATS["rating"], FORMATS["count"]
    lines = [
        f"<b>{row['system']}</b> ({maker})",
        f"rating {rating.write(row['rating'])}, 95% interval {rating.write(row['low'])} to {rating.write(row['high'])}",
        f"rank {row['rank']}, 95% interval {row['rank_low']} to {row['rank_high']}",
        f"n = {count.write(row['battles'])} battles",
    ]
    if not row.get("bounded", True):
        lines.append("the data does not bound this rating on one side")
    return "<br>".join(lines)


def _rank_hover(cell: Mapping[str, Any], value: str) -> str:
    lines = [f"<b>{cell['system']}</b>, {LANGUAGES[cell['language']].name}", f"rank {cell[value]}"]
    if "rank_low" in cell:
        rating, count = FORMATS["rating"], FORMATS["count"]
        lines[1] += f", 95% interval {cell['rank_low']} to {cell['rank_high']}"
        lines.append(
            f"rating {rating.write(cell['rating'])}, {rating.write(cell['low'])} to {rating.write(cell['high'])}"
        )
        lines.append(f"n = {count.write(cell['battles'])} battles")
    return "<br>".join(lines)


def _on(mode: Mode, share: float) -> str:
    """Ink that reads on the ramp at a place in [0, 1]."""
    colors = ink(mode)
    dark_end = share < 0.45 if mode == "light" else share > 0.45
    return "#ffffff" if dark_end else ("#12161c" if mode == "dark" else colors.text)
