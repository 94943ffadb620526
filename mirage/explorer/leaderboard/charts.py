"""Chart of the Leaderboard: the rating against the price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
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
    layout,
    span,
)


def price_scatter(rows: Sequence[Mapping[str, Any]], *, title: str, kind: Kind, mode: Mode) -> dict[str, Any]:
    """Draw the rating of each system, with its interval, against its price; systems tied with the best are filled.

    Args:
        rows: `system, rating, low, high, best, price, seconds`; a system without a price has no mark.
        title: title of the axis of the ratings.
        kind: format of the ratings.
        mode: light or dark.
    """
    data = []
    for row in rows:
        if row["price"] is None:
            continue
        color = family(row["system"]).color(mode)
        fill = {"color": color if row["best"] else ink(mode).ground, "symbol": family(row["system"]).symbol}
        latency = "" if row["seconds"] is None else f"<br>{row['seconds']:.1f} seconds an answer"
        rating = f"{FORMATS[kind].write(row['rating'])}, 95% {span(row['low'], row['high'], kind)}"
        data.append(
            primitives.dots(
                [row["price"]],
                [row["rating"]],
                [f"<b>{label_text(row['system'])}</b><br>{rating}<br>${row['price']:,.2f} for 1,000 answers{latency}"],
                fill | {"size": MARK_SIZE + 1, "line": {"color": color, "width": 1.5}},
                field="hovertext",
                clicks=[[row["system"]]],
                error_y=primitives.whiskers(primitives.reaches([row], "rating", "low", "high"), color, width=4),
                mode="markers+text",
                text=[label_text(row["system"])],
                textposition="middle right",
                cliponaxis=False,
            )
        )
    return {
        "data": data,
        "layout": layout(
            mode,
            height=420,
            margin={"l": SPACE, "r": 20 * SPACE, "t": 2 * SPACE, "b": SPACE},
            xaxis=axis(mode, title="US dollars per 1,000 answers", rangemode="tozero"),
            yaxis=axis(mode, title=title),
        ),
    }
