"""The answers to a reader's question as HTML, with systems' texts escaped and their names hidden until the vote."""

from __future__ import annotations

from html import escape

from mirage.explorer.ask.data import question_view
from mirage.explorer.kit import answer_card
from mirage.explorer.kit.text import Markup
from mirage.people.ask import AskDesk, Asked, Side
from mirage.text.languages import name_of

VERDICTS = {"A": "A is better", "B": "B is better", "tie": "Tie", "both_bad": "Both bad"}


def question_html(asked: Asked, desk: AskDesk) -> Markup:
    """Return the question with its language."""
    facts = answer_card.facts_html([name_of(asked.language)])
    return Markup(facts + answer_card.query_html(question_view(asked, desk)))


def answers_html(asked: Asked, desk: AskDesk, *, seconds: float | None = None) -> Markup:
    """Return both answers side by side.

    Args:
        asked: the question.
        desk: its desk.
        seconds: seconds that the reader has waited, while answers are streaming.
    """
    shown = question_view(asked, desk)
    cards = []
    for letter, side, view in zip("AB", asked.sides, shown.answers, strict=True):
        name = f'<span class="mg-name"><bdi>{escape(side.system)}</bdi></span>' if asked.vote else ""
        head = f'<div class="mg-row"><span class="mg-letter">{letter}</span>{name or f"<span>Answer {letter}</span>"}'
        head += f"{_progress(side, seconds)}</div>"
        text = answer_card.body(view, shown, [], labels=False) if side.text or side.status else ""
        cards.append(
            f'<article class="mg-answer" aria-busy="{str(side.status is None).lower()}">{head}{text}</article>'
        )
    return Markup(f'<div class="mg-sides mg-blind" style="{answer_card.inks()}">{"".join(cards)}</div>')


def _progress(side: Side, seconds: float | None) -> str:
    if side.status is not None or seconds is None:
        return ""
    words = "writing" if side.text else "waiting"
    return f'<span class="mg-why" role="status">{words} · {seconds:.0f} s</span>'


def passages_html(asked: Asked, desk: AskDesk) -> Markup:
    """Return the passages that both systems were shown."""
    return Markup(answer_card.passages_html(question_view(asked, desk), labels=False))


def reveal_html(asked: Asked) -> Markup:
    """Return the vote and the names of both systems."""
    first, second = (f"<b><bdi>{escape(side.system)}</bdi></b>" for side in asked.sides)
    vote = VERDICTS[asked.vote or "tie"]
    return Markup(
        f'<div class="mg-was"><span>Your vote: <b>{escape(vote)}</b>.</span> '
        f"<span>A was {first}, B was {second}.</span></div>"
    )


def problem(asked: Asked) -> str:
    """Return why there can be no vote, in a sentence; empty if there can be or is a vote."""
    if asked.vote or asked.votable or not asked.done:
        return ""
    if asked.closed:
        return "Stopped before both answers were complete; nothing was saved. Ask again."
    failed = [f"answer {letter}" for letter, side in zip("AB", asked.sides, strict=True) if not side.whole]
    which = " and ".join(failed)
    return f"{which[:1].upper()}{which[1:]} is incomplete, so there is no vote and nothing was saved. Ask again."
