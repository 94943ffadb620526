"""Banks of nuggets: the nuggets of each query, and their ids."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import TYPE_CHECKING

from mirage import schema

if TYPE_CHECKING:
    import pyarrow as pa

_ID = 6
"""Bytes of an id derived from content: 12 hexadecimal digits."""


def nugget_id(text: str) -> str:
    """Derive an id from the text of a nugget: the same text gives the same id everywhere."""
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.blake2b(folded.encode(), digest_size=_ID).hexdigest()


def banks(nuggets: pa.Table | None) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return id and text of the nuggets of each query, sorted by id; none without a table."""
    by_query: dict[tuple[str, str], list[tuple[str, str]]] = {}
    if nuggets is None:
        return by_query
    columns = (schema.sort("nuggets", nuggets)[name].to_pylist() for name in (*schema.key("nuggets"), "text"))
    for language, query_id, name, text in zip(*columns, strict=True):
        by_query.setdefault((language, query_id), []).append((name, text))
    return by_query
