"""Normalisation of names and ids, so that two spellings of a name are one system."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

NAMES = frozenset(
    ("query_id", "passage_id", "system", "system_a", "system_b", "judge", "voter", "retriever", "rater", "assigner")
)
"""Columns with a name or an id."""

_INVISIBLE = "".join(chr(k) for k in range(0x3001) if chr(k).isspace()) + "\u200b\u2060\ufeff"
"""White space, and characters of no width that a copied name may begin or end with."""


@lru_cache(maxsize=8_192)
def normalise_name(name: str) -> str:
    """Normalise a name: without surrounding whitespace and characters of no width, in Unicode form NFC."""
    name = name.strip(_INVISIBLE)
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def normalise_names(names: pa.Array) -> pa.Array:
    """Normalise the names in an Arrow array or dictionary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(names.type):
        return normalise_names(names.dictionary).take(names.indices)
    if not pa.types.is_string(names.type):
        return names
    return pc.utf8_normalize(pc.utf8_trim(names, characters=_INVISIBLE), form="NFC")
