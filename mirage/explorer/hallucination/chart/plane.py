"""The two rates of every system against each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from mirage.explorer.hallucination.chart.parts import RATES, Row, joint_hover, note, share_axis
from mirage.explorer.hallucination.chart_labels import SIZE, LabelAnchor, place_labels
from mirage.publish.charts import primitives
from mirage.publish.charts.leaderboard import FOOT
from mirage.publish.charts.palette import MARK_SIZE, SPACE, Mode, family, ink, label_text, layout
from mirage.text.segmentation import count_text

PLOT_WIDTH, PLOT_HEIGHT = 290, 366
"""Pixels of the plot; the width is the least it is drawn at."""
CROWD = 5
"""So many systems on each other have one label, which counts them: their names would cover the plot."""
_ON_EACH_OTHER = 0.02
"""Marks that differ by no more in both rates lie on each other: 6 pixels."""
_TICKS = (0, 0.25, 0.5, 0.75, 1)
_EDGE = 0.035
"""What the axes show below 0 and above 1, so that marks at the ends stay whole."""
_SIDES = {"left": "middle right", "right": "middle left", "center": "middle center"}
"""Where a text lies that begins, ends or has its middle at its point."""
NAMED = 16
"""Names and crowds that stand beside marks: those in focus and the first of the rows. A hover names every mark."""


def trade_off(rows: Sequence[Row], *, mode: Mode, focus: Collection[str] = ()) -> dict[str, Any]:
    """Hallucination rate against error rate with both intervals; the best corner is at the bottom left.

    Args:
        rows: rows of `views.Rates.systems`.
        mode: light or dark.
        focus: systems that stand out; none given, all do.
    """
    colors = ink(mode)
    shown = [row for row in rows if row["hallucination_value"] is not None and row["error_value"] is not None]
    # Systems of one colour are one trace, whose whiskers Plotly draws in that colour; those in focus lie on top.
    by_color: dict[tuple[bool, str], list[Row]] = {}
    for row in shown:
        quiet = bool(focus) and row["system"] not in focus
        by_color.setdefault((quiet, colors.muted if quiet else family(row["system"]).color(mode)), []).append(row)
    dotted = primitives.lines([0, 1], [1, 0], {"color": colors.muted, "width": 1, "dash": "dot"})
    data = [dotted, *_names(shown, mode, focus)]
    for (quiet, color), group in sorted(by_color.items(), key=lambda item: not item[0][0]):
        across, upright = (
            primitives.whiskers(
                primitives.reaches(group, f"{metric}_value", f"{metric}_low", f"{metric}_high"),
                color,
                thickness=1,
                width=0,
            )
            for metric in ("hallucination", "error")
        )
        data.append(
            primitives.dots(
                [row["hallucination_value"] for row in group],
                [row["error_value"] for row in group],
                [joint_hover(row) for row in group],
                {
                    "color": color,
                    "symbol": [family(row["system"]).symbol for row in group],
                    "size": MARK_SIZE,
                },
                clicks=[[row["system"], "", "", ""] for row in group],
                opacity=0.4 if quiet else 1,
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
                mode, f"{RATES['hallucination']} (lower is better)", range=ends, tickvals=_TICKS, automargin=False
            ),
            yaxis=share_axis(
                mode, f"{RATES['error']} (lower is better)", range=ends, tickvals=_TICKS, automargin=False
            ),
            annotations=[] if shown else [note(0.5, 0.5, "no system has both rates", mode, anchor="center")],
        ),
    }


def _crowds(rows: Sequence[Row], focus: Collection[str]) -> dict[int, list[str]]:
    """Systems by the row of the mark that has their label: each its own, but for crowds too dense for names."""
    near: dict[int, list[int]] = {}
    for k, row in enumerate(rows):
        apart = row["system"] in focus
        first = k if apart else next((i for i in near if rows[i]["system"] not in focus and _close(rows[i], row)), k)
        near.setdefault(first, []).append(k)
    crowds: dict[int, list[str]] = {}
    for first, members in near.items():
        names = [rows[k]["system"] for k in members]
        crowds |= {first: names} if len(members) >= CROWD else {k: [rows[k]["system"]] for k in members}
    return crowds


def _close(row: Row, other: Row) -> bool:
    """Return whether two marks overlap."""
    gaps: list[float] = [row[f"{metric}_value"] - other[f"{metric}_value"] for metric in ("hallucination", "error")]
    return max(map(abs, gaps)) <= _ON_EACH_OTHER


def _names(rows: Sequence[Row], mode: Mode, focus: Collection[str]) -> list[primitives.Trace]:
    """Label each mark with its system, or with the number of overlapping systems; also the best corner and the dotted
    line.

    Returns:
        The lines to labels that are far from their marks; the labels, as one trace, since the browser measures each
        annotation several times; and the labels of overlapping systems, if any, which name them on hover.
    """
    colors, width = ink(mode), 1 + 2 * _EDGE

    def mark(label: str, x: Sequence[float | None], y: Sequence[float | None]) -> LabelAnchor:
        """Build the anchor from value, low and high of both rates; a null end is placed at the value."""
        across, down = (
            [((value if value is not None else values[0] or 0) + _EDGE) / width for value in values]
            for values in (x, y)
        )
        down = [1 - share for share in down]
        return LabelAnchor(label, across[0], down[0], across[1], across[2], down[2], down[1])

    ends = ("value", "low", "high")
    crowds = _crowds(rows, focus)
    first = sorted(crowds, key=lambda k: (rows[k]["system"] not in focus, k))[:NAMED]
    crowds = {k: crowd for k, crowd in crowds.items() if k in first}
    labels = [crowd[0] if len(crowd) == 1 else count_text(len(crowd), "system") for crowd in crowds.values()]
    marks = [
        mark(label, *([rows[k][f"{metric}_{end}"] for end in ends] for metric in ("hallucination", "error")))
        for label, k in zip(labels, crowds, strict=True)
    ]
    corners = [mark("best corner", (0, 0, 0), (0, 0, 0)), mark("ignores the evidence", (0, 0, 0), (1, 1, 1))]
    anchors = (*marks, *corners)
    places = place_labels(anchors, PLOT_WIDTH, PLOT_HEIGHT)

    def at(anchor: LabelAnchor, dx: float = 0, dy: float = 0) -> tuple[float, float]:
        """Return both rates at a distance from a mark, in pixels of the least plot."""
        x, y = anchor.x + dx / PLOT_WIDTH, anchor.y + dy / PLOT_HEIGHT
        return x * width - _EDGE, (1 - y) * width - _EDGE

    spots = [at(anchor, place.dx, place.dy) for anchor, place in zip(anchors, places, strict=True)]
    texts = [label_text(anchor.label) for anchor in marks] + [f"<i>{anchor.label}</i>" for anchor in corners]
    quiet = [bool(focus) and anchor.label not in focus for anchor in marks] + [True for _ in corners]
    hovers = {i: label_text(", ".join(sorted(crowd))) for i, crowd in enumerate(crowds.values()) if len(crowd) > 1}

    def labels_at(indices: Sequence[int]) -> primitives.Trace:
        """Return the labels with these indices, without hover, so that none takes a click from its mark."""
        return primitives.lines(
            [spots[i][0] for i in indices],
            [spots[i][1] for i in indices],
            {},
            mode="text",
            text=[texts[i] for i in indices],
            textposition=[_SIDES[places[i].anchor] for i in indices],
            textfont={
                "size": SIZE,
                "color": [colors.muted if quiet[i] else colors.text for i in indices],
                # The dotted line and the grid stop at a label.
                "shadow": ", ".join([f"0 0 2px {colors.ground}"] * 4),
            },
            cliponaxis=False,
        )

    far = [(at(anchor), spot) for anchor, spot, place in zip(anchors, spots, places, strict=True) if place.led]
    traces = [
        primitives.segments(far, {"color": colors.muted, "width": 0.8}),
        labels_at([i for i in range(len(anchors)) if i not in hovers]),
    ]
    if hovers:
        traces.append(labels_at(list(hovers)) | {"hoverinfo": "text", "hovertext": list(hovers.values())})
    return traces
