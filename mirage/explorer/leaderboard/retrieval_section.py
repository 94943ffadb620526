"""Section on retrievers: quality by people's labels, and the systems that read their passages."""

from __future__ import annotations

from dataclasses import asdict

import pyarrow as pa
import streamlit as st

from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.language_pairs import show_pairs
from mirage.explorer.kit.language_pairs_chart import passage_name
from mirage.explorer.kit.pick import pick, pick_language
from mirage.explorer.kit.table import mode, table
from mirage.explorer.kit.text import plain
from mirage.explorer.leaderboard import retrieval as views
from mirage.explorer.leaderboard import retrieval_chart as charts
from mirage.publish.charts.palette import FORMATS
from mirage.text.segmentation import count_text, join_or_count

_WRITE = FORMATS["rate"].write
PREFERENCE = "Preference"
PAIRED = ("nDCG@10", "R@10")
PICKERS = ("retrieval_in", "pairs_of", "pairs_by")
"""Keys of the section's pickers."""
HELP = {
    "nDCG@10": "Normalized discounted cumulative gain at rank 10.",
    "judged@10": "Share of the top 10 with a label; unlabelled passages count as not relevant.",
    "R@10": "Share of the relevant passages in the top 10.",
    "R@100": "Share of the relevant passages in the top 100.",
    "RR@10": "Reciprocal rank of the first relevant passage in the top 10; 0 if none.",
    "AP@100": "Average precision in the top 100.",
}
"""The measures of the table, in its order."""


def show_retrieval(page: Page) -> None:
    """Show the retrievers of an arena, if any."""
    languages = page.languages("queries")
    shown = views.retrieval(page.arena, languages) if languages else None
    if shown is None:
        return
    st.header("Retrievers", anchor=False)
    if shown.reason:
        st.caption(plain(f"Not measured: {shown.reason}."))
        return
    code = pick_language(
        "Language",
        languages,
        key="retrieval_in",
        help="unweighted mean over the languages shown.",
    )
    rows = views.Retrieval.rows_in(shown, language=code)
    st.caption(plain(_summary(shown, code)))
    table(_table(shown, language=code), _columns(), key="retrievers")
    chart(
        charts.recall_curves(rows, retrievers=shown.retrievers, cutoffs=views.CURVE, mode=mode()),
        key="recall",
        alt="Recall@k of each retriever.",
    )
    _show_pairs(page, shown, languages)


def _show_pairs(page: Page, shown: views.Retrieval, languages: tuple[str, ...]) -> None:
    """Show one retriever by languages of query and passage; nothing if passages are in one language."""
    pairs = views.by_pair(page.arena, languages)
    if not pairs:
        return
    st.subheader("Languages of passages", anchor=False)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        retriever = pick("Retriever", shown.retrievers, key="pairs_of", kind="retriever", width=240)
        measure = pick("Measure", (PREFERENCE, *PAIRED), key="pairs_by", kind="measure", width=160)
    if measure == PREFERENCE:
        own = [row for row in views.preference(page.arena, languages) if row.name == retriever]
        relevant = {row.passage_language for row in own if row.expected > 0}
        rows = [{**asdict(row), "value": row.preference} for row in own if row.passage_language in relevant]
        claims = [
            f"{passage_name(row.passage_language)} {100 * row.preference:+.0f} points"
            for row in own
            if row.significant and row.query_language == "all"
        ]
        found = f"Significant over all queries: {'; '.join(claims)}." if claims else "No significant preference."
        st.caption(
            plain(
                f"Share of a language in the top 10, minus its share of the relevant passages. {found} "
                "Only languages with a relevant passage are shown."
            )
        )
    else:
        rows = [
            {**asdict(row), "value": row.mean}
            for row in pairs
            if (row.retriever, row.measure) == (retriever, measure) and row.mean is not None
        ]
        st.caption("Only passages in the column's language count as relevant.")
    if rows:
        alt = f"{measure} of {retriever} by languages of query and passage."
        show_pairs(rows, key="retriever_pairs", alt=alt, value=measure, signed=measure == PREFERENCE)


def _summary(shown: views.Retrieval, code: str) -> str:
    """Describe the best retriever and the unjudged share."""
    best = shown.retrievers[0]
    gain, judged = shown.of(best, "nDCG@10", code), shown.of(best, "judged@10", code)
    if gain is None or gain.mean is None:
        return "No query has a relevant passage, so only judged@k is measured."
    words = f"{best} ranks best: nDCG@10 {gain.mean:.2f} over {count_text(gain.n, 'query')} with a relevant passage."
    if judged is not None and judged.mean is not None and judged.mean < 1:
        words += f" {_WRITE(1 - judged.mean)} of its top 10 are unlabelled and count as not relevant."
    return words + " given: passages supplied with the queries."


def _table(shown: views.Retrieval, *, language: str) -> pa.Table:
    """Show one row per retriever with every measure, its interval, n and its systems."""
    rows = []
    for retriever in shown.retrievers:
        names = shown.systems.get(retriever, ())
        row: dict[str, object] = {
            "retriever": retriever,
            "systems": join_or_count(list(names), "system") if names else "none",
        }
        for measure in HELP:
            mean = shown.of(retriever, measure, language)
            values = (mean.mean, mean.low, mean.high) if mean else (None, None, None)
            row |= dict(zip((measure, f"{measure}_low", f"{measure}_high"), values, strict=True))
            if measure == "nDCG@10":
                row["n"] = mean.n if mean else 0
        rows.append(row)
    return pa.Table.from_pylist(rows)


def _columns() -> tuple[Col, ...]:
    columns = [
        Col("retriever", "Retriever", "text", width=110, help="Retriever name."),
        Col("n", "n", "count", width=44, help="Queries with a relevant passage (n)."),
    ]
    for measure in HELP:
        low, high = f"{measure}_low", f"{measure}_high"
        width = 78 if measure == "judged@10" else 68
        columns.append(Col(measure, measure, "probability", width=width, help=HELP[measure]))
        columns.append(
            Col(measure, "95%", "interval", low=low, high=high, width=60, help=(f"95% interval of {measure}."))
        )
    columns.append(Col("systems", "Used by", "text", width=104, help="Systems that used its passages."))
    return tuple(columns)
