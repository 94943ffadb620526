"""A battle as escaped HTML: the systems' score, the answers side by side, every judge's verdicts by order, and features
as bars.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Literal

from mirage import schema
from mirage.battles.decision import Decision
from mirage.battles.referee import Referee
from mirage.explorer.answers import answer_card
from mirage.explorer.answers.data import AnswerView, MeasureScores
from mirage.explorer.battle.data import BattleSelection, BattleView, FeatureComparison
from mirage.explorer.battle.overlap import Parts
from mirage.explorer.kit.table import column_help, mark_html, mode
from mirage.explorer.kit.text import TextSpan, heading_html, text_html
from mirage.publish.charts.palette import FORMATS, family
from mirage.text.segmentation import count_text

Side = Literal["first", "second"]


@dataclass(frozen=True, slots=True)
class BattleLayout:
    """Layout of the two answers."""

    left: Side
    """System on the left."""
    letters: bool
    """Whether to show the judge's letters A and B."""
    why: str
    """Description of the order."""


def layout_of(battle: BattleView, judge: str, order: str) -> BattleLayout:
    """Return the layout of the answers: fixed by system, or as a judge saw them.

    Args:
        battle: the battle.
        judge: judge whose order to show.
        order: `fixed`; `judged`: the first judged order; `other`: the second, if both were judged.
    """
    seen = battle.judged(judge)
    if order == "fixed" or not seen:
        return BattleLayout("first", False, "The first system is on the left.")
    judgment = seen[-1 if order == "other" else 0]
    only = "" if len(seen) > 1 else ", the only order judged"
    return BattleLayout(
        "first" if judgment.system_a == battle.first.system else "second",
        True,
        f"As {judge} saw them: A is {judgment.system_a}, B is {judgment.system_b}{only}.",
    )


def score(battles: BattleSelection) -> str:
    """Return the results of all battles of the two systems in the chosen languages as HTML."""
    cell = battles.cell
    drawn = (
        (cell.wins, "", f"background:{_color(cell.system)}"),
        (cell.ties, "mg-tied", ""),
        (cell.unparsed, "mg-unread", ""),
        (cell.losses, "mg-two", f"border-color:{_color(cell.other)}"),
    )
    parts = "".join(f'<i class="{css}" style="flex:{n} 0 0;{paint}"></i>' for n, css, paint in drawn if n)
    words = [
        f"<b>{escape(cell.system)}</b> wins {cell.wins:,}",
        f"ties {cell.ties:,}",
        f"<b>{escape(cell.other)}</b> wins {cell.losses:,}",
        *([f"unparsed {cell.unparsed:,}"] if cell.unparsed else []),
        f"n = {count_text(cell.n, 'query')}",
    ]
    if cell.share is not None and cell.interval is not None:
        low, high = (FORMATS["rate"].write(end) for end in cell.interval)
        share = f"{FORMATS['rate'].write(cell.share)} of {cell.wins + cell.losses:,} decided"
        words[0] += f", {share} (95% interval {low} to {high})"
    texts = "".join(f"<span>{word}</span>" for word in words)
    return f'<div class="mg-score"><div class="mg-share" aria-hidden="true">{parts}</div>{texts}</div>'


def verdict_line(battle: BattleView, referee: Referee | None) -> str:
    """Return the winner and its reason as one line of HTML."""
    return f'<div class="mg-said" style="{answer_card.inks()}">{_verdict_html(battle, referee)}</div>'


def _verdict_html(battle: BattleView, referee: Referee | None) -> str:
    first, second = battle.first, battle.second
    if referee is None:
        return "No judge has compared these two."
    if referee.by_labels:
        verdict = {True: "correct decision", False: "wrong decision", None: "undecided"}
        signs = {True: "right", False: "wrong", None: "unparsed"}
        sides = ", ".join(
            f"{answer_card.sign(signs[r.correct])}<b>{escape(r.system)}</b>: {verdict[r.correct]}"
            for r in (first, second)
        )
        both = {1: "", 0: ", tie", 2: ", tie"}
        right = [r.correct is True for r in (first, second)]
        return f"{sides} (by relevance labels){both[1 if right[0] != right[1] else 0 if right[0] else 2]}."
    decision = battle.decision(referee.name)
    if referee.kind == "nuggets":
        return f"{_winner(battle, decision)} (by the share of vital nuggets stated in full)."
    orders = {0: "no verdict on these two", 1: "one order judged"}.get(decision.n_verdicts, "both orders judged")
    if decision.n_verdicts > 1:
        orders += ", different winners" if not decision.consistent else ", same winner"
    of_judge = battle.judged(referee.name)
    criterion = _criterion(of_judge[0]) if of_judge else ""
    return f"{_winner(battle, decision)}. Judge <b>{escape(referee.name)}</b>{criterion}: {orders}."


