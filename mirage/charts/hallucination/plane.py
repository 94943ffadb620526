"""The two rates of every system against each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from mirage.charts import primitives
from mirage.charts.hallucination.parts import RATES, Row, joint_hover, note, share_axis
from mirage.charts.labels import SIZE, LabelAnchor, place_labels
from mirage.charts.leaderboard import FOOT
from mirage.charts.palette import MARK_SIZE, SPACE, Mode, family, ink, label_text, layout

PLOT_WIDTH, PLOT_HEIGHT = 290, 366
"""Pixels of the plot; the width is the least it is drawn at."""
_EDGE = 0.035
"""What the axes show below 0 and above 1, so that marks at the ends stay whole."""


def trade_off(rows: Sequence[Row], *, mode: Mode, focus: Collection[str] = ()) -> dict[str, Any]:
    """Hallucination rate against error rate with both intervals; the best corner is at the bottom left.

    Args:
        rows: rows of `views.Rates.systems`.
        mode: light or dark.
        focus: systems that stand out; none given, all do.
    """
    colors = ink(mode)
    shown = [row for row in rows if row["hallucination_value"] is not None and row["error_value"] is not None]
    shown.sort(key=lambda row: row["system"] in focus)
    data = [primitives.lines([0, 1], [1, 0], {"color": colors.muted, "width": 1, "dash": "dot"})]
    for row in shown:
        maker = family(row["system"])
        quiet = bool(focus) and row["system"] not in focus
        color = colors.muted if quiet else maker.color(mode)
        across, upright = (
            primitives.whiskers(
                primitives.reaches([row], f"{metric}_value", f"{metric}_low", f"{metric}_high"),
                color,
                thickness=1,
                width=0,
            )
            for metric in ("hallucination", "error")
        )
        data.append(
            primitives.dots(
                [row["hallucination_value"]],
                [row["error_value"]],
                [joint_hover(row)],
                {"color": color, "symbol": maker.symbol, "size": MARK_SIZE},
                clicks=[[row["system"], "", "", ""]],
                opacity=0.4 if quiet else 1,
                selected={"marker": {"size": MARK_SIZE + 5}},
                error_x=across,
                error_y=upright,
            )
        )
    ends = [-_EDGE, 1 + _EDGE]
    return {
        "data": data,
        "layout": layout(
            mode,
            height=PLOT_HEIGHT + SPACE + FOOT,
            margin={"l": FOOT + SPACE, "r": SPACE, "t": SPACE, "b": FOOT},
            xaxis=share_axis(
                mode, f"{RATES['hallucination']} (lower is better)", range=ends, dtick=0.25, automargin=False
            ),
            yaxis=share_axis(mode, f"{RATES['error']} (lower is better)", range=ends, dtick=0.25, automargin=False),
            annotations=_names(shown, mode, focus)
            + ([] if shown else [note(0.5, 0.5, "no system has both rates", mode, anchor="center")]),
        ),
    }


def _names(rows: Sequence[Row], mode: Mode, focus: Collection[str]) -> list[dict[str, Any]]:
    """Every system's name beside its mark; and what the best corner and the dotted line mean."""
    colors, width = ink(mode), 1 + 2 * _EDGE

    def mark(label: str, x: Sequence[float | None], y: Sequence[float | None]) -> LabelAnchor:
        """From value, low and high of both rates; an end that is null is where the value is."""
        across, down = (
            [((value if value is not None else values[0] or 0) + _EDGE) / width for value in values]
            for values in (x, y)
        )
        down = [1 - share for share in down]
        return LabelAnchor(label, across[0], down[0], across[1], across[2], down[2], down[1])

    ends = ("value", "low", "high")
    marks = [
        mark(row["system"], [row[f"hallucination_{end}"] for end in ends], [row[f"error_{end}"] for end in ends])
        for row in rows
    ]
    corners = [mark("best corner", (0, 0, 0), (0, 0, 0)), mark("blind to support", (0, 0, 0), (1, 1, 1))]
    places = place_labels((*marks, *corners), PLOT_WIDTH, PLOT_HEIGHT)
    annotations = []
    for i, (named_mark, spot) in enumerate(zip([*marks, *corners], places, strict=True)):
        corner = i >= len(marks)
        quiet = corner or (bool(focus) and named_mark.label not in focus)
        annotations.append(
            {
                "x": named_mark.x * width - _EDGE,
                "y": (1 - named_mark.y) * width - _EDGE,
                "ax": spot.dx,
                "ay": spot.dy,
                "xanchor": spot.anchor,
                "yanchor": "middle",
                "text": f"<i>{named_mark.label}</i>" if corner else label_text(named_mark.label),
                "font": {"size": SIZE, "color": colors.muted if quiet else colors.text},
                "borderpad": 0,
                "arrowhead": 0,
                "arrowwidth": 0.8,
                "standoff": 5,
                "arrowcolor": colors.muted if spot.led else "rgba(0,0,0,0)",
            }
        )
    return annotations
