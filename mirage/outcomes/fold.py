"""One spelling for many, with the way back: text folded for matching, and the raw place of each folded character."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_VARIANTS = str.maketrans(
    {
        **dict.fromkeys("‘’‛ʼʻ´`′＇", "'"),
        **dict.fromkeys("“”„‟«»″＂「」『』", '"'),
        **dict.fromkeys("。।۔", "."),
        **dict.fromkeys("،、", ","),
        "؟": "?",
        # Arabic and Persian spellings of one letter.
        **dict.fromkeys("أإٱ", "ا"),
        **dict.fromkeys("ىیې", "ي"),
        **dict.fromkeys("کڪ", "ك"),
    }
)
# Soft hyphen, zero-width characters, bidi marks, Arabic vowel marks and tatweel.
_DROPPED = re.compile("[\u00ad\u0640\u064b-\u0652\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
# A character with what composes onto it: accents, kana voicing marks, Hangul vowels and finals.
_COMPOSING = "\u0300-\u036f\u0653-\u0655\u1160-\u11ff\u3099\u309a"
_CLUSTER = re.compile(f"(?s).[{_COMPOSING}]*")
# Up to a space onto which nothing composes: what is folded never reaches over it.
_WORD = re.compile(f"(?s).[^ ]*(?: [{_COMPOSING}][^ ]*)*")
_ACCENTS = re.compile("[\u0300-\u036f]")


@dataclass(frozen=True, slots=True)
class Folded:
    """Text for matching."""

    text: str
    """The folded text: NFKC, lower case, straight quotes, one letter for its variants, nothing invisible."""
    places: tuple[int, ...] | None
    """For each folded character and the end, its place in the raw text; None where places are the same."""

    def raw(self, start: int, end: int) -> tuple[int, int]:
        """The raw span of a folded span that is not empty."""
        if self.places is None:
            return start, end
        return self.places[start], max(self.places[end], self.places[end - 1] + 1)


def fold(raw: str, language: str) -> Folded:
    """Fold a text in a language; of Yoruba, often written without them, the accents go too."""
    accents = language != "yo"
    text = raw.translate(_VARIANTS) if not raw.isascii() else raw.replace("`", "'")
    if text.isascii() or (accents and unicodedata.is_normalized("NFKC", text) and not _DROPPED.search(text)):
        # Python's lower case of a capital sigma depends on what stands around it; here it is the same everywhere.
        lowered = text.replace("Σ", "σ").lower()
        if len(lowered) == len(text):
            return Folded(lowered, None)
    parts: list[str] = []
    places: list[int] = []
    for word in _WORD.finditer(text):
        start, (part, offsets) = word.start(), _folded_word(word.group(), accents=accents)
        parts.append(part)
        places += [start + offset for offset in offsets] if start else offsets
    return Folded("".join(parts), (*places, len(raw)))


@lru_cache(maxsize=1 << 15)
def _folded_word(word: str, *, accents: bool) -> tuple[str, tuple[int, ...]]:
    """A word folded, and for each folded character its place in the word; most words come back again and again."""
    parts: list[str] = []
    places: list[int] = []
    for cluster in _CLUSTER.finditer(word):
        part, (start, end) = _folded_part(cluster.group(), accents=accents).lower(), cluster.span()
        parts.append(part)
        places += range(start, end) if len(part) == end - start else [start] * len(part)
    return "".join(parts), tuple(places)


def fold_pattern(pattern: str, language: str = "") -> str:
    """Fold the letters of a regular expression as texts are folded; it must be written in lower case."""
    accents = language != "yo"
    return "".join(
        _folded_part(match.group(), accents=accents) for match in _CLUSTER.finditer(pattern.translate(_VARIANTS))
    )


def compile_folded(pattern: str, language: str = "") -> re.Pattern[str]:
    """A regular expression for folded texts; `^` and `$` match at every line."""
    return re.compile(fold_pattern(pattern, language), re.MULTILINE)


@lru_cache(maxsize=1 << 14)
def _folded_part(part: str, *, accents: bool) -> str:
    """Fold a character with what composes onto it; most come back again and again."""
    if part.isascii():
        return part
    part = _DROPPED.sub("", unicodedata.normalize("NFKC", part)).translate(_VARIANTS)
    return part if accents else _ACCENTS.sub("", unicodedata.normalize("NFD", part))
