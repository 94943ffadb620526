"""The table of what answers do, where nothing says which is better, on pages Leaderboard and Your system."""

from functools import partial

import streamlit as st

from mirage import schema
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.table import band, column, table
from mirage.explorer.kit.text import plain
from mirage.views.behaviour import AnswerBehaviour
from mirage.views.overview import OverviewView

_MEANING = partial(schema.column, AnswerBehaviour)
_COLUMNS = (
    *(column(AnswerBehaviour, name) for name in ("system", "answers")),
    band("abstained", "Abstain", _MEANING("abstained").meaning, ends=(0, 1)),
    band("cites", "Cite", _MEANING("cites").meaning, ends=(0, 1)),
    band("target_language", "Query's language", _MEANING("target_language").meaning, ends=(0, 1)),
    band("length", "Characters", _MEANING("length").meaning, "count"),
)


def show_behaviour(page: Page, view: OverviewView) -> None:
    """Show what an arena that ranks no system holds, why if it has no judge, and the behaviour of its answers if it was
    measured.
    """
    page.summary(view.contents.summary, conclusion="" if view.judge else "".join(view.findings[-1:]))
    if view.behaviour is not None:
        table(view.behaviour.rows, _COLUMNS, key="behaviour")
        for remark in view.behaviour.remarks:
            st.caption(plain(remark))
