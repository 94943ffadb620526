"""A matrix of query and passage languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.layout import LEAST, side_by_side
from mirage.explorer.kit.table import mode
from mirage.publish.charts.figures import MapCell, shades, square_map
from mirage.publish.charts.palette import FORMATS, Mode, label_text, span
from mirage.text.languages import in_order, name_of, scope_name

_OWN = "own"
"""The language of each query, as a language of passages."""


def show_pairs(rows: Sequence[Mapping[str, Any]], *, key: str, alt: str, signed: bool = False) -> None:
    """Show a value for each pair of languages as a matrix.

    Args:
        rows: as for `pair_matrix`.
        key: unique on the page.
        alt: what the matrix shows.
        signed: whether values are differences of shares.
    """
    figure = pair_matrix(rows, signed=signed, mode=mode())
    fitting = [width for width in LEAST if width >= figure["layout"]["width"]]
    place = side_by_side((fitting[0], 1), (320, 99), key=key)[0] if fitting else st.container()
    with place:
        chart(figure, key=f"{key}_matrix", alt=alt, wide=not fitting, half=bool(fitting))


def pair_matrix(rows: Sequence[Mapping[str, Any]], *, signed: bool, mode: Mode) -> dict[str, Any]:
    """Draw one value per pair of languages as square marks, one row per query language.

    Args:
        rows: `query_language, passage_language, value, low, high, n` of each pair; `all` and `own` come last.
        signed: whether values are differences of shares in [-1, 1], else shares in [0, 1].
        mode: light or dark.
    """
    asked = in_order({row["query_language"] for row in rows})
    spoken = sorted({row["passage_language"] for row in rows}, key=lambda code: (code == _OWN, code))
    queries = {code: scope_name(code) for code in asked}
    passages = {code: "The query's own" if code == _OWN else name_of(code) for code in spoken}
    cells = []
    for row, shade in zip(rows, shades([row["value"] for row in rows], symmetric=signed), strict=True):
        asked_in, given_in = row["query_language"], row["passage_language"]
        value, text = FORMATS["rate"].write(row["value"]), f"{100 * row['value']:.0f}"
        interval = "" if row["low"] is None else f", 95% {span(row['low'], row['high'], 'rate')}"
        if signed:
            value, text = f"{100 * row['value']:+.1f} points", f"{100 * row['value']:+.0f}"
            interval = interval and f", 95% {100 * row['low']:+.1f} to {100 * row['high']:+.1f}"
        head = f"<b>{label_text(queries[asked_in])}</b> queries, <b>{label_text(passages[given_in])}</b> passages"
        hover = f"{head}<br>{value}{interval}<br>n = {row['n']:,}"
        cells.append(MapCell(given_in, asked_in, text, hover, [asked_in, given_in], shade))
    return square_map(cells, columns=passages, rows=queries, left=130, right=70, head=98, mode=mode)
