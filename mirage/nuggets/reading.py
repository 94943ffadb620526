"""The list in a model's reply, read strictly."""

from __future__ import annotations

import json
import re
from typing import Any

from mirage.thoughts import part_thoughts

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(?P<inner>.*)\n```", re.DOTALL | re.IGNORECASE)


def read_list(text: str) -> list[dict[str, Any]] | str:
    """The objects of a reply that is a JSON list of objects and nothing else, or why it is none.

    A reasoning model's thoughts before it, and one fence of code around it, do not count. A list beside other words is
    not read: it can be a quotation of a text that the model was shown.
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
        return "the reply is no JSON list"
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        return "the reply is no JSON list of objects"
    return value
