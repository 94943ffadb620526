"""Golden cases: files of this folder with a case a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_golden(name: str) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    file = Path(__file__).with_name(f"{name}.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def read_table(name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the names and the values of a file's cases, as `pytest.mark.parametrize` takes them."""
    cases = read_golden(name)
    return list(cases[0]), [tuple(case.values()) for case in cases]
