"""Results of promptfoo: what each provider wrote for each test case, and what the assertions gave."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import rag
from mirage.io.formats.fields import number, wrong
from mirage.io.formats.logs import (
    CONTEXTS,
    Answers,
    entries,
    first_name,
    members,
    other_version,
    read_answer,
    read_contexts,
    read_passages,
    read_question,
)
from mirage.io.formats.open import LOG
from mirage.io.formats.shapes import readable_text
from mirage.io.formats.spec import Builder, Format, GivenAnswer, GivenScore, QueryKey, Record, Sample, ShownPassage

_RATER = "promptfoo"
_VERSIONS = (1, 2, 3, 4)
_ERROR = 2
"""`failureReason` of a call that failed, apart from a failed assertion (1)."""
_NAMES = ("promptIdx", "testIdx", "testCase")


def recognise(sample: Sample) -> str | None:
    """Detect a document with results of prompts and test cases, or the results one a line."""
    for record in sample.records:
        inner = members(record.get("results"))
        if isinstance(inner.get("results"), list) and {"stats", "prompts", "version"} & inner.keys():
            return "has results of prompts and test cases, as promptfoo"
        if record.keys() >= {*_NAMES, "prompt", "provider"}:
            return f"has prompt, provider, {', '.join(_NAMES)}, as promptfoo"
    return None


def read(records: Iterable[Record], builder: Builder) -> None:
    """Read each result as the answer of a provider to the question among the variables of its test case."""
    answers = Answers(builder, "runs")
    prompts: dict[str, dict[int, str]] = defaultdict(dict)
    for record in records:
        _check_version(record)
        _result(record, builder, answers, prompts)
    builder.left_out("config and env", "settings and keys of the run are not imported")


def _check_version(record: Record) -> None:
    version = members(members(record.value.get(LOG)).get("results")).get("version")
    if version is not None and version not in _VERSIONS:
        known = f"{_VERSIONS[0]} to {_VERSIONS[-1]}"
        raise other_version("promptfoo", version, known, record.where, "export it again: promptfoo export eval ID")


def _result(record: Record, builder: Builder, answers: Answers, prompts: dict[str, dict[int, str]]) -> None:
    value = record.value
    if not value.keys() & {"response", "provider", "vars", "testCase"}:
        raise BadInput(
            "this is no result of promptfoo: it has no provider, vars or response",
            where=record.where,
            do="use the output of promptfoo eval --output results.json",
        )
    variables = value.get("vars") or members(value.get("testCase")).get("vars") or {}
    if not isinstance(variables, Mapping):
        raise wrong(record, "vars", "an object", variables)
    query = _query(record, variables, builder)
    shown = builder.passages(query, _passages(record, variables), where=record.where)
    system = _system(record, prompts, builder)
    answer = _answer(value, system, shown)
    if answers.add(query, answer, where=record.where):
        for score in _scores(value, system):
            answers.score(query, score, where=record.where)


def _query(record: Record, variables: Mapping[str, Any], builder: Builder) -> QueryKey:
    found = read_question(record.value.get("question") or dict(variables))
    if found.question is None:
        found = read_question(_prompt(record.value))
        if found.question is not None:
            builder.note_guess("query", "no variable is a question by its name: the whole prompt is the query")
    if found.question is None:
        raise BadInput(
            f"no variable is a question; there are {', '.join(map(str, variables)) or 'none'}",
            where=record.where,
            do="name it: --map vars.THEIRS=question",
        )
    reference = first_name(variables, rag.FIELDS["reference"])
    language = variables.get("language") or record.value.get("language")
    return builder.query(
        found.question,
        where=record.where,
        language=language if isinstance(language, str) else None,
        reference=readable_text(variables[reference]) if reference else None,
        turns=found.turns,
    )


def _prompt(value: Mapping[str, Any]) -> Any:
    prompt = value.get("prompt")
    return prompt.get("raw") if isinstance(prompt, Mapping) else prompt


def _passages(record: Record, variables: Mapping[str, Any]) -> Sequence[ShownPassage]:
    """Return the passages among the variables, else those that an assertion on contexts was given."""
    if (name := first_name(variables, CONTEXTS)) is not None:
        given = variables[name]
        return read_contexts(given, record.where)
    for component in _components(record.value):
        if context := members(component.get("metadata")).get("context"):
            return read_passages([context] if isinstance(context, str) else context, record.where)
    return ()


def _system(record: Record, prompts: dict[str, dict[int, str]], builder: Builder) -> str:
    """Return the provider, with the prompt's number from the second prompt on."""
    value = record.value
    if isinstance(named := value.get("system"), str) and named:
        return named
    provider = value.get("provider")
    if isinstance(provider, Mapping):
        provider = provider.get("label") or provider.get("id")
    if not isinstance(provider, str) or not provider.strip():
        raise BadInput("this result has no provider", where=record.where, do="name it: --set system=NAME")
    index = value.get("promptIdx")
    prompt = _prompt_of(value, index)
    seen = prompts[provider]
    if prompt not in seen.values():
        seen[len(seen) + 1] = prompt
    place = next(number for number, text in seen.items() if text == prompt)
    if place == 1:
        return provider
    builder.note_guess("system", "a provider with several prompts is a system for each: NAME, NAME prompt 2 ...")
    return f"{provider} prompt {place}"


