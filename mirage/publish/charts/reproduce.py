"""The plots of `mirage rank paper`, and the page that shows them with every table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from mirage.publish.charts import primitives
from mirage.publish.charts.figures import rows_figure
from mirage.publish.charts.palette import (
    FONT,
    MARK_SIZE,
    ROW,
    SPACE,
    Mode,
    axis,
    family,
    ink,
    label_text,
    layout,
)
from mirage.publish.charts.published import dumbbells

Rows = Sequence[Mapping[str, Any]]
Figure = dict[str, Any]

ALL = "all"
_FOOT = 56
_LEGEND = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"}
_MODE: Mode = "light"
_SHOWN = 60
"""Rows of a table on the page; the CSV has all."""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 {font}; color: {text}; background: {ground}; max-width: 68rem; margin: 2rem auto;
  padding: 0 1rem; }}
h1, h2 {{ font-weight: 600; line-height: 1.2; }}
p, dl {{ max-width: 75ch; }}
dt {{ font-weight: 600; }} dd {{ margin: 0 0 .5rem; overflow-wrap: anywhere; }}
div.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .75rem; border-bottom: 1px solid {line}; text-align: left; }}
th {{ color: {muted}; font-weight: 500; }}
.number {{ text-align: right; white-space: nowrap; }}
</style>
<script>{plotly}</script>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def tau_plot(rows: Rows) -> Figure:
    """Table 2: by language, the tau that is printed (open), as published on this arena, and on left-out systems.

    Args:
        rows: `language, published, tau, tau_left_out_published, tau_left_out_ours`.
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
            (ink(_MODE).muted, ink(_MODE).accent, ink(_MODE).chosen, ink(_MODE).text)[k],
        )
        for k, (key, label, symbol) in enumerate(marks)
    ]
    return _dots(data, [row["language"] for row in rows], "Kendall's tau against the judge")


def lollipops(rows: Rows, *, feature: str) -> Figure:
    """Figure 3: the systems' means of one feature, best on top, with a stem from 0.

    Args:
        rows: `feature, system, mean`, of one language or of all.
        feature: which.
    """
    feature_rows = [row for row in rows if row["feature"] == feature and row["mean"] is not None]
    feature_rows.sort(key=lambda row: (-row["mean"], row["system"]))
    stems = [((0, i), (row["mean"], i)) for i, row in enumerate(feature_rows)]
    data = [primitives.segments(stems, {"color": ink(_MODE).muted, "width": 1}, showlegend=False)]
    for i, row in enumerate(feature_rows):
        look = family(row["system"])
        point = (row["mean"], i, f"{label_text(row['system'])}: {row['mean']:.3f}, coverage {row['coverage']:.0%}")
        data.append({**_points(look.name, [point], look.symbol, look.color(_MODE)), "showlegend": False})
    return _dots(data, [row["system"] for row in feature_rows], feature)


def ranks(rows: Rows) -> Figure:
    """Figure 4: each system's mean rank by the judge and by the surrogate.

    Args:
        rows: `language, system, judge, surrogate`.
    """
    both = [row for row in rows if row["surrogate"] is not None]
    mean_ranks = []
    for system in sorted({row["system"] for row in both}):
        system_rows = [row for row in both if row["system"] == system]
        n = len(system_rows)
        judge, surrogate = (sum(row[key] for row in system_rows) / n for key in ("judge", "surrogate"))
        mean_ranks.append({"system": system, "judge": judge, "surrogate": surrogate, "languages": n})
    return dumbbells(sorted(mean_ranks, key=lambda row: (row["judge"], row["system"])), mode=_MODE)


def importance_plot(rows: Rows) -> Figure:
    """Figure 5: the forest's feature importances.

    Args:
        rows: `feature, importance`.
    """
    valued_rows = [row for row in rows if row["importance"] is not None]
    bars = primitives.bars(
        [row["importance"] for row in valued_rows],
        range(len(valued_rows)),
        [f"{row['feature']}: {row['importance']:.3f}, {row['n_languages']} languages" for row in valued_rows],
        {"color": ink(_MODE).accent},
        field="hovertext",
        showlegend=False,
    )
    return _dots([bars], [row["feature"] for row in valued_rows], "Importance (impurity), mean over languages")


