"""Section Risk-coverage: the trade-off between errors and coverage if weak answers are not given."""

from __future__ import annotations

from typing import Any

import streamlit as st

from mirage.errors import MirageError
from mirage.explorer.hallucination import risk_coverage as views
from mirage.explorer.hallucination.risk_coverage_chart import risk_coverage
from mirage.explorer.kit.chart import chart
from mirage.explorer.kit.columns import Col
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.pick import pick, pick_segments
from mirage.explorer.kit.side_by_side import side_by_side
from mirage.explorer.kit.states import refuse
from mirage.explorer.kit.table import mode, table
from mirage.explorer.kit.text import plain
from mirage.publish.charts.palette import FORMATS
from mirage.stages.abstain import ALL, LOSSES
from mirage.text.languages import name_of, search_name
from mirage.text.segmentation import count_text

PICKERS = ("signal", "loss", "withheld_in")
"""Keys of the section's pickers."""
_CURVES = 4
_WRITE = FORMATS["rate"].write


def show_withholding(page: Page, parser: str) -> None:
    """Draw the section: pickers, a sentence on the best system, curves, and one row per system."""
    with st.container(horizontal=True, gap="medium"):
        signal = pick("Signal", views.signals(page.arena), key="signal", kind="signal", width=220, help=_SIGNAL)
        loss = pick_segments("Error type", tuple(LOSSES), key="loss", kind="loss", help=_losses())
        try:
            drawn = views.risk_coverage(page.arena, signal, loss, parser, tuple(page.picked))
        except MirageError as problem:
            refuse(problem)
            return
        if not drawn:
            st.caption("No answers have both the signal and an outcome.")
            return
        scope = pick("Language", views.scopes(drawn), key="withheld_in", kind="language", named=search_name, width=160)
    shown = views.table(drawn, scope)
    records = shown.to_pylist()
    systems = tuple(row["system"] for row in records if row["area"] is not None)[:_CURVES]
    where = "all languages" if scope == ALL else name_of(scope)
    if not systems:
        st.caption(plain(f"No curve in {where}: {records[0]['reason']}. A curve needs 20 answers with the signal."))
        return
    st.markdown(plain(_answer(records[0], signal, where)))
    left, right = side_by_side((330, 2), (520, 3), key="withholding")
    with left:
        chart(
            risk_coverage(
                views.curves(drawn, scope, systems),
                loss="error rate among answered",
                mode=mode(),
            ),
            key="risk_coverage",
            alt="Risk-coverage curves of the systems with the smallest area.",
        )
    with right:
        table(shown, COLUMNS, key="withholding_rows")
    st.caption(
        f"Curves: the {count_text(len(systems), 'system')} with the smallest area. Band: 95% interval of the first."
    )


def _answer(best: dict[str, Any], signal: str, where: str) -> str:
    """Return the result of the best system in a sentence."""
    area = f"{_WRITE(best['area'])} on {best['n']:,} answers"
    return f"With {signal} as signal, {best['system']} has the smallest area for {where}: {area}."


def _losses() -> str:
    return " ".join(f"{name}: {meaning}." for name, meaning in LOSSES.items())


_SIGNAL = "Confidence signal: a feature or score; answers with weak signals are withheld."
COLUMNS = (
    Col("system", "System", "system", help="System name."),
    Col(
        "area",
        "Area",
        "rate",
        help="Area under the risk-coverage curve; lower is better.",
        width=64,
    ),
    Col("area", "95% interval", "interval", low="area_low", high="area_high", help="Interval of the area.", width=104),
    Col("risk", "Full coverage", "rate", help="Error rate when every answer is given.", width=70),
    Col("n", "n", "count", help="Answers with a signal and an outcome.", width=56),
)
