"""Replies read from responses: the text, how it ended, and the tokens reported by the service, if plausible.

Only a known good ending makes a complete reply.

Services name the same ending in many ways. The names below are those of OpenAI, Azure, Anthropic, Gemini, Mistral,
Cohere, DeepSeek, Zhipu, Bedrock, Hugging Face, OpenRouter, vLLM, llama.cpp and Vercel's AI SDK, in whatever case and
with whatever between the words: `max_tokens`, `MAX_TOKENS`, `max-tokens`, `maxTokens`.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mirage.llm.faults import error_words, plain_words, strings
from mirage.llm.json_paths import describe, find, parse_path, read_events
from mirage.llm.retry import ErrorBody, Misfit, Unreadable, unreadable_error
from mirage.llm.tokens import TokenEstimate
from mirage.schema import Status
from mirage.store.ledger import BATCH_SHARE
from mirage.text.data import load_words
from mirage.text.thoughts import store_answer

Message = Mapping[str, str]
Messages = Sequence[Message]
"""One conversation: `{"role": ..., "content": ...}` in order."""

_FRAME = 8
"""Approximate tokens that a chat format adds to a conversation."""
_SOMETIMES = ("estimated", "reasoning", "seconds", "batched", "contexts")
_BLOCKED = ("blockReason", "block_reason")
"""Fields with the reason why Gemini answers nothing."""
_SHORT = 16
"""Limit of new tokens below which a reply of exactly that length may be whole: a verdict, a label."""
_ENDINGS = {
    "whole": ", stop, end turn, stop sequence, eos, eos token, complete, completed, finished, done, end, null",
    "cut": "length, max tokens, max length, max output tokens, max completion tokens, max new tokens, model length"
    ", token limit, model context window exceeded, context length exceeded, limit, incomplete",
    "tool": "tool calls, tool call, tool use, function call, malformed function call, unexpected tool call"
    ", too many tool calls, pause turn",
    "failed": "error, error limit, abort, aborted, cancelled, canceled, failed, failure, timeout, other, network error"
    ", user cancel, malformed response, insufficient system resource, engine overloaded",
}
_MEANINGS = {name: meaning for meaning, names in _ENDINGS.items() for name in names.split(", ")}
"""Finish reasons, in lower case with single spaces, by what they mean."""
_FILTERED = re.compile(
    r"content ?filter|(^| )(filtered|safety|recitation|b(lock|lack)list|blocked|spii|language|sensitive|refus(al|ed))"
    r"( |$)|prohibited|moderat|guardrail|toxic"
)
_SHOWN = 60
"""Maximum characters of a finish reason in messages."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to one conversation."""

    key: str
    """Ledger key."""
    text: str | None
    """The reply; null when there is none."""
    status: Status
    """`ok`, `empty`, `truncated`, `refused` or `api_error`."""
    reason: str | None
    """Why the reply is missing or incomplete; null with `ok`."""
    tokens_in: int | None
    """Prompt tokens by the service's count; null without a reply."""
    tokens_out: int | None
    """Reply tokens, reasoning included, by the service's count; null without a reply."""
    served: str | None
    """Model name from the service, often with a version."""
    attempts: int
    """Requests sent; 0 if it was cached."""
    estimated: bool = False
    """Whether a token count is an estimate, because the service gave none or an impossible one."""
    reasoning: str | None = None
    """The model's reasoning, if the service returns it separately."""
    seconds: float | None = field(default=None, compare=False)
    """Latency of the successful request until its last byte, in seconds; null if not measured per reply."""
    batched: bool = False
    """Whether it was a request of a batch, at half the price."""
    contexts: Sequence[Mapping[str, Any]] | None = None
    """Passages that a RAG service returned with its answer, in order: `id`, `title`, `text` and `score`, each if known.
    """

    @property
    def given_up(self) -> bool:
        """True if the call was not made because too many before it failed."""
        return self.status == "api_error" and not self.attempts

    def ledger_record(self) -> dict[str, Any]:
        """Return the fields to store in the ledger, without empty optional fields."""
        values = {name: value for name, value in asdict(self).items() if name not in ("key", "attempts")}
        return {name: value for name, value in values.items() if name not in _SOMETIMES or value}

    @property
    def price_share(self) -> float:
        """Price as a share of that of a single call."""
        return BATCH_SHARE if self.batched else 1.0


def failed_reply(key: str, reason: str, *, attempts: int = 0, status: Status = "api_error") -> Reply:
    """Return the reply of a failed or a refused call."""
    return Reply(key, None, status, reason, None, None, None, attempts)


