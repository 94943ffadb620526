"""Parts of the Leaderboard: cards of systems and the pickers that filter by them, one system in detail, and the rating
against the price.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pyarrow as pa
import streamlit as st

from mirage import schema
from mirage.battles.judge import judges
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.labels import labels_of, tell_audit
from mirage.explorer.kit.layout import side_by_side
from mirage.explorer.kit.pick import pick, pick_segments
from mirage.explorer.kit.table import Col, plain_table
from mirage.explorer.kit.text import heading, link_html
from mirage.explorer.leaderboard.ratings import by_language
from mirage.publish.charts import primitives
from mirage.publish.charts.palette import (
    FORMATS,
    MARK_SIZE,
    SPACE,
    Kind,
    axis,
    family,
    ink,
    label_text,
    layout,
    span,
)
from mirage.ranking.judges import Judge
from mirage.store.arena import Arena
from mirage.views.board import BoardView
from mirage.views.cache import memoize
from mirage.views.rates import RateChoice, rates_view
from mirage.views.system_cards import card_lines, chosen_systems, filter_words, find_choices
from mirage.views.win_matrix import matrix

PICKERS = {
    "weights": ("Weights", "choice of weights", None),
    "price": ("Max price", "price", "US dollars per million output tokens."),
    "size": ("Max size", "size", "Billions of parameters."),
    "retriever": ("Retriever", "retriever", None),
}
"""Label, noun for the options, and help of the picker of each filter (`system_cards.FACETS`)."""
_ANY = "any"


def pick_systems(arena: Arena, systems: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Draw the filters of systems by their cards; nothing if these do not differ.

    Args:
        arena: the arena.
        systems: all systems that are rated.

    Returns:
        The systems to show, in their order: all without a filter, or if none passes; and the filter in words.
    """
    choices = find_choices(arena, systems)
    if not choices:
        return tuple(systems), ""
    wanted = dict[str, str]()
    for key, (label, kind, about) in PICKERS.items():
        if key in choices:
            options, draw = (_ANY, *choices[key]), pick_segments if key == "weights" else pick
            picked = draw(label, options, key=key, kind=kind, help=about)
            wanted |= {} if picked == _ANY else {key: picked}
    shown = chosen_systems(arena, systems, wanted)
    if not shown:
        st.caption(f":orange[No data for any of the {len(systems)} systems: showing all.]")
    return shown or tuple(systems), filter_words(wanted)


def card_line(card: schema.SystemCard | None) -> None:
    """Show a card in a line of small text, with links to the model's page and the sources."""
    lines = card_lines(card)
    if card is None or not lines:
        return
    parts = [escape(line) for line in lines]
    if card.url:
        parts.append(link_html(card.url))
    if card.source:
        parts.append(escape(f"Source: {card.source}"))
    st.html(f'<div class="mg-about">{" · ".join(parts)}</div>')


SHOWN = 3
"""Number of best and worst opponents shown."""
ERRORS = {"hallucination": "Makes things up", "error": "Gives up"}
_OPPONENTS = (
    Col("system", "Against", "system", "The other system."),
    Col("share", "Wins", "rate", "Share of the battles with a winner."),
    Col("share", "95%", "interval", "95% Wilson interval.", low="low", high="high", ends=(0, 1), zero=0.5),
    Col("ties", "Ties", "count", "Battles without a winner."),
    Col("n", "n", "count", "Queries that both answered."),
)
_RATES = (
    Col("what", "Error", "text", "Hallucination and error rate of NoMIRACL."),
    Col(
        "value",
        "Rate",
        "rate",
        "Wrong decisions / classified answers; languages weighted equally. In brackets: languages with a rate, if "
        "some have none.",
        remark="fewer",
    ),
    Col("value", "95%", "interval", "95% interval.", low="low", high="high", ends=(0, 1)),
    Col("n", "n", "count", "Classified answers."),
)


def show_system(page: Page, board: BoardView, judge: Judge, system: str) -> None:
    """Show a system's ratings by language, its best and worst opponents, and its error rates."""
    if len(board.languages) > 1:
        heading("Win rate by language")
        plain_table(board.system_rows(system), by_language(len(board.rows)), key="system_ratings")
    left, right = side_by_side((420, 1), (420, 1), key="system_more", gap="medium")
    with left:
        decides = judge.name in judges(page.arena)
        rows = matrix(page.arena, judge, page.picked).opponents(system, SHOWN) if decides else None
        if rows is not None:
            heading("Best and worst battles", "Share of the battles with a winner that it wins, by opponent.")
            plain_table(rows, _OPPONENTS, key="system_opponents")
    with right:
        rates = error_rates(page.arena, system, page.picked)
        if rates is not None:
            heading("Errors")
            tell_audit(labels_of(page))
            plain_table(rates, _RATES, key="system_errors")


@memoize
def error_rates(arena: Arena, system: str, picked: tuple[str, ...]) -> pa.Table | None:
    """Return both rates of a system over the languages: `what, value, low, high, n, fewer`; None if unknown."""
    if "outcomes" not in arena.tables:
        return None
    cells = rates_view(arena, RateChoice(picked)).cells.to_pylist()
    rows = [row for row in cells if (row["language"], row["system"]) == ("all", system)]
    names = ("value", "low", "high", "n", "fewer")
    return (
        pa.Table.from_pylist([{"what": ERRORS[row["metric"]]} | {name: row[name] for name in names} for row in rows])
        if rows
        else None
    )


def price_scatter(rows: Sequence[Mapping[str, Any]], *, title: str, kind: Kind) -> dict[str, Any]:
    """Draw the rating of each system, with its interval, against its price; systems tied with the best are filled.

    Args:
        rows: `system, rating, low, high, best, price, seconds`; a system without a price has no mark.
        title: title of the axis of the ratings.
        kind: format of the ratings.
    """
    data = []
    for row in rows:
        if row["price"] is None:
            continue
        color = family(row["system"]).color
        fill = {"color": color if row["best"] else ink().ground, "symbol": family(row["system"]).symbol}
        latency = "" if row["seconds"] is None else f"<br>{row['seconds']:.1f} seconds an answer"
        rating = f"{FORMATS[kind].write(row['rating'])}, 95% {span(row['low'], row['high'], kind)}"
        data.append(
            primitives.dots(
                [row["price"]],
                [row["rating"]],
                [f"<b>{label_text(row['system'])}</b><br>{rating}<br>${row['price']:,.2f} for 1,000 answers{latency}"],
                fill | {"size": MARK_SIZE + 1, "line": {"color": color, "width": 1.5}},
                field="hovertext",
                clicks=[[row["system"]]],
                error_y=primitives.whiskers(primitives.whisker_lengths([row], "rating", "low", "high"), color, width=4),
                mode="markers+text",
                text=[label_text(row["system"])],
                textposition="middle right",
                cliponaxis=False,
            )
        )
    return {
        "data": data,
        "layout": layout(
            height=420,
            margin={"l": SPACE, "r": 20 * SPACE, "t": 2 * SPACE, "b": SPACE},
            xaxis=axis(title="US dollars per 1,000 answers", rangemode="tozero"),
            yaxis=axis(title=title),
        ),
    }
