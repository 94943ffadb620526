"""The contract: what each table holds, what `validate` refuses, and that the same rows come back from a file."""

import math
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from arena_writer import write_arena
from commands import run_python
from golden.cases import read_table
from hypothesis import given, settings
from hypothesis import strategies as st
from store_cases import forge

from mirage import schema
from mirage.errors import ArenaError, BadInput, UnknownName
from mirage.store import arena as arenas
from mirage.store.arena import open_arena
from mirage.store.query_rows import of_query
from mirage.text.languages import LANGUAGES
from mirage.text.names import NAMES

VALUES: dict[str, Any] = (
    {"language": "en", "query_id": "q1", "system": "s", "system_a": "s", "system_b": "t", "passage_id": "d#0"}
    | {"text": "Yes.", "status": "ok", "value": 0.2, "grade": "full", "finding": "answers", "metadata": "{}"}
    | {"assignment": "partial_support", "rank_high": 2, "run_date": "2026-11-20", "released": "2024-05"}
    | {"passage_language": "en", "rating": 0.5, "reason": None}
)
"""Values of columns in a good row; others are null, the first choice, or any value of their kind."""
OF_KIND = {"text": "x", "number": 0.5, "count": 1, "flag": True}


def good(column: schema.Column) -> Any:
    """A value that the contract accepts."""
    usual = VALUES.get(column.name)
    if column.name in VALUES and isinstance(usual, type(OF_KIND[column.kind]) | None):
        return usual
    return column.choices[0] if column.choices else None if column.nullable else OF_KIND[column.kind]


GOOD: dict[str, dict[str, Any]] = {t: {c.name: good(c) for c in schema.columns(t)} for t in schema.TABLES}


def table(name: str, *changes: dict[str, Any]) -> pa.Table:
    """One good row for each set of changed values."""
    rows = [GOOD[name] | change for change in changes or ({},)]
    return schema.from_columns(name, {c: [row[c] for row in rows] for c in GOOD[name]})


def test_every_table_has_a_command_that_brings_it() -> None:
    assert set(schema.TABLES) == set(schema.COMMANDS)


@pytest.mark.parametrize("name", schema.TABLES)
def test_a_good_row_is_accepted(name: str) -> None:
    schema.validate(name, table(name))


@pytest.mark.parametrize("name", schema.TABLES)
def test_every_table_and_column_says_what_it_means(name: str) -> None:
    assert schema.table_class(name).__doc__
    assert all(column.meaning.endswith((".", "on.")) for column in schema.columns(name))
    assert set(schema.key(name)) <= set(GOOD[name])


NOT_NULL = [(t, c.name) for t in schema.TABLES for c in schema.columns(t) if not c.nullable]
CHOICES = [(t, c.name) for t in schema.TABLES for c in schema.columns(t) if c.choices]
RANGES = [(t, c.name, c.range) for t in schema.TABLES for c in schema.columns(t) if c.range]
NUMBERS = [(t, c.name) for t in schema.TABLES for c in schema.columns(t) if c.kind == "number"]


@pytest.mark.parametrize(("name", "column"), NOT_NULL)
def test_a_null_is_refused_where_a_value_must_stand(name: str, column: str) -> None:
    with pytest.raises(BadInput, match=rf"{name}\.{column} is null in 1 rows"):
        schema.validate(name, table(name, {}, {"language": "bn", column: None}))


@pytest.mark.parametrize(("name", "column"), CHOICES)
def test_a_value_outside_the_choices_is_refused(name: str, column: str) -> None:
    with pytest.raises(BadInput, match=rf"{name}\.{column} is not one of .* the first holds 'other'"):
        schema.validate(name, table(name, {column: "other"}))


@pytest.mark.parametrize(("name", "column", "limits"), RANGES)
def test_a_number_outside_the_range_is_refused(name: str, column: str, limits: schema.Range) -> None:
    for end, step, word in ((limits.low, -1, "under"), (limits.high, 1, "over")):
        if end is not None:
            with pytest.raises(BadInput, match=rf"{name}\.{column} is {word} {re.escape(f'{end:g}')}"):
                schema.validate(name, table(name, {column: int(end) + step}))


