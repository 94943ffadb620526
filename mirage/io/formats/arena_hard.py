"""Questions, answers and judgments of Arena-Hard-Auto, versions 0.1 and 2.0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import shapes
from mirage.io.formats.fields import need, text, wrong
from mirage.io.formats.logs import Answers, entries
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenVerdict, QueryKey, Record, Sample

_BASELINE = "gpt-4-0314"
"""Baseline of version 0.1, whose judgments do not name it."""
_SCORES = {"A>>B": "A", "A>B": "A", "A=B": "tie", "B=A": "tie", "B>A": "B", "B>>A": "B", "A<B": "B", "A<<B": "B"}
_IDS = ("uid", "question_id")


def recognise(sample: Sample) -> str | None:
    """Detect judgments in games, answers of turns that are objects or messages, and questions."""
    for record in sample.records:
        named = any(name in record for name in _IDS)
        if named and isinstance(record.get("games"), list) and "judge" in record:
            return "has judge, model and games, as Arena-Hard's judgments"
        if "uid" in record and "model" in record and isinstance(record.get("messages"), list):
            return "has uid, model and messages, as Arena-Hard's answers"
        if "question_id" in record and isinstance(_turns(record), list) and _of_objects(_turns(record)):
            return "has question_id and turns with content, as Arena-Hard"
        if record.keys() >= {"uid", "prompt", "category"}:
            return "has uid, category and prompt, as Arena-Hard's questions"
    return None


def _turns(value: Mapping[str, Any]) -> Any:
    choices = value.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        return choices[0].get("turns")
    return value.get("turns")


def _of_objects(turns: Any) -> bool:
    return isinstance(turns, list) and bool(turns) and all(isinstance(turn, Mapping) for turn in turns)


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each record as a question, an answer, or the judgments of an answer beside the baseline's."""
    answers = Answers(builder)
    for record in records:
        value = record.value
        if "games" in value:
            _judgments(record, builder)
        elif "messages" in value:
            conversation = shapes.conversation(value["messages"], "messages", record.where)
            query = _query(record, builder, text=conversation.question, turns=conversation.turns)
            answers.add(query, GivenAnswer(need(record, "model"), conversation.answer), where=record.where)
        elif "choices" in value:
            _choice(record, builder, answers)
        else:
            _question(record, builder)


def _query(record: Record, builder: Builder, **fields: Any) -> QueryKey:
    category = text(record, "category", "cluster")
    return builder.query(
        fields.get("text"),
        where=record.where,
        query_id=need(record, *_IDS),
        language=text(record, "language"),
        tags={"category": category} if category else None,
        turns=fields.get("turns", ()),
    )


def _choice(record: Record, builder: Builder, answers: Answers) -> None:
    choices = record.value["choices"]
    runs = [_turns({"choices": [choice]}) for choice in choices] if isinstance(choices, list) else []
    if not runs or not all(map(_of_objects, runs)):
        raise wrong(record, "choices", "a list whose first object has turns with content", record.value["choices"])
    if len(runs[0]) > 1:
        builder.left_out("earlier turns of answers", "each system gave its own", len(runs[0]) - 1)
    model = need(record, "model_id", "model")
    given = [GivenAnswer(model, shapes.text(turns[-1], "choices", record.where)) for turns in runs]
    answers.add_runs(_query(record, builder), given, where=record.where)


def _question(record: Record, builder: Builder) -> None:
    turns = [
        shapes.text(turn, "turns", record.where) or ""
        for turn in entries(record.value.get("turns"))
        if isinstance(turn, Mapping)
    ]
    question = text(record, "prompt") or (turns[-1] if turns else None)
    if question is None:
        raise BadInput(
            "this record has neither a prompt, an answer nor games",
            where=record.where,
            do="give a file of Arena-Hard's questions, answers or judgments",
        )
    _query(record, builder, text=question, turns=[("user", turn) for turn in turns[:-1]])


def _judgments(record: Record, builder: Builder) -> None:
    """Read two games: in the first the baseline is A, in the second the model."""
    value = record.value
    model, judge = need(record, "model"), need(record, "judge")
    baseline = text(record, "baseline")
    if baseline is None:
        baseline = _BASELINE
        builder.note_guess("baseline", f"version 0.1 does not name it: {_BASELINE}; change it with --set baseline=NAME")
    query = _query(record, builder)
    if model == baseline:
        builder.left_out("judgments of the baseline", "it is compared with itself")
        return
    builder.note_guess("verdicts", "A>>B counts as A>B: the weight of 3 in Arena-Hard's own scores is not used")
    for number, game in enumerate(value["games"] if isinstance(value["games"], list) else ()):
        if not isinstance(game, Mapping):
            builder.left_out("games without a reply", "the judge's call failed")
            continue
        score = game.get("score")
        verdict = _SCORES.get(str(score).replace("[", "").replace("]", "").strip()) if score else "unparsed"
        if verdict is None:
            raise wrong(record, "score", f"one of {', '.join(_SCORES)}", score)
        said = game.get("judgment")
        rationale = shapes.readable_text(said)
        builder.judgment(
            query,
            GivenVerdict(
                judge,
                *((baseline, model) if number % 2 == 0 else (model, baseline)),
                verdict=verdict,
                rationale=rationale,
                reason="the judge named no score" if verdict == "unparsed" else None,
            ),
            where=record.where,
        )


FORMAT = Format(
    name="arena-hard",
    title="Arena-Hard-Auto: questions, answers and judgments",
    source="lmarena/arena-hard-auto, gen_judgment.py and gen_answer.py at 01109e9 (version 0.1: question_id, model_id, "
    "choices, games), and its version 2.0 (uid, model, messages, baseline); in the first game the baseline is A",
    gives=("queries", "turns", "tags", "answers", "samples", "judgments"),
    recognise=recognise,
    read=read,
)
