"""Conclusion sentences of the pages Features, Answers, Surrogate and Judges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from mirage.battles.referee import Referee, referees
from mirage.errors import MirageError
from mirage.explorer.features import data as of_features
from mirage.stages.features import FEATURES
from mirage.text.languages import name_of
from mirage.text.segmentation import count_text, join_or_count

if TYPE_CHECKING:
    from mirage.explorer.answers.data import QueryView
    from mirage.ranking.surrogate.summaries import RegressorSummary
    from mirage.store import Arena

SURE: Final = 0.05
"""Significance level for a difference between two regressors."""


@lru_cache(maxsize=64)
def of_the_features(arena: Arena, languages: tuple[str, ...]) -> str:
    """Return the feature that correlates best with the rating, and the worst system on it; empty without ratings.

    Args:
        arena: an arena with features.
        languages: codes, each with rows in the table.
    """
    names = referees(arena)
    if not names:
        return ""
    try:
        relations = of_features.relations(arena, Referee.from_name(names[0]), languages)
    except MirageError:
        return ""
    scope = "all" if any(row.language == "all" for row in relations) else languages[0]
    known = [row for row in relations if row.language == scope and row.tau is not None]
    if not known:
        return ""
    most = max(known, key=lambda row: (row.clear, abs(row.tau or 0.0)))
    evidence = f"Kendall's tau {_tau(most.tau or 0.0)}, "
    evidence += f"{_interval(most.low, most.high)}, n = {count_text(most.systems, 'system')}"
    title = _title(most.feature)
    if not most.clear:
        return (
            f"No feature correlates significantly with the rating by {names[0]}; the strongest is {title} ({evidence})."
        )
    lacking = _lacking(of_features.overview(arena, languages), most.feature, above=(most.tau or 0.0) > 0)
    reverse = "" if (most.tau or 0.0) > 0 else ". Higher values correlate with lower ratings"
    return (
        f"{title} correlates most clearly with the rating by {names[0]} among {count_text(len(known), 'feature')} "
        f"({evidence}){reverse}{lacking}."
    )


def _lacking(shown: of_features.Overview, feature: str, *, above: bool) -> str:
    """Describe the worst system on a feature, and whether it differs significantly from the next."""
    rows = [row for row in shown.over[feature].to_pylist() if row["mean"] is not None]
    if len(rows) < 2:
        return ""
    last, before = sorted(rows, key=lambda row: row["mean"], reverse=not above)[:2]
    spec = FEATURES.get(feature)
    digits = 1 if spec is not None and spec.low == 0 and spec.high is None else 2
    low, high = last["low"], last["high"]
    ends = "no interval" if None in (low, high) else f"95% CI {low:.{digits}f} to {high:.{digits}f}"
    least = "the lowest" if above else "the highest"
    n = count_text(last["n"], "answer")
    text = f". {last['system']} has {least} mean: {last['mean']:.{digits}f} ({ends}, n = {n})"
    if None in (low, high, before["low"], before["high"]) or (low <= before["high"] and before["low"] <= high):
        text += f", not significantly different from {before['system']}"
    return text


def _title(feature: str) -> str:
    spec = FEATURES.get(feature)
    return spec.title if spec is not None else feature


def _interval(low: float | None, high: float | None) -> str:
    return "no interval" if low is None or high is None else f"95% CI {_tau(low)} to {_tau(high)}"


def _tau(value: float) -> str:
    return f"{value:+.2f}".replace("-", "\u2212")


def _rate(value: float) -> str:
    return f"{value:.1%}"


def of_answers(shown: QueryView) -> str:
    """Count the systems that answer and abstain on a query, and the correct decisions; empty without outcomes."""
    known = [answer for answer in shown.answers if answer.outcome is not None]
    if not known:
        return ""
    kinds = {
        "answer": [a.system for a in known if a.outcome == "answered"],
        "abstain": [a.system for a in known if a.outcome == "abstained"],
        "unparsed": [a.system for a in known if a.outcome not in ("answered", "abstained")],
    }
    words = [_count(names, kind, len(known)) for kind, names in kinds.items() if names]
    words[0] = words[0].replace(" ", f" of {count_text(len(known), 'system')} ", 1)
    judged = [answer for answer in known if answer.correct is not None]
    right = sum(answer.correct is True for answer in judged)
    of_them = f". {right:,} of {len(judged):,} decisions {'is' if right == 1 else 'are'} correct" if judged else ""
    return f"{', '.join(words)}{of_them}."


def _count(names: Sequence[str], kind: str, total: int) -> str:
    """Count the systems of a kind; name them if they are few."""
    verb = f"{kind}s" if len(names) == 1 and kind != "unparsed" else kind
    named = f" ({join_or_count(names, 'system')})" if 0 < len(names) <= 2 < total else ""
    return f"{len(names):,} {verb}{named}"


def of_surrogate(summary: RegressorSummary) -> str:
    """Return whether the regressor differs significantly from choosing one per system; empty if it was not tested."""
    if summary.p is None:
        return ""
    p = "p < 0.001" if summary.p < 0.001 else f"p = {summary.p:.3f}"
    if summary.p < SURE:
        return f"Significantly different from choosing a regressor per system ({p})."
    return f"Not significantly different from choosing a regressor per system ({p})."


def of_known(rows: Sequence[dict[str, Any]], scope: str) -> str:
    """Return the judge with the most correct verdicts on known pairs; empty if no judge was tested.

    Args:
        rows: rows of `exam.rows_of`.
        scope: a language's code, or `all`.
    """
    known = [row for row in rows if row["language"] == scope and row.get("known") is not None]
    if not known:
        return ""
    best = max(known, key=lambda row: row["known"])
    words = f"prefers the correct decision in {_rate(best['known'])} of known pairs ({_evidence(best, 'known')})"
    return _of_best(best, words, known, "known", scope, ("highest", "higher"))


def of_judges(rows: Sequence[dict[str, Any]], scope: str) -> str:
    """Return the judge with the lowest flip rate; empty if no pair was judged in both orders.

    Args:
        rows: rows of `judges.judge_rows`.
        scope: a language's code, or `all`.
    """
    known = [row for row in rows if row["language"] == scope and row["flip"] is not None]
    if not known:
        return ""
    best = min(known, key=lambda row: row["flip"])
    words = f"flips its verdict with the answer order in {_rate(best['flip'])} of pairs "
    return _of_best(best, f"{words}({_evidence(best, 'flip')})", known, "flip", scope, ("lowest", "lower"))


def _evidence(row: dict[str, Any], measure: str) -> str:
    """Return the interval and n of a judge's measure."""
    low, high = row[f"{measure}_low"], row[f"{measure}_high"]
    ends = "no interval" if low is None or high is None else f"95% CI {_rate(low)} to {_rate(high)}"
    return f"{ends}, n = {row[f'{measure}_n']:,}"