def prompt_tokens(messages: Messages) -> int:
    """Estimate the tokens of a conversation."""
    return sum(text_tokens(message["content"]) for message in messages) + _FRAME


def text_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    return TokenEstimate().count(text)


def is_filtered(finish: object) -> bool:
    """Return whether a finish reason is that of a content filter, also with details: `content_filter: OTHER`."""
    return bool(_FILTERED.search(_name(finish)))


def state(
    text: str | None, finish: object, *, reasoning: str | None = None, fault: str = ""
) -> tuple[Status, str | None]:
    """Return the status of a reply from its text and finish reason, with the reason if it is not valid.

    Args:
        text: the reply.
        finish: the service's finish reason; null if it gives none.
        reasoning: reasoning before the text.
        fault: words of an error that the service reports with the reply.
    """
    ending = "" if finish is None else str(finish).strip()[:_SHOWN]
    if is_filtered(ending):
        return "refused", f"the service declined to answer ({ending})"
    name = _name(ending.partition(":")[0])
    meaning = _MEANINGS.get(name)
    if meaning == "failed" or fault:
        return "api_error", f"the service broke off the reply: {fault or ending}"
    cut, tool = meaning == "cut", meaning == "tool"
    if not text or text.isspace():
        if tool:
            why = ": the model called a tool instead"
        elif cut:
            why = f": the limit of new tokens was reached {'during reasoning' if reasoning else 'before any'}"
        else:
            why = ", only reasoning" if reasoning else ""
        return "empty", f"the reply has no text{why}"
    if cut:
        return "truncated", "the reply reached the limit of new tokens"
    if tool:
        return "truncated", "the model called a tool instead of ending the reply"
    if meaning == "whole":
        return "ok", None
    return "truncated", f"the service ended the reply with the unknown finish reason {ending!r}"


def separate_reasoning(
    text: str | None, finish: object, *, reasoning: str | None = None, fault: str = ""
) -> tuple[str | None, str | None, Status, str | None]:
    """Return the text of a reply, its reasoning (also from within the text), and its status and reason by `state`."""
    parted = store_answer(text, thoughts=reasoning)
    status, reason = state(parted.text, finish, reasoning=parted.thoughts, fault=fault)
    if status == "ok" and parted.status == "truncated":
        status, reason = "truncated", parted.reason
    return parted.text, parted.thoughts, status, reason


def _name(finish: object) -> str:
    """Return a finish reason in lower case, with single spaces between its words."""
    return plain_words(re.sub(r"[.:]+", " ", str(finish))).removeprefix("finish reason ").strip()


_HIDDEN = 4_000
"""Maximum tokens that a service may add to the texts sent and received, such as its own prompt. A text itself has at
most as many tokens as bytes.
"""
_LONGEST = 64
"""Maximum plausible bytes of text per token, on average."""
_REASONING = 4
"""Maximum plausible reply tokens, as a multiple of the limit: some services do not count hidden reasoning towards it.
"""


