"""An arena as one HTML file that opens anywhere: who is best, the rates, and the battles that decide, with their texts.

The file holds its figures as JSON too, with the arena's content id, so that `check_report` can compute them from the
arena again and compare. Everything from an arena is escaped; the page's Content-Security-Policy forbids scripts and
requests.
"""

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
from typing import Any

from mirage import schema
from mirage.battles.judge import judges
from mirage.errors import BadInput, UnknownName
from mirage.pipeline.recompute import TOLERANCE, Mismatch, Recomputed, compare_rows
from mirage.publish.charts.palette import DARK, FONT, FORMATS, LIGHT, MakerStyle, distinct_looks, span
from mirage.ranking.board import Ranked
from mirage.ranking.judges import Judge
from mirage.ranking.scale import win_rate
from mirage.stats.label_errors import QueryLabels
from mirage.store.arena import Arena
from mirage.store.export import write_whole
from mirage.store.files import LONGEST_OF_OWN, chunks, fingerprint
from mirage.store.labels import has_automatic_labels
from mirage.store.records import is_longer
from mirage.text.languages import scope_name
from mirage.views.battle import battle_view
from mirage.views.influence import InfluentialBattle, influence_view
from mirage.views.overview import OverviewChoice, overview_view
from mirage.views.query import AnswerView
from mirage.views.rates import QUERIES, SUBSETS, TITLES, RateChoice, rates_view

FORMAT = "mirage report 8"
"""Version of the figures and the markup; a change of either needs another."""
_KEYS = {"ratings": ("judge", "language", "system"), "rates": ("language", "system"), "battles": InfluentialBattle.key}
"""Tables of a report, each with its key."""
_COLUMNS = {
    "ratings": tuple(column.name for column in schema.columns(Ranked)),
    "rates": (
        *_KEYS["rates"],
        *(f"{metric}_{name}" for metric in SUBSETS for name in ("value", "low", "high", "n", "fewer")),
        *("unclassified", "answers"),
    ),
    "battles": tuple(column.name for column in schema.columns(InfluentialBattle)),
}
_FACTS = ("arena", "opening", "ranking", "rates", "influence", "texts")
_OPEN = re.compile(
    r"\b(apache(?:[- ]licen[cs]e)?[- ]2(?:\.0)?|mit|bsd(?:-[23]-clause)?|unlicense|cc0(?:[- ]1\.0)?|public domain"
    r"|pddl|odc-by|odbl|cc[- ]by(?:[- ]sa)?(?:[- ][34]\.0)?|gpl-3\.0|mpl-2\.0)\b",
    re.IGNORECASE,
)
"""Licences that allow redistribution for any purpose."""
_CLOSED = re.compile(r"\b(nc|nd|non-?commercial|no ?derivatives|proprietary|all rights reserved)\b", re.IGNORECASE)

_DATA_START, _DATA_END = '<script type="application/json" id="figures">', "</script>"
_RANKED = ("Rank", "System", "Win rate", "95% interval", "", "Queries")
_RATED = ("System", *TITLES.values(), *(name.capitalize() for name in QUERIES.values()), "Unclassified")
_COLORS = " ".join(
    f"--{name}: light-dark({getattr(LIGHT, name)}, {getattr(DARK, name)});"
    for name in ("text", "muted", "line", "ground")
)
_SIDE, _HEIGHT, _EDGE, _FOOT = 480, 360, 56, 44
"""Pixels of a chart: width and height of the plot, room for the labels of its axes."""
_BAR = 220
"""Pixels of the interval of a row."""
_STYLE = f"""
:root {{ color-scheme: light dark; {_COLORS} }}
body {{ font: 15px/1.5 {FONT}; color: var(--text); background: var(--ground); max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }}
h1, h2, h3 {{ font-weight: 600; line-height: 1.2; overflow-wrap: anywhere; }}
h1 {{ font-size: 1rem; color: var(--muted); }}
h2 {{ margin-top: 2.5rem; }}
.finding {{ font-size: 1.5rem; font-weight: 600; line-height: 1.3; }}
p, li, dd {{ max-width: 75ch; overflow-wrap: anywhere; }}
dt, .note, small, thead th {{ color: var(--muted); font-weight: 500; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .5rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }}
.name {{ text-align: start; white-space: normal; min-width: 8rem; overflow-wrap: anywhere; }}
.system {{ display: flex; gap: .4rem; align-items: center; }}
small {{ display: block; }}
summary {{ cursor: pointer; padding: .25rem 0; }}
svg {{ max-width: 100%; height: auto; }}
svg text {{ font: 14px {FONT}; fill: var(--text); }}
svg line {{ stroke: var(--line); }} svg .range {{ stroke: var(--muted); }}
.mark {{ flex: none; width: 14px; height: 14px; }}
.bar {{ width: {_BAR}px; max-width: none; height: 22px; vertical-align: middle; }}
ol {{ padding-inline-start: 2rem; }}
.answer {{ white-space: pre-wrap; overflow-wrap: anywhere; border-inline-start: 3px solid var(--line);
  padding-inline-start: .9rem; }}
@media (max-width: 30rem) {{
  table {{ font-size: 13px; }}
  th, td {{ padding: .25rem; }}
  ol {{ padding-inline-start: 1.25rem; }}
}}
@media print {{
  body {{ font-size: 10pt; max-width: none; margin: 0; }}
  .printed::details-content {{ content-visibility: visible; height: auto; }}
  .wide {{ overflow: visible; }}
  h2, h3, summary {{ break-after: avoid; }}
  tr, svg {{ break-inside: avoid; }}
}}
"""
Row = Mapping[str, Any]
Looks = Mapping[str, MakerStyle]
Place = Callable[[float], float]
"""From a value to pixels."""


