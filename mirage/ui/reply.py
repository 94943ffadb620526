"""A system's reply with what is known of it, and the passages it was given, as HTML in which no text is markup."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from html import escape

import streamlit as st

from mirage import schema
from mirage.answers import Citation
from mirage.charts.palette import FORMATS, family, ink
from mirage.pipeline.bundle import TEXTS_ABSENT
from mirage.ui.table import column_help, dot, mode
from mirage.ui.text import MarkKind, TextSpan, text_html
from mirage.views.answers import AnswerView, FeatureValue, QuestionView

_SIGNS = frozenset({"answered", "abstained", "unparsed", "empty", "api_error", "missing", "right", "wrong"})
"""Outcomes and verdicts with a sign of their own (`style.css`): nothing hangs on colour alone."""
_WORDS = {"api_error": "API error"}
_TAGS: dict[bool | None, tuple[MarkKind, str]] = {
    True: ("relevant", "relevant"),
    False: ("irrelevant", "not relevant"),
    None: ("unlabelled", "no label"),
}
_BRACKETS = re.compile(r"^[\s\[［【]+|[\s\]］】,;،、，；]+$")
_COUNTED = ("characters", "passages", "citations")


def show_facts(facts: Sequence[str]) -> None:
    """Show what is known of the question, in a line of small text."""
    st.html(f'<div class="mg-about">{escape(" · ".join(facts))}</div>')


def show_question(shown: QuestionView) -> None:
    """Show the question; where its text is absent, its id and the reason."""
    if shown.text:
        body = text_html(shown.text, language=shown.key[0])
    else:
        body = f'<div class="mg-text" dir="ltr">Question <bdi>{escape(shown.key[1])}</bdi></div>'
        if shown.reason != TEXTS_ABSENT:
            body += f'<div class="mg-none">No text: {escape(shown.reason)}.</div>'
    st.html(f'<div class="mg-question">{body}</div>')


def show_replies(shown: QuestionView, systems: Collection[str], *, hits: Collection[str], texts: bool) -> None:
    """Show replies one under the other.

    Args:
        shown: the question they belong to.
        systems: whose replies, by name.
        hits: those that the filters look for; they carry a bar at their side.
        texts: whether the arena has the replies' texts; without, the place of the deciding span stands for it.
    """
    nowhere = _nowhere(shown)
    cards = [
        card(reply, shown, texts=texts, hit=reply.system in hits, leave_out=nowhere)
        for reply in shown.replies
        if reply.system in systems
    ]
    st.html(f'<div style="{inks()}">{"".join(cards)}</div>')


def unmeasured(shown: QuestionView) -> None:
    """Say which features no reply to the question has, and why."""
    reasons: dict[str, dict[str, str]] = {}
    for name in _nowhere(shown):
        measures = [m for reply in shown.replies for m in reply.measures if m.name == name]
        for measure in measures:
            if measure.reason and "no reply" not in measure.reason:
                reasons.setdefault(measure.reason, {})[measure.title] = measure.meaning
    for reason, titles in reasons.items():
        names = ", ".join(
            f'<span class="mg-help" title="{escape(help_)}">{escape(t)}</span>' for t, help_ in titles.items()
        )
        st.html(f'<div class="mg-why">Without a value here: {names} ({escape(reason)}).</div>')


def _nowhere(shown: QuestionView) -> frozenset[str]:
    """Names of the features that have no value for any reply."""
    measures = [m for reply in shown.replies for m in reply.measures]
    return frozenset({m.name for m in measures} - {m.name for m in measures if m.value is not None})


def show_passages(shown: QuestionView) -> None:
    """Show the passages, each opened by a click; relevant or not is told by word, fill and rule."""
    st.html(f'<div style="{inks()}">{"".join(_passage(p, shown) for p in shown.passages)}</div>')


def inks() -> str:
    """Style of what holds cards, passages or signs: their colours in the page's mode."""
    dark = mode() == "dark"
    right, wrong = ("#5cc28f", "#ff9a6b") if dark else ("#1f7a4d", "#b3441e")
    return f"--mg-hit: {ink(mode()).accent}; --mg-right: {right}; --mg-wrong: {wrong}"


def card(
    reply: AnswerView,
    shown: QuestionView,
    *,
    texts: bool,
    hit: bool = False,
    leave_out: Collection[str] = (),
    note: str = "",
    stretches: Sequence[TextSpan] | None = None,
) -> str:
    """A reply with what is known of it, as HTML in which nothing of the reply is markup.

    Args:
        reply: the reply.
        shown: the question it belongs to.
        texts: whether the arena has the replies' texts.
        hit: whether it carries a bar at its side.
        leave_out: names of features that are not told.
        note: HTML beside the system's name.
        stretches: what is marked in the text beside citations; the text that decided unless given.
    """
    maker = escape(family(reply.system).name)
    mark = f'<img src="{dot(reply.system, mode())}" alt="{maker}" title="{maker}">'
    name = f'<span class="mg-name">{escape(reply.system)}</span>'
    parts = [f'<div class="mg-row">{mark}{name}{note}{_outcome(reply, shown)}</div>']
    if texts:
        parts.append(body(reply, shown, stretches))
    if reply.rule:
        where = f"characters {reply.span[0]:,} to {reply.span[1]:,}" if reply.span else ""
        help_ = escape(f"Rule: {reply.rule}" + (f"; decided by {where} of the reply" if where else ""))
        meaning = escape(reply.rule_meaning or reply.rule) + ("" if texts or not where else f" ({where})")
        parts.append(f'<div class="mg-why">Decided: <span class="mg-help" title="{help_}">{meaning}</span></div>')
    if selected_measures := [m for m in reply.measures if m.name not in leave_out]:
        measures = "".join(map(_measure, selected_measures))
        parts.append(f'<div class="mg-measures">{measures}</div>')
    return f'<article class="mg-reply{" mg-hit" if hit else ""}">{"".join(parts)}</article>'


