"""Finish reasons of replies, and the status they imply: only a known good ending makes a complete reply.

Services name the same ending in many ways. The names below are those of OpenAI, Azure, Anthropic, Gemini, Mistral,
Cohere, DeepSeek, Zhipu, Bedrock, Hugging Face, OpenRouter, vLLM, llama.cpp and Vercel's AI SDK, in whatever case and
with whatever between the words: `max_tokens`, `MAX_TOKENS`, `max-tokens`, `maxTokens`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mirage.schema import Status
from mirage.text.thoughts import store_answer


def names(words: str) -> frozenset[str]:
    """Return the set of the words of a text."""
    return frozenset(words.split())


_WHOLE = names("stop end_turn stop_sequence eos eos_token complete completed finished done end null")
_CUT = names(
    "length max_tokens max_length max_output_tokens max_completion_tokens max_new_tokens model_length token_limit"
    " model_context_window_exceeded context_length_exceeded limit incomplete"
)
_FILTERED = re.compile(
    r"content_?filter|(^|_)(filtered|safety|recitation|blocklist|blocked|spii|language|sensitive|refus(al|ed))(_|$)"
    r"|prohibited|moderat|guardrail|toxic"
)
_TOOLS = names(
    "tool_calls tool_call tool_use function_call malformed_function_call unexpected_tool_call too_many_tool_calls"
    " pause_turn"
)
_FAILED = names(
    "error error_limit abort aborted cancelled canceled failed failure timeout network_error other user_cancel"
    " malformed_response insufficient_system_resource engine_overloaded"
)
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s.:-]+")
_SHOWN = 60
"""Maximum characters of a finish reason in messages."""

Ended = tuple[Status, str | None]
"""Status, and the reason if the reply is not valid."""


def is_filtered(finish: object) -> bool:
    """Return whether a finish reason is that of a content filter, also with details: `content_filter: OTHER`."""
    return bool(_FILTERED.search(_name(finish)))


def state(
    text: str | None, finish: object, *, reasoning: str | None = None, tools: Sequence[str] = (), fault: str = ""
) -> Ended:
    """Return the status of a reply from its text and finish reason, with the reason if it is not valid.

    Args:
        text: the reply.
        finish: the service's finish reason; null if it gives none.
        reasoning: reasoning before the text.
        tools: names of the tools that the model called.
        fault: words of an error that the service reports with the reply.
    """
    ending = "" if finish is None else str(finish).strip()[:_SHOWN]
    if is_filtered(ending):
        return "refused", f"the service declined to answer ({ending})"
    name = _name(ending.partition(":")[0])
    if name in _FAILED or fault:
        return "api_error", f"the service broke off the reply: {fault or ending}"
    cut = name in _CUT
    if text and not text.isspace():
        return _of_text(ending, name, cut, tools)
    if tools:
        return "empty", f"the reply has no text: the model called a tool instead ({', '.join(tools)})"
    if reasoning:
        size = f"({len(reasoning):,} characters of it)"
        if cut:
            return "empty", f"the reply has no text: the limit of new tokens was reached during reasoning {size}"
        return "empty", f"the reply has no text, only reasoning {size}"
    before = ": the limit of new tokens was reached before any" if cut else ""
    return "empty", f"the reply has no text{before}"


def separate_reasoning(
    text: str | None, finish: object, *, reasoning: str | None = None, tools: Sequence[str] = (), fault: str = ""
) -> tuple[str | None, str | None, Status, str | None]:
    """Return the text of a reply, its reasoning (also from within the text), and its status and reason by `state`."""
    parted = store_answer(text, thoughts=reasoning)
    status, reason = state(parted.text, finish, reasoning=parted.thoughts, tools=tools, fault=fault)
    if status == "ok" and parted.status == "truncated":
        status, reason = "truncated", parted.reason
    return parted.text, parted.thoughts, status, reason


def _of_text(ending: str, name: str, cut: bool, tools: Sequence[str]) -> Ended:
    """Return the status of a reply that has text and did not end by an error or filter."""
    if cut:
        return "truncated", "the reply reached the limit of new tokens"
    if name in _TOOLS:
        called = f" ({', '.join(tools)})" if tools else ""
        return "truncated", f"the model called a tool{called} instead of ending the reply"
    if not name or name in _WHOLE:
        return "ok", None
    return "truncated", f"the service ended the reply with the unknown finish reason {ending!r}"


def _name(finish: object) -> str:
    """Return a finish reason in lower case, with `_` between its words."""
    return _BETWEEN_WORDS.sub("_", str(finish)).lower().removeprefix("finish_reason_")