def subsampling(rows: Rows) -> Figure:
    """Figure 6: tau against the share of judged queries, and of judged pairs.

    Args:
        rows: `what, share, tau, low, high`, of one language or of all.
    """
    data = []
    for unit, color in (("questions", ink(_MODE).accent), ("pairs", ink(_MODE).chosen)):
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
            _MODE,
            height=360,
            margin={"l": SPACE, "r": 2 * SPACE, "t": ROW, "b": _FOOT},
            showlegend=True,
            legend=_LEGEND,
            xaxis=axis(_MODE, title="Share judged", tickformat=".0%"),
            yaxis=axis(_MODE, title="Kendall's tau against the whole ranking"),
        ),
    }


def plots(items: Sequence[Mapping[str, Any]]) -> list[tuple[str, Figure]]:
    """Return every plot with its heading, in the paper's order; empty plots are omitted.

    Args:
        items: records of `reproduce.tables.PaperItem`.
    """
    by_name = {item["name"]: item["rows"] for item in items}
    joint = [row for row in by_name["figure3"] if row["language"] == ALL]
    plots = [("Table 2: Kendall's tau by language", tau_plot(by_name["table2"]))]
    plots += [
        (f"Figure 3: {feature}", lollipops(joint, feature=feature))
        for feature in dict.fromkeys(row["feature"] for row in joint)
    ]
    plots += [
        ("Figure 4: mean rank by judge and surrogate", ranks(by_name["figure4"])),
        ("Figure 5: feature importances", importance_plot(by_name["figure5"])),
        (
            "Figure 6: fewer judgments",
            subsampling([row for row in by_name["figure6"] if row["language"] == ALL]),
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
    parts += [_chart_html(n, head, figure) for n, (head, figure) in enumerate(plots(items))]
    parts += ["<h2>What is missing</h2>", _facts(missing), "<h2>How it was made</h2>", _facts(about)]
    return _document(title, "\n".join(parts))


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


def _dots(data: Sequence[Figure], labels: Sequence[str], title: str) -> Figure:
    """Marks in rows, one a label."""
    return rows_figure(
        data,
        labels,
        axis(_MODE, title=title, zeroline=True),
        mode=_MODE,
        row=24,
        head=ROW,
        foot=_FOOT,
        showlegend=any(trace.get("showlegend", True) for trace in data),
        legend=_LEGEND,
    )


def _document(title: str, body: str) -> str:
    """Return a complete HTML file with Plotly embedded (about 5 MB).

    Args:
        title: heading, plain text; it is escaped.
        body: HTML made of the functions here and of text that is escaped already.
    """
    from plotly.offline import get_plotlyjs

    colors = ink("light")
    return _PAGE.format(
        title=escape(title),
        font=FONT,
        text=colors.text,
        ground=colors.ground,
        line=colors.line,
        muted=colors.muted,
        # A closing tag inside a script ends it, whatever the script means by it.
        plotly=get_plotlyjs().replace("</script", "<\\/script"),
        body=body,
    )


def _chart_html(n: int, head: str, figure: Mapping[str, Any]) -> str:
    """Return a figure under its heading as HTML; `n` makes its id unique in the file."""
    # Inside a script only this sign could end it or begin a comment.
    drawn = json.dumps(figure, ensure_ascii=True).replace("<", "\\u003c")
    return (
        f'<h2>{escape(head)}</h2>\n<div class="wide"><div id="chart{n}" role="img" aria-label="{escape(head)}"></div>'
        f"</div>\n<script>{{ const f = {drawn};\n"
        f'Plotly.newPlot("chart{n}", f.data, f.layout, {{displaylogo: false, responsive: true}}) }}</script>'
    )


def _facts(values: Mapping[str, Any]) -> str:
    """Return names and values as an escaped HTML list; `nothing` if there are none."""
    lines = (f"<dt>{escape(str(key))}</dt><dd>{escape(_fact(value))}</dd>" for key, value in values.items())
    return f"<dl>{''.join(lines) or '<dd>nothing</dd>'}</dl>"


def _fact(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
