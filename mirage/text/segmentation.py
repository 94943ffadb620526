"""Word and sentence segmentation in any language.

In scripts without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese and others) every character is a
word, so measures of word overlap need no dictionary. The script decides, not the language of the query: a Latin name
in a Chinese sentence stays one word.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from mirage.text.languages import base

SHOWN = 20_000
"""Maximum characters of a text on a page; browsers freeze on millions."""
Span = tuple[int, int]
"""Start and end (exclusive) of a piece of text, in characters."""

_UNSPACED = (
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tai_Le}\p{New_Tai_Lue}\p{Tai_Tham}"
    r"\p{Balinese}\p{Javanese}ー]"
)
# Khmer and Burmese stacked letters form one character: a stacking sign, then the lower letter.
_CHARACTER = rf"[{_UNSPACED}&&[\p{{L}}\p{{N}}]](?:[\u17d2\u1039\u1a60]\p{{L}}|\p{{M}})*+"
_WORD = rf"[[\p{{L}}\p{{M}}\p{{N}}]--{_UNSPACED}]++"
_ASCII_WORD = re.compile("[a-z0-9]+")
# Invisible characters that join letters or control line breaks.
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u0640\u200d\u2060\ufeff"))


@cache
def _pattern(pattern: str) -> Any:
    """Compile a pattern with the `regex` module: the standard `re` ends words at the vowel signs of Hindi."""
    import regex

    return regex.compile(pattern, regex.V1)


def _fold(text: str) -> str:
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).translate(_INVISIBLE).casefold()


def words(text: str) -> list[str]:
    """Return the words of a text in order, for measures of overlap: NFKC, case-folded, without punctuation.

    A word is a run of letters, marks and digits; in a script without spaces, a character with its marks.
    """
    folded = _fold(text)
    pattern = _ASCII_WORD if folded.isascii() else _pattern(rf"{_CHARACTER}|{_WORD}")
    matches: list[str] = pattern.findall(folded)
    return matches


def word_spans(text: str) -> list[tuple[Span, str]]:
    """Return the spans of the words of a text, each with its normalised form as in `words`."""
    return [(match.span(), _fold(match[0])) for match in _pattern(rf"{_CHARACTER}|{_WORD}").finditer(text)]


def terms(text: str) -> list[str]:
    """Return the search terms of a text in order: its `words`, but character bigrams in unspaced scripts.

    Single characters are too ambiguous, and overlapping bigrams need no dictionary (Lucene's CJK analysis does the
    same).
    """
    return _split_terms(_fold(text), rf"(?P<run>(?:{_CHARACTER})+)|{_WORD}", _CHARACTER)


def _split_terms(text: str, pattern: str, character: str) -> list[str]:
    """Return the matches of a pattern in a folded text; of each `run` of several characters their bigrams."""
    if text.isascii():
        return words(text)
    results = []
    for match in _pattern(pattern).finditer(text):
        run = match["run"]
        characters = _pattern(character).findall(run) if run else ()
        if len(characters) > 1:
            results += [first + second for first, second in itertools.pairwise(characters)]
        else:
            results.append(match[0])
    return results


# Vowel signs of Arabic and Hebrew, which most texts omit, the nukta of Hindi, and combining accents.
_POINTS = r"[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u093c]"
_ACCENTS = r"(?<=[\p{Latin}\p{Greek}]\p{M}*)\p{M}|(?<=[её])\u0308"
_LETTERS = str.maketrans("يىكةھہı", "ییکهههi")
"""Letters with two encodings: Arabic and Persian yeh and kaf, and the dotless i of capitals."""


def search_form(text: str) -> str:
    """Return a text normalised for search: `_fold`, without vowel signs and accents, digits as 0 to 9."""
    if text.isascii():
        return text.casefold()
    apart = unicodedata.normalize("NFD", _fold(text))
    plain = _pattern(rf"{_POINTS}|{_ACCENTS}").sub("", apart).translate(_LETTERS)
    digits = _pattern(r"[\p{Nd}--[0-9]]").sub(lambda digit: str(unicodedata.digit(digit[0])), plain)
    return unicodedata.normalize("NFC", digits)


def search_terms(text: str) -> list[str]:
    """Return the terms of a text in order, for a search index.

    Terms are words in their `search_form`, and character bigrams in unspaced scripts and in Hangul, where particles
    attach to words.
    """
    either = rf"{_CHARACTER}|\p{{Hangul}}"
    pattern = rf"(?P<run>(?:{_CHARACTER})+|\p{{Hangul}}+)|[{_WORD}--\p{{Hangul}}]++"
    return _split_terms(search_form(text), pattern, either)


def is_character(term: str) -> bool:
    """Return whether a term of `search_terms` is a single character of a script with bigrams."""
    return not term.isascii() and bool(_pattern(rf"{_CHARACTER}|\p{{Hangul}}").fullmatch(term))


def pair_of(term: str) -> list[str]:
    """Return the characters of a term of `search_terms` that is a bigram or one character; empty for any other."""
    pattern = rf"(?:{_CHARACTER}|\p{{Hangul}})"
    if term.isascii() or not _pattern(f"{pattern}{{1,2}}").fullmatch(term):
        return []
    return list(dict.fromkeys(_pattern(pattern).findall(term)))


_THAI = "[ก-ฮะ-ฺเ-ๅ็-๎ກ-ຮະ-ຽເ-ໄ່-ໍໜ-ໟ]"
# Thai and Lao put spaces after clauses, but also around numbers and abbreviations.
# A gap of three spaces is a blanked citation, and ends a clause of any length.
_THAI_SPACE = re.compile(rf"(?P<gap>\s{{3,}})|(?<={_THAI})\s+(?={_THAI})(?!\S{{0,4}}\.)|(?<=[\]!?])\s+(?={_THAI})")
_OTHER_END = re.compile("[។៕།༎]+")
"""Sentence ends in Khmer and Tibetan script, unknown to sentencex."""
_THAI_LETTER = re.compile(_THAI)
_LONG_LINE = 10_000
"""Characters from which on a line is split into sentences part by part."""
_THAI_SHORT = 20
"""A Thai clause with fewer characters is merged into the one before it."""


def sentences(text: str, language: str) -> list[Span]:
    """Return the spans of the sentences of a text, without surrounding whitespace; a line break always ends a sentence.

    Thai and Lao do not mark sentence ends: their lines are split into clauses, at spaces between their letters.
    Languages without rules in `sentencex` are split at the end marks of all scripts.

    Args:
        text: the text.
        language: code of its language; determines abbreviations and end marks.
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
    for offset, part in _parts(line):
        for boundary in get_sentence_boundaries(language, part):
            start, end = offset + boundary["start_index"], offset + boundary["end_index"]
            cuts = [match.end() for match in _OTHER_END.finditer(line, start, end)]
            spans += itertools.pairwise([start, *(cut for cut in cuts if cut < end), end])
    return spans


