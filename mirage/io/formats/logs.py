"""Shared parts of the logs of other programs: messages, questions among variables, repeated answers, and secrets."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from mirage.errors import BadInput
from mirage.io.formats import rag
from mirage.io.formats.build import Builder
from mirage.io.formats.fields import FIELDS
from mirage.io.formats.shapes import (
    EMPTY,
    MODELS,
    Conversation,
    is_messages,
    parse_json,
    readable_text,
    role,
    split_messages,
    thoughts_of,
)
from mirage.io.formats.spec import ShownPassage, load_names

QUESTIONS, ANSWERS, CONTEXTS = ((*FIELDS[ours], *names) for ours, names in load_names("logged").items())
"""Names of a question among the variables of a call, and of an answer and of passages in its output, in order."""
_SECRET = re.compile(
    r"api[_-]?key|secret|passw|authorization|credential|bearer|private[_-]?key|access[_-]?token|auth[_-]?token", re.I
)
_SECRET_VALUE = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{16,}|\bBearer\s+[\w.~+/-]{16,}|\bgh[pousr]_\w{20,}|\bAKIA[A-Z0-9]{16}\b"
)


def read_question(value: Any) -> Conversation:
    """Return the question in the input of a call: a text, messages, or an object with one of them.

    A null question if there is none.
    """
    value = parse_json(value)
    if isinstance(value, str):
        return Conversation(value, (), None) if value.strip() else EMPTY
    if is_messages(value):
        return split_messages(value)
    if isinstance(value, list) and len(value) == 1:
        return read_question(value[0])
    if not isinstance(value, Mapping):
        return EMPTY
    if is_messages(value.get("messages")):
        return split_messages(value["messages"])
    if (name := first_name(value, QUESTIONS)) is not None:
        return read_question(value[name])
    texts = [entry for entry in value.values() if isinstance(entry, str) and entry.strip()]
    return Conversation(texts[0], (), None) if len(texts) == 1 else EMPTY


def read_answer(value: Any) -> tuple[str | None, str | None]:
    """Return the answer in the output of a call, and its reasoning: a text, messages, or an object with one of them."""
    value = parse_json(value)
    if value is None or isinstance(value, str):
        return value, None
    if is_messages(value):
        conversation = split_messages(value)
        return conversation.answer, conversation.thoughts
    if isinstance(value, list):
        return readable_text(value), thoughts_of(value)
    if not isinstance(value, Mapping):
        return None, None
    if isinstance(choices := value.get("choices"), list) and choices and isinstance(choices[0], Mapping):
        return read_answer(choices[0].get("message") or choices[0].get("text"))
    if is_messages(value.get("messages")):
        return read_answer(value["messages"])
    if role(value) in MODELS:
        return readable_text(value), thoughts_of(value.get("content", value.get("parts")))
    name = first_name(value, ANSWERS)
    return read_answer(value[name]) if name is not None else (None, None)


def read_passages(value: Any, where: str) -> list[ShownPassage]:
    """Return the passages in the output of a retriever: texts, documents, or an object with a list of them."""
    value = parse_json(value)
    if isinstance(value, Mapping):
        name = next((name for name in CONTEXTS if isinstance(value.get(name), list)), None)
        value = value[name] if name is not None else None
    if not isinstance(value, list):
        return []
    return [passage for entry in value if (passage := _passage(entry, where)) is not None]


def read_contexts(value: Any, where: str) -> list[ShownPassage]:
    """Return the passages of a field of contexts: a list of texts or documents, or one text, which may number them."""
    return rag.shown_passages(value, (), where, "contexts") if isinstance(value, str) else read_passages(value, where)


def read_facts(fields: Mapping[str, Any], target: Any, where: str) -> dict[str, Any]:
    """Return language, reference answer and passages of a query as parts of an item.

    Args:
        fields: the fields of its document, which may hold the passages and the language.
        target: the reference answer, or a list of several.
        where: its location.
    """
    contexts, language = first_name(fields, FIELDS["contexts"]), fields.get("language")
    return {
        "language": language if isinstance(language, str) else None,
        "reference": readable_text(target[0] if isinstance(target, list) and target else target),
        "passages": read_contexts(fields[contexts], where) if contexts else (),
    }


def _passage(entry: Any, where: str) -> ShownPassage | None:
    """Return one document; None if it has neither a text nor an id."""
    entry = parse_json(entry)
    if isinstance(entry, list) and entry:
        entry = entry[0]  # a document with its score
    if isinstance(entry, str):
        return ShownPassage(entry) if entry.strip() else None
    if not isinstance(entry, Mapping):
        return None
    for name in ("document", "node", "doc"):
        if isinstance(entry.get(name), Mapping):
            entry = entry[name]
    facts = {
        str(name).removeprefix("document."): value
        for name, value in entry.items()
        if not isinstance(value, Mapping | list)
    }
    about = entry.get("metadata")
    if isinstance(about, Mapping):
        known = ("title", "url", "source", "id", "doc_id")
        facts |= {name: about[name] for name in known if isinstance(about.get(name), str) and name not in facts}
    if not any(facts.values()):
        return None
    (passage,) = rag.shown_passages([facts], (), where, "contexts")
    if not passage.text and not passage.passage_id:
        return None
    return ShownPassage(passage.text or None, passage.passage_id, passage.title, passage.relevant, passage.url)


def members(value: Any) -> Mapping[str, Any]:
    """Return a JSON object unchanged; {} for any other value."""
    return value if isinstance(value, Mapping) else {}


def entries(value: Any) -> list[Any]:
    """Return a list; an empty one for any other value."""
    return value if isinstance(value, list) else []


def first_name(value: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of some names with a value in an object, ignoring case; None if there is none."""
    held = {str(name).lower(): name for name in value}
    return next((held[name] for name in names if name in held and value[held[name]] not in (None, "", [], {})), None)


def is_secret(name: str, value: Any = None) -> bool:
    """Return whether a field has a key or password, by its name or its form."""
    return bool(_SECRET.search(name)) or (isinstance(value, str) and bool(_SECRET_VALUE.search(value)))


def plain_tags(value: Any, builder: Builder) -> dict[str, str]:
    """Return the short texts, numbers and flags of an object as tags, without keys and passwords."""
    if not isinstance(value, Mapping):
        return {}
    tags = {}
    for name, content in value.items():
        if is_secret(str(name), content):
            builder.left_out("keys and passwords", "they are never imported")
        elif isinstance(content, bool | int | str) and 0 < len(str(content)) <= 60 and "\n" not in str(content):
            tags[str(name)] = str(content)
    return tags


def other_version(program: str, version: Any, known: str, where: str, do: str) -> BadInput:
    """Return the error for a log of a version that is not read."""
    return BadInput(f"this {program} log has version {version!r}; known is {known}", where=where, do=do)
