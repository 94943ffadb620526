"""Words and sentences of a text in any language: the one place that knows how to cut text.

In scripts that put no space between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese and others) every character is
a word of its own: measures of shared words then need no dictionary. The script decides, not the language of the
query, so that a Latin name inside a Chinese sentence stays one word.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

from mirage.languages import base

SHOWN = 20_000
"""Characters of a text that a page shows; a browser stands still over millions."""
Span = tuple[int, int]
"""Where a piece of text begins and ends (exclusive), in characters."""

_UNSPACED = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tai_Le}\p{New_Tai_Lue}\p{Tai_Tham}"
    r"\p{Balinese}\p{Javanese}ー]"
)
# What Khmer and Burmese write below a letter belongs to it: a sign of stacking, then the lower letter.
_CHARACTER = rf"[{_UNSPACED}&&[\p{{L}}\p{{N}}]](?:[\u17d2\u1039\u1a60]\p{{L}}|\p{{M}})*+"
_WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}]++"
_ASCII_WORD = re.compile("[a-z0-9]+")
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

    A run of letters, marks and digits is a word; in a script without spaces a character with its marks is.
    """
    folded = _folded(text)
    pattern = _ASCII_WORD if folded.isascii() else _pattern(rf"{_CHARACTER}|{_WORD}")
    matches: list[str] = pattern.findall(folded)
    return matches


def word_spans(text: str) -> list[tuple[Span, str]]:
    """Where the words of a text stand in it, each with the form in which `words` compares it."""
    return [(match.span(), _folded(match[0])) for match in _pattern(rf"{_CHARACTER}|{_WORD}").finditer(text)]


def terms(text: str) -> list[str]:
    """The terms of a text in order, for search: its `words`, but each two neighbours of an unspaced script as a pair.

    A single character says little about what a text is about; overlapping pairs need no dictionary either (Lucene's
    CJK analysis does the same).
    """
    folded = _folded(text)
    if folded.isascii():
        return words(folded)
    results = []
    for match in _pattern(rf"(?P<run>(?:{_CHARACTER})+)|{_WORD}").finditer(folded):
        run = match["run"]
        characters = _pattern(_CHARACTER).findall(run) if run else ()
        if len(characters) > 1:
            results += [first + second for first, second in itertools.pairwise(characters)]
        else:
            results.append(match[0])
    return results


# Vowel signs of Arabic and Hebrew, which most texts leave out, the dot under a letter of Hindi, and combining accents.
_POINTS = r"[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u093c]"
_ACCENTS = r"(?<=[\p{Latin}\p{Greek}]\p{M}*)\p{M}|(?<=[её])\u0308"
_LETTERS = str.maketrans("يىكةھہı", "ییکهههi")
"""Letters that are written in two ways: Arabic and Persian yeh and kaf, and the dotless i of capitals."""


def search_form(text: str) -> str:
    """Return a text as search compares it: `_folded`, without vowel signs and accents, digits as 0 to 9."""
    if text.isascii():
        return text.casefold()
    apart = unicodedata.normalize("NFD", _folded(text))
    plain = _pattern(rf"{_POINTS}|{_ACCENTS}").sub("", apart).translate(_LETTERS)
    digits = _pattern(r"[\p{Nd}--[0-9]]").sub(lambda digit: str(unicodedata.digit(digit[0])), plain)
    return unicodedata.normalize("NFC", digits)


def search_terms(text: str) -> list[str]:
    """Return the terms of a text in order, for a search index: its words in their `search_form`, and pairs of
    characters in a script without spaces and in Hangul, where particles join the words.
    """
    form = search_form(text)
    if form.isascii():
        return words(form)
    results = []
    for match in _pattern(rf"(?P<run>(?:{_CHARACTER})+|\p{{Hangul}}+)|[{_WORD}--\p{{Hangul}}]++").finditer(form):
        run = match["run"]
        characters = _pattern(rf"{_CHARACTER}|\p{{Hangul}}").findall(run) if run else ()
        if len(characters) > 1:
            results += [first + second for first, second in itertools.pairwise(characters)]
        else:
            results.append(match[0])
    return results


def is_character(term: str) -> bool:
    """Return whether a term of `search_terms` is one character of a script that it takes in pairs."""
    return not term.isascii() and bool(_pattern(rf"{_CHARACTER}|\p{{Hangul}}").fullmatch(term))


