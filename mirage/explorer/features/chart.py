"""Figures of the Features page: lollipop panels, one a feature, and how features go with ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import fmean
from textwrap import wrap
from typing import Any, Protocol

from mirage.publish.charts import primitives
from mirage.publish.charts.leaderboard import FOOT, HEAD
from mirage.publish.charts.palette import (
    MARK_SIZE,
    ROW,
    SPACE,
    TEXT_SIZE,
    Mode,
    axis,
    columns_width,
    family,
    ink,
    label_text,
    language_axis,
    language_room,
    layout,
    rows_axis,
)
from mirage.stages.features import FEATURES, FeatureMean
from mirage.text.languages import is_code, name_of, scope_name


class Tau(Protocol):
    """The correlation of a feature with the rating (`mirage.explorer.features.data.Relation`)."""

    @property
    def feature(self) -> str:
        """The feature."""

    @property
    def language(self) -> str:
        """Code, or `all`."""

    @property
    def tau(self) -> float | None:
        """Kendall's tau-b; null where it has no value."""

    @property
    def low(self) -> float | None:
        """Lower end of its interval; null where it has none."""

    @property
    def high(self) -> float | None:
        """Upper end."""

    @property
    def systems(self) -> int:
        """Systems behind it."""

    @property
    def languages(self) -> int:
        """Languages behind it."""

    @property
    def reason(self) -> str:
        """Return the reason for a missing tau or interval."""

    @property
    def clear(self) -> bool:
        """Return whether the interval excludes 0."""


PANEL, _HEAD, _LANGUAGES = 104, 38, 50
"""Heights in pixels: a panel, the title of the next one, and the names of the languages."""
NAMED = 4
"""The languages are named under every fourth panel, from the first: the panels share their columns, and to draw the
names takes the browser longer than the marks.
"""
_COLUMN, _STEP = 0.8, 0.16
"""Width of a language's column, and the most between two systems in it, in columns."""
_LEAST = 0.1
"""Smallest extent of a value axis as a share of the feature's range."""
_LEFT, _TOP = 60, 26
"""Margins for the axis values and the first panel's title, in pixels."""
_WRAP = 90
"""Line length of a definition shown on hover, in characters."""


def title(feature: str) -> str:
    """Return the display name of a feature."""
    spec = FEATURES.get(feature)
    return spec.title if spec else feature


def direction_text(feature: str) -> str:
    """Return which direction is better, in words."""
    spec = FEATURES.get(feature)
    words = {"higher": "higher is better", "lower": "lower is better", "none": "neither is better"}
    return words[spec.direction if spec else "none"]


def value_text(value: float | None) -> str:
    """Format a feature value with three significant digits."""
    if value is None:
        return "–"
    return (f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}").replace("-", "−")


def facts_text(feature: str) -> str:
    """Describe the range, unit and direction of a feature's values."""
    spec = FEATURES.get(feature)
    if spec is None:
        return "not declared by this version of mirage"
    low = "" if spec.low is None else f"from {spec.low:g}" if spec.high is None else f"{spec.low:g} to {spec.high:g}"
    return ", ".join(filter(None, (low, spec.unit, direction_text(feature))))


