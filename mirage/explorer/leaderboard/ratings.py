"""Columns of the Leaderboard's tables."""

from __future__ import annotations

from mirage.explorer.kit.columns import Col
from mirage.publish.charts.palette import Kind
from mirage.ranking import Scale
from mirage.ranking.scale import ANCHOR
from mirage.schema import Ties

_TIES: dict[Ties, str] = {
    "half": "A tie is half a point for each, so that a rating stands for the expected points of a battle, not for the "
    "odds of winning it: where many battles tie, these lie further apart. A difference of 1 is 73% of the points.",
    "davidson": "Ties are an outcome of their own (Davidson), so that a rating stands for winning against losing: at a "
    "difference of 1 the better one wins 73% of the battles that do not tie.",
    "drop": "Ties are left out, so that a rating stands for winning against losing: at a difference of 1 the better "
    "one wins 73% of the battles that do not tie.",
}
_TIER = (
    "Every two systems of different tiers are separated by a test, so many at once that the chance of any two equal "
    "systems in different tiers is at most 5%. A tier is not a group of equals: systems of one tier may differ, and "
    "some of them are separated (see As good as). With hardly any battles a system has no tier of its own: the tiers "
    "that hold a system it is not separated from are shown, as 1–3."  # a range
)
_ALIKE = (
    "Ranks of the other systems that the tests do not separate from this one: as good as these, as far as the data "
    "tells. None: it is separated from all others."
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
        help="Share of the answers that neither answer nor abstain: they ask back, are unparsed, empty or an API "
        "error. n is the column Answers.",
    ),
    Col("answers", "Answers", "count", help="Answers of the system to the queries behind this row (n).", width=62),
)
_VERDICTS = (
    Col(
        "undecided",
        "Unparsed",
        "rate",
        help="Share of the judge's verdicts on the system that could not be read; they count for no one. n is the "
        "column Verdicts.",
    ),
    Col(
        "answers",
        "Verdicts",
        "count",
        help="Verdicts of the judge in which the system was one of the two (n).",
        width=62,
    ),
)


def zero(scale: Scale, reference: str | None) -> float:
    """Where the line stands that ratings, or differences to a reference, are measured from."""
    return ANCHOR if scale == "arena" and reference is None else 0.0


def columns(
    *, by_labels: bool, ties: Ties = "half", scale: Scale = "logit", reference: str | None = None
) -> tuple[Col, ...]:
    """The columns of the ratings (`views.compared.rows`).

    Args:
        by_labels: whether human labels decide, else a judge does.
        ties: how ties count.
        scale: of the ratings.
        reference: system that the others are compared with; None for ratings.
    """
    kind: Kind = "rating" if scale == "logit" else "points" if reference is not None else "anchored"
    unit = "in logits" if scale == "logit" else "on the scale of arenas, 400 for each tenfold of the odds"
    if reference is None:
        label = "Rating"
        meaning = f"Bradley-Terry strength {unit}, centred on {0 if scale == 'logit' else 1000} over the systems shown."
        interval = "The rating with its 95% interval over draws of queries, all on one scale; the broken line is "
        interval += "the mean of the systems. "
    else:
        label = "Difference"
        meaning = f"Rating less that of {reference}, {unit}. Above 0: better than {reference}."
        interval = f"The difference to {reference} with its own 95% interval; the broken line is {reference}. Where it "
        interval += "lies outside the interval, the two differ by this single comparison. "
    return (
        Col("system", "System", "system", of="ratings", width=190),
        Col("rank", "Rank", "rank", of="ratings"),
        Col(
            "rank",
            "Rank 95%",
            "span",
            low="rank_low",
            high="rank_high",
            help="95% interval of the rank, over draws of queries. Where it spans several ranks, the data does not "
            "tell which of them the system holds.",
        ),
        Col("tier", "Tier", "span", low="tier_low", high="tier_high", help=_TIER, width=46),
        Col("rating", label, kind, help=f"{meaning} {_TIES[ties]} Bias-reduced (Jeffreys' prior).", width=66),
        Col(
            "rating",
            "95% interval",
            "interval",
            low="low",
            high="high",
            help=f"{interval}An arrow: the data puts no bound on this side, as the system was never beaten, or never "
            "won, against the rest.",
            zero=zero(scale, reference),
            endless=True,
            width=130,
        ),
        Col("alike", "As good as", "text", help=_ALIKE, width=92),
        *(_ANSWERS if by_labels else _VERDICTS),
        *_RECORD,
    )


PUBLISHED = (
    Col("system", "System", "system", help="The system's name as printed."),
    Col("judge", "Judge", "mean", help="Mean over the languages shown of the rank by the GPT-4o judge. 1 is best."),
    Col(
        "judge",
        "Best–worst",
        "span",
        low="best",
        high="worst",
        help="Best and worst rank by the judge over the languages shown. This is no interval of uncertainty.",
    ),
    Col(
        "surrogate",
        "Surrogate",
        "mean",
        help="Mean over the languages shown of the rank by the surrogate judge, a random forest on features that "
        "need no judge.",
    ),
    Col(
        "difference",
        "Difference",
        "rating",
        help="Mean rank by the surrogate minus that by the judge. Above zero: the surrogate ranks the system worse.",
    ),
    Col("languages", "Languages", "count", help="Languages behind the means (n)."),
)


FAMILIES = (
    Col("system", "System", "system", of="ratings"),
    Col("group", "Language family", "text", help="Family or branch of the languages."),
    Col(
        "estimate",
        "Difference",
        "rating",
        help="Mean rating in the family less the mean rating elsewhere, in logits. Above 0: stronger there.",
    ),
    Col("estimate", "95% interval", "interval", low="low", high="high", help="The difference with its interval."),
    Col("p", "p (Holm)", "text", right=True, help="Chance of such a finding anywhere, if nothing differed."),
    Col("n_languages", "Languages", "count", help="Languages of the family that are rated."),
    Col("n_queries", "Queries", "count", help="Queries in these languages."),
)
