"""Items to vote on, as escaped HTML without names of systems, and the reveal after the vote."""

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from mirage import schema
from mirage.explorer.kit import answer_card
from mirage.explorer.kit.battle_sides import BATTLE
from mirage.explorer.kit.text import TextSpan, text_html
from mirage.people.votes.kinds import Evidence
from mirage.text.segmentation import count_text
from mirage.views.query import AnswerView, QueryView
from mirage.views.spot_check import CitationPair, VoteResult

SKIP = {"skip": ("Skip", "s")}
EVIDENCE = {"yes": ("Supports it", "1"), "no": ("Does not", "2"), "unclear": ("Unclear", "3")}
"""Votes on a citation."""
CHOICES = BATTLE | SKIP | EVIDENCE
"""All votes."""
UNDO = "u"

_TOP_JS = """
export default function ({ parentElement, data }) {
  // The next item begins at its top, wherever the reader was in the last one.
  const root = parentElement.host ?? parentElement
  if (root.dataset.item && root.dataset.item !== data.item) {
    document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0 })
  }
  root.dataset.item = data.item
}
"""


def top(item: str) -> None:
    """Scroll to the top when another item is shown.

    Args:
        item: an opaque id of the item.
    """
    component = st.components.v2.component("mirage_ballot_top", html="<span></span>", js=_TOP_JS)
    component(key="spot_top", data={"item": item})


_FOCUS_JS = """
export default function ({ parentElement, data }) {
  // The name is asked for after a key was pressed: the next keys belong in its field.
  const root = parentElement.host ?? parentElement
  if (root.dataset.vote === data.vote) return
  root.dataset.vote = data.vote
  document.querySelector(`.st-key-${data.field} input`)?.focus()
}
"""


def focus_field(key: str, vote_id: str) -> None:
    """Move the focus to the field for the voter's name, once per vote.

    Args:
        key: key of the field.
        vote_id: id of the vote that needs a name.
    """
    component = st.components.v2.component("mirage_ballot_name", html="<span></span>", js=_FOCUS_JS)
    component(key="spot_focus", data={"vote": vote_id, "field": key})


def show_citation(pair: CitationPair, answer: AnswerView, query: QueryView, passage: schema.Passage) -> None:
    """Show a sentence and a passage that it cites, and the answer around the sentence."""
    title = f"<strong><bdi>{escape(passage.title)}</bdi></strong>" if passage.title else ""
    parts = [
        ("mg-sentence", "<span>Sentence</span>", text_html(pair.words, language=pair.language)),
        ("", f"<span>Passage</span>{title}", text_html(passage.text or "", language=pair.language)),
    ]
    cards = [
        f'<article class="mg-answer {css}"><div class="mg-row">{head}</div>{body}</article>'
        for css, head, body in parts
    ]
    marked = answer_card.body(answer, query, [TextSpan(pair.start, pair.end, "own")], labels=False)
    st.html(f'<div class="mg-sides mg-blind" style="{answer_card.inks()}">{"".join(cards)}</div>')
    with st.expander("Full answer"):
        st.html(f'<div style="{answer_card.inks()}">{marked}</div>')


def show_result(vote_result: VoteResult, agreeing: Mapping[str, tuple[int, int]]) -> None:
    """Show how often the voter agrees with each judge, then the systems of the last battle and the judges' decisions.

    Args:
        vote_result: the last vote.
        agreeing: by judge the number of votes that it agrees with, and of those compared.
    """
    if agreeing:
        counts = [
            f"{escape(judge)} in {agreed:,} of {count_text(n, 'vote')}" for judge, (agreed, n) in agreeing.items()
        ]
        st.html(f"<b>You agree with {', with '.join(counts)}.</b>")
    vote = vote_result.vote
    own_vote = {"skip": "skipped", "both_bad": "both bad", "tie": "tie"}.get(vote.vote) or f"{vote.vote} wins"
    parts = [
        f"Your last vote: <b>{escape(own_vote)}</b>",
        f"A was <b><bdi>{escape(vote.system_a)}</bdi></b>, B was <b><bdi>{escape(vote.system_b)}</bdi></b>",
    ]
    for verdict in vote_result.verdicts:
        decision = "tie"
        if verdict.winner is not None:
            letter = "A" if verdict.winner == vote.system_a else "B"
            decision = f"{letter}, <bdi>{escape(verdict.winner)}</bdi>, wins"
        if verdict.flipped:
            decision = f"orders disagree, {decision}"
        sign = {True: answer_card.sign("right"), False: answer_card.sign("wrong"), None: ""}[verdict.agrees]
        word = {True: " (agrees with you)", False: " (disagrees)", None: ""}[verdict.agrees]
        parts.append(f"{sign}By <bdi>{escape(verdict.judge)}</bdi>: {decision}{word}")
    if not vote_result.verdicts:
        parts.append("Not judged yet")
    _show_result(parts)


def show_cited(vote: Evidence, passage: schema.Passage | None) -> None:
    """Show the system of the last sentence, and people's votes on the passage."""
    known = None if passage is None else passage.relevant
    label = {True: "relevant", False: "not relevant", None: "unlabelled"}[known]
    own_vote = EVIDENCE[vote.vote][0].lower() if vote.vote in EVIDENCE else vote.vote
    _show_result(
        [
            f"Your last vote: <b>{escape(own_vote)}</b>",
            f"The answer was by <b><bdi>{escape(vote.system)}</bdi></b>",
            f"Passage label: {label}",
        ]
    )


def _show_result(parts: Sequence[str]) -> None:
    spans = "".join(f"<span>{part}.</span> " for part in parts)
    st.html(f'<div class="mg-was" style="{answer_card.inks()}">{spans}</div>')
