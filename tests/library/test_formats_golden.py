"""Each format is read as recorded in `tests/golden/imports`: summary and tables, or the error and its advice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from golden.imports import FILES, cases, imported

from mirage.errors import MirageError
from mirage.io.imports.formats import read_file
from mirage.io.options import Options

CASES = [(file, number) for file in FILES for number in range(len(cases(file)))]


@pytest.mark.parametrize(("file", "number"), CASES, ids=[f"{file.stem}-{number}" for file, number in CASES])
def test_a_file_is_read_as_recorded(file: Path, number: int, tmp_path: Path) -> None:
    case = cases(file)[number]
    assert imported(case, tmp_path) == case["expected"]


NESTED = ("inspector", "nuggets_of_passages_metrics_and_banks", "reports_of_ragtime_and_neuclir", "trec_rag")


def members(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every object or list within a value, with each of its keys."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from members(inner)


@pytest.mark.parametrize("file", [file for file in FILES if file.stem in NESTED], ids=lambda file: file.stem)
def test_a_number_in_place_of_any_value_ends_in_no_traceback_pitfall_237(file: Path, tmp_path: Path) -> None:
    for case in cases(file):
        for name, content in case["files"].items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content, encoding="utf-8")
        name, options = case["path"], Options(**case.get("options", {}))
        records = [json.loads(line) for line in case["files"].get(name, "").splitlines()]
        for holder, key in [*members(records)]:
            kept, holder[key] = holder[key], 5
            (tmp_path / name).write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
            with suppress(MirageError):
                read_file(tmp_path / name, name=case.get("as"), options=options)
            holder[key] = kept
