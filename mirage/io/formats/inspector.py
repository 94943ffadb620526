"""Files of InspectorRAGet: models, metrics, documents, tasks and evaluations in one JSON object."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import rag, shapes
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import first, number
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, Record, Sample, ShownPassage, load_names
from mirage.io.options import inner

_LISTS = ("models", "tasks")
_RESULTS = ("evaluations", "results")
_TASK = frozenset(load_names("inspector")["task"])


def recognise(sample: Sample) -> str | None:
    """Detect a file that is one object with models, tasks and evaluations."""
    for record in sample.records:
        results = next((name for name in _RESULTS if isinstance(record.get(name), list)), None)
        if results and all(isinstance(record.get(name), list) for name in _LISTS):
            return f"has models, tasks and {results}"
    return None


@dataclass(frozen=True, slots=True)
class _Scale:
    """Meaning of a metric's values."""

    person: bool = False
    low: float | None = None
    high: float | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read an object as a file of its own: its tasks, then each with an answer; an invalid part is one error."""
    documents = {str(row.get("document_id")): row for _, row in _rows(record, "documents")}
    scales = {str(_need(metric, "name", where)): _scale(metric) for where, metric in _rows(record, "metrics")}
    if any(str(model.get("model_id")) == "reference" for _, model in _rows(record, "models")):
        why = "the model reference was rated with the others, so it is a system as well as the reference"
        builder.note_guess("system", why)
    if any(metric.get("description") for _, metric in _rows(record, "metrics")):
        builder.left_out("metrics.description", "an arena keeps the names and the ends of scales")
    tasks: dict[str, Item | None] = {}
    for where, row in _rows(record, "tasks"):
        try:
            name = str(_need(row, "task_id", where)).strip()
            tasks[name] = None
            language = row.get("language") or record.value.get("language")
            task = replace(_task(where, row, documents, builder), query_id=name, language=language)
            tasks[name] = task
            yield task
        except BadInput as error:
            builder.refuse(error)
    for where, row in _rows(record, *_RESULTS):
        try:
            name, system = (str(_need(row, name, where)).strip() for name in ("task_id", "model_id"))
            if name not in tasks:
                what = f"there is no task {name!r}"
                raise BadInput(what, where=where, do="use a task in the file's list of tasks")
            asked = tasks[name]
            if asked is None:
                builder.seen.add(where)
                continue
            passages = _passages(where, row, documents) if row.get("contexts") else asked.passages
            said = shapes.answer(first(row, "model_response", "output"), "output", where)
            answer = GivenAnswer(system, said.answer, thoughts=said.thoughts)
            scores = list(_scores(row, system, scales, builder))
            yield replace(asked, passages=passages, answers=[answer], scores=scores, where=where)
        except BadInput as error:
            builder.refuse(error)


def _rows(record: Record, *names: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the objects of the first of these lists, each with its location."""
    name = next((name for name in names if record.value.get(name)), names[0])
    rows = record.value.get(name) or []
    for index, row in enumerate(rows if isinstance(rows, list) else [rows]):
        where = f"{record.where}: {name}[{index}]"
        if not isinstance(row, Mapping):
            raise BadInput(f"{name} must be a list of objects", where=where, do="write one object each")
        yield where, row


def _scale(metric: Mapping[str, Any]) -> _Scale:
    values = [value for value in metric.get("values") or () if isinstance(value, Mapping)]
    numbers = {
        str(value.get("value")): parsed
        for value in values
        if (parsed := number(first(value, "numeric_value", "numericValue", "value"))) is not None
    }
    ends = sorted(numbers.values()) or [end for end in map(number, metric.get("range") or ()) if end is not None][:2]
    low, high = (ends[0], ends[-1]) if len(ends) > 1 else (None, None)
    return _Scale(metric.get("author") == "human", low, high, numbers)


def _task(where: str, task: Mapping[str, Any], documents: Mapping[str, Mapping[str, Any]], builder: Builder) -> Item:
    asked = shapes.conversation(task.get("input"), "input", where)
    if not asked.question:
        raise BadInput("this task has no input", where=where, do="add its conversation, or its question as a text")
    if asked.answer:
        builder.left_out("input", "turns after the last question")
    targets = [shapes.text(target, "targets", where) for target in task.get("targets") or ()]
    if targets[1:]:
        builder.left_out("targets", "a query has one reference answer: the first is kept", len(targets) - 1)
    return Item(
        asked.question,
        reference=next(iter(targets), None),
        tags=_tags(task),
        turns=asked.turns,
        passages=_passages(where, task, documents),
        where=where,
    )


def _passages(
    where: str, holder: Mapping[str, Any], documents: Mapping[str, Mapping[str, Any]]
) -> Sequence[ShownPassage]:
    """Return the contexts of a task or an answer; those listed in `context_relevance` are relevant."""
    rows = [
        {"document_id": context} if isinstance(context, str) else dict(context)
        for context in holder.get("contexts") or ()
    ]
    if not all(rows):
        raise BadInput(
            "a context has neither document_id nor text",
            where=where,
            do="use a document in the file's list of documents",
        )
    rows = [{**documents.get(str(row.get("document_id")), {}), **row} for row in rows]
    listed = inner(holder, ("annotations", "context_relevance", "system"))
    places = [k for k in listed if isinstance(k, int) and k in range(len(rows))] if isinstance(listed, list) else []
    told = bool(listed) and len(set(places)) == len(listed)
    return rag.shown_passages(rows, [k in places for k in range(len(rows))] if told else (), where, "contexts")


def _scores(
    row: Mapping[str, Any], system: str, scales: Mapping[str, _Scale], builder: Builder
) -> Iterator[GivenScore]:
    for measure, ratings in (first(row, "annotations", "scores") or {}).items():
        scale = scales.get(measure, _Scale())
        for rater, rating in ratings.items():
            given = rating.get("value") if isinstance(rating, Mapping) else rating
            if isinstance(rating, Mapping) and rating.keys() & {"timestamp", "duration"}:
                builder.left_out("timestamp, duration", "an arena does not store times of ratings")
            value = scale.numbers.get(str(given), number(given))
            why = f"the value is {given!r}, no number and none of the metric's values"
            yield GivenScore(system, measure, str(rater), value, scale.person, scale.low, scale.high, why)


def _need(row: Mapping[str, Any], name: str, where: str) -> Any:
    if row.get(name) in (None, ""):
        raise BadInput(f"this object has no {name}", where=where, do=f"add {name} to every object")
    return row[name]


def _tags(task: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return further fields of a task: texts, numbers or lists of them."""
    further = {name.strip(): value if isinstance(value, list) else [value] for name, value in task.items()}
    return {
        name: list(dict.fromkeys(str(value).strip() for value in values))
        for name, values in further.items()
        if name not in _TASK and all(isinstance(value, str | int | float) for value in values)
    }


FORMAT = Format(*describe("inspector"), recognise=recognise, items=_items)
