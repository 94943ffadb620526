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
from mirage.battles.judge import Judge
from mirage.explorer.answers import answer_card
from mirage.explorer.answers.data import AnswerView, MeasureScores
from mirage.explorer.answers.sections import preferred_system, rationale_html
from mirage.explorer.battle.data import BattleSelection, BattleView, FeatureComparison
from mirage.explorer.battle.overlap import Parts
from mirage.explorer.kit.table import column_help, mark_html, mode
from mirage.explorer.kit.text import TextSpan, heading_html
from mirage.publish.charts.palette import FORMATS, family
from mirage.text.segmentation import count_text

Side = Literal["first", "second"]
_DECISIONS = {True: ("right", "correct decision"), False: ("wrong", "wrong decision"), None: ("unparsed", "undecided")}
"""Sign and words of a decision."""
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


def verdict_line(battle: BattleView, judge: Judge | None) -> str:
    """Return the winner and its reason as one line of HTML."""
    return f'<div class="mg-said" style="{answer_card.inks()}">{_verdict_html(battle, judge)}</div>'


def _verdict_html(battle: BattleView, judge: Judge | None) -> str:
    first, second = battle.first, battle.second
    if judge is None:
        return "No judge has compared these two."
    if judge.by_labels:
        words = {
            True: ("right", "correct decision"),
            False: ("wrong", "wrong decision"),
            None: ("unparsed", "undecided"),
        }
        sides = ", ".join(
            f"{answer_card.sign(words[answer.correct][0])}<b>{escape(answer.system)}</b>: {words[answer.correct][1]}"
            for answer in (first, second)
        )
        tie = ", tie" if (first.correct is True) == (second.correct is True) else ""
        return f"{sides} (by relevance labels){tie}."
    decision = battle.decision(judge.name)
    if judge.kind == "nuggets":
        return f"{_winner(battle, decision)} (by the share of vital nuggets stated in full)."
    orders = {0: "no verdict on these two", 1: "one order judged"}.get(decision.n_verdicts, "both orders judged")
    if decision.n_verdicts > 1:
        orders += ", different winners" if not decision.consistent else ", same winner"
    of_judge = battle.judged(judge.name)
    criterion = _criterion(of_judge[0]) if of_judge else ""
    return f"{_winner(battle, decision)}. Judge <b>{escape(judge.name)}</b>{criterion}: {orders}."


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
    cards = []
    for letter, side in zip("AB", layout.sides, strict=True):
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
    winner = preferred_system(judgment)
    word = f"{judgment.verdict}: <bdi>{escape(winner)}</bdi> wins" if winner else escape(judgment.verdict)
    word += f" ({escape(judgment.reason)})" if judgment.reason else ""
    word += f" · repeat {judgment.repeat}" if judgment.repeat else ""
    systems = "".join(
        f"<span>{letter}, shown {place}: <bdi>{escape(system)}</bdi></span>"
        for letter, place, system in (("A", "first", judgment.system_a), ("B", "second", judgment.system_b))
    )
    meaning = escape(column_help("judgments", "verdict"))
    return (
        f'<div class="mg-order"><div class="mg-who">{systems}</div>'
        f'<div class="mg-verdict-word" title="{meaning}">{word}</div>{rationale_html(judgment)}</div>'
    )


def features(battle: BattleView, layout: BattleLayout) -> str:
    """Return the features that both answers have as HTML bars, with one scale per feature."""
    first, second = order = layout.sides
    answers = {"first": battle.first, "second": battle.second}
    rows = "".join(_row(comparison, order, answers) for comparison in battle.compared)
    out = _bars("Features", answers[first], answers[second], rows)
    if battle.apart:
        out += note(f"Not compared (a value is missing): {', '.join(battle.apart)}.")
    return out


def _bars(head: str, left: AnswerView, right: AnswerView, rows: str) -> str:
    """Return rows of bars under the names of the two systems."""
    names = "".join(
        f'<div class="mg-top">{mark_html(answer.system, mode())} {escape(answer.system)}</div>'
        for answer in (left, right)
    )
    return f'{heading_html(head)}<div class="mg-bars" style="{answer_card.inks()}"><div></div>{names}{rows}</div>'


def stack_html(*parts: str) -> str:
    """Stack HTML parts with the usual spacing."""
    return f'<div class="mg-stack">{"".join(parts)}</div>'


