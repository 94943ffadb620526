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
    name,
    on_ramp,
    rows_axis,
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
                "unselected": {"marker": {"opacity": 1}},
                "marker": {
                    "color": [color if row.get("bounded", True) else ink(mode).ground for _, row in mine],
                    "symbol": one.symbol,
                    "size": MARK_SIZE,
                    "line": {"color": color, "width": 1.5},
                },
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [row["high"] - row["rating"] for _, row in mine],
                    "arrayminus": [row["rating"] - row["low"] for _, row in mine],
                    "color": color,
                    "thickness": 1.5,
                    "width": 6,
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
            yaxis=rows_axis([name(row["system"]) for row in rows], mode),
            shapes=_rules(rows, mode),
        ),
    }


def _rules(rows: Sequence[Mapping[str, Any]], mode: Mode) -> list[dict[str, Any]]:
    """A line between two rows of different tiers."""
    tiers = [row.get("tier") for row in rows]
    line = {"color": ink(mode).muted, "width": 1}
    return [
        {
            "type": "line",
            "layer": "below",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": k + 0.5,
            "y1": k + 0.5,
            "line": line,
        }
        for k in range(len(rows) - 1)
        if tiers[k] != tiers[k + 1]
    ]


def dumbbells(rows: Sequence[Mapping[str, Any]], *, mode: Mode) -> dict[str, Any]:
    """Mean rank by the judge (filled) and by the surrogate (open), joined, one row a system, aligned with a table.

    Args:
        rows: `system, judge, surrogate, languages`.
        mode: light or dark.
    """
    makers = [family(row["system"]) for row in rows]
    colors = [maker.color(mode) for maker in makers]
    hover = [
        f"<b>{name(row['system'])}</b> ({maker.name})<br>mean rank {row['judge']:.1f} by the judge, "
        f"{row['surrogate']:.1f} by the surrogate<br>n = {row['languages']} languages"
        for row, maker in zip(rows, makers, strict=True)
    ]
    joins: dict[str, list[float | int | None]] = {"x": [], "y": []}
    for i, row in enumerate(rows):
        joins["x"] += [row["judge"], row["surrogate"], None]
        joins["y"] += [i, i, None]
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            **joins,
            "line": {"color": ink(mode).muted, "width": 1},
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]
    for referee in ("judge", "surrogate"):
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": [row[referee] for row in rows],
                "y": list(range(len(rows))),
                "customdata": [[row["system"]] for row in rows],
                "text": hover,
                "hovertemplate": "%{text}<extra></extra>",
                "showlegend": False,
                "marker": {
                    "color": colors if referee == "judge" else ink(mode).ground,
                    "symbol": [maker.symbol for maker in makers],
                    "size": MARK_SIZE + 1,
                    "line": {"color": colors, "width": 1.5},
                },
            }
        )
        data.append(_legend(referee, filled=referee == "judge", mode=mode))
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + ROW * len(rows) + FOOT,
            margin={"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": FOOT},
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "font": {"color": ink(mode).muted}},
            xaxis=axis(mode, title="Mean rank (lower is better)", zeroline=False),
            yaxis=rows_axis([name(row["system"]) for row in rows], mode),
        ),
    }


def _legend(referee: str, *, filled: bool, mode: Mode) -> dict[str, Any]:
    """A legend entry in plain ink: the families' colours are not what it is about."""
    colors = ink(mode)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": referee,
        "x": [None],
        "y": [None],
        "marker": {
            "color": colors.muted if filled else colors.ground,
            "size": MARK_SIZE + 1,
            "line": {"color": colors.muted, "width": 1.5},
        },
    }


def rank_map(
    cells: Sequence[Mapping[str, Any]],
    *,
    systems: Sequence[str],
    mode: Mode,
    value: str = "rank",
    dense: bool = False,
) -> dict[str, Any]:
    """Ranks by language (columns) and system (rows) as square marks, which, unlike an image, can be clicked.

    Args:
        cells: `language, system`, the rank under `value`, and for the hover `rating, low, high, rank_low, rank_high,
            battles` where known.
        systems: the order of the rows, that of the table.
        mode: light or dark.
        value: name of the rank's column.
        dense: for two maps side by side.
    """
    row, size, text = (24, 20, 10) if dense else (ROW, ROW - 4, 12)
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
            "textfont": {"color": [on_ramp(mode, s) for s in share], "size": text},
            "customdata": [[c["system"], c["language"]] for c in shown],
            "hovertext": [_rank_hover(c, value) for c in shown],
            "hovertemplate": "%{hovertext}<extra></extra>",
            "selected": {"marker": {"color": colors.chosen}, "textfont": {"color": "#ffffff"}},
            "unselected": {"marker": {"opacity": 1}},
            "marker": {
                "symbol": "square",
                "size": size,
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
            height=HEAD + row * len(systems) + SPACE,
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
            yaxis=rows_axis([name(system) for system in systems], mode, showgrid=False),
        ),
    }


