"""The section that says where answers are lost: at the retriever, or at the model that read what it brought."""

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
from mirage.text.languages import name_of
from mirage.text.segmentation import counted

HEADS = {
    "right": "Right",
    "ignored": "Ignored",
    "not_retrieved": "Not retrieved",
    "unsupported": "Unsupported",
    "right_refusal": "Rightly silent",
}
"""What the causes are called at the head of a column."""


def show_losses(page: Page, parser: str) -> None:
    """Show where answers are lost: a flow for one system, and all systems beside each other."""
    st.header("Where answers are lost", anchor=False)
    languages = page.languages("outcomes")
    lost = views.losses(page.arena, parser, languages)
    if not lost.systems:
        st.caption("No passage of these queries has a label, so no answer can be called right or lost.")
        return
    with st.container(horizontal=True, gap="medium"):
        system = pick("Flow of", lost.systems, key="flow", kind="system", width=300)
        code = pick_language(
            "In", languages, key="flow_in", help="shares are means over the languages shown, each counting alike."
        )
    st.caption(
        "From left to right: of all answers, those to queries that some labelled passage answers; of these, those "
        "whose system was shown one; and what came out. Blue is right; orange is the model's loss, grey the "
        "retriever's. Select a square for its answers."
    )
    shares = lost.of(system, code)
    undecided = lost.undecided.get((system, code), 0)
    if not shares:
        st.caption(plain(f"No answer of {system} in {name_of(code)} has a cause."))
        return
    rows = from_rows(type(shares[0]), shares).to_pylist()
    clicked = chart(
        charts.flow(rows, undecided, system=system, mode=mode()),
        key="losses_flow",
        alt=f"Where the answers of {system} are lost, as a flow from all of them to their causes.",
        select=True,
        wide=True,
    )
    _onward(lost, system, code, parser, clicked[1] if clicked else None)
    _all_systems(lost, code)
    _given(lost, code)


def _onward(lost: views.Losses, system: str, code: str, parser: str, clicked: str | None) -> None:
    """Links to the answers of each cause; of one, where one was selected."""
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
    """The shares of every cause for every system, in one table."""
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
        Col("n", "n", "count", width=44, help="Answers with a cause."),
    ]
    for cause, title in charts.TITLES.items():
        if cause is not None and any(row[cause] for row in rows):
            width = 100 if len(HEADS[cause]) > 11 else 92 if len(HEADS[cause]) > 7 else 72
            columns.append(Col(cause, HEADS[cause], "rate", width=width, help=f"Share of the answers: {title}."))
            columns.append(
                Col(
                    cause,
                    "95%",
                    "interval",
                    low=f"{cause}_low",
                    high=f"{cause}_high",
                    width=66,
                    help="Wilson's interval.",
                )
            )
    table(pa.Table.from_pylist(rows), columns, key="losses")


def _given(lost: views.Losses, code: str) -> None:
    """Generation given perfect retrieval beside the whole system; nothing where retrieval was perfect throughout."""
    import pyarrow.compute as pc

    rows = lost.given.filter(pc.equal(lost.given["language"], code))
    if not len(rows):
        return
    st.caption(
        f"Of {counted(len(rows), 'system')} some relevant passages were not shown. Right: over the queries that some "
        "passage answers. Given retrieval: over those of which all relevant passages were shown. Lost: the difference, "
        "which is what retrieval costs."
    )
    columns = [
        Col("system", "System", "system", of="outcomes", width=200),
        Col("whole", "Right", "rate", width=78, help="Share of right answers, as the system is."),
        Col("n", "n", "count", width=60, help="Answers to queries that some passage answers."),
        Col("given", "Given retrieval", "rate", width=110, help="The same where all relevant passages were shown."),
        Col("n_given", "n", "count", width=60, help="How many those are."),
        Col("lost", "Lost", "rate", width=78, help="Given retrieval less right."),
        Col("lost", "95%", "interval", low="low", high="high", width=112, help="The difference with its interval."),
    ]
    table(rows, columns, key="given_retrieval")
