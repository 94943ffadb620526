"""Tables to sort and to read: the system on the left with its mark, numbers right-aligned and formatted by kind, help
on every column header, intervals drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal
from urllib.parse import quote, urlencode

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from mirage import schema
from mirage.explorer.kit.pick import link_state
from mirage.explorer.kit.text import note
from mirage.publish.charts.palette import FORMATS, ROW, Kind, Mode, family, ink, span
from mirage.text.languages import is_code, scope_name

ROWS = 100
"""Maximum rows of a table on the page; longer tables scroll."""
WINDOW = 25
"""Visible rows of a scrolling table."""
SLIDE = 2.0
"""Width of a table that fills a slide, in heights."""
ColKind = Literal["system", "text", "language", "interval", "span"] | Kind

_WIDTHS: dict[str, int] = {
    "system": 172,
    "language": 110,
    "interval": 112,
    "span": 72,
    "rating": 62,
    "rate": 78,
    "points": 70,
    "mean": 74,
    "probability": 74,
    "count": 66,
    "rank": 50,
    "difference": 82,
    "value": 74,
}
"""Default width in pixels by kind of column."""


@dataclass(frozen=True, slots=True)
class Col:
    """One column of a table on a page."""

    name: str
    """Column of the rows; for `interval` and `span` the column its ends belong to."""
    label: str
    """Column header."""
    kind: ColKind
    """`system`: a system's name with its mark, which is pinned; `text`; `language`: a code,
    shown as the language's name; a kind of number (`palette.FORMATS`);
    `interval`: value, low and high drawn on one scale; `span`: two whole numbers as `low–high`."""
    help: str = ""
    """Meaning, shown on the head."""
    low: str = ""
    """Column of the lower end, for `interval` and `span`."""
    high: str = ""
    """Column of the upper end."""
    width: int | None = None
    """Pixels; by kind unless given."""
    zero: float = 0.0
    """Position of the dashed line, for `interval`."""
    ends: tuple[float, float] | None = None
    """Ends of the scale, for `interval`; by default the range of the data."""
    endless: bool = False
    """Whether a null end means unbounded and the scale holds the dashed line, for `interval`."""
    written: Kind | Literal["ends"] | None = None
    """Text next to the band, for `interval`: the value in a number format, or both ends; None to omit it."""
    right: bool = False
    """Whether to right-align a `text`, like numbers."""
    remark: str = ""
    """Column of a remark on a number, written after it in brackets. With `low` and `high` these are the remark."""

    @property
    def takes_remark(self) -> bool:
        """Return whether a remark may follow its numbers, which then begin on the left."""
        return bool(self.remark or self.low) and self.kind not in ("interval", "span")

    @property
    def pixels(self) -> int | None:
        """Return its width; None if its kind has none."""
        return self.width or _WIDTHS.get(self.kind)


def column(of: str | type, name: str, label: str = "", kind: ColKind | None = None, *, width: int | None = None) -> Col:
    """Return a column as the catalogue has it (`schema.column`): head, format and meaning.

    Args:
        of: the table of the schema, or the dataclass of a result.
        name: the column.
        label: a shorter head; empty for the catalogue's.
        kind: a format of its own; None for the catalogue's.
        width: pixels; by format unless given.
    """
    known = schema.column(of, name)
    kind = kind or ("system" if name == "system" else "language" if known.languages else known.format)
    return Col(name, label or known.label, kind, known.meaning, width=width)


def estimate(value: Col, *, stem: str = "", width: int | None = None, about: str = "95% interval.") -> tuple[Col, Col]:
    """Return the columns of a value and of its interval.

    Args:
        value: the column of the value.
        stem: name of the ends before `_low` and `_high`; empty for the name of the value.
        width: pixels of the interval; the usual width unless given.
        about: meaning of the interval.
    """
    low, high = (f"{stem or value.name}_{end}" for end in ("low", "high"))
    return value, Col(value.name, "95%", "interval", about, low=low, high=high, width=width)


_OTHER, _FITTING = 120, 1_040
"""Approximate pixels of a column without a width; and the total width that fits next to the sidebar in a window of
1,440 pixels: wider tables pin the names, which draws them pale."""
_MARK = 32
"""Pixels of the mark of a system."""
_WRITTEN = 46
"""Pixels of a value written next to its band."""


def mode() -> Mode:
    """Return the colour mode of the page."""
    return "dark" if st.context.theme.type == "dark" else "light"


def band(
    name: str,
    label: str,
    meaning: str,
    written: Kind = "rate",
    *,
    zero: float = 0.0,
    ends: tuple[float, float] | None = None,
) -> Col:
    """Return one column for a value, written, and its 95% interval, drawn; the ends are in `_low` and `_high`.

    Args:
        name: the column of the value.
        label: its head.
        meaning: its meaning.
        written: format of the value.
        zero: position of the dashed line.
        ends: ends of the scale; the range of the data unless given.
    """
    low, high = f"{name}_low", f"{name}_high"
    about = f"{meaning} Band: 95% interval."
    return Col(name, label, "interval", about, low=low, high=high, width=128, zero=zero, ends=ends, written=written)


def table(
    rows: pa.Table, columns: Sequence[Col], *, key: str, select: bool = False, height: int | None = None
) -> int | None:
    """Show rows, up to `ROWS` of them without scrolling, unless a height is given.

    Args:
        rows: Arrow table; a null shows as a dash.
        columns: what to show, in order.
        key: unique on the page.
        select: let a reader select one row.
        height: pixels; by the number of rows unless given.

    Returns:
        Index of the selected row, or None.
    """
    data, config = _prepare_once(key, rows, tuple(columns))
    chosen = _Chosen.of(key, len(rows)) if select else None
    shown: Any = st.dataframe(
        data,
        key=key,
        hide_index=True,
        row_height=ROW,
        height=height or ROW * ((len(rows) if len(rows) <= ROWS else WINDOW) + 1) + 3,
        column_config=config,
        placeholder="–",
        on_select="rerun" if select else "ignore",
        selection_mode=("single-row", "single-cell"),
        selection_default=chosen.default if chosen is not None else None,
    )
    if len(rows) > ROWS:
        note(f"{len(rows):,} rows; scroll to see all.")
    # Clicking any cell, or the arrow keys, selects the row like its check box.
    picked = (shown.selection.rows or [row for row, _ in shown.selection.cells]) if select else []
    row = picked[0] if picked and picked[0] < len(rows) else None
    if chosen is not None:
        chosen.row, chosen.of_rows = row, len(rows)
    return row


def _prepare_once(key: str, rows: pa.Table, columns: tuple[Col, ...]) -> tuple[pa.Table, dict[str, Any]]:
    """Return `prepare_table`; what was drawn last with this key if rows, columns, mode and looks are the same."""
    marked = {"system", *(col.name for col in columns if col.kind == "system")}.intersection(rows.column_names)
    # A system's look depends on what else the arena has.
    looks = [family(system) for name in sorted(marked) for system in rows[name].to_pylist()]
    same = rows, columns, ink(), looks
    drawn: dict[str, tuple[Any, tuple[pa.Table, dict[str, Any]]]] = st.session_state.setdefault("_prepared", {})
    if key not in drawn or drawn[key][0] != same:
        drawn[key] = same, prepare_table(rows, columns)
    return drawn[key][1]


@dataclass
class _Chosen:
    """Selected row of a table of an arena. Streamlit forgets it when the reader visits another page."""

    row: int | None = None
    of_rows: int = 0
    default: Any = None
    """Initial selection; constant while the page is open, since a change would redraw the table."""

    @classmethod
    def of(cls, key: str, rows: int) -> _Chosen:
        """Return the selection in the table with this key and number of rows."""
        choices: dict[tuple[Any, str], _Chosen] = st.session_state.setdefault("_chosen_rows", {})
        chosen = choices.setdefault((st.session_state.get("arena"), key), cls())
        if link_state().arrived:
            known = chosen.row is not None and chosen.of_rows == rows
            chosen.default = {"selection": {"rows": [chosen.row]}} if known else None
        return chosen


def filter_rows(rows: pa.Table, column: str, values: Sequence[str]) -> pa.Table:
    """Return the rows whose column has one of these values."""
    return rows.filter(pc.is_in(rows[column], value_set=pa.array(values, pa.string())))


def prepare_table(rows: pa.Table, columns: Sequence[Col]) -> tuple[pa.Table, dict[str, Any]]:
    """Return the rows as Streamlit draws them, and the configuration of its columns."""
    data: dict[str, Any] = {}
    config: dict[str, Any] = {}
    wide = sum(col.pixels or _OTHER for col in columns) > _FITTING
    for col in columns:
        width = col.pixels
        head: dict[str, Any] = {"label": col.label, "help": col.help or None, "width": width}
        values = rows[col.name]
        if col.kind == "system":
            names = values.to_pylist()
            data["_mark"] = [dot(name) for name in names]
            config["_mark"] = st.column_config.ImageColumn(
                "",
                width=_MARK,
                pinned=True,
                help="Mark and colour of the system, by maker; the same in every chart.",
            )
            data[col.name] = names
            config[col.name] = st.column_config.TextColumn(**head, pinned=wide)
        elif col.kind == "interval":
            name = f"{col.name}_interval"
            data[name] = interval_images(rows, col)
            config[name] = st.column_config.ImageColumn(**head)
        elif col.kind in FORMATS and not any(_remarks(rows, col)):
            form = FORMATS[col.kind]
            data[col.name] = values
            if form.rewrites:
                data[col.name] = pa.array([form.table_value(v) for v in values.to_pylist()], pa.float64())
            config[col.name] = st.column_config.NumberColumn(**head, format=form.table)
        else:
            name = f"{col.name}_span" if col.kind == "span" else col.name
            data[name] = _words(rows, col)
            right = col.right or col.kind == "span"
            config[name] = st.column_config.TextColumn(**head, alignment="right" if right else None)
    return pa.table(data), config


def with_values(rows: pa.Table, columns: Sequence[Col]) -> tuple[Col, ...]:
    """Return the columns that have a value in some row."""
    return tuple(col for col in columns if set(rows[col.name].to_pylist()) - {None, ""})


def drop_constant(rows: pa.Table, columns: Sequence[Col]) -> tuple[tuple[Col, ...], str]:
    """Return the columns that differ by row, and the others in words: `answers 7,795 (aya 7,769), licence MIT`.

    A count that differs for one of many systems is among these. A name, a rank and a value with an interval stay, and
    so do all columns of a single row.
    """
    kept: list[Col] = []
    said: list[str] = []
    stay = {col.name for col in columns if col.kind in ("system", "rank", "interval")}
    for col in columns:
        values = [] if col.name in stay or len(rows) < 2 else _texts(rows, col)
        [(most, n), *others] = Counter(values).most_common() or [("", 0)]
        one = col.kind == "count" and "system" in rows.column_names and len(rows) >= _MANY and n == len(rows) - 1
        if n < len(rows) and not one:
            kept.append(col)
        elif most != _NO_VALUE:
            other = f" ({rows['system'][values.index(others[0][0])]} {others[0][0]})" if one else ""
            said.append(f"{col.label[:1].lower()}{col.label[1:]} {most}{other}")
    return tuple(kept), ", ".join(said)


def span_texts(rows: pa.Table, col: Col) -> list[str | None]:
    """Return the cells of a column of two whole numbers; None where either is unknown."""
    return [_ends_text(*ends) for ends in zip(rows[col.low].to_pylist(), rows[col.high].to_pylist(), strict=True)]


def _ends_text(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{low:g}–{high:g}" if low != high else f"{low:g}"


def language_names(rows: pa.Table, col: Col) -> list[str | None]:
    """Return the cells of a column of language codes as names; codes that name no language stay as they are."""
    return [scope_name(code) if is_code(code) or code == "all" else code for code in rows[col.name].to_pylist()]


def dot(system: str) -> str:
    """Return the mark of a system's family as an image."""
    system_family = family(system)
    return _image(16, 16, f"<g fill='{system_family.color}'>{system_family.shape}</g>")


