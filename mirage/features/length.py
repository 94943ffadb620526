"""How long a reply is."""

from __future__ import annotations

from mirage.features.spec import FeatureFamily, FeatureSpec, Measured, MeasuredAnswer, each


def measure(reply: MeasuredAnswer) -> tuple[Measured, ...]:
    """Count the code points of the raw reply."""
    return (float(len(reply.text)),)


FAMILY = FeatureFamily(
    specs=(
        FeatureSpec(
            name="length",
            title="Length",
            meaning="Characters (Unicode code points) of the raw reply, white space and markup included. Not comparable"
            " between languages: a Chinese character says more than a Latin letter. Null where there is no reply.",
            unit="characters",
            low=0,
            high=None,
            direction="none",
            source="Ours; it shows how far length alone explains a judge's verdicts.",
            needs=("answers",),
        ),
    ),
    measure=each(measure),
)
