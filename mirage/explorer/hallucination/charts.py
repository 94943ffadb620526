"""Figures of the Hallucination page: the trade-off of the two rates, rates by language, and shares of outcomes and
causes.

A clicked mark yields `[system, language, metric, outcome]`, each empty where the mark is about all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mirage.explorer.hallucination.attribution import TITLES
from mirage.publish.charts import primitives
from mirage.publish.charts.figures import (
    FOOT,
    BarPart,
    MapCell,
    WhiskerMark,
    language_map,
    stacked_shares,
    whisker_rows,
)
from mirage.publish.charts.palette import (
    FORMATS,
    MARK_SIZE,
    SPACE,
    Mode,
    axis,
    family,
    ink,
    label_text,
    layout,
    on_ramp,
    span,
)
from mirage.schema import UNDECIDED
from mirage.text.languages import name_of, scope_name

Row = Mapping[str, Any]
"""A row of `data.Rates.systems` or `data.Rates.cells`."""

RATES = {"hallucination": "Hallucination rate", "error": "Error rate"}
QUERIES = {"hallucination": "non-relevant queries", "error": "relevant queries"}
"""The queries that either rate is about."""
DECISIONS = {
    "hallucination": {"answered": "wrong decision: answers", "abstained": "correct decision: abstains"},
    "error": {"abstained": "wrong decision: abstains", "answered": "correct decision: answers"},
}
"""Names of the outcomes that are decisions, by rate; the wrong one first."""
NAMED = 16
"""Maximum number of named marks of the trade-off: those in focus and the first of the rows. A hover names each."""
SAID = (
    *("value", "low", "high", "rate", "rate_as_published", "undecided", "n", "reason"),
    *("corrected", "corrected_low", "corrected_high", "audited"),
)
"""Fields of a rate used in hover texts."""
_PATTERNS = {"clarification": "-", "unparsed": "/", "empty": ".", "api_error": "x", "missing": "|"}
_EDGE = 0.035
"""What the axes show below 0 and above 1, so that marks at the ends stay whole."""
_ROOM = (0.5, 0.045)
"""Distance between two named marks in either rate: the length and the height of a name on a narrow screen."""
_CORNER, _END = "<i>best corner</i>", "<i>ignores the evidence</i>"
"""Names of the lower left corner and of the upper end of the dotted line."""
_rate, _points, _count = (FORMATS[kind].write for kind in ("rate", "points", "count"))


def trade_off(rows: Sequence[Row], *, mode: Mode, focus: Collection[str] = ()) -> dict[str, Any]:
    """Hallucination rate against error rate with both intervals; the best corner is at the bottom left.

    Args:
        rows: rows of `data.Rates.systems`.
        mode: light or dark.
        focus: systems that stand out; none given, all do.
    """
    colors = ink(mode)
    shown = [row for row in rows if row["hallucination_value"] is not None and row["error_value"] is not None]
    # Systems of one colour are one trace, whose whiskers Plotly draws in that colour; those in focus lie on top.
    by_color: dict[tuple[bool, str], list[Row]] = {}
    for row in shown:
        loud = not focus or row["system"] in focus
        by_color.setdefault((loud, family(row["system"]).color(mode) if loud else colors.muted), []).append(row)
    dotted = primitives.lines([0, 1], [1, 0], {"color": colors.muted, "width": 1, "dash": "dot"})
    data = [dotted, _names(shown, mode, focus)]
    for (loud, color), group in sorted(by_color.items(), key=lambda item: item[0][0]):
        across, upright = (
            primitives.whiskers(
                primitives.reaches(group, *(f"{metric}_{end}" for end in ("value", "low", "high"))),
                color,
                thickness=1,
                width=0,
            )
            for metric in RATES
        )
        data.append(
            primitives.dots(
                [row["hallucination_value"] for row in group],
                [row["error_value"] for row in group],
                [_system_hover(row) for row in group],
                {"color": color, "symbol": [family(row["system"]).symbol for row in group], "size": MARK_SIZE},
                clicks=[[row["system"], "", "", ""] for row in group],
                opacity=1 if loud else 0.4,
                error_x=across,
                error_y=upright,
            )
        )
    ends = {"range": [-_EDGE, 1 + _EDGE], "tickvals": (0, 0.25, 0.5, 0.75, 1), "automargin": False}
    x, y = (
        axis(mode, title=f"{title} (lower is better)", tickformat=".0%", zeroline=False, **ends)
        for title in RATES.values()
    )
    none = {"x": 0.5, "y": 0.5, "text": "<i>no system has both rates</i>", "showarrow": False}
    margin = {"l": FOOT + SPACE, "r": SPACE, "t": SPACE, "b": FOOT}
    return {
        "data": data,
        "layout": layout(
            mode, height=366 + SPACE + FOOT, margin=margin, xaxis=x, yaxis=y, annotations=[] if shown else [none]
        ),
    }


def _names(rows: Sequence[Row], mode: Mode, focus: Collection[str]) -> primitives.Trace:
    """Name the marks beside which no other name stands: those in focus first, then in the order of the rows.

    Returns:
        One trace without hover, so that no name takes a click from its mark. The names of the best corner and of the
        end of the dotted line come last.
    """
    colors = ink(mode)
    ordered = sorted(rows, key=lambda row: row["system"] not in focus)[:NAMED]
    named: list[tuple[float, float, str, str]] = []
    for x, y, name, color in (
        *(
            (
                row["hallucination_value"],
                row["error_value"],
                label_text(f"  {row['system']}  "),
                colors.text if not focus or row["system"] in focus else colors.muted,
            )
            for row in ordered
        ),
        (0, 0, _CORNER, colors.muted),
        (0, 1, _END, colors.muted),
    ):
        if all(abs(x - other[0]) > _ROOM[0] or abs(y - other[1]) > _ROOM[1] for other in named):
            named.append((x, y, name, color))
    # The dotted line and the grid stop at a name.
    font = {"size": 11, "color": [mark[3] for mark in named], "shadow": ", ".join([f"0 0 2px {colors.ground}"] * 4)}
    return primitives.lines(
        [mark[0] for mark in named],
        [mark[1] for mark in named],
        {},
        mode="text",
        text=[mark[2] for mark in named],
        textposition=["middle right" if mark[0] < 0.5 else "middle left" for mark in named],
        textfont=font,
        cliponaxis=False,
    )


def rate_map(
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
        rows: rows of `data.Rates.cells`.
        systems: order of the rows, that of the table.
        languages: the columns; one without cells stays hollow.
        metric: which rate.
        mode: light or dark.
        value: `value` for the rate, `difference` for ours as published minus the printed figure, in points.
    """
    by_cell = {(row["system"], row["language"]): row for row in rows if row["metric"] == metric}
    drawn = {(system, code): by_cell.get((system, code), {}).get(value) for system in systems for code in languages}
    largest = max((abs(v) for v in drawn.values() if v is not None), default=0) or 1.0

    def cell(system: str, code: str, v: float | None) -> MapCell:
        text, shade = "–", None
        if v is not None and value == "value":
            text, shade = f"{100 * v:.1f}", v
        elif v is not None:
            # The ramp runs from best to worst. No difference from the print is its pale end.
            text, shade = _points(v) if v else "0", 1 - abs(v) / largest
        hover = _cell_hover(by_cell.get((system, code)), system, code, metric)
        return MapCell(code, system, text, hover, [system, code, metric, ""], shade)

    cells = [cell(system, code, v) for (system, code), v in drawn.items()]
    return language_map(cells, languages=languages, rows={system: system for system in systems}, mode=mode)