def note(text: str) -> str:
    """Return a line of small text as HTML."""
    return f'<p class="mg-about">{escape(text)}</p>'


def scores(battle: BattleView, layout: BattleLayout) -> str:
    """Return the scores of both answers by measure and rater as HTML; empty without scores."""
    answers = {"first": battle.first, "second": battle.second}
    left, right = (answers[side] for side in layout.sides)
    by_side = [{given.measure: given for given in answer.scores} for answer in (left, right)]
    if not any(by_side):
        return ""
    rows = []
    for given in {**by_side[1], **by_side[0]}.values():
        scale = f", {given.ends[0]:g} to {given.ends[1]:g}" if given.ends else ""
        rows.append(
            f"<div><bdi>{escape(given.measure)}</bdi> "
            f'<span class="mg-way">{"people" if given.person else "a program"}{scale}</span></div>'
        )
        for side, answer in zip(by_side, (left, right), strict=True):
            rows.append(_score_html(side.get(given.measure), answer.system))
    return _bars("Ratings of single answers", left, right, "".join(rows))


def _score_html(given: MeasureScores | None, system: str) -> str:
    """Return one answer's mean on a measure, its position on the scale, and each rater's score."""
    if given is None:
        return '<div class="mg-half"><span>–</span></div>'
    value, bar = "–", ""
    if given.mean is not None:
        value = f"{given.mean:.3g}"
        if given.ends and given.ends[0] != given.ends[1]:
            low, high = given.ends
            bar = _track((given.mean - low) / (high - low), system)
    raters = " · ".join(
        f"<bdi>{escape(score.rater)}</bdi>&nbsp;{escape(answer_card.score_text(score))}" for score in given.scores
    )
    each = f'<div class="mg-raters">{raters}</div>' if given.person or len(given.scores) > 1 else ""
    return f'<div class="mg-half"><span>{value}</span>{bar}{each}</div>'


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
    """Return the result of a battle and its reason, in a sentence; empty without a decision.

    Args:
        battle: the battle.
        judge: the judge; None without one.
    """
    if judge is None:
        return ""
    if judge.by_labels:
        return _conclusion_by_labels(battle)
    return _conclusion_by_judge(battle, battle.decision(judge.name), judge)


def _conclusion_by_labels(battle: BattleView) -> str:
    first, second = battle.first, battle.second
    right = [answer.correct is True for answer in (first, second)]
    acts = [_act(battle.query.subset, answer) for answer in (first, second)]
    if right[0] == right[1]:
        if acts[0] == acts[1]:
            return f"Tie: {first.system} {acts[0]}; so does {second.system}."
        return f"Tie: {first.system} {acts[0]}; {second.system} {acts[1]}."
    winner, loser = (0, 1) if right[0] else (1, 0)
    names = (first.system, second.system)
    return f"{names[winner]} wins: it {acts[winner]}; {names[loser]} {acts[loser]}."


def _act(subset: str | None, answer: AnswerView) -> str:
    if answer.correct is None:
        return "gives no parsable answer"
    return ACTS.get((subset or "", answer.correct), "decides correctly" if answer.correct else "decides wrongly")


def _conclusion_by_judge(battle: BattleView, decision: Decision, judge: Judge) -> str:
    if decision.winner not in ("first", "second"):
        return ""
    winner, loser = battle.first.system, battle.second.system
    if decision.winner == "second":
        winner, loser = loser, winner
    orders = " in both orders" if decision.n_verdicts > 1 and decision.consistent else ""
    reasons = sorted(
        (compared for compared in battle.compared if compared.better == decision.winner), key=_gap, reverse=True
    )[:MOST]
    words = [_reason(compared, first=decision.winner == "first") for compared in reasons]
    because = f", with better {' and '.join(words)}" if words else ""
    if judge.kind == "nuggets":
        return f"{winner} beats {loser} by nuggets: it states more of the vital nuggets in full."
    return f"{judge.name} prefers {winner} to {loser}{orders}{because}."


def _gap(compared: FeatureComparison) -> float:
    """Return the distance of two values as a share of the scale."""
    return abs(compared.first - compared.second) / (compared.high - compared.low)


def _reason(compared: FeatureComparison, *, first: bool) -> str:
    values = (compared.first, compared.second) if first else (compared.second, compared.first)
    return f"{compared.measure.title} ({values[0]:.3g} vs. {values[1]:.3g})"
