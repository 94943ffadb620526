"""Files are closed when reading them ends, and not when the garbage collector comes by."""

import os
from pathlib import Path

import pytest

from mirage.errors import BadInput
from mirage.store import files
from mirage.store.files import csv_rows

GOOD = b"1,2\n" * 50_000


def opened(path: Path) -> int:
    """How often this process has a file open now."""
    places = Path(f"/proc/{os.getpid()}/fd")
    if not places.is_dir():
        pytest.skip("open files are counted in /proc, which this system does not have")
    return sum(place.is_symlink() and str(place.readlink()) == str(path) for place in places.iterdir())


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("fields.csv", b"a,b\n1\n"),
        ("twice.csv", b"a,a\n"),
        ("quote.csv", b'a,b\n"1"2,3\n'),
        ("utf8.csv", b"a,b\n\xff,2\n"),
        ("a.jsonl", b"[\n"),
        ("b.jsonl", b"[]\n"),
    ],
)
def test_a_refused_file_is_closed_while_the_error_is_still_held(tmp_path: Path, name: str, start: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(start + GOOD)
    read = csv_rows if path.suffix == ".csv" else files.jsonl
    with pytest.raises(BadInput) as held:
        list(read(path))
    assert str(path) in held.value.where
    assert opened(path) == 0


def test_a_file_whose_reader_stops_early_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + GOOD)
    first = next(iter(csv_rows(path)))
    assert first.value == {"a": "1", "b": "2"}
    assert opened(path) == 0
