"""Flow chart of one system's queries: all queries, whether a relevant passage was retrieved, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.palette import FORMATS, SPACE, Ink, Mode, ink, label_text, layout, span

TITLES = {
    "right": "correct decision: answers",
    "ignored": "ignored what it was shown",
    "other_language": "found in another language only",
    "unused_language": "shown in a language it does not use",
    "not_retrieved": "not retrieved",
    "unsupported": "answers without support",
    "right_refusal": "correct decision: abstains",
    None: "undecided",
}
"""What each cause is called, in the order of the bands; None: the labels or the answer do not say."""
_EXISTS, _SHOWN, _LOST, _NONE = "a passage answers", "it was shown", "it was not shown", "no passage answers"
_PATHS: dict[str | None, tuple[str, str]] = {
    "right": (_EXISTS, _SHOWN),
    "ignored": (_EXISTS, _SHOWN),
    "other_language": (_EXISTS, _SHOWN),
    "unused_language": (_EXISTS, _SHOWN),
    "not_retrieved": (_EXISTS, _LOST),
    "unsupported": (_NONE, ""),
    "right_refusal": (_NONE, ""),
    None: ("", ""),
}
"""What each cause comes through; empty: no station of its own."""
_GAP = 0.035
"""Space between two bands, in shares of all queries."""
_STEPS = 24
"""Points of a band's edge."""
_HEIGHT, _WIDTH = 320, 640
_write = FORMATS["rate"].write


def flow(shares: Sequence[Mapping[str, Any]], undecided: int, *, system: str, mode: Mode) -> dict[str, Any]:
    """Queries of one system from left to right; the width of a band is its share, and a click yields its cause.

    Args:
        shares: rows of `retrieval.CauseShare` of one system in one language, or over all.
        undecided: answers without a cause.
        system: its name.
        mode: light or dark.
    """
    colors = ink(mode)
    by_cause: dict[str | None, Mapping[str, Any]] = {row["cause"]: row for row in shares if row["k"]}
    count = {cause: int(row["k"]) for cause, row in by_cause.items()} | ({None: undecided} if undecided else {})
    leaves = [cause for cause in TITLES if count.get(cause)]
    total = sum(count.values())
    paths = [("answers", *_PATHS[cause], TITLES[cause]) for cause in leaves]
    width = [count[cause] / total for cause in leaves]
    columns = [_stations(paths, width, column) for column in range(4)]
    data = []
    for column in range(3):
        for name, (members, _, _) in columns[column + 1].items():
            end = columns[column + 1][name]
            start = _within(columns[column], members, width)
            fill = _fill(leaves[members[0]] if len(members) == 1 or column == 2 else "", colors)
            data.append(_band(column, start, end[1:], fill))
    hover, clicks, places, texts = [], [], [], []
    for cause, path in zip(leaves, paths, strict=True):
        _, top, bottom = columns[3][path]
        row = by_cause.get(cause)
        low_high = f", 95% {span(row['low'], row['high'], 'rate')}" if row else ""
        share = _write(row["share"]) if row else f"{undecided:,} of {total:,}"
        of = f"<br>{count[cause]:,} of {row['n']:,} decided answers" if row else ""
        hover.append(f"<b>{label_text(system)}</b><br>{TITLES[cause]}: {share}{low_high}{of}")
        clicks.append([system, cause or ""])
        places.append((top + bottom) / 2)
        texts.append(f"{TITLES[cause]} {share}")
    data.append(
        primitives.dots(
            [3.0] * len(leaves),
            places,
            hover,
            {"size": 12, "symbol": "square", "color": [_fill(cause, colors) for cause in leaves], "line": {"width": 0}},
            clicks=clicks,
            field="hovertext",
            mode="markers+text",
            text=texts,
            textposition="middle right",
            cliponaxis=False,
        )
    )
    hidden = {"visible": False, "fixedrange": True}
    return {
        "data": data,
        "layout": layout(
            mode,
            height=_HEIGHT,
            width=_WIDTH,
            margin={"l": SPACE, "r": 2 * SPACE, "t": 3 * SPACE, "b": SPACE},
            showlegend=False,
            hovermode="closest",
            xaxis={**hidden, "range": [-0.05, 4.6]},
            yaxis={**hidden, "range": [1 + _GAP * (len(leaves) - 1) + 0.02, -0.06]},
            annotations=_names(columns, total, undecided, colors),
        ),
    }


