"""Pairs of JudgeBench, with the right label and the decisions of judges in both orders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mirage.io.formats.fields import need, text, wrong
from mirage.io.formats.logs import Answers, entries
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenVerdict, Record, Sample

_FIELDS = ("pair_id", "question", "response_A", "response_B")
_LABELS = {"A>B": "A", "B>A": "B", "A=B": "tie", "B=A": "tie"}
_LABEL = "label"
_JUDGE = re.compile(r"judge_model=([^,]+?)\.jsonl")


def recognise(sample: Sample) -> str | None:
    """Detect a question with two responses and the id of the pair."""
    return f"has {', '.join(_FIELDS)}, as JudgeBench" if sample.fields >= set(_FIELDS) else None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each pair as a query and two answers; the label is a verdict of the judge `label`.

    Both responses are of one model, so its two systems are `MODEL A` and `MODEL B`.
    """
    answers = Answers(builder, "none")
    for record in records:
        value = record.value
        model = text(record, "response_model") or "response"
        systems = f"{model} A", f"{model} B"
        builder.note_guess("systems", "both responses of a pair are of one model: its systems are NAME A and NAME B")
        source = text(record, "source")
        query = builder.query(
            need(record, "question"),
            where=record.where,
            query_id=need(record, "pair_id"),
            language=text(record, "language"),
            tags={"source": source} if source else None,
        )
        for system, name in zip(systems, ("response_A", "response_B"), strict=True):
            answers.add(query, GivenAnswer(system, text(record, name)), where=record.where)
        verdict = _LABELS.get(str(value.get("label")))
        if value.get("label") is not None:
            if verdict is None:
                raise wrong(record, "label", f"one of {', '.join(_LABELS)}", value["label"])
            builder.judgment(query, GivenVerdict(_LABEL, *systems, verdict=verdict), where=record.where)
        for place, judged in enumerate(entries(value.get("judgments"))):
            order = systems if place % 2 == 0 else systems[::-1]
            builder.judgment(query, _judgment(record, judged, order), where=record.where)


def _judgment(record: Record, judged: Any, order: tuple[str, str]) -> GivenVerdict:
    """Return the decision of a judge; in the second of two games the responses are swapped."""
    model = _JUDGE.search(record.where)
    judge = text(record, "judge_model") or (model[1] if model else None) or text(record, "judge_name") or "judge"
    held: Mapping[str, Any] = judged if isinstance(judged, Mapping) else {}
    verdict = _LABELS.get(str(held.get("decision")), "unparsed")
    inner = held.get("judgment")
    rationale = inner.get("response") if isinstance(inner, Mapping) else inner
    return GivenVerdict(
        judge,
        *order,
        verdict=verdict,
        rationale=rationale if isinstance(rationale, str) else None,
        reason="the judge made no decision" if verdict == "unparsed" else None,
    )


FORMAT = Format(
    name="judgebench",
    title="JudgeBench: pairs of responses with the right label, and decisions of judges",
    source="ScalerLab/JudgeBench, run_judge.py at 12a499c and utils/metrics.py at 12a499c (pair_id, source, question, "
    "response_model, response_A, response_B, label, judge_name, judgments); the second game is swapped",
    gives=("queries", "tags", "answers", "judgments"),
    recognise=recognise,
    read=read,
)
