"""Figures of the Hallucination page: the trade-off of the two rates, rates by language, shares of causes,
pairs of languages.

A clicked mark yields `[system, language, metric, outcome]`, each empty where the mark is about all of them.
"""

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import (
    FOOT,
    SIDE,
    BarPart,
    MapCell,
    cell_map,
    shades,
    stacked_shares,
)
from mirage.publish.charts.palette import (
    FORMATS,
    MARK_SIZE,
    SPACE,
    Mode,
    axis,
    family,
    ink,
    ink_on,
    label_text,
    layout,
    span,
)
from mirage.text.languages import in_order, name_of, scope_name
from mirage.views.cache import memoize
from mirage.views.causes import TITLES
from mirage.views.rates import QUERIES, RatesView
from mirage.views.rates import TITLES as RATES

Row = Mapping[str, Any]
"""A row of `RatesView.systems` or `RatesView.cells`."""

FEW = 10
"""n below which a share is drawn hollow: its 95% interval is about 50 points wide."""
NAMED = 16
"""Maximum number of named marks of the trade-off: those in focus and the first of the rows."""
_EDGE = 0.035
"""Margin of the axes below 0 and above 1, so that marks at the ends are not cut."""
_LEAST, _LETTER, _LINE = 0.1, 0.022, 0.05
"""The least room for a name, so that it is not taken for that of the next mark, the length of a letter, and the height
of a name, in either rate.
"""
_rate, _points, _count = (FORMATS[kind].write for kind in ("rate", "points", "count"))


@memoize
def trade_off(rates: RatesView, focus: tuple[str, ...], _mode: Mode) -> dict[str, Any]:
    """Draw hallucination rate against error rate with both intervals; the best corner is at the bottom left.

    Args:
        rates: the rates.
        focus: systems to highlight; none for all.
    """
    rows, cells = rates.systems.to_pylist(), rates.cells.to_pylist()
    colors = ink()
    by_rate = {(cell["system"], cell["metric"]): cell for cell in cells if cell["language"] == "all"}
    shown = [row for row in rows if row["hallucination_value"] is not None and row["error_value"] is not None]
    data = []
    for row in sorted(shown, key=lambda row: row["system"] in focus):
        system, look = row["system"], family(row["system"])
        loud = not focus or system in focus
        color = look.color if loud else colors.muted
        across, upright = (
            primitives.whiskers(
                primitives.whisker_lengths([row], *(f"{metric}_{end}" for end in ("value", "low", "high"))),
                color,
                thickness=1,
                width=0,
            )
            for metric in RATES
        )
        data.append(
            primitives.dots(
                [row["hallucination_value"]],
                [row["error_value"]],
                [_system_hover(system, by_rate)],
                {"color": color, "symbol": look.symbol, "size": MARK_SIZE + 1},
                clicks=[[system, "", "", ""]],
                opacity=1 if loud else 0.4,
                error_x=across,
                error_y=upright,
            )
        )
    ends = {"range": [-_EDGE, 1 + 2 * _EDGE], "tickvals": (0, 0.25, 0.5, 0.75, 1), "automargin": False}
    x, y = (
        axis(title=f"{title} (lower is better)", tickformat=".0%", zeroline=False, **ends) for title in RATES.values()
    )
    none = {"x": 0.5, "y": 0.5, "text": "<i>no system has both rates</i>", "showarrow": False}
    margin = {"l": FOOT + SPACE, "r": SPACE, "t": SPACE, "b": FOOT}
    return {
        "data": [*data, _names(shown, focus)],
        "layout": layout(
            height=366 + SPACE + FOOT, margin=margin, xaxis=x, yaxis=y, annotations=[] if shown else [none]
        ),
    }