@dataclass(frozen=True, slots=True)
class TextPermission:
    """Decision on showing the texts of an arena, with the reason."""

    allowed: bool
    """Whether texts may be shown."""
    reason: str
    """The reason: the licences."""


def text_permission(arena: Arena, stated: bool | None = None) -> TextPermission:
    """Return whether a report shows the texts of an arena.

    Every licence that a source of queries, passages and answers names must allow redistribution; if no source of a
    table names one, the arena's licence decides. Texts without any licence are the owner's own.

    Args:
        arena: the arena.
        stated: the publisher's statement; None to decide by the licences.
    """
    there = (table for table in ("queries", "answers") if table in arena.tables)
    if not any(len(arena.sql(f"SELECT 1 FROM {table} WHERE text IS NOT NULL LIMIT 1")) for table in there):  # noqa: S608
        return TextPermission(False, "the arena has no texts")
    if stated is not None:
        return TextPermission(stated, f"the publisher states that texts may {'' if stated else 'not '}be shown")
    names: list[str] = []
    for table in ("queries", "passages", "answers"):
        if table in arena.tables:
            sources = arena.manifest["made"][table]["from"]
            licences = [str(source["licence"]) for source in sources if source.get("licence")]
            names += licences or [str(arena.manifest["licence"]).strip()]
    for name in filter(None, names):
        if not _OPEN.search(name) or _CLOSED.search(name):
            return TextPermission(False, f"licence {name!r}")
    if "" in names:
        return TextPermission(True, "no licence is recorded: the owner's own texts; --no-texts leaves them out")
    return TextPermission(True, "licence " + ", ".join(dict.fromkeys(names)))


def write_report(arena: Arena, path: Path, *, judge: str = "", texts: bool | None = None) -> TextPermission:
    """Write the report of an arena into one self-contained HTML file, and return whether it shows texts.

    The file needs no network and runs no script. Names of voters, thoughts and keys of the ledger are never written.

    Args:
        arena: the arena.
        path: the file.
        judge: the judge that ranks; empty for the arena's default.
        texts: whether to show texts; None to decide by the licences.

    Raises:
        TableMissing: if the arena has no outcomes and no judgments.
        UnknownName: if it has no such judge.
        BadInput: if the file cannot be written.
    """
    figures = _figures(arena, judge, texts)
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
    if is_longer(path, LONGEST_OF_OWN):
        raise BadInput(f"{path.name} is not a report: it is too long", where=str(path), do="give a report")
    content = "".join(chunks(path))
    stored = _parse(content, path)
    fresh = _figures(arena, stored["chosen"], stored["stated"])
    parts = []
    for name, keys in _KEYS.items():
        rows = stored["tables"][name]
        found = compare_rows(name, keys, rows, fresh["tables"][name], tolerance=TOLERANCE)
        parts.append(Recomputed(name, len(rows), None, tuple(found)))
    facts = [(name, fact) for name in _FACTS for fact in dict.fromkeys([*fresh[name], *stored[name]])]
    values = [(name, fact, stored[name].get(fact), fresh[name].get(fact)) for name, fact in facts]
    changed = [Mismatch(name, fact, fact, str(old), str(new)) for name, fact, old, new in values if old != new]
    parts.append(Recomputed("arena, sentences and texts", len(values), None, tuple(changed)))
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


