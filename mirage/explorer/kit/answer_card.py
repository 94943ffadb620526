"""An answer with its outcome, features and passages, as escaped HTML."""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from html import escape
from typing import get_args

import streamlit as st

from mirage import schema
from mirage.battles.counts import QUERIES
from mirage.explorer.kit.table import column, mark_html
from mirage.explorer.kit.text import MarkKind, Markup, TextSpan, heading_html, link_html, text_html
from mirage.publish.charts.palette import DARK, ink
from mirage.stages.features.families import FEATURES
from mirage.text.answers import Citation, part_headings
from mirage.text.languages import name_of
from mirage.text.numbers import three_digits
from mirage.text.segmentation import as_sentence, count_text
from mirage.views.causes import TITLES as CAUSES
from mirage.views.query import MEASURED, OF_LANGUAGE, AnswerView, FeatureValue, MeasureScores, QueryView

_SIGNS = frozenset({*get_args(schema.Outcome), "right", "wrong"})
"""Outcomes and verdicts with a distinct sign (`style.css`), so that nothing depends on colour alone."""
_WORDS = {"api_error": "API error", "unparsed": "not classified"}
_TAGS: dict[bool | None, tuple[MarkKind, str]] = {
    True: ("relevant", "relevant"),
    False: ("irrelevant", "not relevant"),
    None: ("unlabelled", "no label"),
}
_BRACKETS = re.compile(r"^[\s\[［【]+|[\s\]］】,;،、，；]+$")
_NUMBERS = re.compile(r"[\d\s,،、，;–-]+")
UNFOLDED = 3
"""Number of conversation turns shown unfolded."""
_TIE = "\u00a0"
"""Non-breaking space."""
_LONG = 300
"""Maximum displayed characters of a passage's metadata; the rest is on hover."""
FIRST = 3
"""Number of features shown on a card; the others are shown on request."""
RIGHT = ("right", "right_refusal")
"""Causes of correct decisions, which say no more than the decision."""


def show_facts(facts: Sequence[str]) -> None:
    """Show the facts on the query as one line of small text."""
    st.html(Markup(facts_html(facts)))


def facts_html(facts: Sequence[str]) -> str:
    """Return the facts on a query as one line of small HTML text."""
    return f'<div class="mg-about">{escape(" · ".join(facts))}</div>'


def subset_facts(shown: QueryView) -> list[str]:
    """Return whether a passage answers the query, as a fact; none if that is unknown."""
    return [QUERIES[shown.subset]] if shown.subset in QUERIES else []


def show_query(shown: QueryView, *, reference: bool = False) -> None:
    """Show the query with its tags and earlier turns; without a text, its id and the reason.

    Args:
        shown: the query.
        reference: whether to add the reference answer, folded.
    """
    st.html(Markup(query_html(shown) + (_reference(shown) if reference else "")))


def query_html(shown: QueryView) -> str:
    """Return the query as HTML, as in `show_query`."""
    if shown.text:
        body = text_html(shown.text, language=shown.key[0])
    else:
        body = f'<div class="mg-text" dir="ltr">Query <bdi>{escape(shown.key[1])}</bdi></div>'
        if shown.reason not in ("", schema.TEXTS_ABSENT):
            body += f'<div class="mg-none">No text: {escape(shown.reason)}.</div>'
    tags = "".join(f'<span class="mg-tag"><bdi>{escape(f"{tag.tag}: {tag.value}")}</bdi></span>' for tag in shown.tags)
    chips = f'<div class="mg-chips">{tags}</div>' if tags else ""
    return f'{_turns(shown)}<div class="mg-query">{body}</div>{chips}'


def _turns(shown: QueryView) -> str:
    """Return the turns before the query as HTML; of more than three, all except the last two are folded."""
    turns = [
        f'<div class="mg-turn"><span class="mg-speaker"><bdi>{escape(turn.speaker)}</bdi></span>'
        f"{text_html(turn.text, language=shown.key[0])}</div>"
        for turn in shown.turns
    ]
    if not turns:
        return ""
    if len(turns) > UNFOLDED:
        n = len(turns) - 2
        folded = f'<details class="mg-more"><summary>{n} earlier turns</summary>{"".join(turns[:n])}</details>'
        turns = [folded, *turns[n:]]
    return f'<section class="mg-turns" aria-label="Earlier in the conversation">{"".join(turns)}</section>'


def _reference(shown: QueryView) -> str:
    if shown.reference is None:
        return ""
    text = text_html(shown.reference, language=shown.key[0])
    return f'<details class="mg-more"><summary>Reference answer</summary>{text}</details>'


