"""Charts of the Leaderboard's sections: the win matrix, and the rating against the price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import HEAD
from mirage.publish.charts.palette import (
    FORMATS,
    MARK_SIZE,
    ROW,
    SPACE,
    Kind,
    Mode,
    axis,
    family,
    ink,
    label_text,
    layout,
    rows_axis,
    span,
)

_WRITE = FORMATS["rate"].write


def win_matrix(cells: Sequence[Mapping[str, Any]], *, systems: Sequence[str], mode: Mode) -> dict[str, Any]:
    """Draw each system's (row) share of wins against each other (column), as squares, which are clickable, unlike an
    image.

    Args:
        cells: `system, other, wins, ties, losses, n, share, low, high` of every ordered pair (`battle.matrix`).
        systems: the order of rows and columns.
        mode: light or dark.
    """
    places = {system: i for i, system in enumerate(systems)}
    shown = [cell for cell in cells if cell["system"] in places and cell["other"] in places]
    labels = [label_text(system) for system in systems]
    hover = [
        f"<b>{label_text(cell['system'])}</b> against <b>{label_text(cell['other'])}</b><br>win rate "
        + ("–" if cell["share"] is None else f"{_WRITE(cell['share'])}, 95% {span(cell['low'], cell['high'], 'rate')}")
        + f"<br>{cell['wins']:,} wins, {cell['ties']:,} ties, {cell['losses']:,} losses<br>n = {cell['n']:,} queries"
        for cell in shown
    ]
    columns = axis(mode, side="top", tickvals=list(range(len(systems))), ticktext=labels, tickangle=-45)
    columns |= {"range": [-0.6, len(systems) - 0.4], "showgrid": False, "zeroline": False}
    return {
        "data": [
            primitives.cells(
                [(places[cell["other"]], places[cell["system"]]) for cell in shown],
                ["–" if cell["share"] is None else f"{100 * cell['share']:.0f}" for cell in shown],
                hover,
                clicks=[[cell["system"], cell["other"]] for cell in shown],
                # The ramp runs from best to worst; a pair without a winner stands in its middle.
                shade=[0.5 if cell["share"] is None else 1 - cell["share"] for cell in shown],
                mode=mode,
                size=ROW - 3,
                text_size=11,
            )
        ],
        "layout": layout(
            mode,
            height=HEAD + ROW * len(systems) + 120,
            width=190 + 34 * len(systems) + 60,
            margin={"l": SPACE, "r": 60, "t": HEAD, "b": SPACE},
            xaxis=columns,
            yaxis=rows_axis(labels, mode, showgrid=False),
        ),
    }


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
