"""The Judges page's charts: one measure by language and judge, and the agreement of every two judges."""

from collections.abc import Sequence
from typing import Any

from mirage.people.exam import Measure
from mirage.publish.charts import primitives
from mirage.publish.charts.figures import LEGEND, SIDE, MapCell, WhiskerMark, cell_map, shades, vline, whisker_rows
from mirage.publish.charts.palette import FORMATS, ROW, Mode, axis, label_text, span
from mirage.text.languages import scope_name
from mirage.views.cache import memoize
from mirage.views.exam import ExamView, JudgePair


@memoize
def measure_figure(view: ExamView, measure: Measure, _mode: Mode) -> dict[str, Any]:
    """Draw one measure with 95% intervals: a row per language, with the judges side by side. A hollow mark is a value
    without an interval, a broken line a perfect judge.
    """
    write = FORMATS[measure.written].write
    rows = [row for row in view.rows if row.language in view.languages]
    known = [(row, mark, mark.value) for row in rows if (mark := row.measures[measure.name]).value is not None]
    judges = list(dict.fromkeys(row.judge for row, *_ in known))
    series: dict[str, list[WhiskerMark]] = {judge: [] for judge in judges}
    languages = [code for code in view.languages if code in {row.language for row, *_ in known}]
    ends = [] if measure.fair is None else [measure.fair]
    for row, mark, value in known:
        interval = f"<br>no interval: {label_text(mark.reason or 'too few queries')}"
        if mark.low is not None and mark.high is not None:
            interval = f" ({write(mark.low)} to {write(mark.high)})"
        hover = f"<b>{label_text(row.judge)}</b>, {label_text(row.language)}<br>{write(value)}{interval}<br>"
        hover += f"n = {mark.n:,}"
        beside = (judges.index(row.judge) - (len(judges) - 1) / 2) * 0.7 / len(judges)
        place, about = languages.index(row.language) + beside, [row.judge, row.language]
        series[row.judge].append(
            WhiskerMark(place, row.judge, value, mark.low, mark.high, hover, about, mark.low is not None)
        )
        ends += [end for end in (value, mark.low, mark.high) if end is not None]
    low, high = _range(ends)
    places = primitives.ticks(low, high, 6)
    texts = [f"{100 * place:g}%" if measure.written == "rate" else f"{place:+g}" for place in places]
    title = label_text(measure.title)
    return whisker_rows(
        series,
        [scope_name(code) for code in languages],
        axis(title=title, tickvals=places, ticktext=texts, zeroline=False, range=[low, high]),
        row=max(ROW - 6, 12 * len(judges) + 6),
        showlegend=len(judges) > 1,
        legend=LEGEND,
        shapes=[] if measure.fair is None else [vline(measure.fair)],
    )


def _range(ends: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis, never so near that noise looks like a difference."""
    low, high = min(ends), max(ends)
    widening = max(0.0, 0.1 - (high - low)) / 2
    margin = 0.04 * max(high - low, 0.1)
    return low - (0 if low == 0 else widening) - margin, high + (2 * widening if low == 0 else widening) + margin


def agreement_matrix(pairs: Sequence[JudgePair]) -> dict[str, Any]:
    """Draw the share of battles with the same decision of every two judges as square marks.

    Args:
        pairs: each two who were compared, both of one name where people are compared with each other.
    """
    names = sorted(
        {name for pair in pairs for name in (pair.one, pair.other)}, key=lambda name: (name == "people", name)
    )
    sides = [(pair.one, pair.other, pair) for pair in pairs]
    sides += [(b, a, pair) for a, b, pair in sides if a != b]
    cells = []
    for (a, b, pair), shade in zip(sides, shades([pair.agree for *_, pair in sides]), strict=True):
        interval = "" if pair.low is None else f" ({span(pair.low, pair.high, 'rate')})"
        share, kappa = FORMATS["rate"].write(pair.agree), FORMATS["probability"].write(pair.kappa)
        head = f"<b>{label_text(a)}</b> and <b>{label_text(b)}</b>"
        hover = f"{head}<br>agree on {share}{interval}<br>kappa {kappa}<br>n = {pair.n:,}"
        cells.append(MapCell(b, a, f"{100 * pair.agree:.0f}", hover, [a, b], shade))
    labels = {name: name for name in names}
    return cell_map(cells, columns=labels, rows=labels, side=SIDE)
