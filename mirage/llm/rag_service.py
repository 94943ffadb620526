"""Calls to a RAG service: any HTTP address that takes a question and returns an answer with its contexts.

The request is a JSON body with the question at a placeholder. The response is JSON, or a stream of it (NDJSON or SSE),
whose parts are joined; paths say where answer and contexts are (`json_paths.py`). Calls have the ledger, the retries
and the rates of chat models.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mirage.errors import BadInput, UnknownName
from mirage.llm.batch import Batch, OnReply
from mirage.llm.calls import AGAIN, SERVICE, Limits, Messages, Reply, Settings, text_tokens
from mirage.llm.client import ask
from mirage.llm.completion import separate_reasoning
from mirage.llm.json_paths import describe, find, parse_path, read_events
from mirage.llm.presets import Endpoint, resolve
from mirage.llm.retry import Misfit, unreadable
from mirage.store import Ledger, ledger_key

BODY = {"question": "{query}"}
"""Default body of a request."""
PLACEHOLDERS = ("{query}", "{language}", "{query_id}")
"""Placeholders in the texts of a body; the first is required."""
_PLACEHOLDER = re.compile("|".join(map(re.escape, PLACEHOLDERS)))
_NAMES = {
    "id": ("id", "docid", "doc_id", "document_id", "passage_id", "chunk_id", "_id"),
    "title": ("title", "document_title"),
    "text": ("text", "content", "page_content", "passage", "body", "chunk", "snippet", "document"),
    "score": ("score", "similarity", "relevance_score"),
}
"""Names of the parts of a passage."""
PATHS = {"answer": "answer", "contexts": "contexts"}
"""Default paths of the answer, whose texts in several parts of a stream are joined, and of the passages: texts, or
objects with a text and perhaps id, title and score.
"""


@dataclass(frozen=True, slots=True)
class RagService:
    """A RAG service."""

    endpoint: Endpoint
    """Address and key."""
    paths: Mapping[str, str] = field(default_factory=lambda: dict(PATHS))
    """Where answer and contexts are in a response, such as `result.documents[*].text`."""
    body: Mapping[str, Any] = field(default_factory=lambda: dict(BODY))
    """Body of a request, with `{query}` in a text; also `{language}` and `{query_id}`."""
    limits: Limits = field(default_factory=Limits)
    """Concurrency, rates, timeouts, retries, prices and budget."""

    def __post_init__(self) -> None:
        for name, path in self.paths.items():
            if name not in PATHS:
                raise UnknownName("part of a response", name, PATHS, where="--paths")
            parse_path(path, where=f"--paths {name}")
        if PLACEHOLDERS[0] not in json.dumps(self.body, ensure_ascii=False):
            raise BadInput(
                "the body has no {query}, so that no question is sent",
                where="--body",
                do='write the question\'s place in a text: {"question": "{query}"}',
            )

    def request_body(self, question: Question) -> dict[str, Any]:
        """Return the body of a request."""
        values = dict(zip(PLACEHOLDERS, (question.text, question.language, question.query_id), strict=True))
        return {name: _fill(value, values) for name, value in self.body.items()}


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a RAG service."""

    language: str
    """Code of its language."""
    query_id: str
    """Its id."""
    text: str
    """Its text."""


def rag_service(
    base_url: str,
    *,
    key_env: str | None = None,
    name: str | None = None,
    paths: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
) -> RagService:
    """Describe a RAG service; nothing is sent.

    Args:
        base_url: the address that takes questions.
        key_env: environment variable with the key, sent as a bearer token; None for no key.
        name: name of the service in ledgers, if its address changes.
        paths: where answer and contexts are in a response.
        body: body of a request.
        limits: concurrency, rates, retries.

    Raises:
        UnknownName: if a path is of an unknown part.
        BadInput: if the address, the key, a path or the body is invalid.
    """
    endpoint = replace(resolve(base_url=base_url, key_env=key_env, keyless=True), name=name)
    if base_url.endswith("/"):
        endpoint = replace(endpoint, base_url=f"{endpoint.base_url}/")
    return RagService(endpoint, {**PATHS, **(paths or {})}, dict(BODY if body is None else body), limits or Limits())


def read_paths(option: str) -> dict[str, str]:
    """Parse `--paths`: `answer=PATH,contexts=PATH`.

    Raises:
        BadInput: if an entry is not NAME=PATH.
    """
    paths = {}
    for entry in option.split(","):
        name, _, path = (part.strip() for part in entry.partition("="))
        if not path:
            raise BadInput(
                f"{entry!r} is not NAME=PATH",
                where="--paths",
                do="write --paths answer=result.text,contexts=docs[*].text",
            )
        paths[name] = path
    return paths


