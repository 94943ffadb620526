"""Rows of NoMIRACL and MIRACL: queries with their judged passages, and published outputs with all systems' answers.

    {"query_id": .., "query": .., "positive_passages": [{"docid": .., "title": .., "text": ..}], ..}
    {"query_id": .., "docids": [..], "prompt": text or null, "template": "vanilla", "results": {system: answer}}

One file, or rows of the data set `miracl/nomiracl`; the folders that are published as a whole have commands of their
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath

from mirage.io.formats.fields import list_field, need, text, wrong
from mirage.io.formats.spec import Builder, Format, GivenAnswer, Record, Sample, ShownPassage
from mirage.io.sources.nomiracl.origin import SUBSETS
from mirage.io.sources.nomiracl.prompt import split_prompt, split_title
from mirage.text.languages import language_of_file

_JUDGED = ("positive_passages", "negative_passages")


def recognise(sample: Sample) -> str | None:
    """Detect records with judged passages, or with all systems' answers by name."""
    if "query" in sample.fields and sample.fields.issuperset(_JUDGED):
        return f"has query, {' and '.join(_JUDGED)}"
    results = [record.get("results") for record in sample.records]
    if {"query_id", "results"} <= sample.fields and all(isinstance(each, Mapping) for each in results):
        return "has query_id, and results by system"
    return None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each record as a query with its passages, labelled or in a prompt, and its answers."""
    for record in records:
        if record.value.get("results") is not None:
            _read_answers(record, builder)
        else:
            _judged(record, builder)


def _judged(record: Record, builder: Builder) -> None:
    query = builder.query(
        text(record, "query"),
        where=record.where,
        query_id=need(record, "query_id"),
        language=text(record, "language", "lang") or language_of_file(PurePath(record.where.rpartition(":")[0]).name),
        subset=text(record, "subset"),
    )
    passages = [_labelled(record, name, entry) for name in _JUDGED for entry in list_field(record, name)]
    # By id: systems see this order, which the labels have no part in.
    builder.passages(query, sorted(passages, key=lambda passage: passage.passage_id or ""), where=record.where)


def _labelled(record: Record, name: str, entry: object) -> ShownPassage:
    if not isinstance(entry, Mapping):
        raise wrong(record, name, "a list of objects with docid, title and text", entry)
    inner = Record(entry, record.where)
    return ShownPassage(
        text(inner, "text"),
        need(inner, "docid"),
        text(inner, "title"),
        relevant=name == "positive_passages",
        pooled=True,
    )


def _read_answers(record: Record, builder: Builder) -> None:
    path = PurePath(record.where.rpartition(":")[0])
    query_id, ids = need(record, "query_id"), [str(each) for each in list_field(record, "docids")]
    prompt, results = text(record, "prompt"), record.value["results"]
    if not isinstance(results, Mapping):
        raise wrong(record, "results", "an object of answers by system", results)
    query_text, passages = (None, []) if prompt is None else split_prompt(prompt, query_id=query_id, where=record.where)
    query = builder.query(
        query_text if query_text is not None else text(record, "query"),
        where=record.where,
        query_id=query_id,
        language=text(record, "language", "lang") or language_of_file(path.name),
        subset=text(record, "subset") or (path.parent.name if path.parent.name in SUBSETS else None),
    )
    if passages and len(passages) != len(ids):
        raise wrong(record, "docids", f"a list of {len(passages)} document ids", ids)
    texts: list[tuple[str | None, str | None]] = [split_title(passage) for passage in passages]
    texts = texts or [(None, None)] * len(ids)
    shown = builder.passages(
        query,
        [ShownPassage(content, docid, title) for docid, (title, content) in zip(ids, texts, strict=True)],
        where=record.where,
    )
    for system, answer in results.items():
        if answer is not None:
            template = text(record, "template")
            builder.answer(query, GivenAnswer(system, str(answer), template=template, shown=shown), where=record.where)


FORMAT = Format(
    name="nomiracl",
    title="NoMIRACL and MIRACL: queries with judged passages, or one file of published outputs",
    source="columns of the data sets miracl/nomiracl and miracl/miracl on the Hugging Face hub; "
    "project-miracl/nomiracl, results/baselines",
    gives=("queries", "passages", "answers"),
    recognise=recognise,
    read=read,
)
