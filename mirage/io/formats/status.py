"""Read how an answer ended from fields of a record: a status, an error, a flag of success.

find_status({"answer": "I don't know.", "llm_error": "HTTP 429"}, "")   # ("api_error", "HTTP 429")
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from mirage.io.formats.fields import number
from mirage.io.formats.spec import load_names
from mirage.io.values import unpack

_PIPELINE = r"(?:(?:llm|api|model|request|response|gen(?:eration)?|inference|call|rag|system|service|http)[_ .-]?)?"
_ENDED = re.compile(rf"{_PIPELINE}(?:status(?:[_ ]?code)?|(?:finish|stop)[_ ]?reason)", re.IGNORECASE)
_ERRORS = re.compile(
    rf"{_PIPELINE}(?:(?:error|err|exception)(?:[_ ]?(?:msg|message|text|reason|type|name|class))?"
    r"|(?:is|has)_?error|failed|timed_?out)",
    re.IGNORECASE,
)
_SUCCESS = re.compile(rf"{_PIPELINE}(?:is_?|was_?)?(?:success(?:ful)?|succeeded|ok)", re.IGNORECASE)
_WORDS = {word: status for status, words in load_names("status").items() for word in words}
_NO_ERROR = frozenset(("", "none", "null", "nan", "false", "no", "n", "0", "ok", "[]", "{}", "n/a", "-", "success"))
_SUPPOSED = frozenset(("true", "yes", "y", "1"))


@lru_cache(1024)
def status_fields(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of some names of fields that may say how an answer ended."""
    return tuple(name for name in names if any(form.fullmatch(name) for form in (_ERRORS, _ENDED, _SUCCESS)))


def find_status(value: Mapping[str, Any], fields: Iterable[str]) -> tuple[str | None, str | None, list[str]]:
    """Return status and reason of a record's answer, null if it did not fail, and the fields that say so."""
    found: list[tuple[str, str]] = []
    read = []
    for name in fields:
        content = value[name]
        if _ERRORS.fullmatch(name):
            error = "" if content is None else read_error(content, name)
            status = None if error is None else "api_error" if error else "ok"
        else:
            status, error = "ok" if content is None else read_status(content), f"{name} is {content}"
        if status is not None:
            read.append(name)
            found.append((status, error or ""))
    failed = sorted((pair for pair in found if pair[0] != "ok"), key=lambda pair: pair[0] != "api_error")
    status, reason = failed[0] if failed else (None, None)
    return status, reason, read


def read_error(content: Any, name: str) -> str | None:
    """Return the error that a field holds, empty if it has none; None if it is another field."""
    content = unpack(content)
    if isinstance(content, Mapping):
        content = content.get("message") or content.get("type") or content.get("code") or content or ""
    if isinstance(content, list | tuple):
        content = "; ".join(map(str, content))
    if (code := number(content)) is not None and not isinstance(content, bool):
        return f"HTTP {code:.0f}" if 400 <= code < 600 else "" if code == 0 else name if code == 1 else None
    text = str(content).strip()
    word = text.casefold()
    return "" if word in _NO_ERROR else name if word in _SUPPOSED else text


def read_status(content: Any) -> str | None:
    """Return the status that a word, a flag or an HTTP status means; None for any other."""
    code = None if isinstance(content, bool) else number(content)
    if code is not None:
        return "ok" if 200 <= code < 300 else "api_error" if 400 <= code < 600 else None
    word = re.sub(r"[\s-]+", "_", str(content).strip().casefold())
    return _WORDS.get(word)
