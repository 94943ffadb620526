"""Section on scores included with the data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from shlex import quote
from typing import TYPE_CHECKING

import streamlit as st

from mirage import schema
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.table import Col, column, table
from mirage.people.votes import raters
from mirage.store.arena import Arena

if TYPE_CHECKING:
    import pyarrow as pa

_MEANS = (
    column("answers", "system"),
    column(raters.ScoreMean, "measure", width=150),
    column(raters.ScoreMean, "mean", kind="probability"),
    column(raters.ScoreMean, "low", "95% low", "probability"),
    column(raters.ScoreMean, "high", "95% high", "probability"),
    column(raters.ScoreMean, "queries"),
    column(raters.ScoreMean, "raters"),
    Col("who", "By", "text", help="Rated by people or programs.", width=90),
)


def scores_section(page: Page) -> None:
    """Show the arena's scores, if any, in the selected languages."""
    if "scores" not in page.arena.tables:
        return
    st.header("Ratings of single answers", anchor=False)
    codes = page.languages("scores")
    if not codes:
        st.caption("No ratings in the selected languages.")
        return
    means = _mean_rows(page.arena, codes)
    who = ["people" if person else "programs" for person in means["person"].to_pylist()]
    table(means.append_column("who", [who]), _MEANS, key="scores")
    names = sorted({row["measure"] for row in means.to_pylist() if row["person"]})
    if names:
        st.caption("To rank systems by these scores, convert them to verdicts:")
        st.code(verdicts_command(page.arena, names[0]), language=None, wrap_lines=True)


@lru_cache(maxsize=16)
def _mean_rows(arena: Arena, languages: Sequence[str]) -> pa.Table:
    """Return the mean scores by system and measure (`raters.ScoreMean`); of several languages the rows of `all`."""
    rows = raters.score_means(arena.read("scores", languages=languages))
    joint = {(row.measure, row.person) for row in rows if row.language == "all"}
    return schema.from_rows(
        raters.ScoreMean, [row for row in rows if row.language == "all" or (row.measure, row.person) not in joint]
    )


def verdicts_command(arena: Arena, measure: str) -> str:
    """Return the shell command that derives verdicts from people's scores."""
    return arena.fill(f"mirage votes scores DIR --verdicts-from {quote(measure)}")
