"""Errors of services: what each concerns, what a run does then (`behaviours.toml`), and the service's own words.

The codes and the sentences of an error are read together, wherever they are in its body: gateways pass on another
service's error as plain text.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from mirage.llm.json_paths import page_text
from mirage.text.data import load_words

Run = Literal["again", "refused", "row", "adapt", "unfit", "stop"]
"""Reaction of a run. `again`: retry; `refused`: the service declines this request; `row`: this request cannot be
answered, others may; `adapt`: retry without the parameter, or with its other name; `unfit`: this request cannot be
answered, and none can if no other is accepted; `stop`: every request would be rejected.
"""
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
_PARAMS = ("param", "parameter", "field", "loc")
_OURS = ("model", "messages", "prompt", "input", "service", "extra_body")
_SAYS = re.compile(
    r"(^|message|msg|details?|errors?|description|(?<!finish_)(?<!stop_)reason|title|raw|string|hint|loc)$",
    re.IGNORECASE,
)
"""Keys of texts for people."""
_ECHOES = ("input", "messages", "prompt")
"""Keys under which services repeat the request."""
_OF_SIZE = ("rate", "transient", "forbidden", "unknown")
"""Kinds of errors that may be about the size of this request."""
_DEPTH = 9
_SHOWN = 300
"""Maximum characters of a service's words in a reason."""
_READ = 20_000
"""Maximum characters of an error in which a cause is looked for."""
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\s_-]+")
_NUMBER = r"\D{0,20}?([0-9][0-9,]*)"
_CONTEXT = re.compile(rf"(?:context|model) ?(?:length|window|size|len){_NUMBER}")
_SIZES = re.compile(
    "|".join(f"(?P<{kind}>{words})" for kind, words in load_words("behaviours", "mirage.llm")["sizes"].items())
    + r"|(?<![\w.])(?P<number>\d[\d.,\u00a0]*+)(?:(?P<thousands>k)\b)?"
    r"(?! ?(?:(?:concurrent|parallel|more|other) )?(?:requests?|calls|quer|rp|m?s\b|sec|min|hour|user))"
)
"""Words before or after a number that say which size it is, and numbers that count neither requests nor time."""
_NEAR = 40
"""Maximum characters between such words and the number."""
_TOKENS = re.compile(r" ?tok\w+ (?:\w+ )?")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A kind of error, and what a run does then: a row of `behaviours.toml`."""

    kind: str
    """Subject of the error: `filter` (the prompt, by the service's content rules), `length` (the size of the
    request), `credit`, `rate`, `key` and so on; `unknown`.
    """
    run: Run
    statuses: Collection[int] = ()
    """HTTP statuses of this kind, whatever the words; 500 means 500 and above."""
    words: Collection[str] = ()
    """Patterns in the codes and words of an error."""
    unless: Collection[str] = ()
    """Patterns with which the words do not count."""
    never: Collection[int] = ()
    """Statuses with which the words do not count."""
    names: bool = False
    """Whether the error must name a parameter that was sent."""
    do: str = ""
    """Advice."""
    parameter: str = ""
    """The parameter that the error names."""
    _patterns: tuple[re.Pattern[str], re.Pattern[str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        patterns = (re.compile("|".join(given) if given else "(?!)") for given in (self.words, self.unless))
        object.__setattr__(self, "_patterns", tuple(patterns))

    def fits(self, status: int, said: str, parameter: str) -> bool:
        """Return whether an error is of this kind."""
        if self.names and not parameter:
            return False
        words, unless = self._patterns
        worded = status not in self.never and words.search(said) and not unless.search(said)
        return min(status, 500) in self.statuses or bool(worded)


_TABLE = [Behaviour(**row) for row in load_words("behaviours", "mirage.llm")["behaviours"]]


def find_behaviour(status: int, error: object, sent: Mapping[str, object]) -> Behaviour:
    """Return the kind of an error and what a run does then.

    Args:
        status: the HTTP status, or the one in the body.
        error: body of the rejection, or only its error.
        sent: body of the request.
    """
    texts = list(strings(error))
    words = " ".join(text for _, text in texts)[:_READ]
    said = plain_words(words)
    parameter = _parameter([text for key, text in texts if key in _PARAMS and text in sent], words, sent)
    found = next(row for row in _TABLE if row.fits(status, said, parameter))
    if found.kind in _OF_SIZE and _exceeds_limit(said):
        found = next(row for row in _TABLE if row.kind == "length")
    limit = next((sent[name] for name in LIMITS if name in sent), 0)
    if found.kind == "length" and isinstance(limit, int) and limit >= _number(_CONTEXT, said) > 0:
        do = "reduce --max-tokens: it exceeds the model's context"
        return replace(found, kind="setting", run="stop", parameter=LIMITS[0], do=do)
    if not found.names:
        return found
    if found.kind == "parameter" and parameter not in (*LIMITS, *_DROPPABLE):
        return replace(found, run="stop", parameter=parameter, do=_OPTIONS.get(parameter, "change --extra-body"))
    if found.kind == "setting" and parameter not in _OPTIONS:
        return _TABLE[-1]
    return replace(found, parameter=parameter, do=_OPTIONS[parameter])


def plain_words(text: str) -> str:
    """Return codes and words in lower case with single spaces: `contentFilter` and `content_filter` are the same."""
    return _BETWEEN_WORDS.sub(" ", text).lower()


def _exceeds_limit(said: str) -> bool:
    """Return whether an error says that the tokens of this request alone are more than a limit."""
    sizes: dict[str, list[int]] = {"asked": [0], "limit": [], "used": [], "": []}
    found = list(_SIZES.finditer(said))
    for before, this, after in zip([None, *found], found, [*found[1:], None], strict=False):
        if this["number"] is not None:
            kind = before.lastgroup if before and this.start() - before.end() <= _NEAR else ""
            behind = after.lastgroup if after and after.start() - this.end() <= _NEAR else ""
            tokens = after and _TOKENS.fullmatch(said, this.end(), after.start())
            if (behind == "asked" and tokens) or (behind == "over" and kind in ("", "number")):
                kind = "asked"  # 12,000 tokens requested; 12,000 exceed the limit
            number = int(re.sub(r"\D", "", this["number"])) * (1000 if this["thousands"] else 1)
            sizes["limit" if kind == "over" else kind if kind in sizes else ""].append(number)
    return max(sizes["asked"]) > max(sizes["limit"], default=max(sizes["asked"])) > 0


def _number(pattern: re.Pattern[str], said: str) -> int:
    """Return the number that a pattern finds; 0 if there is none."""
    found = pattern.search(said)
    return int(found[1].replace(",", "")) if found else 0


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
