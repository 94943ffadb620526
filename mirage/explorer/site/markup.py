"""HTML of the static site: one frame for every page, tables that work without scripts, bars as SVG.

Everything from an arena is escaped here. Pages load the site's style sheet and script and nothing else, as their
Content-Security-Policy enforces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pkgutil import get_data
from typing import Any

from mirage.explorer.site.tables import FIELDS, TableField
from mirage.publish.charts.palette import FORMATS, distinct_looks, span
from mirage.ranking.records import JOINT
from mirage.text.languages import scope_name

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"
)
PAGES = (
    ("index.html", "Leaderboard"),
    ("hallucination.html", "Hallucination"),
    ("compare.html", "Compare"),
    ("battle.html", "Battle"),
    ("answers.html", "Answers"),
    ("methods.html", "Methods"),
)
"""Files and titles of the pages, in the order of the navigation."""
NO_VALUE = "–"
_SCALE = 100
"""Width of a bar's viewBox."""
_TEXTS = ("text", "system", "language", "flag")


def page(title: str, body: Iterable[str], *, board: str, footer: str, current: str, root: str = "") -> bytes:
    """Return a page.

    Args:
        title: its heading, plain text.
        body: HTML.
        board: name of the board, plain text.
        footer: HTML.
        current: the file to highlight in the navigation.
        root: path from the page to the top of the site: empty or `../`.
    """
    links = "".join(
        f'<li><a href="{root}{file}"{" aria-current=" + chr(34) + "page" + chr(34) if file == current else ""}>'
        f"{name}</a></li>"
        for file, name in PAGES
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)} · {escape(board)}</title>\n"
        f'<link rel="stylesheet" href="{root}site.css">\n'
        f'<link rel="alternate" type="application/atom+xml" title="Changes" href="{root}feed.xml">\n'
        f'<link rel="icon" href="data:,">\n<script src="{root}site.js" defer></script>\n</head>\n<body>\n'
        '<a class="skip" href="#main">Skip to the content</a>\n'
        f'<header><p class="board"><bdi>{escape(board)}</bdi></p>\n'
        f'<nav aria-label="Pages"><ul>{links}</ul></nav></header>\n'
        f'<main id="main">\n<h1>{escape(title)}</h1>\n' + "\n".join(body) + f"\n</main>\n<footer>{footer}</footer>\n"
        "</body>\n</html>\n"
    ).encode()


def asset(name: str) -> bytes:
    """Return the style sheet or the script of every site."""
    return get_data(__package__, name) or b""


def text(words: str | None, tag: str = "bdi") -> str:
    """Return a text of an arena, escaped, in its own direction."""
    return NO_VALUE if words is None else f'<{tag} dir="auto">{escape(words)}</{tag}>'


class Systems:
    """Marks of a board's systems, all different."""

    def __init__(self, names: Iterable[str]) -> None:
        self._looks = distinct_looks(tuple(sorted(set(names))))
        self._places = {name: n for n, name in enumerate(sorted(self._looks))}

    def anchor(self, name: str) -> str:
        """Return the HTML id of a system."""
        return f"s{self._places[name]}" if name in self._places else "s"

    def mark(self, name: str) -> str:
        """Return a system's mark and name as HTML."""
        look = self._looks.get(name)
        if look is None:
            return text(name)
        shape = look.shape.replace("'", '"')
        drawn = "".join(
            f'<g class="{mode}" fill="{color}">{shape}</g>' for mode, color in (("l", look.light), ("d", look.dark))
        )
        return f'<svg class="mark" viewBox="0 0 16 16" aria-hidden="true">{drawn}</svg>{text(name)}'


def number(value: Any, field: TableField) -> str:
    """Return a value as displayed text."""
    if value is None:
        return NO_VALUE
    if field.kind == "language":
        return scope_name(value)
    if field.kind == "p":
        return "<0.001" if value < 0.001 else f"{value:.3f}"
    if field.kind in ("text", "system", "flag"):
        return str(value)
    kind: Any = field.kind  # a numeric format
    return FORMATS[kind].write(value)


