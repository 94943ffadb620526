"""Compile the vocabulary of `wording.py`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from mirage.stages.outcomes.fold import compile_folded
from mirage.stages.outcomes.wording import WORDINGS, Wording


@dataclass(frozen=True, slots=True)
class ClauseReader:
    """Compiled expressions of one language."""

    sources: re.Pattern[str]
    nouns: re.Pattern[str]
    statutes: re.Pattern[str]
    denies: re.Pattern[str]
    gap: re.Pattern[str]
    short: re.Pattern[str]
    turns: re.Pattern[str]
    concedes: re.Pattern[str]
    topic: re.Pattern[str]
    negates: re.Pattern[str]
    me: re.Pattern[str]
    weak: re.Pattern[str]
    because: re.Pattern[str]
    hence: re.Pattern[str]
    there: re.Pattern[str]
    figure: re.Pattern[str]
    lacks: re.Pattern[str]
    given: re.Pattern[str]
    wants: re.Pattern[str]
    about: re.Pattern[str]
    only: re.Pattern[str]
    implies: re.Pattern[str]
    known: re.Pattern[str]
    reports: re.Pattern[str]
    hedges: re.Pattern[str]
    sorry: re.Pattern[str]
    aside: re.Pattern[str]
    offers: re.Pattern[str]
    asks: re.Pattern[str]
    declines: re.Pattern[str]


@cache
def _reader(code: str) -> ClauseReader:
    wording = WORDINGS[code]
    return ClauseReader(
        **{name: compile_folded(getattr(wording, name) or r"(?!)", code) for name in Wording.__dataclass_fields__}
    )


@cache
def readers_of(code: str, english: bool) -> tuple[ClauseReader, ...]:
    """Return the readers of a language: its own, and that of English if the text has English words."""
    own = (_reader(code),) if code in WORDINGS else ()
    return own if code == "en" or (own and not english) else (*own, _reader("en"))
