"""Figures of the Features page: a lollipop panel per feature, and correlations of features with ratings."""

from collections.abc import Sequence
from itertools import accumulate
from textwrap import wrap
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import MapCell, cell_map
from mirage.publish.charts.palette import (
    MARK_SIZE,
    SPACE,
    TEXT_SIZE,
    Mode,
    axis,
    columns_width,
    family,
    ink,
    label_text,
    layout,
)
from mirage.stages.features.families import FEATURES
from mirage.stages.features.means import FeatureMean
from mirage.stages.features.relations import Relation
from mirage.text.languages import is_code, name_of, scope_name
from mirage.text.numbers import three_digits
from mirage.views.cache import memoize
from mirage.views.features import FeaturesView, feature_title, range_of, tau_text

PANEL, _HEAD, _LANGUAGES = 104, 38, 50
"""Heights in pixels: a panel, the title of the next one, and the names of the languages."""
NAMED = 4
"""The languages are named under every fourth panel, from the first: the panels share their columns, and to draw the
names takes the browser longer than the marks.
"""
_COLUMN, _STEP = 0.8, 0.36
"""Width of a language's column, and the most between two systems in it, in columns."""
_LEAST = 0.1
"""Smallest extent of a value axis as a share of the feature's range."""
_LEFT, _TOP = 60, 26
"""Margins for the axis values and the first panel's title, in pixels."""
_WRAP = 90
"""Line length of a definition shown on hover, in characters."""


def direction_text(feature: str) -> str:
    """Return which direction is better, in words."""
    direction = FEATURES[feature].direction if feature in FEATURES else "none"
    return "neither is better" if direction == "none" else f"{direction} is better"


def value_text(value: float | None) -> str:
    """Format a feature value with three significant digits."""
    if value is None:
        return "–"
    return three_digits(value).replace("-", "−")


def facts_text(feature: str) -> str:
    """Describe the range, unit and direction of a feature's values."""
    spec = FEATURES.get(feature)
    if spec is None:
        return "unknown to this version of mirage"
    low = "" if spec.low is None else f"from {spec.low:g}" if spec.high is None else f"{spec.low:g} to {spec.high:g}"
    return ", ".join(filter(None, (low, spec.unit, "" if spec.direction == "none" else direction_text(feature))))


@memoize
def panels(shown: FeaturesView, features: tuple[str, ...], focus: tuple[str, ...], _mode: Mode) -> dict[str, Any]:
    """Draw a panel per feature: by language the range and mean of all systems, and a lollipop for each in focus.

    The panels are stacked, so that a language is the same column in all of them. A click on a dot yields its
    system, language and feature.

    Args:
        shown: the means, over all languages of the view.
        features: the panels, top to bottom; at least one.
        focus: systems that are drawn one by one, left to right within a column.
    """
    languages = shown.languages
    named = [k % NAMED == 0 for k in range(len(features))]
    offsets = list(accumulate((PANEL + _HEAD + _LANGUAGES * names for names in named), initial=0))
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    heads = []
    for k, feature in enumerate(features):
        number = str(k + 1) if k else ""
        top = 1 - offsets[k] / offsets[-1]
        place = {"xaxis": f"x{number}", "yaxis": f"y{number}"} if number else {}
        rows = [row for row in shown.by_feature[feature] if row.mean is not None and row.language in languages]
        data += [trace | place for trace in _panel(rows, feature, languages, focus)]
        low, high = value_range(feature, [row.mean for row in rows if row.mean is not None])
        # Half a mark has room on both sides.
        room = (high - low) * MARK_SIZE / PANEL
        low, high = low - room, high + room
        axes[f"xaxis{number}"] = axis(
            automargin=False,
            anchor=f"y{number}",
            tickvals=list(range(len(languages))),
            ticktext=[scope_name(code) for code in languages],
            tickangle=0 if len(languages) <= 6 else -40,
            tickfont={"color": ink().muted, "size": 10 if len(languages) > 12 else TEXT_SIZE},
            range=[-0.7, max(len(languages), 6) - 0.3],
            showgrid=False,
            zeroline=False,
            showticklabels=named[k],
        )
        axes[f"yaxis{number}"] = axis(
            automargin=False,
            anchor=f"x{number}",
            domain=[max(0.0, top - PANEL / offsets[-1]), top],
            range=[low, high],
            tickvals=primitives.ticks(low, high, 4),
            zeroline=True,
        )
        heads.append(_head(feature, top))
    return {
        "data": data,
        "layout": layout(
            height=_TOP + offsets[-1],
            **columns_width(len(languages)),
            # Plotly draws a chart twice when it measures the margins.
            margin={"l": _LEFT, "r": SPACE, "t": _TOP, "b": 0},
            annotations=heads,
            **axes,
        ),
    }


