"""Files of InspectorRAGet: models, metrics, documents, tasks and evaluations in one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import shapes
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import number
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, Record, Sample, ShownPassage

_LISTS = ("models", "tasks")
_RESULTS = ("evaluations", "results")
_TASK = frozenset(
    {"task_id", "task_type", "input", "contexts", "targets", "annotations", "comments", "flagged", "tools", "language"}
)


def recognise(sample: Sample) -> str | None:
    """Detect a file that is one object with models, tasks and evaluations."""
    for record in sample.records:
        results = next((name for name in _RESULTS if isinstance(record.get(name), list)), None)
        if results and all(isinstance(record.get(name), list) for name in _LISTS):
            return f"has models, tasks and {results}"
    return None


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read an object as a file of its own."""
    return _File(record, builder).items()


@dataclass(frozen=True, slots=True)
class _Scale:
    """Meaning of a metric's values."""

    person: bool
    low: float | None
    high: float | None
    numbers: Mapping[str, float]


@dataclass(slots=True)
class _File:
    """One file while reading."""

    record: Record
    builder: Builder
    tasks: dict[str, Item | None] = field(default_factory=dict)
    """By id; None for an invalid task."""
    documents: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """By id."""

    def items(self) -> Iterator[Item]:
        """Yield the tasks, then each with an answer."""
        self.documents = {str(row.get("document_id")): row for _, row in self._rows("documents")}
        for where, task in self._rows("tasks"):
            with self._gathering():
                yield self._task(where, task)
        scales = dict(self._scales())
        if any(metric.get("description") for _, metric in self._rows("metrics")):
            self.builder.left_out("metrics.description", "an arena keeps the names and the ends of scales")
        references = {str(model.get("model_id")) for _, model in self._rows("models")} & {"reference"}
        for name in references:
            self.builder.note_guess(
                "system", f"the model {name} was rated with the others, so it is a system as well as the reference"
            )
        for where, evaluation in self._rows(*_RESULTS):
            with self._gathering():
                if (item := self._evaluation(where, evaluation, scales)) is not None:
                    yield item

    @contextmanager
    def _gathering(self) -> Iterator[None]:
        """Collect the errors of one object, and continue with the next."""
        try:
            yield
        except BadInput as error:
            self.builder.refuse(error)

    def _rows(self, *names: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Return the objects of the first of these lists, each with its location."""
        name = next((name for name in names if self.record.value.get(name)), names[0])
        rows = self.record.value.get(name) or []
        for index, row in enumerate(rows if isinstance(rows, list) else [rows]):
            where = f"{self.record.where}: {name}[{index}]"
            if not isinstance(row, Mapping):
                raise BadInput(f"{name} must be a list of objects", where=where, do="write one object each")
            yield where, row

    def _scales(self) -> Iterator[tuple[str, _Scale]]:
        for where, metric in self._rows("metrics"):
            name = str(_need(metric, "name", where))
            values = [value for value in metric.get("values") or () if isinstance(value, Mapping)]
            numbers = {
                str(value.get("value")): parsed
                for value in values
                if (parsed := number(_any(value, "numeric_value", "numericValue", "value"))) is not None
            }
            ends = sorted(numbers.values()) or [
                end for end in map(number, (metric.get("range") or ())[:2]) if end is not None
            ]
            low, high = (ends[0], ends[-1]) if len(ends) > 1 else (None, None)
            yield name, _Scale(metric.get("author") == "human", low, high, numbers)

    def _task(self, where: str, task: Mapping[str, Any]) -> Item:
        task_id = str(_need(task, "task_id", where)).strip()
        self.tasks[task_id] = None
        asked = shapes.conversation(task.get("input"), "input", where)
        if not asked.question:
            raise BadInput("this task has no input", where=where, do="add its conversation, or its question as a text")
        if asked.answer:
            self.builder.left_out("input", "turns after the last question")
        targets = [shapes.text(target, "targets", where) for target in task.get("targets") or ()]
        if targets[1:]:
            self.builder.left_out("targets", "a query has one reference answer: the first is kept", len(targets) - 1)
        item = self.tasks[task_id] = Item(
            asked.question,
            query_id=task_id,
            language=task.get("language") or self.record.value.get("language"),
            reference=next(iter(targets), None),
            tags=_tags(task),
            turns=asked.turns,
            passages=self._passages(where, task),
            where=where,
        )
        return item

    def _passages(self, where: str, holder: Mapping[str, Any]) -> list[ShownPassage]:
        relevant = _relevant(holder)
        passages = []
        for k, context in enumerate(holder.get("contexts") or ()):
            row = {"document_id": context} if isinstance(context, str) else dict(context)
            name = row.get("document_id")
            row = {**self.documents.get(str(name), {}), **row}
            if not isinstance(row.get("text"), str) and name is None:
                raise BadInput(
                    "this context has neither document_id nor text",
                    where=f"{where}.contexts[{k}]",
                    do="use a document in the file's list of documents",
                )
            metadata = {key: value for key, value in row.items() if key not in ("document_id", "text", "title", "url")}
            passages.append(
                ShownPassage(
                    row.get("text"),
                    None if name is None else str(name),
                    row.get("title"),
                    None if relevant is None else k in relevant,
                    row.get("url"),
                    metadata or None,
                )
            )
        return passages

    def _evaluation(self, where: str, evaluation: Mapping[str, Any], scales: Mapping[str, _Scale]) -> Item | None:
        task_id = str(_need(evaluation, "task_id", where)).strip()
        system = str(_need(evaluation, "model_id", where)).strip()
        if task_id not in self.tasks:
            raise BadInput(f"there is no task {task_id!r}", where=where, do="use a task in the file's list of tasks")
        if (task := self.tasks[task_id]) is None:
            self.builder.seen.add(where)
            return None
        passages = self._passages(where, evaluation) if evaluation.get("contexts") else task.passages
        scores = []
        said = shapes.answer(_any(evaluation, "model_response", "output"), "output", where)
        for measure, ratings in (_any(evaluation, "annotations", "scores") or {}).items():
            scale = scales.get(measure) or _Scale(False, None, None, {})
            for rater, rating in ratings.items():
                given = rating.get("value") if isinstance(rating, Mapping) else rating
                value = scale.numbers.get(str(given), number(given))
                why = f"the value is {given!r}, no number and none of the metric's values"
                scores.append(GivenScore(system, measure, str(rater), value, scale.person, scale.low, scale.high, why))
                if isinstance(rating, Mapping) and rating.keys() & {"timestamp", "duration"}:
                    self.builder.left_out("timestamp, duration", "an arena does not store times of ratings")
        answer = GivenAnswer(system, said.answer, thoughts=said.thoughts)
        return replace(task, passages=passages, answers=[answer], scores=scores, where=where)


def _need(row: Mapping[str, Any], name: str, where: str) -> Any:
    if row.get(name) in (None, ""):
        raise BadInput(f"this object has no {name}", where=where, do=f"add {name} to every object")
    return row[name]


def _any(row: Mapping[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _tags(task: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return further fields of a task: texts, numbers or lists of them."""
    tags = {}
    for name, value in task.items():
        values = value if isinstance(value, list) else [value]
        if name not in _TASK and values and all(isinstance(v, str | int | float) for v in values):
            tags[name.strip()] = list(dict.fromkeys(str(v).strip() for v in values if str(v).strip()))
    return {name: values for name, values in tags.items() if values}


def _relevant(task: Mapping[str, Any]) -> set[int] | None:
    """Return the indices of the contexts in `context_relevance`; None if it has another form."""
    contexts = task.get("contexts") or ()
    listed = ((task.get("annotations") or {}).get("context_relevance") or {}).get("system")
    if not contexts or not isinstance(listed, list) or not listed:
        return None
    indices = [k for k in listed if isinstance(k, int) and 0 <= k < len(contexts)]
    return set(indices) if len(indices) == len(set(indices)) == len(listed) else None


FORMAT = Format(
    name="inspector",
    title="InspectorRAGet: tasks, answers and the ratings of single annotators",
    source="IBM/InspectorRAGet, src/types.ts at 10c65dd, and IBM/mt-rag-benchmark, mtrag-human/evaluations/"
    "reference_subset_with_human_evaluations.json. That context_relevance lists the indices of relevant contexts is "
    "read off that file, where it has as many as `# Relevant Passages`.",
    gives=("queries", "turns", "tags", "references", "passages", "documents", "answers", "scores"),
    recognise=recognise,
    items=_items,
)
