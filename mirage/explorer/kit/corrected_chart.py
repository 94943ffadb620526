"""Chart of a judge's ranking and the ranking corrected by people's votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import FOOT, HEAD
from mirage.publish.charts.leaderboard import axis_title
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
    span,
)


def correction_figure(rows: Sequence[Mapping[str, Any]], *, mode: Mode) -> dict[str, Any]:
    """Two ratings of every system with their 95% intervals: corrected, filled; by the judge alone, hollow and below.

    Args:
        rows: columns of `votes.CorrectedRating`, in the order of the rows.
        mode: light or dark.
    """
    title = axis_title()
    foot = FOOT + 2 * SPACE * title.count("<br>")
    data = [
        _series(rows, "", "corrected by people", -0.15, mode),
        _series(rows, "uncorrected", "judge alone", 0.2, mode),
    ]
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + ROW * len(rows) + foot,
            margin={"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": foot},
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"},
            xaxis=axis(mode, title=title, zeroline=True, tickformat="+.1f"),
            yaxis=rows_axis([label_text(row["system"]) for row in rows], mode),
        ),
    }


def _series(rows: Sequence[Mapping[str, Any]], which: str, label: str, shift: float, mode: Mode) -> dict[str, Any]:
    value, low, high, rank = (
        (which, f"{which}_low", f"{which}_high", f"{which}_rank") if which else ("rating", "low", "high", "rank")
    )
    colors = [family(row["system"]).color(mode) for row in rows]
    muted = ink(mode).muted
    write = FORMATS["rating"].write
    hover = [
        f"<b>{label_text(row['system'])}</b>, {label}<br>{write(row[value])}"
        f" ({span(row[low], row[high]) if which or row[low] is not None else 'too few people for an interval'})"
        f"<br>rank {row[rank]}<br>n = {row['votes']:,} votes, {row['battles']:,} battles"
        for row in rows
    ]
    marker = {
        "color": [ink(mode).ground] * len(rows) if which else colors,
        "symbol": "circle",
        "size": MARK_SIZE,
        "line": {"color": muted if which else colors, "width": 1.5},
    }
    return primitives.dots(
        [row[value] for row in rows],
        [i + shift for i in range(len(rows))],
        hover,
        marker,
        name=label,
        error_x=primitives.whiskers(primitives.reaches(rows, value, low, high), muted if which else ink(mode).accent),
    )
