"""An arena as one HTML file that opens anywhere: ratings, rates, two charts and, where the licences allow, its texts.

The file holds its figures as JSON too, with the arena's content id, so that `check_report` can compute them from the
arena again and compare. Everything from an arena is escaped; the page's Content-Security-Policy forbids scripts and
requests.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirage import schema
from mirage.battles.judge import judges
from mirage.errors import BadInput, NotEnoughData, UnknownName
from mirage.pipeline.recompute import TOLERANCE, Mismatch, Recomputed, compare_rows
from mirage.publish.charts.palette import DARK, FONT, FORMATS, LIGHT, MakerStyle, distinct_looks, span
from mirage.ranking.board import Ranked
from mirage.stats.label_errors import QueryLabels
from mirage.store.export import write_whole
from mirage.store.files import chunks, fingerprint
from mirage.store.labels import has_automatic_labels
from mirage.text.languages import scope_name
from mirage.text.segmentation import count_text
from mirage.views.board import BoardChoice, board_view
from mirage.views.overview import overview_view
from mirage.views.rates import SUBSETS, TITLES, RateChoice, rates_view

if TYPE_CHECKING:
    from mirage.store.arena import Arena

FORMAT = "mirage report 7"
"""Version of the figures and the markup; a change of either needs another."""
QUERIES = 3
"""Number of queries per language shown with texts."""
_KEYS = {"ratings": ("judge", "language", "system"), "rates": ("language", "system")}
"""Tables of a report, each with its key."""
_COLUMNS = {
    "ratings": tuple(column.name for column in schema.columns(Ranked)),
    "rates": (
        *_KEYS["rates"],
        *(f"{metric}_{name}" for metric in SUBSETS for name in ("value", "low", "high", "n", "fewer")),
        *("unclassified", "answers"),
    ),
}
_FACTS = ("arena", "opening", "methods", "rates", "texts")
_OPEN = re.compile(
    r"\b(apache(?:[- ]licen[cs]e)?[- ]2(?:\.0)?|mit|bsd(?:-[23]-clause)?|unlicense|cc0(?:[- ]1\.0)?|public domain"
    r"|pddl|odc-by|odbl|cc[- ]by(?:[- ]sa)?(?:[- ][34]\.0)?|gpl-3\.0|mpl-2\.0)\b",
    re.IGNORECASE,
)
"""Licences that allow redistribution for any purpose."""
_CLOSED = re.compile(r"\b(nc|nd|non-?commercial|no ?derivatives|proprietary|all rights reserved)\b", re.IGNORECASE)

_DATA_START, _DATA_END = '<script type="application/json" id="figures">', "</script>"
_RANKED = ("System", "Rank", "Rating", "95% interval", "n", "Rank, 95%", "Best", "Wins", "Ties", "Losses", "Battles")
_RATED = (
    *("System", *(part for name in TITLES.values() for part in (name, "95% interval", "n"))),
    *("Unclassified", "Answers"),
)
_JUDGED = ("Judge", "Shown first", "Shown second", "Verdict", "Rationale")
_COLORS = " ".join(
    f"--{name}: light-dark({getattr(LIGHT, name)}, {getattr(DARK, name)});"
    for name in ("text", "muted", "line", "ground")
)
_STYLE = f"""
:root {{ color-scheme: light dark; {_COLORS} }}
body {{ font: 15px/1.5 {FONT}; color: var(--text); background: var(--ground); max-width: 68rem; margin: 2rem auto;
  padding: 0 1rem; }}
h1, h2, h3 {{ font-weight: 600; line-height: 1.2; overflow-wrap: anywhere; }}
p, li, dd {{ max-width: 75ch; overflow-wrap: anywhere; }}
dt, .note, thead th {{ color: var(--muted); font-weight: 500; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .75rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }}
th:first-child, td:first-child, .text th, .text td {{ text-align: start; white-space: normal; }}
svg text {{ font: 12px {FONT}; fill: var(--text); }}
svg line {{ stroke: var(--line); }} svg .range {{ stroke: var(--muted); }}
.mark {{ width: 14px; height: 14px; vertical-align: -2px; margin-inline-end: .4rem; }}
article {{ border-top: 1px solid var(--line); margin-top: 2rem; }}
.answer {{ white-space: pre-wrap; overflow-wrap: anywhere; border-inline-start: 3px solid var(--line);
  padding-inline-start: .9rem; }}
