"""Section on scores included with the data."""

from shlex import quote

import streamlit as st

from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.table import Col, column, drop_constant, table
from mirage.explorer.kit.text import note
from mirage.people.votes.raters import ScoreMean
from mirage.store.arena import Arena
from mirage.views.votes import scores_view

_MEANS = (
    column("answers", "system"),
    column(ScoreMean, "measure", width=150),
    column(ScoreMean, "mean", kind="probability"),
    column(ScoreMean, "low", "95% low", "probability"),
    column(ScoreMean, "high", "95% high", "probability"),
    column(ScoreMean, "queries"),
    column(ScoreMean, "raters"),
    Col("who", "By", "text", "Rated by people or programs.", width=90),
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
    means = scores_view(page.arena, tuple(codes)).joint
    who = ["people" if person else "programs" for person in means["person"].to_pylist()]
    rows = means.append_column("who", [who])
    columns, alike = drop_constant(rows, _MEANS)
    table(rows, columns, key="scores")
    if alike:
        note(f"Each row: {alike}.")
    names = sorted({row["measure"] for row in means.to_pylist() if row["person"]})
    if names:
        st.caption("To rank systems by these scores, convert them to verdicts:")
        st.code(verdicts_command(page.arena, names[0]), language=None, wrap_lines=True)


def verdicts_command(arena: Arena, measure: str) -> str:
    """Return the shell command that derives verdicts from people's scores."""
    return arena.fill(f"mirage votes scores DIR --verdicts-from {quote(measure)}")
