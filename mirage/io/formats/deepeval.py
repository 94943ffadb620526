"""Test runs of DeepEval: test cases with their outputs and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mirage import store
from mirage.errors import BadInput
from mirage.io.formats import shapes
from mirage.io.formats.fields import number
from mirage.io.formats.logs import (
    Answers,
    entries,
    first_name,
    members,
    plain_tags,
    read_passages,
    stem,
)
from mirage.io.formats.open import LOG, elements
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenScore, Record, Sample, ShownPassage, Value

_CASES = (("testCases",), ("conversationalTestCases",), ("test_results",))
_LISTS = (*_CASES, *(("testRunData", *place) for place in _CASES))
_METRICS = ("metricsData", "metrics_data", "metricsMetadata")
_OUTPUT = ("actualOutput", "actual_output")
_EXPECTED = ("expectedOutput", "expected_output", "expectedOutcome")
_RETRIEVED = ("retrievalContext", "retrieval_context")
_MODELS = ("system", "model", "llm", "generator", "model name", "model_name")
_RATER = "deepeval"


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
                run |= member.value if isinstance(member.value, Mapping) else {}
    for value, where in elements(file, _LISTS):
        if LOG in value or not value.keys() & {"testFile", "testPassed"}:
            yield {**value, LOG: run}, where


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each test case as one answer; the system is a hyperparameter of the run, else the file."""
    answers = Answers(builder, "runs")
    for record in records:
        _case(record, builder, answers)


def _case(record: Record, builder: Builder, answers: Answers) -> None:
    value = record.value
    asked = shapes.conversation(value.get("turns") or value.get("input"), "input", record.where)
    if not asked.question:
        raise BadInput(
            "this test case has no input",
            where=record.where,
            do="map its field: --map THEIRS=input",
        )
    language = value.get("language")
    query = builder.query(
        asked.question,
        where=record.where,
        language=language if isinstance(language, str) else None,
        reference=shapes.text(_first(value, *_EXPECTED), "expected_output", record.where),
        tags=plain_tags(_first(value, "additionalMetadata", "additional_metadata", "metadata"), builder) or None,
        turns=asked.turns,
    )
    shown = builder.passages(query, _passages(record, builder), where=record.where)
    system = _system(record, builder)
    given = _first(value, *_OUTPUT)
    text = asked.answer if given is None else shapes.text(given, "actual_output", record.where)
    if not answers.add(query, GivenAnswer(system, text, shown=shown), where=record.where):
        return
    for metric in entries(_first(value, *_METRICS)):
        if isinstance(metric, Mapping):
            answers.score(query, _score(metric, system, record), where=record.where)


def _passages(record: Record, builder: Builder) -> list[ShownPassage]:
    """Return the retrieved passages; those of the ideal `context` among them are relevant."""
    value = record.value
    given = _first(value, *_RETRIEVED)
    if given is None:
        turns = [turn for turn in entries(value.get("turns")) if isinstance(turn, Mapping)]
        given = next((_first(turn, *_RETRIEVED) for turn in reversed(turns) if _first(turn, *_RETRIEVED)), None)
    found = read_passages([_plain(entry) for entry in entries(given)], record.where)
    ideal = {text for entry in entries(value.get("context")) if (text := shapes.readable_text(_plain(entry)))}
    if lacking := ideal - {passage.text for passage in found}:
        builder.left_out("context", "the system was not shown these ideal passages", len(lacking))
    return [ShownPassage(p.text, p.passage_id, p.title, True if p.text in ideal else None, p.url) for p in found]


def _plain(entry: Any) -> Any:
    return entry.get("context", entry) if isinstance(entry, Mapping) else entry


def _system(record: Record, builder: Builder) -> str:
    if isinstance(named := record.value.get("system"), str) and named:
        return named
    run = record.value.get(LOG) or {}
    chosen = run.get("hyperparameters") or run.get("configurations") or {}
    name = first_name(chosen, _MODELS) if isinstance(chosen, Mapping) else None
    model = chosen[name] if name is not None else None
    model = model.get("value") if isinstance(model, Mapping) else model
    if isinstance(model, str) and model.strip():
        builder.note_guess("system", f"named after the hyperparameter {name}; change it with --set system=NAME")
        return model
    system = stem(record.where)
    builder.note_guess("system", f"the run has no hyperparameter model: named {system} after the file")
    return system


def _score(metric: Mapping[str, Any], system: str, record: Record) -> GivenScore:
    name = _first(metric, "name", "metric")
    if not isinstance(name, str):
        raise BadInput("a metric has no name", where=record.where, do="save the run again with deepeval")
    score = number(metric.get("score"))
    judge = _first(metric, "evaluationModel", "evaluation_model")
    return GivenScore(
        system,
        name,
        judge if isinstance(judge, str) else _RATER,
        score,
        person=False,
        reason=None if score is not None else str(metric.get("error") or "the metric gave no score"),
    )


def _first(value: Mapping[str, Any], *names: str) -> Any:
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)


FORMAT = Format(
    name="deepeval",
    title="DeepEval: test runs with their metrics",
    source="confident-ai/deepeval, deepeval/test_run/api.py at 08080fc (LLMApiTestCase, ConversationalApiTestCase) and "
    "deepeval/tracing/api.py (MetricData): the files of DEEPEVAL_RESULTS_FOLDER and .latest_test_run.json; "
    "metricsMetadata as at 004b651; EvaluationResult with names in snake case",
    gives=("queries", "turns", "tags", "references", "passages", "answers", "samples", "scores"),
    recognise=recognise,
    read=read,
    lists=_LISTS,
    lines=lines,
)
