"""The time that a service asks to wait, by headers, fields and words of any language (`waits.toml`)."""

import email.utils
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise

from mirage.llm.faults import strings
from mirage.text.data import load_words

_WAITS = load_words("waits", "mirage.llm")
_UNITS = {float(seconds): re.compile(pattern) for seconds, pattern in _WAITS["units"].items()}
_UNIT = "|".join(_WAITS["units"].values())
_PART = rf"(\d+(?:[.,]\d+)?|an?)\s*({_UNIT})(?![a-zà-ÿа-я])"
_TIME = re.compile(
    r"(?<![\w.:-])(?:"
    r"(?P<date>(\d{4})[-/年](\d\d?)[-/月](\d\d?)日?)?(?:[t,\s]*(?:(?:at|um|à|a las|alle|в)\s+)?"
    r"(?P<clock>(\d\d?):(\d\d)(?::(\d\d)(?:\.\d+)?)?))?\s*(?P<zone>z\b|utc|gmt|[+-]\d\d:?\d\d)?"
    rf"|(?:pt?)?(?P<duration>(?:(?=\d)|(?<=\bin )){_PART}(?:[\s,]*(?:and |und |et |y |и )?{_PART})*))",
)
"""A date, a time of the day, or a duration: `1m30s`, `2 Minuten`, `02:10:11`."""
_MONTH = re.compile(
    r"\b(?:(\d\d?)\.? )?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (?:(\d\d?),? )?(\d{4})\b"
)
_ASKS, _BEFORE = re.compile(_WAITS["words"]["asks"]), re.compile(_WAITS["words"]["before"])
_SENTENCE_END = re.compile(r"[.!?;](?=\s|$)|[。！？\n]")
_NEAR = 15
"""Maximum characters between a time and the words behind it that ask to wait for it: `30 秒后重试`."""
_FIELD = re.compile(
    r"[\w-]*?(retry[-_]?(after|delay|in)|wait([-_]?(time|for))?|resets?[-_]?in)([-_]?[a-z]+)?|seconds|estimated_time"
)
"""Names of the time to wait, of headers and of fields."""
_FIELD_UNIT = re.compile(r"(ms|milli\w*|min\w*|hours?)$")
_RESET = re.compile(r"[\w-]*reset[\w-]*")
"""Names of the time at which a rate limit ends; the name with `remaining` has what is left of it."""
_DAY = 86_400
_EPOCH = 1e9
"""Seconds from which a number is a time since 1970; from a hundred times as many on, in milliseconds."""


def asked_wait(
    headers: Mapping[str, str], body: object = None, *, limited: bool = False, now: datetime | None = None
) -> float | None:
    """Return the seconds that a service asks to wait; None if it does not.

    First by `Retry-After` and its like in the headers or the body (a number, a duration such as `1m30s`, or a date),
    then by the words of the body, then by the end of a rate limit.

    Args:
        headers: headers of the response.
        body: the error.
        limited: whether a rate limit was exceeded, so that its end counts, and a time in words that ask nothing.
        now: the time; by default the clock's.
    """
    now = now or datetime.now(UTC)
    given = [(name.lower(), text) for name, text in (*headers.items(), *strings(body))]
    asked = [(not name.endswith("ms"), _seconds(name, text, now)) for name, text in given if _FIELD.fullmatch(name)]
    known = [seconds for _, seconds in sorted(asked, key=lambda each: each[0]) if seconds is not None]
    known = known or [
        seconds for _, text in strings(body) for seconds in _find_waits(text.lower(), now, limited=limited)
    ]
    if not known and limited:
        left = dict(given)
        resets = [
            (left.get(name.replace("reset", "remaining"), "?"), _seconds(name, text, now))
            for name, text in given
            if _RESET.fullmatch(name)
        ]
        # Several limits have an end each: the one without anything left counts, else the nearest.
        known = sorted((s for n, s in resets if s is not None and n == "0"), reverse=True)
        known = known or sorted(s for n, s in resets if s is not None and n == "?")
    return max(0.0, known[0]) if known else None


def _seconds(name: str, text: str, now: datetime) -> float | None:
    """Return the seconds to wait by the value of a field: a number, a duration, or a date or time since 1970."""
    try:
        value = float(text)
    except ValueError:
        with suppress(ValueError):
            return (email.utils.parsedate_to_datetime(text).replace(tzinfo=UTC) - now).total_seconds()
        return next((seconds for start, _, seconds in _times(text.lower().strip(), now) if not start), None)
    if not math.isfinite(value):
        return None
    if value >= _EPOCH:
        return (value / 1000 if value >= 100 * _EPOCH else value) - now.timestamp()
    unit = _FIELD_UNIT.search(name)
    # The last word of the name of a reset is that of its limit: `x-ratelimit-reset-tokens-minute`.
    return value if unit is None or ("reset" in name and unit[1] != "ms") else value * _unit_seconds(unit[1])


def _find_waits(text: str, now: datetime, *, limited: bool) -> Iterator[float]:
    """Yield the times to wait that sentences ask for; if limited, then any other time that is not of a rate."""
    others = []
    ends = [0, *(end.end() for end in _SENTENCE_END.finditer(text)), len(text)]
    for start, end in pairwise(ends):
        sentence = text[start:end]
        times = [time for time in _times(sentence, now) if not _BEFORE.search(sentence[: time[0]])]
        asks = [ask.span() for ask in _ASKS.finditer(sentence)]
        after = [seconds for begin, _, seconds in times if any(ask <= begin for ask, _ in asks)]
        ahead = [seconds for _, last, seconds in times if any(0 <= ask - last <= _NEAR for ask, _ in asks)]
        yield from after or ahead
        others += [seconds for *_, seconds in times]
    yield from others if limited else ()


def _times(text: str, now: datetime) -> Iterator[tuple[int, int, float]]:
    """Yield start, end and seconds from now of every date, time of the day and duration in a text in lower case."""
    for found in _TIME.finditer(text):
        clock = [int(part or 0) for part in found.group(6, 7, 8)]
        if found["duration"]:
            parts = re.findall(_PART, found["duration"])
            yield *found.span(), sum(_amount(number) * _unit_seconds(unit) for number, unit in parts)
        elif found["date"] or (found["clock"] and found["zone"]):
            zone = re.sub("z|utc|gmt", "", found["zone"] or "") or "+00:00"
            day = [int(part) for part in found.group(2, 3, 4)] if found["date"] else [now.year, now.month, now.day]
            with suppress(ValueError):
                when = datetime(*day, *clock, tzinfo=datetime.strptime(zone, "%z").tzinfo)  # type: ignore[misc,arg-type]
                seconds = (when - now).total_seconds()
                yield *found.span(), seconds if found["date"] else seconds % _DAY
        elif found["clock"] and found[8]:
            yield *found.span(), 3600.0 * clock[0] + 60 * clock[1] + clock[2]
    for found in _MONTH.finditer(text):
        with suppress(ValueError):
            when = datetime.strptime(f"{found[1] or found[3] or 1} {found[2]} {found[4]}", "%d %b %Y")
            yield *found.span(), (when.replace(tzinfo=UTC) - now).total_seconds()


def _amount(number: str) -> float:
    return float(number.replace(",", ".")) if number[0].isdigit() else 1.0


def _unit_seconds(unit: str) -> float:
    return next(seconds for seconds, pattern in _UNITS.items() if pattern.fullmatch(unit))