def show_answers(
    head: str, shown: QueryView, systems: Sequence[str], *, hits: Collection[str], texts: bool, about: str = ""
) -> None:
    """Show answers one under the other.

    Args:
        head: heading above them.
        shown: the query they belong to.
        systems: systems whose answers to show, in order.
        hits: systems that match the filters, marked with a bar.
        texts: whether the arena has the answers' texts.
        about: a sentence between heading and answers.
    """
    by_system = {answer.system: answer for answer in shown.answers}
    first = telling_features(shown)
    cards = "".join(card(by_system[system], shown, texts=texts, hit=system in hits, first=first) for system in systems)
    legend = decided_legend(shown.answers, texts=texts) if about else ""
    note = f'<p class="mg-about">{escape(about)}{legend}</p>' if about else ""
    st.html(Markup(f'{heading_html(head)}{note}<div style="{inks()}">{cards}</div>'))


def decided_legend(answers: Iterable[AnswerView], *, texts: bool) -> str:
    """Return the legend of highlighted words in some answers as HTML; empty without any."""
    if not texts or not any(answer.span for answer in answers):
        return ""
    return ' <mark class="mg-decided">Highlighted</mark>: the words that count as answering or abstaining.'


def telling_features(shown: QueryView) -> tuple[str, ...]:
    """Return the features of the content to show first: of those from 0 to 1 with a better end, the ones that differ
    most between the answers.
    """
    values: dict[str, list[float]] = {}
    for measure in (m for answer in shown.answers for m in answer.measures if m.name not in OF_LANGUAGE):
        spec = FEATURES.get(measure.name)
        if measure.value is not None and spec and spec.direction != "none" and (spec.low, spec.high) == (0, 1):
            values.setdefault(measure.name, []).append(measure.value)
    order = sorted(values, key=lambda name: min(values[name]) - max(values[name]))
    return tuple(order[:FIRST])


def about_features(shown: QueryView) -> None:
    """Explain the features of the answers, on request."""
    meanings = {measure.title: _meaning(measure) for answer in shown.answers for measure in answer.measures}
    if meanings:
        entries = "".join(f"<li><b>{escape(title)}</b>: {escape(text)}</li>" for title, text in meanings.items())
        body = f'<details class="mg-more"><summary>What the features mean</summary><ul>{entries}</ul></details>'
        st.html(Markup(body))


def show_passages(shown: QueryView, *, labels: bool = True, above: str = "") -> None:
    """Show the passages, each opened by a click, with their relevance labels.

    Args:
        shown: the query.
        labels: whether to show relevance labels; false while voting.
        above: HTML above them.
    """
    st.html(Markup(above + passages_html(shown, labels=labels)))


def passages_html(shown: QueryView, *, labels: bool = True) -> str:
    """Return the passages as HTML, as in `show_passages`."""
    return f'<div style="{inks()}">{"".join(_passage(p, shown, labels) for p in shown.passages)}</div>'


def inks() -> str:
    """Return the CSS variables of cards, passages and signs for the page's colour mode."""
    dark = ink() is DARK
    right, wrong = ("#5cc28f", "#ff9a6b") if dark else ("#1f7a4d", "#b3441e")
    return f"--mg-hit: {ink().accent}; --mg-right: {right}; --mg-wrong: {wrong}"


def card(
    answer: AnswerView,
    shown: QueryView,
    *,
    texts: bool,
    hit: bool = False,
    first: Collection[str] | None = None,
    note: str = "",
    stretches: Sequence[TextSpan] | None = None,
) -> str:
    """Return an answer card as HTML; the answer's text is escaped.

    Args:
        answer: the answer.
        shown: the query it belongs to.
        texts: whether the arena has the answers' texts.
        hit: whether to mark the card with a bar at its side.
        first: names of the features to show; the others are shown on request. None for no features.
        note: HTML beside the system's name.
        stretches: spans to mark besides citations; by default the text that decided the outcome.
    """
    mark = mark_html(answer.system)
    name = f'<span class="mg-name">{escape(answer.system)}</span>'
    parts = [f'<div class="mg-row">{mark}{name}{note}{_outcome(answer, shown)}</div>']
    folded: list[str] = []
    if texts:
        parts.append(body(answer, shown, stretches))
    if answer.cause is not None and answer.cause.cause is not None:
        evidence = f"{CAUSES[answer.cause.cause]}: {answer.cause.evidence}"
        (folded if answer.cause.cause in RIGHT else parts).append(
            f'<div class="mg-why">{escape(as_sentence(evidence))}</div>'
        )
    if answer.rule:
        meaning, name = escape(answer.rule_meaning or answer.rule), escape(f"Rule: {answer.rule}")
        rule = f'<div class="mg-why">Why {answer.outcome}: <span class="mg-help" title="{name}">{meaning}</span></div>'
        (folded if texts else parts).append(rule)
    if answer.retriever:
        shown_by = f"Retrieved: {count_text(len(answer.shown), 'passage')} by {answer.retriever}."
        folded.append(f'<div class="mg-why">{escape(shown_by)}</div>')
    for selected, place in (
        ([m for m in answer.measures if first and m.name in first], parts),
        ([m for m in answer.measures if first is not None and m.name not in first], folded),
    ):
        if selected:
            place.append(f'<div class="mg-measures">{" · ".join(map(_measure, selected))}</div>')
    if answer.scores:
        parts.append(f'<div class="mg-measures">Rated: {" · ".join(map(_scores, answer.scores))}</div>')
    if folded:
        parts.append(f'<details class="mg-more mg-raw"><summary>Details</summary>{"".join(folded)}</details>')
    return f'<article class="mg-answer{" mg-hit" if hit else ""}">{"".join(parts)}</article>'