def _figures(arena: Arena, judge: str, stated: bool | None) -> dict[str, Any]:
    """Compute everything a report shows besides texts, as JSON holds it."""
    if not {"outcomes", "judgments"} & set(arena.tables):
        arena.need("outcomes")
    if judge and judge not in judges(arena):
        raise UnknownName("judge", judge, judges(arena))
    overview = overview_view(arena, OverviewChoice(judge=judge))
    board = overview.board
    ranking, influence = {}, {}
    tables: dict[str, list[Row]] = {name: [] for name in _KEYS}
    if board is not None:
        lead = influence_view(arena, overview.choice)
        ranking = {"judge": overview.judge, "method": board.method, "remarks": list(board.remarks)}
        influence = {"conclusion": lead.conclusion}
        tables["ratings"] = board.everything.select(_COLUMNS["ratings"]).to_pylist()
        tables["battles"] = lead.battles.to_pylist()
    said: dict[str, Any] = {}
    if "outcomes" in arena.tables:
        rates = rates_view(arena, RateChoice(), QueryLabels(has_automatic_labels(arena)))
        tables["rates"] = rates.by_system.select(_COLUMNS["rates"]).to_pylist()
        said = {"conclusion": rates.conclusion, "remarks": list(rates.remarks)}
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
        "ranking": ranking,
        "rates": said,
        "influence": influence,
        "texts": asdict(text_permission(arena, stated)),
        "chosen": judge,
        "stated": stated,
        "tables": tables,
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
        typed = isinstance(data["stated"], bool | None) and isinstance(data["chosen"], str)
        if not typed or not all(_are_facts(data[name]) for name in _FACTS):
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
    about = "".join(
        f'<dt>{escape(name)}</dt><dd dir="auto">{escape(fact)}</dd>' for name, fact in facts.items() if fact
    )
    first, *others = figures["opening"]["findings"] or [""]
    opening = f'<p class="finding">{_text(first)}</p>\n' + "".join(f"<p>{_text(line)}</p>\n" for line in others)
    opening += f'<p class="note">{_text(figures["opening"]["contents"])}</p>\n'
    body = [*_ratings(figures, looks), *_rates(figures, looks), *_battles(figures, arena), *_methods(figures)]
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
    rows = figures["tables"]["ratings"]

    def table(code: str, own: Sequence[Row]) -> str:
        place, _ = _scale([win_rate(row[name]) for row in own for name in ("rating", "low", "high")], 8, _BAR - 8)
        lines = [[*_rating_cells(row, looks, place)] for row in own]
        return _table(_RANKED, lines, f"Ranking: {scope_name(code)}", name=1)

    if rows:
        note = "Win rate: expected share of points against the average system."
        yield f'<h2>Ranking</h2>\n<p class="note">{note}</p>\n{_first_and_others(rows, table)}'


def _rating_cells(row: Row, looks: Looks, place: Place) -> Iterator[str]:
    low, high = row["rank_low"], row["rank_high"]
    yield str(low) if low == high else f"{low} to {high}"
    yield _system_html(row["system"], looks)
    value, start, end = (win_rate(row[name]) for name in ("rating", "low", "high"))
    # The joint row has both ends where only a few languages put no bound.
    open_ = not row["bounded"] and None not in (start, end)
    yield FORMATS["rate"].write(value) + ("<small>not bounded in some language</small>" if open_ else "")
    yield escape(span(start, end, "rate"))
    left, right = 0 if start is None else place(start), _BAR if end is None else place(end)
    line = f'<line class="range" x1="{left:.1f}" x2="{right:.1f}" y1="11" y2="11"/>'
    line += _mark(row["system"], looks, place(value or 0.0), 11)
    yield f'<svg class="bar" viewBox="0 0 {_BAR} 22" aria-hidden="true">{line}</svg>'
    yield FORMATS["count"].write(row["n"])


def _rates(figures: Row, looks: Looks) -> Iterator[str]:
    rows, said = figures["tables"]["rates"], figures["rates"]

    def table(code: str, own: Sequence[Row]) -> str:
        cells = _table(_RATED, [_rate_cells(row, looks) for row in own], f"Rates: {scope_name(code)}")
        return f"{_scatter(own, looks)}\n{cells}" if code == "all" else cells

    if rows:
        yield f"<h2>Hallucination and error rates</h2>\n<p>{_text(said['conclusion'])}</p>"
    if any(row[f"{metric}_value"] is not None for row in rows for metric in SUBSETS):
        yield _first_and_others(rows, table)
    if rows:
        yield _list(said["remarks"]) if said["remarks"] else ""


