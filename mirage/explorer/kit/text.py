"""Untrusted text on a page: everything escaped, in its own language and direction, at a readable measure.

`st.markdown` is never given such text: it would read `$5 and $6` as a formula, write from left to right only, and load
a remote image. Spans of a text can be marked: the one that decided an outcome, and citations.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Literal
from unicodedata import bidirectional

import streamlit as st

from mirage.text import languages
from mirage.text.segmentation import SHOWN

MarkKind = Literal["decided", "shared", "own", "relevant", "irrelevant", "unlabelled", "cited", "unknown", "part"]

_MEANING: dict[MarkKind, str] = {
    "decided": "Text that determined the outcome",
    "shared": "",
    "own": "",
    "relevant": "Cites a passage labelled relevant",
    "irrelevant": "Cites a passage labelled not relevant",
    "unlabelled": "Cites an unlabelled passage",
    "cited": "Cites a passage",
    "unknown": "Cites a passage not in the list",
    "part": "",
}
_STRETCHES = ("decided", "shared", "own")
"""Kinds of spans that can contain citations."""

"""Drawn once per page by the frame. Colours derive from the text colour, so one stylesheet serves light and dark."""


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A marked span of a text. Spans of a kind do not overlap; a decided span can contain citations."""

    start: int
    """First character of the raw text."""
    end: int
    """Character after the last."""
    kind: MarkKind
    label: str = ""
    """For a citation: its replacement, such as the passage's number; empty for the raw text. For a heading: the name of
    its part."""
    hover: str = ""
    """Shown on hover after the meaning, such as the passage's text."""
    to: str = ""
    """For a citation: id of the linked element; trusted text only."""


def text_html(text: str, *, language: str, marks: Iterable[TextSpan] = (), whole: str = "") -> str:
    """Return a text as HTML with all markup escaped.

    Args:
        text: the raw text.
        language: its code; sets `lang`, and the direction of a text without letters.
        marks: spans of the raw text; those outside it are cut to it.
        whole: location of the full text, if it is too long to show.
    """
    cut = ""
    if len(text) > SHOWN:
        cut = f'<div class="mg-none">First {SHOWN:,} of {len(text):,} characters.  {escape(whole)}</div>'
        text = text[:SHOWN]
    spans = [m for m in marks if 0 <= m.start < min(m.end, len(text)) and (not cut or m.end <= len(text))]
    stretches = sorted((m for m in spans if m.kind in _STRETCHES), key=lambda m: m.start)
    cites = sorted((m for m in spans if m.kind not in _STRETCHES), key=lambda m: m.start)
    out: list[str] = []
    position = 0
    for mark in stretches:
        if mark.start < position:
            continue
        out.append(_citation_html(text, position, mark.start, cites))
        inside = _citation_html(text, mark.start, mark.end, cites)
        title = f' title="{escape(_hover(mark))}"' if _hover(mark) else ""
        out.append(f'<mark class="mg-{mark.kind}"{title}>{inside}</mark>')
        position = mark.end
    out.append(_citation_html(text, position, len(text), cites))
    code = language if languages.is_code(language) else "und"
    way = direction(text, language)
    return f'<div class="mg-text" lang="{escape(code)}" dir="{way}">{"".join(out)}</div>{cut}'


class Markup:
    """HTML that Streamlit passes through; it scans a plain string line by line at every rerun."""

    def __init__(self, body: str) -> None:
        self._body = body

    def _repr_html_(self) -> str:
        return self._body


_HTTPS = re.compile("https:/{2}", re.IGNORECASE)


def link_html(url: str) -> str:
    """Return a link as escaped HTML; an address with a scheme other than https becomes plain text."""
    text = f"<bdi>{escape(url)}</bdi>"
    if not _HTTPS.match(url):
        return text
    return f'<a class="mg-link" href="{escape(url)}" target="_blank" rel="noopener noreferrer">{text}</a>'


@lru_cache(maxsize=4_096)
def plain(text: str) -> str:
    """Escape a text so that Streamlit's Markdown shows it unchanged, LaTeX and directives included.

    Addresses, emoji and icons are looked for after that in what is then plain text: a word joiner, which is not seen,
    keeps them from being found.
    """
    text = _LINES.sub("\n", text.strip("\n"))
    text = _FOUND.sub(lambda match: f"{match.group()}\u2060", text)
    text = "".join(f"\\{c}" if c in r"\`*_{}[]()#+!|<>$~:&" else c for c in text)
    return _STARTS.sub(r"\1\\\2", text)


_LINES = re.compile(r"[^\S\n]*\n\s*")
_FOUND = re.compile(r"https?://|www(?=\.)|@(?=\w)|:(?=[\w+/-]+:)", re.IGNORECASE)
_STARTS = re.compile(r"^(\d*)([-=.])(?=\s|-|=|$)", re.MULTILINE)
"""Characters that start a list, a rule or a heading at the start of a line."""


def _citation_html(text: str, start: int, end: int, cites: Sequence[TextSpan]) -> str:
    """Return the text from start to end with the citations and headings fully inside it."""
    out = []
    position = start
    for mark in cites:
        if mark.start >= position and mark.end <= end:
            out.append(escape(text[position : mark.start]))
            shown = escape(mark.label or text[mark.start : mark.end])
            position = mark.end
            if mark.kind == "part":
                out.append(f'<span class="mg-part" lang="en">{shown}</span>')
                continue
            cite = f'<mark class="mg-cite mg-{mark.kind}" title="{escape(_hover(mark))}">{shown}</mark>'
            out.append(f'<a class="mg-to" href="#{escape(mark.to)}">{cite}</a>' if mark.to else cite)
    out.append(escape(text[position:end]))
    return "".join(out)


def _hover(mark: TextSpan) -> str:
    return _MEANING[mark.kind] + (f": {mark.hover}" if mark.hover else "")


@lru_cache(maxsize=8_192)
def direction(text: str, language: str) -> Literal["ltr", "rtl", "auto"]:
    """Return the direction of a text: that of most of its letters, else that of its language.

    Not as its first letter does, which is all that a browser looks at: an Arabic answer may begin with an English
    marker, and an answer to an Arabic query may be in English.
    """
    right = left = 0
    for character, n in Counter(text).items():
        kind = bidirectional(character)
        right += n * (kind in ("R", "AL"))
        left += n * (kind == "L")
    if right != left:
        return "rtl" if right > left else "ltr"
    return languages.language(language).direction if languages.is_code(language) else "auto"


def heading_html(text: str) -> str:
    """Return a second-level heading as HTML."""
    return f'<h2 class="mg-heading">{escape(text)}</h2>'


def heading(text: str, about: str = "") -> None:
    """Start a part of a page: heading and, in small type, a note; plain text.

    Streamlit's own headings and captions are Markdown, which a browser takes three times as long to show.
    """
    st.html(heading_html(text) + (_note_html(about) if about else ""))


def note(text: str) -> None:
    """Show a note in small type; plain text."""
    st.html(_note_html(text))


def _note_html(text: str) -> str:
    return f'<p class="mg-about">{escape(text)}</p>'
