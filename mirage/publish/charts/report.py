"""A leaderboard as one HTML file that opens anywhere, without the explorer and without a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from mirage.publish.charts.document import chart_html, document, facts
from mirage.publish.charts.leaderboard import rank_map, whiskers
from mirage.publish.charts.palette import FORMATS, span

Rows = Sequence[Mapping[str, Any]]

_COLUMNS = ("Rank", "System", "Tier", "Rating", "95% interval", "Rank 95%", "Wins", "Ties", "Losses", "Battles")


def report_page(title: str, summary: str, rows: Rows, ranks: Rows, *, about: Mapping[str, Any]) -> str:
    """Return the current leaderboard with its charts.

    Args:
        title: heading, plain text.
        summary: what is shown and how much is behind it, plain text.
        rows: the ratings, best first: `schema.Rating` columns.
        ranks: the ratings by language, for the map of ranks; no map with fewer than two languages.
        about: what the numbers are and how they were made; shown as it stands.

    Returns:
        HTML with everything inside, Plotly's own code included (some 5 MB). All text is escaped.
    """
    systems = [row["system"] for row in rows]
    figures = [("Ratings with 95% intervals", whiskers(rows, mode="light"))]
    if len({row["language"] for row in ranks}) > 1:
        figures.append(("Rank by language", rank_map(ranks, systems=systems, mode="light")))
    parts = [f"<p>{escape(summary)}</p>", "<h2>Ratings</h2>", f'<div class="wide">{_table(rows)}</div>']
    parts += [chart_html(n, head, figure) for n, (head, figure) in enumerate(figures)]
    return document(title, "\n".join([*parts, "<h2>How it was made</h2>", facts(about)]))


def _table(rows: Rows) -> str:
    kinds = ["" if name == "System" else ' class="number"' for name in _COLUMNS]
    head = "".join(f"<th{kind}>{name}</th>" for kind, name in zip(kinds, _COLUMNS, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{kind}>{cell}</td>' for kind, cell in zip(kinds, _cells(row), strict=True))}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cells(row: Mapping[str, Any]) -> list[str]:
    rating, count = FORMATS["rating"].write, FORMATS["count"].write
    # The joint row has both ends where only a few languages put no bound.
    note = "" if row["bounded"] or None in (row["low"], row["high"]) else " (not bounded in some language)"
    ends = str(row["rank_low"]) if row["rank_low"] == row["rank_high"] else f"{row['rank_low']} to {row['rank_high']}"
    return [
        str(row["rank"]),
        f'<bdi dir="auto">{escape(row["system"])}</bdi>',
        "–" if row["tier"] is None else str(row["tier"]),
        rating(row["rating"]) + note,
        span(row["low"], row["high"]),
        ends,
        *(count(row[name]) for name in ("wins", "ties", "losses", "battles")),
    ]
