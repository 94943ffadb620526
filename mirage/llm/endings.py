"""Why a reply ended, and its status: only an ending that is known to be good makes a whole reply.

Services name the same ending in many ways. The names below are those of OpenAI, Azure, Anthropic, Gemini, Mistral,
Cohere, DeepSeek, Zhipu, Bedrock, Hugging Face, OpenRouter, vLLM and llama.cpp, without regard to case.
"""

from __future__ import annotations

from collections.abc import Sequence

from mirage.schema import Status
from mirage.thoughts import store_answer


def names(words: str) -> frozenset[str]:
    """Return the set of the words of a text."""
    return frozenset(words.split())


_WHOLE = names("stop end_turn stop_sequence eos eos_token complete completed finished done end null")
_CUT = names(
    "length max_tokens max_length max_output_tokens max_completion_tokens max_new_tokens model_length token_limit"
    " model_context_window_exceeded context_length_exceeded limit incomplete"
)
_FILTERED = names(
    "content_filter content_filtered content_filtering contentfilter filtered safety recitation blocklist"
    " prohibited_content spii image_safety language refusal refused error_toxic guardrail_intervened sensitive"
    " moderation"
)
_TOOLS = names(
    "tool_calls tool_call tool_use function_call malformed_function_call unexpected_tool_call too_many_tool_calls"
    " pause_turn"
)
_FAILED = names(
    "error error_limit abort aborted cancelled canceled failed failure timeout network_error other user_cancel"
    " malformed_response insufficient_system_resource engine_overloaded"
)
_SHOWN = 60
"""Characters of an ending's name that a reason keeps."""

Ended = tuple[Status, str | None]
"""Status, and the reason where the reply is not sound."""


def state(
    text: str | None, finish: object, *, reasoning: str | None = None, tools: Sequence[str] = (), fault: object = None
) -> Ended:
    """Return the status of a reply by its text and its ending, and the reason where it is not sound.

    Args:
        text: the reply.
        finish: why it ended, in the service's words; null where the service does not say.
        reasoning: what came before the text.
        tools: names of the tools that the model called.
        fault: the error that the service reports beside the reply.
    """
    ending = "" if finish is None else str(finish).strip()[:_SHOWN]
    name = ending.lower().removeprefix("finish_reason_")
    if name in _FILTERED:
        return "refused", f"the service declined to answer ({ending})"
    if name in _FAILED or fault:
        return "api_error", f"the service broke off the reply: {_fault(fault) or ending}"
    cut = name in _CUT
    if text and not text.isspace():
        return _of_text(ending, name, cut, tools)
    if tools:
        return "empty", f"the reply holds no text: the model called a tool instead ({', '.join(tools)})"
    if reasoning:
        size = f"({len(reasoning):,} characters of it)"
        if cut:
            return "empty", f"the reply holds no text: the limit of new tokens was reached while it reasoned {size}"
        return "empty", f"the reply holds no text, only reasoning {size}"
    before = ": the limit of new tokens was reached before any" if cut else ""
    return "empty", f"the reply holds no text{before}"


def separate_reasoning(
    text: str | None, finish: object, *, reasoning: str | None = None, tools: Sequence[str] = (), fault: object = None
) -> tuple[str | None, str | None, Status, str | None]:
    """Return the text of a reply, its reasoning, also that within the text, and what `state` says of them."""
    parted = store_answer(text, thoughts=reasoning)
    status, reason = state(parted.text, finish, reasoning=parted.thoughts, tools=tools, fault=fault)
    if status == "ok" and parted.status == "truncated":
        status, reason = "truncated", parted.reason
    return parted.text, parted.thoughts, status, reason


def _of_text(ending: str, name: str, cut: bool, tools: Sequence[str]) -> Ended:
    """Return the status of a reply that holds text and that no error or filter ended."""
    if cut:
        return "truncated", "the reply reached the limit of new tokens"
    if name in _TOOLS:
        called = f" ({', '.join(tools)})" if tools else ""
        return "truncated", f"the model called a tool{called} instead of ending the reply"
    if not name or name in _WHOLE:
        return "ok", None
    return "truncated", f"the service ended the reply with {ending!r}, which is not known as the end of a whole one"


def _fault(fault: object) -> str:
    """Return the service's words for an error beside a reply."""
    message = fault.get("message") if isinstance(fault, dict) else fault
    return " ".join(message.split())[:300] if isinstance(message, str) else ""
