"""Split answers into sentences, without their markup, and measure clauses."""

import re
from collections.abc import Iterator, Sequence

from mirage.stages.outcomes.fold import Folded

_MARKUP = re.compile(
    r"(?=[ \t\n*_`#>|~\\\[【(h])(?:(?<![ \t])[ \t]*(?:(?:[*_`#>|~\\]"
    r"|[\[【(]\s*(?:(?:doc(?:ument)?|source|passage|context|ref|citation)s?[ :.#]*)?"
    r"[\d,;:#†\- –]+(?:source)?\s*[\])】]|[\[【]\^?[^\s\]】]*\d[^\s\]】]*[\]】]"
    r"|\([^\s\d()]{3,12}(?: [^\s\d()]{1,4})?[ .:#]*\d{1,3}\)|https?://\S+|(?<=n')\n+(?=(?:don')?t\b))[ \t]*)+"
    r"|[ \t]{2,})"
)
"""Markup, citations and addresses; the first set, of the characters that they begin with, skips most places."""
_SENTENCE = re.compile(r"\n+|[.!?…;]+[\"')\]]*(?=\s|$)|(?<=[^\x00-\x7f])[.!?]+[\"')]*(?=\S)")
_FULL_STOPS = "。！？｡।॥۔"
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|(dr|st|mr|mrs|ms|prof|nr|no|bzw|vgl|ca|vs|jr|sr|inc|approx|etc|usw|esim|mm|dll|gen|col"
    r"|bi|bw|[^\W\d_]\.[^\W\d_]|г|гг|в|вв|т|стр|им|см|ул|р|ph))$"
)
_BEFORE_NUMBER = re.compile(r"(?<![^\W_])[^\W\d_]{1,4}\Z")
"""A word that may be abbreviated before a number: "art. 4"."""
_LONGEST = 8
"""Characters in which an abbreviation is looked for."""
WORDS = re.compile(r"[\w\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0c00-\u0c4d]+")
"""Words of a cleaned text: `re` does not count vowel signs as word characters."""
CROWDED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
DIGIT = re.compile(r"\d")
_THAI = re.compile(r"[\u0e00-\u0e7f]")


def clean(folded: Folded) -> Folded:
    """Remove markup, citations and addresses, so that words are adjacent."""
    text = folded.text
    parts: list[str] = []
    places: list[int] = []
    source = folded.places or range(len(text) + 1)
    position = 0
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        parts.append(text[position:start])
        places += source[position:start]
        # A space if words would merge; none before a stop or at the start of a line.
        apart = any(character in " \t_|" or character == "/" for character in match[0])
        if apart and DIGIT.search(match[0]) and _THAI.match(text, end):
            # A citation ends a sentence of Thai, which has no stop.
            parts.append(";")
            places.append(source[start])
        if apart and start and text[start - 1] != "\n" and text[end : end + 1] not in (*",.;:!?", "\n", ""):
            parts.append(" ")
            places.append(source[start])
        position = end
    if not parts:
        return folded
    parts.append(text[position:])
    places += source[position:]
    return Folded("".join(parts), tuple(places))


def sentences(raw: str, text: str, places: Sequence[int] | None) -> Iterator[tuple[int, int]]:
    """Split a folded text into sentences."""
    start = 0
    for match in _SENTENCE.finditer(text):
        if text[match.start()] != "\n" and raw[places[match.start()] if places else match.start()] not in _FULL_STOPS:
            following = match.end()
            while following < len(text) and text[following] in " \t\"'(":
                following += 1
            if following < len(text):
                after = raw[places[following] if places else following]
                if after.islower() and (text[match.start()] in ".…" or text[match.end() - 1] == '"'):
                    continue
                if after.isdigit() and _BEFORE_NUMBER.search(text, start, match.start()):
                    continue
            if text[match.end() : match.end() + 1].isdigit():
                continue
            short = (
                _ABBREVIATED.search(text, max(start, match.start() - _LONGEST), match.start())
                if text[match.start()] == "."
                else None
            )
            if short and (short[1] or raw[places[match.start() - 1] if places else match.start() - 1].isupper()):
                continue
            if text[match.start()] == "." and re.fullmatch(r"\s*\(?(?:\d{1,2}|[a-h])", text[start : match.start()]):
                continue
        if text[start : match.end()].strip():
            yield start, match.end()
        start = match.end()
    if text[start:].strip():
        yield start, len(text)


def size_of(clause: str) -> int:
    """Return the amount of content of a clause: a number counts as two words, two characters of an unspaced script as
    one, four in Thai.
    """
    crowded = 0 if clause.isascii() else len(CROWDED.findall(clause)) - len(_THAI.findall(clause)) // 2
    spaced: list[str] = WORDS.findall(CROWDED.sub(" ", clause) if crowded else clause)
    numbers = sum([word[0].isdigit() for word in spaced]) if DIGIT.search(clause) else 0
    return len(spaced) + numbers + (crowded + 1) // 2
