"""Keyed digests, which prove what this program drew and what it exported.

The key stays with the votes (`database.Votes.keys`). Anyone with the key can sign anything; ballots and exports contain
signatures only.
"""

import hmac
import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from mirage.people.votes.kinds import OPINION, AnyRow, Vote


def sign(key: str, *content: Any) -> str:
    """Return the HMAC-SHA256 of texts and numbers, in their order."""
    return hmac.new(bytes.fromhex(key), json.dumps(content).encode("ascii"), "sha256").hexdigest()


def is_signed(keys: Iterable[str], signature: object, *content: Any) -> bool:
    """Return whether a signature is that of one of the keys."""
    given = str(signature).encode("utf-8", "replace")
    return any(hmac.compare_digest(sign(key, *content).encode("ascii"), given) for key in keys)


def row_content(row: AnyRow) -> tuple[Any, ...]:
    """Return the signed content of an exported row: its kind and every column."""
    return type(row).__name__, sorted(asdict(row).items())


def as_opinion(row: AnyRow) -> AnyRow:
    """Return a vote as an opinion, without what it claims of its draw."""
    opinion: AnyRow = replace(row, proof="none")
    return replace(opinion, control=False, why=OPINION, inclusion=None) if isinstance(opinion, Vote) else opinion


def known_or_opinion(row: AnyRow, stored: AnyRow | None) -> AnyRow:
    """Return the stored row that an unsigned row of a file repeats, else the row as an opinion."""
    if stored is not None and stored in (as_opinion(row), replace(row, proof=stored.proof)):
        return stored
    return as_opinion(row)
