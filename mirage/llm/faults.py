"""Cause of a service's rejection (the prompt, a parameter, credit, key, rate, or unknown), and its own words.

The fields of the error decide first (code, type, param and similar, anywhere in the body). Gateways pass on another
service's error as plain text, so its wording decides if no field does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from mirage.llm.json_paths import page_text


def names(words: str) -> frozenset[str]:
    """Return the set of the words of a text."""
    return frozenset(words.split())


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
    " model_context_window_exceeded prompt_too_long max_tokens_exceeded tokens_limit_reached exceed_context_size_error"
)
_TOO_LONG_WORDS = re.compile(
    r"context[ _-]?(length|window|size)|ContextWindow|(prompt|input|request|message)s? (is|are) too (long|large)"
    r"|too many (input |prompt )?tokens|input token count|(maximum|max) (model|input|sequence|prompt|number of input)"
    r"[ _-]?(length|len|tokens)|longer than the (maximum|model)|exceeds? the (maximum|model|limit of)[^.]*tokens"
    r"|reduce the length",
    re.IGNORECASE,
)
_ACCOUNT: dict[Literal["credit", "rate", "auth"], re.Pattern[str]] = {
    "credit": re.compile(
        r"insufficient[ _-]?(quota|balance|credit|fund)|(credit|account|prepaid)s?[ _-]?balance|arrear|payment required"
        r"|(out of|no|not enough|more|purchase|buy|add) credits?\b|credits? (are|is|have been) used|top up|recharge"
        r"|billing[ _-]?(hard|limit|not)|budget[ _-]?(has been )?exceeded|exceeded[ _-]((your )?budget|current_quota_)"
        r"|account[^.]{0,60}suspended|余额不足|欠费",
        re.IGNORECASE,
    ),
    "rate": re.compile(
        r"rate[ _-]?limit|too[ _-]?many[ _-]?requests|throttl|resource[ _-]?(has been )?exhausted|overloaded"
        r"|quota[ _-]?(has been )?exceeded|exceeded[^.]{0,40}quota|(over|at|out of) capacity"
        r"|capacity[ _-](is[ _-])?(exceeded|limit|full)|try again (later|in\b)|temporarily unavailable"
        r"|(server|service|system|model)s? (is |are )?(currently |too )*(busy|loading)"
        r"|concurren\w+[ _-](limit|request)|请求过于频繁|限流",
        re.IGNORECASE,
    ),
    "auth": re.compile(
        r"(invalid|incorrect|wrong|missing|expired|revoked|disabled|bad|unknown|no)[ _-](api|access|auth\w*|bearer)"
        r"[ _-]?(key|token)|(api[ _-]?key|access token|bearer token|credentials)[ _-]?(is |has |was |are )*"
        r"(invalid|missing|expired|required|disabled|revoked|not (valid|found))|unauthori[sz]ed|unauthenticated"
        r"|authenti[a-z]+[ _-]?(failed|fails|failure|error|required)|invalid[ _-]?(authenti|credential|x-api-key)"
        r"|not authenticated|permission[ _-]?denied|access denied|not have (access|permission)",
        re.IGNORECASE,
    ),
}
"""Words about the account, in the order in which they decide."""
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
_DROPPABLE = ("top_p", "temperature")
"""Optional parameters, in the order in which they are dropped."""
_OPTIONS = {
    **dict.fromkeys(LIMITS, "change --max-tokens"),
    "temperature": "change --temperature, or send none with --plain",
    "top_p": "change --top-p, or send none with --plain",
    "seed": "omit --model-seed",
    "model": "check --model",
}
"""Advice by rejected parameter."""
OWN_FIELDS = {**_OPTIONS, **dict.fromkeys(("messages", "stream", "n"), "")}
"""Fields of a request's body that only this program sets, with the option that changes them."""
_IDS = ("code", "type", "status", "reason", "error_type", "error_code", "name")
_PARAMS = ("param", "parameter", "field", "loc")
_OURS = ("model", "messages", "prompt", "input", "service", "extra_body")
_SAYS = re.compile(r"(^|message|msg|details?|errors?|description|reason|title|raw|string|hint|loc)$", re.IGNORECASE)
"""Keys of texts for people."""
_ECHOES = ("input", "messages", "prompt")
"""Keys under which services repeat the request."""
_DEPTH = 9
_SHOWN = 300
"""Maximum characters of a service's words in a reason."""
_READ = 20_000
"""Maximum characters of an error in which a cause is looked for."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Cause of a rejection."""

    of: Literal["filter", "length", "parameter", "setting", "credit", "rate", "auth", "unknown"]
    """`filter`: the prompt, by the service's content rules; `length`: the prompt's length; `parameter`: an unsupported
    parameter that can be omitted or renamed; `setting`: an unsupported value or parameter; `credit`, `rate`, `auth`: no
    credit left, too many requests, a key that is not accepted; `unknown`.
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
    texts = list(strings(error))
    ids = {text.lower() for key, text in texts if key in _IDS}
    named = [text for key, text in texts if key in _PARAMS and text in sent]
    words = " ".join(text for _, text in texts)[:_READ]
    if ids & _FILTERED:
        return Fault("filter")
    parameter = _parameter(named, words, sent)
    too_long = bool(ids & _TOO_LONG)
    if parameter and not too_long and ids & _UNKNOWN:
        return _parameter_fault(parameter)
    account = next((of for of, pattern in _ACCOUNT.items() if pattern.search(words)), None)
    if account and not too_long:
        return Fault(account)
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
    return Fault("setting", parameter, _OPTIONS.get(parameter, "change --extra-body"))


def _parameter(named: list[str], words: str, sent: Mapping[str, object]) -> str:
    """Return the sent parameter that an error is about; empty if none."""
    candidates = (*_DROPPABLE, *LIMITS, *(name for name in sent if name not in _OURS))
    mentioned = [
        name for name in candidates if name in sent and re.search(rf"(?<![a-z_]){re.escape(name)}(?![a-z_])", words)
    ]
    if named and named[0] not in ("messages", "prompt", "input"):
        return named[0]
    return "" if named else next(iter(mentioned), "")


def service_words(body: object) -> str:
    """Return a service's own words from the body of an error, wherever they are in it; empty if there are none."""
    found: list[str] = []
    for key, text in strings(body):
        said = " ".join((page_text(text) or text).split()) if _SAYS.search(key) else ""
        if not any(said in other for other in found or ("",)):
            found.append(said)
            if sum(map(len, found)) > _SHOWN:
                break
    return ": ".join(found)[:_SHOWN]


def error_words(body: object) -> str:
    """Return the words of an error, else the beginning of its body."""
    text = service_words(body) or (body if isinstance(body, str) else json.dumps(body, ensure_ascii=False))
    return " ".join(text.split())[:_SHOWN] or "without a word"


def strings(value: object, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield every text and number in a JSON value, also in JSON within a text, with its key; no echo of the request."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, Mapping) and depth < _DEPTH:
        for name, part in value.items():
            if name not in _ECHOES:
                yield from strings(part, str(name), depth + 1)
    elif isinstance(value, list) and depth < _DEPTH:
        for part in value:
            yield from strings(part, key, depth + 1)
    elif isinstance(value, str | int | float):
        yield key, str(value)[:4_000]
