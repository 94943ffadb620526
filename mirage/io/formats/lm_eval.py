"""Samples that EleutherAI's lm-evaluation-harness logs: `samples_TASK_TIME.jsonl`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import rag
from mirage.io.formats.fields import number
from mirage.io.formats.logs import Answers, first_name, members, read_contexts, read_question, stem
from mirage.io.formats.shapes import parse_json, readable_text
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenScore, QueryKey, Record, Sample, Value
from mirage.io.formats.values import identifier

_RATER = "lm-eval"
_FIELDS = ("doc_id", "doc", "arguments", "resps")
_FILE = re.compile(r"samples_(.+?)_\d{4}-\d\d-\d\dT[\d.:-]+$")
_NO_FILTER = "none"


def recognise(sample: Sample) -> str | None:
    """Detect samples by their document, arguments and responses."""
    return f"has {', '.join(_FIELDS)}, as lm-eval" if sample.fields >= set(_FIELDS) else None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each sample as an answer; the system is named after the folder of a model, else the file."""
    answers = Answers(builder)
    for record in records:
        _sample(record, builder, answers)


def _sample(record: Record, builder: Builder, answers: Answers) -> None:
    value = record.value
    document = members(value.get("doc"))
    calls = _calls(value.get("arguments"))
    found = read_question({name: entry for name, entry in document.items() if name in _ASKED})
    if found.question is None and calls:
        found = read_question(calls[0][0])
        builder.note_guess("query", "no field of doc is a question by its name: the prompt is the query")
    if found.question is None:
        raise BadInput(
            f"no question in doc or arguments; doc has {', '.join(map(str, document)) or 'no fields'}",
            where=record.where,
            do="name it: --map doc.THEIRS=question",
        )
    query = builder.query(
        value["question"] if isinstance(value.get("question"), str) else found.question,
        where=record.where,
        query_id=_query_id(record, builder),
        language=_text(value.get("language") or document.get("language")),
        reference=_target(value.get("target")),
        turns=found.turns,
    )
    name = first_name(document, rag.FIELDS["contexts"])
    given = document[name] if name else None
    passages = read_contexts(given, record.where)
    shown = builder.passages(query, passages, where=record.where)
    system = _system(record, builder)
    texts = _answers(value, calls, builder)
    if not texts:
        builder.left_out("samples without a text", "they hold likelihoods of a single continuation")
        return
    if answers.add_runs(query, [GivenAnswer(system, text, shown=shown) for text in texts], where=record.where):
        _rate(record, query, system, answers)


_ASKED = (*rag.FIELDS["question"], "problem", "q")


def _calls(arguments: Any) -> list[tuple[Any, Any]]:
    """Return context and continuation, or the options of generation, of each request."""
    if isinstance(arguments, Mapping):
        arguments = [list(entry.values()) if isinstance(entry, Mapping) else entry for entry in arguments.values()]
    calls = []
    for entry in arguments if isinstance(arguments, list) else ():
        parts = entry if isinstance(entry, list) and entry else [entry]
        calls.append((parse_json(parts[0]), parts[1] if len(parts) > 1 else None))
    return calls


def _answers(value: Value, calls: Sequence[tuple[Any, Any]], builder: Builder) -> list[str]:
    """Return the responses, with all repeats, or the most likely continuation; empty if there is no text."""
    responses = value.get("resps")
    first = responses[0] if isinstance(responses, list) and responses else responses
    texts = [entry for entry in (first if isinstance(first, list) else [first]) if isinstance(entry, str)]
    if texts:
        return texts
    likely = [_likelihood(entry) for entry in responses or ()] if isinstance(responses, list) else []
    if len(likely) < 2 or len(likely) != len(calls) or None in likely:
        return []
    best = max(range(len(likely)), key=lambda place: likely[place] or 0.0)
    builder.note_guess("answers", "of a multiple choice, the most likely continuation is the answer")
    return [calls[best][1].strip()] if isinstance(calls[best][1], str) else []


def _likelihood(entry: Any) -> float | None:
    while isinstance(entry, list) and entry:
        entry = entry[0]
    return number(entry)


def _target(target: Any) -> str | None:
    return readable_text(target[0] if isinstance(target, list) and target else target)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _query_id(record: Record, builder: Builder) -> str | None:
    """Return the document's id, which is unique in its task, with the task's name."""
    place = identifier(record.value.get("doc_id"), "doc_id", record.where)
    named = _FILE.match(stem_of(record.where.rpartition(":")[0] or record.where))
    if named is None:
        builder.note_guess("task", "the file is not named samples_TASK_TIME.jsonl: doc_id alone is the id of a query")
    return f"{named[1]}:{place}" if named and place else place


@lru_cache(maxsize=64)
def stem_of(file: str) -> str:
    """Return a file's name without `.jsonl`; its timestamp may contain dots."""
    name = PurePath(file).name
    return re.sub(r"\.jsonl?(?:\.gz|\.zst)?$", "", name)


@lru_cache(maxsize=64)
def _folder_of(file: str) -> str:
    """Return the name of a file's folder."""
    return PurePath(file).parent.name


def _system(record: Record, builder: Builder) -> str:
    for name in ("system", "model", "model_name"):
        if isinstance(named := record.value.get(name), str) and named:
            return named
    folder = _folder_of(record.where.rpartition(":")[0])
    name = folder.replace("__", "/") if "__" in folder else folder or stem(record.where)
    builder.note_guess("system", f"named {name} after the folder of the samples; change it with --set system=NAME")
    return name


def _rate(record: Record, query: QueryKey, system: str, answers: Answers) -> None:
    """Pass the metrics of a sample; those of a filter have its name behind a comma, as in lm-eval's results."""
    value = record.value
    names = value.get("metrics")
    names = names if isinstance(names, list) else [name for name in value if name in ("exact_match", "acc", "f1")]
    chosen = value.get("filter")
    for name in map(str, names):
        score = value.get(name)
        result = float(score) if isinstance(score, bool) else number(score)
        answers.score(
            query,
            GivenScore(
                system,
                str(name) if chosen in (None, "", _NO_FILTER) else f"{name},{chosen}",
                _RATER,
                result,
                person=False,
                reason=None if result is not None else "the metric is no number for a single sample",
            ),
            where=record.where,
        )


FORMAT = Format(
    name="lm-eval",
    title="lm-evaluation-harness: logged samples",
    source="EleutherAI/lm-evaluation-harness, lm_eval/evaluator.py and loggers/evaluation_tracker.py: the lines of "
    "samples_TASK_TIME.jsonl in the folder of a model, as --log_samples writes them",
    gives=("queries", "turns", "references", "passages", "answers", "samples", "scores"),
    recognise=recognise,
    read=read,
)
