"""The section on scores that came with a file: who agrees, and what each system got."""

from __future__ import annotations

from shlex import quote

import streamlit as st

from mirage.explorer.kit import scores as views
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.table import table
from mirage.people.votes import raters
from mirage.store import Arena

_AGREEMENT = (
    Col("measure", "Measure", "text", help="The scale.", width=150),
    *(
        column
        for name, label, kind, meaning in (
            ("equal", "Equal", "rate", "Share of the pairs of scores of one answer that are equal."),
            ("ordinal", "α, ranks", "probability", "Krippendorff's alpha for ranks: 1 is perfect, 0 is chance."),
            ("interval", "α, numbers", "probability", "Krippendorff's alpha for numbers whose differences count."),
        )
        for column in (
            Col(name, label, kind, help=meaning),  # type: ignore[arg-type]
            Col(name, "95%", "interval", low=f"{name}_low", high=f"{name}_high", help="Over draws of queries."),
        )
    ),
    Col("answers", "Answers", "count", help="Answers that two people and more scored."),
    Col("raters", "People", "count", help="People who scored them."),
    Col("reason", "Why a value is missing", "text", help="Why a value or an interval is missing."),
)
_MEANS = (
    Col("system", "System", "system", of="answers"),
    Col("measure", "Measure", "text", help="The scale.", width=150),
    Col("mean", "Mean", "probability", help="Mean over queries of the mean over raters, in the scale's own unit."),
    Col("low", "from", "probability", help="Lower end of the 95% interval, with the query as the unit."),
    Col("high", "to", "probability", help="Upper end."),
    Col("queries", "Queries", "count", help="Queries with a score."),
    Col("raters", "Raters", "count", help="People, or programs, who gave them."),
    Col("who", "By", "text", help="Whether people or programs gave them.", width=90),
)


def scores_section(page: Page) -> None:
    """Show the scores of an arena that has some, in the languages picked."""
    if "scores" not in page.arena.tables:
        return
    st.header("Ratings that came with the data", anchor=False)
    codes = page.languages("scores")
    if not codes:
        st.caption("No rating in the languages picked.")
        return
    agreements, means = views.rater_rows(page.arena, codes), views.mean_rows(page.arena, codes)
    if len(agreements):
        table(agreements, _AGREEMENT, key="raters")
        st.caption(
            "People who scored the same answers, compared two at a time. Intervals take the query as the unit, from "
            f"{raters.DRAWS:,} draws."
        )
    who = ["people" if person else "programs" for person in means["person"].to_pylist()]
    table(means.append_column("who", [who]), _MEANS, key="scores")
    names = sorted(set(agreements["measure"].to_pylist()))
    if names:
        st.caption("To rank the systems by people's scores, make verdicts of them:")
        st.code(verdicts_command(page.arena, names[0]), language=None, wrap_lines=True)


def verdicts_command(arena: Arena, measure: str) -> str:
    """The command that makes verdicts of people's scores, as a shell takes it."""
    return f"mirage votes scores {quote(arena.address)} --verdicts-from {quote(measure)}"
