"""Battles of LMSYS as wide CSV: a prompt, two responses and who won, with the texts of every turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import shapes
from mirage.io.formats.battles import PEOPLE, winner
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import has_fields, need, number, text
from mirage.io.formats.spec import GivenAnswer, GivenVerdict, Item, Record, Sample
from mirage.io.values import unpack

_FLAGS = {"winner_model_a": "A", "winner_model_b": "B", "winner_tie": "tie"}
_has_responses = has_fields("prompt", "response_a", "response_b")


def recognise(sample: Sample) -> str | None:
    """Detect a prompt, two responses, and their models or the winner."""
    known = {"model_a", "model_b"} <= sample.fields or sample.fields & {"winner", *_FLAGS}
    has = _has_responses(sample)
    return f"{has} and who won, as LMSYS" if has and known else None


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    prompts = [turn or "" for turn in _texts(record, "prompt")]
    if not any(turn.strip() for turn in prompts):
        raise BadInput("this battle has no prompt", where=record.where, do="map its field: --map THEIRS=prompt")
    systems = need(record, "model_a"), need(record, "model_b")
    if systems[0] == systems[1]:
        builder.left_out("battles of a model with itself", "they say nothing about two systems")
        return
    given = [_texts(record, name) or [None] for name in ("response_a", "response_b")]
    for texts in given:
        if len(texts) > 1:
            why = "earlier turns belong to the query, and each system gave its own"
            builder.left_out("earlier answers", why, len(texts) - 1)
    if (verdict := _verdict(record)) is None:
        builder.left_out("battles without a winner", "their answers are imported, without a verdict")
    else:
        builder.note_guess("people", f"the winner is people's vote, of the judge {PEOPLE}")
    yield Item(
        prompts[-1],
        query_id=text(record, "id", "question_id"),
        turns=[("user", earlier) for earlier in prompts[:-1] if earlier],
        answers=[GivenAnswer(system, texts[-1]) for system, texts in zip(systems, given, strict=True)],
        verdicts=[] if verdict is None else [GivenVerdict(PEOPLE, *systems, verdict=verdict, person=True)],
    )


def _texts(record: Record, name: str) -> list[str | None]:
    """Return the texts of the turns, from a JSON list or a single text."""
    given = unpack(record.value.get(name))
    every: list[Any] = given if isinstance(given, list) else [] if given is None else [given]
    return [shapes.text(entry, name, record.where) for entry in every]


def _verdict(record: Record) -> str | None:
    if (word := record.value.get("winner")) not in (None, ""):
        if (verdict := winner(word)) is None:
            do = "write model_a, model_b or tie, or map it: --value winner:THEIRS=tie"
            raise BadInput(f"winner is {word!r}, which is no word for a winner", where=record.where, do=do)
        return verdict
    chosen = [verdict for name, verdict in _FLAGS.items() if number(record.value.get(name)) == 1]
    if len(chosen) > 1:
        what = "more than one of winner_model_a, winner_model_b and winner_tie is 1"
        raise BadInput(what, where=record.where, do="set one of them to 1")
    return chosen[0] if chosen else None


FORMAT = Format(
    name="lmsys",
    title="LMSYS: battles with the texts of prompt and responses, CSV",
    source="the columns of the competitions lmsys-chatbot-arena (id, model_a, model_b, prompt, response_a, response_b, "
    "winner_model_a, winner_model_b, winner_tie; texts as JSON lists of turns) and wsdm-cup-multilingual-chatbot-arena "
    "(winner, language; plain texts) on Kaggle, and of the dataset lmarena-ai/arena-human-preference-55k on the hub",
    gives=("queries", "turns", "answers", "judgments"),
    recognise=recognise,
    items=_items,
    further="none",
)