def bumps(cells: Sequence[Mapping[str, Any]], *, systems: Sequence[str], mode: Mode) -> dict[str, Any]:
    """Ranks by language as one line a system, named at its end.

    Args:
        cells: as for `rank_map`.
        systems: the order of the table.
        mode: light or dark.
    """
    codes = [code for code in LANGUAGES if any(c["language"] == code for c in cells)]
    data: list[dict[str, Any]] = []
    worst = max((c["rank"] for c in cells), default=1)
    taken: dict[int, list[str]] = {}
    for system in systems:
        mine = {c["language"]: c for c in cells if c["system"] == system}
        if not mine:
            continue
        maker = family(system)
        color = maker.color(mode)
        there = [mine.get(code) for code in codes]
        last = max(k for k, c in enumerate(there) if c is not None)
        if last == len(codes) - 1:
            taken.setdefault(mine[codes[last]]["rank"], []).append(name(system))
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name(system),
                "x": list(range(len(codes))),
                "y": [None if c is None else c["rank"] for c in there],
                "customdata": [[system, code] for code in codes],
                "hovertext": ["" if c is None else _rank_hover(c, "rank") for c in there],
                "hovertemplate": "%{hovertext}<extra></extra>",
                "showlegend": False,
                "line": {"color": color, "width": 1.5},
                "unselected": {"marker": {"opacity": 1}},
                "marker": {"color": color, "symbol": maker.symbol, "size": MARK_SIZE},
            }
        )
    names = [
        {
            "x": len(codes) - 1,
            "y": rank,
            "text": ", ".join(here),
            "xanchor": "left",
            "xshift": 10,
            "showarrow": False,
            "font": {"color": ink(mode).muted, "size": 12},
        }
        for rank, here in taken.items()
    ]
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + ROW * worst + FOOT,
            margin={"l": 2 * SPACE, "r": 200, "t": HEAD, "b": SPACE},
            annotations=names,
            xaxis=axis(
                mode,
                side="top",
                tickvals=list(range(len(codes))),
                ticktext=codes,
                range=[-0.4, len(codes) - 0.8],
                zeroline=False,
            ),
            yaxis=axis(
                mode,
                title="Rank (1 is best)",
                range=[worst + 0.6, 0.4],
                tickvals=list(range(1, worst + 1)),
                zeroline=False,
            ),
        ),
    }


def _rating_hover(row: Mapping[str, Any], maker: str) -> str:
    rating, count = FORMATS["rating"], FORMATS["count"]
    lines = [
        f"<b>{name(row['system'])}</b> ({maker})",
        f"rating {rating.write(row['rating'])}, 95% interval {rating.write(row['low'])} to {rating.write(row['high'])}",
        f"rank {row['rank']}, 95% interval {row['rank_low']} to {row['rank_high']}",
        f"n = {count.write(row['battles'])} battles",
    ]
    if not row.get("bounded", True):
        lines.append("the data does not bound this rating on one side")
    return "<br>".join(lines)


def _rank_hover(cell: Mapping[str, Any], value: str) -> str:
    lines = [f"<b>{name(cell['system'])}</b>, {LANGUAGES[cell['language']].name}", f"rank {cell[value]}"]
    if value != "rank":
        lines[1] += f" by the {value}"
    if "rank_low" in cell:
        rating, count = FORMATS["rating"], FORMATS["count"]
        lines[1] += f", 95% interval {cell['rank_low']} to {cell['rank_high']}"
        lines.append(
            f"rating {rating.write(cell['rating'])}, {rating.write(cell['low'])} to {rating.write(cell['high'])}"
        )
        lines.append(f"n = {count.write(cell['battles'])} battles")
    return "<br>".join(lines)