def rates_by_language(
    rows: Sequence[Row], *, systems: Sequence[str], languages: Sequence[str], metric: str, mode: Mode
) -> dict[str, Any]:
    """Draw one rate of a few systems by language, with intervals.

    Args:
        rows: rows of `data.Rates.cells`.
        systems: a few systems, top to bottom within a language.
        languages: the rows.
        metric: which rate.
        mode: light or dark.
    """
    series: dict[str, list[WhiskerMark]] = {system: [] for system in systems}
    for row in rows:
        code, system = row["language"], row["system"]
        if row["metric"] == metric and system in series and code in languages and row["value"] is not None:
            hover = _cell_hover(row, system, code, metric)
            click = [system, code, metric, ""]
            mark = WhiskerMark(languages.index(code), row["value"], row["low"], row["high"], hover, click)
            series[system].append(mark)
    title = f"{RATES[metric]} (lower is better)"
    xaxis = axis(mode, title=title, tickformat=".0%", zeroline=False, range=[-0.02, 1.02], dtick=0.25)
    return whisker_rows(series, rows=[scope_name(code) for code in languages], xaxis=xaxis, mode=mode)


def outcome_shares(rows: Sequence[Row], *, systems: Sequence[str], metric: str, mode: Mode) -> dict[str, Any]:
    """Draw the shares of the outcomes on one subset: wrong decisions first, then undecided, then correct.

    Args:
        rows: rows of `data.Rates.cells`.
        systems: order of the rows, that of the table.
        metric: whose subset.
        mode: light or dark.
    """
    joint = {row["system"]: row for row in rows if row["metric"] == metric and row["language"] == "all"}
    shown = [system for system in systems if system in joint]
    wrong, right = DECISIONS[metric]
    order = (wrong, *UNDECIDED, "missing", right)
    total = {system: sum(joint[system][outcome] for outcome in order) for system in shown}
    parts = []
    for outcome in order:
        shares = [joint[system][outcome] / total[system] if total[system] else 0 for system in shown]
        title = DECISIONS[metric].get(outcome) or outcome.replace("_", " ").replace("api", "API")
        hovers = [
            f"<b>{label_text(system)}</b>, {QUERIES[metric]}<br>{title}: {_rate(share)}<br>"
            f"{_count(joint[system][outcome])} of {_count(total[system])} queries"
            for system, share in zip(shown, shares, strict=True)
        ]
        place = {"answered": 0, "abstained": 1}.get(outcome)
        parts.append(
            BarPart(
                title,
                ink(mode).line if place is None else ink(mode).ramp[place][1],
                shares,
                hovers,
                [[system, "", metric, outcome] for system in shown],
                _PATTERNS.get(outcome, ""),
                [_rate(share) if share >= 0.12 and place is not None else "" for share in shares],
                on_ramp(mode, (place or 0) / 2),
            )
        )
    return stacked_shares(parts, rows=shown, title=f"Share of the {QUERIES[metric]}", mode=mode)


