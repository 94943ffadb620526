"""Export dialog for a page's charts and tables, drawn only when opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from mirage.explorer.kit.captions import caption, figure_latex
from mirage.explorer.kit.page_parts import CARD, ChartPart, PageParts, TablePart
from mirage.publish.charts.palette import FORMATS, Kind
from mirage.publish.charts.paper import DOTS_AN_INCH, FACES, PIXELS_AN_INCH, WIDTHS, Face, Width, for_paper
from mirage.store.export import to_csv
from mirage.text.printing import PrintedColumn, label_text, latex_table, markdown_table

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.explorer.kit.columns import Col

_SCREEN = "screen"
_WIDE, _HIGH = 900, 450
"""Default size of a picture in pixels."""
_NO_VALUE = "–"
_PICTURE = "take_out_picture"
_SAVE_JS = """
export default function (component) {
  // The camera of the chart saves it with Plotly's own code, in this browser.
  const button = component.parentElement.querySelector("button")
  button.textContent = component.data.label
  button.onclick = () => document.querySelector(component.data.camera)?.click()
}
"""
_CSS = """
button {
  font: inherit; color: #fff; background: var(--st-primary-color); border: 0; cursor: pointer;
  border-radius: var(--st-button-radius); font-size: 0.875rem; padding: 0.25rem 0.75rem; min-height: 2.5rem;
}
button:focus-visible { outline: 2px solid var(--st-text-color); outline-offset: 1px; }
"""


@st.dialog("Figures and tables", width="large")
def take_out(parts: PageParts, name: str, summary: str, facts: Mapping[str, Any]) -> None:
    """Select a chart or a table, preview it, and save it.

    Args:
        parts: the page's charts and tables.
        name: stem of file names.
        summary: the page's n, for captions.
        facts: method and settings, for captions.
    """
    # Parts on the page come first.
    pictures = sorted(parts.charts.values(), key=lambda part: part.kind == CARD)
    charts = {f"{part.kind}: {part.alt.rstrip('.')}": part for part in pictures}
    tables = {f"Table: {_title(key)}": part for key, part in parts.tables.items()}
    chosen = st.selectbox("Item", [*charts, *tables], key="take_out_what")
    if chosen in charts:
        _chart(charts[chosen], name, summary, facts)
    elif chosen in tables:
        _table(tables[chosen], chosen.removeprefix("Table: "), name, summary, facts)


def printed_columns(rows: pa.Table, columns: Sequence[Col]) -> tuple[PrintedColumn, ...]:
    """Return a page's table for printing: as on the screen, with intervals as `[low, high]`.

    Args:
        rows: its rows.
        columns: its columns.
    """
    return tuple(_table_text(rows, columns, col) for col in columns)


def raw_columns(rows: pa.Table, columns: Sequence[Col]) -> pa.Table:
    """Return the columns of a page's table unrounded, with both ends of each interval."""
    names = [part for col in columns for part in (col.name, col.low, col.high) if part]
    return rows.select(list(dict.fromkeys(names)))


