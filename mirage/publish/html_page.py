"""The markup of a report: tables, charts as SVG, and texts, in one page without scripts.

Everything from an arena is escaped here. The page's Content-Security-Policy forbids scripts and requests.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from mirage.publish.charts.palette import DARK, FONT, FORMATS, LIGHT, Kind, distinct_looks, span
from mirage.text.languages import scope_name
from mirage.text.segmentation import count_text

DATA_START, DATA_END = '<script type="application/json" id="figures">', "</script>"
"""Marks around the figures as JSON."""
_JOINT = "all"
_RATE_NAMES = {"non_relevant": "Hallucination rate", "relevant": "Error rate"}
_RANKED = ("Rank", "System", "Rating", "95% interval", "Rank, 95%", "Best", "Wins", "Ties", "Losses", "Battles")
_RATED = ("System", *(f"{part}" for name in _RATE_NAMES.values() for part in (name, "95% interval", "n")), "Undecided")
_STYLE = """
:root {{ color-scheme: light dark; {light} }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} .l {{ display: none; }} }}
@media (prefers-color-scheme: light) {{ .d {{ display: none; }} }}
body {{ font: 15px/1.5 {font}; color: var(--text); background: var(--ground); max-width: 68rem; margin: 2rem auto;
  padding: 0 1rem; }}
h1, h2, h3 {{ font-weight: 600; line-height: 1.2; overflow-wrap: anywhere; }}
p, li, dd {{ max-width: 75ch; overflow-wrap: anywhere; }}
dt, .note, thead th {{ color: var(--muted); font-weight: 500; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .75rem; border-bottom: 1px solid var(--line); text-align: start; font-weight: 400; }}
.n {{ text-align: right; white-space: nowrap; }}
svg text {{ font: 12px {font}; fill: var(--text); }}
svg .axis {{ fill: var(--muted); }} svg line {{ stroke: var(--line); }} svg .range {{ stroke: var(--muted); }}
.mark {{ width: 14px; height: 14px; vertical-align: -2px; margin-inline-end: .4rem; }}
article {{ border-top: 1px solid var(--line); margin-top: 2rem; }}
.answer {{ white-space: pre-wrap; overflow-wrap: anywhere; border-inline-start: 3px solid var(--line);
  padding-inline-start: .9rem; }}
"""
_ROW, _NAMES, _WIDTH, _SIDE = 22, 220, 760, 520
"""Pixels: height of a chart's row, width of the names, width of the ratings chart, side of the scatter."""


@dataclass(frozen=True, slots=True)
class QueryTexts:
    """A query with the texts and verdicts on it."""

    query_id: str
    subset: str | None
    text: str | None
    answers: Sequence[Mapping[str, Any]]
    """`system`, `text`, `outcome`: its outcome by the strict parser, or else its status."""
    verdicts: Sequence[Mapping[str, Any]]
    """`judge`, `system_a`, `system_b`, `verdict`, `rationale`."""


def page(figures: Mapping[str, Any], texts: Sequence[tuple[str, int, Sequence[QueryTexts]]]) -> str:
    """Return a report as HTML.

    Args:
        figures: its figures, as they are stored in it (`mirage.publish.html_report`).
        texts: by language: its code, the number of its queries, and those to show.
    """
    arena, ratings, rates = figures["arena"], figures["tables"]["ratings"], figures["tables"]["rates"]
    systems = Systems({row["system"] for row in (*ratings, *rates)})
    title = escape(arena["title"])
    style = _STYLE.format(font=FONT, **{name: _variables(ink) for name, ink in (("light", LIGHT), ("dark", DARK))})
    body = [*_ratings(figures, systems), *_rates(rates, systems), *_battles(texts, figures), *_about(figures)]
    # Inside a script only this sign could end it or begin a comment.
    data = json.dumps(figures, ensure_ascii=False, indent=0).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en" dir="ltr">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'{systems.symbols()}\n<main>\n<h1 dir="auto">{title}</h1>\n'
        + "\n".join(body)
        + f"\n</main>\n{DATA_START}{data}{DATA_END}\n"
        "</body>\n</html>\n"
    )