def panels(
    by_feature: Mapping[str, tuple[FeatureMean, ...]],
    *,
    features: tuple[str, ...],
    languages: tuple[str, ...],
    focus: tuple[str, ...],
    mode: Mode,
) -> dict[str, Any]:
    """Draw a panel per feature: by language the range and mean of all systems, and a lollipop for each in focus.

    The panels are stacked, so that a language is the same column in all of them. A click on a dot yields its
    system, language and feature.

    Args:
        by_feature: `views.Overview.by_feature`.
        features: the panels, top to bottom; at least one.
        languages: the columns.
        focus: systems that are drawn one by one, left to right within a column.
        mode: light or dark.
    """
    named = [k % NAMED == 0 for k in range(len(features))]
    offsets = list(accumulate((PANEL + _HEAD + _LANGUAGES * languages_named for languages_named in named), initial=0))
    height = _TOP + offsets[-1]
    data: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    heads = []
    for k, feature in enumerate(features):
        number = str(k + 1) if k else ""
        top = 1 - offsets[k] / offsets[-1]
        domain = [max(0.0, top - PANEL / offsets[-1]), top]
        place = {"xaxis": f"x{number}", "yaxis": f"y{number}"} if number else {}
        data += [trace | place for trace in _panel(by_feature[feature], feature, languages, focus, mode)]
        means = [row.mean for row in by_feature[feature] if row.mean is not None and row.language in languages]
        axes[f"xaxis{number}"], axes[f"yaxis{number}"] = _axes(feature, means, languages, domain, number, mode)
        axes[f"xaxis{number}"]["showticklabels"] = named[k]
        heads.append(_head(feature, top, mode))
    return {
        "data": data,
        "layout": layout(
            mode,
            height=height,
            **columns_width(len(languages)),
            # Plotly draws a chart twice when it measures the margins.
            margin={"l": _LEFT, "r": SPACE, "t": _TOP, "b": 0},
            annotations=heads,
            **axes,
        ),
    }


def _head(feature: str, top: float, mode: Mode) -> dict[str, Any]:
    """Name, range and direction of a feature above its panel; its definition on hover."""
    spec = FEATURES.get(feature)
    about = {} if spec is None else {"hovertext": "<br>".join(wrap(label_text(f"{spec.meaning} {spec.source}"), _WRAP))}
    facts = f'<span style="color:{ink(mode).muted}">{label_text(facts_text(feature))}</span>'
    return {
        "text": f"<b>{label_text(title(feature))}</b>  {facts}",
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": top,
        "xshift": SPACE - _LEFT,
        "yshift": SPACE // 2,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        **about,
    }


def _axes(
    feature: str,
    means: Sequence[float],
    languages: tuple[str, ...],
    domain: Sequence[float],
    number: str,
    mode: Mode,
) -> tuple[dict[str, object], dict[str, object]]:
    """The axes of one panel; that of the values leaves room for half a mark on both sides."""
    low, high = value_range(feature, means)
    room = (high - low) * MARK_SIZE / PANEL
    low, high = (0.0 if low == 0 else low - room), high + room
    size = 10 if len(languages) > 12 else TEXT_SIZE
    return axis(
        mode,
        automargin=False,
        anchor=f"y{number}",
        tickvals=list(range(len(languages))),
        ticktext=[scope_name(code) for code in languages],
        tickangle=0 if len(languages) <= 6 else -40,
        tickfont={"color": ink(mode).muted, "size": size},
        range=[-0.7, max(len(languages), 6) - 0.3],
        showgrid=False,
        zeroline=False,
    ), axis(
        mode,
        automargin=False,
        anchor=f"x{number}",
        domain=list(domain),
        range=[low, high],
        tickvals=primitives.ticks(low, high, 4),
        zeroline=True,
    )


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