def cause_shares(rows: Sequence[Row], *, systems: Sequence[str], mode: Mode) -> dict[str, Any]:
    """Draw the shares of the causes of every system's answers; a click yields system and cause.

    Args:
        rows: `retrieval.CauseShare` of every system in one language, or over all.
        systems: order of the bars.
        mode: light or dark.
    """
    colors = ink(mode)
    looks = {
        "right": (colors.ramp[0][1], ""),
        "right_refusal": (colors.ramp[1][1], ""),
        "ignored": (colors.chosen, ""),
        "other_language": (colors.chosen, "-"),
        "unused_language": (colors.chosen, "|"),
        "unsupported": (colors.chosen, "/"),
        "not_retrieved": (colors.muted, ""),
    }
    by_key = {(row["system"], row["cause"]): row for row in rows}
    parts = []
    for cause, (fill, pattern) in looks.items():
        own = [by_key.get((system, cause)) for system in systems]
        hovers = [
            ""
            if row is None
            else f"<b>{label_text(row['system'])}</b><br>{TITLES[cause]}: {_rate(row['share'])}, "
            f"95% {span(row['low'], row['high'], 'rate')}<br>{row['k']:,} of {row['n']:,} decided answers"
            for row in own
        ]
        shares = [row["share"] if row else 0.0 for row in own]
        clicks = [[system, cause] for system in systems]
        parts.append(BarPart(TITLES[cause], fill, shares, hovers, clicks, pattern))
    return stacked_shares(parts, rows=systems, title="Share of the decided answers", mode=mode)


