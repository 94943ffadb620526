"""Figures of the Leaderboard page: dots with whiskers, and ranks by language and system."""

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import FOOT, WhiskerMark, vline, whisker_rows
from mirage.publish.charts.palette import (
    FORMATS,
    MARK_SIZE,
    SPACE,
    Kind,
    axis,
    family,
    label_text,
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
    title: str | None = None,
    kind: Kind = "rating",
    zero: float = 0.0,
) -> dict[str, Any]:
    """Draw ratings with their intervals, one row a system, in the order of the rows and of their height in a table.

    Args:
        rows: `system, rating, low, high, rank, rank_low, rank_high, battles, bounded`; an end that is None is one on
            which the data puts no bound, and its whisker runs to the edge, to an arrow.
        title: title of the axis; that of ratings in logits with half a point a tie unless given.
        kind: format of the values.
        zero: origin of the values, marked by a line.
    """
    low, high = primitives.widen((row[name] for row in rows for name in ("rating", "low", "high")), 0.06)
    title, beyond = title or axis_title(), 2 * (high - low)
    series, arrows = dict[str, list[WhiskerMark]](), []
    for i, row in enumerate(rows):
        system, value = row["system"], row["rating"]
        start = value - beyond if row["low"] is None else row["low"]
        stop = value + beyond if row["high"] is None else row["high"]
        hover = _rating_hover(row, kind)
        series[system] = [WhiskerMark(i, system, value, start, stop, hover, [system], row["bounded"])]
        for end, x, symbol in (("low", low, "triangle-left"), ("high", high, "triangle-right")):
            if row[end] is None:
                marker = {"symbol": symbol, "color": family(system).color, "size": MARK_SIZE + 1}
                bound = "no lower bound" if end == "low" else "no upper bound"
                arrows.append(primitives.dots([x], [i], [bound], marker, clicks=[[system]], cliponaxis=False))
    form = "+.1f" if kind == "rating" else FORMATS[kind].d3
    figure = whisker_rows(
        series,
        list(series),
        axis(title=title, zeroline=zero == 0, tickformat=form, range=[low, high]),
        foot=FOOT + 2 * SPACE * title.count("<br>"),
        shapes=[] if zero == 0 else [vline(zero)],
    )
    figure["data"] += arrows
    return figure


def _rating_hover(row: Mapping[str, Any], kind: Kind) -> str:
    value, count = FORMATS[kind], FORMATS["count"]
    lines = [
        f"<b>{label_text(row['system'])}</b> ({family(row['system']).name})",
        f"rating {value.write(row['rating'])}, 95% interval {span(row['low'], row['high'], kind)}",
        f"rank {row['rank']}, 95% interval {row['rank_low']} to {row['rank_high']}",
        f"n = {count.write(row['battles'])} battles",
    ]
    if not row["bounded"]:
        lines.append("its distance depends on the prior: never beaten, or never winning, against the rest")
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
