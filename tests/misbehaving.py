"""A chat service on this machine that misbehaves on command: OpenAI's protocol, the standard library alone.

    with Service(lambda call: error(500) if call.number == 1 else reply()) as service:
        endpoint = resolve(base_url=service.url)
        ...
        assert service.requests["some query"] == 2

`behave` gets each call and returns what to do with it: one of the functions below. It may be replaced while the service
runs. Calls are told apart by the text of their last message.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TEXT = "##Reason: the first passage says so [1#0]. ##Answer: Yes."


@dataclass(frozen=True)
class Call:
    """One request."""

    content: str
    """Text of the last message."""
    number: int
    """How many times it has been asked, this time included."""
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    """By lower-case name."""
    path: str = ""
    """Of the address."""


@dataclass(frozen=True)
class Act:
    """What to do with one request."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    silence: float = 0.0
    """Seconds before the first byte."""
    sent: float = 1.0
    """Share of the answer, its head included, that is sent before the connection is dropped."""
    gap: float = 0.0
    """Seconds between every two bytes."""
    endless: bool = False
    """Whether the body is sent again and again until the client hangs up."""
    completion: bool = False
    """Whether the body is a chat completion."""


def reply(
    text: str | None = TEXT, *, finish: str = "stop", refusal: str | None = None, usage: bool = True, model: str = "m-1"
) -> Act:
    """A chat completion."""
    answer: dict[str, Any] = {
        "id": "call-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
            }
        ],
    }
    if usage:
        answer["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return Act(body=json.dumps(answer).encode(), completion=True)


def replied(message: Mapping[str, Any], *, finish: str = "stop", usage: object = None) -> Act:
    """A chat completion with a message and a usage of any kind."""
    choices = [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}]
    answer = {"id": "call-1", "object": "chat.completion", "created": 1, "model": "m-1", "choices": choices}
    return Act(body=json.dumps({**answer, "usage": usage}).encode(), completion=True)


def embedded(call: Call, vector: Callable[[str], list[float]]) -> Act:
    """The vectors of the texts of a request, in any order."""
    data = [{"index": k, "embedding": vector(text)} for k, text in enumerate(call.body["input"])]
    answer = {"object": "list", "data": data[::-1], "usage": {"prompt_tokens": 7, "total_tokens": 7}}
    return Act(body=json.dumps(answer).encode())


def redirect(to: str, status: int = 307) -> Act:
    """A redirect."""
    return Act(status, headers={"location": to})


def endless(status: int = 200) -> Act:
    """A body that never ends."""
    return Act(status, body=b"x" * 65_536, endless=True)


def error(status: int, message: str = "it went wrong", *, code: str | None = None, **headers: str) -> Act:
    """An error; header names are given with `_` for `-`: `error(429, retry_after="1")`."""
    body = json.dumps({"error": {"message": message, "type": "some_error", "param": None, "code": code}}).encode()
    return Act(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def half() -> Act:
    """Half an answer, then the connection is gone."""
    return replace(reply(), sent=0.5)


def not_json() -> Act:
    """A good status over a page for people."""
    return Act(body=b"<html><body>We will be back soon.</body></html>", headers={"content-type": "text/html"})


def no_choice() -> Act:
    """A completion without a choice."""
    return Act(body=b'{"id": "call-1", "object": "chat.completion", "choices": [], "usage": null}')


def filtered() -> Act:
    """The service's filter cut the reply."""
    return reply(None, finish="content_filter")


def filtered_request() -> Act:
    """The service's filter turned the request down."""
    return error(400, "The prompt triggered the content policy.", code="content_filter")


def silent(seconds: float) -> Act:
    """A good answer, but late."""
    return replace(reply(), silence=seconds)


def trickling(gap: float) -> Act:
    """A good answer, byte by byte."""
    return replace(reply(), gap=gap)


def dropped() -> Act:
    """The connection is gone without a byte."""
    return Act(sent=0.0)


FAILURES: tuple[Callable[[], Act], ...] = (
    lambda: error(429),
    lambda: error(429, retry_after="0"),
    lambda: error(500),
    lambda: error(503),
    half,
    not_json,
    no_choice,
    dropped,
)
"""What a call may be made again after."""


class Service:
    """The running service; a context manager.

    Args:
        behave: what to do with a call; by default answer it.
        latency: seconds before every answer.
    """

    def __init__(self, behave: Callable[[Call], Act] = lambda call: reply(), *, latency: float = 0.0) -> None:
        self.behave, self.latency = behave, latency
        self.requests: Counter[str] = Counter()
        """Requests by the text of their last message."""
        self.answered: Counter[str] = Counter()
        """Chat completions sent whole, likewise."""
        self.calls: list[Call] = []
        self.sent = 0
        """Bytes of endless bodies sent so far."""
        self.at_once = 0
        """Most requests under way at one time."""
        self._now = 0
        self._lock = threading.Lock()
        self.closing = threading.Event()
        """Set when the service ends."""
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """Address of the API."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Service:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take(self, body: Mapping[str, Any], headers: Mapping[str, str], path: str) -> tuple[Call, Act]:
        """Count a request and say what to do with it."""
        content = str(body["messages"][-1]["content"] if "messages" in body else body["input"][-1])
        with self._lock:
            self.requests[content] += 1
            call = Call(content, self.requests[content], body, headers, path)
            self.calls.append(call)
            self._now += 1
            self.at_once = max(self.at_once, self._now)
        act = self.behave(call)
        self.closing.wait(self.latency + act.silence)
        with self._lock:
            self._now -= 1
            self.answered[content] += act.completion and act.sent == 1
        return call, act


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that leave in the middle are part of the play."""


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class names it so
            """Say nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            _, act = service.take(body, headers, self.path)
            size = {} if act.endless else {"content-length": str(len(act.body))}
            lines = {"content-type": "application/json", **act.headers, **size}
            head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
            whole = f"HTTP/1.1 {act.status} Said\r\n{head}\r\n".encode() + act.body
            self.close_connection = act.sent < 1 or act.endless
            sent = whole[: int(len(whole) * act.sent)]
            for part in [sent[i : i + 1] for i in range(len(sent))] if act.gap else [sent]:
                self.wfile.write(part)
                service.closing.wait(act.gap)
            while act.endless and not service.closing.is_set():
                self.wfile.write(act.body)
                service.sent += len(act.body)

    return Handler
