"""Shared parts of the logs of other programs: messages, questions among variables, repeated answers, and secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Literal

from mirage.errors import BadInput
from mirage.io.formats import rag
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
from mirage.io.formats.spec import Builder, GivenAnswer, GivenScore, QueryKey, ShownPassage
from mirage.io.formats.values import MOST_REPEATS
from mirage.text.content import digest

QUESTIONS = (*rag.FIELDS["question"], "message", "user_message", "input_text", "text", "topic", "q")
"""Names of a question among the variables or arguments of a call, in order."""
ANSWERS = (*rag.FIELDS["answer"], "output_text", "text", "result", "content", "completion", "return", "value")
"""Names of an answer in the output of a call, in order."""
CONTEXTS = (*rag.FIELDS["contexts"], "source_documents", "sources", "chunks", "results", "nodes", "hits", "matches")
"""Names of passages in the output of a call, in order."""
_ARGUMENTS = ("kwargs", "inputs", "arguments", "args")
"""Names under which decorators log the arguments of a function."""
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
    for name in _ARGUMENTS:
        inner = value.get(name)
        if isinstance(inner, list) and inner and not is_messages(inner):
            inner = next((entry for entry in inner if isinstance(entry, str | Mapping) and entry), None)
        if inner and (found := read_question(inner)).question is not None:
            return found
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
    return (
        rag.shown_passages(value, (), where, "contexts")[0] if isinstance(value, str) else read_passages(value, where)
    )


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
    (passage,), _ = rag.shown_passages([facts], (), where, "contexts")
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


def stem(where: str) -> str:
    """Return the name of a record's file without extensions, from its location."""
    return re.split(r"\.(?:jsonl?|ndjson|csv|tsv|parquet|eval)\b", PurePath(_file(where)).name)[0] or "system"


def _file(where: str) -> str:
    return re.split(r"(?<=\.)(json|jsonl|ndjson|csv|tsv|parquet|eval)(?:\.gz|\.zst)?:", where, maxsplit=1)[0].rstrip(
        "."
    )


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


Further = Literal["runs", "texts", "none"]
"""Rule for further answers of a system to a query. `runs`: each is another sample. `texts`: another sample if its text
differs, since records may repeat an answer. `none`: left out, since the file's verdicts are on the answer next to them.
"""


class Answers:
    """Answers read so far. A system's first answer to a query is its answer; later ones are its samples."""

    def __init__(self, builder: Builder, further: Further = "texts") -> None:
        self.builder = builder
        self.further = further
        self._first: dict[tuple[QueryKey, str], bytes] = {}
        self._samples: dict[tuple[QueryKey, str], dict[int, bytes]] = {}
        self._rated: set[tuple[QueryKey, str, str, str]] = set()

    def add(self, query: QueryKey, answer: GivenAnswer, *, where: str, run: int | None = None) -> bool:
        """Add an answer; return false if it is not the first, so that the file's scores and verdicts do not apply to
        it.

        Args:
            query: the query.
            answer: the answer.
            where: location of the record.
            run: its number among the runs, from 0, if the file has one; it is the sample's number unless that is taken.
        """
        name = query, answer.system
        key = digest("\0".join((answer.text or "", answer.status or "")).encode("utf-8", "surrogatepass"))
        first = self._first.get(name)
        if first is None or (first == key and self.further != "runs"):
            self._first[name] = key
            self.builder.answer(query, answer, where=where)
            return True
        if self.further == "none":
            self.builder.left_out("further answers", "verdicts refer to a system's first answer to a query")
            return False
        samples = self._samples.setdefault(name, {})
        if self.further == "texts" and key in samples.values():
            return False
        number = run if run and run not in samples else next(n for n in range(1, len(samples) + 2) if n not in samples)
        if number > MOST_REPEATS:
            self.builder.left_out("further answers", f"a system has at most {MOST_REPEATS:,} samples of a query")
            return False
        samples[number] = key
        self.builder.answer(query, replace(answer, sample=number), where=where)
        return False

    def add_runs(self, query: QueryKey, runs: Sequence[GivenAnswer], *, where: str) -> bool:
        """Add a system's answers of one record, in order; return the result of `add` for the first.

        A record that repeats the answer of an earlier record adds nothing.
        """
        new = (query, runs[0].system) not in self._first
        is_first = self.add(query, runs[0], where=where)
        if new:
            for number, answer in enumerate(runs[1 : MOST_REPEATS + 1], start=1):
                self._samples.setdefault((query, answer.system), {})[number] = b""
                self.builder.answer(query, replace(answer, sample=number), where=where)
        return is_first

    def score(self, query: QueryKey, score: GivenScore, *, where: str) -> None:
        """Add a score, the first of a rater for a measure of an answer."""
        key = query, score.system, score.measure, score.rater
        if key in self._rated:
            self.builder.left_out("further scores", "a rater has one score of an answer for a measure: the first")
            return
        self._rated.add(key)
        self.builder.score(query, score, where=where)


def other_version(program: str, version: Any, known: str, where: str, do: str) -> BadInput:
    """Return the error for a log of a version that is not read."""
    return BadInput(f"this {program} log has version {version!r}; known is {known}", where=where, do=do)
