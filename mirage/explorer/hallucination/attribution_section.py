"""Section on the causes of errors: the retriever, or the model that read its passages."""

from __future__ import annotations

import streamlit as st

from mirage.explorer.hallucination import attribution as views
from mirage.explorer.hallucination import attribution_chart as charts
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page, onward
from mirage.explorer.kit.pick import pick, pick_language
from mirage.explorer.kit.table import mode, table
from mirage.explorer.kit.text import plain
from mirage.schema import from_rows
from mirage.stages.retrieve.attribution import OF_LANGUAGES
from mirage.text.languages import name_of
from mirage.text.segmentation import count_text

HEADS = {
    "right": "Correct: answers",
    "ignored": "Ignored",
    "other_language": "Other language",
    "unused_language": "Unused language",
    "not_retrieved": "Not retrieved",
    "unsupported": "Unsupported",
    "right_refusal": "Correct: abstains",
}
"""Column labels of the causes."""


def show_losses(page: Page, parser: str) -> None:
    """Show the causes of errors: a flow chart for one system, and a table of all systems."""
    st.header("Error analysis", anchor=False)
    languages = page.languages("outcomes")
    lost = views.losses(page.arena, parser, languages)
    if not lost.systems:
        st.caption("No passage of these queries is labelled, so errors cannot be classified.")
        return
    with st.container(horizontal=True, gap="medium"):
        system = pick("System", lost.systems, key="flow", kind="system", width=300)
        code = pick_language("Language", languages, key="flow_in", help="unweighted mean over the languages shown.")
    st.caption(
        "Left to right: all answers; whether a passage is relevant; whether it was shown; the outcome. Blue: correct "
        "decision. Orange: wrong decision of the model. Grey: retrieval error. Click a square for its answers."
    )
    shares = lost.of(system, code)
    undecided = lost.undecided.get((system, code), 0)
    if not shares:
        st.caption(plain(f"No classified answers by {system} in {name_of(code)}."))
        return
    rows = from_rows(type(shares[0]), shares).to_pylist()
    clicked = chart(
        charts.flow(rows, undecided, system=system, mode=mode()),
        key="losses_flow",
        alt=f"Flow of the answers of {system} to their causes of error.",
        select=True,
        wide=True,
    )
    _onward(lost, system, code, parser, clicked[1] if clicked else None)
    _all_systems(lost, code)
    _given_retrieval(lost, code)


def _onward(lost: views.Losses, system: str, code: str, parser: str, clicked: str | None) -> None:
    """Show links to the answers of each cause, or of the selected cause."""
    counts: dict[str | None, int] = {share.cause: share.k for share in lost.of(system, code) if share.k}
    links = [(cause, counts[cause]) for cause in charts.TITLES if cause is not None and cause in counts]
    undecided = lost.undecided.get((system, code), 0)
    links += [(views.UNDECIDED, undecided)] if undecided else []
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.caption(plain(f"{system}:"), width="content")
        for cause, n in links:
            if clicked is None or (clicked or views.UNDECIDED) == cause:
                onward(
                    "answers",
                    f"{n:,} {charts.TITLES.get(cause, cause)}",
                    languages=() if code == "all" else (code,),
                    systems=system,
                    cause=cause,
                    parser=parser,
                )


def _all_systems(lost: views.Losses, code: str) -> None:
    """Show a table of the shares of every cause for every system."""
    rows = []
    for system in lost.systems:
        shares = {share.cause: share for share in lost.of(system, code)}
        if shares:
            row: dict[str, object] = {"system": system, "n": next(iter(shares.values())).n}
            for name, share in shares.items():
                row |= {name: share.share, f"{name}_low": share.low, f"{name}_high": share.high}
            rows.append(row)
    if not rows:
        return
    import pyarrow as pa

    columns = [
        Col("system", "System", "system", of="outcomes", width=190),
        Col("n", "n", "count", width=44, help="Number of classified answers."),
    ]
    for cause, title in charts.TITLES.items():
        if cause is not None and any(row.get(cause) for row in rows):
            width = (
                116 if cause in OF_LANGUAGES else 100 if len(HEADS[cause]) > 11 else 92 if len(HEADS[cause]) > 7 else 72
            )
            columns.append(Col(cause, HEADS[cause], "rate", width=width, help=f"Share of answers: {title}."))
            columns.append(
                Col(
                    cause,
                    "95%",
                    "interval",
                    low=f"{cause}_low",
                    high=f"{cause}_high",
                    width=66,
                    help="95% Wilson interval.",
                )
            )
    table(pa.Table.from_pylist(rows), columns, key="losses")


def _given_retrieval(lost: views.Losses, code: str) -> None:
    """Show generation given perfect retrieval next to the whole system; nothing if retrieval was always perfect."""
    import pyarrow.compute as pc

    rows = lost.given.filter(pc.equal(lost.given["language"], code))
    if not len(rows):
        return
    st.caption(
        f"For {count_text(len(rows), 'system')}, some relevant passages were not shown. Correct: queries with a "
        "relevant passage. Given retrieval: those with all relevant passages shown. Cost: the difference."
    )
    columns = [
        Col("system", "System", "system", of="outcomes", width=200),
        Col(
            "whole", "Correct", "rate", width=78, help="Share of correct decisions on queries with a relevant passage."
        ),
        Col("n", "n", "count", width=60, help="Answers to queries with a relevant passage."),
        Col(
            "given", "Given retrieval", "rate", width=110, help="The same for queries with all relevant passages shown."
        ),
        Col("n_given", "n", "count", width=60, help="Number of such answers."),
        Col("lost", "Cost", "rate", width=78, help="Given retrieval minus correct: the cost of retrieval."),
        Col("lost", "95%", "interval", low="low", high="high", width=112, help="Cost with its 95% interval."),
    ]
    table(rows, columns, key="given_retrieval")
