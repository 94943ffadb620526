"""Token counts reported by a service, checked for plausibility."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_HIDDEN = 4_000
"""Maximum tokens that a service may add to the texts sent and received, such as its own prompt. A text itself has at
most as many tokens as bytes.
"""
_REASONING = 4
"""Maximum plausible reply tokens, as a multiple of the limit: some services do not count hidden reasoning towards it.
"""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call by the service's count."""

    tokens_in: int | None
    """Prompt tokens; null without a plausible count."""
    tokens_out: int | None
    """Reply tokens, reasoning included; null without a plausible count."""
    doubtful: bool
    """Whether some count is implausible."""
    at_limit: bool = False
    """Whether the reply has exactly the limit of new tokens."""


def read_usage(answer: Mapping[str, Any], *, sent: int, limit: int, received: int) -> Usage:
    """Read the usage of a response, of a chat completion or of embeddings.

    Services differ in whether `completion_tokens` includes reasoning: of the candidates (completion tokens, with or
    without reasoning tokens, and the total minus the prompt) the largest is used, as it is what is paid.

    Args:
        answer: the service's response.
        sent: bytes of the texts sent.
        limit: maximum new tokens; 0 for embeddings, whose total is the prompt.
        received: bytes of the response.
    """
    usage = answer.get("usage")
    counts: Mapping[str, Any] = usage if isinstance(usage, Mapping) else {}
    details = counts.get("completion_tokens_details") or counts.get("output_tokens_details")
    thought = details.get("reasoning_tokens") if isinstance(details, Mapping) else counts.get("reasoning_tokens")
    most_in = sent + _HIDDEN
    most_out = _REASONING * limit + received + _HIDDEN
    given_in = _first(counts, "prompt_tokens", "input_tokens")
    given_out, total = _first(counts, "completion_tokens", "output_tokens"), counts.get("total_tokens")
    tokens_in = _count(given_in, most=most_in)
    if given_in is None and not limit:
        tokens_in = _count(total, most=most_in)
    out, reasoning = _count(given_out, most=most_out), _count(thought, most=most_out)
    accounts = [out]
    if reasoning is not None and reasoning > (out or 0):
        accounts.append((out or 0) + reasoning)
    whole = _count(total, most=most_in + most_out)
    if whole is not None and tokens_in is not None and whole >= tokens_in:
        accounts.append(_count(whole - tokens_in, most=most_out))
    known = [account for account in accounts if account is not None]
    pairs = ((given_in, tokens_in), (given_out, out), (total, whole), (thought, reasoning))
    doubtful = any(given is not None and read is None for given, read in pairs)
    return Usage(tokens_in, max(known, default=None), doubtful, at_limit=bool(limit) and out == limit)


def _first(counts: Mapping[str, Any], *names: str) -> object:
    """Return the first given value of several names."""
    return next((counts[name] for name in names if counts.get(name) is not None), None)


def _count(value: object, *, most: int) -> int | None:
    """Return a token count; null unless it is an integer from 0 to the maximum."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most else None
