"""Shards of the queries by a hash of their key, so that machines split them identically without communication."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mirage.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

QUERY = ("language", "query_id")
"""Columns that identify a query."""


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several shards of the queries."""

    number: int
    """Number of the shard, from 1."""
    count: int
    """Number of shards."""

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def name(self) -> str:
        """Name of the shard in a folder name."""
        return f"part-{self.number}-of-{self.count}"

    def has(self, language: str, query_id: str) -> bool:
        """Return whether a query belongs to this shard."""
        digest = hashlib.sha256(f"{language}\0{query_id}".encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.number - 1

    def rows(self, table: pa.Table) -> pa.Table:
        """Return the rows of a table on queries of this shard."""
        import pyarrow as pa

        keys = zip(*(table[name].to_pylist() for name in QUERY), strict=True)
        return table.filter(pa.array([self.has(*key) for key in keys], pa.bool_()))


def read_shard(text: str) -> Shard:
    """Parse `2/4`: the second of four shards.

    Raises:
        BadInput: if it is not a shard.
    """
    match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise BadInput(f"{text!r} is not a shard", where="--shard", do="write I/N, from 1/N to N/N: --shard 2/4")
    return Shard(int(match[1]), int(match[2]))
