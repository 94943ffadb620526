"""Paths into JSON, such as `result.documents[*].text`, and the events of a streamed answer."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from mirage.errors import BadInput

Step = str | int | None
"""Name of a field, index in a list, or None for every element of a list."""

_NAME = re.compile(r'(?:"((?:[^"\\]|\\.)+)"|([^.\[\]"]+))')
_INDEX = re.compile(r"\[(\*|-?\d+)\]")
_MARKUP = re.compile(r"\s*<(?:!|\?xml|[a-z])", re.IGNORECASE)
_UNSHOWN = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^<>]*>", re.IGNORECASE | re.DOTALL)
_LISTED, _SHOWN = 12, 80
"""Maximum paths, and characters of a text, in a description."""


def parse_path(text: str, *, where: str = "--map") -> tuple[Step, ...]:
    """Parse a path: names separated by dots, with `[0]` or `[*]` after a list; `$` is the whole.

    Raises:
        BadInput: if it is not a path.
    """
    rest = text.strip()
    rest = rest[1:].removeprefix(".") if rest.startswith("$") else rest
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        if rest[at] == "[" and (match := _INDEX.match(rest, at)):
            steps.append(None if match[1] == "*" else int(match[1]))
        elif (steps and rest[at] == "." and (match := _NAME.match(rest, at + 1))) or (
            not steps and (match := _NAME.match(rest, at))
        ):
            steps.append(match[2] if match[1] is None else json.loads(f'"{match[1]}"'))
        else:
            break
        at = match.end()
    if at < len(rest) or not (steps or text.strip() == "$"):
        raise BadInput(
            f"{text!r} is not a path into JSON", where=where, do="write names and dots: result.documents[*].text"
        )
    return tuple(steps)


def find(value: Any, path: Sequence[Step]) -> list[Any] | None:
    """Return the values at a path, in order; None if nothing is there.

    An element of a list without the rest of the path is None, so that several paths into one list stay aligned. An
    empty list at `[*]` gives no values.
    """
    if not path:
        return [value]
    step, rest = path[0], path[1:]
    if step is None:
        if not isinstance(value, list):
            return None
        found = [find(element, rest) for element in value]
        if value and all(part is None for part in found):
            return None
        return [item for part in found for item in (part or [None])]
    if isinstance(step, int):
        inside = isinstance(value, list) and -len(value) <= step < len(value)
    else:
        inside = isinstance(value, dict) and step in value
    return find(value[step], rest) if inside else None


def read_events(content: bytes) -> list[Any] | None:
    """Return the JSON values of a body: one, or those of its lines (NDJSON) or events (SSE); None if it is no JSON."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        pass
    lines = re.split(r"\r\n|\n|\r", text)
    data = list(_event_data(lines)) if any(line.startswith("data:") for line in lines) else lines
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


def _event_data(lines: Sequence[str]) -> Iterator[str]:
    """Yield the data of each event of a stream (SSE): its `data:` lines, joined."""
    data: list[str] = []
    for line in [*lines, ""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


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
