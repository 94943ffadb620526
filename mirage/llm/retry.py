"""What a failed call means: ask again and when, give this one up, or stop everything."""

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
    401: "the key is not accepted: check the variable that holds it",
    402: "the account has no credit left: pay, then run the command again",
    403: "the key may not do this: check the account's rights to the model",
    404: "there is no such model or address: check --model and --base-url",
}
"""Answers that every further call would get too, with what to do."""
_UNFIT = "check the model's name and the options: the service does not take such a request"
_TOO_MANY, _TOO_LARGE = 429, 413
_AGAIN = (408, 409, 425, _TOO_MANY)
_SHOWN = 300
"""Characters of a service's own words that a reason keeps."""


class Unreadable(Exception):
    """An answer of the service that is no chat completion, or is too large to be read."""


class ErrorBody(Unreadable):
    """An error under a good status, which holds the status that it should have had.

    Args:
        status: that status.
        body: the error.
    """

    def __init__(self, status: int, body: object) -> None:
        super().__init__(f"it is an error: {json.dumps(body)[:_SHOWN]}")
        self.status, self.body = status, body


class Redirected(Exception):
    """The service redirects to another origin, which the message names."""


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """What to do after a failure."""

    action: Literal["again", "refused", "row", "adapt", "unfit", "stop"]
    """`again`: ask again; `refused`: the service declines this one request; `row`: this one request cannot be answered,
    which says nothing of others; `adapt`: ask without the parameter, or under its other name; `unfit`: the service
    takes no such request, which concerns this one alone if it took others, else all; `stop`: it would turn down every
    request."""
    reason: str
    """What happened, for the row or the error."""
    wait: float | None = None
    """Seconds the service asked to wait; None where it did not say."""
    do: str = ""
    """What to do, where everything stops."""
    parameter: str = ""
    """What the service does not take."""


def judge_failure(error: Exception, sent: Mapping[str, object] | None = None) -> RetryDecision:
    """Read the failure of a call by its type, status, headers and body.

    Args:
        error: the failure.
        sent: the body of the request; its parameters may be what the service does not take.

    Raises:
        Exception: the error itself, if it is no failure of a call.
    """
    import openai

    if isinstance(error.__cause__, Unreadable | Redirected):
        # Raised under the client, which may wrap what it does not know.
        error = error.__cause__
    if isinstance(error, openai.APIStatusError):
        return _judge_status(error.status_code, error.body, str(error), error.response.headers, sent or {})
    if isinstance(error, ErrorBody):
        return _judge_status(error.status, error.body, str(error), {}, sent or {})
    if isinstance(error, openai.APITimeoutError | TimeoutError):
        return RetryDecision("again", "no answer within the time limit")
    if isinstance(error, openai.APIConnectionError):
        return RetryDecision("again", f"the connection failed: {type(error.__cause__ or error).__name__}")
    if isinstance(error, Unreadable):
        return RetryDecision("again", f"the answer could not be read: {error}")
    if isinstance(error, Redirected):
        message = f"the service redirects to another origin, {error}; nothing was sent there"
        return RetryDecision(
            "stop", message, do="check the address; if the service is there now, give it with --base-url"
        )
    raise error


def _judge_status(
    status: int, body: object, client: str, headers: Mapping[str, str], sent: Mapping[str, object]
) -> RetryDecision:
    """Decide by the status and body of an answer.

    Args:
        status: HTTP's, or the one that an answer of a good status holds.
        body: the error.
        client: the client's words for it.
        headers: of the answer.
        sent: the body of the request.
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
    """Return the error of an answer under a good status: the one that it holds, else the reason given."""
    error = answer.get("error")
    if not error:
        return Unreadable(reason)
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, int) and 400 <= code < 600:
        return ErrorBody(code, error)
    return Unreadable(f"it is an error: {json.dumps(error)[:_SHOWN]}")


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Seconds that the headers ask to wait: `retry-after-ms`, or `Retry-After` with a number or a date (RFC 9110,
    10.2.3). None without either, or if what they say is neither.
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
    """Seconds to wait after the attempt of that number, from 1: between half and all of what doubles each time."""
    upper = min(longest, base * 2 ** (attempt - 1))
    return float(rng.uniform(upper / 2, upper))


def _message(fields: Mapping[str, object], client: str) -> str:
    """Return the service's own words: the message of its error, else what the client makes of it."""
    message = fields.get("message")
    text = message if isinstance(message, str) and message else client
    return " ".join(text.split())[:_SHOWN]
