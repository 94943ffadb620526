"""Votes by people on a judge: an agreement badge and the corrected ranking."""

from collections.abc import Sequence

import pyarrow.compute as pc
import streamlit as st

from mirage.errors import MirageError, NotEnoughData
from mirage.explorer.kit import votes as people
from mirage.explorer.kit.frame import Page
from mirage.explorer.kit.pick import pick_language, pick_segments
from mirage.explorer.kit.states import badge_html, refuse
from mirage.explorer.kit.table import Col, column, table
from mirage.explorer.kit.text import plain
from mirage.people.votes.belonging import VoteLog
from mirage.people.votes.correct import CorrectedRating
from mirage.people.votes.kinds import Vote
from mirage.text.languages import name_of
from mirage.text.segmentation import as_sentence, join_or_count
from mirage.views.cache import result_or_error
from mirage.views.votes import (
    CorrectedView,
    agreement_view,
    conclude_agreement,
    corrected_view,
    explain_agreement,
)

_OF = (
    column(CorrectedRating, "system"),
    column(CorrectedRating, "rank"),
    Col("rank", "Rank 95%", "span", "95% interval of the corrected rank.", low="rank_low", high="rank_high"),
    column(CorrectedRating, "rating", kind="rating"),
    Col("rating", "95% interval", "interval", "Valid whatever the judge's errors are.", low="low", high="high"),
    column(CorrectedRating, "uncorrected_rank", "Judge's rank", width=90),
    column(CorrectedRating, "votes"),
)


def of_judge(page: Page, judge: str, languages: Sequence[str]) -> None:
    """Show the agreement of people with a judge in the languages shown; nothing if no votes are possible.

    Args:
        page: the page; its arena has judgments.
        judge: the judge that is shown.
        languages: codes that are shown.
    """
    try:
        row = agreement_view(page.arena, people.votes_at(page.arena), tuple(languages)).joint_row(judge)
    except NotEnoughData:
        row = None
    except MirageError as error:
        st.caption(plain(f"People's votes are unavailable: {error.what}."))
        return
    if row is not None:
        st.html(badge_html(conclude_agreement(row), "green" if row.enough else "gray", explain_agreement(row)))
    elif "answers" in page.arena.tables:
        about = "No votes on randomly drawn battles yet; vote on the Spot check page."
        st.html(badge_html("No votes yet", "gray", about))


def offer_override(page: Page) -> VoteLog[Vote] | None:
    """Offer to replace a judge's verdicts by people's votes on the same battles.

    Returns:
        The votes to use; None if not replaced.
    """
    try:
        if not people.log(page.arena):
            return None
        votes = people.votes_at(page.arena)
    except MirageError:
        return None  # the badge says so
    choice = pick_segments(
        "People's votes",
        ("beside", "override"),
        key="votes",
        kind="use of people's votes",
        help="beside: votes only check the judge. override: the majority vote replaces the judge's verdicts on the "
        "same battles.",
    )
    return votes if choice == "override" else None


def show_corrected(page: Page, judge: str, languages: Sequence[str]) -> None:
    """Show a judge's ranking with and without correction by people's votes; nothing without votes.

    Args:
        page: the page; its arena has judgments.
        judge: the judge that is shown.
        languages: codes that are shown.
    """
    try:
        voted = {vote.language for vote in people.log(page.arena) if vote.control or vote.inclusion is not None}
        codes = [code for code in languages if code in voted]
        if not codes:
            return
        st.header("Ranking corrected by people's votes", anchor=False)
        code = codes[0]
        if len(codes) > 1:
            words = "unweighted mean over the languages with enough votes."
            code = pick_language(codes, key="corrected", help=words, width=120)
        chosen = tuple(codes) if code == "all" else (code,)
        result = result_or_error(corrected_view, page.arena, judge, people.votes_at(page.arena), chosen)
    except MirageError:
        return
    if isinstance(result, NotEnoughData):
        st.caption(plain(f"Not yet. {as_sentence(result.where)} {as_sentence(result.do)}"))
    elif isinstance(result, MirageError):
        refuse(result)
    else:
        _ranking(result)


def _ranking(view: CorrectedView) -> None:
    """Show the ranking over all languages, or of the only language."""
    names = join_or_count([name_of(name) for name in view.languages], "language")
    refusals = [f"Not included: {reason}." for reason in view.refused.values()]
    table(view.table.filter(pc.field("language") == view.scope), _OF, key="corrected_ratings")
    st.caption(plain(" ".join([f"{names}. {view.methods[view.scope]}.", *refusals])))
