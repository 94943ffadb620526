"""The Judges page's charts: one measure by language and judge, and the agreement of every two judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.explorer.kit.square_matrix import MARK, shades, square_layout
from mirage.publish.charts import primitives
from mirage.publish.charts.leaderboard import FOOT, HEAD
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
)
from mirage.text.languages import scope_name

Row = Mapping[str, Any]


def judge_figure(
    rows: Sequence[Row],
    *,
    measure: str,
    judges: Sequence[str],
    languages: Sequence[str],
    title: str,
    unit: str,
    fair: float | None,
    mode: Mode,
) -> dict[str, Any]:
    """Draw one measure with 95% intervals, one row per language, with the judges side by side in it.

    Args:
        rows: `judge, language`, and the measure with `_low`, `_high`, `_n`; a row without a value is not drawn, one
            whose `enough` is false is grey and hollow.
        measure: name of the measure's column.
        judges: order within a language.
        languages: the rows, top to bottom.
        title: title of the axis.
        unit: `rate` or `logits`.
        fair: where a judge without fault would stand; a broken line.
        mode: light or dark.
    """
    by_cell = {(row["judge"], row["language"]): row for row in rows if row[measure] is not None}
    write = FORMATS["rate" if unit == "rate" else "rating"].write
    step = 0.7 / max(len(judges), 1)
    data = []
    for k, judge in enumerate(judges):
        points = [(i, by_cell[judge, code]) for i, code in enumerate(languages) if (judge, code) in by_cell]
        look, colors = family(judge), ink(mode)
        color = look.color(mode)
        enough = [row.get("enough", True) for _, row in points]
        hover = [
            f"<b>{label_text(judge)}</b>, {label_text(row['language'])}<br>{write(row[measure])}"
            + (
                f" ({write(row[measure + '_low'])} to {write(row[measure + '_high'])})"
                if row[measure + "_low"] is not None
                else ""
            )
            + f"<br>n = {row[measure + '_n']:,}"
            for _, row in points
        ]
        marker = {
            "color": [color if sure else colors.ground for sure in enough],
            "symbol": look.symbol,
            "size": MARK_SIZE,
            "line": {"color": [color if sure else colors.muted for sure in enough], "width": 1.5},
        }
        reach = [(_reach(row, measure, "_low"), _reach(row, measure, "_high")) for _, row in points]
        data.append(
            primitives.dots(
                [row[measure] for _, row in points],
                [i + (k - (len(judges) - 1) / 2) * step for i, _ in points],
                hover,
                marker,
                clicks=[[judge, row["language"]] for _, row in points],
                name=label_text(judge),
                error_x=primitives.whiskers(reach, color),
            )
        )
    line = {"type": "line", "xref": "x", "yref": "paper", "x0": fair, "x1": fair, "y0": 0, "y1": 1}
    ends = _range([*by_cell.values()], measure, fair)
    places = primitives.ticks(ends[0], ends[1], 6)
    row_height = max(ROW - 6, 12 * len(judges) + 6)
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + row_height * len(languages) + FOOT,
            margin={"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": FOOT},
            showlegend=len(judges) > 1,
            legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "xanchor": "left"},
            xaxis=axis(
                mode,
                title=label_text(title),
                tickvals=places,
                ticktext=[f"{100 * place:g}%" if unit == "rate" else f"{place:+g}" for place in places],
                zeroline=False,
                range=ends,
            ),
            yaxis=rows_axis([scope_name(code) for code in languages], mode),
            shapes=[] if fair is None else [{**line, "line": {"color": ink(mode).muted, "width": 1, "dash": "dot"}}],
        ),
    }


def agreement_matrix(rows: Sequence[Row], *, mode: Mode) -> dict[str, Any]:
    """Draw the share of battles with the same decision of every two judges as square marks.

    Args:
        rows: `one, judge, raw, raw_low, raw_high, kappa, n` of each two who were compared, both of one where people
            are compared with each other; a row without a value is not drawn.
        mode: light or dark.
    """
    known = [row for row in rows if row["raw"] is not None]
    names = sorted({row[side] for row in known for side in ("one", "judge")}, key=lambda name: (name == "people", name))
    place = {name: i for i, name in enumerate(names)}
    sides = [(row["one"], row["judge"], row) for row in known]
    sides += [(b, a, row) for a, b, row in sides if a != b]
    labels = [label_text(name) for name in names]
    shares, write = [row["raw"] for _, _, row in sides], FORMATS["rate"].write
    return {
        "data": [
            primitives.cells(
                [(place[b], place[a]) for a, b, _ in sides],
                [f"{100 * share:.0f}" for share in shares],
                [
                    f"<b>{label_text(a)}</b> and <b>{label_text(b)}</b><br>agree on {write(row['raw'])}"
                    + ("" if row["raw_low"] is None else f" ({write(row['raw_low'])} to {write(row['raw_high'])})")
                    + f"<br>kappa {FORMATS['probability'].write(row['kappa'])}<br>n = {row['n']:,}"
                    for a, b, row in sides
                ],
                clicks=[[a, b] for a, b, _ in sides],
                shade=shades(shares),
                mode=mode,
                **MARK,
            )
        ],
        "layout": square_layout(labels, labels, left=200, right=90, head=118, mode=mode),
    }


def _range(rows: Sequence[Row], measure: str, fair: float | None) -> list[float]:
    """Ends of the axis: all intervals and the fair value, and never so narrow that noise looks like a difference."""
    ends = [row[measure + end] for row in rows for end in ("_low", "_high") if row[measure + end] is not None]
    ends += [row[measure] for row in rows] + ([] if fair is None else [fair])
    low, high = min(ends), max(ends)
    widening = max(0.0, 0.1 - (high - low)) / 2
    margin = 0.04 * max(high - low, 0.1)
    return [low - (0 if low == 0 else widening) - margin, high + (2 * widening if low == 0 else widening) + margin]


def _reach(row: Row, measure: str, end: str) -> float:
    return 0.0 if row[measure + end] is None else abs(row[measure + end] - row[measure])
