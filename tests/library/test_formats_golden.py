"""Each format is read as recorded in `tests/golden/imports`: summary and tables, or the error and its advice."""

import json
import random
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


ODD = (None, 5, 1.5, True, "", "x", [], {}, [1], [None], {"a": 1}, [[]], [{}], "[", "{}", "\ud800", -1, {"text": 5})


def members(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every object or list within a value, with each of its keys."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from members(inner)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_value_of_another_type_is_read_or_refused_pitfall_237(file: Path, tmp_path: Path) -> None:
    draw = random.Random(file.stem)
    for case in cases(file):
        for name, content in case["files"].items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content, "utf-8")
        name, options = case["path"], Options(**case.get("options", {}))
        content = case["files"].get(name, "")
        try:
            records = [*map(json.loads, content.splitlines())] if "\n{" in content else [json.loads(content)]
        except ValueError:
            continue  # a table, a folder, or a damaged file
        places = [*members(records)]
        for holder, key in draw.sample(places, min(len(places), 12)):
            kept, holder[key] = holder[key], draw.choice(ODD)
            (tmp_path / name).write_text("\n".join(map(json.dumps, records)), "utf-8")
            with suppress(MirageError):
                read_file(tmp_path / name, name=case.get("as"), options=options)
            holder[key] = kept