class Systems:
    """Marks of systems, all different."""

    def __init__(self, names: Iterable[str]) -> None:
        self._looks = distinct_looks(tuple(sorted(names)))
        self._places = {name: n for n, name in enumerate(sorted(self._looks))}

    def symbols(self) -> str:
        """Return the definition of every mark, in both modes."""
        symbols = (
            f'<symbol id="s{n}" viewBox="0 0 16 16"><g class="l" fill="{self._looks[name].light}">'
            f'{self._looks[name].shape}</g><g class="d" fill="{self._looks[name].dark}">{self._looks[name].shape}</g>'
            "</symbol>"
            for name, n in self._places.items()
        )
        return f'<svg width="0" height="0" aria-hidden="true">{"".join(symbols)}</svg>'

    def drawn(self, name: str, x: float, y: float) -> str:
        """Return a system's mark inside a chart."""
        return f'<use href="#s{self._places[name]}" x="{x - 8:.1f}" y="{y - 8:.1f}" width="16" height="16"/>'

    def named(self, name: str) -> str:
        """Return a system's mark and name as HTML."""
        used = f'<use href="#s{self._places[name]}"/>'
        return f'<svg class="mark" viewBox="0 0 16 16" aria-hidden="true">{used}</svg>{_text(name)}'


def _ratings(figures: Mapping[str, Any], systems: Systems) -> Iterator[str]:
    rows = figures["tables"]["ratings"]
    for judge, remarks in figures["methods"].items():
        yield f"<h2>Ratings by {_text(judge)}</h2>"
        by_language = _by_language(row for row in rows if row["judge"] == judge)
        for n, (code, of) in enumerate(sorted(by_language.items(), key=lambda item: item[0] != _JOINT)):
            label = f"Ratings by {judge}: {scope_name(code)}"
            table = _table(_RANKED, ([*_rating_cells(row, systems)] for row in of), label=label, text=1)
            if n == 0:
                yield f"<h3>{escape(scope_name(code))}</h3>\n{_forest(of, systems, label)}\n{table}"
            else:
                yield f"<details><summary>{escape(scope_name(code))}</summary>{table}</details>"
        yield f'<ul class="note">{"".join(f"<li>{escape(line)}</li>" for line in remarks)}</ul>'


def _rating_cells(row: Mapping[str, Any], systems: Systems) -> Iterator[str]:
    yield str(row["rank"])
    yield systems.named(row["system"])
    # The joint row has both ends where only a few languages put no bound.
    open_ = not row["bounded"] and None not in (row["low"], row["high"])
    yield _number(row["rating"], "rating") + (" (not bounded in some language)" if open_ else "")
    yield escape(span(row["low"], row["high"]))
    low, high = row["rank_low"], row["rank_high"]
    yield str(low) if low == high else f"{low} to {high}"
    yield row["best"] or "–"
    yield from (_number(row[name], "count") for name in ("wins", "ties", "losses", "battles"))


def _rates(rows: Sequence[Mapping[str, Any]], systems: Systems) -> Iterator[str]:
    if rows:
        yield "<h2>Hallucination and error rates</h2>"
    for code, of in sorted(_by_language(rows).items(), key=lambda item: item[0] != _JOINT):
        cells = {(row["subset"], row["system"]): row for row in of}
        names = sorted({row["system"] for row in of})
        lines = [_rate_cells([cells.get((subset, name)) for subset in _RATE_NAMES], name, systems) for name in names]
        table = _table(_RATED, lines, label=f"Rates: {scope_name(code)}", text=0)
        if code == _JOINT:
            yield f"{_scatter(cells, names, systems)}\n{table}"
        else:
            yield f"<details><summary>{escape(scope_name(code))}</summary>{table}</details>"


def _rate_cells(rates: Sequence[Mapping[str, Any] | None], name: str, systems: Systems) -> list[str]:
    cells = [systems.named(name)]
    for rate in rates:
        if rate is None:
            cells += ["–"] * 3
            continue
        known = rate["rate"] is not None
        cells += [
            _number(rate["rate"], "rate"),
            escape(span(rate["rate_low"], rate["rate_high"], "rate")) if known else "–",
            _number(rate["answered"] + rate["abstained"], "count"),
        ]
    undecided = [rate["undecided"] for rate in rates if rate is not None and rate["undecided"] is not None]
    return [*cells, _number(sum(undecided) / len(undecided), "rate") if undecided else "–"]