"""
_NAMES, _SIDE, _ROW, _FOOT = 220, 520, 22, 44
"""Pixels of a chart: room for names, side of the plot, height of a row, room for the axis."""
Row = Mapping[str, Any]
Looks = Mapping[str, MakerStyle]


@dataclass(frozen=True, slots=True)
class TextPermission:
    """Decision on showing the texts of an arena, with the reason."""

    allowed: bool
    """Whether texts may be shown."""
    reason: str
    """The reason: the licences."""


def text_permission(arena: Arena, stated: bool | None = None) -> TextPermission:
    """Return whether the licences of an arena's texts allow redistribution.

    Every source of queries, passages and answers that names a licence must name one that allows redistribution; if no
    source of a table names a licence, the arena's licence decides.

    Args:
        arena: the arena.
        stated: the publisher's statement; None to decide by the licences.
    """
    named = (table for table in ("queries", "answers") if table in arena.tables)
    if not any(len(arena.sql(f"SELECT 1 FROM {table} WHERE text IS NOT NULL LIMIT 1")) for table in named):  # noqa: S608
        return TextPermission(False, "the arena has no texts")
    if stated is not None:
        return TextPermission(stated, f"the publisher states that texts may {'' if stated else 'not '}be shown")
    names: list[str] = []
    for table in ("queries", "passages", "answers"):
        if table in arena.tables:
            sources = arena.manifest["made"][table]["from"]
            licences = [str(source["licence"]) for source in sources if source.get("licence")]
            names += licences or [str(arena.manifest["licence"])]
    for name in names:
        if not _OPEN.search(name) or _CLOSED.search(name):
            return TextPermission(False, f"licence {name!r}" if name.strip() else "no licence is recorded")
    return TextPermission(True, "licence " + ", ".join(dict.fromkeys(names)))


def write_report(arena: Arena, path: Path, *, texts: bool | None = None) -> TextPermission:
    """Write the report of an arena into one self-contained HTML file, and return whether it shows texts.

    The file needs no network and runs no script. Names of voters, thoughts and keys of the ledger are never written.

    Args:
        arena: the arena.
        path: the file.
        texts: whether to show texts; None to decide by the licences.

    Raises:
        TableMissing: if the arena has no outcomes and no judgments.
        BadInput: if the file cannot be written.
    """
    figures = _figures(arena, texts)
    write_whole(path, _page(figures, arena, tables=figures["tables"]).encode("utf-8"))
    return TextPermission(**figures["texts"])


def check_report(path: Path, arena: Arena) -> Iterator[Recomputed]:
    """Compute a report from its arena again, part by part, and compare.

    Parts: each table, the other facts, and the page, which must be byte for byte the one that the arena makes. Of its
    numbers only those that it holds as JSON may differ, within `TOLERANCE`; the page is compared only if they agree.

    Args:
        path: a file of `write_report`.
        arena: the arena it was made from.

    Raises:
        BadInput: if the file is not a report.
        ArenaError: if a file of the arena does not match the manifest.
    """
    content = "".join(chunks(path))
    stored = _parse(content, path)
    fresh = _figures(arena, stored["stated"])
    parts = []
    for name, keys in _KEYS.items():
        rows = stored["tables"][name]
        found = compare_rows(name, keys, rows, fresh["tables"][name], tolerance=TOLERANCE)
        parts.append(Recomputed(name, len(rows), None, tuple(found)))
    facts = [(name, fact) for name in _FACTS for fact in dict.fromkeys([*fresh[name], *stored[name]])]
    values = [(name, fact, stored[name].get(fact), fresh[name].get(fact)) for name, fact in facts]
    changed = [Mismatch(name, fact, fact, str(old), str(new)) for name, fact, old, new in values if old != new]
    parts.append(Recomputed("arena, methods and texts", len(values), None, tuple(changed)))
    yield from parts
    if any(part.mismatches for part in parts):
        yield Recomputed("page", 0, "its figures differ")
        return
    page = _page(fresh, arena, tables={name: stored["tables"][name] for name in _KEYS})
    ours, theirs = content.split("\n"), page.split("\n")
    lines = enumerate(zip_longest(ours, theirs, fillvalue=""), 1)
    first = [Mismatch("page", f"line {n}", "HTML", a[:200], b[:200]) for n, (a, b) in lines if a != b][:1]
    if not first and fingerprint(path) != sha256(page.encode("utf-8")).hexdigest():
        first = [Mismatch("page", "file", "encoding", "another", "UTF-8, not compressed")]
    yield Recomputed("page", len(ours), None, tuple(first))


def _figures(arena: Arena, stated: bool | None) -> dict[str, Any]:
    """Compute everything a report shows besides texts, as JSON holds it."""
    if not {"outcomes", "judgments"} & set(arena.tables):
        arena.need("outcomes")
    ratings: list[Row] = []
    methods: dict[str, list[str]] = {}
    for name in judges(arena):
        try:
            view = board_view(arena, BoardChoice((name,)))
        except (NotEnoughData, UnknownName) as error:
            methods[name] = ["", f"not ranked: {error.what}", *([error.where] if error.where else [])]
            continue
        ratings += view.everything.select(_COLUMNS["ratings"]).to_pylist()
        methods[name] = [view.conclusion, view.method, *view.remarks]
    rated: list[Row] = []
    said: dict[str, Any] = {}
    if "outcomes" in arena.tables:
        rates = rates_view(arena, RateChoice(), QueryLabels(has_automatic_labels(arena)))
        rated = rates.by_system.select(_COLUMNS["rates"]).to_pylist()
        said = {"conclusion": rates.conclusion, "remarks": list(rates.remarks)}
    overview = overview_view(arena)
    figures = {
        "format": FORMAT,
        "arena": {
            "Title": arena.title,
            "Numbers": arena.label,
            "Licence": str(arena.manifest["licence"]),
            "Relevance labels": overview.contents.labels,
            "Content of the arena": arena.version,
        },
        "opening": {"findings": list(overview.findings), "contents": overview.contents.summary},
        "methods": methods,
        "rates": said,
        "texts": asdict(text_permission(arena, stated)),
        "stated": stated,
        "tables": {"ratings": ratings, "rates": rated},
    }
    return dict(json.loads(json.dumps(figures)))


def _parse(content: str, path: Path) -> dict[str, Any]:
    """Return the figures of a report."""
    again = f"write it again: mirage export html DIR --into {path.name}"
    block = content.partition(_DATA_START)[2].partition(_DATA_END)[0]
    if not block:
        raise BadInput(f"{path.name} is not a report: it has no figures as JSON", where=str(path), do=again)
    try:
        data = json.loads(block)
        if data["format"] != FORMAT:
            raise ValueError(f"its format is {data['format']!r}, not {FORMAT!r}")
        if not isinstance(data["stated"], bool | None) or not all(_are_facts(data[name]) for name in _FACTS):
            raise ValueError("a part of it has another type")
        for name, columns in _COLUMNS.items():
            for row in data["tables"][name]:
                if (*row,) != columns or not all(isinstance(value, str | float | int | None) for value in row.values()):
                    raise ValueError(f"a row of {name} has other columns or values")
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(f"the figures of the report cannot be read: {error}", where=str(path), do=again) from None
    return dict(data)


def _are_facts(facts: Any) -> bool:
    """Return whether facts are texts or flags, or lists of texts, by name."""
    values = facts.values() if isinstance(facts, dict) else [{}]
    lists = [value if isinstance(value, list) else [value] for value in values if not isinstance(value, bool)]
    return all(isinstance(text, str) for texts in lists for text in texts)


# --- the page ---------------------------------------------------------------------------------------------------------


def _page(figures: Row, arena: Arena, *, tables: Row) -> str:
    """Return a report as HTML; its JSON holds the figures with these tables."""
    rows, rated = figures["tables"]["ratings"], figures["tables"]["rates"]
    looks = distinct_looks(tuple({row["system"] for row in (*rows, *rated)}))
    title = escape(figures["arena"]["Title"])
    facts = figures["arena"] | {"Texts": figures["texts"]["reason"], "Recompute": "mirage check FILE.html --arena DIR"}
    about = "".join(f'<dt>{escape(name)}</dt><dd dir="auto">{escape(fact)}</dd>' for name, fact in facts.items())
    opening = "".join(f"<p>{_text(line)}</p>\n" for line in figures["opening"]["findings"])
    opening += f'<p class="note">{_text(figures["opening"]["contents"])}</p>\n'
    body = [*_ratings(figures, looks), *_rates(figures, looks), *_battles(figures, arena)]
    # Inside a script only this sign could end it or begin a comment.
    data = json.dumps({**figures, "tables": tables}, ensure_ascii=False, indent=0).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'; frame-src 'none'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1 dir="auto">{title}</h1>\n' + opening + "\n".join(body) + f"\n<h2>About</h2>\n<dl>{about}</dl>\n</main>\n"
        f"{_DATA_START}{data}{_DATA_END}\n</body>\n</html>\n"
    )


def _ratings(figures: Row, looks: Looks) -> Iterator[str]:
    for judge, (conclusion, *remarks) in figures["methods"].items():
        yield f"<h2>Ratings by {_text(judge)}</h2>"
        yield f"<p>{_text(conclusion)}</p>" if conclusion not in ("", *figures["opening"]["findings"]) else ""
        rows = [row for row in figures["tables"]["ratings"] if row["judge"] == judge]
        for n, (code, own) in enumerate(_by_language(rows)):
            label = f"Ratings by {judge}: {scope_name(code)}"
            table = _table(_RANKED, ([*_rating_cells(row, looks)] for row in own), label)
            yield f"<h3>{escape(scope_name(code))}</h3>\n{_forest(own, looks, label)}" if n == 0 else ""
            yield table if n == 0 else _details_html(scope_name(code), table)
        yield f'<ul class="note">{"".join(f"<li>{escape(line)}</li>" for line in remarks)}</ul>'


def _rating_cells(row: Row, looks: Looks) -> Iterator[str]:
    yield _system_html(row["system"], looks)
    yield str(row["rank"])
    # The joint row has both ends where only a few languages put no bound.
    open_ = not row["bounded"] and None not in (row["low"], row["high"])
    yield FORMATS["rating"].write(row["rating"]) + (" (not bounded in some language)" if open_ else "")
    yield escape(span(row["low"], row["high"]))
    yield FORMATS["count"].write(row["n"])
    low, high = row["rank_low"], row["rank_high"]
    yield str(low) if low == high else f"{low} to {high}"
    yield escape(row["best"] or "–")
    yield from (FORMATS["count"].write(row[name]) for name in ("wins", "ties", "losses", "battles"))


def _rates(figures: Row, looks: Looks) -> Iterator[str]:
    rows, said = figures["tables"]["rates"], figures["rates"]
    if rows:
        yield f"<h2>Hallucination and error rates</h2>\n<p>{_text(said['conclusion'])}</p>"
    for code, own in _by_language(rows):
        table = _table(_RATED, (_rate_cells(row, looks) for row in own), scope_name(code))
        yield f"{_scatter(own, looks)}\n{table}" if code == "all" else _details_html(scope_name(code), table)
    if rows and said["remarks"]:
        yield f'<ul class="note">{"".join(f"<li>{escape(line)}</li>" for line in said["remarks"])}</ul>'


def _rate_cells(row: Row, looks: Looks) -> list[str]:
    """Return the cells of a system's rates; a mean over fewer languages than others says so."""
    cells = [_system_html(row["system"], looks)]
    for metric in SUBSETS:
        value, low, high, n, fewer = (row[f"{metric}_{name}"] for name in ("value", "low", "high", "n", "fewer"))
        interval = "–" if value is None else escape(span(low, high, "rate"))
        few = f" ({fewer} languages)" if fewer else ""
        cells += [FORMATS["rate"].write(value) + few, interval, FORMATS["count"].write(n)]
    return [*cells, FORMATS["rate"].write(row["unclassified"]), FORMATS["count"].write(row["answers"])]


