"""A battle as escaped HTML: the systems' score, every judge's verdicts by order, and features as bars."""

from collections.abc import Mapping
from html import escape

from mirage import schema
from mirage.battles.decision import Decision
from mirage.explorer.kit import answer_card
from mirage.explorer.kit.battle_sides import BattleLayout, Side
from mirage.explorer.kit.query_sections import judgment_html
from mirage.explorer.kit.table import mark_html
from mirage.explorer.kit.text import heading_html
from mirage.publish.charts.palette import FORMATS, family
from mirage.views.battle import BattleSelection, BattleView, FeatureComparison
from mirage.views.query import AnswerView


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
        *([f"no verdict {cell.unparsed:,}"] if cell.unparsed else []),
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
        return f"<b>{escape(names[decision.winner])}</b> wins."
    return "" if decision.winner == "unparsed" else "A tie." if decision.consistent else "The two orders disagree."


def judge_verdicts(battle: BattleView, first: str) -> str:
    """Return every judge's verdicts and rationales as HTML, with both orders side by side; empty if there is no more to
    tell than the conclusion.

    Args:
        battle: the battle.
        first: the judge to begin with, whose decision is the conclusion.
    """
    names = [judge for judge in battle.judges if judge != first]
    head = "Other judges"
    if first in battle.judges and _is_told(battle, first):
        names, head = [first, *names], "Judges' verdicts" if names else "Judge's verdict"
    return heading_html(head) + "".join(_judge(battle, judge) for judge in names) if names else ""


def _is_told(battle: BattleView, judge: str) -> bool:
    """Return whether the verdicts of a judge say more than its decision: reasons, a criterion, repeats or different
    winners.
    """
    seen = battle.judged(judge)
    told = any(row.rationale or row.reason or row.repeat or _criterion(row) for row in seen)
    return told or not battle.decision(judge).consistent


def _judge(battle: BattleView, judge: str) -> str:
    decision, seen = battle.decision(judge), battle.judged(judge)
    orders = "".join(map(judgment_html, seen)) if _is_told(battle, judge) else ""
    words, about = _winner(battle, decision), _criterion(seen[0])
    if words:
        about += f": <span>{words}</span>"
    head = f'<div class="mg-judge">{escape(judge)}{about}</div>'
    return f'<section style="{answer_card.inks()}">{head}<div class="mg-sides">{orders}</div></section>'


def _criterion(judgment: schema.Judgment) -> str:
    """Return a tag with the criterion of a verdict; empty for `overall`."""
    if judgment.criterion in (None, schema.OVERALL):
        return ""
    return f' <span class="mg-tag">criterion: <bdi>{escape(str(judgment.criterion))}</bdi></span>'


def features(battle: BattleView, layout: BattleLayout) -> str:
    """Return the features in which one answer is better as HTML bars, the largest differences first; empty without."""
    compared = [comparison for comparison in battle.compared if comparison.better]
    compared.sort(key=lambda comparison: -comparison.gap)
    if not compared:
        return ""
    answers = {"first": battle.first, "second": battle.second}
    names = "".join(
        f'<div class="mg-top">{mark_html(answers[side].system)} {escape(answers[side].system)}</div>'
        for side in layout.sides
    )
    rows = "".join(_row(comparison, layout.sides, answers) for comparison in compared)
    return f'{heading_html("Features")}<div class="mg-bars" style="{answer_card.inks()}"><div></div>{names}{rows}</div>'


def stack_html(*parts: str) -> str:
    """Stack HTML parts with the usual spacing."""
    return f'<div class="mg-stack">{"".join(parts)}</div>'


def note(text: str, legend: str = "") -> str:
    """Return a line of small text, and a legend in HTML; empty without both."""
    words = escape(text) + legend
    return words and f'<p class="mg-about">{words}</p>'


_WAYS = {"higher": "↑ higher is better", "lower": "↓ lower is better"}


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
        value = measure.write(values[side])
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
    return family(system).color