def mark_html(system: str) -> str:
    """Return the mark of a system as HTML, with its maker's name; inline, since images are separate documents."""
    look = family(system)
    style = escape(f"background: {look.color}; clip-path: {look.outline}")
    return f'<span class="mg-mark" role="img" aria-label="{escape(look.name)}" style="{style}"></span>'


def legend(systems: Iterable[str]) -> None:
    """Show the marks of systems with their names, for charts without labels."""
    entries = (f"<span>{mark_html(system)} <bdi>{escape(system)}</bdi></span>" for system in systems)
    st.html(f'<div class="mg-legend">{"".join(entries)}</div>')


def interval_images(rows: pa.Table, col: Col) -> list[str | None]:
    """Draw the cells of a column of intervals: value and interval of each row as a band with a tick, all on one scale
    (`Col.ends`, or that of the rows); a broken line marks zero.
    """
    systems = rows["system"].to_pylist() if "system" in rows.column_names else []
    values, lows, highs = (rows[name].to_pylist() for name in (col.name, col.low, col.high))
    known = [v for v in (*values, *lows, *highs) if v is not None]
    if not known:
        return [None] * len(values)
    scale = [*known, col.zero] if col.endless else known
    least, most = col.ends or (min(scale), max(scale))
    reach = (most - least) or 1.0
    width, height, pad = (col.pixels or _OTHER) - 20, 20, 6
    left = pad + (_WRITTEN if col.written else 0)

    def x(value: float) -> float:
        return round(left + (value - least) / reach * (width - left - pad), 1)

    colors = ink()
    line = f"<path d='M{x(col.zero)} 0V{height}' stroke='{colors.muted}' stroke-dasharray='2 2'/>"
    line = line if least < col.zero < most or col.endless else ""
    out: list[str | None] = []
    for i, value in enumerate(values):
        if value is None:
            out.append(None)
            continue
        low, high = lows[i], highs[i]
        color = family(systems[i]).color if i < len(systems) else colors.accent
        band = ""
        if col.endless or (low is not None and high is not None):
            start, end = (left if low is None else x(low)), (width - pad if high is None else x(high))
            reach_px = round(end - start, 1)
            band = f"<rect x='{start}' y='6' width='{reach_px}' height='8' rx='1' fill='{color}' fill-opacity='.4'/>"
            if low is None:
                band += f"<path d='M{left} 4L{left - pad} 10L{left} 16z' fill='{color}' fill-opacity='.7'/>"
            if high is None:
                band += f"<path d='M{width - pad} 4L{width} 10L{width - pad} 16z' fill='{color}' fill-opacity='.7'/>"
        tick = f"<path d='M{x(value)} 4V16' stroke='{color}' stroke-width='2.4'/>"
        text = ""
        if col.written:
            style = f"font-family='sans-serif' font-size='11' text-anchor='end' fill='{colors.text}'"
            ends = _ends_text(low, high) if low != high else ""
            words = ends if col.written == "ends" else FORMATS[col.written].write(value)
            text = f"<text x='{_WRITTEN - 2}' y='14.5' {style}>{words or ''}</text>"
        out.append(_image(width, height, line + band + tick + text))
    return out


