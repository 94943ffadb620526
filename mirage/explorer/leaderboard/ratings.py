"""Columns of the Leaderboard's tables."""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from mirage.battles.failures import SENTENCE
from mirage.explorer.kit.table import Col, column
from mirage.publish.charts.palette import Kind
from mirage.ranking.judges import Counted
from mirage.ranking.scale import ANCHOR
from mirage.schema import Ties
from mirage.views.board import Shown

_TIES: dict[Ties, str] = {
    "half": "A tie counts half a win. A difference of 1 logit is 73% of the expected points of a battle.",
    "davidson": "Ties are modelled as an outcome (Davidson). At a difference of 1 logit the better system wins 73% "
    "of decided battles.",
    "drop": "Ties are excluded. At a difference of 1 logit the better system wins 73% of decided battles.",
}
_RANKS = (
    "Ranks compatible with the tests, at 95% for all systems jointly: below every significantly better system, above "
    "every significantly worse system. Systems whose intervals overlap may be equally good."
)
_RECORD = tuple(column("ratings", name, width=62) for name in ("wins", "ties", "losses", "battles"))
_ANSWERS = (
    Col(
        "unclassified",
        "Unclassified",
        "rate",
        "Share of answers that neither answer nor abstain: clarification questions, unparsed, empty or API "
        "errors. n is in Answers.",
    ),
    Col("answers", "Answers", "count", "Number of answers (n).", width=62),
)
_VERDICTS = (
    Col(
        "unclassified",
        "Unparsed",
        "rate",
        "Share of verdicts on this system that could not be parsed. n is in Verdicts.",
    ),
    Col(
        "answers",
        "Verdicts",
        "count",
        "Number of verdicts on this system's battles (n).",
        width=62,
    ),
)
_COUNTS: dict[Counted, tuple[Col, ...]] = {"answers": _ANSWERS, "verdicts": _VERDICTS, "battles": ()}
"""Columns of the rows behind a rating, by the rows that the judge counts; battles have a column of their own."""


FACTS = {
    "about": Col("about", "What it is", "text", "The system in a few words, by its card.", width=180),
    "organisation": Col("organisation", "Organisation", "text", "Maker of the model.", width=110),
    "licence": column("systems", "licence", width=170),
    "released": column("systems", "released", width=80),
    "price_out": column("systems", "price_out", "$ / M out", "probability", width=70),
    "price": Col("price", "$ / 1,000", "probability", "US dollars per 1,000 answers: tokens of its calls.", width=74),
    "seconds": Col("seconds", "Latency (s)", "mean", "Median seconds per answer, of its calls.", width=74),
}
"""Facts about systems, shown if known for some; with the main columns only the first."""
_FAILED = Col("failed", "Failed", "count", f"Failed answers: {SENTENCE}.", width=62)
_RANK = Col("rank", "Rank", "rank", f"1 is best. In brackets: {_RANKS}", low="rank_low", high="rank_high", width=80)
_DIGIT = 9
"""Largest rank of one digit."""
_BEST = Col(
    "best",
    "Best",
    "text",
    "tied: tied with the best, whose rank interval begins at 1. best: significantly better than all others.",
    width=46,
)


def zero(scale: Shown, reference: str | None) -> float:
    """Return the origin of ratings, or of differences from a reference, on the scale."""
    return 0.5 if scale == "win-rate" else ANCHOR if scale == "arena" and reference is None else 0.0


def rating_kind(scale: Shown, reference: str | None = None) -> Kind:
    """Return the number format of ratings, or of differences from a reference, on the scale."""
    if scale == "win-rate":
        return "rate"
    return "rating" if scale == "logit" else "points" if reference is not None else "anchored"


