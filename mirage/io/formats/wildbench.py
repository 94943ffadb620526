"""Results of WildBench: answers with scores of a judge, or beside those of another model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import shapes
from mirage.io.formats.fields import need, number, text
from mirage.io.formats.logs import Answers
from mirage.io.formats.shapes import parse_json
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenScore, GivenVerdict, QueryKey, Record, Sample

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
_LOW, _HIGH = 1, 10
_MODELS = ("model_test", "generator", "model")
_OTHERS = ("model_ref", "ref_generator", "ref_model")
_JUDGE = re.compile(r"eval=([^/]+)/")
_FALLBACK = "wildbench"


def recognise(sample: Sample) -> str | None:
    """Detect results of sessions, outputs of models to them, and the sessions."""
    if {"session_id", "model_output"} <= sample.fields:
        return "has session_id and model_output, as results of WildBench"
    if {"session_id", "output", "generator"} <= sample.fields or {"session_id", "conversation_input"} <= sample.fields:
        return "has session_id and outputs or a conversation, as WildBench"
    return None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each record as a session, an answer with a score, or two answers with a verdict."""
    answers = Answers(builder)
    for record in records:
        query = _query(record, builder)
        value = record.value
        if "model_output" not in value and "output" not in value:
            continue
        model = need(record, *_MODELS)
        given = value.get("model_output", value.get("output"))
        runs = given if isinstance(given, list) and given else [given]
        texts = [shapes.text(run, "model_output", record.where) for run in runs]
        answers.add_runs(query, [GivenAnswer(model, run) for run in texts], where=record.where)
        if any(value.get(name) for name in _OTHERS):
            _verdict(record, query, model, builder, answers)
        elif "score" in value:
            _score(record, query, model, answers)


def _query(record: Record, builder: Builder) -> QueryKey:
    value = record.value
    messages = value.get("conversation_input") or value.get("chat_history")
    spoken = shapes.conversation(messages, "conversation_input", record.where) if messages else None
    question = spoken.question if spoken else text(record, "last_query")
    tag = text(record, "primary_tag")
    if question is None:
        builder.note_guess(
            "queries", "the results hold no texts of the sessions: import them too (hf allenai/WildBench)"
        )
    return builder.query(
        question,
        where=record.where,
        query_id=need(record, "session_id"),
        language=text(record, "language"),
        tags={"primary_tag": tag} if tag else None,
        turns=spoken.turns if spoken else (),
    )


def _judge(record: Record) -> str:
    """Return the judge, from the settings of the evaluation or the folder `eval=NAME`."""
    config = record.value.get("eval_config")
    named = config.get("gpt") if isinstance(config, Mapping) else None
    folder = _JUDGE.search(record.where)
    return text(record, "judge") or (str(named) if named else folder[1] if folder else _FALLBACK)


def _score(record: Record, query: QueryKey, model: str, answers: Answers) -> None:
    value = number(record.value.get("score"))
    score = GivenScore(
        model,
        "rating",
        _judge(record),
        value,
        person=False,
        low=_LOW,
        high=_HIGH,
        reason=None if value is not None else "the judge gave no score",
    )
    answers.score(query, score, where=record.where)


def _verdict(record: Record, query: QueryKey, model: str, builder: Builder, answers: Answers) -> None:
    """Read the judge's choice between the model's answer and that of another, in the order shown."""
    value = record.value
    other = need(record, *_OTHERS)
    said = value.get("ref_output")
    said = said[0] if isinstance(said, list) and said else said
    answers.add(query, GivenAnswer(other, shapes.text(said, "ref_output", record.where)), where=record.where)
    result = parse_json(value.get("parsed_result"))
    held: Mapping[str, Any] = result if isinstance(result, Mapping) else {}
    assigned = value.get("assignment")
    order = (str(assigned.get("A")), str(assigned.get("B"))) if isinstance(assigned, Mapping) else (model, other)
    if set(order) != {model, other}:
        raise BadInput(
            f"assignment names {order[0]!r} and {order[1]!r}, but the answers are of {model!r} and {other!r}",
            where=record.where,
            do="correct the record",
        )
    choice = str(held.get("choice", "")).strip()
    verdict, points = _CHOICES.get(choice, ("unparsed", None))
    reason = held.get("reason")
    builder.judgment(
        query,
        GivenVerdict(
            _judge(record),
            str(order[0]),
            str(order[1]),
            verdict=verdict,
            points=points,
            rationale=reason if isinstance(reason, str) else None,
            reason=f"the choice is {choice!r}" if verdict == "unparsed" else None,
        ),
        where=record.where,
    )


FORMAT = Format(
    name="wildbench",
    title="WildBench: sessions, answers, and a judge's scores or choices",
    source="allenai/WildBench, eval_results/v2.0625/score.v2 at 88704b7 (session_id, parsed_result, model_test, score, "
    "model_output) and src/eval.py at 03a2a84 (generator, ref_generator, assignment, parsed_result.choice)",
    gives=("queries", "turns", "tags", "answers", "samples", "scores", "judgments"),
    recognise=recognise,
    read=read,
)
