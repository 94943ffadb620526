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
    data = []
    for i, row in enumerate(shown):
        maker, fall = family(row["system"]), row["fall"]
        color = maker.color(mode) if fall else colors.muted
        hover = (
            f"<b>{label_text(row['system'])}</b><br>place {row['place_decided']} over decided answers: "
            f"{said_rate(row['decided'])}"
            f"<br>place {row['place_as_published']} as published: {said_rate(row['as_published'])}"
            f"<br>undecided: {said_rate(row['undecided'])} of {said_count(row['n'])} answers"
        )
        text = [
            f"{label_text(row['system'])}   {said_rate(row['decided'])}  ",
            f"  {said_rate(row['as_published'])}   {move_text(fall)}",
        ]
        data.append(
            primitives.dots(
                [0, 1],
                [i, after.index(row)],
                [hover] * 2,
                {"color": color, "symbol": maker.symbol, "size": MARK_SIZE},
                field="hovertext",
                mode="lines+markers+text",
                line={"color": color, "width": 2 if fall else 1},
                text=text,
                textposition=["middle left", "middle right"],
                textfont={"color": colors.text if fall else colors.muted, "size": TEXT_SIZE},
                cliponaxis=False,
                customdata=[[row["system"], "", "", ""]] * 2,
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