def _head(feature: str, top: float) -> dict[str, Any]:
    """Return name, range and direction of a feature above its panel; its definition is on hover."""
    facts = f'<span style="color:{ink().muted}">{label_text(facts_text(feature))}</span>'
    head = {
        "text": f"<b>{label_text(feature_title(feature))}</b>  {facts}",
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": top,
        "xshift": SPACE - _LEFT,
        "yshift": SPACE // 2,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
    }
    if spec := FEATURES.get(feature):
        head["hovertext"] = "<br>".join(wrap(label_text(f"{spec.meaning} {spec.source}"), _WRAP))
    return head


def value_range(feature: str, means: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a feature's axis: from 0 if its values begin there, and never so near that small differences
    fill the panel: at least a tenth of the range, one unit where the range is open, a tenth of the values where the
    feature is not declared.

    Args:
        feature: its name.
        means: what is drawn.
    """
    spec = FEATURES.get(feature)
    floor, ceiling = (spec.low, spec.high) if spec else (None, None)
    low, high = min(means, default=0.0), max(means, default=1.0)
    low = min(low, 0.0) if floor == 0 else low
    if spec is None:
        least = _LEAST * max(abs(low), abs(high)) or 1.0
    else:
        least = 1.0 if floor is None or ceiling is None else _LEAST * (ceiling - floor)
    if (lacking := least - (high - low)) > 0:
        low, high = low - lacking / 2, high + lacking / 2
        if floor is not None and low < floor:
            low, high = floor, high + floor - low
        if ceiling is not None and high > ceiling:
            low, high = low + ceiling - high, ceiling
    return low, high


def is_telling(rows: Sequence[FeatureMean], feature: str) -> bool:
    """Return whether the means of a feature differ by more than a hundredth of its axis (`value_range`)."""
    means = [row.mean for row in rows if row.mean is not None]
    low, high = value_range(feature, means)
    return max(means) - min(means) > (high - low) / 100


def _panel(
    rows: Sequence[FeatureMean], feature: str, languages: tuple[str, ...], focus: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return the marks of one panel: ranges, means with stems, unseen marks with the hovers of the means, and on top
    the systems in focus.
    """
    colors = ink()
    front = sorted((row for row in rows if row.system in focus), key=lambda row: focus.index(row.system))
    step = min(_COLUMN / max(len(focus), 1), _STEP)
    x = [languages.index(row.language) + (focus.index(row.system) - (len(focus) - 1) / 2) * step for row in front]
    box: tuple[list[float | None], list[float | None]] = [], []
    stem: tuple[list[float | None], list[float | None]] = [], []
    middles: list[tuple[int, float, str]] = []
    for place, code in enumerate(languages):
        means = range_of(row for row in rows if row.language == code)
        if means is None:
            continue
        left, right = place - _COLUMN / 2, place + _COLUMN / 2
        low, high, middle = _round_value(means.low), _round_value(means.high), _round_value(means.mean)
        box[0].extend([left, right, right, left, left, None])
        box[1].extend([low, low, high, high, low, None])
        # One unbroken line, up every stem and back: Plotly draws every part of a broken one by itself.
        marks = sorted((at, _round_value(row.mean)) for at, row in zip(x, front, strict=True) if row.language == code)
        path = [(at, height) for at, mean in marks for height in (middle, mean, middle)]
        stem[0].extend([left, *(at for at, _ in path), right, None])
        stem[1].extend([middle, *(height for _, height in path), middle, None])
        name = name_of(code) if is_code(code) else label_text(code)
        hover = f"<b>{name}</b>, {means.systems:,} systems<br>mean {value_text(middle)}, range {value_text(low)} to "
        middles.append((place, middle, f"{hover}{value_text(high)}"))
    data = [
        primitives.lines(*box, {}, mode="none", fill="toself", fillcolor=colors.line),
        primitives.lines(*stem, {"color": colors.muted, "width": 1.5, "simplify": False}),
        primitives.dots(
            [place for place, _, _ in middles],
            [middle for _, middle, _ in middles],
            [hover for _, _, hover in middles],
            {"symbol": "square", "size": MARK_SIZE, "opacity": 0},
        ),
    ]
    if front:
        styles = [family(row.system) for row in front]
        marker = {
            "color": [style.color for style in styles],
            "symbol": [style.symbol for style in styles],
            "size": MARK_SIZE + 2,
            "line": {"color": colors.ground, "width": 0.75},
        }
        heights, hovers = [_round_value(row.mean) for row in front], [_mean_hover(row) for row in front]
        clicks = [[row.system, row.language, feature] for row in front]
        data.append(primitives.dots(x, heights, hovers, marker, clicks=clicks, cliponaxis=False))
    return data


def _round_value(value: float | None) -> float:
    """Round to drawing precision."""
    return float(f"{value or 0.0:.5g}")


def _mean_hover(row: FeatureMean) -> str:
    """Return the hover text of a dot: system, language, mean, interval and number of queries."""
    interval = "" if row.low is None else f" ({value_text(row.low)} to {value_text(row.high)})"
    return (
        f"<b>{label_text(row.system)}</b><br>{_scope_name(row.language)}: {value_text(row.mean)}{interval}<br>"
        f"n = {row.n:,} of {row.total:,} queries"
    )


def relation_map(rows: Sequence[Relation], *, features: tuple[str, ...], languages: tuple[str, ...]) -> dict[str, Any]:
    """Draw Kendall's tau of each feature (rows) with the rating, by language (columns), as squares.

    The number has the sign; the shade is the absolute value. A cell is hollow if its interval includes 0 or is missing.

    Args:
        rows: one per feature and language.
        features: order of the rows.
        languages: the columns; `all` first, if included.
    """
    by_cell = {(row.feature, row.language): row for row in rows}
    cells = []
    for feature in features:
        for code in languages:
            row = by_cell.get((feature, code))
            # The ramp runs from best to worst: a strong relation is its dark end.
            shade = 1 - abs(row.tau or 0) if row and row.clear else None
            text = tau_text(row.tau if row else None)
            cells.append(MapCell(code, feature, text, _relation_hover(row, feature, code), [feature, code], shade))
    titles = {feature: feature_title(feature) for feature in features}
    columns = {code: scope_name(code) for code in languages}
    return cell_map(cells, columns=columns, rows=titles)


def _scope_name(code: str) -> str:
    return name_of(code) if is_code(code) else "mean over languages"


def _relation_hover(row: Relation | None, feature: str, code: str) -> str:
    head = f"<b>{label_text(feature_title(feature))}</b>, {_scope_name(code)}<br>"
    if row is None or row.tau is None:
        return head + (label_text(row.reason) if row else "no system with a mean and a rating")
    interval = f" ({label_text(row.reason)})" if row.low is None else f" ({tau_text(row.low)} to {tau_text(row.high)})"
    many = f", {row.languages} languages" if code == "all" else ""
    return f"{head}tau-b {tau_text(row.tau)}{interval}<br>n = {row.systems} systems{many}"