def ask_service(
    questions: Sequence[Question],
    service: RagService,
    *,
    system: str,
    ledger: Ledger,
    rng: np.random.Generator,
    on_reply: OnReply | None = None,
    again: str | None = None,
) -> list[Reply | None]:
    """Get an answer with its contexts to every question; questions in the ledger are not sent.

    Args:
        questions: the questions.
        service: the service.
        system: name of the system, part of the ledger keys: another system at the same address is asked again.
        ledger: cache to which replies are committed as they arrive.
        rng: source of the backoff's jitter.
        on_reply: called with the number of a question and its reply, as they arrive.
        again: name of a repetition: only cached replies of this repetition count.

    Returns:
        One reply per question; None if not sent because the budget was reached.

    Raises:
        Unreachable: if the service rejects every call, or its responses lack answer or contexts.
        ArenaError: if the ledger cannot be written.
    """
    settings = Settings(system, temperature=None, max_tokens=0, service=service.endpoint.service)
    conversations: list[Messages] = [[{"role": "user", "content": question.text}] for question in questions]
    batch = _Questions(conversations, settings, ledger, on_reply, again, questions=questions, service=service)
    return ask(batch, endpoint=service.endpoint, limits=service.limits, rng=rng)


def question_key(question: Question, service: RagService, system: str, again: str | None = None) -> str:
    """Return the ledger key of a question; arguments as for `ask_service`."""
    return ledger_key(_request(question, service, system, again))


def _request(question: Question, service: RagService, system: str, again: str | None) -> dict[str, Any]:
    """Return everything that determines a reply."""
    return {
        "system": system,
        SERVICE: service.endpoint.service,
        "body": service.request_body(question),
        "paths": dict(service.paths),
        **({} if again is None else {AGAIN: again}),
    }


@dataclass
class _Questions(Batch):
    """Questions to a RAG service, and the ledger of its answers."""

    questions: Sequence[Question] = ()
    service: RagService | None = None

    def __post_init__(self) -> None:
        if self.service is None:
            raise TypeError("questions need a service")
        self._service = self.service
        super().__post_init__()

    @property
    def path(self) -> str:
        return self._service.endpoint.base_url

    def keys(self, number: int) -> Iterator[str]:
        yield ledger_key(self.request(number))

    def request(self, number: int) -> dict[str, Any]:
        return _request(self.questions[number], self._service, self.settings.model, self.again)

    def body(self, number: int, _limit: str) -> dict[str, Any]:
        return self._service.request_body(self.questions[number])

    def read(self, key: str, content: bytes, attempt: int, number: int) -> Reply:
        """Read answer and contexts from a response.

        Raises:
            Misfit: if the response is no JSON, or a path leads nowhere.
        """
        events = read_events(content)
        answers, found = (self._need(name, content, events) for name in PATHS)
        contexts = [_context(entry) for value in found for entry in _flatten_passages(value)]
        text = "".join(_words(value) for value in answers) or None
        text, reasoning, status, reason = separate_reasoning(text, None)
        shown = [part for context in contexts for part in (context.get("title"), context.get("text")) if part]
        return Reply(
            key,
            text,
            status,
            reason,
            text_tokens(self.questions[number].text + "".join(shown)),
            text_tokens(text or ""),
            None,
            attempt,
            estimated=True,
            reasoning=reasoning,
            contexts=contexts,
        )

    def _need(self, name: str, content: bytes, events: Sequence[Any] | None) -> list[Any]:
        """Return the values at a path in all events.

        Raises:
            Misfit: if there are none in any event.
            ErrorBody: if there is an error instead.
        """
        path = self._service.paths[name]
        found = [values for event in events or () if (values := find(event, parse_path(path))) is not None]
        if not found:
            for event in events or ():
                if isinstance(event, dict) and event.get("error"):
                    raise unreadable(event, "")
            raise Misfit(
                f"the response has no {name} at {path}: {describe(content, events)}",
                f"name the path with --paths {name}=PATH, or check --base-url and --body",
            )
        return [value for values in found for value in values]


def _fill(value: Any, values: Mapping[str, str]) -> Any:
    """Fill the placeholders in every text of a JSON value."""
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: values[match[0]], value)
    if isinstance(value, Mapping):
        return {name: _fill(inner, values) for name, inner in value.items()}
    return [_fill(inner, values) for inner in value] if isinstance(value, list) else value


def _flatten_passages(value: Any) -> list[Any]:
    """Return the passages of a value: the elements of a list, or a text itself; none for an empty one."""
    if isinstance(value, list):
        return [item for inner in value for item in _flatten_passages(inner)]
    return [value] if value else []


def _context(entry: Any) -> dict[str, Any]:
    """Return id, title, text and score of a passage, each if known."""
    values: dict[str, Any] = {"text": entry if isinstance(entry, str) else None}
    if isinstance(entry, Mapping):
        inner = entry.get("metadata")
        sources = [entry, inner] if isinstance(inner, Mapping) else [entry]
        for name, names in _NAMES.items():
            values[name] = next((source[key] for source in sources for key in names if source.get(key)), None)
    score = values.pop("score", None)
    number = isinstance(score, int | float) and not isinstance(score, bool) and abs(score) < 1e300
    known = {name: _words(value) for name, value in values.items()} | {"score": score if number else None}
    return {name: value for name, value in known.items() if value not in (None, "")}


def _words(value: Any) -> str:
    """Return a value as a storable text, with lone surrogates replaced; empty for null."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
