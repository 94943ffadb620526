"""Sections of the page Methods, read from `docs/methods.md`."""

import re
from dataclasses import dataclass
from functools import cache

from mirage.store.bundled import methods_text

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://)[^)]*\)")
"""Link to another page of the guide, which the explorer does not serve."""
_MATH = re.compile(r"^```math\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_DOLLAR = re.compile(r"(`[^`]*`)|\$")


@dataclass(frozen=True, slots=True)
class Section:
    """One heading of the page with its text."""

    group: str
    """Its parent heading, of the second level."""
    title: str
    """Its heading of the third level; empty for the text right under the group's heading."""
    text: str
    """Markdown as Streamlit reads it."""

    @property
    def name(self) -> str:
        """The heading right above its text."""
        return self.title or self.group

    def matches(self, words: str) -> bool:
        """Return whether every word occurs in the section, ignoring case."""
        text = f"{self.group} {self.title} {self.text}".casefold()
        return all(word in text for word in words.casefold().split())


def sections(text: str) -> tuple[Section, ...]:
    """Return the sections of a page in Markdown, in order; the text above the first one is left out."""
    found = []
    for part in re.split(r"^## ", _COMMENT.sub("", text), flags=re.MULTILINE)[1:]:
        own, *entries = re.split(r"^### ", part, flags=re.MULTILINE)
        group, _, under = own.partition("\n")
        for title, content in (("", under), *(entry.split("\n", 1) for entry in entries)):
            if content.strip():
                found.append(Section(group.strip(), title.strip(), _to_streamlit(content)))
    return tuple(found)


@cache
def definitions() -> tuple[Section, ...]:
    """Return the sections of `docs/methods.md`."""
    return sections(methods_text())


def _to_streamlit(text: str) -> str:
    """Escape dollars, which would open a formula, then set the formulas between dollars."""
    parts = _MATH.split(_LINK.sub(r"\1", text))
    for k, part in enumerate(parts):
        parts[k] = f"$$\n{part}$$" if k % 2 else _DOLLAR.sub(lambda match: match[1] or r"\$", part)
    return "".join(parts).strip()
