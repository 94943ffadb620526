"""Parts shared by the charts of the Hallucination page: labels, axes, whiskers, patterns and hover texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mirage.publish.charts.palette import FORMATS, Mode, axis, family, ink, label_text
from mirage.schema import UNDECIDED
from mirage.text.languages import name_of

Row = Mapping[str, Any]
"""A row of `views.Rates.systems` or `views.Rates.cells`."""

RATES = {"hallucination": "Hallucination rate", "error": "Error rate"}
QUERIES = {"hallucination": "non-relevant queries", "error": "relevant queries"}
"""The queries that either rate is about."""
OUTCOMES = {
    "hallucination": ("answered", *UNDECIDED, "missing", "abstained"),
    "error": ("abstained", *UNDECIDED, "missing", "answered"),
}
"""Outcomes from the wrong decision over undecided to the correct one."""
DECISIONS = {
    "hallucination": {"answered": "wrong decision: answers", "abstained": "correct decision: abstains"},
    "error": {"abstained": "wrong decision: abstains", "answered": "correct decision: answers"},
}
"""Names of the outcomes that are decisions, by rate."""
LABEL = 11
"""Size of remarks and of labels at marks, in pixels."""
QUIET = {"itemclick": False, "itemdoubleclick": False, "orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"}
"""A legend over the plot that cannot be clicked: a hidden bar would be a number that is missing without a word."""

said_rate, said_points, said_count = FORMATS["rate"].write, FORMATS["points"].write, FORMATS["count"].write


def note(x: float, y: float, text: str, mode: Mode, *, anchor: str = "left", **more: object) -> dict[str, Any]:
    """Return an annotation in the secondary text colour."""
    return {
        "x": x,
        "xref": "x",
        "y": y,
        "yref": "paper",
        "xanchor": anchor,
        "yanchor": "bottom",
        "text": f"<i>{text}</i>",
        "showarrow": False,
        "font": {"color": ink(mode).muted, "size": LABEL},
        **more,
    }


def share_axis(mode: Mode, title: str, **more: object) -> dict[str, object]:
    """Return an axis of shares, in percent."""
    return axis(mode, title=title, tickformat=".0%", zeroline=False, **more)


def pattern(shape: str, mode: Mode) -> dict[str, Any]:
    """Return a pattern over a bar's own colour; none for an empty shape."""
    return {"shape": shape, "fgcolor": ink(mode).text, "size": 6, "solidity": 0.2, "fillmode": "overlay"}


def joint_hover(row: Row) -> str:
    """Return the hover text of a system, from a row of `Rates.systems`."""
    lines = [f"<b>{label_text(row['system'])}</b> ({family(row['system']).name})"]
    for metric, title in RATES.items():
        cell = {key: row.get(f"{metric}_{key}") for key in SAID}
        lines += _rate_lines(cell, title)
        if cell["n"]:
            lines.append(f"n = {said_count(cell['n'])} answers to {QUERIES[metric]}")
    return "<br>".join(lines)


def cell_hover(cell: Row | None, system: str, language: str, metric: str) -> str:
    """Return the hover text of one rate of a system in a language, from a row of `Rates.cells` or None."""
    lines = [f"<b>{label_text(system)}</b>, {name_of(language)}, {QUERIES[metric]}"]
    if cell is None:
        return "<br>".join([*lines, "no answers in this arena"])
    lines += _rate_lines(cell, RATES[metric])
    if cell["n"]:
        lines.append(
            f"n = {said_count(cell['n'])} answers: {said_count(cell['answered'])} answered, "
            f"{said_count(cell['abstained'])} abstained, {said_count(cell['n'] - cell['decided'])} undecided"
        )
    if cell["printed"] is not None:
        lines.append(f"printed in the paper: {said_rate(cell['printed'])}")
        if cell["difference"] is not None:
            off = f"is {said_points(cell['difference'])} points off" if cell["difference"] else "agrees"
            lines[-1] += f"; ours as published {off}"
    return "<br>".join(lines)


SAID = (
    *("value", "low", "high", "rate", "rate_as_published", "undecided", "n", "reason"),
    *("corrected", "corrected_low", "corrected_high", "audited"),
)
"""Fields of a rate used in hover texts."""


def _rate_lines(cell: Row, title: str) -> list[str]:
    """Describe a rate: value, interval, both definitions and the undecided share; or why it is missing."""
    if cell["value"] is None:
        lines = [f"no {title.lower()}: {cell['reason'] or 'no answers in this arena'}"]
    else:
        lines = [f"{title.lower()} {said_rate(cell['value'])}"]
        if cell["low"] is not None:
            lines[0] += f", 95% interval {said_rate(cell['low'])} to {said_rate(cell['high'])}"
    if cell.get("corrected") is not None:
        ends = f"{said_rate(cell['corrected_low'])} to {said_rate(cell['corrected_high'])}"
        lines.append(
            f"corrected for label errors {said_rate(cell['corrected'])}, 95% interval {ends}, "
            f"{said_count(cell['audited'])} labels audited"
        )
    if cell["n"]:
        both = f"decided {said_rate(cell['rate'])}, as published {said_rate(cell['rate_as_published'])}"
        lines.append(f"{both}, undecided answers {said_rate(cell['undecided'])}")
    return lines