def _winner(battle: BattleView, decision: Decision) -> str:
    names = {"first": battle.first.system, "second": battle.second.system}
    if decision.winner in names:
        return f"{answer_card.sign('right')}<b>{escape(names[decision.winner])}</b> wins"
    if decision.winner == "tie":
        return "Tie: the two orders disagree" if not decision.consistent else "A tie"
    return "No readable verdict" if decision.n_verdicts else "No verdict"


def answer_sides(
    battle: BattleView,
    layout: BattleLayout,
    *,
    texts: bool,
    parts: tuple[Parts, Parts] | None = None,
    decided: bool = False,
) -> str:
    """Return the two answers as HTML, side by side if there is room.

    Args:
        battle: the battle.
        layout: layout of the answers.
        texts: whether the arena has the answers' texts.
        parts: shared spans of both texts to mark; None to mark nothing.
        decided: whether to mark the text that decided the outcome, where `parts` are not marked.
    """
    by_side = {"first": battle.first, "second": battle.second}
    order: tuple[Side, Side] = ("first", "second") if layout.left == "first" else ("second", "first")
    cards = []
    for letter, side in zip("AB", order, strict=True):
        note = f'<span class="mg-letter" title="{escape(layout.why)}">{letter}</span>' if layout.letters else ""
        stretches: list[TextSpan] | None = None if decided else []
        if parts is not None:
            stretches = _stretches(parts[0 if side == "first" else 1])
        answer = by_side[side]
        every = [measure.name for measure in answer.measures]
        cards.append(
            answer_card.card(
                answer, battle.query, texts=texts, leave_out=every, note=note, stretches=stretches, scores=False
            )
        )
    return f'<div class="mg-sides" style="{answer_card.inks()}">{"".join(cards)}</div>'


def _stretches(parts: Parts) -> list[TextSpan]:
    return [TextSpan(*span, "shared") for span in parts.shared] + [TextSpan(*span, "own") for span in parts.own]


def shared(parts: tuple[Parts, Parts] | None) -> str:
    """Describe the difference view in words."""
    if parts is None:
        return "No word-by-word comparison: one answer has no text or is too long."
    first, second = parts
    if not first.words_shared:
        return "The answers share no run of three words."
    return (
        f"{first.words_shared:,} shared words in runs of three or more: {first.words_shared / first.words:.0%} of the "
        f"first answer, {second.words_shared / second.words:.0%} of the second. Shared text is muted, differences are "
        "underlined."
    )


def judge_verdicts(battle: BattleView, first: str) -> str:
    """Return every judge's verdicts and rationales as HTML, with both orders side by side.

    Args:
        battle: the battle.
        first: the judge to begin with.
    """
    names = sorted(battle.judges, key=lambda judge: judge != first)
    head = heading_html("Judges' verdicts" if len(names) > 1 else "Judge's verdict")
    return head + "".join(_judge(battle, judge) for judge in names)


def _judge(battle: BattleView, judge: str) -> str:
    decision = battle.decision(judge)
    flip = " The two orders disagree." if not decision.consistent else ""
    orders = "".join(map(_order, battle.judged(judge)))
    about = _criterion(battle.judged(judge)[0])
    head = f'<div class="mg-judge">{escape(judge)}{about}: <span>{_winner(battle, decision)}.{flip}</span></div>'
    return f'<section style="{answer_card.inks()}">{head}<div class="mg-sides">{orders}</div></section>'


def _criterion(judgment: schema.Judgment) -> str:
    """Return a tag with the criterion of a verdict; empty for `overall`."""
    if judgment.criterion in (None, schema.OVERALL):
        return ""
    return f' <span class="mg-tag">criterion: <bdi>{escape(str(judgment.criterion))}</bdi></span>'


def _order(judgment: schema.Judgment) -> str:
    winner = {"A": judgment.system_a, "B": judgment.system_b}.get(judgment.verdict)
    word = f"{judgment.verdict}: <bdi>{escape(winner)}</bdi> wins" if winner else escape(judgment.verdict)
    word += f" ({escape(judgment.reason)})" if judgment.reason else ""
    word += f" · repeat {judgment.repeat}" if judgment.repeat else ""
    rationale = (
        text_html(judgment.rationale, language="")
        if judgment.rationale
        else '<div class="mg-none">No rationale available.</div>'
    )
    systems = "".join(
        f"<span>{letter}, shown {place}: <bdi>{escape(system)}</bdi></span>"
        for letter, place, system in (("A", "first", judgment.system_a), ("B", "second", judgment.system_b))
    )
    meaning = escape(column_help("judgments", "verdict"))
    return (
        f'<div class="mg-order"><div class="mg-who">{systems}</div>'
        f'<div class="mg-verdict-word" title="{meaning}">{word}</div>{rationale}</div>'
    )


