"""Logs of Inspect (UK AI Security Institute): archives `.eval`, and the same as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput
from mirage.io.formats import rag
from mirage.io.formats.fields import number
from mirage.io.formats.logs import (
    Answers,
    first_name,
    members,
    other_version,
    plain_tags,
    read_contexts,
    read_question,
    stem,
)
from mirage.io.formats.open import LOG, elements
from mirage.io.formats.shapes import readable_text, text, thoughts_of
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenScore, QueryKey, Record, Sample, Value
from mirage.io.formats.values import MOST_REPEATS, identifier

_VERSION = 2
_RATER = "inspect"
_HEADERS = ("header.json", "_journal/start.json", "start.json")
"""Members of an archive with its task and model: of a complete log, and of one still being written."""
_SAMPLES = "samples/"
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_ATTACHED = "attachment://"
_PEOPLE = ("human", "person")


def recognise(sample: Sample) -> str | None:
    """Detect an archive with samples and a header, a log as JSON, or its samples."""
    if any(name in sample.members for name in _HEADERS) or any(name.startswith(_SAMPLES) for name in sample.members):
        return "is an archive with a header and samples, as Inspect"
    for record in sample.records:
        if isinstance(record.get("eval"), Mapping) and "status" in record:
            return "has eval, status and version, as a log of Inspect"
        if record.keys() >= {"id", "epoch", "input", "target", "output"}:
            return "has samples with epoch, input, target and output, as Inspect"
    return None


def lines(file: Path) -> Iterator[tuple[Value, str]]:
    """Yield the samples of a log, each with the log's header as `log`."""
    if store.is_archive(file):
        names = store.archive_names(file)
        header = next((name for name in _HEADERS if name in names), None)
        if header is None:
            raise BadInput(
                "this archive has no header.json, so it is no log of Inspect",
                where=str(file),
                do="use the .eval file that inspect eval wrote",
            )
        head = next(value for _, value in store.archived_documents(file, lambda name: name == header))
        for name, value in store.archived_documents(
            file, lambda name: name.startswith(_SAMPLES) and name.endswith(".json")
        ):
            yield {**value, LOG: head}, f"{file}: {name}"
        return
    for value, where in elements(file, (("samples",),)):
        if LOG not in value and "eval" in value:
            raise BadInput(
                "this log has no samples: only its header was written",
                where=where,
                do="run inspect eval with --log-samples, and give that log",
            )
        yield value, where


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each sample as an answer of the log's model; its scores are those of Inspect's scorers."""
    answers = Answers(builder, "runs")
    for record in records:
        head = members(record.value.get(LOG))
        version = head.get("version")
        if version is not None and version != _VERSION:
            known = f"{_VERSION}"
            do = "write it again with a current Inspect: inspect log convert --to json --output-dir DIR LOG"
            raise other_version("Inspect", version, known, record.where, do)
        if head.get("status") not in (None, "success"):
            builder.note_guess("status", f"the run has the status {head['status']}: its samples so far are read")
        _sample(record, head, builder, answers)


def _sample(record: Record, head: Mapping[str, Any], builder: Builder, answers: Answers) -> None:
    value, attached = record.value, record.value.get("attachments")
    spec, metadata = members(head.get("eval")), members(value.get("metadata"))
    question = read_question(_resolve(value.get("input"), attached))
    if question.question is None:
        raise BadInput("this sample has no input", where=record.where, do="map its field: --map THEIRS=input")
    query = builder.query(
        question.question,
        where=record.where,
        query_id=_query_id(record, spec),
        language=metadata["language"] if isinstance(metadata.get("language"), str) else None,
        reference=_reference(value.get("target")),
        tags=plain_tags(
            {name: entry for name, entry in metadata.items() if name not in (*rag.FIELDS["contexts"], "language")},
            builder,
        )
        or None,
        turns=question.turns,
    )
    if value.get("choices"):
        builder.left_out("choices", "an arena has no table of choices")
    if value.get("events"):
        builder.left_out("events", "an arena has no table of the steps of an agent")
    name = first_name(metadata, rag.FIELDS["contexts"])
    shown: Sequence[str] = ()
    if name is not None:
        given = metadata[name]
        found = read_contexts(given, record.where)
        shown = builder.passages(query, found, where=record.where)
    system = _system(record, spec, builder)
    epoch = value.get("epoch")
    run = epoch - 1 if isinstance(epoch, int) and 0 < epoch <= MOST_REPEATS else None
    if answers.add(query, _answer(record, attached, system, shown), where=record.where, run=run):
        _rate(record, query, system, answers)


def _query_id(record: Record, spec: Mapping[str, Any]) -> str | None:
    """Return the sample's id, which is unique in its task, with the task's name."""
    sample_id, task = identifier(record.value.get("id"), "id", record.where), spec.get("task")
    return f"{task}:{sample_id}" if isinstance(task, str) and task and sample_id else sample_id


def _reference(target: Any) -> str | None:
    """Return the target; of several the first."""
    return readable_text(target[0] if isinstance(target, list) and target else target)


def _resolve(value: Any, attached: Any) -> Any:
    """Return a value with the texts that the sample keeps beside it as attachments."""
    if not isinstance(attached, Mapping) or not attached:
        return value
    if isinstance(value, str):
        return attached.get(value.removeprefix(_ATTACHED), value) if value.startswith(_ATTACHED) else value
    if isinstance(value, list):
        return [_resolve(entry, attached) for entry in value]
    if isinstance(value, Mapping):
        return {name: _resolve(entry, attached) for name, entry in value.items()}
    return value


def _system(record: Record, spec: Mapping[str, Any], builder: Builder) -> str:
    output = record.value.get("output")
    named = (
        record.value.get("system")
        or spec.get("model")
        or (output.get("model") if isinstance(output, Mapping) else None)
    )
    if isinstance(named, str) and named:
        return named
    system = stem(record.where)
    builder.note_guess("system", f"the log names no model: named {system} after the file")
    return system


def _answer(record: Record, attached: Any, system: str, shown: Sequence[str]) -> GivenAnswer:
    value = record.value
    output = members(value.get("output"))
    choices = output.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    message = choice.get("message")
    content = _resolve(message.get("content") if isinstance(message, Mapping) else output.get("completion"), attached)
    said = text(content, "output", record.where)
    error = value.get("error")
    if error and not said:
        reason = error.get("message") if isinstance(error, Mapping) else error
        return GivenAnswer(system, None, status="api_error", reason=str(reason), shown=shown)
    if said is None:
        return GivenAnswer(system, None, shown=shown)
    cut = choice.get("stop_reason") in ("max_tokens", "model_length") and bool(said.strip())
    return GivenAnswer(system, said, status="truncated" if cut else None, thoughts=thoughts_of(content), shown=shown)


def _rate(record: Record, query: QueryKey, system: str, answers: Answers) -> None:
    """Pass the scores of a sample, one of each scorer, or one of each of its values."""
    single = record.value.get("score")
    scores = record.value.get("scores") or ({"score": single} if single else {})
    for scorer, score in scores.items() if isinstance(scores, Mapping) else ():
        given = score.get("value") if isinstance(score, Mapping) else score
        parts = given if isinstance(given, Mapping) else {"": given}
        for part, value in parts.items():
            grade = _GRADES.get(value) if isinstance(value, str) else None
            result = float(value) if isinstance(value, bool) else number(value) if grade is None else grade
            person = str(scorer).lower().startswith(_PEOPLE)
            answers.score(
                query,
                GivenScore(
                    system,
                    f"{scorer} {part}".strip(),
                    "human" if person else _RATER,
                    result,
                    person=person,
                    reason=None if result is not None else f"the value is {value!r}, no number and no grade",
                ),
                where=record.where,
            )


FORMAT = Format(
    name="inspect",
    title="Inspect: logs of evaluations, `.eval` or JSON",
    source="UKGovernmentBEIS/inspect_ai, src/inspect_ai/log/_log.py (EvalLog, EvalSample) and _recorders/eval.py, and "
    "tests/log/test_eval_log/log_read_sample.json at 62d91db; grades C, P, I and N are 1, 0.5, 0 and 0, as in its "
    "value_to_float",
    gives=("queries", "turns", "tags", "references", "passages", "documents", "answers", "samples", "scores"),
    recognise=recognise,
    read=read,
    lists=(("samples",),),
    lines=lines,
)
