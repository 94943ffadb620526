"""Columns of the Leaderboard's tables."""

from __future__ import annotations

from collections.abc import Sequence

from mirage.explorer.kit.table import Col
from mirage.publish.charts.palette import Kind
from mirage.ranking.scale import ANCHOR, Scale
from mirage.schema import Ties

_TIES: dict[Ties, str] = {
    "half": "A tie counts half a win. A difference of 1 logit is 73% of the expected points of a battle.",
    "davidson": "Ties are modelled as an outcome (Davidson). At a difference of 1 logit the better system wins 73% "
    "of decided battles.",
    "drop": "Ties are excluded. At a difference of 1 logit the better system wins 73% of decided battles.",
}
_ALIKE = "Ranks of systems not significantly different from this one. None: significantly different from all."
_RANKS = (
    "Ranks compatible with the tests, at 95% for all systems jointly: below every significantly better system, above "
    "every significantly worse system. Systems whose intervals overlap may be equally good."
)
_RECORD = (
    Col("wins", "Wins", "count", of="ratings", width=62),
    Col("ties", "Ties", "count", of="ratings", width=62),
    Col("losses", "Losses", "count", of="ratings", width=62),
    Col("battles", "Battles", "count", of="ratings", width=62),
)
_ANSWERS = (
    Col(
        "undecided",
        "Undecided",
        "rate",
        help="Share of answers that neither answer nor abstain: clarification questions, unparsed, empty or API "
        "errors. n is in Answers.",
    ),
    Col("answers", "Answers", "count", help="Number of answers (n).", width=62),
)
_VERDICTS = (
    Col(
        "undecided",
        "Unparsed",
        "rate",
        help="Share of verdicts on this system that could not be parsed. n is in Verdicts.",
    ),
    Col(
        "answers",
        "Verdicts",
        "count",
        help="Number of verdicts on this system's battles (n).",
        width=62,
    ),
)


_SEPARATED = Col("alike", "As good as", "text", help=_ALIKE, width=92)
FACTS = {
    "organisation": Col("organisation", "Organisation", "text", help="Maker of the model.", width=94),
    "licence": Col("licence", "Licence", "text", of="systems", width=170),
    "released": Col("released", "Released", "text", of="systems", width=80),
    "price_out": Col("price_out", "$ / M out", "probability", of="systems", width=70),
}
"""Facts about systems, shown if known for some."""
MEASURED = {
    "price": Col(
        "price", "$ / 1,000", "probability", help="US dollars per 1,000 answers: tokens of its calls.", width=74
    ),
    "seconds": Col("seconds", "Latency (s)", "mean", help="Median seconds per answer, of its calls.", width=74),
}
"""Facts measured by logged calls, shown with all columns if known for some."""
_BEST = "Tied with the best: the rank interval begins at 1. best: significantly better than all others."


def zero(scale: Scale, reference: str | None) -> float:
    """Return the origin of ratings, or of differences from a reference, on the scale."""
    return ANCHOR if scale == "arena" and reference is None else 0.0


def rating_kind(scale: Scale, reference: str | None = None) -> Kind:
    """Return the number format of ratings, or of differences from a reference, on the scale."""
    return "rating" if scale == "logit" else "points" if reference is not None else "anchored"


def columns(
    *,
    by_labels: bool,
    ties: Ties = "half",
    scale: Scale = "logit",
    reference: str | None = None,
    n: int = 2,
    facts: Sequence[str] = (),
    every: bool = False,
) -> tuple[Col, ...]:
    """Return the columns of the ratings (`PageBoard.shown_rows`).

    Args:
        by_labels: whether human labels decide, else a judge does.
        ties: how ties count.
        scale: of the ratings.
        reference: system that the others are compared with; None for ratings.
        n: number of ranked systems.
        facts: the facts about the systems to show, of `FACTS` and `MEASURED`.
        every: whether to show systems as good, measured facts and the record too.
    """
    unit = "in logits" if scale == "logit" else "Elo-like, 400 points per tenfold odds"
    if reference is None:
        label = "Rating"
        meaning = f"Bradley-Terry rating {unit}, centred on {0 if scale == 'logit' else 1000}."
        interval = "Rating with 95% bootstrap interval over queries. Dashed line: mean of the systems. "
    else:
        label = "Difference"
        meaning = f"Rating minus that of {reference}, {unit}. Above 0: better than {reference}."
        interval = f"Difference from {reference} with 95% interval; dashed line: {reference}. "
        interval += "An interval that excludes the line is significant for this single comparison. "
    meaning += f" {_TIES[ties]} Bias-reduced (Jeffreys prior)."
    counts = _ANSWERS if by_labels else _VERDICTS
    return (
        Col("system", "System", "system", of="ratings"),
        *_ranks(n, width=102),
        Col("best", "Best", "text", help=_BEST, width=46),
        Col(
            "rating",
            label,
            rating_kind(scale, reference),
            help=meaning,
            width=66,
        ),
        Col(
            "rating",
            "95% interval",
            "interval",
            low="low",
            high="high",
            help=f"{interval}Arrow: unbounded, because the system never lost, or never won, against the rest.",
            zero=zero(scale, reference),
            endless=True,
            width=110,
        ),
        counts[-1],
        *(FACTS[fact] for fact in facts if fact in FACTS),
        *((_SEPARATED, *(MEASURED[fact] for fact in facts if fact in MEASURED), counts[0], *_RECORD) if every else ()),
    )


def _ranks(n: int, *, width: int) -> tuple[Col, ...]:
    """Return the columns of a rank and its interval among `n` systems."""
    low, high = "rank_low", "rank_high"
    ends = (1, max(n, 2))
    return (
        Col("rank", "Rank", "rank", of="ratings"),
        Col("rank", "95%", "span", low=low, high=high, help=_RANKS, width=54),
        Col(
            *("rank", "Rank interval", "interval"),
            low=low,
            high=high,
            help=f"{_RANKS} Left is best.",
            ends=ends,
            width=width,
        ),
    )


def by_language(n: int) -> tuple[Col, ...]:
    """Return the columns of one system's ratings by language, among `n` systems."""
    return (
        Col("language", "Language", "language", help="All languages: unweighted mean over languages.", width=130),
        *_ranks(n, width=150),
        Col("rating", "Rating", "rating", of="ratings"),
        Col("low", "Low", "rating", help="Lower end of the 95% interval; –: unbounded."),
        Col("high", "High", "rating", help="Upper end of the 95% interval; –: unbounded."),
        Col("battles", "Battles", "count", of="ratings"),
    )


PUBLISHED = (
    Col("system", "System", "system", help="System name as printed."),
    Col("judge", "Judge", "mean", help="Mean rank by the GPT-4o judge over the languages shown; 1 is best."),
    Col(
        "judge",
        "Best–worst",
        "span",
        low="best",
        high="worst",
        help="Best and worst rank over the languages shown. Not an uncertainty interval.",
    ),
    Col(
        "surrogate",
        "Surrogate",
        "mean",
        help="Mean rank by the surrogate judge, a random forest on cheap features.",
    ),
    Col(
        "difference",
        "Difference",
        "rating",
        help="Surrogate mean rank minus judge mean rank. Above 0: the surrogate ranks it worse.",
    ),
    Col("languages", "Languages", "count", help="Number of languages (n)."),
)
