"""Figures of the Leaderboard page: dots with whiskers, and ranks by language and system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import FOOT, rows_figure
from mirage.publish.charts.palette import (
    FORMATS,
    MARK_SIZE,
    SPACE,
    Kind,
    Mode,
    axis,
    family,
    ink,
    label_text,
    looks,
    span,
)
from mirage.ranking.scale import Scale
from mirage.schema import Ties


def axis_title(scale: Scale = "logit", ties: Ties = "half", reference: str | None = None) -> str:
    """Return the axis title of ratings, or of differences to a reference: the quantity and its scale.

    If a tie is half a point for each, a rating gives the expected points of a battle; if ties are dropped or an outcome
    of their own, the odds of winning it.
    """
    quantity = "Rating" if reference is None else f"Difference to {label_text(reference)}"
    outcome = "expected<br>points" if ties == "half" else "winning<br>against losing"
    scale_name = "logits" if scale == "logit" else "arena scale"
    # In lines, since a system's name may be long and the chart narrow.
    return f"{quantity},{' ' if reference is None else '<br>'}{scale_name} of {outcome} (higher is better)"


def whiskers(
    rows: Sequence[Mapping[str, Any]],
    *,
    mode: Mode,
    title: str | None = None,
    kind: Kind = "rating",
    zero: float = 0.0,
) -> dict[str, Any]:
    """Ratings with their intervals, one row a system, in the order of the rows and of their height in a table.

    Args:
        rows: `system, rating, low, high, rank, rank_low, rank_high, battles, bounded`; an end that is None is one on
            which the data puts no bound, and its whisker runs to the edge. `card`, where it is there, has lines on the
            system for the hover.
        mode: light or dark.
        title: title of the axis; that of ratings in logits with half a point a tie unless given.
        kind: how the values are written.
        zero: where the line stands that they are measured from.
    """
    data = []
    edges = primitives.widen((row[name] for row in rows for name in ("rating", "low", "high")), 0.06)
    title = title or axis_title()
    for maker in looks(row["system"] for row in rows):
        points = [(i, row) for i, row in enumerate(rows) if family(row["system"]) == maker]
        color = maker.color(mode)
        marker = {
            "color": [color if row.get("bounded", True) else ink(mode).ground for _, row in points],
            "symbol": maker.symbol,
            "size": MARK_SIZE,
            "line": {"color": color, "width": 1.5},
        }
        reach = [(_reach(row, "low", edges), _reach(row, "high", edges)) for _, row in points]
        data.append(
            primitives.dots(
                [row["rating"] for _, row in points],
                [i for i, _ in points],
                [_rating_hover(row, maker.name, kind) for _, row in points],
                marker,
                clicks=[[row["system"]] for _, row in points],
                name=maker.name,
                error_x=primitives.whiskers(reach, color, width=6),
            )
        )
    data += _open_ends(rows, edges, mode)
    form = "+.1f" if kind == "rating" else FORMATS[kind].d3
    return rows_figure(
        data,
        [row["system"] for row in rows],
        axis(mode, title=title, zeroline=zero == 0, tickformat=form, range=list(edges)),
        mode=mode,
        foot=FOOT + 2 * SPACE * title.count("<br>"),
        shapes=[] if zero == 0 else [_upright(zero, mode)],
    )


def _reach(row: Mapping[str, Any], end: str, edges: tuple[float, float]) -> float:
    """Return the length of a whisker; without a bound, one that the edge of the plot cuts off."""
    if row[end] is not None:
        return float(abs(row[end] - row["rating"]))
    return 2 * (edges[1] - edges[0])


def _open_ends(rows: Sequence[Mapping[str, Any]], edges: tuple[float, float], mode: Mode) -> list[dict[str, Any]]:
    """An arrow at the edge for every end on which the data puts no bound."""
    ends = [(i, row, side) for i, row in enumerate(rows) for side in ("low", "high") if row[side] is None]
    if not ends:
        return []
    marker = {
        "symbol": ["triangle-left" if side == "low" else "triangle-right" for *_, side in ends],
        "color": [family(row["system"]).color(mode) for _, row, _ in ends],
        "size": MARK_SIZE + 1,
    }
    return [
        primitives.dots(
            [edges[0] if side == "low" else edges[1] for *_, side in ends],
            [i for i, *_ in ends],
            ["no lower bound" if side == "low" else "no upper bound" for *_, side in ends],
            marker,
            clicks=[[row["system"]] for _, row, _ in ends],
            cliponaxis=False,
        )
    ]


def _upright(x: float, mode: Mode) -> dict[str, Any]:
    """The line that values are measured from, where it is not 0."""
    line = {"color": ink(mode).muted, "width": 1}
    return {"type": "line", "layer": "below", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1, "line": line}


def _rating_hover(row: Mapping[str, Any], maker: str, kind: Kind) -> str:
    value, count = FORMATS[kind], FORMATS["count"]
    lines = [
        f"<b>{label_text(row['system'])}</b> ({maker})",
        f"rating {value.write(row['rating'])}, 95% interval {span(row['low'], row['high'], kind)}",
        f"rank {row['rank']}, 95% interval {row['rank_low']} to {row['rank_high']}",
        f"n = {count.write(row['battles'])} battles",
    ]
    if not row.get("bounded", True):
        lines.append("how far out it lies is the prior's word: never beaten, or never winning, against the rest")
    lines += [label_text(line) for line in row.get("card", ())]
    return "<br>".join(lines)


def rank_lines(cell: Mapping[str, Any], value: str = "rank") -> list[str]:
    """Return a rank and what it rests on, in plain lines.

    Args:
        cell: the rank under `value`, and where known `rating, low, high` as win rates, `rank_low, rank_high, battles`.
        value: name of the rank's column.
    """
    lines = [f"rank {cell[value]}" if value == "rank" else f"rank {cell[value]} by the {value}"]
    if "rank_low" in cell:
        lines[0] += f", 95% interval {cell['rank_low']} to {cell['rank_high']}"
        rate, ends = FORMATS["rate"].write(cell["rating"]), span(cell["low"], cell["high"], "rate")
        lines.append(f"win rate against the average system {rate}, {ends}")
        lines.append(f"n = {FORMATS['count'].write(cell['battles'])} battles")
    return lines
