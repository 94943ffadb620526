"""Logs of other programs: each value of a file of their shape lands where it should, and a damaged one is refused with
the file, the field and what to do.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from docs_data_cases import LOG_BLOCKS
from golden import imports as golden
from golden.imports import cases

from mirage import store
from mirage.errors import BadInput
from mirage.io.formats import run
from mirage.io.imports.formats import FileImport, import_file, plan_file
from mirage.io.options import Options

ASK = "Which birds nest in the harbour of the island in spring?"
SAID = "Terns nest on the mole [1]."
PASSAGE = "Terns nest on the mole; gulls do not."
PROMPTFOO = "promptfoo_results_become_answers_of_providers_with_scores"
KEY = "sk-proj-abcdefghijklmnop0123456789"


def document(path: Path, value: Any, *, indent: int | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=indent), encoding="utf-8")
    return path


def taken(path: Path, into: Path, name: str, **options: Mapping[str, Any]) -> FileImport:
    """Import a file that must be recognised, and check the arena."""
    result = import_file(path, into, options=Options(**options) if options else None)
    assert result.summary.format == name
    store.check(result.arena)
    return result


def column(result: FileImport, table: str, name: str) -> list[Any]:
    return result.arena.read(table)[name].to_pylist()


def scores(result: FileImport) -> dict[tuple[str, str, str], float | None]:
    rows = result.arena.read("scores").to_pylist()
    return {(row["system"], row["measure"], row["rater"]): row["value"] for row in rows}


# OpenTelemetry


def example(name: str) -> Any:
    """Return the JSON document of a golden case."""
    (content,) = cases(Path(golden.__file__).with_name("imports") / f"{name}.json")[0]["files"].values()
    return json.loads(content)


def test_a_truncated_export_names_its_line(tmp_path: Path) -> None:
    path = document(tmp_path / "t.json", example("spans_of_openinference_and_openllmetry_are_read"), indent=1)
    path.write_text(path.read_text()[:-80])
    with pytest.raises(BadInput, match="not JSON") as refused:
        import_file(path, tmp_path / "arena", name="otel")
    assert refused.value.where.startswith(f"{path}:")


# Phoenix


def test_spans_of_phoenix_as_a_table(tmp_path: Path) -> None:
    rows = [
        {
            "name": "query",
            "span_kind": "CHAIN",
            "parent_id": None,
            "start_time": "2026-10-01",
            "status_code": "OK",
            "context.span_id": "s1",
            "context.trace_id": "t1",
            "attributes.input.value": ASK,
            "attributes.output.value": SAID,
            "attributes.llm.model_name": None,
            "attributes.retrieval.documents": None,
            "eval.Hallucination.score": 0.0,
        },
        {
            "name": "retrieve",
            "span_kind": "RETRIEVER",
            "parent_id": "s1",
            "start_time": "2026-10-02",
            "status_code": "OK",
            "context.span_id": "s2",
            "context.trace_id": "t1",
            "attributes.retrieval.documents": [{"document.content": PASSAGE, "document.score": 0.3}],
        },
        {
            "name": "llm",
            "span_kind": "LLM",
            "parent_id": "s1",
            "start_time": "2026-10-03",
            "status_code": "OK",
            "context.span_id": "s3",
            "context.trace_id": "t1",
            "attributes.llm.model_name": "gpt-4o",
        },
    ]
    pq.write_table(
        pa.Table.from_pylist(
            rows, pa.unify_schemas([pa.Table.from_pylist([row]).schema for row in rows], promote_options="permissive")
        ),
        tmp_path / "spans.parquet",
    )
    table = taken(tmp_path / "spans.parquet", tmp_path / "b", "phoenix")
    assert column(table, "answers", "text") == [SAID]
    assert column(table, "passages", "text") == [PASSAGE]
    assert scores(table) == {("gpt-4o", "Hallucination", "phoenix"): 0.0}


# Plans


def test_a_plan_has_the_fields_of_records_and_shows_no_key(tmp_path: Path) -> None:
    run_ = example(PROMPTFOO)
    run_["results"]["results"][0]["metadata"] = {"api_key": KEY}
    plan = plan_file(document(tmp_path / "results.json", run_))
    fields = {use.field: use.example for use in plan.fields}
    assert {"vars", "provider", "response", "metadata"} <= set(fields)
    assert "config" not in fields
    assert not any(KEY in example for example in fields.values())


# Large documents


def test_elements_of_a_long_document_are_read_one_by_one(tmp_path: Path) -> None:
    value = {"a": {"skip": [1, {"b": [2]}], "rows": [{"n": k, "text": "x" * 50} for k in range(40_000)], "z": None}}
    path = document(tmp_path / "long.json", value)
    members = list(store.json_members(path, [("a", "rows")]))
    rows = [member for member in members if member.place == ("a", "rows", "*")]
    assert [member.value["n"] for member in rows] == list(range(40_000))
    assert [(member.place, member.value) for member in members if member.place[-1:] != ("*",)] == [
        (("a", "skip"), value["a"]["skip"]),
        (("a", "z"), None),
        ((), None),
    ]
    assert "rows[39999]" in rows[-1].where


def test_a_large_log_is_recognised_by_its_beginning(tmp_path: Path) -> None:
    run_ = example(PROMPTFOO)
    first = run_["results"]["results"][0]
    run_["results"]["results"] = [first | {"vars": {"question": f"{ASK} {k} " + "x" * 1000}} for k in range(2_000)]
    path = document(tmp_path / "results.json", run_)
    assert path.stat().st_size > 4_000_000
    assert run.recognised(path)[0].format.name == "promptfoo"


# Values of another type

ODD = (None, 5, 1.5, True, "", "x", [], {}, [1], [None], {"a": 1}, [[]], [{}], "[", "{}", "\ud800", -1, {"text": 5})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values in a document."""
    yield path
    names = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for name in names:
        yield from places(value[name], (*path, name))


@pytest.mark.parametrize(("name", "content"), [(name, content) for kind, name, content in LOG_BLOCKS if kind == "json"])
def test_a_log_with_a_value_of_another_type_is_read_or_refused(tmp_path: Path, name: str, content: str) -> None:
    draw = random.Random(0)
    lines = [json.loads(line) for line in content.splitlines()] if name.endswith("l") else [json.loads(content)]
    path = tmp_path / Path(name).name
    path.write_text(content, encoding="utf-8")
    format_name = run.recognised(path)[0].format.name
    for _ in range(40):
        changed = copy.deepcopy(lines)
        *outer, last = draw.choice([place for place in places(changed) if len(place) > 1])
        inner: Any = changed
        for step in outer:
            inner = inner[step]
        inner[last] = draw.choice(ODD)
        path.write_text("".join(json.dumps(line) + "\n" for line in changed), encoding="utf-8")
        with suppress(BadInput):
            run.read(path, name=format_name)
