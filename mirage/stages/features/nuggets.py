"""Nugget features: the share of nuggets that an answer states."""

from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, each
from mirage.stages.nuggets.bank import SCORES, nugget_scores

MAIN_SCORE = "nugget_vital_strict"
"""The nugget score that TREC RAG 2024 ranks by."""
_SOURCE = (
    "TREC RAG 2024 (arXiv 2411.09607), nuggetizer's `{name}`; nuggetizer gives 0 where there is no such nugget, ours is"
    " null."
)
_WHOSE = (
    " The assigner is chosen with --assigner: by default the one with the most assignments, and the word matcher"
    " only if it is the only one. Null if there is no such nugget, or one has no assignment."
)


def measure(answer: MeasuredAnswer) -> tuple[Measured, ...]:
    """Return the four scores in the order of `SCORES`, or reasons."""
    return tuple(nugget_scores(answer.nuggets)[name] for name in SCORES)


def _spec(name: str, title: str, meaning: str, score: str) -> FeatureSpec:
    return FeatureSpec(
        name=name,
        title=title,
        meaning=meaning + _WHOSE,
        source=_SOURCE.format(name=score),
        needs=("answers", "nuggets", "nugget_assignments"),
    )


FAMILY = FeatureFamily(
    specs=(
        _spec(
            MAIN_SCORE,
            "Vital nuggets, strict",
            "Share of the vital nuggets of the query that the answer states in full.",
            "strict_vital_score",
        ),
        _spec(
            "nugget_all_strict",
            "Nuggets, strict",
            "Share of the nuggets of the query, vital and okay, that the answer states in full.",
            "strict_all_score",
        ),
        _spec(
            "nugget_vital",
            "Vital nuggets",
            "Share of the vital nuggets of the query that the answer states; one stated in part is half stated.",
            "vital_score",
        ),
        _spec(
            "nugget_all",
            "Nuggets",
            "Share of the nuggets of the query that the answer states; one stated in part is half stated.",
            "all_score",
        ),
    ),
    measure=each(measure),
)