def _forest(rows: Sequence[Row], looks: Looks, label: str) -> str:
    """Draw ratings with their intervals; an unbounded interval runs to the edge."""
    right = _NAMES + _SIDE
    place, ticks = _scale([row[name] for row in rows for name in ("rating", "low", "high")], _NAMES, right)
    foot = _ROW * len(rows)
    parts = [_tick(place(tick), foot, FORMATS["rating"].write(tick)) for tick in ticks]
    for n, row in enumerate(rows):
        y = _ROW * n + _ROW / 2
        low, high = (edge if row[end] is None else place(row[end]) for end, edge in (("low", _NAMES), ("high", right)))
        parts.append(_label(_NAMES - 12, y + 4, _shorten(row["system"]), "end"))
        parts.append(f'<line class="range" x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_mark(row["system"], looks, place(row["rating"]), y))
    parts.append(_label(_NAMES, foot + 36, "Rating, logits of expected points (higher is better)"))
    return _svg(parts, right + 16, foot + _FOOT, label)


def _scatter(rows: Sequence[Row], looks: Looks) -> str:
    """Draw the trade-off of both rates, with their intervals."""
    shown = {
        row["system"]: tuple(tuple(row[f"{metric}_{end}"] for end in ("value", "low", "high")) for metric in SUBSETS)
        for row in rows
        if all(row[f"{metric}_value"] is not None for metric in SUBSETS)
    }
    across, ticks = _scale([value for first, _ in shown.values() for value in first], 60, _SIDE)
    down, steps = _scale([value for _, second in shown.values() for value in second], _SIDE, 16)
    parts = [_tick(across(tick), _SIDE, FORMATS["rate"].write(tick)) for tick in ticks]
    for step in steps:
        parts.append(f'<line x1="60" x2="{_SIDE}" y1="{down(step):.1f}" y2="{down(step):.1f}"/>')
        parts.append(_label(54, down(step) + 4, FORMATS["rate"].write(step), "end"))
    taken: list[tuple[float, float]] = []
    for name, (first, second) in shown.items():
        (x, left, right), (y, low, high) = map(across, first), map(down, second)
        parts.append(f'<line class="range" x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<line class="range" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>')
        parts.append(_mark(name, looks, x, y))
        # A name that would lie on another is left to the table, which has the same marks.
        if all(abs(x - other) > 8 * len(_shorten(name)) or abs(y - height) > 18 for other, height in taken):
            parts.append(_label(x + 10, y - 5, _shorten(name)))
            taken.append((x, y))
    parts.append(_label(60, _SIDE + 36, f"{TITLES['hallucination']} (lower is better)"))
    parts.append(_label(0, 10, TITLES["error"]))
    return _svg(parts, _SIDE + _NAMES, _SIDE + _FOOT, "Hallucination rate against error rate")


def _scale(values: Iterable[float | None], start: float, end: float) -> tuple[Callable[[float], float], list[float]]:
    """Return a function from a value to pixels, and the values of round ticks."""
    known = [value for value in values if value is not None] or [0.0]
    margin = 0.05 * (max(known) - min(known)) or 0.5
    low, high = min(known) - margin, max(known) + margin
    step = next(s for s in (m * 10.0**e for e in range(-9, 10) for m in (1, 2, 5)) if (high - low) / s <= 7)
    ticks = [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return lambda value: start + (value - low) / (high - low) * (end - start), ticks


def _tick(x: float, foot: float, text: str) -> str:
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{foot}"/>{_label(x, foot + 18, text, "middle")}'


def _label(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _mark(name: str, looks: Looks, x: float, y: float) -> str:
    return f'<g transform="translate({x - 8:.1f} {y - 8:.1f})"><title>{escape(name)}</title>{_shape(looks[name])}</g>'


def _shape(look: MakerStyle) -> str:
    return f'<g style="fill: light-dark({look.light}, {look.dark})">{look.shape}</g>'


def _system_html(name: str, looks: Looks) -> str:
    return f'<svg class="mark" viewBox="0 0 16 16" aria-hidden="true">{_shape(looks[name])}</svg>{_text(name)}'


def _svg(parts: Sequence[str], width: float, height: float, label: str) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<div class="wide"><svg role="img" aria-label="{escape(label)}" {size}>{"".join(parts)}</svg></div>'


def _battles(figures: Row, arena: Arena) -> Iterator[str]:
    yield "<h2>Battles and their texts</h2>"
    if not figures["texts"]["allowed"] or "queries" not in arena.tables:
        yield f'<p class="note">Not shown: {escape(figures["texts"]["reason"])}.</p>'
        return
    for code in arena.languages("queries"):
        rows = arena.read("queries", columns=["query_id", "subset", "text"], languages=[code]).to_pylist()
        shown = rows[:QUERIES]
        answers = _by_query(arena, "answers", ("query_id", "system", "text", "status"), code)
        judged = ("query_id", "judge", "system_a", "system_b", "verdict", "rationale")
        verdicts = _by_query(arena, "judgments", judged, code)
        outcomes = _by_query(arena, "outcomes", ("query_id", "system", "parser", "outcome"), code)
        articles = []
        for query in shown:
            of = query["query_id"]
            articles.append(_article(query, answers[of], outcomes[of], verdicts[of], code))
        summary = f"{scope_name(code)}: {len(shown):,} of {count_text(len(rows), 'query')}"
        yield _details_html(summary, "\n".join(articles))


def _article(query: Row, answers: Sequence[Row], outcomes: Sequence[Row], verdicts: Sequence[Row], code: str) -> str:
    read = {row["system"]: row["outcome"] for row in outcomes if row["parser"] == "strict"}
    language = f'lang="{escape(code)}" dir="auto"'
    subset = f", {escape(query['subset'].replace('_', '-'))}" if query["subset"] else ""
    parts = [f"<article><h3 {language}>{escape(query['text'] or 'No text')}</h3>"]
    parts.append(f'<p class="note">Query {_text(query["query_id"])}{subset}</p>')
    for row in answers:
        outcome = escape((read.get(row["system"]) or row["status"]).replace("_", " "))
        parts.append(f'<p>{_text(row["system"])} <span class="note">{outcome}</span></p>')
        parts.append(f'<p class="answer" {language}>{escape(row["text"]) if row["text"] else "–"}</p>')
    if verdicts:
        names = ("judge", "system_a", "system_b", "verdict", "rationale")
        lines = ([_text(row[name]) for name in names] for row in verdicts)
        table = _table(_JUDGED, lines, f"Verdicts on {query['query_id']}", kind=' class="text"')
        parts.append(_details_html(count_text(len(verdicts), "verdict"), table))
    return "\n".join([*parts, "</article>"])


def _by_query(arena: Arena, table: str, columns: Sequence[str], code: str) -> dict[str, list[Row]]:
    """Return the rows of a table in a language by query; none if the arena lacks them."""
    there = table in arena.tables and code in arena.languages(table)
    return _group(arena.read(table, columns=columns, languages=[code]).to_pylist() if there else [], "query_id")


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]], label: str, *, kind: str = "") -> str:
    """Return a table that scrolls sideways on a narrow screen."""
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "\n".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}"><table{kind}>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _details_html(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def _by_language(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Return the rows by language, `all` first."""
    return sorted(_group(rows, "language").items(), key=lambda item: item[0] != "all")


def _group(rows: Iterable[Row], column: str) -> dict[str, list[Row]]:
    """Return the rows by the value of a column."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[column]].append(row)
    return found


def _text(words: str | None) -> str:
    """Return a text of an arena, escaped, in its own direction."""
    return "–" if words is None else f'<bdi dir="auto">{escape(words)}</bdi>'


def _shorten(name: str) -> str:
    return name if len(name) <= 30 else f"{name[:29]}…"
