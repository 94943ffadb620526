"""Each format is read as recorded in `tests/golden/imports`: summary and tables, or the error and its advice."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden.imports import FILES, cases, imported

CASES = [(file, number) for file in FILES for number in range(len(cases(file)))]


@pytest.mark.parametrize(("file", "number"), CASES, ids=[f"{file.stem}-{number}" for file, number in CASES])
def test_a_file_is_read_as_recorded(file: Path, number: int, tmp_path: Path) -> None:
    case = cases(file)[number]
    assert imported(case, tmp_path) == case["expected"]
