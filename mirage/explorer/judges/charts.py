"""The Judges page's charts: one measure by language and judge, and the agreement of every two judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import MapCell, WhiskerMark, shades, square_map, whisker_rows
from mirage.publish.charts.palette import FORMATS, Mode, axis, label_text, span
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
        rows: `judge, language`, and the measure with `_low`, `_high`, `_n` and `_reason`; a row without a value is not
            drawn, one without an interval, or whose `enough` is false, is hollow.
        measure: name of the measure's column.
        judges: order within a language.
        languages: the rows, top to bottom.
        title: title of the axis.
        unit: `rate` or `logits`.
        fair: where a judge without fault would stand; a broken line.
        mode: light or dark.
    """
    write = FORMATS["rate" if unit == "rate" else "rating"].write
    series: dict[str, list[WhiskerMark]] = {judge: [] for judge in judges}
    ends = [] if fair is None else [fair]
    for row in rows:
        value, low, high = (row[f"{measure}{end}"] for end in ("", "_low", "_high"))
        judge, code = row["judge"], row["language"]
        if value is None or judge not in series or code not in languages:
            continue
        interval = f" ({write(low)} to {write(high)})"
        if low is None:
            interval = f"<br>no interval: {label_text(row.get(measure + '_reason') or 'too few queries')}"
        hover = f"<b>{label_text(judge)}</b>, {label_text(code)}<br>{write(value)}{interval}<br>"
        hover += f"n = {row[measure + '_n']:,}"
        enough = low is not None and row.get("enough", True)
        mark = WhiskerMark(languages.index(code), value, low, high, hover, [judge, code], enough)
        series[judge].append(mark)
        ends += [end for end in (value, low, high) if end is not None]
    low, high = _range(ends)
    places = primitives.ticks(low, high, 6)
    texts = [f"{100 * place:g}%" if unit == "rate" else f"{place:+g}" for place in places]
    xaxis = axis(mode, title=label_text(title), tickvals=places, ticktext=texts, zeroline=False, range=[low, high])
    return whisker_rows(series, rows=[scope_name(code) for code in languages], xaxis=xaxis, mode=mode, line=fair)


def _range(ends: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis, never so near that noise looks like a difference."""
    low, high = min(ends), max(ends)
    widening = max(0.0, 0.1 - (high - low)) / 2
    margin = 0.04 * max(high - low, 0.1)
    return low - (0 if low == 0 else widening) - margin, high + (2 * widening if low == 0 else widening) + margin


def agreement_matrix(rows: Sequence[Row], *, mode: Mode) -> dict[str, Any]:
    """Draw the share of battles with the same decision of every two judges as square marks.

    Args:
        rows: `one, judge, raw, raw_low, raw_high, kappa, n` of each two who were compared, both of one where people
            are compared with each other; a row without a value is not drawn.
        mode: light or dark.
    """
    known = [row for row in rows if row["raw"] is not None]
    names = sorted({row[side] for row in known for side in ("one", "judge")}, key=lambda name: (name == "people", name))
    sides = [(row["one"], row["judge"], row) for row in known]
    sides += [(b, a, row) for a, b, row in sides if a != b]
    cells = []
    for (a, b, row), shade in zip(sides, shades([row["raw"] for _, _, row in sides]), strict=True):
        interval = "" if row["raw_low"] is None else f" ({span(row['raw_low'], row['raw_high'], 'rate')})"
        share, kappa = FORMATS["rate"].write(row["raw"]), FORMATS["probability"].write(row["kappa"])
        head = f"<b>{label_text(a)}</b> and <b>{label_text(b)}</b>"
        hover = f"{head}<br>agree on {share}{interval}<br>kappa {kappa}<br>n = {row['n']:,}"
        cells.append(MapCell(b, a, f"{100 * row['raw']:.0f}", hover, [a, b], shade))
    labels = {name: name for name in names}
    return square_map(cells, columns=labels, rows=labels, left=200, right=90, head=118, mode=mode)
