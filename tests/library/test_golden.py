"""The golden record of numbers: none changes without a reason (`tests/golden/record.py`), nor with the order of a set:
CI compares it under two hash seeds.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden import record

import mirage


@pytest.fixture(scope="module")
def arenas(module_path: Path) -> Iterator[dict[str, mirage.Arena]]:
    with record.no_votes(module_path):
        yield record.all_arenas(module_path)


@pytest.mark.parametrize("part", record.PARTS)
def test_no_number_differs_from_the_record(
    part: str, arenas: dict[str, mirage.Arena], request: pytest.FixtureRequest
) -> None:
    """To keep numbers that changed for a reason: python tests/golden/record.py --write."""
    if part == record.published_outputs.__name__:
        request.getfixturevalue("shared")
    kept = record.read(part)
    assert kept, f"{part} has no record"
    lines = record.differences(kept, record.record(record.PARTS[part](arenas)))
    if lines:
        pytest.fail(record.report(lines), pytrace=False)


def test_every_file_of_the_record_is_of_a_part() -> None:
    assert {file.name.removesuffix(".csv.gz") for file in record.FOLDER.iterdir()} == set(record.PARTS)


def test_a_missing_a_new_and_another_number_are_named() -> None:
    old = {"a/rank/x": 1.0, "a/rank/y": 2, "a/rank/z": None, "a/rank/same": 0.1}
    new = {"a/rank/x": 1.0 + 1e-6, "a/rank/z": None, "a/rank/w": "text", "a/rank/same": math.nextafter(0.1, 1)}
    lines = record.differences(old, new)
    assert [line.split()[:2] for line in lines] == [
        ["new", "a/rank/w:"],
        ["different", "a/rank/x:"],
        ["gone", "a/rank/y:"],
    ]
    assert "3 of a/rank" in record.report(lines)


def test_a_number_and_a_text_are_never_the_same() -> None:
    assert not record.equal(1, 1.0)
    assert not record.equal(1, "1")
    assert not record.equal(None, 0)
    assert not record.equal(True, 1)