def _panel(
    rows: tuple[FeatureMean, ...], feature: str, languages: tuple[str, ...], focus: tuple[str, ...], mode: Mode
) -> list[dict[str, Any]]:
    """The marks of one panel, those of the systems in focus on top."""
    place = {code: k for k, code in enumerate(languages)}
    known_rows = [row for row in rows if row.mean is not None and row.language in place]
    by_language = {code: [_short(row.mean) for row in known_rows if row.language == code] for code in languages}
    middle = {code: _short(fmean(means)) for code, means in by_language.items() if means}
    step = min(_COLUMN / max(len(focus), 1), _STEP)
    offset = {system: (k - (len(focus) - 1) / 2) * step for k, system in enumerate(focus)}
    front = sorted((row for row in known_rows if row.system in offset), key=lambda row: focus.index(row.system))
    x = [place[row.language] + offset[row.system] for row in front]
    styles = [family(row.system) for row in front]
    data = [_ranges({place[code]: means for code, means in by_language.items() if means}, mode)]
    stems: dict[str, list[tuple[float, float]]] = {code: [] for code in middle}
    for at, row in zip(x, front, strict=True):
        stems[row.language].append((at, _short(row.mean)))
    data.append(_stems({place[code]: (value, sorted(stems[code])) for code, value in middle.items()}, mode))
    data.append(_middles(by_language, middle, place))
    if front:
        marker = {
            "color": [style.color(mode) for style in styles],
            "symbol": [style.symbol for style in styles],
            "size": MARK_SIZE,
            "line": {"color": ink(mode).ground, "width": 0.75},
        }
        data.append(
            primitives.dots(
                x,
                [_short(row.mean) for row in front],
                [hover(row) for row in front],
                marker,
                clicks=[[row.system, row.language, feature] for row in front],
                cliponaxis=False,
            )
        )
    return data


def _ranges(by_position: Mapping[int, Sequence[float]], mode: Mode) -> dict[str, Any]:
    """The range of all systems in each language, as boxes."""
    x: list[float | None] = []
    y: list[float | None] = []
    for position, means in by_position.items():
        left, right, low, high = position - _COLUMN / 2, position + _COLUMN / 2, min(means), max(means)
        x += [left, right, right, left, left, None]
        y += [low, low, high, high, low, None]
    colors = ink(mode)
    return primitives.lines(x, y, {}, mode="none", fill="toself", fillcolor=colors.line)


def _stems(by_position: Mapping[int, tuple[float, Sequence[tuple[float, float]]]], mode: Mode) -> dict[str, Any]:
    """Return a line at the mean of all systems in each language, with a stem from it to each mark.

    Each language is one unbroken line, up every stem and back: Plotly draws every part of a broken one by itself.
    """
    x: list[float | None] = []
    y: list[float | None] = []
    for position, (value, marks) in by_position.items():
        path = [(position - _COLUMN / 2, value)]
        for at, mean in marks:
            path += [(at, value), (at, mean), (at, value)]
        path.append((position + _COLUMN / 2, value))
        x += [*(at for at, _ in path), None]
        y += [*(height for _, height in path), None]
    return primitives.lines(x, y, {"color": ink(mode).muted, "width": 1.5, "simplify": False})


def _middles(
    by_language: Mapping[str, Sequence[float]], middle: Mapping[str, float], place: Mapping[str, int]
) -> dict[str, Any]:
    """Unseen marks at the mean of all systems in each language, which say the range on hover."""
    hovers = [
        f"<b>{name_of(code) if is_code(code) else label_text(code)}</b>, {len(by_language[code]):,} systems<br>mean "
        f"{value_text(value)}, range {value_text(min(by_language[code]))} to {value_text(max(by_language[code]))}"
        for code, value in middle.items()
    ]
    marker = {"symbol": "square", "size": MARK_SIZE, "opacity": 0}
    return primitives.dots([place[code] for code in middle], list(middle.values()), hovers, marker)


def _short(value: float | None) -> float:
    """A value as precise as a figure draws it: what is sent is a third."""
    return float(f"{value or 0.0:.5g}")


def hover(row: FeatureMean) -> str:
    """Return the hover text of a dot: system, language, mean, interval and number of answers."""
    interval = "" if row.low is None else f" ({value_text(row.low)} to {value_text(row.high)})"
    where = name_of(row.language) if is_code(row.language) else "mean over languages"
    return (
        f"<b>{label_text(row.system)}</b><br>{where}: {value_text(row.mean)}{interval}<br>"
        f"n = {row.n:,} of {row.total:,} answers"
    )


