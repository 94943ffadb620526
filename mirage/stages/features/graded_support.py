"""Citation precision and recall, from grades of how far each cited passage supports its sentence."""

from mirage.schema import Support
from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, each
from mirage.stages.features.support import cited_places, sentence_places

POINTS: dict[Support, float] = {"full": 1.0, "partial": 0.5, "none": 0.0, "contradicted": 0.0}
"""Points per grade."""


def measure(answer: MeasuredAnswer) -> tuple[Measured, ...]:
    """Return citation precision and recall, or reasons."""
    if not answer.passage_ids:
        return ("the passages are not known",) * 2
    places = sentence_places(answer)
    if not places:
        return ("the answer has no sentence",) * 2
    cited = cited_places(answer)
    citations = [(place.number, passage) for place in cited for passage in place.passage_ids]
    if not citations:
        return "no sentence cites a passage", 0.0
    grades = [answer.grades.get(citation) for citation in citations]
    points = [POINTS[grade] for grade in grades if grade is not None]
    if missing := len(grades) - len(points):
        return (f"{missing} of {len(grades)} citations have no grade",) * 2
    best: dict[int, float] = {}
    for (number, _), value in zip(citations, points, strict=True):
        best[number] = max(best.get(number, 0.0), value)
    return sum(points) / len(points), sum(best.values()) / len(places)


_RULE = (
    " A passage that fully supports its sentence counts 1, partially 0.5, not at all or contradicting it 0. Sentences"
    " are those of the reason (of the answer if no reason is marked). The grader is chosen with --grader: by default"
    " the one with the most grades. Null if a citation has no grade{also}."
)
_SOURCE = (
    "TREC RAG 2024, weighted {name} (arXiv 2504.15205). There the first citation of a sentence is graded; ours grades"
    " all, {how}."
)

FAMILY = FeatureFamily(
    specs=(
        FeatureSpec(
            name="citation_precision",
            title="Citation precision",
            meaning="How far the cited passages support the sentences that cite them: the mean over citations."
            + _RULE.format(also=", or no sentence cites a passage"),
            source=_SOURCE.format(name="precision", how="and each counts"),
            needs=("answers", "passages", "support_grades"),
        ),
        FeatureSpec(
            name="citation_recall",
            title="Citation recall",
            meaning="How far the sentences are supported by what they cite: the mean over sentences of the best grade"
            " of their citations; a sentence without a citation counts 0." + _RULE.format(also=""),
            source=_SOURCE.format(name="recall", how="and a sentence has the best grade of its citations"),
            needs=("answers", "passages", "support_grades"),
        ),
    ),
    measure=each(measure),
)
