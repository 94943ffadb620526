"""The two rates of every system against each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from mirage.explorer.hallucination.chart.parts import RATES, Row, joint_hover, note, share_axis
from mirage.publish.charts import primitives
from mirage.publish.charts.leaderboard import FOOT
from mirage.publish.charts.palette import MARK_SIZE, SPACE, Mode, family, ink, label_text, layout

PLOT_HEIGHT = 366
"""Height of the plot in pixels."""
_TICKS = (0, 0.25, 0.5, 0.75, 1)
_EDGE = 0.035
"""What the axes show below 0 and above 1, so that marks at the ends stay whole."""
NAMED = 16
"""Maximum number of named marks: those in focus and the first of the rows. A hover names every mark."""
_ROOM = (0.5, 0.045)
"""Distance between two named marks in either rate: the length and the height of a name on a narrow screen."""
_SIZE = 11
"""Size of a name in pixels."""
_CORNER, _END = "best corner", "ignores the evidence"
"""Names of the lower left corner and of the upper end of the dotted line."""


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
    data = [dotted, _names(shown, mode, focus)]
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


def _names(rows: Sequence[Row], mode: Mode, focus: Collection[str]) -> primitives.Trace:
    """Name the marks beside which no other name stands: those in focus first, then in the order of the rows.

    Returns:
        One trace without hover, so that no name takes a click from its mark. The names of the best corner and of the
        end of the dotted line come last.
    """
    colors = ink(mode)
    ordered = sorted(rows, key=lambda row: row["system"] not in focus)
    candidates = [(row["hallucination_value"], row["error_value"], row["system"]) for row in ordered[:NAMED]]
    candidates += [(0, 0, _CORNER), (0, 1, _END)]
    named: list[tuple[float, float, str]] = []
    for x, y, name in candidates:
        if all(abs(x - other[0]) > _ROOM[0] or abs(y - other[1]) > _ROOM[1] for other in named):
            named.append((x, y, name))
    loud = set(focus) or {row["system"] for row in rows}
    return primitives.lines(
        [x for x, _, _ in named],
        [y for _, y, _ in named],
        {},
        mode="text",
        text=[f"<i>{name}</i>" if name in (_CORNER, _END) else label_text(f"  {name}  ") for *_, name in named],
        textposition=["middle right" if x < 0.5 else "middle left" for x, _, _ in named],
        textfont={
            "size": _SIZE,
            "color": [colors.text if name in loud else colors.muted for *_, name in named],
            # The dotted line and the grid stop at a name.
            "shadow": ", ".join([f"0 0 2px {colors.ground}"] * 4),
        },
        cliponaxis=False,
    )
