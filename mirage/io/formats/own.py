"""The columns of `mirage.schema` as formats: queries, answers and judgments."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from mirage import schema
from mirage.battles.decision import verdict_of_points
from mirage.errors import BadInput
from mirage.io import values
from mirage.io.formats import rag
from mirage.io.formats.answerability import ANSWERABLE, UNANSWERABLE
from mirage.io.formats.battles import hold_texts
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import answer_text, has_fields, need, number
from mirage.io.formats.spec import ABSENT, ALONE, GivenAnswer, GivenVerdict, Item, Record, Sample

_KEY = ("language", "query_id")
_QUERY = frozenset((*_KEY, "text", "subset", "passages", "reason", *ANSWERABLE, *UNANSWERABLE))
_ANSWER = frozenset((*_KEY, *(name for name in GivenAnswer.__annotations__ if name != "shown"), "created_at"))
_JUDGMENT = frozenset((*_KEY, *GivenVerdict.__annotations__))
"""Fields read by each format."""


def _item(record: Record, builder: Builder, fields: frozenset[str], **parts: Any) -> Item:
    """Return an item on the query of a record, and count the fields that have a value and are not read."""
    for name in record.value.keys() - fields:
        if record.value[name] not in (None, ""):
            builder.left_out(name, _why_ignored(name, fields))
    return Item(parts.pop("text", None), language=_name(record, "language"), **parts)


@lru_cache(256)
def _why_ignored(name: str, fields: frozenset[str]) -> str:
    near = values.nearest_name(name, fields)
    return f"not a column; did you mean {near}?" if near else "not a column of this format"


def _name(record: Record, name: str) -> str | None:
    return values.identifier(record.value.get(name), name, record.where)


def _queries(record: Record, builder: Builder) -> Iterator[Item]:
    content = answer_text(record, "text")
    if not content and not record.value.get("reason"):
        raise values.missing("text", record.value, record.where)
    shown = rag.shown_passages(record.value.get("passages"), (), record.where, "passages")
    about = {name: _name(record, name) for name in ("query_id", "subset")}
    yield _item(record, builder, _QUERY, text=content, passages=shown, **about)


def _answers(record: Record, builder: Builder) -> Iterator[Item]:
    value, where = record.value, record.where
    values.refuse_misspelt(value, where, ("text",))
    query_id = need(record, "query_id")
    answer = GivenAnswer(
        need(record, "system"),
        answer_text(record, "text"),
        status=_name(record, "status"),
        reason=answer_text(record, "reason"),
        template=_name(record, "template"),
        numbered=values.flag(value.get("numbered"), "numbered", where),
        thoughts=answer_text(record, "thoughts"),
        sample=values.repeat(value, "sample", where),
        run_date=values.day(value.get("run_date", value.get("created_at")), where),
        retriever=_name(record, "retriever"),
        depth=values.repeat(value, "depth", where) or None,
    )
    yield _item(record, builder, _ANSWER, query_id=query_id, answers=[answer])


def _judgments(record: Record, builder: Builder) -> Iterator[Item]:
    value, where = record.value, record.where
    verdict, points = _name(record, "verdict"), values.number(value.get("points"), "points", where)
    if verdict is None and points is None:
        do = "map one of them: --map THEIRS=verdict"
        raise BadInput("there is neither a verdict nor points", where=where, do=do)
    word = verdict_of_points(points or 0.0) if verdict is None else schema.verdict_word(verdict)
    if (reason := answer_text(record, "reason")) and word != "unparsed":
        raise BadInput(f"the verdict is {word}, but there is a reason why there is none", where=where)
    if verdict is not None and number(verdict) is not None:
        do = "if it is the share of system_a in the point, from 0 to 1: --map verdict=points"
        raise BadInput(f"the verdict is the number {verdict}", where=where, do=do)
    if points is not None and (word, verdict_of_points(points)) in (("A", "B"), ("B", "A")):
        what = f"the verdict {word} contradicts the points of system_a, {points:g}"
        raise BadInput(what, where=where, do="correct or leave out one of them: --map NAME=ignored")
    values.refuse_misspelt(value, where, ("judge",), ("query_id",), ("language",))
    query_id, judge = _key_of(record, builder)
    systems, voter = (need(record, "system_a"), need(record, "system_b")), _name(record, "voter")
    repeat = values.repeat(value, "repeat", where)
    if "repeat" not in value:
        criterion = _name(record, "criterion") or ""
        repeat = builder.count_repeats((str(value.get("language")), query_id, judge, criterion, *systems, voter or ""))
    given = GivenVerdict(
        judge,
        *systems,
        verdict=verdict,
        points=points,
        rationale=answer_text(record, "rationale") or None,
        reason=reason or None,
        person=values.flag(value.get("person"), "person", where),
        voter=voter,
        criterion=_name(record, "criterion"),
        prompt=_name(record, "prompt"),
        repeat=repeat,
    )
    yield _item(record, builder, _JUDGMENT, query_id=query_id, verdicts=[given])


def _key_of(record: Record, builder: Builder) -> tuple[str, str]:
    """Return query and judge of a verdict; a file without a column for them is read as `mirage rank` does."""
    query_id, (judge, why) = PurePath(record.where).name, ABSENT["judge"]
    if "query_id" in record.value:
        query_id = need(record, "query_id")
    else:
        builder.note_guess("query_id", ALONE)
    if "judge" in record.value:
        judge = need(record, "judge")
    else:
        builder.note_guess("judge", why)
    return query_id, judge


def _recognise_verdicts(sample: Sample) -> str | None:
    if not sample.fields >= {"system_a", "system_b"} or not sample.fields & {"verdict", "points", "judge"}:
        return None
    return None if hold_texts(*sample.columns("system_a", "system_b")) else "has system_a, system_b and their verdict"


QUERIES = Format(
    *describe("queries"),
    recognise=has_fields("query_id", "text", without=("system", "judge", "passage_id")),
    items=_queries,
)
ANSWERS = Format(
    *describe("answers"),
    recognise=has_fields("query_id", "system", "text", without=("question", "query", "judge")),
    items=_answers,
    refers=True,
)
JUDGMENTS = Format(*describe("judgments"), recognise=_recognise_verdicts, items=_judgments, refers=True)
