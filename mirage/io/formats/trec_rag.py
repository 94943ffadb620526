"""Answers in the format of the TREC RAG tracks: sentences with references."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import shapes
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import first, wrong
from mirage.io.formats.logs import members
from mirage.io.formats.spec import GivenAnswer, Item, Record, Sample, ShownPassage

_TOPIC_IDS = ("topic_id", "narrative_id", "request_id")
_TOPICS = ("topic", "narrative", "title", "problem_statement")
_SENTENCES = ("answer", "responses", "sentences")


def recognise(sample: Sample) -> str | None:
    """Detect records of sentences with references, a run and a topic, also under `metadata`."""
    for record in sample.records:
        head = _head(record)
        sentences = next((record[name] for name in _SENTENCES if isinstance(record.get(name), list)), None)
        named = head.get("run_id") is not None and any(head.get(name) is not None for name in _TOPIC_IDS)
        if named and sentences is not None and isinstance(record.get("references"), list):
            return "has run_id, a topic, references and an answer of sentences"
        if named and sentences and all(isinstance(s, Mapping) and {"text", "citations"} <= s.keys() for s in sentences):
            return "has run_id, a topic and a report of sentences with citations"
    return None


def _head(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return run and topic: of the record itself (2024), or of its `metadata` (since 2025)."""
    return {**value, **members(value.get("metadata"))}


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read the answer of one run to one topic."""
    head = _head(record.value)
    system, query_id = _require_name(record, head, "run_id"), _require_name(record, head, *_TOPIC_IDS)
    references = _references(record)
    places = {name: place for place, name in enumerate(dict.fromkeys(references), start=1)}
    answer = _text(record, references, places)
    topic, language = first(head, *_TOPICS), head.get("language")
    builder.note_guess("citations", "the numbers of a sentence's references are written behind it: `[1, 3]`")
    yield Item(
        str(topic) if topic else None,
        query_id=query_id,
        language=str(language) if language else None,
        passages=[ShownPassage(None, name) for name in places],
        answers=[GivenAnswer(system, answer, numbered=True)],
    )


def _require_name(record: Record, head: Mapping[str, Any], *names: str) -> str:
    value = first(head, *names)
    if value is None or not (name := str(value).strip()):
        do = f"map its field: --map THEIRS={names[0]}"
        raise BadInput(f"this record has no {names[0]}", where=record.where, do=do)
    return name


def _references(record: Record) -> list[str]:
    """Return the ids of the passages, in citation order; a report without a list cites them by id."""
    references = record.value.get("references")
    references = [] if references is None else list(references) if isinstance(references, Mapping) else references
    if not isinstance(references, list) or not all(isinstance(name, str | int) for name in references):
        raise wrong(record, "references", "a list of passage ids", references)
    return [str(name).strip() for name in references]


def _text(record: Record, references: list[str], places: dict[str, int]) -> str:
    """Return the sentences followed by their citations; cited passages missing in the list are added to `places`."""
    sentences = next((record.value[name] for name in _SENTENCES if record.value.get(name) is not None), None)
    if isinstance(sentences, str):
        return sentences
    if not isinstance(sentences, list):
        raise wrong(record, "answer", "a list of sentences with text and citations", sentences)
    parts = []
    for sentence in sentences:
        said = shapes.text(sentence, "answer", record.where) or ""
        cited = members(sentence).get("citations") or ()
        numbers = sorted(set(_places(record, cited, references, places)))
        parts.append(said + (f" [{', '.join(map(str, numbers))}]" if numbers else ""))
    return " ".join(parts)


def _places(record: Record, cited: Iterable[Any], references: list[str], places: dict[str, int]) -> Iterator[int]:
    """Yield the numbers of the cited passages, from 1: citations are indices from 0, ids, or scores by id."""
    for name in cited:
        if isinstance(name, int) and not isinstance(name, bool):
            if not 0 <= name < len(references):
                raise wrong(record, "citations", f"indices from 0 of the {len(references)} references", name)
            yield places[references[name]]
        elif isinstance(name, str):
            yield places.setdefault(name.strip(), len(places) + 1)
        else:
            raise wrong(record, "citations", "indices or ids of references", name)


FORMAT = Format(*describe("trec-rag"), recognise=recognise, items=_items)
