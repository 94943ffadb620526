"""Streamed chat replies: text as the service sends it, then one ending. Closing a stream closes its connection.

    with Streams() as streams:
        stream = streams.start(StreamCall(endpoint, settings, messages), events.put)
        stream.close()  # ends the request, so the service can stop generating

All streams of a process share one thread. A reply that is not an event stream (HTML, other bytes), stalls, ends early
or does not end yields the text received so far, then an ending with the reason.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from mirage.errors import MirageError
from mirage.llm.calls import Limits, Messages, Settings, prompt_tokens, request, request_body, sent_bytes, text_tokens
from mirage.llm.client import change_parameter, connect, rename_parameters
from mirage.llm.endings import separate_reasoning
from mirage.llm.json_paths import describe, read_events
from mirage.llm.presets import Endpoint
from mirage.llm.retry import Misfit, judge_failure
from mirage.llm.usage import read_usage
from mirage.schema import Status

_FIELD = re.compile(r"(?:data|event|id|retry)?:|data$|event$|id$|retry$")
"""Prefix of a line of an event stream (WHATWG, server-sent events, 9.2.6)."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LONGEST_LINE = 1_000_000
_MAX_BODY = 8 * 1024**2
_ADAPTIONS = 4


@dataclass(frozen=True, slots=True)
class StreamCall:
    """A reply to stream, with its timeouts."""

    endpoint: Endpoint
    """Address and key of the service."""
    settings: Settings
    """Model and parameters."""
    messages: Messages
    """The conversation."""
    first_seconds: float = 30.0
    """Timeout for the first text, in seconds."""
    gap_seconds: float = 20.0
    """Timeout between two texts, in seconds."""
    seconds: float = 120.0
    """Total timeout, in seconds."""
    characters: int = 8_000
    """Maximum characters of the reply; a longer reply is cut off."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of a reply, in the order sent."""

    text: str


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a reply; the last event of a stream that was not closed."""

    text: str | None
    """The full text, without reasoning."""
    status: Status
    """As in `schema.Answer`; `api_error` for a stream that failed."""
    reason: str | None
    """Why the reply is incomplete; null with `ok`."""
    tokens_in: int
    """Prompt tokens, by the service's count or an estimate."""
    tokens_out: int
    """Reply tokens, likewise."""
    thoughts: str | None = None
    """The model's reasoning; null if there is none."""


Put = Callable[[Piece | Ending], object]
"""Callback for the events of a stream, called in the streams' thread."""


class Stream:
    """A running stream."""

    def __init__(self, task: Future[None]) -> None:
        self._task = task

    def close(self) -> None:
        """Close the connection to the service; no event follows. Idempotent."""
        self._task.cancel()


