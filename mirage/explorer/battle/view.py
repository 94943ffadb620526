"""A battle in a sentence, and as escaped HTML: the systems' score, the answers side by side, every judge's verdicts by
order, and features as bars.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Literal

from mirage import schema
from mirage.battles.decision import Decision
from mirage.explorer.answers import answer_card
from mirage.explorer.answers.data import AnswerView
from mirage.explorer.answers.sections import judgment_html
from mirage.explorer.battle.data import BattleSelection, BattleView, FeatureComparison
from mirage.explorer.battle.overlap import Parts
from mirage.explorer.kit.table import mark_html, mode
from mirage.explorer.kit.text import TextSpan, heading_html
from mirage.publish.charts.palette import FORMATS, family
from mirage.ranking.judges import Judge
from mirage.schema import PEOPLE

Side = Literal["first", "second"]
MOST = 2
"""Maximum number of features named in a sentence."""
ACTS = {
    ("relevant", True): "answers correctly (a passage is relevant)",
    ("relevant", False): "abstains although a passage is relevant",
    ("non_relevant", True): "abstains correctly (no passage is relevant)",
    ("non_relevant", False): "answers although no passage is relevant",
}
"""What a system does, by the subset of the query and whether that is the correct decision."""


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


def layout_of(battle: BattleView, judge: str, order: str) -> BattleLayout:
    """Return the layout of the answers: fixed by system, or as a judge saw them.

    Args:
        battle: the battle.
        judge: judge whose order to show.
        order: `fixed`; `judged`: the first judged order; `other`: the second, if both were judged.
    """
    seen = battle.judged(judge)
    if order == "fixed" or not seen:
        return BattleLayout("first", False, "")
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
    ]
    if cell.share is not None and cell.interval is not None:
        low, high = (FORMATS["rate"].write(end) for end in cell.interval)
        share = f"{FORMATS['rate'].write(cell.share)} of {cell.wins + cell.losses:,} decided"
        words[0] += f", {share} (95% interval {low} to {high})"
    texts = "".join(f"<span>{word}</span>" for word in words)
    return f'<div class="mg-score"><div class="mg-share" aria-hidden="true">{parts}</div>{texts}</div>'


def _winner(battle: BattleView, decision: Decision) -> str:
    names = {"first": battle.first.system, "second": battle.second.system}
    if decision.winner in names:
        return f"{answer_card.sign('right')}<b>{escape(names[decision.winner])}</b> wins"
    return "A tie" if decision.winner == "tie" else "No readable verdict"


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
    cards = []
    for letter, side in zip("AB", layout.sides, strict=True):
        note = f'<span class="mg-letter" title="{escape(layout.why)}">{letter}</span>' if layout.letters else ""
        stretches: list[TextSpan] | None = None if decided else []
        if parts is not None:
            stretches = _stretches(parts[0 if side == "first" else 1])
        answer = by_side[side]
        cards.append(answer_card.card(answer, battle.query, texts=texts, note=note, stretches=stretches))
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
    seen = battle.judged(judge)
    same = decision.winner == "unparsed" and len({judgment.rationale for judgment in seen}) == 1
    orders = "".join(map(judgment_html, seen[:1] if same else seen))
    about = _criterion(seen[0])
    head = f'<div class="mg-judge">{escape(judge)}{about}: <span>{_winner(battle, decision)}.{flip}</span></div>'
    return f'<section style="{answer_card.inks()}">{head}<div class="mg-sides">{orders}</div></section>'


def _criterion(judgment: schema.Judgment) -> str:
    """Return a tag with the criterion of a verdict; empty for `overall`."""
    if judgment.criterion in (None, schema.OVERALL):
        return ""
    return f' <span class="mg-tag">criterion: <bdi>{escape(str(judgment.criterion))}</bdi></span>'


def features(battle: BattleView, layout: BattleLayout) -> str:
    """Return the features that both answers have as HTML bars, with one scale per feature."""
    answers = {"first": battle.first, "second": battle.second}
    names = "".join(
        f'<div class="mg-top">{mark_html(answers[side].system, mode())} {escape(answers[side].system)}</div>'
        for side in layout.sides
    )
    rows = "".join(_row(comparison, layout.sides, answers) for comparison in battle.compared)
    bars = f'<div class="mg-bars" style="{answer_card.inks()}"><div></div>{names}{rows}</div>'
    apart = note(f"Not compared (a value is missing): {', '.join(battle.apart)}.") if battle.apart else ""
    return heading_html("Features") + bars + apart


def stack_html(*parts: str) -> str:
    """Stack HTML parts with the usual spacing."""
    return f'<div class="mg-stack">{"".join(parts)}</div>'


def note(text: str) -> str:
    """Return a line of small text as HTML; empty without a text."""
    return text and f'<p class="mg-about">{escape(text)}</p>'


_WAYS = {"higher": "↑ higher is better", "lower": "↓ lower is better", "none": "neither is better"}


def _row(comparison: FeatureComparison, order: tuple[Side, Side], answers: Mapping[str, AnswerView]) -> str:
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
        share = (values[side] - comparison.low) / (comparison.high - comparison.low)
        halves.append(f'<div class="mg-half">{value_html}{_track(share, answers[side].system)}</div>')
    return head + "".join(halves)


def _track(share: float, system: str) -> str:
    """Return a bar that is filled up to a share."""
    width = max(0.0, min(100.0, 100 * share))
    return f'<div class="mg-track"><i style="width:{width:.1f}%;background:{_color(system)}"></i></div>'


def _color(system: str) -> str:
    return family(system).color(mode())


def conclusion(battle: BattleView, judge: Judge | None) -> str:
    """Return the result of a battle and its reason, in a sentence; empty without a judge.

    Args:
        battle: the battle.
        judge: the judge; None without one.
    """
    if judge is None:
        return ""
    if judge.rests_on_labels:
        return _conclusion_by_labels(battle)
    return _conclusion_by_judge(battle, battle.decision(judge.name), judge)


def _conclusion_by_labels(battle: BattleView) -> str:
    first, second = sorted((battle.first, battle.second), key=lambda answer: answer.correct is not True)
    act, other = (_act(battle.query.subset, answer) for answer in (first, second))
    if first.correct is True and second.correct is not True:
        return f"{first.system} wins: it {act}; {second.system} {other}."
    return f"Tie: {first.system} {act}; {f'so does {second.system}' if act == other else f'{second.system} {other}'}."


def _act(subset: str | None, answer: AnswerView) -> str:
    if answer.correct is None:
        return "gives an answer that could not be classified"
    return ACTS.get((subset or "", answer.correct), "decides correctly" if answer.correct else "decides wrongly")


def _conclusion_by_judge(battle: BattleView, decision: Decision, judge: Judge) -> str:
    if decision.winner == "tie":
        return f"Tie: {judge.name} {'calls it one' if decision.consistent else 'disagrees between the two orders'}."
    if decision.winner == "unparsed":
        return f"No {'readable ' if decision.n_verdicts else ''}verdict by {judge.name}."
    winner, loser = battle.first.system, battle.second.system
    if decision.winner == "second":
        winner, loser = loser, winner
    if judge.rule:
        return f"{winner} beats {loser} by {judge.name}: {judge.rule}."
    orders = " in both orders" if decision.n_verdicts > 1 and decision.consistent else ""
    reasons = sorted(
        (compared for compared in battle.compared if compared.better == decision.winner), key=_gap, reverse=True
    )[:MOST]
    words = [_reason(compared, first=decision.winner == "first") for compared in reasons]
    because = f", with better {' and '.join(words)}" if words else ""
    prefers = "People prefer" if judge.name == PEOPLE else f"{judge.name} prefers"
    return f"{prefers} {winner} to {loser}{orders}{because}."


def _gap(compared: FeatureComparison) -> float:
    """Return the distance of two values as a share of the scale."""
    return abs(compared.first - compared.second) / (compared.high - compared.low)


def _reason(compared: FeatureComparison, *, first: bool) -> str:
    values = (compared.first, compared.second) if first else (compared.second, compared.first)
    return f"{compared.measure.title} ({values[0]:.3g} vs. {values[1]:.3g})"
