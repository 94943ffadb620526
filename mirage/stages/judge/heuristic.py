"""A free and transparent judge: a weighted sum of the two answers' features, with the sum as rationale.

It is the baseline that a model must beat as a judge. Nothing is fitted: the weights are declared in `heuristic.toml`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from mirage import schema
from mirage.battles.judge import HEURISTIC
from mirage.schema import AnswerKey, Verdict
from mirage.stages.judge.pairs import OrderedPair
from mirage.stats.rows import read_rows
from mirage.text.data import load_words

MARGIN = 0.02
"""Absolute score below which the verdict is a tie."""


@dataclass(frozen=True, slots=True)
class Weight:
    """Weight of a feature in the score."""

    feature: str
    """Its name in the features table."""
    weight: float
    """Its share of the score, before normalising over the features that both answers have."""
    scale: float
    """Difference that counts fully, in the feature's unit; larger differences are clipped."""
    direction: Literal["higher", "lower"]
    """Better direction, as the feature declares it."""


NOT_CONTENT = ("target_language", "n_unknown_citations")
"""Features that alone decide no battle: they do not depend on what an answer says."""

WEIGHTS = tuple(Weight(name, **about) for name, about in load_words("heuristic", "mirage.stages.judge").items())
"""The features of the score (`heuristic.toml`)."""


def judge_by_features(battles: Sequence[OrderedPair], features: pa.Table, *, name: str = HEURISTIC) -> pa.Table:
    """Judge battles by the features of both answers.

    The score is the weighted mean, over the features that both answers have, of the difference A - B on the feature's
    scale, signed so that more is better: in [-1, 1]. A wins above the margin, B below its negative, anything between is
    a tie. The order shown only swaps the letters.

    Args:
        battles: the battles.
        features: `schema.Feature` rows.
        name: name of the judge.

    Returns:
        Table `judgments`: one row per battle, with the weights, the values and the sum as rationale. Without a feature
        of the content that both answers have, the verdict is unparsed with a reason.
    """
    values: dict[AnswerKey, dict[str, float]] = {}
    counted = {weight.feature for weight in WEIGHTS}
    columns = ("language", "query_id", "system", "feature", "value")
    for language, query, system, feature, value in read_rows(features, *columns):
        if value is not None and feature in counted:
            values.setdefault((language, query, system), {})[feature] = value
    rows = []
    for battle in battles:
        query, pair = battle[:2], battle[2:]
        verdict, rationale, reason = _weigh(*(values.get((*query, system), {}) for system in pair))
        rows.append(schema.Judgment(*query, name, *pair, verdict, rationale, reason, call=None))
    return schema.from_rows("judgments", rows)


def _weigh(a: Mapping[str, float], b: Mapping[str, float]) -> tuple[Verdict, str, str | None]:
    """Return verdict, rationale, and the reason why there is no verdict."""
    used = [weight for weight in WEIGHTS if weight.feature in a and weight.feature in b]
    content = [weight.feature for weight in WEIGHTS if weight.feature not in NOT_CONTENT]
    if not any(weight.feature in content for weight in used):
        reason = "no feature of the content is known of both answers"
        return "unparsed", f"{reason}: {', '.join(content)}.", reason
    whole = sum(weight.weight for weight in used)
    score = 0.0
    lines = []
    for w in used:
        better = max(-1.0, min(1.0, (a[w.feature] - b[w.feature]) / w.scale)) * (1 if w.direction == "higher" else -1)
        part = w.weight / whole * better + 0.0  # no -0
        score += part
        lines.append(
            f"{w.feature} ({w.direction} is better): A {a[w.feature]:.4g}, B {b[w.feature]:.4g};"
            f" weight {w.weight / whole:.3f}, scale {w.scale:g}: {part:+.4f}"
        )
    verdict: Verdict = "tie" if abs(score) < MARGIN else "A" if score > 0 else "B"
    absent = [w.feature for w in WEIGHTS if w not in used]
    lines.append(f"Sum {score:+.4f}, a tie closer to 0 than {MARGIN:g}: {verdict}.")
    if absent:
        lines.append(f"Left out, not known of both: {', '.join(absent)}.")
    return verdict, "\n".join(lines), None
