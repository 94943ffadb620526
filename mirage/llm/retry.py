"""What a failed call means: ask again and when, give this one up, or stop everything."""

from __future__ import annotations

import email.utils
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import numpy as np

_STOP = {
    401: "the key is not accepted: check the variable that holds it",
    402: "the account has no credit left: pay, then run the command again",
    403: "the key may not do this: check the account's rights to the model",
    404: "there is no such model or address: check --model and --base-url",
}
"""Answers that every further call would get too, with what to do."""
_UNFIT = "check the model's name and the options: the service does not take such a request"
_AGAIN = (408, 409, 425, 429)
_SHOWN = 300
"""Characters of a service's own words that a reason keeps."""


class Unreadable(Exception):
    """An answer of the service that is no chat completion, or is too large to be read."""


class Redirected(Exception):
    """The service redirects to another origin, which the message names."""


@dataclass(frozen=True, slots=True)
class RetryDecision:
    """What to do after a failure."""

    action: Literal["again", "refused", "unfit", "stop"]
    """`again`: ask again; `refused`: the service declines this one request; `unfit`: it takes no such request, which
    concerns this one alone if it took others, else all; `stop`: it would turn down every request."""
    reason: str
    """What happened, for the row or the error."""
    wait: float | None = None
    """Seconds the service asked to wait; None where it did not say."""
    do: str = ""
    """What to do, where everything stops."""


def judge_failure(error: Exception) -> RetryDecision:
    """Read the failure of a call by its type, status, headers and error code, never by its wording.

    Raises:
        Exception: the error itself, if it is no failure of a call.
    """
    import openai

    if isinstance(error.__cause__, Unreadable | Redirected):
        # Raised under the client, which may wrap what it does not know.
        error = error.__cause__
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        body = error.body if isinstance(error.body, Mapping) else {}
        reason = f"HTTP {status}: {_said(body, error)}"
        codes = (body.get("code"), body.get("type"))
        if status == 400 and {"content_filter", "content_policy_violation"} & {str(code) for code in codes}:
            return RetryDecision("refused", "the service's content filter declined the request")
        if status == 429 and "insufficient_quota" in codes:
            return RetryDecision("stop", reason, do=_STOP[402])
        if status in _AGAIN or status >= 500:
            return RetryDecision("again", reason, wait=retry_after(error.response.headers))
        return (
            RetryDecision("stop", reason, do=_STOP[status])
            if status in _STOP
            else RetryDecision("unfit", reason, do=_UNFIT)
        )
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


def _said(body: Mapping[str, object], error: Exception) -> str:
    """The service's own words: the message of its error, else what the client makes of it."""
    message = body.get("message")
    text = message if isinstance(message, str) and message else str(error)
    return " ".join(text.split())[:_SHOWN]
