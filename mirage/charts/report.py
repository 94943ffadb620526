"""A leaderboard as one HTML file that opens anywhere, without the explorer and without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from mirage.charts.leaderboard import rank_map, whiskers
from mirage.charts.palette import FONT, FORMATS, ink

Rows = Sequence[Mapping[str, Any]]

_COLUMNS = ("Rank", "System", "Tier", "Rating", "95% interval", "Rank 95%", "Wins", "Ties", "Losses", "Battles")

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
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }}
th, td {{ padding: .25rem .75rem; border-bottom: 1px solid {line}; text-align: right; }}
th {{ color: {muted}; font-weight: 500; }}
td:nth-child(2), th:nth-child(2) {{ text-align: left; }}
</style>
<script>{plotly}</script>
</head>
<body>
<h1>{title}</h1>
<p>{summary}</p>
<h2>Ratings</h2>
<div class="wide">{table}</div>
{charts}
<h2>How it was made</h2>
<dl>{facts}</dl>
</body>
</html>
"""


def report(title: str, summary: str, rows: Rows, ranks: Rows, *, about: Mapping[str, Any]) -> str:
    """The current leaderboard with its charts.

    Args:
        title: heading, plain text.
        summary: what is shown and how much is behind it, plain text.
        rows: the ratings, best first: `schema.Rating` columns.
        ranks: the ratings by language, for the map of ranks; no map with fewer than two languages.
        about: what the numbers are and how they were made; shown as it stands.

    Returns:
        HTML with everything inside, Plotly's own code included (some 5 MB). All text is escaped.
    """
    from plotly.offline import get_plotlyjs

    systems = [row["system"] for row in rows]
    figures = [("Ratings with 95% intervals", whiskers(rows, mode="light"))]
    if len({row["language"] for row in ranks}) > 1:
        figures.append(("Rank by language", rank_map(ranks, systems=systems, mode="light")))
    colors = ink("light")
    return _PAGE.format(
        title=escape(title),
        summary=escape(summary),
        font=FONT,
        text=colors.text,
        ground=colors.ground,
        line=colors.line,
        muted=colors.muted,
        # A closing tag inside a script ends it, whatever the script means by it.
        plotly=get_plotlyjs().replace("</script", "<\\/script"),
        table=_table(rows),
        charts="\n".join(chart(n, head, figure) for n, (head, figure) in enumerate(figures)),
        facts="".join(f"<dt>{escape(str(key))}</dt><dd>{escape(_fact(value))}</dd>" for key, value in about.items()),
    )


def _table(rows: Rows) -> str:
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in _cells(row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Mapping[str, Any]) -> list[str]:
    rating, count = FORMATS["rating"].write, FORMATS["count"].write
    note = "" if row["bounded"] else " (not bounded by the data)"
    ends = str(row["rank_low"]) if row["rank_low"] == row["rank_high"] else f"{row['rank_low']} to {row['rank_high']}"
    return [
        str(row["rank"]),
        f'<bdi dir="auto">{escape(row["system"])}</bdi>',
        str(row["tier"]),
        rating(row["rating"]) + note,
        f"{rating(row['low'])} to {rating(row['high'])}",
        ends,
        *(count(row[name]) for name in ("wins", "ties", "losses", "battles")),
    ]


def chart(n: int, head: str, figure: Mapping[str, Any]) -> str:
    """The HTML of the n-th chart of a page under its heading."""
    # Inside a script only this sign could end it or begin a comment.
    drawn = json.dumps(figure, ensure_ascii=True).replace("<", "\\u003c")
    return (
        f'<h2>{escape(head)}</h2>\n<div class="wide"><div id="chart{n}" role="img" aria-label="{escape(head)}"></div>'
        f"</div>\n<script>{{ const f = {drawn};\n"
        f'Plotly.newPlot("chart{n}", f.data, f.layout, {{displaylogo: false, responsive: true}}) }}</script>'
    )


def _fact(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
