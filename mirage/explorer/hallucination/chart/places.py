"""Chart of the systems' order by either definition of a rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mirage.explorer.hallucination.chart.parts import Row, note, said_count, said_rate
from mirage.publish.charts import primitives
from mirage.publish.charts.leaderboard import HEAD
from mirage.publish.charts.palette import MARK_SIZE, SPACE, TEXT_SIZE, Mode, family, ink, label_text, layout

_LINE = 24
"""Height of a row in pixels."""


def order(rows: Sequence[Row], *, mode: Mode) -> dict[str, Any]:
    """Draw the order of the systems by both definitions of a rate; systems that move are coloured.

    Args:
        rows: rows of `mirage.explorer.hallucination.data.moves`.
        mode: light or dark.
    """
    colors = ink(mode)
    shown = [row for row in rows if row["place_decided"] is not None and row["place_as_published"] is not None]
    after = sorted(shown, key=lambda row: (row["as_published"], row["system"]))
    # One trace for the lines of a colour, and one for all marks: what Plotly does for each trace takes longer than its
    # parts.
    moves: dict[str, list[tuple[tuple[float, float], tuple[float, float]]]] = {}
    marks: list[dict[str, Any]] = []
    for i, row in enumerate(shown):
        maker, fall = family(row["system"]), row["fall"]
        color = maker.color(mode) if fall else colors.muted
        hover = (
            f"<b>{label_text(row['system'])}</b><br>place {row['place_decided']} over decided answers: "
            f"{said_rate(row['decided'])}"
            f"<br>place {row['place_as_published']} as published: {said_rate(row['as_published'])}"
            f"<br>undecided: {said_rate(row['undecided'])} of {said_count(row['n'])} answers"
        )
        texts = (
            f"{label_text(row['system'])}   {said_rate(row['decided'])}  ",
            f"  {said_rate(row['as_published'])}   {move_text(fall)}",
        )
        places = (i, after.index(row))
        moves.setdefault(color, []).append(((0, places[0]), (1, places[1])))
        marks += [
            {
                "x": x,
                "y": places[x],
                "hover": hover,
                "text": texts[x],
                "position": ("middle left", "middle right")[x],
                "color": color,
                "symbol": maker.symbol,
                "ink": colors.text if fall else colors.muted,
                "click": [row["system"], "", "", ""],
            }
            for x in (0, 1)
        ]

    def column(name: str) -> list[Any]:
        return [mark[name] for mark in marks]

    data = [
        primitives.segments(pairs, {"color": color, "width": 1 if color == colors.muted else 2}, cliponaxis=False)
        for color, pairs in moves.items()
    ]
    data.append(
        primitives.dots(
            column("x"),
            column("y"),
            column("hover"),
            {"color": column("color"), "symbol": column("symbol"), "size": MARK_SIZE},
            field="hovertext",
            mode="markers+text",
            text=column("text"),
            textposition=column("position"),
            textfont={"color": column("ink"), "size": TEXT_SIZE},
            cliponaxis=False,
            customdata=column("click"),
        )
    )
    heads = [note(0, 1, "over decided answers", mode, anchor="right"), note(1, 1, "as published", mode)]
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + _LINE * len(shown) + SPACE,
            margin={"l": 228, "r": 128, "t": HEAD, "b": SPACE},
            xaxis={"visible": False, "range": [0, 1], "fixedrange": True},
            yaxis={"visible": False, "range": [len(shown) - 0.5, -0.5], "fixedrange": True},
            annotations=heads,
        ),
    }


def move_text(fall: int) -> str:
    """Format a change of place as an arrow with words; empty if there is none."""
    return f"{'▼' if fall > 0 else '▲'} {abs(fall)} {'place' if abs(fall) == 1 else 'places'}" if fall else ""