def _image(width: int, height: int, body: str) -> str:
    size = f"width='{width}' height='{height}' viewBox='0 0 {width} {height}'"
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' {size}>{body}</svg>"
    return "data:image/svg+xml;utf8," + quote(svg, safe=" ='/:.<>")


_NO_VALUE = "–"
_MANY = 5
"""Rows from which one that differs is named beside the value of all others."""
_AT_START = ("system", "text", "language", "interval")
"""Left-aligned kinds; all others are numbers."""


def plain_table(rows: pa.Table, columns: Sequence[Col], *, key: str) -> None:
    """Show rows as a static table.

    Args:
        rows: Arrow table; a null shows as a dash.
        columns: what to show, in order, as for `table`.
        key: unique on the page.
    """
    if len(rows) > ROWS:
        table(rows, columns, key=key)
        return
    st.html(table_html(rows, columns=tuple(columns), arena=st.session_state.get("arena", "")))


def table_html(rows: pa.Table, columns: Sequence[Col], arena: str = "") -> str:
    """Return the table as HTML; all cell texts are escaped.

    Args:
        rows: as for `plain_table`.
        columns: as for `plain_table`.
        arena: arena of the systems, to link their names to their pages; empty for no links.
    """
    heads = "".join(map(_head, columns))
    cells = zip(*(_cells(rows, col, arena) for col in columns), strict=True)
    lines = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return wide_table(heads, lines)


