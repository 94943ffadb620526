"""Columns of text as numbers."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from mirage.stats.encoding import encode

TEXTS = st.lists(st.sampled_from(["a", "b", "ب", "", None]), max_size=8)


@given(st.lists(TEXTS, min_size=1, max_size=3), st.lists(TEXTS, max_size=3), st.booleans())
def test_the_numbers_lead_back_to_the_texts(
    chunks: list[list[str | None]], others: list[list[str | None]], as_dictionary: bool
) -> None:
    first = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks])
    second = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in others], pa.string())
    columns = [column.dictionary_encode() if as_dictionary else column for column in (first, second)]
    values, places = encode(*columns)
    assert len(set(values)) == len(values)
    texts = [None if place < 0 else values[place] for place in places.tolist()]
    assert texts == [*first.to_pylist(), *second.to_pylist()]


def test_no_rows_have_no_values() -> None:
    values, places = encode(pa.chunked_array([], pa.string()))
    assert (values, len(places)) == ((), 0)
    values, places = encode(pa.array(["x", None]))
    assert values == ("x",)
    assert places.tolist() == [0, -1]
