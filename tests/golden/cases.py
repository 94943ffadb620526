"""Golden cases: files of this folder with a case a line."""

import json
from pathlib import Path
from typing import Any

import pytest


def read_golden(name: str) -> list[dict[str, Any]]:
    """Return the cases of a file."""
    file = Path(__file__).with_name(f"{name}.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def read_table(name: str) -> tuple[list[str], list[Any]]:
    """Return the names and the values of a file's cases, as `pytest.mark.parametrize` takes them; `case` is an id."""
    cases = read_golden(name)
    params = [pytest.param(*case.values(), id=label) for case in cases for label in [case.pop("case", None)]]
    return list(cases[0]), params


def read_pairs(name: str) -> dict[str, Any]:
    """Return the second value of each case by its first."""
    return dict(tuple(case.values()) for case in read_golden(name))