def _prompt_of(value: Mapping[str, Any], index: Any) -> str:
    """Return the key that distinguishes the prompts of a run: the id, the label, else the number."""
    prompt = value.get("prompt")
    label = prompt.get("label") if isinstance(prompt, Mapping) else None
    return str(value.get("promptId") or label or index)


def _answer(value: Mapping[str, Any], system: str, shown: Sequence[str]) -> GivenAnswer:
    response = value.get("response")
    output = response.get("output") if isinstance(response, Mapping) else response
    text, thoughts = read_answer(output)
    if text is None and isinstance(output, Mapping | list) and output:
        text = json.dumps(output, ensure_ascii=False)
    error = value.get("error") or (response.get("error") if isinstance(response, Mapping) else None)
    if text is None or (value.get("failureReason") == _ERROR and not text):
        return GivenAnswer(system, None, status="api_error" if error else "missing", reason=str(error or "no output"))
    return GivenAnswer(system, text, thoughts=thoughts, shown=shown)


def _components(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    components = members(value.get("gradingResult")).get("componentResults")
    return [entry for entry in entries(components) if isinstance(entry, Mapping)]


def _scores(value: Mapping[str, Any], system: str) -> Iterator[GivenScore]:
    """Return the score of a result, and those of its assertions by metric or type; a repeated one is numbered."""
    if (score := number(value.get("score"))) is not None:
        yield GivenScore(system, "score", _RATER, score, person=False)
    seen: dict[str, int] = defaultdict(int)
    for component in _components(value):
        about = members(component.get("assertion"))
        kind = str(about.get("type") or "assertion")
        name = str(about.get("metric") or kind)
        seen[name] += 1
        score = number(component.get("score"))
        if members(component.get("metadata")).get("graderError"):
            score = None
        yield GivenScore(
            system,
            name if seen[name] == 1 else f"{name} {seen[name]}",
            "human" if kind == "human" else _RATER,
            score,
            person=kind == "human",
            reason=None if score is not None else str(component.get("reason") or "the assertion gave no score"),
        )


FORMAT = Format(
    name="promptfoo",
    title="promptfoo: results of prompts, providers and test cases, with assertions",
    source="promptfoo/promptfoo, src/types/index.ts at 0011eb0 (EvaluateSummaryV3, EvaluateSummaryV2, EvaluateResult, "
    "GradingResult): the file of promptfoo eval --output, as .json or .jsonl",
    gives=("queries", "turns", "references", "passages", "answers", "samples", "scores"),
    recognise=recognise,
    read=read,
    lists=(("results", "results"),),
)
