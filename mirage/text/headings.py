"""Headings `Reason` and `Answer` in answers, in 18 languages and in the spellings of models."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mirage.text.data import load_words

Kind = Literal["reason", "answer"]

_WORDS = load_words("answer_words")
REASON: dict[str, list[str]] = _WORDS["reason"]
ANSWER: dict[str, list[str]] = _WORDS["answer"]
"""Variants of the headings by language."""


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading in an answer."""

    kind: Kind
    """The part that it begins."""
    start: int
    """Start, including its marks."""
    end: int
    """End (exclusive), including its marks and colon: the start of the part."""
    marked: bool
    """Whether it has a mark: `##`, bold, or 【】; otherwise it is a word with a colon at the start of a line."""


def _spellings(words: str) -> Iterable[str]:
    """Yield a heading composed and decomposed; in Latin script also without diacritics, as often typed."""
    composed, decomposed = (unicodedata.normalize(form, words) for form in ("NFC", "NFD"))
    yield from (composed, decomposed)
    if "LATIN" in unicodedata.name(decomposed[0]):
        plain = "".join(character for character in decomposed if not unicodedata.combining(character))
        yield from (plain, plain.replace("ß", "ss"))


_SPACE = r"[^\S\n]"


def _any_of(table: dict[str, list[str]]) -> str:
    """Return a pattern for the headings, longest first; the words of a heading may have any space between, or none."""
    spellings = {spelling for group in table.values() for words in group for spelling in _spellings(words)}
    parts = (
        rf"{_SPACE}*+".join(map(re.escape, spelling.split()))
        for spelling in sorted(spellings, key=lambda spelling: (-len(spelling), spelling))
    )
    return "|".join(parts)


_EMPHASIS, _COLON = r"(?:\*{1,3}+|_{1,3}+)?+", "[:：﹕]"
_HEADING = re.compile(
    # Start: after ## anywhere (after # at the start of a line), in 【】, at the start of a line, or bold.
    rf"(?:(?P<hash>^(?P<first>[#＃]{{2,}}+)(?!{_SPACE})|(?<![#＃])[#＃]{{2,}}+|^[#＃]){_SPACE}*+{_EMPHASIS}"
    rf"|(?P<box>【){_SPACE}*+"
    rf"|^{_SPACE}*+(?P<line>(?P<emphasis>\*{{1,3}}+|_{{1,3}}+)?+)"
    r"|(?P<bold>(?<![*])\*\*|(?<![\w_])__))"
    rf"(?:(?P<reason>{_any_of(REASON)})|{_any_of(ANSWER)})"
    # End: 】, a colon (inside or after bold), or the end of the line.
    rf"(?:(?(box){_SPACE}*+】(?:{_SPACE}*+{_COLON})?+|(?!))"
    rf"|(?(bold){_SPACE}*+(?:(?P=bold){_SPACE}*+{_COLON}|{_COLON}{_SPACE}*+(?P=bold))|(?!))"
    rf"|(?(box)(?!)|(?(bold)(?!)|{_SPACE}*+{_EMPHASIS}{_SPACE}*+{_COLON}{_EMPHASIS}))"
    rf"|(?(hash){_EMPHASIS}(?:(?={_SPACE}*+$)|(?(first)(?=\s)|(?!)))|(?!))"
    rf"|(?(emphasis)(?P=emphasis)(?={_SPACE}*+$)|(?!)))",
    re.IGNORECASE | re.MULTILINE,
)
_BEGINNING = re.compile(r"\n|##|#＃|＃#|＃＃|【|\*\*|__")
"""Possible starts of a heading besides the start of the text: after a line break, or at a mark. Each alternative begins
with a distinct character, so that the search skips ahead.
"""
_SENTENCE_END = r"[.!?。！？।॥؟۔…\])”\"»』」*]"
_INLINE = re.compile(
    rf"(?:(?<=\s)(?-i:(?:Final{_SPACE}++|FINAL{_SPACE}++)?A(?:nswer|NSWER))|(?<=\s)(?:{_any_of({'th': ANSWER['th']})})"
    rf"|(?:(?<={_SENTENCE_END})|(?<={_SENTENCE_END}\s))(?:{_any_of(ANSWER)})){_SPACE}*+{_COLON}",
    re.IGNORECASE,
)


def headings(text: str) -> list[Heading]:
    """Return every heading of an answer, in text order.

    A heading is one of the words of `REASON` and `ANSWER`, in any case, with or without diacritics in Latin script:

    - after `##` anywhere, or after `#` at the start of a line, with a colon, at the end of its line, or before
      a space where `##` and the word, without a space between them, begin the line;
    - in bold with a colon, anywhere, or in emphasis alone on its line;
    - in 【】, anywhere;
    - with a colon at the start of a line.

    Other occurrences in running text do not count, since the words are common.
    """
    listed: list[Heading] = []
    end = 0
    # Try the slow pattern only at possible starts after the last heading.
    marks = [match.end() if match[0] == "\n" else match.start() for match in _BEGINNING.finditer(text)]
    for begin in dict.fromkeys((0, *marks)):
        if begin >= end and (match := _HEADING.match(text, begin)) is not None:
            kind: Kind = "answer" if match["reason"] is None else "reason"
            listed.append(Heading(kind, *match.span(), marked=match["line"] != ""))
            end = match.end()
    return listed


def inline_answers(text: str, begin: int) -> list[Heading]:
    """Return words for `Answer` with a colon that begin a sentence within a line, from `begin` on.

    They count only if an answer has a Reason and no other Answer heading: `Because of it. Answer: yes`.
    """
    return [Heading("answer", *match.span(), marked=False) for match in _INLINE.finditer(text, begin)]
