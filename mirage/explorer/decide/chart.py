"""Charts of the Decide page: worth against cost, and the choice by weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.palette import (
    FORMATS,
    MARK_SIZE,
    ROW,
    SPACE,
    Mode,
    axis,
    family,
    ink,
    label_text,
    layout,
    rows_axis,
)

_HEIGHT = 420


def trade_off(rows: Sequence[Mapping[str, Any]], *, cost: str, title: str, unit: str, mode: Mode) -> dict[str, Any]:
    """Draw the worth of each system, with its interval, against its cost; a line joins the efficient frontier.

    Args:
        rows: `system, worth, low, high, on_front, contender, choice` and the cost; one without a worth or the cost has
            no mark.
        cost: column of the cost, `price` or `seconds`.
        title: title of its axis.
        unit: unit of the worth, in words.
        mode: light or dark.
    """
    colors = ink(mode)
    points = sorted(
        (row for row in rows if row["worth"] is not None and row[cost] is not None), key=lambda row: float(row[cost])
    )
    front: list[Mapping[str, Any]] = []
    for row in points:
        if not front or row["worth"] > max(other["worth"] for other in front):
            front.append(row)
    data = [
        primitives.lines(
            [row[cost] for row in front],
            [row["worth"] for row in front],
            {"color": colors.muted, "width": 1, "dash": "dot"},
        )
    ]
    for row in points:
        color = family(row["system"]).color(mode)
        marker = {
            "color": [color if row["contender"] else colors.ground],
            "symbol": family(row["system"]).symbol,
            "size": MARK_SIZE + (5 if row["choice"] else 1),
            "line": {"color": color, "width": 1.5},
        }
        reach = [(row["worth"] - row["low"], row["high"] - row["worth"])]
        data.append(
            primitives.dots(
                [row[cost]],
                [row["worth"]],
                [_hover(row, cost)],
                marker,
                field="hovertext",
                clicks=[[row["system"]]],
                error_y=primitives.whiskers(reach, color, width=4),
                mode="markers+text",
                text=[label_text(row["system"])],
                textposition="middle right",
                textfont={"color": colors.text if row["contender"] else colors.muted},
                cliponaxis=False,
            )
        )
    return {
        "data": data,
        "layout": layout(
            mode,
            height=_HEIGHT,
            margin={"l": SPACE, "r": 20 * SPACE, "t": 2 * SPACE, "b": SPACE},
            xaxis=axis(mode, title=title, rangemode="tozero"),
            yaxis=axis(mode, title=f"Worth{unit} (higher is better)"),
        ),
    }


def by_weight(rows: Sequence[Mapping[str, Any]], *, mode: Mode) -> dict[str, Any]:
    """Draw the chosen system by the weight of each measure.

    Args:
        rows: `measure, weight, choice, p_right`.
        mode: light or dark.
    """
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    chosen = [row for row in rows if row["choice"] is not None]
    marker = {
        "color": [family(row["choice"]).color(mode) for row in chosen],
        "symbol": [family(row["choice"]).symbol for row in chosen],
        "size": MARK_SIZE + 3,
    }
    hover = [
        f"<b>{label_text(row['choice'])}</b><br>{label_text(row['measure'])} weighs {row['weight']:.0%}<br>no other is "
        f"better with a chance of {row['p_right']:.0%}"
        for row in chosen
    ]
    places = [measures.index(row["measure"]) for row in chosen]
    clicks = [[row["choice"]] for row in chosen]
    return {
        "data": [primitives.dots([row["weight"] for row in chosen], places, hover, marker, clicks=clicks)],
        "layout": layout(
            mode,
            height=ROW * (len(measures) + 2),
            margin={"l": SPACE, "r": 2 * SPACE, "t": SPACE, "b": SPACE},
            xaxis=axis(mode, title="Weight of the measure; the others share the rest", tickformat=".0%", dtick=0.2),
            yaxis=rows_axis([label_text(measure) for measure in measures], mode),
        ),
    }


def _hover(row: Mapping[str, Any], cost: str) -> str:
    write = FORMATS["value"].write
    price = "no price" if row["price"] is None else f"${row['price']:,.2f} for 1,000 answers"
    seconds = "" if row["seconds"] is None else f"<br>{row['seconds']:.1f} seconds an answer"
    worth = f"{write(row['worth'])} ({write(row['low'])} to {write(row['high'])})"
    front = "" if row["on_front"] is not True or cost != "price" else "<br>no system as cheap is worth more"
    return f"<b>{label_text(row['system'])}</b><br>worth {worth}<br>{price}{seconds}{front}"