def _chart(part: ChartPart, name: str, summary: str, facts: Mapping[str, Any]) -> None:
    with st.container(horizontal=True, gap="medium"):
        size = _SCREEN
        if part.kind != CARD:
            size = st.radio(
                "Size", [_SCREEN, *WIDTHS], key="take_out_size", horizontal=True, help=("Column widths of a paper.")
            )
        formats = ["PNG", "SVG"] if part.kind == CARD else ["SVG", "PNG"]
        file_format = st.radio("Format", formats, key=f"take_out_format_{part.kind}", horizontal=True)
        face: Face = FACES[0]
        if size != _SCREEN:
            face = st.radio("Font", FACES, key="take_out_face", horizontal=True)
    figure = part.draw()
    if size != _SCREEN:
        figure = for_paper(figure, width=cast(Width, size), face=face)
    file = label_text(f"{name}-{part.name}" if size == _SCREEN else f"{name}-{part.name}-{size}")
    layout = figure["layout"]
    options = {
        "format": file_format.lower(),
        "filename": file,
        "width": int(layout.get("width") or _WIDE),
        "height": int(layout.get("height") or _HIGH),
        # An SVG has no dots; its size is in pixels of which 96 make an inch.
        "scale": 1 if file_format == "SVG" else 3 if size == _SCREEN else DOTS_AN_INCH / PIXELS_AN_INCH,
    }
    with st.container(key=_PICTURE):
        st.plotly_chart(
            figure,
            key=f"take_out_{file}_{face}_{file_format}",
            width="content" if size != _SCREEN else "stretch",
            theme=None,
            config={"displaylogo": False, "modeBarButtons": [["toImage"]], "toImageButtonOptions": options},
            alt=part.alt,
        )
    words = caption(part.alt, summary, facts)
    st.caption("Caption")
    st.code(words, language=None, wrap_lines=True)
    with st.container(horizontal=True, gap="small"):
        save = st.components.v2.component("mirage_save_picture", html="<button></button>", css=_CSS, js=_SAVE_JS)
        camera = f".st-key-{_PICTURE} .modebar-btn"
        save(key="take_out_save", width="content", data={"label": f"Save {file_format}", "camera": camera})
        st.download_button("Caption", words, f"{file}.txt", "text/plain", on_click="ignore")
        st.download_button(
            "LaTeX figure",
            figure_latex(file, words, wide=size != WIDTHS[0]),
            f"{file}.tex",
            "application/x-tex",
            on_click="ignore",
            help="Figure environment with caption.",
        )


def _table(part: TablePart, title: str, name: str, summary: str, facts: Mapping[str, Any]) -> None:
    columns = printed_columns(part.rows, part.columns)
    words = caption(title, summary, facts)
    file = label_text(f"{name}-{title}")
    texts = {
        "LaTeX": (latex_table(columns, caption=words, label=file), "tex", "application/x-tex", "latex"),
        "Markdown": (markdown_table(columns, caption=words), "md", "text/markdown", "markdown"),
        "CSV": (to_csv(raw_columns(part.rows, part.columns)), "csv", "text/csv", None),
    }
    kind = st.radio("Format", list(texts), key="take_out_table", horizontal=True)
    text, ending, mime, language = texts[kind]
    st.download_button(f"Save {kind}", text, f"{file}.{ending}", mime, on_click="ignore", type="primary")
    if kind == "CSV":
        st.caption("Unrounded values.")
    st.code(text, language=language, height=320)


def _title(key: str) -> str:
    return key.replace("_", " ").capitalize()


def _table_text(rows: pa.Table, columns: Sequence[Col], col: Col) -> PrintedColumn:
    values = rows[col.name].to_pylist()
    if col.kind in ("system", "text"):
        return PrintedColumn(col.label, tuple("" if value is None else str(value) for value in values))
    if col.kind in ("interval", "span"):
        ends = list(zip(rows[col.low].to_pylist(), rows[col.high].to_pylist(), strict=True))
        if col.kind == "span":
            cells = ("" if None in pair else f"{pair[0]:g} to {pair[1]:g}" for pair in ends)
            return PrintedColumn(col.label, tuple(cells), number=True)
        kind = _kind(columns, col)
        bands = (_band(value, low, high, col, kind) for value, (low, high) in zip(values, ends, strict=True))
        return PrintedColumn(col.label, tuple(bands), number=True)
    form = FORMATS[cast(Kind, col.kind)]
    texts = (form.write(value).removeprefix(_NO_VALUE) for value in values)
    return PrintedColumn(col.label, tuple(texts), number=True)


def _kind(columns: Sequence[Col], col: Col) -> Kind:
    """Return the number format of an interval: that of its value, in the same or another column."""
    if col.written:
        return col.written
    of_value = (other.kind for other in columns if other.name == col.name and other.kind in FORMATS)
    return cast(Kind, next(of_value, "value"))


def _band(value: float | None, low: float | None, high: float | None, col: Col, kind: Kind) -> str:
    if value is None:
        return ""
    write = FORMATS[kind].write
    number = f"{write(value)} " if col.written else ""
    if not col.endless and None in (low, high):
        return number.strip()
    return f"{number}[{'−∞' if low is None else write(low)}, {'+∞' if high is None else write(high)}]"