def read_usage(
    answer: Mapping[str, Any], *, sent: int, limit: int, received: int, written: int = 0
) -> tuple[int | None, int | None, bool, bool]:
    """Return prompt and reply tokens by the service's count, null if implausible; whether a count is missing or
    implausible; and whether the reply has exactly the limit of new tokens.

    Services differ in whether `completion_tokens` includes reasoning: of the candidates (completion tokens, with or
    without reasoning tokens, and the total minus the prompt) the largest is used, as it is what is paid. They differ,
    too, in whether the prompt's count includes cached tokens: it cannot if these are more.

    Args:
        answer: the service's response.
        sent: bytes of the texts sent.
        limit: maximum new tokens.
        received: bytes of the response.
        written: bytes of the reply's text.
    """
    usage = answer.get("usage")
    counts: Mapping[str, Any] = usage if isinstance(usage, Mapping) else {}
    details = counts.get("completion_tokens_details") or counts.get("output_tokens_details")
    most_in, most_out = sent + _HIDDEN, _REASONING * limit + received + _HIDDEN
    doubtful = False

    def count(least: int, most: int, given: Mapping[str, Any], *names: str) -> int | None:
        nonlocal doubtful
        value = next((given[name] for name in names if given.get(name) is not None), None)
        if value is None or (type(value) is int and least <= value <= most):
            return value
        doubtful = True
        return None

    tokens_in = count(min(sent, 1), most_in, counts, "prompt_tokens", "input_tokens")
    cached = {int(text) for key, text in strings(counts) if "cache" in key and text.isdecimal()}
    if tokens_in is not None and tokens_in < max(cached, default=0) and tokens_in + sum(cached) <= most_in:
        tokens_in += sum(cached)
    least_out = -(-written // _LONGEST)
    out = count(least_out, most_out, counts, "completion_tokens", "output_tokens")
    reasoning = count(0, most_out, details if isinstance(details, Mapping) else counts, "reasoning_tokens") or 0
    whole = count(min(sent, 1), most_in + most_out, counts, "total_tokens")
    accounts = [out, (out or 0) + reasoning if reasoning > (out or 0) else None]
    if whole is not None and tokens_in is not None:
        accounts.append(whole - tokens_in if least_out <= whole - tokens_in <= most_out else None)
    tokens_out = max((account for account in accounts if account is not None), default=None)
    return tokens_in, tokens_out, doubtful or None in (tokens_in, tokens_out), out == limit


def read_completion(key: str, body: bytes, attempt: int, *, messages: Messages, max_tokens: int) -> Reply:
    """Parse a chat completion, or one that arrives as an unrequested stream (SSE or NDJSON).

    Content of an unknown form is a failed call that was paid for, not an empty reply.

    Args:
        key: ledger key of the call.
        body: the response body.
        attempt: number of the request, from 1.
        messages: messages sent; the service's token count is checked against them.
        max_tokens: maximum new tokens; the reply's token count is checked against it.

    Raises:
        Unreadable: if the body is not a completion: not JSON, without a choice or a message, a stream without its end,
            an error with status 200, or another protocol's.
    """
    events = read_events(body)
    if events is None:
        raise Unreadable(describe(body, None))
    _refuse_other_protocols(events)
    answer = events[0] if len(events) == 1 and b'"delta"' not in body else _join_events(events, b"[DONE]" in body)
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if not isinstance(answer, dict):
        raise Unreadable("it is not a JSON object")
    choice = _choice(answer, describe(body, events))
    ends = (choice.get("finish_reason") or choice.get("done_reason"), choice.get("native_finish_reason"))
    finish = next(filter(is_filtered, ends), ends[0])
    message = next((choice[name] for name in ("message", "text") if choice.get(name) is not None), None)
    if message is None and not is_filtered(finish):
        raise Misfit(f"the choice of the answer has no message: {describe(body, events)}", "check --base-url")
    said = _read_message(message)
    error = choice.get("error") or answer.get("error")
    fault = error_words({"error": error}) if error else ""
    text, reasoning, status, reason = separate_reasoning(said["text"], finish, reasoning=said["reasoning"], fault=fault)
    if said["refusal"]:
        status, reason = "refused", "the service declined to answer"
        text = text or said["refusal"]
    sent = sum(len(message["content"].encode("utf-8", "surrogatepass")) for message in messages)
    written = len((text or "").encode("utf-8", "surrogatepass"))
    tokens_in, tokens_out, doubtful, at_limit = read_usage(
        answer, sent=sent, limit=max_tokens, received=len(body), written=written
    )
    if status == "ok" and at_limit and max_tokens >= _SHORT and _breaks_off(text or ""):
        status, reason = "truncated", "the reply has exactly the limit of new tokens and ends in mid-sentence"
    if status == "empty" and said["unread"] and not reasoning:
        status, reason = "api_error", f"the reply could not be read: its content is {said['unread']}"
    if status == "empty" and not answer.get("choices"):
        reason = f"the reply has no text: its {tokens_out} tokens were used up by thoughts; raise --max-tokens"
    return Reply(
        key=key,
        text=text,
        status=status,
        reason=reason,
        tokens_in=prompt_tokens(messages) if tokens_in is None else tokens_in,
        tokens_out=text_tokens(f"{reasoning or ''}{text or ''}") if tokens_out is None else tokens_out,
        served=replace_surrogates(served) if isinstance(served := answer.get("model"), str) else None,
        attempts=attempt,
        estimated=doubtful,
        reasoning=reasoning,
    )


def _refuse_other_protocols(events: Sequence[Any]) -> None:
    """Refuse a body in the form of another protocol.

    Raises:
        Misfit: which protocol it is, and the address to use.
    """
    if any(isinstance(event, Mapping) and event.get("choices") for event in events):
        return
    for protocol in load_words("protocols", "mirage.llm").values():
        for paths in protocol["signs"]:
            for event in events:
                if all(find(event, parse_path(path)) for path in paths):
                    reason = f"the service answers in the form of {protocol['title']}, not of chat completions"
                    raise Misfit(reason, f"{protocol['do']} (--base-url)", "stop")


def _choice(answer: Mapping[str, Any], described: str) -> Mapping[str, Any]:
    """Return the first choice of a completion; one without a message if none came of a prompt that was blocked, or of
    thoughts that were paid for.

    Raises:
        Unreadable: if there is no choice: an error, or another body.
    """
    choices = answer.get("choices")
    if isinstance(choices, list):
        choices = next(iter(choices), None)
    if isinstance(choices, str):
        return {"message": choices}
    if isinstance(choices, Mapping):
        return choices
    if blocked := [text for key, text in strings(answer) if key in _BLOCKED]:
        return {"finish_reason": f"blocked: {blocked[0]}"}
    tokens = read_usage(answer, sent=_HIDDEN, limit=_HIDDEN, received=_HIDDEN)
    if not answer.get("error") and any(tokens[:2]):
        return {
            "message": "",
            **({"finish_reason": "length"} if tokens[1] else {"error": "it counts a prompt, no reply"}),
        }
    fault = unreadable_error(answer, "it has no choice")
    if "choices" in answer or isinstance(fault, ErrorBody):
        raise fault
    raise Misfit(f"the answer is no chat completion: {described}", "check --base-url")


_FIELDS = {
    "text": ("text", "output_text", "content", "value"),
    "reasoning": ("reasoning_content", "reasoning", "thinking"),
    "refusal": ("refusal",),
}
"""Names of the parts of a message by what they hold."""


def _read_message(message: object) -> dict[str, str | None]:
    """Return the parts of a message by `_FIELDS`, null for absent parts; `unread` is a part of an unknown form.

    A message is a text, an object, or lists of parts of any depth, each a text or an object. Reasoning is in a field of
    its own (DeepSeek, OpenRouter, vLLM) or in parts of type `thinking` (Mistral).
    """
    found: dict[str, list[str]] = {kind: [] for kind in (*_FIELDS, "unread")}

    def take(value: object, kind: str) -> None:
        if isinstance(value, str):
            found[kind].append(replace_surrogates(value))
        elif isinstance(value, list):
            for part in value:
                take(part, kind)
        elif isinstance(value, Mapping):
            kinds = {name: other for other, names in _FIELDS.items() for name in names if name in value}
            if not kinds.keys() - {"text"} and re.search("think|reason|thought", str(value.get("type", ""))):
                kind = "reasoning"
            for name, other in kinds.items():
                take(value[name], kind if other == "text" else other)
            if not kinds and kind == "text" and value is not message:
                found["unread"].append(", ".join(map(str, value)) or "an empty object")
        elif value is not None and kind == "text":
            found["unread"].append(f"{value!r}"[:_SHOWN])

    take(message, "text")
    # Services repeat reasoning under two names.
    reasoning = [text for text in dict.fromkeys(found["reasoning"]) if text.strip()]
    joined = {kind: "".join(texts) if texts else None for kind, texts in found.items()}
    return {**joined, "reasoning": "\n\n".join(reasoning) or None, "unread": next(iter(found["unread"]), None)}


def _join_events(events: Sequence[Any], ended: bool) -> dict[str, Any]:
    """Join the parts of a streamed completion into a whole one.

    Args:
        events: the chunks.
        ended: whether the stream has its end mark; else the last choice must have a finish reason.
    """
    answer: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    message: dict[str, Any] = {}
    for event in events:
        if not isinstance(event, dict):
            raise Unreadable("it is not a JSON object")
        answer |= {name: value for name, value in event.items() if value}
        parts = event.get("choices") or [event]
        part = parts[0] if isinstance(parts, list) and isinstance(parts[0], dict) else {}
        choice |= {name: value for name, value in part.items() if value is not None}
        said = part.get("delta") or part.get("message")
        for name, value in said.items() if isinstance(said, dict) else ():
            before = message.get(name)
            joined = isinstance(value, str | list) and type(before) is type(value)
            message[name] = before + value if joined else before if value is None else value
    if message and not (ended or {"finish_reason", "done_reason", "error"} & (choice.keys() | answer.keys())):
        raise Unreadable("the stream ends before the reply does")
    return {**answer, "choices": [{**choice, "message": message}]} if message else answer


def _breaks_off(text: str) -> bool:
    """Return whether a text ends within a sentence: with a letter, a digit, or a mark that something follows."""
    last = text.rstrip()[-1:]
    return last.isalnum() or unicodedata.category(last or ".") in ("Mn", "Mc", "Pd", "Ps") or last in ",;:、，；："


def replace_surrogates(text: str) -> str:
    """Return a text with lone surrogates replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
