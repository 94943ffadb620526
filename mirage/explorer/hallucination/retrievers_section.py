"""Section on the retrievers of an arena: quality by people's labels, and the systems that read their passages."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mirage.errors import NotEnoughData
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.table import table
from mirage.explorer.kit.text import heading, note
from mirage.stages.retrieve.measures import means, measure_retrievers
from mirage.stages.shown import GIVEN
from mirage.text.segmentation import count_text, join_or_count

if TYPE_CHECKING:
    import pyarrow as pa

    from mirage.store import Arena

MEASURES = {
    "nDCG@10": "Normalized discounted cumulative gain at rank 10.",
    "judged@10": "Share of the top 10 with a label; unlabelled passages count as not relevant.",
    "R@10": "Share of the relevant passages in the top 10.",
    "R@100": "Share of the relevant passages in the top 100.",
    "RR@10": "Reciprocal rank of the first relevant passage in the top 10; 0 if none.",
    "AP@100": "Average precision in the top 100.",
}
"""Measures of the table with their meaning, in its order."""


def show_retrievers(page: Page) -> None:
    """Show the retrievers of an arena over the selected languages; nothing without retrieved passages."""
    if "retrieved" not in page.arena.tables or not (languages := page.languages("queries")):
        return
    heading("Retrievers")
    try:
        rows = retrievers(page.arena, languages)
    except NotEnoughData as error:
        note(f"Not measured: {error.what}.")
        return
    over = "" if len(languages) == 1 else f" Unweighted mean over {count_text(len(languages), 'language')}."
    note(f"Best nDCG@10 first. {GIVEN}: passages supplied with the queries.{over}")
    columns = [
        Col("retriever", "Retriever", "text", width=110, help="Retriever name."),
        Col("n", "n", "count", width=44, help="Queries with a relevant passage (n)."),
    ]
    for measure, meaning in MEASURES.items():
        low, high, about = f"{measure}_low", f"{measure}_high", f"95% interval of {measure}."
        columns.append(Col(measure, measure, "probability", width=78 if len(measure) > 7 else 68, help=meaning))
        columns.append(Col(measure, "95%", "interval", low=low, high=high, width=60, help=about))
    columns.append(Col("systems", "Used by", "text", width=104, help="Systems that used its passages."))
    table(rows, columns, key="retrievers")


@lru_cache(maxsize=16)
def retrievers(arena: Arena, languages: tuple[str, ...]) -> pa.Table:
    """Measure the retrievers of an arena over languages, best nDCG@10 first; given passages, not retrieved, last.

    Args:
        arena: an arena with retrieved passages.
        languages: codes.

    Returns:
        `retriever, n, systems`, and for each measure its mean and the ends of its 95% interval, `_low` and `_high`.

    Raises:
        NotEnoughData: if no passage is labelled.
    """
    import pyarrow as pa

    read_by: dict[str, list[str]] = {}
    if "answers" in arena.tables:
        sql = "SELECT DISTINCT coalesce(retriever, ?) AS retriever, system FROM answers ORDER BY ALL"
        for row in arena.sql(sql, [GIVEN]).to_pylist():
            read_by.setdefault(row["retriever"], []).append(row["system"])
    rows: dict[str, dict[str, Any]] = {}
    for mean in means(measure_retrievers(arena, measures=list(MEASURES), languages=languages)):
        if mean.language == "all" and mean.measure in MEASURES:
            name, measure = mean.retriever, mean.measure
            row = rows.setdefault(name, {"retriever": name, "systems": join_or_count(read_by.get(name, []), "system")})
            row |= {measure: mean.mean, f"{measure}_low": mean.low, f"{measure}_high": mean.high}
            if measure == "nDCG@10":
                row["n"] = mean.n
    order = sorted(rows.values(), key=lambda row: (row["retriever"] == GIVEN, -(row["nDCG@10"] or 0), row["retriever"]))
    return pa.Table.from_pylist(order)
