"""Test runs of DeepEval: test cases with their outputs and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput
from mirage.io.formats import shapes
from mirage.io.formats.build import Builder, Format
from mirage.io.formats.fields import first, number, system_of
from mirage.io.formats.logs import entries, first_name, members, plain_tags, read_passages
from mirage.io.formats.open import LOG, elements
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, Record, Sample, ShownPassage, Value

_CASES = (("testCases",), ("conversationalTestCases",), ("test_results",))
_LISTS = (*_CASES, *(("testRunData", *place) for place in _CASES))
_METRICS = ("metricsData", "metrics_data", "metricsMetadata")
_RETRIEVED = ("retrievalContext", "retrieval_context")
_MODELS = ("system", "model", "llm", "generator", "model name", "model_name")


def recognise(sample: Sample) -> str | None:
    """Detect a test run, also under `testRunData`, or its test cases."""
    for record in sample.records:
        run = members(record.get("testRunData")) or record
        if any(isinstance(run.get(place[0]), list) for place in _CASES[:2]):
            return "has testCases, as a test run of DeepEval"
        if isinstance(run.get("test_results"), list) or (
            record.keys() & set(_METRICS) and record.keys() & {"input", "turns", "name"}
        ):
            return "has test cases with metrics, as DeepEval"
    return None


def lines(file: Path) -> Iterator[tuple[Value, str]]:
    """Yield the test cases of a run with its hyperparameters, which follow them in the file."""
    run: dict[str, Any] = {}
    if store.kind(file) == ".json":
        for member in store.json_members(file, _LISTS):
            if member.place and member.place[-1] in ("hyperparameters", "configurations", "identifier"):
                run[member.place[-1]] = member.value
            elif member.place == ("testRunData",):
                run |= members(member.value)
    for value, where in elements(file, _LISTS):
        if LOG in value or not value.keys() & {"testFile", "testPassed"}:
            yield {**value, LOG: run}, where


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read a test case; its system is a hyperparameter of the run, else the file."""
    value = record.value
    asked = shapes.conversation(value.get("turns") or value.get("input"), "input", record.where)
    if not asked.question:
        raise BadInput("this test case has no input", where=record.where, do="map its field: --map THEIRS=input")
    expected = first(value, "expectedOutput", "expected_output", "expectedOutcome")
    given = first(value, "actualOutput", "actual_output")
    answer = asked.answer if given is None else shapes.text(given, "actual_output", record.where)
    system = _system(record, builder)
    metrics = [metric for metric in entries(first(value, *_METRICS)) if isinstance(metric, Mapping)]
    yield Item(
        asked.question,
        reference=shapes.text(expected, "expected_output", record.where),
        tags=plain_tags(first(value, "additionalMetadata", "additional_metadata", "metadata"), builder),
        turns=asked.turns,
        passages=_passages(record, builder),
        answers=[GivenAnswer(system, answer)],
        scores=[_score(metric, system, record.where) for metric in metrics],
    )


def _passages(record: Record, builder: Builder) -> list[ShownPassage]:
    """Return the retrieved passages; those of the ideal `context` among them are relevant."""
    value = record.value
    turns = map(members, reversed(entries(value.get("turns"))))
    given = next((found for held in (value, *turns) if (found := first(held, *_RETRIEVED)) is not None), None)
    found = read_passages([_plain(entry) for entry in entries(given)], record.where)
    ideal = {text for entry in entries(value.get("context")) if (text := shapes.readable_text(_plain(entry)))}
    if lacking := ideal - {passage.text for passage in found}:
        builder.left_out("context", "the system was not shown these ideal passages", len(lacking))
    return [replace(passage, relevant=True if passage.text in ideal else None) for passage in found]


def _plain(entry: Any) -> Any:
    return entry.get("context", entry) if isinstance(entry, Mapping) else entry


def _system(record: Record, builder: Builder) -> str:
    run = members(record.value.get(LOG))
    chosen = members(run.get("hyperparameters") or run.get("configurations"))
    name = first_name(chosen, _MODELS)
    model = chosen[name] if name is not None else None
    model = model.get("value") if isinstance(model, Mapping) else model
    system = system_of(record, builder, model)
    if system == model:
        builder.note_guess("system", f"named after the hyperparameter {name}; change it with --set system=NAME")
    return system


def _score(metric: Mapping[str, Any], system: str, where: str) -> GivenScore:
    name, judge = first(metric, "name", "metric"), first(metric, "evaluationModel", "evaluation_model")
    if not isinstance(name, str):
        raise BadInput("a metric has no name", where=where, do="save the run again with deepeval")
    why = str(metric.get("error") or "the metric gave no score")
    rater = judge if isinstance(judge, str) else "deepeval"
    return GivenScore(system, name, rater, number(metric.get("score")), reason=why)


FORMAT = Format(
    name="deepeval",
    title="DeepEval: test runs with their metrics",
    source="confident-ai/deepeval, deepeval/test_run/api.py at 08080fc (LLMApiTestCase, ConversationalApiTestCase) and "
    "deepeval/tracing/api.py (MetricData): the files of DEEPEVAL_RESULTS_FOLDER and .latest_test_run.json; "
    "metricsMetadata as at 004b651; EvaluationResult with names in snake case",
    gives=("queries", "turns", "tags", "references", "passages", "answers", "samples", "scores"),
    recognise=recognise,
    items=_items,
    further="runs",
    lists=_LISTS,
    lines=lines,
)
