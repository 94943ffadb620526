"""Samples that EleutherAI's lm-evaluation-harness logs: `samples_TASK_TIME.jsonl`."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import FIELDS, SYSTEM, first, has_fields, number
from mirage.io.formats.logs import entries, members, read_facts, read_question
from mirage.io.formats.shapes import parse_json
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, Record, Value
from mirage.io.values import identifier

_FILE = re.compile(r"samples_(.+?)_\d{4}-\d\d-\d\dT[\d.:-]+$")
_ASKED = (*FIELDS["question"], "problem", "q")
_METRICS = ("exact_match", "acc", "f1")


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read a sample; the system is named after the folder of a model, else the file."""
    value = record.value
    document, calls = members(value.get("doc")), _calls(value.get("arguments"))
    found = read_question({name: entry for name, entry in document.items() if name in _ASKED})
    if found.question is None and calls:
        found = read_question(calls[0][0])
        builder.note_guess("query", "no field of doc is a question by its name: the prompt is the query")
    if found.question is None:
        there = ", ".join(map(str, document)) or "no fields"
        do = "name it: --map doc.THEIRS=question"
        raise BadInput(f"no question in doc or arguments; doc has {there}", where=record.where, do=do)
    task, folder, file = _place(record.where.rpartition(":")[0])
    query_id = identifier(value.get("doc_id"), "doc_id", record.where)
    if task is None:
        why = "the file is not named samples_TASK_TIME.jsonl: doc_id alone is the id of a query"
        builder.note_guess("task", why)
    system = first(value, *SYSTEM)
    if not isinstance(system, str):
        system = folder.replace("__", "/") or file or "system"
        builder.note_guess(
            "system", f"named {system} after the folder of the samples; change it with --set system=NAME"
        )
    texts = _answers(value, calls, builder)
    if not texts:
        builder.left_out("samples without a text", "they hold likelihoods of a single continuation")
    question, facts = value.get("question"), read_facts(document, value.get("target"), record.where)
    if value.get("language"):
        facts["language"] = None
    yield Item(
        question if isinstance(question, str) else found.question,
        # A document's id is unique in its task.
        query_id=f"{task}:{query_id}" if task and query_id else query_id,
        turns=found.turns,
        answers=[GivenAnswer(system, text) for text in texts],
        scores=list(_scores(value, system)) if texts else (),
        **facts,
    )


def _calls(arguments: Any) -> list[tuple[Any, Any]]:
    """Return context and continuation, or the options of generation, of each request."""
    if isinstance(arguments, Mapping):
        arguments = [list(entry.values()) if isinstance(entry, Mapping) else entry for entry in arguments.values()]
    parts = (entry if isinstance(entry, list) and entry else [entry] for entry in entries(arguments))
    return [(parse_json(first), rest[0] if rest else None) for first, *rest in parts]


def _answers(value: Value, calls: list[tuple[Any, Any]], builder: Builder) -> list[str]:
    """Return the responses, with all repeats, or the most likely continuation; empty if there is no text."""
    responses = value.get("resps")
    first = responses[0] if isinstance(responses, list) and responses else responses
    if texts := [entry for entry in (first if isinstance(first, list) else [first]) if isinstance(entry, str)]:
        return texts
    likely = [_likelihood(entry) for entry in entries(responses)]
    if len(likely) < 2 or len(likely) != len(calls) or None in likely:
        return []
    best = calls[max(range(len(likely)), key=lambda place: likely[place] or 0.0)][1]
    builder.note_guess("answers", "of a multiple choice, the most likely continuation is the answer")
    return [best.strip()] if isinstance(best, str) else []


def _likelihood(entry: Any) -> float | None:
    while isinstance(entry, list) and entry:
        entry = entry[0]
    return number(entry)


@lru_cache(maxsize=64)
def _place(file: str) -> tuple[str | None, str, str]:
    """Return the task of a file of samples, its folder, and its name; the time in the name may contain dots."""
    path = PurePath(file)
    name = re.sub(r"\.jsonl?(?:\.gz|\.zst)?$", "", path.name)
    task = _FILE.match(name)
    return task[1] if task else None, path.parent.name, name


def _scores(value: Value, system: str) -> Iterator[GivenScore]:
    """Return the metrics of a sample; those of a filter have its name behind a comma, as in lm-eval's results."""
    named, chosen = value.get("metrics"), value.get("filter")
    for name in map(str, named) if isinstance(named, list) else [name for name in value if name in _METRICS]:
        score = value.get(name)
        result = float(score) if isinstance(score, bool) else number(score)
        measure = name if chosen in (None, "", "none") else f"{name},{chosen}"
        yield GivenScore(system, measure, "lm-eval", result, reason="the metric is not a number for a single sample")


FORMAT = Format(
    *describe("lm-eval"),
    recognise=has_fields("doc_id", "doc", "arguments", "resps", of="lm-eval"),
    items=_items,
    further="texts",
)