def pair_of(term: str) -> list[str]:
    """Return the characters of a term of `search_terms` that is a pair, or one character; none of any other."""
    pattern = rf"(?:{_CHARACTER}|\p{{Hangul}})"
    if term.isascii() or not _pattern(f"{pattern}{{1,2}}").fullmatch(term):
        return []
    return list(dict.fromkeys(_pattern(pattern).findall(term)))


def trigrams(text: str) -> list[str]:
    """Every three neighbouring characters of the words of a text in order, for search across the forms of a word.

    Each word is read with a space before and after it, so that its ends count; one in a script without spaces is three
    characters of its run, whatever the words are.
    """
    runs = _pattern(rf"(?:{_CHARACTER})+|{_WORD}").findall(_folded(text))
    return [f" {run} "[k : k + 3] for run in runs for k in range(len(run))]


_THAI = "[ก-ฮะ-ฺเ-ๅ็-๎ກ-ຮະ-ຽເ-ໄ່-ໍໜ-ໟ]"
# Thai, and Lao likewise, writes a space after a clause, and around figures and abbreviations, where it ends nothing.
# A gap of three is where a citation was blanked, and ends a clause of any length.
_THAI_SPACE = re.compile(rf"(?P<gap>\s{{3,}})|(?<={_THAI})\s+(?={_THAI})(?!\S{{0,4}}\.)|(?<=[\]!?])\s+(?={_THAI})")
_OTHER_END = re.compile("[។៕།༎]+")
"""Ends of a sentence in Khmer and in Tibetan script, which sentencex does not know."""
_THAI_LETTER = re.compile(_THAI)
_THAI_SHORT = 20
"""A Thai clause of fewer characters goes with the one before it."""


def sentences(text: str, language: str) -> list[Span]:
    """Where the sentences of a text stand, without the white space around them; a line break always ends one.

    Thai and Lao have no mark for the end of a sentence: lines in them are cut into clauses, at spaces between their
    letters. A
    language that `sentencex` has no rules for is cut at the end marks of all scripts.

    Args:
        text: the text.
        language: code of its language; abbreviations and end marks depend on it.
    """
    spans: list[Span] = []
    offset = 0
    for line in text.splitlines(keepends=True):
        unmarked = base(language) in ("th", "lo") and _THAI_LETTER.search(line)
        for start, end in _thai(line) if unmarked else _boundaries(line, base(language)):
            piece = line[start:end]
            if bare := piece.strip():
                begin = offset + start + len(piece) - len(piece.lstrip())
                spans.append((begin, begin + len(bare)))
        offset += len(line)
    return spans


def _boundaries(line: str, language: str) -> list[Span]:
    from sentencex import get_sentence_boundaries

    spans: list[Span] = []
    for boundary in get_sentence_boundaries(language, line):
        start, end = boundary["start_index"], boundary["end_index"]
        cuts = [match.end() for match in _OTHER_END.finditer(line, start, end)]
        spans += itertools.pairwise([start, *(cut for cut in cuts if cut < end), end])
    return spans


def _thai(line: str) -> list[Span]:
    cuts, gap = [0], False
    for space in _THAI_SPACE.finditer(line.rstrip()):
        if space["gap"] or space.start() - cuts[-1] >= _THAI_SHORT:
            cuts.append(space.end())
            gap = bool(space["gap"])
    if len(cuts) > 1 and not gap and len(line.rstrip()) - cuts[-1] < _THAI_SHORT:
        cuts.pop()
    return list(itertools.pairwise([*cuts, len(line)]))


MANY = 12
"""More names than this are counted in a line of text instead of listed."""


def listed(names: Sequence[str], noun: str) -> str:
    """Names with commas between them, or only how many there are where they are more than `MANY`."""
    return ", ".join(names) if len(names) <= MANY else counted(len(names), noun)


NAMED = 20
"""More parts of an enumeration than this are counted after the first ones."""


def enumerated(parts: Sequence[str]) -> str:
    """Parts with commas between them; where they are more than `NAMED`, the first ones, and how many more there are."""
    more = f" and {len(parts) - NAMED:,} more" if len(parts) > NAMED else ""
    return ", ".join(parts[:NAMED]) + more


def signed(value: float) -> str:
    """A difference in words: with its sign unless it is 0, and three decimals where it is below 10."""
    text = f"{value:+.3f}" if abs(value) < 10 else f"{value:+,.1f}"
    return text[1:] if text[1:] == "0.000" else text.replace("-", "\u2212")


def counted(n: int, noun: str) -> str:
    """How many there are of something, in words: `1 battle`, `1,204 battles`, `2 queries`, `3 people`."""
    several = "people" if noun == "person" else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else several}"
