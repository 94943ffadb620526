"""Results of WildBench: answers with scores of a judge, or beside those of another model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import shapes
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import need, number, text
from mirage.io.formats.logs import members
from mirage.io.formats.spec import GivenAnswer, GivenScore, GivenVerdict, Item, Record, Sample

_CHOICES = {
    "A++": ("A", 1.0),
    "A+": ("A", 0.75),
    "A=B": ("tie", 0.5),
    "B+": ("B", 0.25),
    "B++": ("B", 0.0),
    "A": ("A", None),
    "B": ("B", None),
    "tie": ("tie", None),
}
"""Verdict by the judge's choice, and its points: a slight preference is three quarters of the point."""
_MODELS = ("model_test", "generator", "model")
_OTHERS = ("model_ref", "ref_generator", "ref_model")
_JUDGE = re.compile(r"eval=([^/]+)/")


def recognise(sample: Sample) -> str | None:
    """Detect results of sessions, outputs of models to them, and the sessions."""
    if {"session_id", "model_output"} <= sample.fields:
        return "has session_id and model_output, as results of WildBench"
    if {"session_id", "output", "generator"} <= sample.fields or {"session_id", "conversation_input"} <= sample.fields:
        return "has session_id and outputs or a conversation, as WildBench"
    return None


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read a session, with an answer and its score, or two answers and a verdict."""
    value = record.value
    messages = value.get("conversation_input") or value.get("chat_history")
    spoken = shapes.conversation(messages, "conversation_input", record.where)
    question = spoken.question if messages else text(record, "last_query")
    if question is None:
        why = "the results hold no texts of the sessions: import them too (hf allenai/WildBench)"
        builder.note_guess("queries", why)
    tags = {"primary_tag": text(record, "primary_tag")}
    item = Item(question, query_id=need(record, "session_id"), tags=tags, turns=spoken.turns)
    if "model_output" not in value and "output" not in value:
        yield item
        return
    model, folder = need(record, *_MODELS), _JUDGE.search(record.where)
    named = members(value.get("eval_config")).get("gpt")
    judge = text(record, "judge") or (str(named) if named else folder[1] if folder else "wildbench")
    given = value.get("model_output", value.get("output"))
    runs = given if isinstance(given, list) and given else [given]
    answers = [GivenAnswer(model, shapes.text(run, "model_output", record.where)) for run in runs]
    if any(value.get(name) for name in _OTHERS):
        other, said = need(record, *_OTHERS), value.get("ref_output")
        said = shapes.text(said[0] if isinstance(said, list) and said else said, "ref_output", record.where)
        yield replace(
            item, answers=[*answers, GivenAnswer(other, said)], verdicts=[_verdict(record, judge, model, other)]
        )
    elif "score" in value:
        score = number(value["score"])
        rating = GivenScore(model, "rating", judge, score, low=1, high=10, reason="the judge gave no score")
        yield replace(item, answers=answers, scores=[rating])
    else:
        yield replace(item, answers=answers)


def _verdict(record: Record, judge: str, model: str, other: str) -> GivenVerdict:
    """Return the judge's choice between the model's answer and that of another, in the order shown."""
    result = members(shapes.parse_json(record.value.get("parsed_result")))
    assigned: Any = members(record.value.get("assignment")) or {"A": model, "B": other}
    order = str(assigned.get("A")), str(assigned.get("B"))
    if set(order) != {model, other}:
        raise BadInput(
            f"assignment names {order[0]!r} and {order[1]!r}, but the answers are of {model!r} and {other!r}",
            where=record.where,
            do="correct the record",
        )
    choice, said = str(result.get("choice", "")).strip(), result.get("reason")
    verdict, points = _CHOICES.get(choice, ("unparsed", None))
    rationale = said if isinstance(said, str) else None
    why = f"the choice is {choice!r}"
    return GivenVerdict(judge, *order, verdict=verdict, points=points, rationale=rationale, reason=why)


FORMAT = Format(
    name="wildbench",
    title="WildBench: sessions, answers, and a judge's scores or choices",
    source="allenai/WildBench, eval_results/v2.0625/score.v2 at 88704b7 (session_id, parsed_result, model_test, score, "
    "model_output) and src/eval.py at 03a2a84 (generator, ref_generator, assignment, parsed_result.choice)",
    gives=("queries", "turns", "tags", "answers", "samples", "scores", "judgments"),
    recognise=recognise,
    items=_items,
    further="texts",
)