_Station = tuple[list[int], float, float]
"""The leaves that pass through, and the upper and lower edges."""
_Path = tuple[str, ...]


def _stations(paths: Sequence[_Path], width: Sequence[float], column: int) -> dict[_Path, _Station]:
    """Place the stations of a column, from the top."""
    groups = [
        list(members) for _, members in groupby(range(len(paths)), key=lambda leaf: _station(paths[leaf], column))
    ]
    whole = 1 + _GAP * (len(paths) - 1)
    gap = (whole - 1) / (len(groups) - 1) if len(groups) > 1 else 0.0
    top = 0.0 if len(groups) > 1 else (whole - 1) / 2
    stations = {}
    for members in groups:
        bottom = top + sum(width[leaf] for leaf in members)
        stations[_station(paths[members[0]], column)] = (members, top, bottom)
        top = bottom + gap
    return stations


def _station(path: _Path, column: int) -> _Path:
    """Return the key of a path's station in a column; a leaf without a station there is its own key."""
    return path if column == 3 or (not path[column] and not path[1]) else path[: column + 1]


def _within(stations: Mapping[_Path, _Station], members: Sequence[int], width: Sequence[float]) -> tuple[float, float]:
    """Return the stretch of a station's edge that some of its leaves occupy."""
    for own, top, _ in stations.values():
        if members[0] in own:
            begin = top + sum(width[leaf] for leaf in own if leaf < members[0])
            return begin, begin + sum(width[leaf] for leaf in members)
    raise AssertionError(members)


def _fill(cause: str | None, colors: Ink) -> str:
    """Return the colour of a band; `cause` is empty for a band of several causes."""
    fills = {
        "right": colors.ramp[0][1],
        "right_refusal": colors.ramp[1][1],
        "ignored": colors.chosen,
        "other_language": colors.chosen,
        "unused_language": colors.chosen,
        "unsupported": colors.chosen,
        "not_retrieved": colors.muted,
    }
    return fills.get(cause or "", colors.line)


def _band(column: int, start: tuple[float, float], end: tuple[float, float], color: str) -> dict[str, Any]:
    """Draw a band between two columns, with smooth edges."""
    steps = [k / _STEPS for k in range(_STEPS + 1)]
    smooth = [3 * t**2 - 2 * t**3 for t in steps]
    x = [column + t for t in steps]
    upper, lower = ([a + (b - a) * s for s in smooth] for a, b in zip(start, end, strict=True))
    return primitives.lines(
        [*x, *reversed(x)],
        [*upper, *reversed(lower)],
        {"width": 0},
        fill="toself",
        fillcolor=color,
        opacity=0.85,
    )


def _names(
    columns: Sequence[Mapping[_Path, _Station]], total: int, undecided: int, colors: Ink
) -> list[dict[str, Any]]:
    """Label the stations of several causes at the left end of their bands."""
    names = []
    decided = (total - undecided) / total
    for column, stations in enumerate(columns[:3]):
        for path, (members, top, bottom) in stations.items():
            if column and (len(members) == 1 or not path[column]):
                continue
            name = f"{total:,} answers" if column == 0 else f"{path[column]}<br>{_write((bottom - top) / decided)}"
            # The second station's label is lower, clear of the first one's.
            late = column == 2
            names.append(
                {
                    "x": column - 0.04 if late else column + 0.04,
                    "y": bottom if late else top,
                    "xanchor": "right" if late else "left",
                    "yanchor": "bottom" if late else "top",
                    "align": "right" if late else "left",
                    "text": name,
                    "showarrow": False,
                    "font": {"color": colors.text, "size": 11},
                }
            )
    return names
