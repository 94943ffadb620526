"""Section Noise of the Methods page: the sources of noise of rates and differences, and what to add next."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import streamlit as st

from mirage import schema
from mirage.battles.referee import Referee, referees
from mirage.errors import NotEnoughData
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.states import first_time
from mirage.explorer.kit.table import table
from mirage.explorer.kit.text import note, plain
from mirage.ranking.variance import NoiseReport, NoiseSource, judge_variance, rate_variance

if TYPE_CHECKING:
    from mirage.store import Arena

PICKERS = ("noise_of",)
"""Keys of the section's pickers."""
_COLUMNS = (
    Col("target", "Estimate", "text", width=190, help="For one system or one pair, in one language."),
    Col("source", "Source", "text", help="Averaged out by adding more of this."),
    Col(
        "n",
        "Number",
        "mean",
        help="Mean number of queries per system or pair, of samples or judges per query, and so on.",
    ),
    Col(
        "variance",
        "Variance component",
        "interval",
        help="Noise added by a single draw. Band: 95% interval over queries.",
        low="variance_low",
        high="variance_high",
        width=170,
        written="value",
    ),
    Col("share", "Share", "rate", help="Share of the variance of the estimate, at the current numbers."),
    Col("reason", "", "text", width=330, help="Why a component is unknown."),
)


@lru_cache(maxsize=16)
def noise_reports(arena: Arena, referee: Referee, languages: tuple[str, ...]) -> tuple[NoiseReport, ...]:
    """Return the sources of noise of the rates, with relevance labels, or of the differences by a judge.

    Args:
        arena: the arena.
        referee: relevance labels, or a judge.
        languages: codes; all if empty.

    Raises:
        NotEnoughData: if too few queries have values.
    """
    if referee.by_labels:
        return tuple(rate_variance(arena, languages=languages or None))
    return (judge_variance(arena, judges=(referee.name,), languages=languages or None),)


def noise_section(page: Page) -> None:
    """Show the components with their intervals, and what narrows the interval of an estimate at what cost."""
    all_referees = map(Referee.from_name, referees(page.arena))
    by_name = {referee.name: referee for referee in all_referees if referee.kind in ("relevance", "judge")}
    if not by_name:
        page.need("outcomes")
    name = pick(
        "Noise of",
        tuple(by_name),
        key="noise_of",
        kind="referee",
        width=260,
        help="relevance: hallucination and error rates. A judge: differences between systems, in points.",
    )
    try:
        with first_time(f"Measuring the noise by {name}", page.arena):
            reports = noise_reports(page.arena, by_name[name], tuple(page.picked))
    except NotEnoughData as error:
        page.summary("Too few queries to separate the sources of noise.")
        st.info(plain(f"{error.what}; {error.do}."))
        return
    page.summary("Sources of noise in an estimate, and what to add next.", conclusion=reports[0].sentences[0])
    rows = schema.from_rows(NoiseSource, [source for report in reports for source in report.sources])
    table(
        rows,
        [column for column in _COLUMNS if column.name != "reason" or rows["reason"].null_count < len(rows)],
        key="noise",
    )
    for report in reports:
        st.markdown("\n".join(f"- {plain(sentence)}" for sentence in report.sentences), width=760)
    note("Bias is not noise: more of the same judge does not remove it. See Judges.")
    page.download("noise", rows, about={"referee": name, "languages": list(page.picked)})
