"""Questions, answers and judgments of Arena-Hard-Auto, versions 0.1 and 2.0."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import shapes
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import need, text, wrong
from mirage.io.formats.logs import entries, members
from mirage.io.formats.spec import GivenAnswer, GivenVerdict, Item, Record, Sample

_BASELINE = "gpt-4-0314"
"""Baseline of version 0.1, whose judgments do not name it."""
_SCORES = {"A>>B": "A", "A>B": "A", "A=B": "tie", "B=A": "tie", "B>A": "B", "B>>A": "B", "A<B": "B", "A<<B": "B"}
_IDS = ("uid", "question_id")


def recognise(sample: Sample) -> str | None:
    """Detect judgments in games, answers of turns that are objects or messages, and questions."""
    for record in sample.records:
        choices = entries(record.get("choices"))
        turns = members(choices[0] if choices else record).get("turns")
        if any(name in record for name in _IDS) and isinstance(record.get("games"), list) and "judge" in record:
            return "has judge, model and games, as Arena-Hard's judgments"
        if "uid" in record and "model" in record and isinstance(record.get("messages"), list):
            return "has uid, model and messages, as Arena-Hard's answers"
        if "question_id" in record and _are_objects(turns):
            return "has question_id and turns with content, as Arena-Hard"
        if record.keys() >= {"uid", "prompt", "category"}:
            return "has uid, category and prompt, as Arena-Hard's questions"
    return None


def _are_objects(turns: Any) -> bool:
    return isinstance(turns, list) and bool(turns) and all(isinstance(turn, Mapping) for turn in turns)


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read a question, an answer, or the judgments of an answer beside the baseline's."""
    value, tags = record.value, {"category": text(record, "category", "cluster")}
    item = Item(None, query_id=need(record, *_IDS), tags=tags)
    if "games" in value:
        yield replace(item, verdicts=list(_verdicts(record, builder)))
    elif "messages" in value:
        said = shapes.conversation(value["messages"], "messages", record.where)
        answer = GivenAnswer(need(record, "model"), said.answer)
        yield replace(item, text=said.question, turns=said.turns, answers=[answer])
    elif "choices" in value:
        yield replace(item, answers=_runs(record, builder))
    else:
        turns = [entry for entry in entries(value.get("turns")) if isinstance(entry, Mapping)]
        texts = [shapes.text(turn, "turns", record.where) or "" for turn in turns]
        question = text(record, "prompt") or (texts[-1] if texts else None)
        if question is None:
            raise BadInput(
                "this record has neither a prompt, an answer nor games",
                where=record.where,
                do="give a file of Arena-Hard's questions, answers or judgments",
            )
        yield replace(item, text=question, turns=[("user", turn) for turn in texts[:-1]])


def _runs(record: Record, builder: Builder) -> list[GivenAnswer]:
    """Return a model's answers to the last turn; further choices are samples."""
    choices = record.value["choices"]
    runs: list[Any] = [members(choice).get("turns") for choice in entries(choices)]
    if not runs or not all(map(_are_objects, runs)):
        raise wrong(record, "choices", "a list whose first object has turns with content", choices)
    if len(runs[0]) > 1:
        builder.left_out("earlier turns of answers", "each system gave its own", len(runs[0]) - 1)
    model = need(record, "model_id", "model")
    return [GivenAnswer(model, shapes.text(turns[-1], "choices", record.where)) for turns in runs]


def _verdicts(record: Record, builder: Builder) -> Iterator[GivenVerdict]:
    """Return the verdicts of two games: in the first the baseline is A, in the second the model."""
    model, judge, baseline = need(record, "model"), need(record, "judge"), text(record, "baseline")
    if baseline is None:
        baseline = _BASELINE
        builder.note_guess("baseline", f"version 0.1 does not name it: {_BASELINE}; change it with --set baseline=NAME")
    if model == baseline:
        builder.left_out("judgments of the baseline", "it is compared with itself")
        return
    builder.note_guess("verdicts", "A>>B counts as A>B: the weight of 3 in Arena-Hard's own scores is not used")
    for number, game in enumerate(entries(record.value["games"])):
        if not isinstance(game, Mapping):
            builder.left_out("games without a reply", "the judge's call failed")
            continue
        score = game.get("score")
        verdict = _SCORES.get(str(score).replace("[", "").replace("]", "").strip()) if score else "unparsed"
        if verdict is None:
            raise wrong(record, "score", f"one of {', '.join(_SCORES)}", score)
        order = (baseline, model) if number % 2 == 0 else (model, baseline)
        rationale = shapes.readable_text(game.get("judgment"))
        why = "the judge named no score"
        yield GivenVerdict(judge, *order, verdict=verdict, rationale=rationale, reason=why)


FORMAT = Format(*describe("arena-hard"), recognise=recognise, items=_items, further="texts")
