"""Normalisation and comparison of imported texts, and ids derived from them."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from mirage.errors import BadInput
from mirage.text.answers import citations

_ID = 6
"""Bytes of an id derived from content: 12 hexadecimal digits."""
_DIGEST = 12
"""Bytes of a digest for comparing texts."""


def clean_text(text: str | None, name: str, where: str) -> str | None:
    """Normalise a text of a query or a passage to NFC without surrounding whitespace; None if empty.

    Raises:
        BadInput: if it is not a text, or has a lone surrogate.
    """
    if text is None:
        return None
    if not isinstance(text, str):
        raise BadInput(f"{name} is {text!r:.60}, not a text", where=where)
    kept = text.strip()
    if not kept.isascii():
        kept = unicodedata.normalize("NFC", kept)
        whole(kept, name, where)
    return kept or None


def whole(text: str, name: str, where: str) -> bytes:
    """Encode a text as UTF-8.

    Raises:
        BadInput: if it has a lone surrogate, which UTF-8 cannot encode.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadInput(
            f"{name} has a lone surrogate", where=where, do="save the file as UTF-8, or remove the character"
        ) from None


def content_id(*texts: str) -> str:
    """Derive an id from texts: the same texts give the same id in every file."""
    return digest("\0".join(texts).encode())[:_ID].hex()


def digest(text: bytes) -> bytes:
    """Return a digest for comparing texts without keeping them."""
    return hashlib.blake2b(text, digest_size=_DIGEST).digest()


def passage_digest(text: str, title: str | None) -> tuple[bytes, str]:
    """Return a digest of a passage's text, and an id derived from its text and title."""
    whole_text = digest(text.encode())
    return whole_text, content_id(text, title) if title else whole_text[:_ID].hex()


def as_json(metadata: Mapping[str, Any] | None) -> str | None:
    """Return a source's metadata of a passage as a JSON object with sorted keys; None if there is none."""
    return json.dumps(metadata, ensure_ascii=False, sort_keys=True, default=str) if metadata else None


def renumber(text: str, shown: Sequence[str], order: Sequence[str]) -> str:
    """Renumber the citations of an answer for another order of its passages.

    Numbers without a passage stay without one; other text is not changed.

    Args:
        text: the answer; `[3]` in it means the third passage of `shown`.
        shown: ids of the passages shown to its system.
        order: ids of the same passages, and possibly more, in the new order.
    """
    positions = {passage_id: position for position, passage_id in enumerate(order, start=1)}
    parts, end = [], 0
    for span, group in groupby(citations(text, shown, numbered=True), key=lambda mention: (mention.start, mention.end)):
        mentions = list(group)
        label = mentions[0].label
        if all(mention.passage_id is not None for mention in mentions):
            label = ", ".join(str(positions[mention.passage_id]) for mention in mentions if mention.passage_id)
        else:
            label = re.sub(r"\d+", lambda digits: str(int(digits[0]) + max(0, len(order) - len(shown))), label)
        parts += [text[end : span[0]], text[slice(*span)].replace(mentions[0].label, label, 1)]
        end = span[1]
    return "".join([*parts, text[end:]])
