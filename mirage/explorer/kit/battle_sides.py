"""Two answers side by side, blind for a vote or with their systems, and the votes of people on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

import streamlit as st

from mirage.explorer.kit import answer_card
from mirage.explorer.kit.text import TextSpan, text_html
from mirage.people.votes.kinds import Vote
from mirage.views.battle import BattleView
from mirage.views.overlap import Parts

Side = Literal["first", "second"]
BATTLE = {"A": ("A is better", "1"), "B": ("B is better", "2"), "tie": ("Tie", "3"), "both_bad": ("Both bad", "4")}
"""Votes on a battle: button label and key."""


@dataclass(frozen=True, slots=True)
class BattleLayout:
    """Layout of the two answers."""

    left: Side
    """System on the left."""
    letters: bool
    """Whether to show the judge's letters A and B."""
    why: str
    """Description of the order."""

    @property
    def sides(self) -> tuple[Side, Side]:
        """The systems from left to right."""
        return ("first", "second") if self.left == "first" else ("second", "first")


def answer_sides(
    battle: BattleView,
    layout: BattleLayout,
    *,
    texts: bool,
    parts: tuple[Parts, Parts] | None = None,
    decided: bool = False,
) -> str:
    """Return the two answers as HTML, side by side if there is room; empty if nothing is known of either.

    Args:
        battle: the battle.
        layout: layout of the answers.
        texts: whether the arena has the answers' texts.
        parts: shared spans of both texts to mark; None to mark nothing.
        decided: whether to mark the text that decided the outcome, where `parts` are not marked.
    """
    by_side = {"first": battle.first, "second": battle.second}
    if not texts and not any(answer.outcome or answer.scores for answer in by_side.values()):
        return ""
    cards = []
    for letter, side in zip("AB", layout.sides, strict=True):
        note = f'<span class="mg-letter" title="{escape(layout.why)}">{letter}</span>' if layout.letters else ""
        stretches: list[TextSpan] | None = None if decided else []
        if parts is not None:
            own = parts[0 if side == "first" else 1]
            stretches = [TextSpan(*span, "shared") for span in own.shared]
            stretches += [TextSpan(*span, "own") for span in own.own]
        answer = by_side[side]
        cards.append(answer_card.card(answer, battle.query, texts=texts, note=note, stretches=stretches))
    return f'<div class="mg-sides" style="{answer_card.inks()}">{"".join(cards)}</div>'


def show_sides(battle: BattleView, *, labels: bool) -> None:
    """Show the two answers as A and B; `first` is A. Outcomes and features are hidden: they would bias the vote.

    Args:
        battle: the two answers.
        labels: whether citations show the relevance of their passage.
    """
    cards = ""
    for letter, answer in (("A", battle.first), ("B", battle.second)):
        head = f'<div class="mg-row"><span class="mg-letter">{letter}</span><span>Answer {letter}</span></div>'
        body = answer_card.body(answer, battle.query, [], labels=labels)
        cards += f'<article class="mg-answer">{head}{body}</article>'
    st.html(f'<div class="mg-sides mg-blind" style="{answer_card.inks()}">{cards}</div>')


def show_people(rows: Sequence[Vote]) -> None:
    """Show each person's vote on a revealed battle."""
    lines = []
    for row in rows:
        winner = {"A": row.system_a, "B": row.system_b}.get(row.vote)
        other = {"tie": "tie", "both_bad": "both bad", "skip": "skipped"}.get(row.vote, "")
        verdict = f"<b><bdi>{escape(winner)}</bdi></b> wins" if winner else other
        drawn = "drawn at random" if row.control else "chosen by the queue"
        note = text_html(row.note, language="") if row.note else ""
        words = f"{verdict} ({drawn}, {row.time[:10]})."
        lines.append(f'<div class="mg-judge"><bdi>{escape(row.voter)}</bdi>: <span>{words}</span></div>{note}')
    st.html(f'<section style="{answer_card.inks()}">{"".join(lines)}</section>')