def wide_table(heads: str, lines: str, *, classes: str = "mg-table", label: str = "Table") -> str:
    """Return a table in a box of its own, which scrolls sideways and takes the keyboard's focus.

    Args:
        heads: HTML of the heads of the columns.
        lines: HTML of the rows.
        classes: the table's classes in the stylesheet.
        label: what a screen reader calls the box.
    """
    return (
        f'<div class="mg-wide" tabindex="0" role="region" aria-label="{escape(label)}">'
        f'<table class="{classes}"><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table></div>'
    )


def _head(col: Col) -> str:
    about = f' title="{escape(col.help)}"' if col.help else ""
    least = f' style="min-width: {col.pixels}px"' if col.pixels else ""
    return f'<th scope="col"{_side(col)}{about}{least}>{escape(col.label)}</th>'


def _side(col: Col) -> str:
    start = (col.kind in _AT_START and not col.right) or col.takes_remark
    return "" if start else ' class="mg-number"'


def _cells(rows: pa.Table, col: Col, arena: str) -> list[str]:
    """Return the cells of a column."""
    if col.kind == "interval":
        images = interval_images(rows, col)
        ends = zip(rows[col.low].to_pylist(), rows[col.high].to_pylist(), strict=True)
        alts = [span(low, high, "value") for low, high in ends]
        return [_picture(image, alt) for image, alt in zip(images, alts, strict=True)]
    if col.kind == "system":
        return [system_head(name, arena) for name in rows[col.name].to_pylist()]
    return [f"<td{_side(col)}><bdi>{escape(text)}</bdi></td>" for text in _texts(rows, col)]


