"""What a click does not make again: results are known by the very objects they were made of."""

from __future__ import annotations

import gc

import pyarrow as pa

from mirage.ui import kept, rows, where
from mirage.ui.kept import MOST, _results


def test_the_same_objects_with_the_same_options_are_made_once_and_others_again() -> None:
    calls: list[str] = []

    def make(table: pa.Table, *, name: str, order: list[str]) -> list[str]:
        calls.append(name)
        return [name, *order, str(len(table))]

    table = pa.table({"system": ["a", "b"]})
    first = kept(make, table, name="x", order=["a", "b"])
    assert kept(make, table, name="x", order=["a", "b"]) is first
    assert kept(make, table, name="x", order=["b", "a"]) != first
    assert kept(make, table, name="y", order=["a", "b"]) != first
    equal = pa.table({"system": ["a", "b"]})
    assert kept(make, equal, name="x", order=["a", "b"]) == first
    assert calls == ["x", "x", "y", "x"], "an equal table is another one"


def test_rows_and_parts_of_a_table_are_those_of_the_table() -> None:
    table = pa.table({"system": ["a", "b", "a"], "n": [1, 2, 3]})
    assert rows(table) == table.to_pylist()
    assert rows(table) is rows(table)
    assert where(table, "system", ["a"]).to_pydict() == {"system": ["a", "a"], "n": [1, 3]}
    assert where(table, "system", ["a"]) is where(table, "system", ("a",))


def test_what_was_made_of_a_table_goes_with_it_and_the_rest_stays_bounded() -> None:
    table = pa.table({"n": [1]})
    gc.collect()  # tables of other tests, held by cycles, go now and not below
    before = set(_results)
    rows(table)
    added = set(_results) - before
    assert len(added) == 1
    del table
    gc.collect()
    assert not added & set(_results)
    held = [pa.table({"n": [k]}) for k in range(MOST + 20)]
    for item in held:
        rows(item)
    assert len(_results) == MOST
