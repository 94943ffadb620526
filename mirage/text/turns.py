"""Marks of chat templates: a served model without its stop token goes on with turns of its own.

Known are the special tokens of ChatML (Qwen, Yi, Kimi), Llama 2 to 4, Mistral, Gemma, Phi, Zephyr, GLM, Command,
Granite, EXAONE, InternLM, DeepSeek and gpt-oss. A mark in code, in quotation marks or within a sentence ("the token
<|im_end|> ends a turn") is part of the text, and so is the end of struck text, `<s>...</s>`.
"""

import re
from bisect import bisect
from collections.abc import Sequence

from mirage.text.segmentation import Span

_LT, _GT = r"(?:<|&lt;)", r"(?:>|&gt;)"
_END = (
    rf"{_LT}[|｜](?:im_(?:end|sep)|end(?:[_▁]?of[_▁]?(?:text|turn|sentence|utterance|message))?|eo[tmsd](?:_id)?|return"
    rf"|call|(?:end_of_turn|eos)_token|end_(?:response|text)|hy_eos)[|｜]{_GT}"
    rf"|{_LT}(?:/s|end_of_turn|turn\||eos|eo[ah]|endoftext){_GT}|\[(?:EOS|\|endofturn\|)\]"
)
_USER = (
    rf"{_LT}\|(?:im_(?:start|user|system|middle)|start_header_id|header_start|start_of_role|start_of_turn_token|start"
    rf"|(?:user|system)_token)\|{_GT}|{_LT}[|｜](?:user|system|developer|observation|human|tool)[|｜]{_GT}"
    rf"|{_LT}(?:start_of_turn|\|turn){_GT}|<<SYS>>|\[INST\]|\[SYSTEM_PROMPT\]|\[\|(?:user|system)\|\]"
)
_MODEL = (
    rf"{_LT}\|im_start\|{_GT}\s*assistant\b|{_LT}\|im_assistant\|{_GT}(?:assistant{_LT}\|im_middle\|{_GT})?"
    rf"|{_LT}\|(?:start_header_id|header_start|start_of_role)\|{_GT}\s*assistant\s*"
    rf"{_LT}\|(?:end_header_id|header_end|end_of_role)\|{_GT}"
    rf"|{_LT}(?:start_of_turn|\|turn){_GT}\s*model\b|{_LT}[|｜](?:assistant|bot|model)[|｜]{_GT}|\[/INST\]"
    rf"|(?:{_LT}\|start_of_turn_token\|{_GT})?{_LT}\|chatbot_token\|{_GT}|\[\|assistant\|\]"
    rf"|{_LT}\|start\|{_GT}assistant(?:{_LT}\|message\|{_GT})?"
)
_BEGIN = (
    rf"{_LT}(?:s|bos|sop){_GT}|{_LT}[|｜](?:begin[_▁]of[_▁](?:text|sentence)|startoftext|bos_token)[|｜]{_GT}|\[gMASK\]"
)
HINT = re.compile(
    r"[<;][|｜]|\|[>&]|(?:<|&lt;)/?(?:s|sop|bos|eo[sah]|endoftext|(?:end|start)_of_turn)\b|<<SYS"
    r"|\[(?:/?INST|EOS|\||gMASK|SYS)",
    re.IGNORECASE,
)
"""Whether a text may have a mark."""
_LEAD = re.compile(rf"\s*(?:(?:{_MODEL}|{_BEGIN})\s*)+", re.IGNORECASE)
_STRAY = re.compile(rf"\s*(?:{_END})(?!\s*(?:{_END}|{_USER}|{_MODEL}|\Z)|[ \t]+(?-i:[a-z]))\s*", re.IGNORECASE)
"""A mark before an answer: templates end the prompt with it, or have one token for the begin and the end."""
_ECHO = re.compile(rf"\s*(?:{_USER})", re.IGNORECASE)
_REPLY = re.compile(_MODEL, re.IGNORECASE)
MARK = re.compile(rf"{_END}|{_MODEL}|{_USER}", re.IGNORECASE)
_QUOTES = {"'": "'", "‘": "’", "(": ")", "（": "）"}
_FINISHED = tuple('.!?…。！？।۔؟:：])）】」』"”»*`|>')
"""Characters before a mark that no sentence goes on after."""
_GOES_ON = re.compile(r"[ \t]+[^\W\d_]|[ \t]*[,;.。、，]")


def turn_spans(text: str, start: int, cited: Sequence[Span]) -> list[Span]:
    """Return the spans outside the first turn of a model: marks before it, an echoed prompt, and all from its end.

    Args:
        text: the model's output.
        start: where its text begins, after its thoughts.
        cited: sorted spans of code, quotations and thoughts, whose marks end nothing.
    """
    position = start
    for lead in (_LEAD, _STRAY):
        if before := lead.match(text, position):
            position = before.end()
    if _ECHO.match(text, position) and (reply := _REPLY.search(text, position)):
        position = reply.end()
    spans = [(start, position)] if position > start else []
    struck = text.find("<s>", position)
    for mark in MARK.finditer(text, position):
        closes = mark[0] == "</s>" and -1 < struck < mark.start()
        place = bisect(cited, mark.span())
        inside = place > 0 and mark.start() < cited[place - 1][1]
        if not closes and not inside and not _is_mention(text, mark.start(), mark.end(), position):
            return [*spans, (mark.start(), len(text))]
    return spans


def _is_mention(text: str, start: int, end: int, position: int) -> bool:
    """Return whether the sentence around a mark goes on after it."""
    before = text[max(position, start - 3) : start]
    if before and _QUOTES.get(before[-1]) == text[end : end + 1] != "":
        return True
    bare = before.rstrip(" \t")
    if bare.endswith(("\n", *_FINISHED)):
        return False
    if bare and before == bare:  # Scripts without spaces put the mark between two letters.
        after = text[end : end + 1]
        return all(letter.isalpha() and not letter.isupper() and not letter.islower() for letter in (bare[-1], after))
    follows = _GOES_ON.match(text, end)
    return follows is not None and not text[follows.end() - 1].isupper()