@pytest.mark.parametrize(("name", "column"), NUMBERS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_measurement_that_is_not_a_number_is_refused(name: str, column: str, value: float) -> None:
    data = table(name)
    index = data.schema.get_field_index(column)
    data = data.set_column(index, data.schema.field(index), pa.array([value], pa.float64()))
    with pytest.raises(BadInput, match=rf"{name}\.{column} is not a finite number"):
        schema.validate(name, data)


@pytest.mark.parametrize("name", [name for name in schema.TABLES if "language" in GOOD[name]])
def test_pitfall_44_an_unknown_language_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=rf"{name}\.language is not a known language .* holds 'xx'"):
        schema.validate(name, table(name, {"language": "xx"}))


@pytest.mark.parametrize("name", schema.TABLES)
def test_a_key_that_occurs_twice_is_refused_and_named(name: str) -> None:
    with pytest.raises(BadInput, match="1 duplicate keys") as caught:
        schema.validate(name, table(name, {}, {}), where="here")
    assert all(f"{k}=" in caught.value.where for k in schema.key(name))
    assert "(2 times)" in caught.value.where


@pytest.mark.parametrize("name", schema.TABLES)
def test_a_table_with_a_column_too_few_too_many_or_of_another_type_is_refused(name: str) -> None:
    data = table(name)
    broken = (
        data.drop_columns([data.column_names[-1]]),
        data.append_column("extra", pa.array([1])),
        data.set_column(0, "language", pa.array([1])),
    )
    for variant in broken:
        with pytest.raises(BadInput, match="the contract requires"):
            schema.validate(name, variant)


EXPLAINED = [(t, cls.reason_of) for t, cls in schema.TABLES.items() if hasattr(cls, "reason_of")]


@pytest.mark.parametrize(("name", "value"), EXPLAINED)
def test_a_missing_measurement_has_a_reason_and_a_present_one_has_none(name: str, value: str) -> None:
    schema.validate(name, table(name, {value: None, "reason": "not published"}))
    with pytest.raises(BadInput, match=rf"{name}\.reason is null where {value} is"):
        schema.validate(name, table(name, {value: None, "reason": None}))
    with pytest.raises(BadInput, match=rf"{name}\.reason is set although {value}"):
        schema.validate(name, table(name, {"reason": "but why"}))


def test_pitfall_44_an_unknown_table_or_column_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean: queries"):
        schema.columns("querys")
    with pytest.raises(UnknownName, match="did you mean: query_id"):
        schema.from_columns("queries", {"query_ids": ["1"]})


@pytest.mark.parametrize(*read_table("wrong_types"))
def test_a_value_of_the_wrong_type_is_refused_and_never_bent(name: str, column: str, value: object) -> None:
    with pytest.raises(BadInput, match=rf"{name}\.{column} has a value of the wrong type"):
        schema.from_columns(name, {column: [value]})


def test_columns_may_be_lists_numpy_or_arrow_and_nullable_ones_may_be_left_out() -> None:
    import numpy as np

    data = schema.from_columns(
        "features",
        {
            "language": pa.array(["en", "en"]).dictionary_encode(),
            "query_id": np.array(["1", "2"]),
            "system": ["s", "s"],
            "feature": ["f", "f"],
            "value": np.array([1.5, np.nan]),
        },
    )
    assert data["value"].to_pylist() == [1.5, None]
    assert data["reason"].to_pylist() == [None, None]
    assert data.schema == schema.arrow_schema("features")


# --- any table that keeps the contract survives a file unchanged ------------------------------------------------------

TEXT = st.text(max_size=12)


def column_values(column: schema.Column) -> st.SearchStrategy[Any]:
    values: st.SearchStrategy[Any]
    if column.languages is not None:
        values = st.sampled_from([*LANGUAGES, *column.languages.also])
    elif column.choices is not None:
        values = st.sampled_from(column.choices)
    elif column.name in NAMES:
        values = st.sampled_from("ab1é漢")
    elif column.date:
        values = st.sampled_from(["2026", "2024-02-29"])
    elif column.kind == "text":
        values = TEXT
    elif column.kind == "flag":
        values = st.booleans()
    else:
        low = column.range.low if column.range else None
        high = column.range.high if column.range else None
        if column.kind == "count":
            values = st.integers(int(low or 0), int(high or 2**31 - 1))
        else:
            values = st.floats(low, high, allow_nan=False, allow_infinity=False)
    return st.none() | values if column.nullable else values


