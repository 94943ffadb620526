"""A share of the queries, told by a hash of their key, so that every machine cuts alike without asking another."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

QUERY = ("language", "query_id")
"""Columns that name a query."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several shares of the queries."""

    number: int
    """Which, from 1."""
    count: int
    """Of how many."""

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def name(self) -> str:
        """The shard in the name of a folder."""
        return f"part-{self.number}-of-{self.count}"

    def has(self, language: str, query_id: str) -> bool:
        """Whether a query belongs to this shard."""
        digest = hashlib.sha256(f"{language}\0{query_id}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.number - 1

    def rows(self, table: pa.Table) -> pa.Table:
        """The rows of a table that belong to queries of this shard."""
        import pyarrow as pa

        keys = zip(*(table[name].to_pylist() for name in QUERY), strict=True)
        known: dict[tuple[str, str], bool] = {}
        mask = []
        for key in keys:
            if key not in known:
                known[key] = self.has(*key)
            mask.append(known[key])
        return table.filter(pa.array(mask, pa.bool_()))


def read_shard(text: str) -> Shard:
    """Read `2/4`: the second of four shards.

    Raises:
        BadInput: if it is none.
    """
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise BadInput(f"{text!r} is no shard", where="--shard", do="write I/N, from 1/N to N/N: --shard 2/4")
    return Shard(int(match[1]), int(match[2]))
