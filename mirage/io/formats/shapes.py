"""Texts in any shape: a text, content parts, sentences, `{type, value}`, or the messages of a conversation.

Every format reads questions, answers, passages and references here.

    text([{"type": "text", "value": "In 1911."}], "answer", where)          # "In 1911."
    conversation([{"speaker": "user", "text": "When?"}], "question", where)  # its question is "When?"
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats.spec import load_names
from mirage.io.values import shorten, unpack

_MESSAGE = load_names("message")
INNER = _MESSAGE["inner"]
"""Names under which an object holds its text, in order."""
_ASKED = load_names("read")["question"]
READ = frozenset((*INNER, *_MESSAGE["about"]))
"""Fields of the parts of a text that are read, or only number the parts."""
USERS, MODELS = _MESSAGE["users"], _MESSAGE["models"]
_KNOWN = (*USERS, *MODELS, *_MESSAGE["others"])
_FREE = ("role", "speaker")
"""Names of a speaker that need not be known."""
_THINKING = _MESSAGE["thinking"]
_UNSAID = (*_THINKING, *_MESSAGE["unsaid"])
"""Types of content parts that are not part of the text, though they may contain text."""


_TEXTS = ("text", "input_text", "output_text")
_WRITTEN = re.compile(r"\s*\[?\s*\{\s*['\"](?:role|speaker|from|author|sender|type|content|text)['\"]\s*:")
"""The beginning of messages or content parts in a cell."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages, split at the last one of a user."""

    question: str | None
    """The last text of a user; null if there is none."""
    turns: tuple[tuple[str, str], ...]
    """Speaker and text of each earlier turn of a user or a model."""
    answer: str | None
    """Reply of the model to it; null if there is none."""
    thoughts: str | None = None
    """Its reasoning, if that is separate."""


EMPTY = Conversation(None, (), None)


def text(value: Any, name: str, where: str) -> str | None:
    """Return the text of a value: as it is, a number's digits, the text of an object, or parts and sentences joined.

    Parts that are not text, such as images and calls of tools, are left out. None if the value is missing.

    Raises:
        BadInput: if the value holds no text, or several messages; it names the shape.
    """
    if type(value) is str:
        return value if value[:1] != "{" else _only_text(value)
    if value is None or value == [] or value == {} or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, Mapping) and (inner := _inner(value)) is not None:
        return text(value[inner], name, where)
    if isinstance(value, list | tuple) and not (len(value) > 1 and is_messages(value)):
        said = [part for part in value if not (isinstance(part, Mapping) and _is_unsaid(part))]
        if all(isinstance(part, str | Mapping) for part in said) and said:
            between = "\n" if any(isinstance(part, Mapping) and "type" in part for part in said) else " "
            parts = [content for part in said if (content := text(part, name, where)) is not None]
            return between.join(parts) if parts else None
    raise BadInput(f"{name} is {_shape(value)}, not a text", where=where, do=f"map another: --map THEIRS={name}")


def _only_text(cell: str) -> str:
    """Return the text of a JSON object that holds nothing else, as a table has it in a cell; else the cell itself."""
    inner = parse_json(cell)
    name, *others = inner if isinstance(inner, dict) and inner else [""]
    alone = not others and name in (*INNER, *_ASKED)
    return inner[name] if alone and isinstance(inner[name], str) else cell


def readable_text(value: Any) -> str | None:
    """Return the text of a value in a log, as `text` does; None if it holds none."""
    try:
        return text(value, "", "")
    except BadInput:
        return None


def _inner(value: Mapping[str, Any]) -> str | None:
    """Return the field of an object that holds its text; null if there is none."""
    held = [name for name in INNER if name in value]
    return next((name for name in held if value[name] is not None), held[0] if held else None)


def _is_unsaid(part: Mapping[str, Any]) -> bool:
    return part.get("type") in _UNSAID or ("type" in part and _inner(part) is None)


def _shape(value: Any) -> str:
    """Describe a value for a message."""
    if isinstance(value, Mapping):
        return f"an object with {', '.join(map(str, list(value)[:6])) or 'no fields'}"
    if isinstance(value, list | tuple):
        kind = "messages" if is_messages(value) else "values"
        return f"a list of {len(value):,} {kind} such as {shorten(value[0]) if value else None}"
    return shorten(value)


