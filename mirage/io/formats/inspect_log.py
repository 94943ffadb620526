"""Logs of Inspect (UK AI Security Institute): archives `.eval`, and the same as JSON."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import FIELDS, number, system_of
from mirage.io.formats.logs import entries, members, other_version, plain_tags, read_facts, read_question
from mirage.io.formats.open import LOG, elements
from mirage.io.formats.shapes import text, thoughts_of
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, Record, Sample, Value
from mirage.io.values import MOST_REPEATS, identifier
from mirage.store.archives import archive_names, archived_documents, is_archive

_VERSION = 2
_HEADERS = ("header.json", "_journal/start.json", "start.json")
"""Members of an archive with its task and model: of a complete log, and of one still being written."""
_SAMPLES = "samples/"
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_ATTACHED = "attachment://"
_PEOPLE = ("human", "person")


def recognise(sample: Sample) -> str | None:
    """Detect an archive with samples and a header, a log as JSON, or its samples."""
    if any(name in _HEADERS or name.startswith(_SAMPLES) for name in sample.members):
        return "is an archive with a header and samples, as Inspect"
    for record in sample.records:
        if isinstance(record.get("eval"), Mapping) and "status" in record:
            return "has eval, status and version, as a log of Inspect"
        if record.keys() >= {"id", "epoch", "input", "target", "output"}:
            return "has samples with epoch, input, target and output, as Inspect"
    return None


def lines(file: Path) -> Iterator[tuple[Value, str]]:
    """Yield the samples of a log, each with the log's header as `log`."""
    if is_archive(file):
        names = archive_names(file)
        header = next((name for name in _HEADERS if name in names), None)
        if header is None:
            raise BadInput(
                "this archive has no header.json, so it is not a log of Inspect",
                where=str(file),
                do="use the .eval file that inspect eval wrote",
            )
        head = next(value for _, value in archived_documents(file, lambda name: name == header))
        for name, value in archived_documents(file, lambda name: name.startswith(_SAMPLES) and name.endswith(".json")):
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


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read a sample as an answer of the log's model; its scores are those of Inspect's scorers."""
    value, head = record.value, members(record.value.get(LOG))
    version, status = head.get("version"), head.get("status")
    if version is not None and version != _VERSION:
        do = "write it again with a current Inspect: inspect log convert --to json --output-dir DIR LOG"
        raise other_version("Inspect", version, f"{_VERSION}", record.where, do)
    if status not in (None, "success"):
        builder.note_guess("status", f"the run has the status {status}: its samples so far are read")
    question = read_question(_resolve(value.get("input"), value.get("attachments")))
    if question.question is None:
        raise BadInput("this sample has no input", where=record.where, do="map its field: --map THEIRS=input")
    for name, what in (("choices", "choices"), ("events", "the steps of an agent")):
        if value.get(name):
            builder.left_out(name, f"an arena has no table of {what}")
    log, metadata = members(head.get("eval")), members(value.get("metadata"))
    plain = {name: entry for name, entry in metadata.items() if name not in (*FIELDS["contexts"], "language")}
    sample_id, task = identifier(value.get("id"), "id", record.where), log.get("task")
    system = system_of(record, builder, log.get("model") or members(value.get("output")).get("model"))
    yield Item(
        question.question,
        # A sample's id is unique in its task.
        query_id=f"{task}:{sample_id}" if isinstance(task, str) and task and sample_id else sample_id,
        tags=plain_tags(plain, builder),
        turns=question.turns,
        answers=[_answer(record, system)],
        scores=list(_scores(value, system)),
        **read_facts(metadata, value.get("target"), record.where),
    )


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


def _answer(record: Record, system: str) -> GivenAnswer:
    value, output = record.value, members(record.value.get("output"))
    choice = members(next(iter(entries(output.get("choices"))), None))
    message = choice.get("message")
    content = message.get("content") if isinstance(message, Mapping) else output.get("completion")
    content = _resolve(content, value.get("attachments"))
    said = text(content, "output", record.where)
    error, epoch = value.get("error"), value.get("epoch")
    run = epoch - 1 if isinstance(epoch, int) and 0 < epoch <= MOST_REPEATS else 0
    if error and not said:
        reason = error.get("message") if isinstance(error, Mapping) else error
        return GivenAnswer(system, None, status="api_error", reason=str(reason), sample=run)
    cut = choice.get("stop_reason") in ("max_tokens", "model_length") and bool((said or "").strip())
    thoughts = None if said is None else thoughts_of(content)
    return GivenAnswer(system, said, status="truncated" if cut else None, thoughts=thoughts, sample=run)


def _scores(value: Mapping[str, Any], system: str) -> Iterator[GivenScore]:
    """Return the scores of a sample, one of each scorer, or one of each of its values."""
    single = value.get("score")
    for scorer, score in members(value.get("scores") or ({"score": single} if single else {})).items():
        given = score.get("value") if isinstance(score, Mapping) else score
        person = str(scorer).lower().startswith(_PEOPLE)
        for part, entry in (given if isinstance(given, Mapping) else {"": given}).items():
            grade = _GRADES.get(entry) if isinstance(entry, str) else None
            result = float(entry) if isinstance(entry, bool) else number(entry) if grade is None else grade
            why, rater = f"the value is {entry!r}, no number and no grade", "human" if person else "inspect"
            yield GivenScore(system, f"{scorer} {part}".strip(), rater, result, person, reason=why)


FORMAT = Format(
    *describe("inspect"), recognise=recognise, items=_items, further="runs", lists=(("samples",),), lines=lines
)
