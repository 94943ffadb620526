"""Interpretation of failed calls: retry and when, give up, or stop everything."""

from __future__ import annotations

import email.utils
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from mirage.llm.faults import error_words, find_fault, service_words, strings
from mirage.llm.json_paths import read_events

_STOP = {
    401: "the key is not accepted: check its variable",
    402: "the account has no credit left: add credit, then rerun the command",
    403: "the key has no permission: check the account's access to the model",
    404: "there is no such model or address: check --model and --base-url",
    405: "this address takes no chat requests: check --base-url",
}
"""Statuses that every further call would get too, with advice."""
_UNREACHABLE = "check that the server is running, and host and port of --base-url"
_CODES = ("code", "status", "status_code")
_UNFIT = "check the model's name and the options: the service rejects such a request"
_TOO_LARGE = 413
_LIMITED = (420, 429, 498)
"""Statuses of a rate limit; 420 and 498 are of some gateways."""
_AGAIN = (408, 409, 424, 425, 499, *_LIMITED)
KNOCKS = 2
"""Maximum attempts to connect to a service that has not been reached."""
_UNREACHED = ("ConnectError", "ConnectTimeout", "ProxyError")
"""Errors of the client's library before a connection was made."""
_RETRY = re.compile(
    r"(retry[-_]?(after|delay|in)|wait[-_]?(time|for)?)([-_]?(ms|seconds|secs?|s))?|seconds|estimated_time", re.I
)
"""Names of the time to wait, of headers and of fields."""
_RESET = re.compile(r"[\w-]*reset[\w-]*")
"""Names of the time at which a rate limit ends; the name with `remaining` has what is left of it."""
_UNITS = {"ms": 0.001, "millisecond": 0.001, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60}
_UNITS |= {"h": 3600, "hr": 3600, "hour": 3600, "d": 86_400, "day": 86_400}
_PART = rf"(\d+(?:\.\d+)?)\s*({'|'.join(sorted(_UNITS, key=len, reverse=True))})s?(?![a-z])[\s,]*"
_SAID = re.compile(
    rf"(?:again|retry|wait|resets?|retry_?delay)[\"'\s:=]+(?:(?:in|after|for|at least|about)\s+)*((?:{_PART})+)",
    re.IGNORECASE,
)
"""A time to wait in words."""
_EPOCH = 1e9
"""Seconds from which a number is a time since 1970; from a hundred times as many on, in milliseconds."""


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
    """

    def __init__(self, reason: str, do: str) -> None:
        super().__init__(reason)
        self.do = do


class Redirected(Exception):
    """The service redirects to another origin, named in the message."""


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """Decision after a failure."""

    action: Literal["again", "refused", "row", "adapt", "unfit", "stop"]
    """`again`: retry; `refused`: the service declines this request; `row`: this request cannot be answered, others may;
    `adapt`: retry without the parameter, or with its other name; `unfit`: invalid request, which concerns only this one
    if others were accepted, else all; `stop`: every request would be rejected.
    """
    reason: str
    """Description of the failure, for the row or the error."""
    wait: float | None = None
    """Seconds that the service asked to wait; None if not given."""
    do: str = ""
    """Advice, if everything stops."""
    parameter: str = ""
    """The unsupported parameter."""
    unreached: bool = False
    """Whether no connection was made: nobody listens there, or the name is unknown."""


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
        return RetryDecision("unfit", str(error), do=error.do)
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
    fault = find_fault(body, sent)
    limited = status in _LIMITED or (fault.of == "rate" and status not in (401, 402, 404))
    if fault.of == "credit" and status != 404:
        return RetryDecision("stop", reason, do=_STOP[402])
    if fault.of == "auth" and status not in (*_STOP, *_AGAIN):
        return RetryDecision("stop", reason, do=_STOP[401])
    if limited or status in _AGAIN or (status >= 500 and fault.of != "length"):
        return RetryDecision("again", reason, wait=asked_wait(headers, body, limited=limited))
    if fault.of == "filter" and status not in (401, 402, 404):
        return RetryDecision("refused", f"the service's content filter declined the request ({reason})")
    if status in _STOP:
        return RetryDecision("stop", reason, do=_STOP[status])
    if fault.of == "length" or status == _TOO_LARGE:
        return RetryDecision("row", reason)
    if fault.of == "parameter":
        return RetryDecision("adapt", reason, do=fault.do or _UNFIT, parameter=fault.parameter)
    if fault.of == "setting":
        return RetryDecision("stop", reason, do=fault.do or _UNFIT, parameter=fault.parameter)
    return RetryDecision("again" if status < 400 else "unfit", reason, do=_UNFIT)


def unreadable(answer: Mapping[str, object], reason: str) -> Unreadable:
    """Return the error of a response with status 200: its own, else the given reason."""
    error = answer.get("error") or answer
    if error is answer and not service_words(answer):
        return Unreadable(reason)
    codes = (int(text) for key, text in strings(answer) if key in _CODES and text.isdecimal())
    return ErrorBody(next((code for code in codes if 400 <= code < 600), 200), error)


def asked_wait(
    headers: Mapping[str, str], body: object = None, *, limited: bool = False, now: datetime | None = None
) -> float | None:
    """Return the seconds that a service asks to wait; None if it does not.

    First by `Retry-After` and its like in the headers or the body (a number, a duration such as `1m30s`, or a date),
    then by the words of the body, then by the end of a rate limit.

    Args:
        headers: headers of the response.
        body: the error.
        limited: whether a rate limit was exceeded, so that its end counts.
        now: the time; by default the clock's.
    """
    now = now or datetime.now(UTC)
    given = [(name.lower(), text) for name, text in (*headers.items(), *strings(body))]
    asked = [(not name.endswith("ms"), _seconds(name, text, now)) for name, text in given if _RETRY.fullmatch(name)]
    known = [seconds for _, seconds in sorted(asked, key=lambda each: each[0]) if seconds is not None]
    if not known:
        known = [_duration(said[1]) for _, text in given if (said := _SAID.search(text))]
    if not known and limited:
        left = dict(given)
        resets = [
            (left.get(name.replace("reset", "remaining"), "?"), _seconds(name, text, now))
            for name, text in given
            if _RESET.fullmatch(name)
        ]
        # Several limits have an end each: the one without anything left counts, else the nearest.
        known = sorted((s for n, s in resets if s is not None and n == "0"), reverse=True)
        known = known or sorted(s for n, s in resets if s is not None and n == "?")
    return max(0.0, known[0]) if known else None


def _seconds(name: str, text: str, now: datetime) -> float | None:
    """Return the seconds to wait by a value: a number, a duration, or a date or time since 1970."""
    try:
        value = float(text)
    except ValueError:
        if re.fullmatch(f"(?:{_PART})+", text.strip(), re.IGNORECASE):
            return _duration(text)
        try:
            when = email.utils.parsedate_to_datetime(text)
        except ValueError:
            try:
                when = datetime.fromisoformat(text)
            except ValueError:
                return None
        return ((when if when.tzinfo else when.replace(tzinfo=UTC)) - now).total_seconds()
    if not math.isfinite(value):
        return None
    if value >= _EPOCH:
        return (value / 1000 if value >= 100 * _EPOCH else value) - now.timestamp()
    return value / 1000 if name.endswith("ms") else value


def _duration(text: str) -> float:
    """Return the seconds of a duration such as `1m30s`."""
    return sum(float(n) * _UNITS[unit.lower()] for n, unit in re.findall(_PART, text, re.IGNORECASE))


def pause(attempt: int, rng: np.random.Generator, *, base: float, longest: float) -> float:
    """Return the backoff in seconds after an attempt, from 1: exponential with jitter between half and all of it."""
    upper = min(longest, base * 2 ** (attempt - 1))
    return float(rng.uniform(upper / 2, upper))