def _names(rows: Sequence[Row], focus: Collection[str]) -> primitives.Trace:
    """Name the marks with room for a name in one of their corners: those in focus first, then in row order.

    Returns:
        One trace without hover, so that no name takes a click from its mark.
    """
    colors = ink()
    taken = [(row["hallucination_value"], row["error_value"], row["system"]) for row in rows]
    named: list[tuple[float, float, str, str, str]] = []
    for row in sorted(rows, key=lambda row: row["system"] not in focus)[:NAMED]:
        x, y, system = row["hallucination_value"], row["error_value"], row["system"]
        room, inwards = max(_LEAST, _LETTER * len(system)), 1 if x < 0.5 else -1
        for upright, side in itertools.product((1, -1), (inwards, -inwards)):
            inside = -_EDGE < x + side * room < 1 + 2 * _EDGE and -_EDGE < y + upright * _LINE < 1 + 2 * _EDGE
            if inside and not any(
                owner != system
                and -_LINE / 2 < (across - x) * side < room
                and -_LINE / 2 < (up - y) * upright < 1.5 * _LINE
                for across, up, owner in taken
            ):
                color = colors.text if not focus or system in focus else colors.muted
                place = f"{'top' if upright > 0 else 'bottom'} {'right' if side > 0 else 'left'}"
                named.append((x, y, label_text(f" {system} "), color, place))
                taken += [(x + side * room * share, y + upright * _LINE, system) for share in (0.2, 0.4, 0.6, 0.8, 1)]
                break
    font = {"size": 11, "color": [mark[3] for mark in named], "shadow": ", ".join([f"0 0 2px {colors.ground}"] * 4)}
    return primitives.lines(
        [mark[0] for mark in named],
        [mark[1] for mark in named],
        {},
        mode="text",
        text=[mark[2] for mark in named],
        textposition=[mark[4] for mark in named],
        textfont=font,
        cliponaxis=False,
    )


@memoize
def rate_map(
    rates: RatesView, systems: tuple[str, ...], languages: tuple[str, ...], metric: str, _mode: Mode
) -> dict[str, Any]:
    """Draw one rate by language (columns) and system (rows) as squares; a cell without a value, or from fewer than
    `FEW` queries, is hollow.

    Args:
        rates: the rates.
        systems: order of the rows, that of the table.
        languages: the columns; one without cells stays hollow.
        metric: which rate.
    """
    rows = rates.everything.to_pylist()
    by_cell = {(row["system"], row["language"]): row for row in rows if row["metric"] == metric}

    def cell(system: str, code: str) -> MapCell:
        row = by_cell.get((system, code))
        value = row["value"] if row else None
        text = "–" if value is None else f"{100 * value:.0f}"
        shade = None if row and is_few(row) else value
        return MapCell(code, system, text, _cell_hover(row, system, code, metric), [system, code, metric, ""], shade)

    cells = [cell(system, code) for system in systems for code in languages]
    columns = {code: scope_name(code) for code in languages}
    return cell_map(cells, columns=columns, rows={system: system for system in systems})


def is_few(cell: Row) -> bool:
    """Return whether a rate is from fewer than `FEW` queries; printed rates have no n."""
    return bool(cell["answers"]) and cell["n"] < FEW


def cause_shares(rows: Sequence[Row], *, systems: Sequence[str]) -> dict[str, Any]:
    """Draw the shares of the causes of every system's answers; a click yields system and cause.

    Args:
        rows: `retrieval.CauseShare` of every system in one language, or over all.
        systems: order of the bars.
    """
    colors = ink()
    looks = {
        "right": (colors.ramp[0][1], ""),
        "right_refusal": (colors.ramp[1][1], ""),
        "ignored": (colors.chosen, ""),
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
            f"95% {span(row['low'], row['high'], 'rate')}<br>{row['k']:,} of {row['answers']:,} classified answers"
            for row in own
        ]
        shares = [row["share"] if row else 0.0 for row in own]
        clicks = [[system, cause] for system in systems]
        percents = [f"{100 * share:.0f}%" if share >= 0.12 else "" for share in shares]
        parts.append(BarPart(TITLES[cause], fill, shares, hovers, clicks, pattern, percents, ink_on(fill)))
    return stacked_shares(parts, rows=systems, title="Share of the classified answers")