def risk_coverage(curves: Mapping[str, Sequence[Row]], *, mode: Mode) -> dict[str, Any]:
    """Draw the error rate against the share of answers given, one line per system, with the 95% band of the first.

    Args:
        curves: by system `coverage, risk, low, high, n` of every point, coverage rising.
        mode: light or dark.
    """
    data: list[dict[str, Any]] = []
    for system, points in curves.items():
        look, color = family(system), family(system).color(mode)
        if not data and (band := [point for point in points if point["low"] is not None]):
            across = [point["coverage"] for point in band]
            ends = [point["high"] for point in band], [point["low"] for point in reversed(band)]
            fill = {"fill": "toself", "fillcolor": color, "opacity": 0.16, "showlegend": False}
            data.append(primitives.lines([*across, *reversed(across)], [*ends[0], *ends[1]], {"width": 0}, **fill))
        hover = [
            f"<b>{label_text(system)}</b><br>{_rate(point['coverage'])} given: {_rate(point['risk'])} wrong decisions"
            + ("" if point["low"] is None else f", 95% {span(point['low'], point['high'], 'rate')}")
            + f"<br>n = {point['n']:,} answers"
            for point in points
        ]
        data.append(
            primitives.dots(
                [point["coverage"] for point in points],
                [point["risk"] for point in points],
                hover,
                {"color": color, "symbol": look.symbol, "size": MARK_SIZE / 2},
                field="hovertext",
                mode="lines+markers",
                name=label_text(system),
                line={"color": color, "width": 2},
            )
        )
    return {
        "data": data,
        "layout": layout(
            mode,
            height=340,
            margin={"l": 7 * SPACE, "r": SPACE, "t": 4 * SPACE, "b": 6 * SPACE},
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "itemclick": False},
            xaxis=axis(mode, title="coverage: share of the answers that are given", tickformat=".0%", range=[0, 1.03]),
            yaxis=axis(mode, title="error rate among answered", tickformat=".0%", rangemode="tozero"),
        ),
    }


def _system_hover(row: Row) -> str:
    """Return the hover text of a system, from a row of `Rates.systems`."""
    lines = [f"<b>{label_text(row['system'])}</b> ({family(row['system']).name})"]
    for metric in RATES:
        cell = {key: row.get(f"{metric}_{key}") for key in SAID}
        lines += _rate_lines(cell, metric)
        if cell["n"]:
            lines.append(f"n = {_count(cell['n'])} answers to {QUERIES[metric]}")
    return "<br>".join(lines)


def _cell_hover(cell: Row | None, system: str, language: str, metric: str) -> str:
    """Return the hover text of one rate of a system in a language, from a row of `Rates.cells` or None."""
    lines = [f"<b>{label_text(system)}</b>, {name_of(language)}, {QUERIES[metric]}"]
    if cell is None:
        return "<br>".join([*lines, "no answers in this arena"])
    lines += _rate_lines(cell, metric)
    if cell["n"]:
        lines.append(
            f"n = {_count(cell['n'])} answers: {_count(cell['answered'])} answered, "
            f"{_count(cell['abstained'])} abstained, {_count(cell['n'] - cell['decided'])} undecided"
        )
    if cell["printed"] is not None:
        lines.append(f"printed in the paper: {_rate(cell['printed'])}")
        if (difference := cell["difference"]) is not None:
            off = f"is {_points(difference)} points off" if difference else "agrees"
            lines[-1] += f"; ours as published {off}"
    return "<br>".join(lines)


def _rate_lines(cell: Row, metric: str) -> list[str]:
    """Describe a rate: value, interval, both definitions and the undecided share; or why it is missing."""
    title = RATES[metric].lower()

    def interval(low: float, high: float) -> str:
        return f", 95% interval {span(low, high, 'rate')}"

    if cell["value"] is None:
        lines = [f"no {title}: {cell['reason'] or 'no answers in this arena'}"]
    else:
        ends = "" if cell["low"] is None else interval(cell["low"], cell["high"])
        lines = [f"{title} {_rate(cell['value'])}{ends}"]
    if cell.get("corrected") is not None:
        ends = interval(cell["corrected_low"], cell["corrected_high"])
        value = _rate(cell["corrected"])
        lines.append(f"corrected for label errors {value}{ends}, {_count(cell['audited'])} labels audited")
    if cell["n"]:
        both = f"decided {_rate(cell['rate'])}, as published {_rate(cell['rate_as_published'])}"
        lines.append(f"{both}, undecided answers {_rate(cell['undecided'])}")
    return lines
