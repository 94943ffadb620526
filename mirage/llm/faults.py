"""Cause of a service's rejection: the prompt, a parameter, or unknown.

The fields of the error decide first (code, type, param and similar, anywhere in the body). Gateways pass on another
service's error as plain text, so its wording decides if no field does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from mirage.llm.endings import names

_FILTERED = names(
    "content_filter content_filtered content_policy_violation contentpolicyviolationerror responsibleaipolicyviolation"
    " data_inspection_failed moderation_blocked content_moderation safety sensitive input_moderation"
    " prohibited_content guardrail_intervened"
)
_FILTERED_WORDS = re.compile(
    r"content[ _-]?(filter|policy|management|moderation)|ContentPolicyViolation|responsible ?ai|inappropriate content"
    r"|safety (system|filter|polic|setting)|(flagged|blocked) (by|for|as)|moderation|data_inspection",
    re.IGNORECASE,
)
_TOO_LONG = names(
    "context_length_exceeded contextwindowexceedederror string_above_max_length request_too_large"
    " model_context_window_exceeded prompt_too_long max_tokens_exceeded tokens_limit_reached"
)
_TOO_LONG_WORDS = re.compile(
    r"context[ _-]?(length|window|size)|ContextWindow|(prompt|input|request|message)s? (is|are) too (long|large)"
    r"|too many (input |prompt )?tokens|input token count|(maximum|max) (model|input|sequence|prompt|number of input)"
    r"[ _-]?(length|len|tokens)|longer than the (maximum|model)|exceeds? the (maximum|model|limit of)[^.]*tokens"
    r"|reduce the length",
    re.IGNORECASE,
)
_CONTEXT = re.compile(r"(?:context|model)[ _-]?(?:length|window|size|len)\D{0,20}?([0-9][0-9,]{2,11})", re.IGNORECASE)
_UNKNOWN = names(
    "unsupported_parameter unsupported_value unknown_parameter unrecognized_parameter invalid_parameter_combination"
    " extra_forbidden unexpected_parameter parameter_not_supported"
)
_UNKNOWN_WORDS = re.compile(
    r"unsupported|(not|n't) support|deprecated|unrecogni[sz]ed|unknown|unexpected"
    r"|not (permitted|allowed|available|accept)|extra (input|field)"
    r"|cannot (both )?be (used|set|specified|combined)|only (the )?default|no longer|removed"
    r"|(use|using) [`'\"]?max_completion_tokens",
    re.IGNORECASE,
)
LIMITS = ("max_tokens", "max_completion_tokens")
"""Both names of the limit of new tokens."""
_DROPPABLE = ("top_p", "temperature", "encoding_format")
"""Optional parameters, in the order in which they are dropped."""
_OPTIONS = {
    **dict.fromkeys(LIMITS, "change --max-tokens"),
    "temperature": "change --temperature, or send none with --plain",
    "top_p": "change --top-p, or send none with --plain",
    "seed": "omit --model-seed",
    "model": "check --model",
}
"""Advice by rejected parameter."""
_IDS = ("code", "type", "status", "reason", "error_type", "error_code", "name")
_PARAMS = ("param", "parameter", "field", "loc")
_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Fault:
    """Cause of a rejection."""

    of: Literal["filter", "length", "parameter", "setting", "unknown"]
    """`filter`: the prompt, by the service's content rules; `length`: the prompt's length; `parameter`: an unsupported
    parameter that can be omitted or renamed; `setting`: an unsupported value or parameter; `unknown`.
    """
    parameter: str = ""
    """The parameter."""
    do: str = ""
    """The option that helps."""


def find_fault(error: object, sent: Mapping[str, object]) -> Fault:
    """Return the cause of a request's rejection.

    Args:
        error: body of the rejection, or only its error.
        sent: body of the request.
    """
    texts = list(_strings(error))
    ids = {text.lower() for key, text in texts if key in _IDS}
    named = [text for key, text in texts if key in _PARAMS and text in sent]
    words = " ".join(text for _, text in texts)
    if ids & _FILTERED:
        return Fault("filter")
    parameter = _parameter(named, words, sent)
    too_long = bool(ids & _TOO_LONG)
    if parameter and not too_long and ids & _UNKNOWN:
        return _parameter_fault(parameter)
    if too_long or (_TOO_LONG_WORDS.search(words) and not ids & _UNKNOWN):
        limit = next((sent[name] for name in LIMITS if name in sent), 0)
        room = _CONTEXT.search(words)
        if room and isinstance(limit, int) and limit >= int(room[1].replace(",", "")):
            return Fault("setting", LIMITS[0], "reduce --max-tokens: it exceeds the model's context")
        return Fault("length")
    if parameter and _UNKNOWN_WORDS.search(words):
        return _parameter_fault(parameter)
    if _FILTERED_WORDS.search(words):
        return Fault("filter")
    if parameter in _OPTIONS:
        return Fault("setting", parameter, _OPTIONS[parameter])
    return Fault("unknown")


def _parameter_fault(parameter: str) -> Fault:
    """Return the fault for an unsupported parameter."""
    if parameter in LIMITS or parameter in _DROPPABLE:
        return Fault("parameter", parameter, _OPTIONS.get(parameter, ""))
    return Fault("setting", parameter, _OPTIONS.get(parameter, ""))


def _parameter(named: list[str], words: str, sent: Mapping[str, object]) -> str:
    """Return the sent parameter that an error is about; empty if none."""
    candidates = (*_DROPPABLE, *LIMITS, "seed")
    mentioned = [name for name in candidates if name in sent and re.search(rf"(?<![a-z_]){name}(?![a-z_])", words)]
    if named and named[0] not in ("messages", "prompt", "input"):
        return named[0]
    return "" if named else next(iter(mentioned), "")


def _strings(value: object, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield every text in a JSON value, with its key."""
    if isinstance(value, Mapping) and depth < _DEPTH:
        for name, part in value.items():
            yield from _strings(part, str(name), depth + 1)
    elif isinstance(value, list) and depth < _DEPTH:
        for part in value:
            yield from _strings(part, key, depth + 1)
    elif isinstance(value, str | int):
        yield key, str(value)[:4_000]