def features(battle: BattleView, layout: BattleLayout) -> str:
    """Return the features that both answers have as HTML bars, with one scale per feature."""
    order: tuple[Side, Side] = ("first", "second") if layout.left == "first" else ("second", "first")
    answers: dict[Side, AnswerView] = {"first": battle.first, "second": battle.second}
    names = [answers[side].system for side in order]
    heads = "".join(f'<div class="mg-top">{mark_html(n, mode())} {escape(n)}</div>' for n in names)
    rows = "".join(_row(comparison, order, answers) for comparison in battle.compared)
    out = f'{heading_html("Features")}<div class="mg-bars" style="{answer_card.inks()}"><div></div>{heads}{rows}</div>'
    if battle.apart:
        out += note(f"Not compared (a value is missing): {', '.join(battle.apart)}.")
    return out


def stack_html(*parts: str) -> str:
    """Stack HTML parts with the usual spacing."""
    return f'<div class="mg-stack">{"".join(parts)}</div>'


def note(text: str) -> str:
    """Return a line of small text as HTML."""
    return f'<p class="mg-about">{escape(text)}</p>'


def scores(battle: BattleView, layout: BattleLayout) -> str:
    """Return the scores of both answers by measure and rater as HTML; empty without scores."""
    answers = (battle.first, battle.second) if layout.left == "first" else (battle.second, battle.first)
    by_side = [{given.measure: given for given in answer.scores} for answer in answers]
    if not any(by_side):
        return ""
    heads = "".join(
        f'<div class="mg-top">{mark_html(answer.system, mode())} {escape(answer.system)}</div>' for answer in answers
    )
    rows = []
    for given in {**by_side[1], **by_side[0]}.values():
        scale = f", {given.ends[0]:g} to {given.ends[1]:g}" if given.ends else ""
        rows.append(
            f"<div><bdi>{escape(given.measure)}</bdi> "
            f'<span class="mg-way">{"people" if given.person else "a program"}{scale}</span></div>'
        )
        rows += [
            _score_html(side.get(given.measure), answer.system) for side, answer in zip(by_side, answers, strict=True)
        ]
    head = heading_html("Ratings of single answers")
    return f'{head}<div class="mg-bars" style="{answer_card.inks()}"><div></div>{heads}{"".join(rows)}</div>'


def _score_html(given: MeasureScores | None, system: str) -> str:
    """Return one answer's mean on a measure, its position on the scale, and each rater's score."""
    if given is None:
        return '<div class="mg-half"><span>–</span></div>'
    value, bar = "–", ""
    if given.mean is not None:
        value = f"{given.mean:.3g}"
        if given.ends and given.ends[0] != given.ends[1]:
            low, high = given.ends
            width = max(0.0, min(100.0, 100 * (given.mean - low) / (high - low)))
            bar = f'<div class="mg-track"><i style="width:{width:.1f}%;background:{_color(system)}"></i></div>'
    raters = " · ".join(
        f"<bdi>{escape(score.rater)}</bdi>&nbsp;{escape(answer_card.score_text(score))}" for score in given.scores
    )
    each = f'<div class="mg-raters">{raters}</div>' if given.person or len(given.scores) > 1 else ""
    return f'<div class="mg-half"><span>{value}</span>{bar}{each}</div>'


_WAYS = {"higher": "↑ higher is better", "lower": "↓ lower is better", "none": "neither is better"}


def _row(comparison: FeatureComparison, order: tuple[Side, Side], answers: dict[Side, AnswerView]) -> str:
    measure = comparison.measure
    unit = f" Unit: {measure.unit}." if measure.unit else ""
    head = (
        f'<div><span class="mg-help" title="{escape(measure.meaning + unit)}">{escape(measure.title)}</span> '
        f'<span class="mg-way">{_WAYS[comparison.direction]}</span></div>'
    )
    values: dict[Side, float] = {"first": comparison.first, "second": comparison.second}
    halves = []
    for side in order:
        value = answer_card.feature_text(measure.unit, values[side])
        best = comparison.better == side
        value_html = f"<b>{answer_card.sign('right')}{value}</b>" if best else f"<span>{value}</span>"
        width = 100 * (values[side] - comparison.low) / (comparison.high - comparison.low)
        color = _color(answers[side].system)
        bar = f'<i style="width:{max(0.0, min(100.0, width)):.1f}%;background:{color}"></i>'
        halves.append(f'<div class="mg-half">{value_html}<div class="mg-track">{bar}</div></div>')
    return head + "".join(halves)


def _color(system: str) -> str:
    return family(system).color(mode())
