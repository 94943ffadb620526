"""The Judges page's charts: one measure by language and judge, and the agreement of every two judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from mirage.explorer.judges.data import JudgeMeasure, rows_in, rows_of
from mirage.people.exam import ExamResult
from mirage.publish.charts import primitives
from mirage.publish.charts.figures import MapCell, WhiskerMark, shades, square_map, whisker_rows
from mirage.publish.charts.palette import FORMATS, Mode, axis, label_text, span
from mirage.store import Arena
from mirage.text.languages import scope_name

Row = Mapping[str, Any]


@lru_cache(maxsize=64)
def measure_figure(
    arena: Arena, result: ExamResult | None, slopes: bool, codes: tuple[str, ...], measure: JudgeMeasure, mode: Mode
) -> dict[str, Any]:
    """Return `judge_figure` of the page's rows (`rows_of`) in some languages."""
    return judge_figure(rows_in(rows_of(arena, result, slopes=slopes), languages=codes), measure, codes, mode)


def judge_figure(rows: Sequence[Row], measure: JudgeMeasure, codes: Sequence[str], mode: Mode) -> dict[str, Any]:
    """Draw one measure with 95% intervals, one row per language, with the judges side by side in it.

    Args:
        rows: `judge, language`, and the measure with `_low`, `_high`, `_n` and `_reason`; a row without a value is not
            drawn, one without an interval is hollow.
        measure: the measure; a broken line marks where a judge without fault would stand.
        codes: the languages of the rows, top to bottom; those without a value are not drawn.
        mode: light or dark.
    """
    name = measure.name
    write = FORMATS["rate" if measure.unit == "rate" else "rating"].write
    known = [row for row in rows if row[name] is not None]
    series: dict[str, list[WhiskerMark]] = {row["judge"]: [] for row in known}
    languages = [code for code in codes if code in {row["language"] for row in known}]
    ends = [] if measure.fair is None else [measure.fair]
    for row in known:
        value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
        judge, code = row["judge"], row["language"]
        interval = f" ({write(low)} to {write(high)})"
        if low is None:
            interval = f"<br>no interval: {label_text(row[f'{name}_reason'] or 'too few queries')}"
        hover = f"<b>{label_text(judge)}</b>, {label_text(code)}<br>{write(value)}{interval}<br>"
        hover += f"n = {row[f'{name}_n']:,}"
        mark = WhiskerMark(languages.index(code), value, low, high, hover, [judge, code], low is not None)
        series[judge].append(mark)
        ends += [end for end in (value, low, high) if end is not None]
    low, high = _range(ends)
    places = primitives.ticks(low, high, 6)
    texts = [f"{100 * place:g}%" if measure.unit == "rate" else f"{place:+g}" for place in places]
    title = label_text(measure.title)
    xaxis = axis(mode, title=title, tickvals=places, ticktext=texts, zeroline=False, range=[low, high])
    return whisker_rows(
        series, rows=[scope_name(code) for code in languages], xaxis=xaxis, mode=mode, line=measure.fair
    )


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