@st.composite
def any_table(draw: st.DrawFn) -> tuple[str, pa.Table]:
    name = draw(st.sampled_from(list(schema.TABLES)))
    row = st.fixed_dictionaries({c.name: column_values(c) for c in schema.columns(name)})
    rows = draw(st.lists(row, max_size=8, unique_by=lambda r: tuple(r[k] for k in schema.key(name))))
    measured = getattr(schema.table_class(name), "reason_of", None)
    for record in rows if "status" in {column.name for column in schema.columns(name)} else ():
        record["text"] = record["text"] or ""
    for record in rows if measured else ():
        record["reason"] = "why" if record[measured] is None else None
    return name, schema.from_columns(name, {c.name: [r[c.name] for r in rows] for c in schema.columns(name)})


@given(any_table())
@settings(max_examples=60)
def test_a_table_that_keeps_the_contract_comes_back_from_disk_unchanged(case: tuple[str, pa.Table]) -> None:
    name, data = case
    with tempfile.TemporaryDirectory() as folder:
        arena = write_arena(Path(folder) / "arena", {name: data})
        back = arena.read(name)
        assert schema.sort(name, back).equals(schema.sort(name, data))
        assert back.schema == schema.arrow_schema(name)
        assert arenas.check(arena)


def forged_values(column: schema.Column) -> Iterator[tuple[str, pa.Array]]:
    """Values that only a forged file holds, by kind."""
    if not column.nullable:
        yield "null", pa.nulls(1, column.arrow)
    if column.choices or column.languages or column.date:
        yield f"text {column.choices}", pa.array(["<script>evil()</script>"])
    if column.kind == "number":
        yield "not finite", pa.array([math.nan])
    for end, step in () if column.range is None else ((column.range.low, -1), (column.range.high, 1)):
        if end is not None:
            yield f"range {step}", pa.array([int(end) + step], pa.int64()).cast(column.arrow)
    yield f"no {column.kind}", pa.array([1.5 if column.kind != "number" else "1.5"])
    if column.kind == "text":
        yield "not UTF-8", pa.array([b"\xff\xfe"]).cast(pa.string(), safe=False)


@pytest.mark.parametrize("name", schema.TABLES)
def test_a_foreign_file_is_checked_when_it_is_first_read_pitfall_232(name: str, tmp_path: Path) -> None:
    path, whole = write_arena(tmp_path / "arena", {name: table(name)}).path, table(name)
    cases = {
        kind: (place, pa.field(column.name, values.type), values)
        for place, column in enumerate(schema.columns(name))
        for kind, values in forged_values(column)
    }
    for kind, changed in cases.items():
        forge(path, name, whole.set_column(*changed))
        with pytest.raises((BadInput, ArenaError)):
            open_arena(path).read(name)
        if kind == "not UTF-8":
            with pytest.raises((BadInput, ArenaError)):
                open_arena(path).sql(f'SELECT * FROM "{name}"')
    for column in schema.columns(name):
        for alias in (column.name, column.name.upper()):  # SQL would read the first of both
            forge(path, name, whole.add_column(0, alias, pa.array(["<script>evil()</script>"])))
            with pytest.raises((BadInput, ArenaError)):
                arenas.check(open_arena(path))
    forge(path, name, whole.append_column("further", pa.array(["evil"])))
    if "query_id" in (row := GOOD[name]):
        assert of_query(open_arena(path), name, (row["language"], row["query_id"])) == [row]
    forge(path, name, whole)
    assert open_arena(path).read(name).equals(whole)


def test_many_threads_may_ask_for_columns_at_once() -> None:
    """In a new process, with a collector that lets threads change whenever it runs."""
    program = """
import gc, sys, threading
from mirage import schema
from mirage.people.votes.agreement import Agreement
from mirage.people.votes.kinds import Evidence, Vote
sys.setswitchinterval(1e-6)
gc.set_threshold(50)
gc.callbacks.append(lambda phase, info: [None for _ in range(100)])
wrong, start = [], threading.Barrier(12)
def ask():
    start.wait()
    try:
        for kind in (*schema.TABLES, Vote, Evidence, Agreement):
            schema.columns.__wrapped__(kind)
    except BaseException as error:
        wrong.append(error)
threads = [threading.Thread(target=ask) for _ in range(12)]
[t.start() for t in threads]
[t.join() for t in threads]
sys.exit(repr(wrong) if wrong else 0)
"""
    run_python(program)
