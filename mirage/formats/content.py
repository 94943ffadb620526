"""Texts as the builder keeps and compares them, and ids made from them."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from mirage.answers import citations
from mirage.errors import BadInput

_ID = 6
"""Bytes of an id made from content: 12 hexadecimal digits."""
_DIGEST = 12
"""Bytes by which two texts are told apart."""


def cleaned(text: str | None, name: str, where: str) -> str | None:
    """A text of a query or a passage as it is kept: in Unicode's form NFC, without surrounding white space; None for
    an empty one.

    Raises:
        BadInput: if it is no text, or holds half a character.
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
    """A text in UTF-8.

    Raises:
        BadInput: if it holds half a character (a lone surrogate), which UTF-8 has no bytes for.
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadInput(
            f"{name} holds half a character", where=where, do="write the file anew, as UTF-8, or take the character out"
        ) from None


def content_id(*texts: str) -> str:
    """An id made from texts: the same texts give the same id in every file."""
    return digest("\0".join(texts).encode())[:_ID].hex()


def digest(text: bytes) -> bytes:
    """What two texts are compared by, where the first is no longer at hand."""
    return hashlib.blake2b(text, digest_size=_DIGEST).digest()


def passage_digest(text: str, title: str | None) -> tuple[bytes, str]:
    """What a passage's text is compared by, and an id made from its text and title."""
    whole_text = digest(text.encode())
    return whole_text, content_id(text, title) if title else whole_text[:_ID].hex()


def as_json(metadata: Mapping[str, Any] | None) -> str | None:
    """What a source says of a passage, as the text of a JSON object with its names in order; None for nothing."""
    return json.dumps(metadata, ensure_ascii=False, sort_keys=True, default=str) if metadata else None


def renumbered(text: str, shown: Sequence[str], order: Sequence[str]) -> str:
    """An answer whose numbered citations count the passages in another order.

    A number that means no passage keeps meaning none. What is no citation stays as it is.

    Args:
        text: the answer; `[3]` in it means the third passage of `shown`.
        shown: ids of the passages that its system was shown.
        order: ids of the same passages, and perhaps more, in the order that the numbers are to count.
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
