"""Section on the verdicts on a query: judge, answers in the order shown, verdict and rationale."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from mirage import schema
from mirage.errors import TableMissing
from mirage.explorer.answers.judgments import judgments_on as of_query
from mirage.explorer.answers.judgments import preferred_system
from mirage.explorer.kit.states import missing
from mirage.explorer.kit.table import column_help
from mirage.explorer.kit.text import Markup, heading_html, text_html
from mirage.store import Arena
from mirage.text.segmentation import count_text

FEW = 12
"""Maximum number of judgments to show unfolded."""


def show_judgments(arena: Arena, key: tuple[str, str]) -> None:
    """Show every verdict on the answers to a query; without judgments, the command that creates them.

    Args:
        arena: the arena.
        key: language and id of the query.
    """
    head = heading_html("Judgments")
    try:
        all_judgments = of_query(arena, key)
    except TableMissing as error:
        st.html(head)
        missing(error)
        return
    if not all_judgments:
        st.html(f'{head}<p class="mg-about">No judge has compared the answers to this query.</p>')
        return
    if len(all_judgments) <= FEW:
        st.html(Markup(head + _judged(all_judgments)))
        return
    judges = count_text(len({judgment.judge for judgment in all_judgments}), "judge")
    # With many systems all pairs in two orders are larger than the answers, so they are sent on request.
    fold = st.expander(
        f"{count_text(len(all_judgments), 'judgment')} by {judges}", key="judgments_fold", on_change="rerun"
    )
    if fold.open:
        fold.html(Markup(_judged(all_judgments)))


def _judged(judgments: Sequence[schema.Judgment]) -> str:
    return "".join(_judge(name, judgments) for name in dict.fromkeys(judgment.judge for judgment in judgments))


def _judge(name: str, judgments: Sequence[schema.Judgment]) -> str:
    battles = "".join(_battle(judgment) for judgment in judgments if judgment.judge == name)
    return f'<div class="mg-judge mg-judge-head">{escape(name)}</div>{battles}'


def _battle(judgment: schema.Judgment) -> str:
    winner = preferred_system(judgment)
    sides = " ".join(
        f"<span{' class=mg-better' if system == winner else ''}>{letter}: <bdi>{escape(system)}</bdi></span>"
        for letter, system in (("A", judgment.system_a), ("B", judgment.system_b))
    )
    verdict = f"{judgment.verdict} is better" if winner else judgment.verdict
    verdict += f" ({judgment.reason})" if judgment.reason else ""
    meaning = escape(column_help("judgments", "verdict"))
    word = f'<span class="mg-verdict-word" title="{meaning}">{escape(verdict)}</span>'
    # Rationales can be in any language.
    rationale = (
        text_html(judgment.rationale, language="")
        if judgment.rationale
        else '<div class="mg-none">No rationale available.</div>'
    )
    return (
        f'<details class="mg-fold"><summary><div class="mg-battle">{sides}{word}</div>{rationale}</summary></details>'
    )
