"""The plots of `mirage rank paper`, and the page that shows them with every table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.document import chart_html, document, facts
from mirage.publish.charts.palette import MARK_SIZE, ROW, SPACE, Mode, axis, family, ink, label_text, layout, rows_axis
from mirage.publish.charts.published import dumbbells

Rows = Sequence[Mapping[str, Any]]
Figure = dict[str, Any]

ALL = "all"
_FOOT = 56
_MODE: Mode = "light"
_SHOWN = 60
"""Rows of a table on the page; the CSV has all."""


def tau_plot(rows: Rows, *, mode: Mode) -> Figure:
    """Table 2: by language, the tau that is printed (open), as published on this arena, and on left-out systems.

    Args:
        rows: `language, published, tau, tau_left_out_published, tau_left_out_ours`.
        mode: light or dark.
    """
    marks = (
        ("published", "printed in the paper", "circle-open"),
        ("tau", "here, as published", "circle"),
        ("tau_left_out_published", "here, forest on left-out systems", "diamond"),
        ("tau_left_out_ours", "here, pooled ridge on left-out systems", "square"),
    )
    data = [
        _points(
            label,
            [
                (row[key], i, f"{row['language']}, {label}: tau {row[key]:.3f}")
                for i, row in enumerate(rows)
                if row[key] is not None
            ],
            symbol,
            (ink(mode).muted, ink(mode).accent, ink(mode).chosen, ink(mode).text)[k],
        )
        for k, (key, label, symbol) in enumerate(marks)
    ]
    return _dots(data, [row["language"] for row in rows], "Kendall's tau against the judge", mode)


def lollipops(rows: Rows, *, mode: Mode, feature: str) -> Figure:
    """Figure 3: the systems' means of one feature, best on top, with a stem from 0.

    Args:
        rows: `feature, system, mean`, of one language or of all.
        mode: light or dark.
        feature: which.
    """
    feature_rows = [row for row in rows if row["feature"] == feature and row["mean"] is not None]
    feature_rows.sort(key=lambda row: (-row["mean"], row["system"]))
    stems = [((0, i), (row["mean"], i)) for i, row in enumerate(feature_rows)]
    data = [primitives.segments(stems, {"color": ink(mode).muted, "width": 1}, showlegend=False)]
    for i, row in enumerate(feature_rows):
        look = family(row["system"])
        point = (row["mean"], i, f"{label_text(row['system'])}: {row['mean']:.3f}, coverage {row['coverage']:.0%}")
        data.append({**_points(look.name, [point], look.symbol, look.color(mode)), "showlegend": False})
    return _dots(data, [label_text(row["system"]) for row in feature_rows], feature, mode)


def ranks(rows: Rows, *, mode: Mode) -> Figure:
    """Figure 4: each system's mean rank by the judge and by the surrogate.

    Args:
        rows: `language, system, judge, surrogate`.
        mode: light or dark.
    """
    both = [row for row in rows if row["surrogate"] is not None]
    mean_ranks = []
    for system in sorted({row["system"] for row in both}):
        system_rows = [row for row in both if row["system"] == system]
        n = len(system_rows)
        judge, surrogate = (sum(row[key] for row in system_rows) / n for key in ("judge", "surrogate"))
        mean_ranks.append({"system": system, "judge": judge, "surrogate": surrogate, "languages": n})
    return dumbbells(sorted(mean_ranks, key=lambda row: (row["judge"], row["system"])), mode=mode)


def importance_plot(rows: Rows, *, mode: Mode) -> Figure:
    """Figure 5: the forest's feature importances.

    Args:
        rows: `feature, importance`.
        mode: light or dark.
    """
    valued_rows = [row for row in rows if row["importance"] is not None]
    bars = primitives.bars(
        [row["importance"] for row in valued_rows],
        range(len(valued_rows)),
        [f"{row['feature']}: {row['importance']:.3f}, {row['n_languages']} languages" for row in valued_rows],
        {"color": ink(mode).accent},
        field="hovertext",
        showlegend=False,
    )
    return _dots([bars], [row["feature"] for row in valued_rows], "Importance (impurity), mean over languages", mode)


def subsampling(rows: Rows, *, mode: Mode) -> Figure:
    """Figure 6: tau against the share of judged queries, and of judged pairs.

    Args:
        rows: `what, share, tau, low, high`, of one language or of all.
        mode: light or dark.
    """
    data = []
    for unit, color in (("questions", ink(mode).accent), ("pairs", ink(mode).chosen)):
        points = [row for row in rows if row["what"] == unit]
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": f"fewer {unit}",
                "x": [row["share"] for row in points],
                "y": [row["tau"] for row in points],
                "error_y": primitives.whiskers(primitives.reaches(points, "tau", "low", "high"), color, thickness=1),
                "line": {"color": color, "width": 1.5},
                "marker": {"color": color, "size": MARK_SIZE, "symbol": "circle" if unit == "questions" else "square"},
                "hovertemplate": "%{x:.0%} of the " + unit + ": tau %{y:.3f}<extra></extra>",
            }
        )
    return {
        "data": data,
        "layout": layout(
            mode,
            height=360,
            margin={"l": SPACE, "r": 2 * SPACE, "t": ROW, "b": _FOOT},
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
            xaxis=axis(mode, title="Share judged", tickformat=".0%"),
            yaxis=axis(mode, title="Kendall's tau against the whole ranking"),
        ),
    }


def plots(items: Sequence[Mapping[str, Any]], *, mode: Mode = _MODE) -> list[tuple[str, Figure]]:
    """Return every plot with its heading, in the paper's order; empty plots are omitted.

    Args:
        items: records of `reproduce.tables.PaperItem`.
        mode: light or dark.
    """
    by_name = {item["name"]: item["rows"] for item in items}
    joint = [row for row in by_name["figure3"] if row["language"] == ALL]
    plots = [("Table 2: Kendall's tau by language", tau_plot(by_name["table2"], mode=mode))]
    plots += [
        (f"Figure 3: {feature}", lollipops(joint, mode=mode, feature=feature))
        for feature in dict.fromkeys(row["feature"] for row in joint)
    ]
    plots += [
        ("Figure 4: mean rank by judge and surrogate", ranks(by_name["figure4"], mode=mode)),
        ("Figure 5: feature importances", importance_plot(by_name["figure5"], mode=mode)),
        (
            "Figure 6: fewer judgments",
            subsampling([row for row in by_name["figure6"] if row["language"] == ALL], mode=mode),
        ),
    ]
    return [(head, figure) for head, figure in plots if any(len(trace["x"]) for trace in figure["data"])]


def page(
    title: str, items: Sequence[Mapping[str, Any]], *, about: Mapping[str, Any], missing: Mapping[str, str]
) -> str:
    """Tables and plots as one HTML file that opens anywhere.

    Args:
        title: heading, plain text.
        items: records of `reproduce.tables.PaperItem`.
        about: how they were made.
        missing: what could not be made, with the reason.

    Returns:
        HTML with everything inside, Plotly's own code included (some 5 MB). All text is escaped.
    """
    parts = [_section(item) for item in items if not item["name"].startswith("figure")]
    parts += [chart_html(n, head, figure) for n, (head, figure) in enumerate(plots(items))]
    parts += ["<h2>What is missing</h2>", facts(missing), "<h2>How it was made</h2>", facts(about)]
    return document(title, "\n".join(parts))


def _section(item: Mapping[str, Any]) -> str:
    rows = [row for row in item["rows"] if row.get("language", ALL) == ALL] or item["rows"]
    if item["name"] == "table2":
        rows = item["rows"]
    head = "".join(f"<th>{escape(column.replace('_', ' '))}</th>" for column in item["columns"])
    body = "".join(
        f"<tr>{''.join(f'<td>{_cell(row[column])}</td>' for column in item['columns'])}</tr>" for row in rows[:_SHOWN]
    )
    more = (
        f"<p>All {len(item['rows'])} rows: {escape(item['name'])}.csv.</p>"
        if min(len(rows), _SHOWN) < len(item["rows"])
        else ""
    )
    title = f"{item['item']}: {item['title']}" if item["item"] else item["title"]
    remarks = " ".join(part for part in (item["method"], item["note"]) if part)
    return (
        f'<h2>{escape(title)}</h2>\n<p>{escape(remarks)}</p>\n<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>\n{more}"
    )


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else f'<bdi dir="auto">{escape(str(value))}</bdi>'


def _points(label: str, points: Sequence[tuple[Any, Any, str]], symbol: str, color: str) -> Figure:
    x, y, hover = [x for x, _, _ in points], [y for _, y, _ in points], [text for _, _, text in points]
    marker = {"color": color, "symbol": symbol, "size": MARK_SIZE + 1}
    return primitives.dots(x, y, hover, marker, field="hovertext", name=label)


def _dots(data: Sequence[Figure], labels: Sequence[str], title: str, mode: Mode) -> Figure:
    """Marks in rows, one a label."""
    return {
        "data": list(data),
        "layout": layout(
            mode,
            height=ROW + 24 * len(labels) + _FOOT,
            margin={"l": SPACE, "r": 2 * SPACE, "t": ROW, "b": _FOOT},
            showlegend=any(trace.get("showlegend", True) for trace in data),
            legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
            xaxis=axis(mode, title=title, zeroline=True),
            yaxis=rows_axis(labels, mode),
        ),
    }
