"""Rates by language: all systems as cells, a few as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mirage.explorer.hallucination.chart.parts import (
    QUERIES,
    QUIET,
    RATES,
    Row,
    cell_hover,
    note,
    pattern,
    said_points,
    share_axis,
)
from mirage.publish.charts import primitives
from mirage.publish.charts.leaderboard import FOOT, HEAD
from mirage.publish.charts.palette import (
    ROW,
    SPACE,
    Mode,
    columns_width,
    family,
    ink,
    label_text,
    language_axis,
    language_room,
    layout,
    rows_axis,
)
from mirage.text.languages import scope_name

_LEAST = 12
"""Columns that the cells have room for at least."""
_SHADES = ("", "/", ".", "x")
"""Patterns of systems of one family beside each other."""


def cells(
    rows: Sequence[Row],
    *,
    systems: Sequence[str],
    languages: Sequence[str],
    metric: str,
    mode: Mode,
    value: str = "value",
) -> dict[str, Any]:
    """Draw one rate by language (columns) and system (rows) as squares; a cell without a value is hollow.

    Args:
        rows: rows of `views.Rates.cells`.
        systems: order of the rows, that of the table.
        languages: the columns; one without cells stays hollow.
        metric: which rate.
        mode: light or dark.
        value: `value` for the rate, `difference` for ours as published minus the printed figure, in points.
    """
    by_cell = {(row["system"], row["language"]): row for row in rows if row["metric"] == metric}
    keys = [(system, code) for system in systems for code in languages]
    full = [key for key in keys if by_cell.get(key, {}).get(value) is not None]
    hollow = [key for key in keys if key not in set(full)]
    values = [by_cell[key][value] for key in full]
    largest = max((abs(v) for v in values), default=0) or 1.0
    # The ramp runs from best to worst. No difference from the print is its pale end.
    shade = values if value == "value" else [1 - abs(v) / largest for v in values]

    def squares(
        pairs: Sequence[tuple[str, str]], texts: Sequence[str], shade: Sequence[float] | None
    ) -> dict[str, Any]:
        return primitives.cells(
            [(languages.index(code), systems.index(system)) for system, code in pairs],
            texts,
            [cell_hover(by_cell.get((system, code)), system, code, metric) for system, code in pairs],
            clicks=[[system, code, metric, ""] for system, code in pairs],
            shade=shade,
            mode=mode,
            size=ROW - 3,
            text_size=9.5,
        )

    top, right = language_room(languages, least=_LEAST)
    texts = [f"{100 * v:.1f}" if value == "value" else said_points(v) if v else "0" for v in values]
    return {
        "data": [squares(full, texts, shade), squares(hollow, ["–"] * len(hollow), None)],
        "layout": layout(
            mode,
            height=top + ROW * len(systems) + SPACE,
            **columns_width(len(languages)),
            margin={"l": SPACE, "r": right, "t": top, "b": SPACE},
            xaxis=language_axis(mode, languages, least=_LEAST),
            yaxis=rows_axis([label_text(system) for system in systems], mode, showgrid=False),
        ),
    }


def bars(rows: Sequence[Row], *, systems: Sequence[str], languages: Sequence[str], mode: Mode) -> dict[str, Any]:
    """Both rates of a few systems by language, with intervals, in two panels that share their languages.

    Args:
        rows: rows of `views.Rates.cells`.
        systems: a few systems, top to bottom within a language.
        languages: the rows.
        mode: light or dark.
    """
    colors = ink(mode)
    by_cell = {(row["system"], row["language"], row["metric"]): row for row in rows}
    system_colors = [family(system).color(mode) for system in systems]
    data, notes = [], []
    for side, metric in enumerate(RATES):
        for i, system in enumerate(systems):
            language_rows = [(j, by_cell.get((system, code, metric))) for j, code in enumerate(languages)]
            points = [(j, row) for j, row in language_rows if row is not None and row["value"] is not None]
            color = system_colors[i]
            reach = primitives.reaches([row for _, row in points], "value", "low", "high")
            data.append(
                primitives.bars(
                    [row["value"] for _, row in points],
                    [j for j, _ in points],
                    [cell_hover(row, system, row["language"], metric) for _, row in points],
                    {"color": color, "pattern": pattern(_SHADES[system_colors[:i].count(color) % 4], mode)},
                    clicks=[[system, languages[j], metric, ""] for j, _ in points],
                    error_x=primitives.whiskers(reach, colors.text, thickness=1, width=2),
                    name=label_text(system),
                    legendgroup=system,
                    showlegend=side == 0,
                    offsetgroup=str(i),
                    xaxis="x2" if side else "x",
                )
            )
        notes += [
            note(0, j, f"no {QUERIES[metric]}", mode, xref="x2" if side else "x", yref="y", yanchor="middle")
            for j, code in enumerate(languages)
            if not any(by_cell.get((system, code, metric), {}).get("n") for system in systems)
        ]
    ends = [0, 1.02]
    titles = {metric: f"{title}<br>(lower is better)" for metric, title in RATES.items()}
    row_height = max(20, 8 * len(systems) + 6, 90 // max(len(languages), 1))
    return {
        "data": data,
        "layout": layout(
            mode,
            height=HEAD + row_height * len(languages) + FOOT + 2 * SPACE,
            margin={"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": FOOT + 2 * SPACE},
            bargap=max(0.25, 1 - 12 * len(systems) / row_height),
            showlegend=True,
            legend=QUIET,
            xaxis=share_axis(mode, titles["hallucination"], range=ends, dtick=0.5, domain=[0, 0.46]),
            xaxis2=share_axis(mode, titles["error"], range=ends, dtick=0.5, domain=[0.54, 1]),
            yaxis=rows_axis([scope_name(code) for code in languages], mode),
            annotations=notes,
        ),
    }
