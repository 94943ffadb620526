"""Normalisation of names and ids, so that two spellings of a name are one system."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

NAMES = frozenset(
    ("query_id", "passage_id", "system", "system_a", "system_b", "judge", "voter", "retriever", "rater", "assigner")
)
"""Columns with a name or an id."""


def normalise_name(name: str) -> str:
    """Normalise a name: without surrounding whitespace, in Unicode form NFC."""
    name = name.strip()
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def normalise_names(names: pa.Array) -> pa.Array:
    """Normalise the names in an Arrow array or dictionary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(names.type):
        return normalise_names(names.dictionary).take(names.indices)
    return pc.utf8_normalize(pc.utf8_trim_whitespace(names), form="NFC") if pa.types.is_string(names.type) else names
