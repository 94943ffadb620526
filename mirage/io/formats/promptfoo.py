"""Results of promptfoo: the answers of providers to prompts and test cases, with their assertions."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.build import Builder, Format, describe
from mirage.io.formats.fields import FIELDS, number, wrong
from mirage.io.formats.logs import (
    CONTEXTS,
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
from mirage.io.formats.spec import GivenAnswer, GivenScore, Item, Record, Sample, ShownPassage

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


def _items(record: Record, builder: Builder) -> Iterator[Item]:
    """Read the answer of a provider to the question among the variables of its test case."""
    value, where = record.value, record.where
    version = members(members(value.get(LOG)).get("results")).get("version")
    if version is not None and version not in _VERSIONS:
        known = f"{_VERSIONS[0]} to {_VERSIONS[-1]}"
        raise other_version("promptfoo", version, known, where, "export it again: promptfoo export eval ID")
    builder.omitted["config and env", "settings and keys of the run are not imported"] = 1
    if not value.keys() & {"response", "provider", "vars", "testCase"}:
        raise BadInput(
            "this is not a result of promptfoo: it has no provider, vars or response",
            where=where,
            do="use the output of promptfoo eval --output results.json",
        )
    variables = value.get("vars") or members(value.get("testCase")).get("vars") or {}
    if not isinstance(variables, Mapping):
        raise wrong(record, "vars", "an object", variables)
    found = read_question(value.get("question") or dict(variables))
    prompt = value.get("prompt")
    if found.question is None:
        found = read_question(prompt.get("raw") if isinstance(prompt, Mapping) else prompt)
        if found.question is None:
            there = ", ".join(map(str, variables)) or "none"
            do = "name it: --map vars.THEIRS=question"
            raise BadInput(f"no variable is a question; there are {there}", where=where, do=do)
        builder.note_guess("query", "no variable is a question by its name: the whole prompt is the query")
    reference, language = first_name(variables, FIELDS["reference"]), variables.get("language")
    system = _system(record, builder)
    yield Item(
        found.question,
        language=language if isinstance(language, str) else None,
        reference=readable_text(variables[reference]) if reference else None,
        turns=found.turns,
        passages=_passages(record, variables),
        answers=[_answer(value, system)],
        scores=list(_scores(value, system)),
    )


def _passages(record: Record, variables: Mapping[str, Any]) -> Sequence[ShownPassage]:
    """Return the passages among the variables, else those that an assertion on contexts was given."""
    if (name := first_name(variables, CONTEXTS)) is not None:
        return read_contexts(variables[name], record.where)
    for component in _components(record.value):
        if context := members(component.get("metadata")).get("context"):
            return read_passages([context] if isinstance(context, str) else context, record.where)
    return ()


def _system(record: Record, builder: Builder) -> str:
    """Return the provider, with the prompt's number from the second prompt on."""
    value = record.value
    if isinstance(named := value.get("system"), str) and named:
        return named
    provider = value.get("provider")
    if isinstance(provider, Mapping):
        provider = provider.get("label") or provider.get("id")
    if not isinstance(provider, str) or not provider.strip():
        raise BadInput("this result has no provider", where=record.where, do="name it: --set system=NAME")
    prompt = str(value.get("promptId") or members(value.get("prompt")).get("label") or value.get("promptIdx"))
    place = builder.number(provider, prompt)
    if place == 1:
        return provider
    builder.note_guess("system", "a provider with several prompts is a system for each: NAME, NAME prompt 2 ...")
    return f"{provider} prompt {place}"


def _answer(value: Mapping[str, Any], system: str) -> GivenAnswer:
    response = value.get("response")
    output = response.get("output") if isinstance(response, Mapping) else response
    text, thoughts = read_answer(output)
    if text is None and isinstance(output, Mapping | list) and output:
        text = json.dumps(output, ensure_ascii=False)
    error = value.get("error") or members(response).get("error")
    if text is None or (value.get("failureReason") == _ERROR and not text):
        return GivenAnswer(system, None, status="api_error" if error else "missing", reason=str(error or "no output"))
    return GivenAnswer(system, text, thoughts=thoughts)


def _components(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    parts = entries(members(value.get("gradingResult")).get("componentResults"))
    return [part for part in parts if isinstance(part, Mapping)]


def _scores(value: Mapping[str, Any], system: str) -> Iterator[GivenScore]:
    """Return the score of a result, and those of its assertions by metric or type; a repeated one is numbered."""
    if (score := number(value.get("score"))) is not None:
        yield GivenScore(system, "score", _RATER, score)
    seen: Counter[str] = Counter()
    for component in _components(value):
        about = members(component.get("assertion"))
        kind = str(about.get("type") or "assertion")
        name = str(about.get("metric") or kind)
        seen[name] += 1
        name = name if seen[name] == 1 else f"{name} {seen[name]}"
        score = None if members(component.get("metadata")).get("graderError") else number(component.get("score"))
        why = str(component.get("reason") or "the assertion gave no score")
        person = kind == "human"
        yield GivenScore(system, name, "human" if person else _RATER, score, person, reason=why)


FORMAT = Format(
    *describe("promptfoo"), recognise=recognise, items=_items, further="runs", lists=(("results", "results"),)
)