def _outcome(answer: AnswerView, shown: QueryView) -> str:
    if answer.outcome is None:
        return ""
    meaning = escape(column("outcomes", "outcome").help)
    outcome = escape(_WORDS.get(answer.outcome, answer.outcome))
    if answer.correct is not None:
        reason = (
            "At least one passage answers the query, so answering is the correct decision."
            if shown.subset == "relevant"
            else "No passage answers the query, so abstaining is the correct decision."
        )
        meaning = f"{reason} {MEASURED}"
    badge = f'<span class="mg-out" title="{meaning}">{sign(answer.outcome)}{outcome}'
    if answer.correct is not False:
        return f"{badge}{', as it should' if answer.correct else ''}</span>"
    return f'{badge}</span><span class="mg-verdict mg-wrong" title="{meaning}">{sign("wrong")}wrong decision</span>'


def sign(name: str) -> str:
    """Return the sign of an outcome, or of a correct (`right`) or wrong decision; empty for any other name."""
    return f'<span class="mg-sign mg-sign-{name}"></span>' if name in _SIGNS else ""


def body(answer: AnswerView, shown: QueryView, stretches: Sequence[TextSpan] | None, *, labels: bool = True) -> str:
    """Return the text of an answer, or the reason why there is none, as escaped HTML.

    Args:
        answer: the answer.
        shown: the query it belongs to.
        stretches: as in `card`.
        labels: whether citations show the relevance of their passage.
    """
    known = {"missing": "no answer by this system to this query", "empty": "the answer is empty"}
    status = answer.status or "missing"
    message = known.get(status, _WORDS.get(status, status)) + (f" ({answer.reason})" if answer.reason else "")
    note = "" if status == "ok" else f'<div class="mg-none">{escape(as_sentence(message))}</div>'
    if answer.text is None or not answer.text.strip():
        return note
    if stretches is None:
        stretches = [TextSpan(*answer.span, "decided", hover=answer.rule_meaning)] if answer.span else []
    changed = _citations(answer.text, answer.citations, shown.passages, labels)
    changed += [
        TextSpan(start, end, "part", label=name.capitalize()) for start, end, name in part_headings(answer.text)
    ]
    # Blank lines around an answer are hidden, but none within it; so is a reason that is the answer again.
    start = _end_of_repeated_reason(answer.text)
    start += len(answer.text[start:]) - len(answer.text[start:].lstrip())
    marks = [
        replace(mark, start=max(0, mark.start - start), end=mark.end - start)
        for mark in (*changed, *stretches)
        if mark.end > start
    ]
    language = _written_in(answer, shown.key[0])
    whole = "Download the full text from the Answers page."
    html = text_html(answer.text[start:].rstrip(), language=language, marks=marks, whole=whole)
    if changed:
        raw = text_html(answer.text.strip(), language=language)
        html += f'<details class="mg-more mg-raw"><summary>Raw text</summary>{raw}</details>'
    return html + note


def _end_of_repeated_reason(text: str) -> int:
    """Return the end of the heading Answer if the reason before it says the same, else 0."""
    headings = part_headings(text)
    if len(headings) < 2:
        return 0
    (_, reason, _), (reason_end, start, _) = headings
    said, again = (" ".join(part.split()) for part in (text[reason:reason_end], text[start:]))
    return start if reason < reason_end and said in again else 0


def _written_in(answer: AnswerView, query_language: str) -> str:
    """Return the display language of an answer: the query's, unless English was detected as likelier."""
    measured = {m.name: m.value for m in answer.measures}
    english, target = measured.get("english_language"), measured.get("target_language")
    return "en" if english is not None and target is not None and english > target else query_language


