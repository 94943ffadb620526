"""Strict parsing of the list in a model's reply."""

from __future__ import annotations

import json
import re
from typing import Any

from mirage.text.thoughts import part_thoughts

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(?P<inner>.*)\n```", re.DOTALL | re.IGNORECASE)


def read_list(text: str) -> list[dict[str, Any]] | str:
    """Parse a reply that is exactly a JSON list of objects, or return why it is not.

    A reasoning model's thoughts before it, and a code fence around it, are ignored. A list beside other text is
    rejected, since it may be a quotation of a shown text.
    """
    parted = part_thoughts(text)
    if parted.gap is not None:
        return parted.gap
    body = parted.text.strip()
    if fenced := _FENCE.fullmatch(body):
        body = fenced["inner"].strip()
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return "the reply is not a JSON list"
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        return "the reply is not a JSON list of objects"
    return value
