"""The Surrogate page's charts: judged beside predicted ratings, tau by language, what a prediction rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mirage.explorer.features.charts import title
from mirage.publish.charts import primitives
from mirage.publish.charts.figures import FOOT, HEAD
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

if TYPE_CHECKING:
    from mirage.schema import Importance, Prediction

Row = Mapping[str, Any]
Ends = tuple[float | None, float | None]

_APART = 0.16
"""Rows by which the judged and the predicted mark of a system stand above and below its row."""
_rating = FORMATS["rating"].write
_tau = FORMATS["probability"].write


def ratings(points: Sequence[Prediction], ends: Mapping[str, Ends], *, judge: str, mode: Mode) -> dict[str, Any]:
    """Draw each system's rating by the judge above its prediction, both with 95% intervals.

    Args:
        points: rows top to bottom, of one language and regressor; one without a judged rating has its prediction alone.
        ends: by system, the interval of its rating by the judge; an end is None where the data puts no bound.
        judge: who rated.
        mode: light or dark.
    """
    data = []
    for predicted in (False, True):
        rows = [(i, point) for i, point in enumerate(points) if predicted or point.judged is not None]
        colors = [family(point.system).color(mode) for _, point in rows]
        marker = {
            "color": ink(mode).ground if predicted else colors,
            "symbol": [family(point.system).symbol for _, point in rows],
            "size": MARK_SIZE,
            "line": {"color": colors, "width": 1.5},
        }
        reach = [interval_reach(point, ends.get(point.system), predicted) for _, point in rows]
        data.append(
            primitives.dots(
                [point.rating if predicted else point.judged for _, point in rows],
                [i + (_APART if predicted else -_APART) for i, _ in rows],
                [hover_text(point, ends.get(point.system), predicted, judge) for _, point in rows],
                marker,
                clicks=[[point.system] for _, point in rows],
                name="predicted, without its battles" if predicted else f"rated by {label_text(judge)}",
                error_x=primitives.whiskers(reach, ink(mode).muted, width=3),
            )
        )
    low, high = _range(points, ends)
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + ROW * len(points) + FOOT,
            margin={"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": FOOT},
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"},
            xaxis=axis(
                mode,
                title="Rating in logits (higher is better)",
                tickformat="+.1f",
                tickvals=primitives.ticks(low, high, 6),
                range=[low, high],
                zeroline=True,
            ),
            yaxis=rows_axis([label_text(point.system) for point in points], mode),
        ),
    }


def tau_figure(rows: Sequence[Row], *, regressor: str, names: Sequence[str], mode: Mode) -> dict[str, Any]:
    """Draw Kendall's tau-b of a regressor on left-out systems in each language, next to the paper's.

    Args:
        rows: `language, tau, rmse, systems, published`, top to bottom.
        regressor: whose.
        names: the rows' names.
        mode: light or dark.
    """
    computed_rows = [(i, row) for i, row in enumerate(rows) if row["tau"] is not None]
    published_rows = [(i, row) for i, row in enumerate(rows) if row["published"] is not None]
    colors = ink(mode)
    data = [
        primitives.dots(
            [row["tau"] for _, row in computed_rows],
            [i for i, _ in computed_rows],
            [
                f"<b>{label_text(names[i])}</b>, {label_text(regressor)}<br>tau {_tau(row['tau'])}, "
                f"RMSE {_tau(row['rmse'])} logits<br>n = {row['systems']} systems, each left out"
                for i, row in computed_rows
            ],
            {"color": colors.accent, "symbol": "circle", "size": MARK_SIZE + 1},
            clicks=[[row["language"]] for _, row in computed_rows],
            name="ours, on left-out systems",
        )
    ]
    if published_rows:
        line = {"color": colors.muted, "width": 1.5}
        data.append(
            primitives.dots(
                [row["published"] for _, row in published_rows],
                [i for i, _ in published_rows],
                [
                    f"<b>{label_text(names[i])}</b>, published (MIRAGE-Bench, Table 2)<br>tau {row['published']:.3f}: "
                    "random forest against GPT-4o<br>17 of the 19 systems ranked were trained on"
                    for i, row in published_rows
                ],
                {"color": colors.ground, "symbol": "diamond", "size": MARK_SIZE, "line": line},
                name="published: forest, GPT-4o",
            )
        )
    lowest = min([row["tau"] for _, row in computed_rows] + [row["published"] for _, row in published_rows] + [0.0])
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + (ROW - 6) * len(rows) + FOOT,
            margin={"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": FOOT},
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"},
            xaxis=axis(
                mode,
                title="Kendall's tau-b (1 is the same order)",
                tickvals=primitives.ticks(lowest, 1, 6),
                range=[lowest - 0.05, 1.05],
                zeroline=True,
            ),
            yaxis=rows_axis([label_text(language_name) for language_name in names], mode),
        ),
    }


def importance_figure(rows: Sequence[Importance], *, mode: Mode) -> dict[str, Any]:
    """Draw the permutation importances on left-out systems, with 95% intervals.

    Args:
        rows: permutations, top to bottom; those without a value are not drawn.
        mode: light or dark.
    """
    valued_rows = [row for row in rows if row.value is not None]
    reach = [
        (0.0, 0.0) if row.low is None or row.high is None else ((row.value or 0) - row.low, row.high - (row.value or 0))
        for row in valued_rows
    ]
    return {
        "data": [
            primitives.bars(
                [row.value for row in valued_rows],
                range(len(valued_rows)),
                [
                    f"<b>{title(row.features)}</b><br>{_signed(row.value)} ({_signed(row.low)} to "
                    f"{_signed(row.high)}) squared logits<br>n = {row.systems} systems, each left out"
                    for row in valued_rows
                ],
                {"color": ink(mode).accent},
                width=0.55,
                error_x=primitives.whiskers(reach, ink(mode).text, width=3),
            )
        ],
        "layout": layout(
            mode,
            height=SPACE + ROW * len(valued_rows) + FOOT,
            margin={"l": SPACE, "r": 2 * SPACE, "t": SPACE, "b": FOOT},
            xaxis=axis(mode, title="Rise of the squared error, logits²", zeroline=True),
            yaxis=rows_axis([label_text(title(row.features)) for row in valued_rows], mode),
        ),
    }


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}".replace("-", "−")


def interval_reach(point: Prediction, ends: Ends | None, predicted: bool) -> tuple[float, float]:
    """Return the lengths of a mark's interval below and above it; 0 where it is unbounded."""
    value = point.rating if predicted else point.judged
    low, high = (point.low, point.high) if predicted else ends or (None, None)
    if value is None:
        return 0.0, 0.0
    return 0.0 if low is None else max(value - low, 0.0), 0.0 if high is None else max(high - value, 0.0)


def _range(points: Sequence[Prediction], ends: Mapping[str, Ends]) -> tuple[float, float]:
    """The ends of the axis: all values and ends of intervals, 0, and a little more."""
    values = [0.0]
    for point in points:
        known = (point.judged, point.rating, point.low, point.high, *ends.get(point.system, ()))
        values += [value for value in known if value is not None]
    margin = 0.04 * (max(values) - min(values)) or 1.0
    return min(values) - margin, max(values) + margin


def hover_text(point: Prediction, ends: Ends | None, predicted: bool, judge: str) -> str:
    """Return the text shown over a mark."""
    low, high = (point.low, point.high) if predicted else ends or (None, None)
    interval = "" if low is None and high is None else f" ({span(low, high)})"
    if not predicted:
        return f"<b>{label_text(point.system)}</b><br>rated {_rating(point.judged)}{interval} by {label_text(judge)}"
    warning = f"<br>outside the range seen in {label_text(point.outside)}" if point.outside else ""
    return (
        f"<b>{label_text(point.system)}</b><br>predicted {_rating(point.rating)}{interval}, rank {point.rank}{warning}"
    )
