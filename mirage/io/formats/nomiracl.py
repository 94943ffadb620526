"""Rows of NoMIRACL and MIRACL: queries with their judged passages, and published outputs with all systems' answers.

    {"query_id": .., "query": .., "positive_passages": [{"docid": .., "title": .., "text": ..}], ..}
    {"query_id": .., "docids": [..], "prompt": text or null, "template": "vanilla", "results": {system: answer}}

One file, or rows of the data set `miracl/nomiracl`; the folders that are published as a whole have commands of their
own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath

from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import list_field, need, text, wrong
from mirage.io.formats.spec import GivenAnswer, Item, Record, Sample, ShownPassage
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


def _items(record: Record, _: Builder) -> Iterator[Item]:
    """Read a query with its passages, labelled or in a prompt, and its answers."""
    path, results = PurePath(record.where.rpartition(":")[0]), record.value.get("results")
    item = Item(
        text(record, "query"),
        query_id=need(record, "query_id"),
        language=text(record, "language", "lang") or language_of_file(path.name),
        subset=text(record, "subset"),
    )
    if results is None:
        passages = [_labelled_passage(record, name, entry) for name in _JUDGED for entry in list_field(record, name)]
        # By id: systems see this order, which the labels have no part in.
        yield replace(item, passages=sorted(passages, key=lambda passage: passage.passage_id or ""))
        return
    if not isinstance(results, Mapping):
        raise wrong(record, "results", "an object of answers by system", results)
    folder, template = path.parent.name, text(record, "template")
    question, passages = _read_prompt(record, item.query_id or "")
    yield replace(
        item,
        text=item.text if question is None else question,
        subset=item.subset or (folder if folder in SUBSETS else None),
        passages=passages,
        answers=[
            GivenAnswer(system, str(answer), template=template)
            for system, answer in results.items()
            if answer is not None
        ],
    )


def _labelled_passage(record: Record, name: str, entry: object) -> ShownPassage:
    if not isinstance(entry, Mapping):
        raise wrong(record, name, "a list of objects with docid, title and text", entry)
    inner = Record(entry, record.where)
    label = name == "positive_passages"
    return ShownPassage(text(inner, "text"), need(inner, "docid"), text(inner, "title"), relevant=label, pooled=True)


def _read_prompt(record: Record, query_id: str) -> tuple[str | None, list[ShownPassage]]:
    """Return the query and the passages of a record's prompt; without a prompt, only the passages' ids."""
    ids, prompt = [str(each) for each in list_field(record, "docids")], text(record, "prompt")
    if prompt is None:
        return None, [ShownPassage(None, docid) for docid in ids]
    question, passages = split_prompt(prompt, query_id=query_id, where=record.where)
    if passages and len(passages) != len(ids):
        raise wrong(record, "docids", f"a list of {len(passages)} document ids", ids)
    parts: list[tuple[str | None, str | None]] = [split_title(passage) for passage in passages]
    parts = parts or [(None, None)] * len(ids)
    return question, [ShownPassage(text, docid, title) for docid, (title, text) in zip(ids, parts, strict=True)]


FORMAT = Format(*describe("nomiracl"), recognise=recognise, items=_items)