def _rate_cells(row: Row, looks: Looks) -> list[str]:
    """Return the cells of a system's rates; a mean over fewer languages than others says so."""
    cells = [_system_html(row["system"], looks)]
    for metric in SUBSETS:
        value, low, high, fewer = (row[f"{metric}_{name}"] for name in ("value", "low", "high", "fewer"))
        few = f" ({fewer} languages)" if fewer else ""
        interval = "" if value is None else f"<small>{escape(span(low, high, 'rate'))}{few}</small>"
        cells.append(FORMATS["rate"].write(value) + interval)
    counts = (FORMATS["count"].write(row[f"{metric}_n"]) for metric in SUBSETS)
    return [*cells, *counts, FORMATS["rate"].write(row["unclassified"])]


def _methods(figures: Row) -> Iterator[str]:
    ranking = figures["ranking"]
    if ranking:
        head = f"Method of the ranking by {_text(ranking['judge'])}"
        lines = _list([ranking["method"], *ranking["remarks"]])
        yield f'<details class="printed"><summary>{head}</summary>{lines}</details>'


def _scatter(rows: Sequence[Row], looks: Looks) -> str:
    """Draw the trade-off of both rates, with their intervals; nothing for fewer than two systems with both."""
    shown = {
        row["system"]: tuple(tuple(row[f"{metric}_{end}"] for end in ("value", "low", "high")) for metric in SUBSETS)
        for row in rows
        if all(row[f"{metric}_value"] is not None for metric in SUBSETS)
    }
    if len(shown) < 2:
        return ""
    across, ticks = _scale([value for first, _ in shown.values() for value in first], _EDGE, _SIDE)
    down, steps = _scale([value for _, second in shown.values() for value in second], _HEIGHT, 20)
    parts = [_tick(across(tick), _HEIGHT, FORMATS["rate"].write(tick)) for tick in ticks]
    for step in steps:
        parts.append(f'<line x1="{_EDGE}" x2="{_SIDE}" y1="{down(step):.1f}" y2="{down(step):.1f}"/>')
        parts.append(_label(_EDGE - 6, down(step) + 4, FORMATS["rate"].write(step), "end"))
    taken: list[tuple[float, float]] = []
    for name, (first, second) in shown.items():
        (x, left, right), (y, low, high) = map(across, first), map(down, second)
        parts.append(f'<line class="range" x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<line class="range" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>')
        parts.append(_mark(name, looks, x, y))
        # A name that would lie on another is left to the table, which has the same marks.
        if all(abs(x - other) > 9 * len(_shorten(name)) or abs(y - height) > 20 for other, height in taken):
            side, anchor = (-10, "end") if x > _SIDE / 2 else (10, "start")
            parts.append(_label(x + side, y - 5, _shorten(name), anchor))
            taken.append((x, y))
    parts.append(_label(_EDGE, _HEIGHT + 38, f"{TITLES['hallucination']} (lower is better)"))
    parts.append(_label(0, 12, TITLES["error"]))
    return _svg(parts, _SIDE + 16, _HEIGHT + _FOOT, "Hallucination rate against error rate")