def columns(
    rows: pa.Table,
    *,
    counted: Counted,
    ties: Ties = "half",
    scale: Shown = "win-rate",
    reference: str | None = None,
    facts: Sequence[Col] = (),
    every: bool = False,
) -> tuple[Col, ...]:
    """Return the columns of the ratings (`PageBoard.shown_rows`).

    Args:
        rows: all ranked systems; if some answers failed, their number replaces the first fact.
        counted: the rows that the judge counts.
        ties: how ties count.
        scale: of the ratings.
        reference: system that the others are compared with; None for ratings.
        facts: the facts about the systems to show, of `FACTS`.
        every: whether to show who is tied with the best, all facts and the record too.
    """
    against = "the average system" if reference is None else reference
    if scale == "win-rate":
        label = "Win rate"
        points = "points, a tie counting half," if ties == "half" else "decided battles"
        meaning = f"Expected share of {points} against {against}: the logistic function of the rating."
    else:
        unit = "in logits" if scale == "logit" else "Elo-like, 400 points per tenfold odds"
        label = "Rating" if reference is None else "Difference"
        centre = f"centred on {0 if scale == 'logit' else 1000}" if reference is None else f"minus that of {reference}"
        meaning = f"Bradley-Terry rating {unit}, {centre}. {_TIES[ties]} Bias-reduced (Jeffreys prior)."
    counts, n = _COUNTS[counted], len(rows)
    longest = max(map(len, rows["system"].to_pylist()))
    failures = (_FAILED,) * any(rows["failed"].to_pylist())
    return (
        # A phone's width holds the first three, where names are short.
        column("ratings", "system", width=min(166, 28 + 7 * longest)),
        replace(_RANK, width=80 if n > _DIGIT else 62),
        Col("rating", label, rating_kind(scale, reference), meaning, width=68),
        Col(
            "rating",
            "95% interval",
            "interval",
            f"95% bootstrap interval over queries. Dashed line: {against}. Arrow: unbounded, because the system "
            "never lost, or never won, against the rest.",
            low="low",
            high="high",
            zero=zero(scale, reference),
            endless=True,
            width=170,
        ),
        *(() if are_apart(rows) else (_rank_interval(n),)),
        *counts[1:],
        *((*failures, _BEST, *facts, *counts[:1], *_RECORD) if every else failures or facts[:1]),
    )


def are_apart(rows: pa.Table) -> bool:
    """Return whether every two systems differ significantly, so that no rank has an interval."""
    return len(rows) > 1 and rows["rank_low"].to_pylist() == rows["rank_high"].to_pylist()


def _rank_interval(n: int) -> Col:
    """Return the column of the interval of a rank among `n` systems."""
    return Col(
        *("rank", "Rank interval", "interval"),
        low="rank_low",
        high="rank_high",
        help=f"{_RANKS} Left is best.",
        ends=(1, max(n, 2)),
        width=120,
    )


def by_language(n: int) -> tuple[Col, ...]:
    """Return the columns of one system's ratings by language, among `n` systems."""
    return (
        Col("language", "Language", "language", "All languages: unweighted mean over languages.", width=130),
        _RANK,
        _rank_interval(n),
        Col("rating", "Win rate", "rate", "Against the average system; languages weighted equally."),
        Col("rating", "95%", "interval", "95% interval.", low="low", high="high", zero=0.5, endless=True),
        column("ratings", "battles"),
    )


PUBLISHED = (
    Col("system", "System", "system", "System name as printed.", width=190),
    Col(
        "judge",
        "Judge rank",
        "mean",
        "Mean rank by the GPT-4o judge over the languages shown; 1 is best.",
        width=90,
    ),
    Col(
        "judge",
        "Best to worst",
        "interval",
        "Best and worst rank over the languages shown. Not an uncertainty interval. Left is best.",
        low="best",
        high="worst",
        width=220,
        written="ends",
    ),
    Col(
        "surrogate",
        "Surrogate rank",
        "mean",
        "Mean rank by the surrogate judge, a random forest on cheap features.",
        width=110,
    ),
    Col(
        "difference",
        "Difference",
        "rating",
        "Surrogate mean rank minus judge mean rank. Above 0: the surrogate ranks it worse.",
        width=90,
    ),
    Col("languages", "Languages", "count", "Number of languages (n).", width=90),
)
