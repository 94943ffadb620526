"""Section of the Leaderboard: how few battles or queries would change the first place; computed on request."""

from __future__ import annotations

import streamlit as st

from mirage.errors import MirageError
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page, onward
from mirage.explorer.kit.plain_table import plain_table
from mirage.explorer.kit.query_keys import key_text
from mirage.explorer.kit.states import first_time
from mirage.explorer.kit.text import note, plain
from mirage.explorer.leaderboard import data as views
from mirage.ranking.fragility import Fragility, fragility, voters_of
from mirage.text.segmentation import count_text

_ALPHA = 0.05
_SHOWN = 100
"""Maximum number of battles or queries of a set to list."""


def fragility_section(page: Page, board: views.Board, referee: str) -> None:
    """Show a closed panel; opening it starts the search for the sets.

    Args:
        page: the page.
        board: the leaderboard.
        referee: its referee.
    """
    if not board.ranking.battles or board.ranking.ties == "davidson" or board.rows.num_rows < 2:
        return
    panel = st.expander("How fragile is the first place?", key="fragility_fold", on_change="rerun")
    if not panel.open:
        return
    with panel, first_time("Refitting without individual battles ...", page.arena):
        try:
            by_query, by_battle = _results(page, board, referee)
        except MirageError as error:
            st.caption(plain(f"{error.what}; {error.do}"))
            return
    with panel:
        lines = [plain(by_battle.sentence), plain(by_query.sentence)]
        shared = [origin for origin in by_battle.shared if origin.p < _ALPHA]
        lines += [
            f"{plain(origin.name)} ({origin.kind}) has {origin.units} of these {by_battle.needed} battles, of "
            f"{origin.of:,} between the same systems: more than expected by chance (p = {origin.p:.2g})."
            for origin in shared[:1]
        ]
        st.markdown("\n".join(f"- {line}" for line in lines))
        note(
            "Smallest sets found by influence and confirmed by refitting; smaller sets may exist. "
            f"First tier and voters: mirage rank DIR --judge '{referee}' --fragility"
        )
        _rows(by_battle if by_battle.needed else by_query)


def _results(page: Page, board: views.Board, referee: str) -> tuple[Fragility, Fragility]:
    """Return the sets of queries and of battles; cached in the session for this ranking."""
    key = page.arena.address, page.arena.version, referee, board.languages, board.method
    known: dict[tuple[object, ...], tuple[Fragility, Fragility]] = st.session_state.setdefault("_fragility", {})
    if key not in known:
        judged = "judgments" in page.arena.tables
        voters = voters_of(page.arena.read("judgments"), referee) if judged else {}
        known.clear()
        known[key] = (
            fragility(board.ranking, unit="query"),
            fragility(board.ranking, voters=voters),
        )
    return known[key]


def _rows(result: Fragility) -> None:
    """List a set, with links to the battles."""
    import pyarrow as pa

    if not result.removed:
        return
    rows = [
        {
            "language": unit.language or "",
            "query": unit.query_id or "",
            "first": unit.first or "",
            "second": unit.second or "",
        }
        for unit in result.removed[:_SHOWN]
    ]
    plain_table(
        pa.Table.from_pylist(rows),
        [
            Col("language", "Language", "language"),
            Col("query", "Query", "text"),
            Col("first", "System", "system"),
            Col("second", "Against", "system"),
        ],
        key="fragile",
    )
    if len(result.removed) > _SHOWN:
        note(f"The {_SHOWN} most influential of {count_text(len(result.removed), result.unit)}.")
    unit = result.removed[0]
    if unit.first and unit.second and unit.language and unit.query_id:
        onward(
            "battle",
            "Read the most influential battle",
            languages=(unit.language,),
            query=key_text((unit.language, unit.query_id)),
            a=unit.first,
            b=unit.second,
        )