def pair_matrix(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Draw one value per pair of languages as square marks, one row per query language.

    Args:
        rows: `query_language, passage_language, share, low, high, n` of each pair; `all` comes last.
    """
    asked = in_order({row["query_language"] for row in rows})
    passages = {code: name_of(code) for code in sorted({row["passage_language"] for row in rows})}
    queries = {code: scope_name(code) for code in asked}
    cells = []
    for row, ramp in zip(rows, shades([row["share"] for row in rows]), strict=True):
        shade = None if row["n"] < FEW else ramp
        asked_in, given_in = row["query_language"], row["passage_language"]
        interval = f"95% {span(row['low'], row['high'], 'rate')}"
        head = f"<b>{label_text(queries[asked_in])}</b> queries, <b>{label_text(passages[given_in])}</b> passages"
        hover = f"{head}<br>{FORMATS['rate'].write(row['share'])}, {interval}<br>n = {row['n']:,}"
        cells.append(MapCell(given_in, asked_in, f"{100 * row['share']:.0f}", hover, [asked_in, given_in], shade))
    return cell_map(cells, columns=passages, rows=queries, side=SIDE)


def _system_hover(system: str, cells: Mapping[tuple[str, str], Row]) -> str:
    """Return the hover text of a system, from its cells over all languages."""
    lines = [f"<b>{label_text(system)}</b> ({family(system).name})"]
    for metric in RATES:
        cell = cells[system, metric]
        lines += _rate_lines(cell, metric)
        if cell["answers"]:
            lines.append(f"{_count(cell['answers'])} answers to {QUERIES[metric]}")
    return "<br>".join(lines)


def _cell_hover(cell: Row | None, system: str, language: str, metric: str) -> str:
    """Return the hover text of one rate of a system in a language, from a row of `RatesView.cells` or None."""
    lines = [f"<b>{label_text(system)}</b>, {name_of(language)}, {QUERIES[metric]}"]
    if cell is None:
        return "<br>".join([*lines, "no answers in this arena"])
    lines += _rate_lines(cell, metric)
    if cell["answers"]:
        unclassified = cell["answers"] - cell["answered"] - cell["abstained"]
        lines.append(
            f"{_count(cell['answers'])} answers: {_count(cell['answered'])} answered, "
            f"{_count(cell['abstained'])} abstained, {_count(unclassified)} unclassified"
        )
    if cell["printed"] is not None:
        lines.append(f"printed in the paper: {_rate(cell['printed'])}")
        if (difference := cell["difference"]) is not None:
            off = f"is {_points(difference)} points off" if difference else "agrees"
            lines[-1] += f"; ours as published {off}"
    return "<br>".join(lines)


def _rate_lines(cell: Row, metric: str) -> list[str]:
    """Describe a rate: value, interval, both definitions and the unclassified share; or why it is missing."""
    title = RATES[metric].lower()

    def interval(low: float, high: float) -> str:
        return f", 95% interval {span(low, high, 'rate')}"

    if cell["value"] is None:
        lines = [f"no {title}: {cell['reason'] or 'no answers in this arena'}"]
    else:
        ends = "" if cell["low"] is None else interval(cell["low"], cell["high"])
        lines = [
            f"{title} {_rate(cell['value'])}{ends}",
            *([f"mean over {cell['fewer']} languages"] if cell["fewer"] else []),
        ]
    if cell["corrected"] is not None:
        ends = interval(cell["corrected_low"], cell["corrected_high"])
        value = _rate(cell["corrected"])
        lines.append(f"corrected for label errors {value}{ends}, {_count(cell['audited'])} labels audited")
    if cell["answers"]:
        both = f"of classified answers {_rate(cell['rate'])}, as published {_rate(cell['rate_as_published'])}"
        lines.append(f"{both}, unclassified {_rate(cell['unclassified'])}")
    return lines