def _scale(values: Iterable[float | None], start: float, end: float) -> tuple[Place, list[float]]:
    """Return a function from a value to pixels, and the values of round ticks."""
    known = [value for value in values if value is not None] or [0.0]
    margin = 0.05 * (max(known) - min(known)) or 0.5
    low, high = min(known) - margin, max(known) + margin
    step = next(s for s in (m * 10.0**e for e in range(-9, 10) for m in (1, 2, 5)) if (high - low) / s <= 7)
    ticks = [step * n for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    return lambda value: start + (value - low) / (high - low) * (end - start), ticks


def _tick(x: float, foot: float, text: str) -> str:
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="20" y2="{foot}"/>{_label(x, foot + 18, text, "middle")}'


def _label(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _mark(name: str, looks: Looks, x: float, y: float) -> str:
    return f'<g transform="translate({x - 8:.1f} {y - 8:.1f})"><title>{escape(name)}</title>{_shape(looks[name])}</g>'


def _shape(look: MakerStyle) -> str:
    return f'<g style="fill: light-dark({look.light}, {look.dark})">{look.shape}</g>'


def _system_html(name: str, looks: Looks) -> str:
    mark = f'<svg class="mark" viewBox="0 0 16 16" aria-hidden="true">{_shape(looks[name])}</svg>'
    return f'<span class="system">{mark}{_text(name)}</span>'


def _svg(parts: Sequence[str], width: float, height: float, label: str) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return f'<svg role="img" aria-label="{escape(label)}" {size}>{"".join(parts)}</svg>'


def _battles(figures: Row, arena: Arena) -> Iterator[str]:
    battles, texts = figures["tables"]["battles"], figures["texts"]
    if not figures["influence"]:
        return
    yield f"<h2>Battles that decide</h2>\n<p>{_text(figures['influence']['conclusion'])}</p>"
    if battles and not texts["allowed"]:
        yield f'<p class="note">Texts are not shown: {escape(texts["reason"])}.</p>'
    if battles:
        judge = Judge.from_name(figures["ranking"]["judge"])
        items = "\n".join(f"<li>{_battle(row, judge, arena, texts=texts['allowed'])}</li>" for row in battles)
        yield f"<ol>{items}</ol>"


def _battle(row: Row, judge: Judge, arena: Arena, *, texts: bool) -> str:
    """Return a battle with what the lead would be without it, folded over its texts if these may be shown."""
    code, query_id = row["language"], row["query_id"]
    shown = battle_view(arena, (code, query_id), row["first"], row["second"], judge)
    language = f'lang="{escape(code)}" dir="auto"'
    change = f"{row['change']:+.2g}".replace("-", "−")
    line = f"{_text(shown.conclusion)} <span>The lead without it: {change} points.</span>"
    named = f'<span class="note">{escape(scope_name(code))}, query {_text(query_id)}</span>'
    if not texts:
        return f"{named}<br>{line}"
    parts = [part for answer in (shown.first, shown.second) for part in _answer(answer, language)]
    for judgment in shown.judged(judge.name) if judge.asked else ():
        if judgment.rationale:
            said = f"{_text(judgment.system_a)} first, {_text(judgment.system_b)} second: {escape(judgment.verdict)}"
            parts.append(f'<p class="note">{said}. {_text(judgment.rationale)}</p>')
    head = f"<strong {language}>{escape(shown.query.text or 'No text')}</strong><br>{line}<br>{named}"
    return f'<details class="printed"><summary>{head}</summary>{"".join(parts)}</details>'


def _answer(answer: AnswerView, language: str) -> Iterator[str]:
    outcome = escape((answer.outcome or answer.status or "").replace("_", " "))
    yield f'<p>{_text(answer.system)} <span class="note">{outcome}</span></p>'
    yield f'<p class="answer" {language}>{escape(answer.text) if answer.text else "–"}</p>'


def _table(heads: Sequence[str], lines: Sequence[Sequence[str]], label: str, *, name: int = 0) -> str:
    """Return a table that scrolls sideways on a narrow screen; `name` is the column of the system. A column that says
    the same in every row is a line below it.
    """
    same = [n for n in range(name + 1, len(heads)) if len(lines) > 1 and len({line[n] for line in lines}) == 1]
    shown = [n for n in range(len(heads)) if n not in same]

    def row(tag: str, cells: Sequence[str]) -> str:
        kinds = {n: ' class="name"' if n == name else "" for n in shown}
        return f"<tr>{''.join(f'<{tag}{kind}>{cells[n]}</{tag}>' for n, kind in kinds.items())}</tr>"

    body = "\n".join(row("td", line) for line in lines)
    each = "; ".join(f"{heads[n]}: {lines[0][n]} each" for n in same if heads[n] and lines[0][n] != "–")
    note = f'\n<p class="note">{each}.</p>' if each else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}"><table>\n'
        f"<thead>{row('th', heads)}</thead>\n<tbody>\n{body}\n</tbody></table></div>{note}"
    )


def _list(lines: Sequence[str]) -> str:
    return f'<ul class="note">{"".join(f"<li>{escape(line)}</li>" for line in lines)}</ul>'


def _first_and_others(rows: Iterable[Row], table: Callable[[str, Sequence[Row]], str]) -> str:
    """Return the table over all languages, or of the only one, and those of several languages folded below it."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["language"]].append(row)
    first, *others = sorted(found, key=lambda code: code != "all")
    others = others if len(others) > 1 else []
    folded = "\n".join(f"<h3>{escape(scope_name(code))}</h3>\n{table(code, found[code])}" for code in others)
    by_language = f"<details><summary>By language</summary>{folded}</details>" if others else ""
    return table(first, found[first]) + by_language


def _text(words: str | None) -> str:
    """Return a text of an arena, escaped, in its own direction."""
    return "–" if words is None else f'<bdi dir="auto">{escape(words)}</bdi>'


def _shorten(name: str) -> str:
    return name if len(name) <= 30 else f"{name[:29]}…"