def _citations(
    text: str, citations: Sequence[Citation], passages: Sequence[schema.Passage], labels: bool
) -> list[TextSpan]:
    """Return one mark per citation, linked to its passage; a range is one mark for several passages. Marks replace
    brackets and commas.
    """
    by_id = {p.passage_id: p for p in passages}
    places: dict[tuple[int, int], list[Citation]] = {}
    for citation in citations:
        places.setdefault((citation.start, citation.end), []).append(citation)
    marks = []
    for (start, end), place_citations in places.items():
        cited_passages = [by_id[c.passage_id] for c in place_citations if c.passage_id is not None]
        kinds = [_TAGS[p.relevant][0] if labels else "cited" for p in cited_passages]
        order: tuple[MarkKind, ...] = ("cited", "relevant", "unlabelled", "irrelevant")
        kind: MarkKind = next((k for k in order if k in kinds), "unknown")
        about = "; ".join(
            f"[{p.position}] {p.title or p.passage_id}" + (f": {p.text[:240]} …" if p.text else "")
            for p in cited_passages
        )
        first = next((p for p, own in zip(cited_passages, kinds, strict=True) if own == kind), None)
        to = f"passage-{first.position}" if first else ""
        marks.append(TextSpan(start, end, kind, label=_label(text[start:end], cited_passages), hover=about, to=to))
    return marks


def _label(words: str, cited: Sequence[schema.Passage]) -> str:
    """Return the label of a citation: its numbers, or those of the cited ids' passages."""
    bare = _BRACKETS.sub("", words)
    if _NUMBERS.fullmatch(bare) or not cited:
        return bare
    return ", ".join(dict.fromkeys(str(passage.position) for passage in cited))


def _measure(measure: FeatureValue) -> str:
    """Return a feature's name and value on one line; the reason for a missing value is on hover."""
    title = escape(measure.title.replace(" ", _TIE))
    if measure.reason:
        title = f'<span class="mg-help" title="No value: {escape(measure.reason)}.">{title}</span>'
    return f"{title}{_TIE}{measure.write(measure.value)}"


def _meaning(measure: FeatureValue) -> str:
    """Return the meaning of a feature in a sentence; the Methods page has the full definition."""
    unit = f" Unit: {measure.unit}." if measure.unit else ""
    return f"{measure.meaning.partition('. ')[0].rstrip('.')}.{unit}"


def _scores(given: MeasureScores) -> str:
    """Return all scores of one measure; raters are on hover."""
    who = "; ".join(f"{score.rater}: {score_text(score)}" for score in given.scores)
    scale = f" Scale: {given.ends[0]:g} to {given.ends[1]:g}." if given.ends else ""
    help_ = escape(f"By {'people' if given.person else 'a program'}. {who}.{scale}")
    values = ", ".join(escape(score_text(score)) for score in given.scores)
    return f'<span class="mg-help" title="{help_}"><bdi>{escape(given.measure)}</bdi></span>{_TIE}{values}'


def score_text(score: schema.Score) -> str:
    """Format a score in its own unit, or give the reason why there is none."""
    return three_digits(score.value) if score.value is not None else f"– ({score.reason})" if score.reason else "–"


def _passage(passage: schema.Passage, shown: QueryView, labels: bool) -> str:
    kind, word = _TAGS[passage.relevant]
    tag = f'<span class="mg-tag mg-{kind}">{word}</span>' if labels else ""
    code = passage.passage_language or shown.key[0]
    language = escape(code)
    title = f'<strong><bdi lang="{language}">{escape(passage.title)}</bdi></strong>' if passage.title else ""
    text = text_html(passage.text, language=code) if passage.text else ""
    several = any(other.passage_language not in (None, shown.key[0]) for other in shown.passages)
    if several and passage.passage_language is not None:
        tag += f'<span class="mg-id">{escape(name_of(code))}</span>'
    return (
        f'<details class="mg-fold" id="passage-{passage.position}"><summary><div class="mg-head">'
        f"<strong>{passage.position}</strong>{title}"
        f'{tag}<span class="mg-id">{escape(passage.passage_id)}</span></div>'
        f"{text}</summary></details>{_source(shown.documents.get(passage.passage_id))}"
    )


def _source(document: schema.Document | None) -> str:
    """Return the source of a passage and its metadata."""
    if document is None:
        return ""
    parts = [link_html(document.url)] if document.url else []
    for name, value in metadata(document.metadata).items():
        short = value if len(value) <= _LONG else f"{value[:_LONG]} …"
        hover = f' title="{escape(value)}"' if short != value else ""
        parts.append(f"<bdi{hover}>{escape(name)}: {escape(short)}</bdi>")
    return f'<div class="mg-source">{" · ".join(parts)}</div>' if parts else ""


def metadata(text: str | None) -> dict[str, str]:
    """Return the metadata of a passage by name; text that is not a JSON object is stored under `metadata`."""
    if text is None:
        return {}
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = text
    values = parsed if isinstance(parsed, dict) else {"metadata": parsed}
    return {
        str(name): value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in values.items()
        if value is not None
    }