def _forest(rows: Sequence[Mapping[str, Any]], systems: Systems, label: str) -> str:
    """Draw ratings with their intervals; an unbounded interval runs to the edge."""
    place, ticks = _scale([row[name] for row in rows for name in ("rating", "low", "high")], _NAMES, _WIDTH - 16)
    foot = _ROW * len(rows)
    parts = _ticks(ticks, place, foot, "rating")
    for n, row in enumerate(rows):
        y, x = _ROW * n + _ROW / 2, place(row["rating"])
        low = _NAMES if row["low"] is None else place(row["low"])
        high = _WIDTH - 16 if row["high"] is None else place(row["high"])
        parts.append(
            f"<g><title>{escape(row['system'])}: {escape(_number(row['rating'], 'rating'))}</title>"
            f'<text x="{_NAMES - 12}" y="{y + 4:.1f}" text-anchor="end">{escape(_shorten(row["system"]))}</text>'
            f'<line class="range" x1="{low:.1f}" x2="{high:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f"{systems.drawn(row['system'], x, y)}</g>"
        )
    title = "Rating, logits of expected points (higher is better)"
    parts.append(f'<text class="axis" x="{_NAMES}" y="{foot + 36}">{title}</text>')
    return _svg(parts, _WIDTH, foot + 44, label)


def _scatter(cells: Mapping[tuple[str, str], Mapping[str, Any]], names: Sequence[str], systems: Systems) -> str:
    """Draw the trade-off of both rates, with their intervals."""
    first, second = _RATE_NAMES
    pairs = [(name, cells.get((first, name), {}), cells.get((second, name), {})) for name in names]
    shown = [pair for pair in pairs if None not in (pair[1].get("rate"), pair[2].get("rate"))]
    ends = ("rate", "rate_low", "rate_high")
    across, ticks = _scale([item[1][end] for item in shown for end in ends], 60, _SIDE)
    down, steps = _scale([item[2][end] for item in shown for end in ends], _SIDE, 16)
    parts = _ticks(ticks, across, _SIDE, "rate")
    for step in steps:
        y = down(step)
        parts.append(f'<line x1="60" x2="{_SIDE}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="axis" x="54" y="{y + 4:.1f}" text-anchor="end">{_number(step, "rate")}</text>')
    taken: list[tuple[float, float]] = []
    for name, hallucination, error in shown:
        x, y = across(hallucination["rate"]), down(error["rate"])
        ranges = (
            (across(hallucination["rate_low"]), across(hallucination["rate_high"]), y, y),
            (x, x, down(error["rate_low"]), down(error["rate_high"])),
        )
        parts.append(f"<g><title>{escape(name)}</title>")
        parts += [f'<line class="range" x1="{a:.1f}" x2="{b:.1f}" y1="{c:.1f}" y2="{d:.1f}"/>' for a, b, c, d in ranges]
        parts.append(systems.drawn(name, x, y))
        # A name that would lie on another is left to the table, which has the same marks.
        if all(abs(x - other) > 8 * len(_shorten(name)) or abs(y - height) > 18 for other, height in taken):
            parts.append(f'<text x="{x + 10:.1f}" y="{y - 5:.1f}">{escape(_shorten(name))}</text>')
            taken.append((x, y))
        parts.append("</g>")
    parts.append(f'<text class="axis" x="60" y="{_SIDE + 36}">{_RATE_NAMES["non_relevant"]} (lower is better)</text>')
    parts.append(f'<text class="axis" x="0" y="10">{_RATE_NAMES["relevant"]}</text>')
    return _svg(parts, _SIDE + _NAMES, _SIDE + 44, "Hallucination rate against error rate")