def _parts(line: str) -> Iterator[tuple[int, str]]:
    """Yield a long line in parts, after an end mark if possible: `sentencex` takes time quadratic in the length."""
    start = 0
    while len(line) - start > _LONG_LINE:
        end = start + _LONG_LINE
        cut = max(line.rfind(mark, start, end) for mark in (". ", "? ", "! ", "。", "। ", "؟ "))
        cut = end if cut <= start else cut + 1
        yield start, line[start:cut]
        start = cut
    yield start, line[start:]


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
"""Maximum number of names to list in a line of text; more are only counted."""


def join_or_count(names: Sequence[str], noun: str) -> str:
    """Join names with commas, or give their count if there are more than `MANY`."""
    return ", ".join(names) if len(names) <= MANY else count_text(len(names), noun)


NAMED = 20
"""Maximum number of parts to list; the rest are counted."""


def join_first(parts: Sequence[str]) -> str:
    """Join parts with commas; beyond `NAMED`, only the first and the number of others."""
    more = f" and {len(parts) - NAMED:,} more" if len(parts) > NAMED else ""
    return ", ".join(parts[:NAMED]) + more


def as_sentence(clause: str) -> str:
    """Return a clause with a capital and a full stop."""
    return f"{clause[:1].upper()}{clause[1:]}."


def signed(value: float) -> str:
    """Format a difference with its sign unless it is 0, and with three decimals below 10."""
    text = f"{value:+.3f}" if abs(value) < 10 else f"{value:+,.1f}"
    return text[1:] if text[1:] == "0.000" else text.replace("-", "\u2212")


def count_text(n: int, noun: str) -> str:
    """Format a count with its noun: `1 battle`, `1,204 battles`, `2 queries`, `3 people`."""
    several = "people" if noun == "person" else f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else several}"


def count_rows(n: int, table: str) -> str:
    """Format the rows of a table by its name: `1 query`, `2 queries`, `1 nugget assignment`, `1 retrieved`."""
    word = table.replace("_", " ")
    one = f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")
    return f"{n:,} {one if n == 1 else word}"
