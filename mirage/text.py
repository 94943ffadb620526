"""Words and sentences of a text in any of the 18 languages: the one place that knows how to cut text.

In scripts that put no space between words (Chinese, Japanese, Thai) every character is a word of its own: measures of
shared words then need no dictionary. The script decides, not the language of the question, so that a Latin name inside
a Chinese sentence stays one word.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from functools import cache
from typing import Any

Span = tuple[int, int]
"""Where a piece of text begins and ends (exclusive), in characters."""

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}ー]"
_CHARACTER = rf"[{_UNSPACED}&&[\p{{L}}\p{{N}}]]\p{{M}}*+"
_WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}]++"
# Joins letters, breaks lines or changes the look of a word without being part of it.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u0640\u200d\u2060\ufeff"))


@cache
def _pattern(pattern: str) -> Any:
    """A compiled pattern of the `regex` module: the standard `re` ends a word at every vowel sign of Hindi."""
    import regex

    return regex.compile(pattern, regex.V1)


def _folded(text: str) -> str:
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).translate(_INVISIBLE).casefold()


def words(text: str) -> list[str]:
    """The words of a text in order, for measures that compare texts: NFKC, case folded, without punctuation.

    A run of letters, marks and digits is a word; in Chinese, Japanese and Thai script a character with its marks is.
    """
    matches: list[str] = _pattern(rf"{_CHARACTER}|{_WORD}").findall(_folded(text))
    return matches


def word_spans(text: str) -> list[tuple[Span, str]]:
    """Where the words of a text stand in it, each with the form in which `words` compares it."""
    return [(match.span(), _folded(match[0])) for match in _pattern(rf"{_CHARACTER}|{_WORD}").finditer(text)]


def terms(text: str) -> list[str]:
    """The terms of a text in order, for search: its `words`, but each two neighbours of an unspaced script as a pair.

    A single character says little about what a text is about; overlapping pairs need no dictionary either (Lucene's
    CJK analysis does the same).
    """
    results = []
    for match in _pattern(rf"(?P<run>(?:{_CHARACTER})+)|{_WORD}").finditer(_folded(text)):
        run = match["run"]
        characters = _pattern(_CHARACTER).findall(run) if run else ()
        if len(characters) > 1:
            results += [first + second for first, second in itertools.pairwise(characters)]
        else:
            results.append(match[0])
    return results


_THAI = "[ก-ฮะ-ฺเ-ๅ็-๎]"
# Thai writes a space after a clause, and around figures and abbreviations, where it ends nothing.
_THAI_SPACE = re.compile(rf"(?<={_THAI})\s+(?={_THAI})(?!\S{{0,4}}\.)|(?<=[\]!?])\s+(?={_THAI})")
_THAI_SHORT = 20
"""A Thai clause of fewer characters goes with the one before it."""


def sentences(text: str, language: str) -> list[Span]:
    """Where the sentences of a text stand, without the white space around them; a line break always ends one.

    Thai has no mark for the end of a sentence: it is cut into clauses, at spaces between Thai letters.

    Args:
        text: the text.
        language: code of its language; abbreviations and end marks depend on it.
    """
    spans: list[Span] = []
    offset = 0
    for line in text.splitlines(keepends=True):
        for start, end in _thai(line) if language == "th" else _boundaries(line, language):
            piece = line[start:end]
            if bare := piece.strip():
                begin = offset + start + len(piece) - len(piece.lstrip())
                spans.append((begin, begin + len(bare)))
        offset += len(line)
    return spans


def _boundaries(line: str, language: str) -> list[Span]:
    from sentencex import get_sentence_boundaries

    return [(boundary["start_index"], boundary["end_index"]) for boundary in get_sentence_boundaries(language, line)]


def _thai(line: str) -> list[Span]:
    cuts = [0]
    for space in _THAI_SPACE.finditer(line):
        if space.start() - cuts[-1] >= _THAI_SHORT:
            cuts.append(space.end())
    if len(cuts) > 1 and len(line.rstrip()) - cuts[-1] < _THAI_SHORT:
        cuts.pop()
    return list(itertools.pairwise([*cuts, len(line)]))


def counted(n: int, noun: str) -> str:
    """How many there are of something, in words: `1 battle`, `1,204 battles`, `2 queries`."""
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else several}"
