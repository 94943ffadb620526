"""The chain of a published board: one manifest and one head per publication; each head covers all earlier ones.

head_k = SHA-256(head_{k-1} || SHA-256(canonical JSON of manifest k)), with 32 zero bytes before the first. Anyone who
saves a head elsewhere can detect that something before it was rewritten.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mirage.errors import BadInput
from mirage.publish.signing import fingerprint, is_signed

FOLDER = "chain"
HEADS, PUBLIC_KEY = f"{FOLDER}/heads.json", f"{FOLDER}/board.pub"
FIRST = "0" * 64
"""Predecessor of the first head."""
FORMAT = 1


@dataclass(frozen=True, slots=True)
class BoardHead:
    """The head of one publication."""

    number: int
    """Number of the publication, from 1."""
    head: str
    """64 hexadecimal digits."""
    signature: str | None
    """Ed25519 signature in hexadecimal; null if the board is not signed."""

    @property
    def manifest(self) -> str:
        """Return the path of its manifest in the site."""
        return manifest_path(self.number)


@dataclass(frozen=True, slots=True)
class BoardFault:
    """A difference between a board and its expected content."""

    file: str
    """File of the site."""
    row: str
    """Key of the row; empty for a whole file."""
    column: str
    """The column, or the part of the file."""
    printed: str
    """Value in the site."""
    recomputed: str
    """Expected value."""


def canonical(value: Any) -> bytes:
    """Return canonical JSON: sorted names, no spaces, UTF-8, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode("utf-8")


def next_head(before: str, manifest: Mapping[str, Any]) -> str:
    """Return the head of a publication from the previous head and its manifest."""
    return hashlib.sha256(bytes.fromhex(before) + hashlib.sha256(canonical(manifest)).digest()).hexdigest()


def manifest_path(number: int) -> str:
    """Return the path of a publication's manifest in the site."""
    return f"{FOLDER}/{number:04d}.json"


def heads_file(heads: Sequence[BoardHead]) -> bytes:
    """Return the log of heads as a file."""
    rows = [{"number": row.number, "head": row.head, "signature": row.signature} for row in heads]
    return (json.dumps({"format": FORMAT, "heads": rows}, indent=1) + "\n").encode("utf-8")


def read_heads(raw: bytes) -> tuple[BoardHead, ...]:
    """Return the heads of a log.

    Raises:
        BadInput: if it cannot be read, or publications are not numbered 1, 2, 3 ...
    """
    try:
        data = json.loads(raw)
        if data["format"] != FORMAT or set(data) != {"format", "heads"}:
            raise ValueError("it has another format")
        heads = tuple(BoardHead(row["number"], row["head"], row["signature"]) for row in data["heads"])
        if [row.number for row in heads] != list(range(1, len(heads) + 1)) or not heads:
            raise ValueError("its publications are not numbered 1, 2, 3 ...")
        if any(len(bytes.fromhex(row.head)) != 32 for row in heads):
            raise ValueError("a head is not 64 hexadecimal digits")
        if heads_file(heads) != raw:
            raise ValueError("it is not in canonical form")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"the log of heads cannot be read: {error}", where=HEADS) from None
    return heads


def chain_faults(
    heads: Sequence[BoardHead], read: Callable[[str], bytes | None], public: str | None
) -> Iterator[BoardFault]:
    """Yield the faults of a chain: manifests, heads, signatures.

    Args:
        heads: the log.
        read: returns a file of the site by its path, None if it is missing.
        public: the public key as PEM; None to check no signature.

    Raises:
        BadInput: if the key cannot be read, or `cryptography` is not installed.
    """
    before = FIRST
    key = None if public is None else fingerprint(public)
    for row in heads:
        raw = read(row.manifest)
        manifest = parse_manifest(raw)
        if raw is None or manifest is None or canonical(manifest) != raw:
            yield BoardFault(row.manifest, "", "manifest", "missing" if raw is None else "unreadable", "canonical JSON")
            before = row.head
            continue
        for name, value, expected in (
            ("number", manifest.get("number"), row.number),
            ("before", manifest.get("before"), before),
        ):
            if value != expected:
                yield BoardFault(row.manifest, "", name, str(value), str(expected))
        head = next_head(before, manifest)
        if head != row.head:
            yield BoardFault(HEADS, f"publication {row.number}", "head", row.head, head)
        if (row.signature is None) != (manifest.get("key") is None):
            printed, expected = ("unsigned", "signed") if row.signature is None else ("signed", "unsigned")
            yield BoardFault(HEADS, f"publication {row.number}", "signature", printed, expected)
        elif public is not None:
            if manifest.get("key") != key:
                yield BoardFault(row.manifest, "", "key", str(manifest.get("key")), str(key))
            if row.signature is None or not is_signed(public, row.head, row.signature):
                yield BoardFault(HEADS, f"publication {row.number}", "signature", str(row.signature), "one by this key")
        before = row.head


def parse_manifest(raw: bytes | None) -> dict[str, Any] | None:
    """Return the manifest of a publication; None if it is missing or not a JSON object with the files of a site."""
    try:
        manifest = json.loads(raw or b"")
    except (ValueError, RecursionError):
        return None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        return None
    return manifest