def interval(low: float | None, high: float | None, kind: str) -> str:
    """Return an interval as text; None is an unbounded end."""
    return span(low, high, kind)  # type: ignore[arg-type]  # a numeric format


def bar(value: float | None, low: float | None, high: float | None, ends: tuple[float, float]) -> str:
    """Return a value with its interval on a scale, as SVG; hidden from screen readers, since the text repeats it."""
    if value is None:
        return ""
    least, most = ends
    width = (most - least) or 1.0

    def place(number: float) -> str:
        return f"{_SCALE * min(max((number - least) / width, 0.0), 1.0):.1f}"

    left, right = place(least if low is None else low), place(most if high is None else high)
    zero = f'<line class="zero" x1="{place(0)}" x2="{place(0)}" y1="0" y2="16"/>' if least < 0 < most else ""
    return (
        f'<svg class="bar" viewBox="0 0 {_SCALE} 16" preserveAspectRatio="none" aria-hidden="true">{zero}'
        f'<line class="range" x1="{left}" x2="{right}" y1="8" y2="8"/>'
        f'<line class="value" x1="{place(value)}" x2="{place(value)}" y1="3" y2="13"/></svg>'
    )


def scale(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> tuple[float, float]:
    """Return the minimum and maximum of some columns over all rows."""
    values = [row[name] for row in rows for name in names if row[name] is not None]
    return (min(values), max(values)) if values else (0.0, 1.0)


def table(
    heads: Sequence[tuple[str, str, bool]], lines: Iterable[Sequence[str]], *, label: str, sorts: bool = True
) -> str:
    """Return a table that scrolls sideways on a narrow screen.

    Args:
        heads: label, meaning and whether it is numeric, of each column.
        lines: cells as HTML, one list per row; the first cell is the row's header.
        label: name of the table for screen readers.
        sorts: whether readers can sort it.
    """
    head = "".join(
        f'<th scope="col"{_number(is_number)}{_title(meaning)}>{escape(name)}</th>'
        for name, meaning, is_number in heads
    )
    body = []
    for first, *others in lines:
        cells = "".join(
            f"<td{_number(is_number)}>{cell}</td>" for cell, (_, _, is_number) in zip(others, heads[1:], strict=True)
        )
        body.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    kind = ' class="sorts"' if sorts else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}"><table{kind}>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(body) + "\n</tbody></table></div>"
    )


def fields_table(
    name: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str], systems: Systems, *, label: str
) -> str:
    """Return rows of a published table as HTML, formatted by field."""
    by_name = {field.name: field for field in FIELDS[name][1]}
    chosen = [by_name[column] for column in columns]
    heads = [(field.label, field.meaning, field.kind not in _TEXTS) for field in chosen]
    return table(heads, ([cell(row[field.name], field, systems) for field in chosen] for row in rows), label=label)


def cell(value: Any, field: TableField, systems: Systems) -> str:
    """Return one value as HTML."""
    if field.kind == "system" and value is not None:
        return systems.mark(value)
    if field.kind == "text":
        return text(value)
    return escape(number(value, field))


def downloads(name: str, root: str = "") -> str:
    """Return links to the files of a published table."""
    return (
        f'<p class="files">This table: <a href="{root}data/{name}.csv">CSV</a>, '
        f'<a href="{root}data/{name}.parquet">Parquet</a>.</p>'
    )


def language(code: str) -> str:
    """Return a language's name as HTML; all languages for `all`."""
    return escape(scope_name(code))


def is_joint(row: Mapping[str, Any]) -> bool:
    """Return whether a row is over all languages."""
    return bool(row["language"] == JOINT)


def _number(is_number: bool) -> str:
    return ' class="n"' if is_number else ""


def _title(meaning: str) -> str:
    return f' title="{escape(meaning)}"' if meaning else ""