def _remarks(rows: pa.Table, col: Col) -> list[str | None]:
    """Return the remark in brackets after each number of a column; None without one."""
    if not col.takes_remark:
        return [None] * len(rows)
    if col.remark:
        remarks: list[str | None] = rows[col.remark].to_pylist()
        return remarks
    equal = [low == high for low, high in zip(rows[col.low].to_pylist(), rows[col.high].to_pylist(), strict=True)]
    return [None if same else ends for same, ends in zip(equal, span_texts(rows, col), strict=True)]


def _words(rows: pa.Table, col: Col) -> list[str | None]:
    """Return the cells of a column that is not drawn, as plain text; None where there is none."""
    if col.kind == "span":
        return span_texts(rows, col)
    if col.kind == "language":
        return language_names(rows, col)
    values: list[Any] = rows[col.name].to_pylist()
    if col.kind not in FORMATS:
        return [None if value is None else str(value) for value in values]
    texts, remarks = [FORMATS[col.kind].write(value) for value in values], _remarks(rows, col)
    if not any(remarks):
        return list(texts)
    # Texts of one length sort like their numbers; a figure space is as wide as a digit.
    widest = max(map(len, texts))
    return [
        text.rjust(widest, "\u2007") + (f" ({remark})" if remark else "")
        for text, remark in zip(texts, remarks, strict=True)
    ]


def _texts(rows: pa.Table, col: Col) -> list[str]:
    """Return the cells of a column as plain text, with a dash where there is none."""
    return [_NO_VALUE if text is None else text for text in _words(rows, col)]


def table_svg(rows: pa.Table, columns: Sequence[Col], *, aspect: float = 0.0) -> str:
    """Return the first rows of a table (`WINDOW`) as a picture in SVG.

    Args:
        rows: as for `table`.
        columns: as for `table`.
        aspect: minimum width in heights; the columns are spread to reach it.
    """
    rows = rows.slice(0, WINDOW)
    colors, parts, left = ink(), [], 0
    widths = [(col.pixels or _OTHER) + (_MARK if col.kind == "system" else 0) for col in columns]
    height = ROW * (len(rows) + 1)
    spread = max(1.0, aspect * height / sum(widths))
    for col, width in zip(columns, (round(spread * width) for width in widths), strict=True):
        images: list[str | None] = []
        if col.kind == "system":
            images = [dot(name) for name in rows[col.name].to_pylist()]
        elif col.kind == "interval":
            images = interval_images(rows, col)
        texts = [col.label, *([] if col.kind == "interval" else _texts(rows, col))]
        start, anchor = left + 8 + (_MARK if col.kind == "system" else 0), "start"
        if _side(col):
            start, anchor = left + width - 8, "end"
        for k, text in enumerate(texts):
            color = colors.text if k else colors.muted
            place = f"x='{start}' y='{ROW * k + 20}' text-anchor='{anchor}' fill='{color}'"
            parts.append(f"<text {place}>{escape(text)}</text>")
        for k, image in enumerate(images, 1):
            if image is not None:
                parts.append(f"<image x='{left + 10}' y='{ROW * k + 5}' height='20' href='{escape(image)}'/>")
        left += width
    size = f"width='{left}' height='{height}'"
    style = "font-family='system-ui, Noto Sans, sans-serif' font-size='14'"
    return f"<svg xmlns='http://www.w3.org/2000/svg' {size} {style}>{''.join(parts)}</svg>"


def system_head(system: str, arena: str) -> str:
    """Return the head of a system's row: its mark, and its name as a link to its page (`page_link`)."""
    return f'<th scope="row">{mark_html(system)} {page_link("leaderboard", system, arena=arena, system=system)}</th>'


def page_link(page: str, words: str, *, arena: str, **params: str | Sequence[str]) -> str:
    """Return plain words as a link to a page of an arena, in HTML; without a link if the arena is empty."""
    text = f"<bdi>{escape(words)}</bdi>"
    address = escape(f"{page}?{urlencode({**params, 'arena': arena}, doseq=True)}")
    return f'<a href="{address}" target="_self">{text}</a>' if arena else text


def _picture(image: str | None, alt: str) -> str:
    if image is None:
        return f"<td>{_NO_VALUE}</td>"
    return f'<td title="{escape(alt)}"><img src="{escape(image)}" alt="{escape(alt)}"></td>'
