"""The section Withholding: what it gains in errors and loses in coverage to withhold the weakest answers."""

from __future__ import annotations

from typing import Any

import streamlit as st

from mirage.errors import MirageError
from mirage.explorer.hallucination import risk_coverage as views
from mirage.explorer.hallucination.risk_coverage_chart import risk_coverage
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.pick import pick
from mirage.explorer.kit.side_by_side import side_by_side
from mirage.explorer.kit.states import refuse
from mirage.explorer.kit.table import mode, table
from mirage.explorer.kit.text import plain
from mirage.publish.charts.palette import FORMATS
from mirage.stages.abstain import ALL, LOSSES
from mirage.text.languages import name_of
from mirage.text.segmentation import counted

PICKERS = ("signal", "loss", "promise", "withheld_in")
"""Keys of the section's pickers."""
ERRORS = ("0.05", "0.1", "0.2", "0.3", "0.5")
"""Errors that can be promised."""
_CURVES = 4
_WRITE = FORMATS["rate"].write


def show_withholding(page: Page, parser: str) -> None:
    """Draw the section: pickers, the best system in a sentence, curves, and a row a system."""
    with st.container(horizontal=True, gap="medium"):
        signal = pick("Signal", views.signals(page.arena), key="signal", kind="signal", width=220, help=_SIGNAL)
        loss = pick("Wrong is", tuple(LOSSES), key="loss", kind="loss", segments=True, help=_losses())
        error = float(pick("Promised error", ERRORS, key="promise", kind="error", default="0.1", segments=True))
        try:
            traded = views.tradeoffs(page.arena, signal, loss, error, parser, tuple(page.picked))
        except MirageError as problem:
            refuse(problem)
            return
        if not traded:
            st.caption("No answer has both the signal and an outcome.")
            return
        scope = pick("Queries of", views.scopes(traded), key="withheld_in", kind="language", width=160)
    shown = views.table(traded, scope)
    records = shown.to_pylist()
    systems = tuple(row["system"] for row in records if row["area"] is not None)[:_CURVES]
    where = "all languages together" if scope == ALL else name_of(scope)
    if not systems:
        st.caption(plain(f"No curve in {where}: {records[0]['reason']}. A curve takes 20 answers with the signal."))
        return
    st.markdown(plain(_answer(records, signal, error, where)))
    left, right = side_by_side((330, 2), (520, 3), key="withholding")
    with left:
        chart(
            risk_coverage(
                views.curves(traded, scope, systems),
                promised=error,
                loss="share of these that is wrong",
                mode=mode(),
            ),
            key="risk_coverage",
            alt="Share of wrong answers by the share of answers that are given, of the systems with the least area.",
        )
    with right:
        table(shown, COLUMNS, key="withholding_rows")
    st.caption(
        f"Drawn: the {counted(len(systems), 'system')} with the least area. The band is the 95% interval of the first "
        "at each coverage, the dotted line the promised error. A threshold is chosen on half of the queries so that, "
        "on the mean over such choices, at most this share of all answers is given and wrong (conformal risk control). "
        "The columns after it are from the other half. Queries are taken to come as these did."
    )


def _answer(records: list[dict[str, Any]], signal: str, error: float, where: str) -> str:
    """What the signal buys the best system, in a sentence."""
    best = records[0]
    area = f"{_WRITE(best['area'])} on {best['n']:,} answers"
    words = f"By {signal}, {best['system']} has the least area over {where}: {area}"
    if best["threshold"] is None:
        return f"{words}. No threshold holds {error:.0%}: {best['reason']}."
    gives = f"it gives {_WRITE(best['coverage'])} of its answers"
    wrong = "" if best["test_risk"] is None else f", of which {_WRITE(best['test_risk'])} are wrong"
    return f"{words}. To hold {error:.0%}, {gives}{wrong}."


def _losses() -> str:
    return " ".join(f"{name}: {meaning}." for name, meaning in LOSSES.items())


_SIGNAL = "What weak answers are known by: a feature, or a measure of the scores."
COLUMNS = (
    Col("system", "System", "system", help="What produced the answers."),
    Col(
        "area",
        "Area",
        "rate",
        help="The mean risk over all coverages (area under the curve). Lower is better.",
        width=64,
    ),
    Col("area", "95% interval", "interval", low="area_low", high="area_high", help="Of the area.", width=104),
    Col("risk", "All given", "rate", help="Share that is wrong when every answer is given.", width=70),
    Col("threshold", "Threshold", "value", help="Give answers whose signal is this or stronger.", width=78),
    Col("coverage", "Given", "rate", help="Share of the test queries whose answer is given.", width=64),
    Col("test_risk", "Wrong", "rate", help="Share of these that is wrong.", width=64),
    Col("test_risk", "Its interval", "interval", low="risk_low", high="risk_high", help="95%, Wilson's.", width=104),
    Col("n", "n", "count", help="Answers with the signal and an outcome.", width=56),
)
