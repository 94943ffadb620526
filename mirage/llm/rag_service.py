"""Calls to a RAG service: any HTTP address that takes a question and returns an answer with its contexts.

The request is a JSON body with the question at a placeholder. The response is JSON, or a stream of it (NDJSON or SSE),
whose parts are joined; paths say where answer and contexts are (`json_paths.py`). Calls have the ledger, the retries
and the rates of chat models.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mirage.errors import BadInput, UnknownName
from mirage.llm.calls import AGAIN, SERVICE, ChatModel, Limits, Settings, refuse_secrets
from mirage.llm.completion import Messages, Reply, replace_surrogates, separate_reasoning, text_tokens
from mirage.llm.json_paths import describe, find, parse_path, read_events
from mirage.llm.presets import Endpoint, resolve
from mirage.llm.retry import Misfit, unreadable_error

BODY = {"question": "{query}"}
"""Default body of a request."""
PLACEHOLDERS = {"{query}": "content", "{language}": "language", "{query_id}": "query_id"}
"""Placeholders in the texts of a body, with the field of a question; the first is required."""
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
    paths: Mapping[str, str]
    """Paths of answer and contexts in a response, such as `result.documents[*].text`."""
    body: Mapping[str, Any]
    """Body of a request, with `{query}` in a text; also `{language}` and `{query_id}`."""
    limits: Limits
    """Concurrency, rates, timeouts, retries, prices and budget."""

    def __post_init__(self) -> None:
        for name, path in self.paths.items():
            if name not in PATHS:
                raise UnknownName("part of a response", name, PATHS, where="--paths")
            parse_path(path, where=f"--paths {name}")
        refuse_secrets(self.body, "--body")
        if "{query}" not in json.dumps(self.body, ensure_ascii=False):
            raise BadInput(
                "the body has no {query}, so that no question is sent",
                where="--body",
                do='write the question\'s place in a text: {"question": "{query}"}',
            )

    def model(self, system: str) -> ChatModel:
        """Return the service as the model of a system; another system at the same address is asked again."""
        return ChatModel(RagSettings(system, None, None, 0, rag=self), self.limits, self.endpoint)


@dataclass(frozen=True, slots=True)
class RagSettings(Settings):
    """The system behind a RAG service. A conversation is one question, with its `language` and `query_id`."""

    rag: RagService = field(kw_only=True)
    """The service."""

    @property
    def path(self) -> str:
        """The service's whole address."""
        return self.rag.endpoint.base_url

    @property
    def made_with(self) -> dict[str, Any]:
        """The service with its body and paths, for a manifest."""
        return {"RAG service": self.rag.endpoint.service, "body": self.rag.body, "paths": dict(self.rag.paths)}

    def request(self, messages: Messages, again: str | None = None) -> dict[str, Any]:
        """Return everything that determines a reply."""
        (question,) = messages
        values = {name: question[field] for name, field in PLACEHOLDERS.items()}
        return {
            "system": self.model,
            SERVICE: self.rag.endpoint.service,
            "body": _fill(self.rag.body, values),
            "paths": dict(self.rag.paths),
            **({} if again is None else {AGAIN: again}),
        }

    def body(self, request: Mapping[str, Any], _limit: str) -> dict[str, Any]:
        """Return the body to send for a request."""
        return dict(request["body"])

    def read(self, key: str, content: bytes, attempt: int, messages: Messages) -> Reply:
        """Read answer and contexts from a response.

        Raises:
            Misfit: if the response is not JSON, or a path matches nothing.
        """
        events = read_events(content)
        answers, found = (self._find(name, content, events) for name in PATHS)
        contexts = [_context(entry) for value in found for entry in _flatten_passages(value)]
        text, reasoning, status, reason = separate_reasoning("".join(map(_words, answers)) or None, None)
        shown = [context.get(part, "") for context in contexts for part in ("title", "text")]
        return Reply(
            key,
            text,
            status,
            reason,
            text_tokens(messages[0]["content"] + "".join(shown)),
            text_tokens(text or ""),
            None,
            attempt,
            estimated=True,
            reasoning=reasoning,
            contexts=contexts,
        )

    def _find(self, name: str, content: bytes, events: Sequence[Any] | None) -> list[Any]:
        """Return the values at a path in all events.

        Raises:
            Misfit: if there are none in any event.
            ErrorBody: if there is an error instead.
        """
        path = self.rag.paths[name]
        found = [values for event in events or () if (values := find(event, parse_path(path))) is not None]
        if not found:
            for event in events or ():
                if isinstance(event, dict) and event.get("error"):
                    raise unreadable_error(event, "")
            raise Misfit(
                f"the response has no {name} at {path}: {describe(content, events)}",
                f"name the path with --paths {name}=PATH, or check --base-url and --body",
            )
        return [value for values in found for value in values]


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
    return RagService(endpoint, PATHS | dict(paths or {}), BODY if body is None else body, limits or Limits())


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
    """Return a value as a storable text; empty for null."""
    if value is None:
        return ""
    return replace_surrogates(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
