"""The columns of `mirage.schema` as formats: queries, answers and judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from mirage.errors import BadInput
from mirage.io.formats import rag, shapes, values
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenVerdict, QueryKey, Record, Sample

_SOURCE = "the columns of mirage.schema; docs/formats.md"
_KEY = ("language", "query_id")
_QUERY = frozenset((*_KEY, "text", "subset", "passages", "reason"))
_ANSWER = frozenset((*_KEY, *(name for name in GivenAnswer.__annotations__ if name != "shown"), "created_at"))
_JUDGMENT = frozenset((*_KEY, *GivenVerdict.__annotations__))
"""Fields read by each format."""


def _recogniser(*needed: str, refuses: tuple[str, ...] = ()) -> Callable[[Sample], str | None]:
    """Build a detector of records that have all of some fields, and none of others."""

    def recognise(sample: Sample) -> str | None:
        if not sample.fields.issuperset(needed) or not sample.fields.isdisjoint(refuses):
            return None
        return f"its records have {', '.join(needed)}"

    return recognise


def _name_ignored(record: Record, fields: frozenset[str], builder: Builder) -> None:
    """Count the fields of a record that have a value and are not read."""
    for name in record.value.keys() - fields:
        if record.value[name] not in (None, ""):
            builder.left_out(name, _why_ignored(name, fields))


@lru_cache(256)
def _why_ignored(name: str, fields: frozenset[str]) -> str:
    near = values.nearest(name, fields)
    return f"not a column; did you mean {near}?" if near else "not a column of this format"


def _query(record: Record, builder: Builder) -> QueryKey:
    """Return the query that a record refers to, possibly in another file."""
    language, query_id = (values.identifier(record.value.get(name), name, record.where) for name in _KEY)
    if query_id is None:
        raise values.missing("query_id", record.value, record.where)
    return builder.query(None, where=record.where, query_id=query_id, language=language)


def _name(record: Record, name: str) -> str:
    content = values.identifier(record.value.get(name), name, record.where)
    if content is None:
        raise values.missing(name, record.value, record.where)
    return content


def _text(record: Record, name: str) -> str | None:
    return shapes.text(record.value.get(name), name, record.where)


def _read_queries(records: Iterable[Record], builder: Builder) -> None:
    for record in records:
        value, where = record.value, record.where
        _name_ignored(record, _QUERY, builder)
        language, query_id = (values.identifier(value.get(name), name, where) for name in _KEY)
        if not (text := _text(record, "text")) and not value.get("reason"):
            raise values.missing("text", value, where)
        query = builder.query(
            text,
            where=where,
            query_id=query_id,
            language=language,
            subset=values.identifier(value.get("subset"), "subset", where),
        )
        shown = rag.shown_passages(value.get("passages"), (), where, "passages")[0]
        if shown:
            builder.passages(query, shown, where=where)


def _read_answers(records: Iterable[Record], builder: Builder) -> None:
    for record in records:
        value, where = record.value, record.where
        _name_ignored(record, _ANSWER, builder)
        builder.answer(
            _query(record, builder),
            GivenAnswer(
                _name(record, "system"),
                _text(record, "text"),
                status=values.identifier(value.get("status"), "status", where),
                reason=_text(record, "reason"),
                template=values.identifier(value.get("template"), "template", where),
                numbered=values.flag(value.get("numbered"), "numbered", where),
                thoughts=_text(record, "thoughts"),
                sample=values.repeat(value, "sample", where),
                run_date=values.day(value.get("run_date", value.get("created_at")), where),
                retriever=values.identifier(value.get("retriever"), "retriever", where),
                depth=values.repeat(value, "depth", where) or None,
            ),
            where=where,
        )


def _read_judgments(records: Iterable[Record], builder: Builder) -> None:
    for record in records:
        value, where = record.value, record.where
        _name_ignored(record, _JUDGMENT, builder)
        verdict = values.identifier(value.get("verdict"), "verdict", where)
        points = values.number(value.get("points"), "points", where)
        if verdict is None and points is None:
            raise BadInput(
                "there is neither a verdict nor points", where=where, do="map one of them: --map THEIRS=verdict"
            )
        builder.judgment(
            _query(record, builder),
            GivenVerdict(
                _name(record, "judge"),
                _name(record, "system_a"),
                _name(record, "system_b"),
                verdict=verdict,
                points=points,
                rationale=_text(record, "rationale") or None,
                reason=_text(record, "reason") or None,
                person=values.flag(value.get("person"), "person", where),
                voter=values.identifier(value.get("voter"), "voter", where),
                inclusion=values.number(value.get("inclusion"), "inclusion", where),
                criterion=values.identifier(value.get("criterion"), "criterion", where),
                prompt=values.identifier(value.get("prompt"), "prompt", where),
                repeat=values.repeat(value, "repeat", where),
            ),
            where=where,
        )


QUERIES = Format(
    name="queries",
    title="queries of your own, with their passages",
    source=_SOURCE,
    gives=("queries", "passages", "documents"),
    recognise=_recogniser("query_id", "text", refuses=("system", "judge", "passage_id")),
    read=_read_queries,
)
ANSWERS = Format(
    name="answers",
    title="answers of any system",
    source=_SOURCE,
    gives=("answers", "samples"),
    recognise=_recogniser("query_id", "system", "text", refuses=("question", "query", "judge")),
    read=_read_answers,
    refers=True,
)
JUDGMENTS = Format(
    name="judgments",
    title="verdicts of any judge",
    source=_SOURCE,
    gives=("judgments",),
    recognise=_recogniser("query_id", "judge", "system_a", "system_b"),
    read=_read_judgments,
    refers=True,
)
