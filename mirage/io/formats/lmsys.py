"""Battles of LMSYS as wide CSV: a prompt, two responses and who won, with the texts of every turn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import shapes
from mirage.io.formats.battles import PEOPLE, winner
from mirage.io.formats.fields import need, number, text
from mirage.io.formats.logs import Answers
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenVerdict, Record, Sample
from mirage.io.formats.values import unpack

_FIELDS = ("prompt", "response_a", "response_b")
_FLAGS = {"winner_model_a": "A", "winner_model_b": "B", "winner_tie": "tie"}


def recognise(sample: Sample) -> str | None:
    """Detect a prompt, two responses, and their models or the winner."""
    named = {"model_a", "model_b"} <= sample.fields
    if not sample.fields >= set(_FIELDS) or not (named or sample.fields & {"winner", *_FLAGS}):
        return None
    return f"has {', '.join(_FIELDS)} and who won, as LMSYS"


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each row as a query, two answers and a verdict of people."""
    answers = Answers(builder, "none")
    for record in records:
        _battle(record, builder, answers)


def _battle(record: Record, builder: Builder, answers: Answers) -> None:
    prompts = [turn or "" for turn in _texts(record, "prompt")]
    if not any(turn.strip() for turn in prompts):
        raise BadInput("this battle has no prompt", where=record.where, do="map its field: --map THEIRS=prompt")
    systems = need(record, "model_a"), need(record, "model_b")
    if systems[0] == systems[1]:
        builder.left_out("battles of a model with itself", "they say nothing about two systems")
        return
    query = builder.query(
        prompts[-1],
        where=record.where,
        query_id=text(record, "id", "question_id"),
        language=text(record, "language"),
        turns=[("user", earlier) for earlier in prompts[:-1] if earlier],
    )
    for system, name in zip(systems, ("response_a", "response_b"), strict=True):
        given = _texts(record, name)
        if len(given) > 1:
            builder.left_out(
                "earlier answers", "earlier turns belong to the query, and each system gave its own", len(given) - 1
            )
        answers.add(query, GivenAnswer(system, given[-1] if given else None), where=record.where)
    verdict = _verdict(record)
    if verdict is None:
        builder.left_out("battles without a winner", "their answers are imported, without a verdict")
        return
    builder.note_guess("people", f"the winner is people's vote, of the judge {PEOPLE}")
    builder.judgment(query, GivenVerdict(PEOPLE, *systems, verdict=verdict, person=True), where=record.where)


def _texts(record: Record, name: str) -> list[str | None]:
    """Return the texts of the turns, from a JSON list or a single text."""
    given = unpack(record.value.get(name))
    if given is None:
        return []
    every: list[Any] = given if isinstance(given, list) else [given]
    return [shapes.text(entry, name, record.where) for entry in every]


def _verdict(record: Record) -> str | None:
    if (word := record.value.get("winner")) not in (None, ""):
        verdict = winner(word)
        if verdict is None:
            raise BadInput(
                f"winner is {word!r}, which is no word for a winner",
                where=record.where,
                do="write model_a, model_b or tie, or map it: --value winner:THEIRS=tie",
            )
        return verdict
    chosen = [verdict for name, verdict in _FLAGS.items() if number(record.value.get(name)) == 1]
    if len(chosen) > 1:
        raise BadInput(
            "more than one of winner_model_a, winner_model_b and winner_tie is 1",
            where=record.where,
            do="set one of them to 1",
        )
    return chosen[0] if chosen else None


FORMAT = Format(
    name="lmsys",
    title="LMSYS: battles with the texts of prompt and responses, CSV",
    source="the columns of the competitions lmsys-chatbot-arena (id, model_a, model_b, prompt, response_a, response_b, "
    "winner_model_a, winner_model_b, winner_tie; texts as JSON lists of turns) and wsdm-cup-multilingual-chatbot-arena "
    "(winner, language; plain texts) on Kaggle, and of the dataset lmarena-ai/arena-human-preference-55k on the hub",
    gives=("queries", "turns", "answers", "judgments"),
    recognise=recognise,
    read=read,
)
