"""Length of an answer."""

from mirage.stages.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, each


def measure(answer: MeasuredAnswer) -> tuple[Measured, ...]:
    """Count the code points of the raw answer."""
    return (float(len(answer.text)),)


FAMILY = FeatureFamily(
    specs=(
        FeatureSpec(
            name="length",
            title="Length",
            meaning="Characters (Unicode code points) of the raw answer, with white space and markup. Not comparable"
            " between languages: a Chinese character says more than a Latin letter. Null without an answer.",
            unit="characters",
            high=None,
            direction="none",
            source="Ours; it shows how far length alone explains a judge's verdicts.",
            needs=("answers",),
        ),
    ),
    measure=each(measure),
)