def relation_map(
    rows: tuple[Tau, ...], *, features: tuple[str, ...], languages: tuple[str, ...], mode: Mode
) -> dict[str, Any]:
    """Draw Kendall's tau of each feature (rows) with the rating, by language (columns), as squares.

    The number has the sign; the shade is the absolute value. A cell is hollow if its interval includes 0 or is missing.

    Args:
        rows: one per feature and language.
        features: order of the rows.
        languages: the columns; `all` first, if included.
        mode: light or dark.
    """
    by_cell = {(row.feature, row.language): row for row in rows}
    cells = [(feature, code) for feature in features for code in languages]
    full = [cell for cell in cells if cell in by_cell and by_cell[cell].clear]
    hollow = [cell for cell in cells if cell not in set(full)]

    def squares(pairs: Sequence[tuple[str, str]], shade: Sequence[float] | None) -> dict[str, Any]:
        return primitives.cells(
            [(languages.index(code), features.index(feature)) for feature, code in pairs],
            [_tau(by_cell[cell].tau if cell in by_cell else None) for cell in pairs],
            [_relation_hover(by_cell.get(cell), *cell) for cell in pairs],
            clicks=pairs,
            shade=shade,
            mode=mode,
            size=ROW - 2,
            text_size=9.5,
        )

    top, right = language_room(languages, least=12)
    return {
        # The ramp runs from best to worst: a strong relation is its dark end.
        "data": [squares(full, [1 - abs(by_cell[cell].tau or 0) for cell in full]), squares(hollow, None)],
        "layout": layout(
            mode,
            height=top + ROW * len(features) + SPACE,
            **columns_width(len(languages)),
            margin={"l": SPACE, "r": right, "t": top, "b": SPACE},
            xaxis=language_axis(mode, languages, least=12),
            yaxis=rows_axis([label_text(title(feature)) for feature in features], mode, showgrid=False),
        ),
    }


def relation_whiskers(rows: Sequence[Tau], *, mode: Mode) -> dict[str, Any]:
    """Tau of one feature by language, with intervals: filled where the interval leaves out 0.

    Args:
        rows: of one feature, one a language, top to bottom.
        mode: light or dark.
    """
    colors = ink(mode)
    points = [(k, row) for k, row in enumerate(rows) if row.tau is not None]
    marker = {
        "color": [colors.accent if row.clear else colors.ground for _, row in points],
        "size": MARK_SIZE,
        "line": {"color": colors.accent, "width": 1.5},
    }
    reach = [(_beyond(row.low, row.tau), _beyond(row.tau, row.high)) for _, row in points]
    return {
        "data": [
            primitives.dots(
                [row.tau for _, row in points],
                [k for k, _ in points],
                [_relation_hover(row, row.feature, row.language) for _, row in points],
                marker,
                error_x=primitives.whiskers(reach, colors.accent),
            )
        ],
        "layout": layout(
            mode,
            height=HEAD + max(20, ROW - 8) * len(rows) + FOOT,
            margin={"l": SPACE, "r": 2 * SPACE, "t": HEAD, "b": FOOT},
            xaxis=axis(mode, title="Kendall’s tau with the rating", range=[-1.05, 1.05], dtick=0.5, zeroline=True),
            yaxis=rows_axis([scope_name(row.language) for row in rows], mode),
        ),
    }


def _beyond(start: float | None, end: float | None) -> float:
    """Length of a whisker; 0 where there is none."""
    return 0.0 if start is None or end is None else end - start


def _tau(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f}".replace("-", "−")


def _relation_hover(row: Tau | None, feature: str, code: str) -> str:
    where = name_of(code) if is_code(code) else "mean over languages"
    head = f"<b>{label_text(title(feature))}</b>, {where}<br>"
    if row is None or row.tau is None:
        return head + (label_text(row.reason) if row else "no system with a mean and a rating")
    interval = f" ({label_text(row.reason)})" if row.low is None else f" ({_tau(row.low)} to {_tau(row.high)})"
    many = f", {row.languages} languages" if code == "all" else ""
    return f"{head}tau-b {_tau(row.tau)}{interval}<br>n = {row.systems} systems{many}"
