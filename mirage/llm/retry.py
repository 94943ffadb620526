"""Interpretation of failed calls: retry and when, give up, or stop everything."""

from __future__ import annotations

import email.utils
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from mirage.llm.faults import find_fault

_STOP = {
    401: "the key is not accepted: check its variable",
    402: "the account has no credit left: add credit, then rerun the command",
    403: "the key has no permission: check the account's access to the model",
    404: "there is no such model or address: check --model and --base-url",
}
"""Statuses that every further call would get too, with advice."""
_UNFIT = "check the model's name and the options: the service rejects such a request"
_TOO_MANY, _TOO_LARGE = 429, 413
_AGAIN = (408, 409, 425, _TOO_MANY)
_SHOWN = 300
"""Maximum characters of a service's message in a reason."""


class Unreadable(Exception):
    """A response that is not a chat completion, or is too large."""


class ErrorBody(Unreadable):
    """An error response with status 200 that contains its actual status.

    Args:
        status: the actual status.
        body: the error.
    """

    def __init__(self, status: int, body: object) -> None:
        super().__init__(f"it is an error: {json.dumps(body)[:_SHOWN]}")
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
        return _judge_status(error.status_code, error.body, str(error), error.response.headers, sent or {})
    if isinstance(error, ErrorBody):
        return _judge_status(error.status, error.body, str(error), {}, sent or {})
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


def _judge_status(
    status: int, body: object, client: str, headers: Mapping[str, str], sent: Mapping[str, object]
) -> RetryDecision:
    """Decide by the status and body of a response.

    Args:
        status: the HTTP status, or the one in the body.
        body: the error.
        client: the client's message.
        headers: headers of the response.
        sent: body of the request.
    """
    content = body[0] if isinstance(body, list) and body else body
    content = content.get("error", content) if isinstance(content, Mapping) else content
    fields = content if isinstance(content, Mapping) else {}
    reason = f"HTTP {status}: {_message(fields, client)}"
    if status == _TOO_MANY and "insufficient_quota" in (fields.get("code"), fields.get("type")):
        return RetryDecision("stop", reason, do=_STOP[402])
    if status in _AGAIN or status >= 500:
        return RetryDecision("again", reason, wait=retry_after(headers))
    fault = find_fault(content, sent)
    if fault.of == "filter" and status not in (401, 402, 404):
        return RetryDecision("refused", "the service's content filter declined the request")
    if status in _STOP:
        return RetryDecision("stop", reason, do=_STOP[status])
    if fault.of == "length" or status == _TOO_LARGE:
        return RetryDecision("row", reason)
    if fault.of == "parameter":
        return RetryDecision("adapt", reason, do=fault.do or _UNFIT, parameter=fault.parameter)
    if fault.of == "setting":
        return RetryDecision("stop", reason, do=fault.do or _UNFIT, parameter=fault.parameter)
    return RetryDecision("unfit", reason, do=_UNFIT)


def unreadable(answer: Mapping[str, object], reason: str) -> Unreadable:
    """Return the error of a response with status 200: its own, else the given reason."""
    error = answer.get("error")
    if not error:
        return Unreadable(reason)
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, int) and 400 <= code < 600:
        return ErrorBody(code, error)
    return Unreadable(f"it is an error: {json.dumps(error)[:_SHOWN]}")


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return the seconds that the headers ask to wait; None if they do not.

    They are `retry-after-ms`, or `Retry-After` with a number or a date (RFC 9110, 10.2.3).
    """
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        when = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def pause(attempt: int, rng: np.random.Generator, *, base: float, longest: float) -> float:
    """Return the backoff in seconds after an attempt, from 1: exponential with jitter between half and all of it."""
    upper = min(longest, base * 2 ** (attempt - 1))
    return float(rng.uniform(upper / 2, upper))


def _message(fields: Mapping[str, object], client: str) -> str:
    """Return the service's error message, else the client's."""
    message = fields.get("message")
    text = message if isinstance(message, str) and message else client
    return " ".join(text.split())[:_SHOWN]