def _outcome(reply: AnswerView, shown: QuestionView) -> str:
    if reply.outcome is None:
        return ""
    word = _WORDS.get(reply.outcome, reply.outcome)
    meaning = escape(column_help("outcomes", "outcome"))
    badge = f'<span class="mg-out" title="{meaning}">{sign(reply.outcome)}{escape(word)}</span>'
    if reply.correct is None:
        return badge
    verdict = "right" if reply.correct else "wrong"
    reason = (
        "At least one passage answers the question: to answer is right, to abstain is wrong."
        if shown.subset == "relevant"
        else "No passage answers the question: to abstain is right, to answer is wrong."
    )
    return f'{badge}<span class="mg-verdict mg-{verdict}" title="{reason}">{sign(verdict)}{verdict}</span>'


def sign(name: str) -> str:
    """The sign of an outcome, or of right and wrong; nothing for another name."""
    return f'<span class="mg-sign mg-sign-{name}"></span>' if name in _SIGNS else ""


def body(reply: AnswerView, shown: QuestionView, stretches: Sequence[TextSpan] | None) -> str:
    """What a system replied, or why there is nothing, as HTML in which nothing of the reply is markup.

    Args:
        reply: the reply.
        shown: the question it belongs to.
        stretches: as in `card`.
    """
    known = {"missing": "there is no reply of this system to this question", "empty": "the reply is white space only"}
    status = reply.status or "missing"
    message = known.get(status, _WORDS.get(status, status)) + (f" ({reply.reason})" if reply.reason else "")
    note = "" if status == "ok" else f'<div class="mg-none">{escape(message[:1].upper() + message[1:])}.</div>'
    if reply.text is None or not reply.text.strip():
        return note
    if stretches is None:
        stretches = [TextSpan(*reply.span, "decided", hover=reply.rule_meaning)] if reply.span else []
    marks = [*_citations(reply.text, reply.citations, shown.passages), *stretches]
    # Blank lines around a reply are left out of sight; nothing within it is.
    before = len(reply.text) - len(reply.text.lstrip())
    moved = [replace(mark, start=max(0, mark.start - before), end=mark.end - before) for mark in marks]
    language = _written_in(reply, shown.key[0])
    whole = "The download of the Answers page has it whole."
    return text_html(reply.text.strip(), language=language, marks=moved, whole=whole) + note


def _written_in(reply: AnswerView, question_language: str) -> str:
    """The language to show a reply in: that of the question, unless English was measured as likelier."""
    measured = {m.name: m.value for m in reply.measures}
    english, target = measured.get("english_language"), measured.get("target_language")
    return "en" if english is not None and target is not None and english > target else question_language


def _citations(text: str, citations: Sequence[Citation], passages: Sequence[schema.Passage]) -> list[TextSpan]:
    """One mark for each place, which leads to its passage; a range cites several passages in one. Brackets and commas
    give way to the mark.
    """
    by_id = {p.passage_id: p for p in passages}
    places: dict[tuple[int, int], list[Citation]] = {}
    for citation in citations:
        places.setdefault((citation.start, citation.end), []).append(citation)
    marks = []
    for (start, end), place_citations in places.items():
        cited_passages = [by_id[c.passage_id] for c in place_citations if c.passage_id is not None]
        kinds = [_TAGS[p.relevant][0] for p in cited_passages]
        order: tuple[MarkKind, ...] = ("relevant", "unlabelled", "irrelevant")
        kind: MarkKind = next((k for k in order if k in kinds), "unknown")
        about = "; ".join(
            f"[{p.position}] {p.title or p.passage_id}" + (f": {p.text[:240]} …" if p.text else "")
            for p in cited_passages
        )
        first = next((p for p in cited_passages if _TAGS[p.relevant][0] == kind), None)
        to = f"passage-{first.position}" if first else ""
        marks.append(TextSpan(start, end, kind, label=_BRACKETS.sub("", text[start:end]), hover=about, to=to))
    return marks


def feature_text(unit: str, value: float | None) -> str:
    """A feature's value as text, by its unit."""
    return FORMATS["count" if unit in _COUNTED else "probability"].write(value)


def _measure(measure: FeatureValue) -> str:
    value = feature_text(measure.unit, measure.value)
    reason = f" No value here: {measure.reason}." if measure.reason else ""
    unit = f" Unit: {measure.unit}." if measure.unit else ""
    help_ = escape(measure.meaning + unit + reason)
    return f'<span><span class="mg-help" title="{help_}">{escape(measure.title)}</span> {value}</span>'


def _passage(passage: schema.Passage, shown: QuestionView) -> str:
    kind, word = _TAGS[passage.relevant]
    language = escape(shown.key[0])
    title = f'<strong><bdi lang="{language}">{escape(passage.title)}</bdi></strong>' if passage.title else ""
    text = text_html(passage.text, language=shown.key[0]) if passage.text else ""
    return (
        f'<details class="mg-fold" id="passage-{passage.position}"><summary><div class="mg-head">'
        f"<strong>{passage.position}</strong>{title}"
        f'<span class="mg-tag mg-{kind}">{word}</span><span class="mg-id">{escape(passage.passage_id)}</span></div>'
        f"{text}</summary></details>"
    )
