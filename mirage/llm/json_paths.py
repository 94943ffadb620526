"""Paths into JSON, such as `result.documents[*].text`, and the events of a streamed answer."""

import html
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from mirage.errors import BadInput

Step = str | int | None
"""Name of a field, index in a list, or None for every element of a list."""

_STEP = re.compile(r"([^.\[\]]+)|\[(\*|\d+)\]")
_PATH = re.compile(r"([^.\[\]]+|\[(\*|\d+)\])(\.[^.\[\]]+|\[(\*|\d+)\])*")
_MARKUP = re.compile(r"\s*<(?:!|\?xml|[a-z])", re.IGNORECASE)
_UNSHOWN = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^<>]*>", re.IGNORECASE | re.DOTALL)
_LISTED, _SHOWN = 12, 80
"""Maximum paths, and characters of a text, in a description."""


def parse_path(text: str, *, where: str = "--paths") -> tuple[Step, ...]:
    """Parse a path: names separated by dots, with `[0]` or `[*]` after a list.

    Raises:
        BadInput: if it is not a path.
    """
    if not _PATH.fullmatch(text.strip()):
        raise BadInput(
            f"{text!r} is not a path into JSON", where=where, do="write names and dots: result.documents[*].text"
        )
    return tuple(name or (None if index == "*" else int(index)) for name, index in _STEP.findall(text.strip()))


def find(value: Any, path: Sequence[Step]) -> list[Any] | None:
    """Return the values at a path, in order; None if nothing is there. An empty list at `[*]` gives no values."""
    for place, step in enumerate(path, 1):
        if step is None and isinstance(value, list):
            found = [find(element, path[place:]) for element in value]
            known = [part for part in found if part is not None]
            return [item for part in known for item in part] if known or not found else None
        if isinstance(step, int):
            inside = isinstance(value, list) and step < len(value)
        else:
            inside = isinstance(value, dict) and step in value
        if not inside:
            return None
        value = value[step]
    return [value]


def read_events(content: bytes) -> list[Any] | None:
    """Return the JSON values of a body: one, or one per line (NDJSON; `data:` lines of SSE); None if it is not JSON."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        pass
    lines = re.split(r"\r\n|\n|\r", text)
    data = [line[5:] for line in lines if line.startswith("data:")] or lines
    events = []
    for line in data:
        if not line.strip() or line.strip() == "[DONE]":
            continue
        try:
            events.append(json.loads(line))
        except (ValueError, RecursionError):
            return None
    return events or None


def describe(content: bytes, events: Sequence[Any] | None) -> str:
    """Describe a body for a message: the paths of its JSON, or its type if it is not JSON."""
    if events is not None:
        paths = sorted({path for event in events for path in _paths(event)})
        more = ", ..." if len(paths) > _LISTED else ""
        return f"it has {', '.join(paths[:_LISTED])}{more}" if paths else "it has no field"
    if not content.strip():
        return "it is empty"
    text = content[:10_000].decode("utf-8", "replace")
    page = page_text(text)
    return f"it is no JSON: {_short(text)!r}" if page is None else f"it is HTML: {_short(page)!r}"


def page_text(text: str) -> str | None:
    """Return the words of an HTML or XML page, its title first; None for other texts."""
    return html.unescape(_UNSHOWN.sub(" ", text)) if _MARKUP.match(text) else None


def _paths(value: Any, prefix: str = "") -> Iterator[str]:
    """Yield the paths of all leaves."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _paths(inner, f"{prefix}.{name}" if prefix else str(name))
    elif isinstance(value, list) and value:
        for inner in value:
            yield from _paths(inner, f"{prefix}[*]")
    else:
        yield prefix or "$"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
