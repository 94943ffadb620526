"""Folding of text for matching, with the raw position of each folded character."""

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
# A character with its combining characters: accents, kana voicing marks, Hangul vowels and finals.
_COMPOSING = "\u0300-\u036f\u0653-\u0655\u1160-\u11ff\u3099\u309a"
_CLUSTER = re.compile(f"(?s).[{_COMPOSING}]*")
# Up to a space without combining characters, which folding never crosses.
_WORD = re.compile(f"(?s).[^ ]*(?: [{_COMPOSING}][^ ]*)*")
_SHOWN_GAP = 50
_GAP = re.compile(rf"\s{{{2 * _SHOWN_GAP},}}")
_ACCENTS = re.compile("[\u0300-\u036f]")


@dataclass(frozen=True, slots=True)
class Folded:
    """Text for matching."""

    text: str
    """The folded text: NFKC, lower case, straight quotes, unified letter variants, no invisible characters."""
    places: tuple[int, ...] | None
    """Raw position of each folded character and of the end; None if positions are the same."""

    def raw(self, start: int, end: int) -> tuple[int, int]:
        """Return the raw span of a non-empty folded span."""
        if self.places is None:
            return start, end
        return self.places[start], max(self.places[end], self.places[end - 1] + 1)


@lru_cache(maxsize=256)
def fold(raw: str, language: str) -> Folded:
    """Fold a text in a language; in Yoruba, often written without accents, these are dropped too. Cached, as answers
    share a query.
    """
    accents = language != "yo"
    text = raw.translate(_VARIANTS) if not raw.isascii() else raw.replace("`", "'")
    if text.isascii() or (accents and unicodedata.is_normalized("NFKC", text) and not _DROPPED.search(text)):
        # Python lowers a capital sigma depending on its context; here it is always the same.
        lowered = text.replace("Σ", "σ").lower()
        if len(lowered) == len(text):
            return _without_gaps(Folded(lowered, None))
    parts: list[str] = []
    places: list[int] = []
    for word in _WORD.finditer(text):
        start, (part, offsets) = word.start(), _fold_word(word.group(), accents=accents)
        parts.append(part)
        places += [start + offset for offset in offsets] if start else offsets
    return _without_gaps(Folded("".join(parts), (*places, len(raw))))


def _without_gaps(folded: Folded) -> Folded:
    """Shorten long runs of white space, on which patterns that begin with it take time quadratic in its length."""
    places = folded.places or range(len(folded.text) + 1)
    kept: list[tuple[int, int]] = []
    start = 0
    for gap in _GAP.finditer(folded.text):
        kept.append((start, gap.start() + _SHOWN_GAP))
        start = gap.end()
    if not kept:
        return folded
    kept.append((start, len(folded.text)))
    shorter = (*(place for first, last in kept for place in places[first:last]), places[-1])
    return Folded("".join(folded.text[first:last] for first, last in kept), shorter)


@lru_cache(maxsize=1 << 15)
def _fold_word(word: str, *, accents: bool) -> tuple[str, tuple[int, ...]]:
    """Fold a word, and return the position in the word of each folded character; cached, as words repeat."""
    parts: list[str] = []
    places: list[int] = []
    for cluster in _CLUSTER.finditer(word):
        part, (start, end) = _fold_cluster(cluster.group(), accents=accents).lower(), cluster.span()
        parts.append(part)
        places += range(start, end) if len(part) == end - start else [start] * len(part)
    return "".join(parts), tuple(places)


def fold_pattern(pattern: str, language: str = "") -> str:
    """Fold the letters of a regular expression as texts are folded; it must be written in lower case."""
    accents = language != "yo"
    return "".join(
        _fold_cluster(match.group(), accents=accents) for match in _CLUSTER.finditer(pattern.translate(_VARIANTS))
    )


def compile_folded(pattern: str, language: str = "") -> re.Pattern[str]:
    """Compile a regular expression for folded texts; `^` and `$` match at every line."""
    return re.compile(fold_pattern(pattern, language), re.MULTILINE)


@lru_cache(maxsize=1 << 14)
def _fold_cluster(part: str, *, accents: bool) -> str:
    """Fold a character with its combining characters; cached, as they repeat."""
    if part.isascii():
        return part
    part = _DROPPED.sub("", unicodedata.normalize("NFKC", part)).translate(_VARIANTS)
    return part if accents else _ACCENTS.sub("", unicodedata.normalize("NFD", part))
