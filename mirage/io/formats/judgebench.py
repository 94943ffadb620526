"""Pairs of JudgeBench, with the right label and the decisions of judges in both orders."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import has_fields, need, text, wrong
from mirage.io.formats.logs import entries, members
from mirage.io.formats.spec import GivenAnswer, GivenVerdict, Item, Record

_LABELS = {"A>B": "A", "B>A": "B", "A=B": "tie", "B=A": "tie"}
_LABEL = "label"
"""Field and judge of the right label."""
_JUDGE = re.compile(r"judge_model=([^,]+?)\.jsonl")


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read a pair. Both responses are of one model, so its two systems are `MODEL A` and `MODEL B`."""
    model = text(record, "response_model") or "response"
    systems = f"{model} A", f"{model} B"
    builder.note_guess("systems", "both responses of a pair are of one model: its systems are NAME A and NAME B")
    verdicts = []
    if (label := record.value.get(_LABEL)) is not None:
        if str(label) not in _LABELS:
            raise wrong(record, _LABEL, f"one of {', '.join(_LABELS)}", label)
        verdicts.append(GivenVerdict(_LABEL, *systems, verdict=_LABELS[str(label)]))
    for place, judged in enumerate(entries(record.value.get("judgments"))):
        # In the second of two games the responses are swapped.
        verdicts.append(_judgment(record, members(judged), systems if place % 2 == 0 else systems[::-1]))
    yield Item(
        need(record, "question"),
        query_id=need(record, "pair_id"),
        tags={"source": text(record, "source")},
        answers=[GivenAnswer(system, text(record, f"response_{system[-1]}")) for system in systems],
        verdicts=verdicts,
    )


def _judgment(record: Record, judged: Mapping[str, Any], order: tuple[str, str]) -> GivenVerdict:
    model = _JUDGE.search(record.where)
    judge = text(record, "judge_model") or (model[1] if model else None) or text(record, "judge_name") or "judge"
    verdict = _LABELS.get(str(judged.get("decision")), "unparsed")
    said = members(judged.get("judgment")).get("response", judged.get("judgment"))
    rationale = said if isinstance(said, str) else None
    return GivenVerdict(judge, *order, verdict=verdict, rationale=rationale, reason="the judge made no decision")


FORMAT = Format(
    name="judgebench",
    title="JudgeBench: pairs of responses with the right label, and decisions of judges",
    source="ScalerLab/JudgeBench, run_judge.py at 12a499c and utils/metrics.py at 12a499c (pair_id, source, question, "
    "response_model, response_A, response_B, label, judge_name, judgments); the second game is swapped",
    gives=("queries", "tags", "answers", "judgments"),
    recognise=has_fields("pair_id", "question", "response_A", "response_B", of="JudgeBench"),
    items=_items,
    further="none",
)
