"""Stacked bars of the outcomes' shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mirage.explorer.hallucination.chart.parts import (
    DECISIONS,
    OUTCOMES,
    QUERIES,
    QUIET,
    Row,
    pattern,
    said_count,
    said_rate,
    share_axis,
)
from mirage.publish.charts import primitives
from mirage.publish.charts.leaderboard import FOOT, HEAD
from mirage.publish.charts.palette import SPACE, Mode, ink, label_text, layout, on_ramp, rows_axis

_PATTERNS = {"clarification": "-", "unparsed": "/", "empty": ".", "api_error": "x", "missing": "|"}
_LINE = 24
"""Height of a row in pixels."""


def share_bars(rows: Sequence[Row], *, systems: Sequence[str], metric: str, mode: Mode) -> dict[str, Any]:
    """Draw the shares of the outcomes on one subset: wrong decisions first, then undecided, then correct.

    Args:
        rows: rows of `views.Rates.cells`.
        systems: order of the rows, that of the table.
        metric: whose subset.
        mode: light or dark.
    """
    colors = ink(mode)
    joint = {row["system"]: row for row in rows if row["metric"] == metric and row["language"] == "all"}
    shown = [system for system in systems if system in joint]
    total = {system: sum(joint[system][outcome] for outcome in OUTCOMES[metric]) for system in shown}
    fill = {"answered": colors.ramp[0][1], "abstained": colors.ramp[1][1]}
    data = []
    for outcome in OUTCOMES[metric]:
        share = [joint[system][outcome] / total[system] if total[system] else 0 for system in shown]
        if not any(share):
            continue
        label = DECISIONS[metric].get(outcome) or outcome.replace("_", " ").replace("api", "API")
        hover = [
            f"<b>{label_text(system)}</b>, {QUERIES[metric]}<br>{label}: {said_rate(value)}<br>"
            f"{said_count(joint[system][outcome])} of {said_count(total[system])} queries"
            for system, value in zip(shown, share, strict=True)
        ]
        marker = {
            "color": fill.get(outcome, colors.line),
            "pattern": pattern(_PATTERNS.get(outcome, ""), mode),
            "line": {"color": colors.ground, "width": 1},
        }
        data.append(
            primitives.bars(
                share,
                range(len(shown)),
                hover,
                marker,
                clicks=[[system, "", metric, outcome] for system in shown],
                field="hovertext",
                name=label,
                constraintext="none",
                text=[said_rate(value) if value >= 0.12 and outcome in fill else "" for value in share],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                textfont={"size": 11, "color": on_ramp(mode, 0.0 if outcome == "answered" else 0.5)},
            )
        )
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + _LINE * len(shown) + FOOT,
            margin={"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": FOOT},
            barmode="stack",
            bargap=0.2,
            showlegend=True,
            legend={**QUIET, "traceorder": "normal"},
            xaxis=share_axis(mode, f"Share of the {QUERIES[metric]}", range=[0, 1.001]),
            yaxis=rows_axis([label_text(system) for system in shown], mode, showgrid=False),
        ),
    }
