"""Interpretation of failed calls: retry and when, give up, or stop everything."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mirage.llm.faults import Run, error_words, find_behaviour, service_words, strings
from mirage.llm.json_paths import read_events
from mirage.llm.waits import asked_wait

_UNREACHABLE = "check that the server is running, and host and port of --base-url"
_CODES = ("code", "status", "status_code")
KNOCKS = 2
"""Maximum attempts to connect to a service that has not been reached."""
_UNREACHED = ("ConnectError", "ConnectTimeout", "ProxyError")
"""Errors of the client's library before a connection was made."""
_MAY_ASK = ("credit", "account", "permission", "forbidden", "unknown")
"""Kinds of errors that end with time if they ask to wait."""


class Unreadable(Exception):
    """A response that is not a chat completion, or is too large."""


class ErrorBody(Unreadable):
    """An error response with status 200.

    Args:
        status: the actual status, if the body has one, else 200.
        body: the error.
    """

    def __init__(self, status: int, body: object) -> None:
        super().__init__(f"it is an error: {error_words(body)}")
        self.status, self.body = status, body


class Misfit(Unreadable):
    """A response without the expected content, which every other request would get too.

    Args:
        reason: the missing content, and what there is instead.
        do: advice.
        run: what a run does then.
    """

    def __init__(self, reason: str, do: str, run: Run = "unfit") -> None:
        super().__init__(reason)
        self.do, self.run = do, run


class Redirected(Exception):
    """The service redirects to another origin, named in the message."""


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """Decision after a failure."""

    action: Run
    """Reaction of the run."""
    reason: str
    """Description of the failure, for the row or the error."""
    wait: float | None = None
    """Seconds that the service asked to wait; None if not given."""
    do: str = ""
    """Advice, if everything stops."""
    parameter: str = ""
    """The unsupported parameter."""
    unreached: bool = False
    """Whether no connection was made: refused, or an unknown host name."""


def judge_failure(error: Exception, sent: Mapping[str, object] | None = None) -> RetryDecision:
    """Interpret the failure of a call by its type, status, headers and body.

    Args:
        error: the failure.
        sent: body of the request, to find an unsupported parameter.

    Raises:
        Exception: the error itself, if it is not a failure of a call.
    """
    import openai

    if isinstance(error.__cause__, Unreadable | Redirected):
        # The client may wrap unknown errors.
        error = error.__cause__
    if isinstance(error, openai.APIStatusError):
        content = error.response.content
        parts: list[object] = read_events(content) or [content.decode("utf-8", "replace")]
        body = parts if len(parts) > 1 else parts[0]
        return _judge_status(error.status_code, body, error.response.headers, sent or {})
    if isinstance(error, ErrorBody):
        return _judge_status(error.status, error.body, {}, sent or {})
    if type(error.__cause__).__name__ in _UNREACHED:
        return RetryDecision("again", f"the connection failed: {_cause(error)}", do=_UNREACHABLE, unreached=True)
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return RetryDecision("again", "no answer within the time limit")
    if isinstance(error, openai.APIConnectionError):
        return RetryDecision("again", f"the connection failed: {type(error.__cause__ or error).__name__}")
    if isinstance(error, Misfit):
        return RetryDecision(error.run, str(error), do=error.do)
    if isinstance(error, Unreadable):
        return RetryDecision("again", f"the answer could not be read: {error}")
    if isinstance(error, Redirected):
        message = f"the service redirects to another origin, {error}; nothing was sent there"
        return RetryDecision("stop", message, do="check the address; if the service has moved, set it with --base-url")
    raise error


def _cause(error: BaseException) -> str:
    """Return the innermost cause of a failed connection, in the system's words."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return os.strerror(error.errno) if isinstance(error, ConnectionError) and error.errno else str(error)


def _judge_status(status: int, body: object, headers: Mapping[str, str], sent: Mapping[str, object]) -> RetryDecision:
    """Decide by the status and body of an error.

    Args:
        status: the HTTP status, or the one in the body; 200 if only the body is an error.
        body: the error.
        headers: headers of the response.
        sent: body of the request.
    """
    reason = f"HTTP {status}: {error_words(body)}" if status >= 400 else f"the answer is an error: {error_words(body)}"
    found = find_behaviour(status, body, sent)
    wait = asked_wait(headers, body, limited=found.kind == "rate") if found.run == "again" else None
    if found.kind in _MAY_ASK and (wait := asked_wait({}, body)):
        return RetryDecision("again", reason, wait=wait)
    if found.run == "unfit" and status < 400:
        return RetryDecision("again", reason)
    if found.run == "refused":
        reason = f"the service's content filter declined the request ({reason})"
    if found.run == "row":
        reason = f"{reason}; {found.do}"
    return RetryDecision(found.run, reason, wait=wait, do=found.do, parameter=found.parameter)


def unreadable_error(answer: Mapping[str, object], reason: str) -> Unreadable:
    """Return the error of a response with status 200: its own, else the given reason."""
    error = answer.get("error") or answer
    if error is answer and not service_words(answer):
        return Unreadable(reason)
    codes = (int(text) for key, text in strings(answer) if key in _CODES and text.isdecimal())
    return ErrorBody(next((code for code in codes if 400 <= code < 600), 200), error)


def pause(attempt: int, rng: np.random.Generator, *, base: float, longest: float) -> float:
    """Return the backoff in seconds after an attempt, from 1: exponential with jitter between half and all of it."""
    upper = min(longest, base * 2 ** (attempt - 1))
    return float(rng.uniform(upper / 2, upper))