def _of_best(
    best: dict[str, Any],
    words: str,
    rows: Sequence[dict[str, Any]],
    measure: str,
    scope: str,
    degrees: tuple[str, str],
) -> str:
    """Return the result of the best judge, and whether it differs significantly from the others.

    Args:
        best: its row.
        words: verb phrase of the sentence.
        rows: the rows of all judges, including its own.
        measure: the measure to compare.
        scope: a language's code, or `all`.
        degrees: the superlative and the comparative of the measure.
    """
    most, more = degrees
    text = f"{'Over all languages' if scope == 'all' else f'In {name_of(scope)}'} {best['judge']} {words}"
    others = [row for row in rows if row is not best]
    if not others:
        return f"{text}. Agreement with people is unknown without votes."
    among = count_text(len(rows), "judge")
    alike = sorted(row["judge"] for row in others if _overlap(best, row, measure))
    if alike:
        return f"{text}: {most} of {among}, but not significantly {more} than {join_or_count(alike, 'judge')}."
    return f"{text}: significantly {most} of {among}."


def _overlap(row: dict[str, Any], other: dict[str, Any], measure: str) -> bool:
    """Return whether the intervals of two judges overlap, or one of them is unknown."""
    ends = (row[f"{measure}_low"], row[f"{measure}_high"], other[f"{measure}_low"], other[f"{measure}_high"])
    return None in ends or (ends[0] <= ends[3] and ends[2] <= ends[1])