def _scale(values: Iterable[float | None], start: float, end: float) -> tuple[Any, list[float]]:
    """Return a function from a value to pixels, and the values of round ticks."""
    known = [value for value in values if value is not None] or [0.0]
    low, high = min(known), max(known)
    margin = 0.05 * (high - low) or 0.5
    low, high = low - margin, high + margin
    step = next(s for s in (m * 10.0**e for e in range(-9, 10) for m in (1, 2, 5)) if (high - low) / s <= 7)
    ticks = [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return lambda value: start + (value - low) / (high - low) * (end - start), ticks


def _ticks(ticks: Sequence[float], place: Any, foot: float, kind: Kind) -> list[str]:
    return [
        f'<line x1="{place(tick):.1f}" x2="{place(tick):.1f}" y1="0" y2="{foot}"/>'
        f'<text class="axis" x="{place(tick):.1f}" y="{foot + 18}" text-anchor="middle">{_number(tick, kind)}</text>'
        for tick in ticks
    ]


def _svg(parts: Sequence[str], width: float, height: float, label: str) -> str:
    return (
        f'<div class="wide"><svg role="img" aria-label="{escape(label)}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">{"".join(parts)}</svg></div>'
    )


def _battles(texts: Sequence[tuple[str, int, Sequence[QueryTexts]]], figures: Mapping[str, Any]) -> Iterator[str]:
    yield "<h2>Battles and their texts</h2>"
    if not texts:
        yield f'<p class="note">Not shown: {escape(figures["texts"]["reason"])}.</p>'
    for code, total, queries in texts:
        counts = f"{len(queries):,} of {count_text(total, 'query')}"
        yield f"<details><summary>{escape(scope_name(code))}: {counts}</summary>"
        for query in queries:
            yield from _query(query, code)
        yield "</details>"


def _query(query: QueryTexts, code: str) -> Iterator[str]:
    language = f'lang="{escape(code)}" dir="auto"'
    subset = f", {query.subset.replace('_', '-')}" if query.subset else ""
    yield f"<article><h3 {language}>{escape(query.text or 'No text')}</h3>"
    yield f'<p class="note">Query {_text(query.query_id)}{subset}</p>'
    for answer in query.answers:
        outcome = escape(answer["outcome"].replace("_", " "))
        yield f'<p>{_text(answer["system"])} <span class="note">{outcome}</span></p>'
        yield f'<p class="answer" {language}>{escape(answer["text"]) if answer["text"] else "–"}</p>'
    if query.verdicts:
        columns = ("judge", "system_a", "system_b", "verdict")
        heads = ("Judge", "Shown first", "Shown second", "Verdict", "Rationale")
        lines = ([*(escape(row[name]) for name in columns), _text(row["rationale"])] for row in query.verdicts)
        table = _table(heads, lines, label=f"Verdicts on {query.query_id}", text=len(heads))
        yield f"<details><summary>{count_text(len(query.verdicts), 'verdict')}</summary>{table}</details>"
    yield "</article>"


def _about(figures: Mapping[str, Any]) -> Iterator[str]:
    arena, settings = figures["arena"], figures["settings"]
    facts = {
        "Numbers": arena["label"],
        "Licence": arena["licence"],
        "Relevance labels": arena["labels"],
        "Content of the arena": arena["version"],
        "Texts": figures["texts"]["reason"],
        "Draws and seed": f"{settings['draws']:,}, {settings['seed']}",
        "Format": figures["format"],
        "Recompute": "mirage check FILE.html --arena DIR",
    }
    lines = "".join(f'<dt>{name}</dt><dd dir="auto">{escape(str(value))}</dd>' for name, value in facts.items())
    yield f"<h2>About</h2>\n<dl>{lines}</dl>"


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]], *, label: str, text: int) -> str:
    """Return a table that scrolls sideways on a narrow screen; cells up to number `text` and no others are text."""

    def cells(tag: str, values: Sequence[str]) -> str:
        sides = ("" if n == text or text == len(heads) else ' class="n"' for n in range(len(heads)))
        return "".join(f"<{tag}{side}>{value}</{tag}>" for side, value in zip(sides, values, strict=True))

    body = "\n".join(f"<tr>{cells('td', line)}</tr>" for line in lines)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}"><table>\n'
        f"<thead><tr>{cells('th', heads)}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _by_language(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["language"], []).append(row)
    return found


def _text(words: str | None) -> str:
    """Return a text of an arena, escaped, in its own direction."""
    return "–" if words is None else f'<bdi dir="auto">{escape(words)}</bdi>'


def _number(value: float | None, kind: Kind) -> str:
    return FORMATS[kind].write(value)


def _shorten(name: str) -> str:
    return name if len(name) <= 30 else f"{name[:29]}…"


def _variables(colors: Any) -> str:
    return " ".join(f"--{name}: {getattr(colors, name)};" for name in ("text", "muted", "line", "ground"))