class Streams:
    """All streams of a process, as a context manager. The thread starts with the first stream."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._clients: dict[Endpoint, Any] = {}

    def start(self, call: StreamCall, put: Put) -> Stream:
        """Send a request; its events go to `put`."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="streams", daemon=True)
                self._thread.start()
            return Stream(asyncio.run_coroutine_threadsafe(self._follow(call, put), self._loop))

    def close(self) -> None:
        """Close every stream and stop the thread."""
        with self._lock:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(self._end(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def __enter__(self) -> Streams:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for client in self._clients.values():
            await client.close()
        self._clients.clear()

    async def _follow(self, call: StreamCall, put: Put) -> None:
        """Stream a reply; the last event is always an ending."""
        reply = _Reply(call, put)
        try:
            if call.endpoint not in self._clients:
                self._clients[call.endpoint] = connect(
                    call.endpoint, Limits(timeout=max(call.seconds, 1.0), max_body=_MAX_BODY)
                )
            await _receive(self._clients[call.endpoint], reply)
        except TimeoutError:
            reply.fault = reply.late()
        except Exception as error:
            reply.fault = _fault(error)
        put(reply.ending())


@dataclass
class _Reply:
    """The part of a reply that has arrived."""

    call: StreamCall
    put: Put
    text: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    size: int = 0
    finish: object = None
    whole: bool = False
    usage: dict[str, Any] = field(default_factory=dict)
    fault: str | None = None

    def take(self, event: Any) -> None:
        """Read one event of the stream.

        Raises:
            Misfit: if it is not a chunk of a chat completion.
            _EndedError: if the service reports an error, or the reply is too long.
        """
        if not isinstance(event, dict):
            raise Misfit("the service does not stream chat completions: an event is not an object", "")
        if event.get("error"):
            detail = event["error"]
            words = detail.get("message") if isinstance(detail, dict) else detail
            raise _EndedError(f"the service broke off the answer: {str(words)[:200]}")
        if isinstance(event.get("usage"), dict):
            self.usage = event
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if not isinstance(choice, dict) or choice.get("index") not in (0, None):
                continue
            self.finish = choice.get("finish_reason") or self.finish
            part = choice.get("delta") or choice.get("message")
            if isinstance(part, dict):
                self._add(part)

    def _add(self, part: dict[str, Any]) -> None:
        thought = part.get("reasoning_content") or part.get("reasoning")
        if isinstance(thought, str):
            self.thoughts.append(_UNSTORABLE.sub("\ufffd", thought))
        content = part.get("content")
        if not isinstance(content, str) or not content:
            return
        left = self.call.characters - self.size
        content = _UNSTORABLE.sub("\ufffd", content)
        self.size += len(content)
        self.text.append(content[:left])
        self.put(Piece(content[:left]))
        if len(content) > left:
            raise _EndedError(f"the answer is longer than {self.call.characters:,} characters and was stopped")

    def late(self) -> str:
        """Describe a timeout."""
        if not self.text:
            return f"no text within {self.call.first_seconds:g} seconds"
        return f"the answer stopped: no text for {self.call.gap_seconds:g} seconds, or {self.call.seconds:g} in all"

    def ending(self) -> Ending:
        """Return the end of the reply."""
        call, joined = self.call, "".join(self.text)
        thoughts = "".join(self.thoughts) or None
        fault = self.fault
        if fault is None and not self.whole and self.finish is None:
            fault = "the stream ended before the answer did"
        text, thought, status, reason = separate_reasoning(joined or None, self.finish, reasoning=thoughts)
        if fault is not None:
            status, reason = "api_error", call.endpoint.redact(fault)
        received = len((joined + (thoughts or "")).encode("utf-8", "surrogatepass"))
        usage = read_usage(
            self.usage, sent=sent_bytes(call.messages), limit=call.settings.max_tokens, received=received
        )
        return Ending(
            None if text is None else call.endpoint.redact(text),
            status,
            reason,
            prompt_tokens(call.messages) if usage.tokens_in is None else usage.tokens_in,
            text_tokens(joined + (thoughts or "")) if usage.tokens_out is None else usage.tokens_out,
            thought,
        )


class _EndedError(Exception):
    """Ends a reply, with the reason."""


async def _receive(client: Any, reply: _Reply) -> None:
    """Send the request and read its stream; if the service rejects a parameter, retry without it."""
    call = reply.call
    body = request_body(request(call.settings, call.messages), call.endpoint.limit)
    body.pop("service", None)
    body |= {"stream": True, "stream_options": {"include_usage": True}}
    changes: dict[str, str | None] = {}
    for attempt in range(_ADAPTIONS):
        sent = rename_parameters(body, changes)
        try:
            await _read(client, sent, reply)
            return
        except Exception as error:
            changed = None if reply.text or attempt == _ADAPTIONS - 1 else _adapt(error, sent, changes)
            if changed is None:
                raise
            changes = changed


def _adapt(error: Exception, sent: dict[str, Any], changes: dict[str, str | None]) -> dict[str, str | None] | None:
    """Return the changes that omit a rejected parameter; None for other errors."""
    if isinstance(error, _EndedError | TimeoutError | Misfit):
        return None
    if "stream_options" in sent and "stream_options" in str(error):
        # Usage is then estimated.
        return {**changes, "stream_options": None}
    with suppress(Exception):
        verdict = judge_failure(error, sent)
        if verdict.action == "adapt":
            return change_parameter(changes, verdict.parameter)
    return None


async def _read(client: Any, body: dict[str, Any], reply: _Reply) -> None:
    """Read one stream to its end."""
    loop, call = asyncio.get_running_loop(), reply.call
    end = loop.time() + call.seconds
    async with asyncio.timeout(min(call.first_seconds, call.seconds)) as patience:
        async with client.chat.completions.with_streaming_response.create(**body) as response:
            kind = response.headers.get("content-type", "").lower()
            if "event-stream" not in kind:
                _take_whole(await _beginning(response.iter_bytes()), reply)
                return
            lines = _Lines()
            async for part in response.iter_bytes():
                before = reply.size
                for data in lines.events(part):
                    if data.strip() == "[DONE]":
                        reply.whole = True
                        return
                    reply.take(_parse(data))
                if reply.size > before:
                    patience.reschedule(min(loop.time() + call.gap_seconds, end))
            lines.refuse_rest()


async def _beginning(parts: AsyncIterator[bytes]) -> bytes:
    content = b""
    async for part in parts:
        content += part
        if len(content) > _LONGEST_LINE:
            break
    return content


def _take_whole(content: bytes, reply: _Reply) -> None:
    """Read a reply that was not streamed.

    Raises:
        Misfit: if it is no chat completion.
    """
    events = read_events(content)
    if not events or not all(isinstance(event, dict) and ("choices" in event or "error" in event) for event in events):
        raise Misfit(f"the service does not stream an answer: {describe(content, events)}", "")
    for event in events:
        reply.take(event)
    reply.whole = True


def _parse(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise Misfit(f"the service does not stream a chat completion: {describe(data.encode(), None)}", "") from None


class _Lines:
    """Incremental parser of server-sent events."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._data: list[str] = []

    def events(self, part: bytes) -> Iterator[str]:
        """Yield the data of each event completed by a chunk of bytes.

        Raises:
            Misfit: if a line is not part of an event stream, or does not end.
        """
        *lines, self._rest = re.split(r"\r\n|\n|\r(?!$)", self._rest + self._decoder.decode(part))
        if len(self._rest) > _LONGEST_LINE:
            self._refuse(self._rest)
        for line in lines:
            line = line.removeprefix("\ufeff")
            if line.startswith("data:"):
                self._data.append(line[5:].removeprefix(" "))
            elif not line:
                if self._data:
                    yield "\n".join(self._data)
                self._data = []
            elif not _FIELD.match(line):
                self._refuse(line)

    def refuse_rest(self) -> None:
        """Reject an unfinished line that cannot be part of an event stream.

        Raises:
            Misfit: if it cannot.
        """
        if self._rest.strip() and not _FIELD.match(self._rest):
            self._refuse(self._rest)

    @staticmethod
    def _refuse(line: str) -> None:
        raise Misfit(f"the service does not stream events: {describe(line[:2000].encode(), None)}", "")


def _fault(error: Exception) -> str:
    """Describe why a stream failed."""
    if isinstance(error, MirageError):
        return f"{error.what}; {error.do}"
    if isinstance(error, _EndedError | Misfit):
        return str(error)
    try:
        return judge_failure(error).reason
    except Exception:
        # Client library errors while reading a body; its two versions have different classes.
        return f"the connection was lost: {type(error).__name__}"