def role(message: Mapping[str, Any]) -> str | None:
    """Return the speaker of a message, in lower case; None for an object that is not a message."""
    for name in _MESSAGE["role"]:
        if isinstance(who := message.get(name), str) and (name in _FREE or who.lower() in _KNOWN):
            return who.lower()
    return None


def is_messages(value: Any) -> bool:
    """Return whether a value is a list of messages with roles."""
    return (
        isinstance(value, list) and bool(value) and all(isinstance(m, Mapping) and role(m) is not None for m in value)
    )


def turns(value: Sequence[Any], name: str, where: str) -> list[tuple[str, str]]:
    """Return speaker and text of each turn: messages, or texts of a user and an agent in turn.

    Raises:
        BadInput: if one has no readable text.
    """
    spoken = [
        (role(turn) or "user" if isinstance(turn, Mapping) else ("user", "agent")[place % 2], text(turn, name, where))
        for place, turn in enumerate(value)
    ]
    return [(speaker, content) for speaker, content in spoken if content]


def conversation(value: Any, name: str, where: str) -> Conversation:
    """Return the question that a value is, as a text or as messages, with its earlier turns.

    Raises:
        BadInput: if it is neither, no message is a user's, or one has no readable text.
    """
    value = parse_messages(value)
    if isinstance(value, Mapping) and is_messages(value.get("messages")):
        value = value["messages"]
    if isinstance(value, Mapping) and _inner(value) is None:
        value = next((value[asked] for asked in _ASKED if value.get(asked)), value)
    if not is_messages(value):
        return Conversation(text(value, name, where), (), None)
    turns([message for message in value if role(message) in (*USERS, *MODELS)], name, where)
    found = split_messages(value)
    if found.question is None:
        raise BadInput(
            f"{name} is {_shape(value)}, none of a user", where=where, do=f"map another: --map THEIRS={name}"
        )
    return found


def answer(value: Any, name: str, where: str) -> Conversation:
    """Return the answer that a value is, as a text or as the last message of a model, with its reasoning.

    Raises:
        BadInput: if it is neither.
    """
    value = parse_messages(value)
    if is_messages(value):
        found = split_messages(value)
        said = text([m for m in value if role(m) in MODELS][-1:], name, where)
        return Conversation(None, (), said if found.answer is None else found.answer, found.thoughts)
    return Conversation(None, (), text(value, name, where), thoughts_of(value))


def thoughts_of(content: Any) -> str | None:
    """Return the reasoning parts of a message's content; None if there are none."""
    if not isinstance(content, list):
        return None
    parts = (
        part.get("reasoning") or part.get("thinking") or readable_text(part)
        for part in content
        if isinstance(part, Mapping) and part.get("type") in _THINKING
    )
    return "\n".join(part for part in parts if isinstance(part, str)) or None


def split_messages(messages: Iterable[Mapping[str, Any]]) -> Conversation:
    """Split messages in any of the usual forms; instructions, tools and unreadable content are left out."""
    spoken = [
        (who, readable_text(message), message.get("content", message.get("parts")))
        for message in messages
        if (who := role(message)) in (*USERS, *MODELS)
    ]
    last = max((k for k, (who, content, _) in enumerate(spoken) if who in USERS and content), default=None)
    after = spoken if last is None else spoken[last + 1 :]
    answers = [content for who, content, _ in after if who not in USERS and content is not None]
    thoughts = [thought for _, _, content in after if (thought := thoughts_of(content))]
    return Conversation(
        None if last is None else spoken[last][1],
        tuple((who, content) for who, content, _ in spoken[: last or 0] if content),
        answers[-1] if answers else None,
        thoughts[-1] if thoughts else None,
    )


def parse_json(value: Any) -> Any:
    """Return a value, or the object or list that its text is as JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def parse_messages(value: Any) -> Any:
    """Return a value, or the messages or content parts that a cell of a table holds as JSON or Python."""
    if not isinstance(value, str) or not _WRITTEN.match(value):
        return value
    parsed = unpack(value)
    parts = parsed if isinstance(parsed, list) else [parsed]
    known = all(isinstance(part, Mapping) and (role(part) or part.get("type") in _TEXTS) for part in parts)
    return parsed if known else value
